"""Which files codelens leaves out although git has them, by rules of its own.

The lines are those of a `.gitignore`, and so is their meaning: the last pattern that matches
decides, `!` takes back what an earlier line or a source of lower precedence left out, and what lies
in a folder that is left out is left out as well. Tracked files can be left out too; what git
ignores cannot be taken back. Precedence: `.codelensignore` at the root of the repository, then the
setting `ignore`, then the file `ignore` in the home folder.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from codelens.scope.ignore.ignore_pattern import matcher, parse
from codelens.scope.ignore.ignore_rules import Rules, read_outside

OWN_NAME = b".codelensignore"
"""At the root of a worktree, folder or commit."""
GLOBAL_NAME = "ignore"
"""In the folder with all that codelens keeps."""


class Source(NamedTuple):
    """Lines of patterns, and where they stand."""

    name: str
    data: bytes


class OwnRules:
    """The patterns of all sources, ready to be asked.

    Args:
        sources: lowest precedence first.
        fold: case does not matter, as git's core.ignoreCase has it.
    """

    def __init__(self, sources: Sequence[Source], *, fold: bool = False) -> None:
        in_use = [source for source in sources if parse(source.data)]
        self.digest = _digest(in_use, fold=fold)
        """Changes when other files may belong; empty where nothing is left out."""
        self.invalid = tuple(line for source in in_use for line in _invalid(source))
        """Each line that can match nothing, with where it stands."""
        self._rules = Rules(fold=fold)
        for source in in_use:
            self._rules = self._rules.below(source.data, b"")
        self._folders: dict[bytes, bool] = {b"": False}

    def leaves_out(self, path: bytes) -> bool:
        """Whether a file is left out, or a folder above it."""
        if not self.digest:
            return False
        folder, _, name = path.rpartition(b"/")
        return self._is_out(folder) or self._rules.ignored(name, path, is_folder=False)

    def _is_out(self, folder: bytes) -> bool:
        known = self._folders.get(folder)
        if known is None:
            above, _, name = folder.rpartition(b"/")
            known = self._is_out(above) or self._rules.ignored(name, folder, is_folder=True)
            self._folders[folder] = known
        return known


def rules_of_user(home: Path, patterns: Sequence[str]) -> list[Source]:
    """The sources outside of a repository, lowest precedence first.

    Raises:
        ReadError: the file in the home folder cannot be read.
    """
    file = home / GLOBAL_NAME
    lines = "\n".join(patterns).encode("utf-8", "surrogateescape")
    return [Source(str(file), read_outside(os.fsencode(file))), Source("setting `ignore`", lines)]


def source_of_root(data: bytes) -> Source:
    """What `.codelensignore` says."""
    return Source(OWN_NAME.decode(), data)


def _digest(sources: Sequence[Source], *, fold: bool) -> str:
    if not sources:
        return ""
    every = repr((fold, [source.data for source in sources])).encode()
    return blake2b(every, digest_size=16).hexdigest()


def _invalid(source: Source) -> list[str]:
    """As git has it, such a line matches nothing; there is no other error in these files."""
    return [
        f"{source.name}: {pattern.text[:100].decode('utf-8', 'replace')!r}"
        for pattern in parse(source.data)
        if pattern.text.strip() and matcher(pattern, fold=False) is None
    ]
