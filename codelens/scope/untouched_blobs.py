"""Finds the files of a worktree whose blob git's index shows, so that nobody need read them.

When git writes or adds a file, it records the file's stat with its blob. As long as the stat is the
same, nobody has changed the file, and it has the bytes of the blob unless git converted them. Three
checks exclude the doubtful cases:

1. `untouched_blobs` leaves out each file with an attribute that names a filter program, an encoding
   or `ident` (which may replace one id by another of the same length), and each file that is older
   than an attribute file which applies to it: git may have written it under other attributes.
2. Converting line ends changes the size, so the caller compares the file's size with the blob's.
3. A file as new as the index may have changed after git recorded its stat (git's racy rule), so the
   caller compares its times with that of the index.

One case leaves no trace: git converted a file to bytes of the same size, and then the attribute
file was removed from the worktree, or was only named by `core.attributesFile` at that time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from codelens.errors import ReadError
from codelens.scope.git_index import IndexContent, Unchanged
from codelens.scope.ignore_rules import Rules, read_in_tree, read_outside

ATTRIBUTES_NAME: Final = b".gitattributes"
_CONVERTING: Final = frozenset({b"filter", b"working-tree-encoding", b"ident"})
_FOLDER_OF_RULES: Final = b"info"
"""git's folder with attributes of all worktrees."""
_ALL_FILES: Final = b"*\n"
_BLANK: Final = re.compile(rb"[ \t\r]+")


def untouched_blobs(
    index: IndexContent,
    files: Mapping[bytes, os.stat_result],
    *,
    root: bytes,
    outside: Iterable[str],
    tracked: Collection[bytes],
    plain: Collection[bytes] = (),
) -> Iterator[Unchanged]:
    """Returns the files that are as git wrote or added them.

    Files of a conflict, and those that git was asked not to check (`--assume-unchanged`,
    `--skip-worktree`), are left out.

    Args:
        index: git's index.
        files: path -> its current lstat, of regular files.
        root: the worktree's top folder.
        outside: attribute files outside of the tree, which may be missing.
        tracked: the paths in the index.
        plain: folders known to have no attribute file.

    Raises:
        ReadError: an attribute file cannot be read.
    """
    converted = ConvertedFiles(root, outside, tracked, plain)
    return converted.left_out_of(index.unchanged(files))


class _Folder(NamedTuple):
    """The attributes that apply to the files of a folder."""

    rules: Rules | None
    """Patterns of the files that git converts; None if it converts none."""
    changed_ns: int
    """When an attribute file that applies was last changed."""


class ConvertedFiles:
    """The files whose bytes a filter program or an encoding may have changed.

    Args:
        root: the worktree's top folder.
        outside: attribute files outside of the tree.
        tracked: paths in git's index. git reads an attribute file from there if it is missing.
        plain: folders known to have no attribute file.
    """

    def __init__(
        self,
        root: bytes,
        outside: Iterable[str],
        tracked: Collection[bytes],
        plain: Collection[bytes] = (),
    ) -> None:
        self._plain = plain
        self._prefix = root.rstrip(b"/") + b"/"
        self._tracked = tracked
        above = _Folder(None, 0)
        for file in outside:
            path = os.fsencode(file)
            above = _below(above, _patterns(read_outside(path)), b"", _changed_ns(path))
        self._outside = above
        self._folders: dict[bytes, _Folder] = {}

    def left_out_of(self, files: Iterable[Unchanged]) -> Iterator[Unchanged]:
        """Yields the files that are not converted, neither now nor when they were written."""
        last, (rules, changed_ns) = b"/", self._outside
        for file in files:
            path, _, status = file
            at = path.rfind(b"/")
            name = path[:at] if at > 0 else b""
            # The files of a folder come one after another.
            if name != last:
                last, (rules, changed_ns) = name, self._folder(name)
            if status.st_ctime_ns >= changed_ns and (
                rules is None or not rules.ignored(path[at + 1 :], path, is_folder=False)
            ):
                yield file

    def _folder(self, path: bytes) -> _Folder:
        known = self._folders.get(path)
        if known is None:
            above = self._folder(path.rpartition(b"/")[0]) if path else self._outside
            known = self._folders[path] = self._with_own(path, above)
        return known

    def _with_own(self, folder: bytes, above: _Folder) -> _Folder:
        name = folder + b"/" + ATTRIBUTES_NAME if folder else ATTRIBUTES_NAME
        if folder in self._plain and name not in self._tracked:
            return above
        try:
            changed_ns = os.lstat(self._prefix + name).st_ctime_ns
        except OSError:
            if name not in self._tracked:
                return above
            # Its text is only in git, which is not worth reading.
            return _below(above, _ALL_FILES, folder, 0)
        data = read_in_tree(self._prefix + name)
        return _below(above, _ALL_FILES if data is None else _patterns(data), folder, changed_ns)


def _below(above: _Folder, patterns: bytes, folder: bytes, changed_ns: int) -> _Folder:
    """The attributes of a folder with those of one more file."""
    rules = above.rules
    if patterns:
        # Ignoring case matches more files than git does; these are only read needlessly.
        rules = (rules or Rules(fold=True)).below(patterns, folder)
    return _Folder(rules, max(above.changed_ns, changed_ns))


def _changed_ns(path: bytes) -> int:
    try:
        return os.stat(path).st_ctime_ns
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        # As for git, which warns about the last case and continues.
        folder = os.path.dirname(path)
        if os.path.basename(folder) == _FOLDER_OF_RULES:
            return _changed_ns(folder)  # the file may have been removed
        return 0
    except OSError as error:
        raise ReadError(f"cannot read {os.fsdecode(path)!r}: {error.strerror}") from error


def _patterns(data: bytes) -> bytes:
    """Returns the patterns of the lines that set a converting attribute, as an ignore file."""
    if not any(name in data for name in _CONVERTING):
        return b""
    patterns = map(_pattern, data.split(b"\n"))
    return b"".join(pattern + b"\n" for pattern in patterns if pattern)


def _pattern(line: bytes) -> bytes:
    """Returns the pattern of a line; empty if the line sets no converting attribute."""
    if not any(name in line for name in _CONVERTING):
        return b""
    # Macros, quoted patterns, and those with another meaning in an ignore file, are rare.
    if not line[:1].isalnum() and line[:1] not in b"*?./_ \t":
        return b"" if line.startswith(b"#") else b"*"
    pattern, *attributes = _BLANK.split(line.strip(b" \t\r"))
    names = {attribute.partition(b"=")[0] for attribute in attributes}
    return pattern if names & _CONVERTING else b""
