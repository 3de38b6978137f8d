"""Decides which paths are left out by git's ignore rules and by codelens's own.

`Ignore` decides exactly as git's `dir.c` does. Order of precedence: the `.gitignore` of the deepest
folder first, up to the root's; then info/exclude of the common folder; then the file of
core.excludesFile. Within a file the last matching pattern decides. Everything in an ignored folder
is ignored, regardless of later rules.
"""

from __future__ import annotations

import errno
import os
import stat as stat_module
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from codelens.errors import ReadError
from codelens.scope.ignore_patterns import Table, matcher, parse_pattern, tables

IGNORE_NAME: Final = b".gitignore"
# git (since 2.46) does not read larger ones.
_SIZE_LIMIT: Final = 100 * 1024 * 1024
_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_OPEN_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    # Without this flag, opening a fifo with that name would block forever.
    | getattr(os, "O_NONBLOCK", 0)
)


class IgnoreSettings(NamedTuple):
    """The settings in git's config that decide which files are included."""

    excludes_file: str | None = None
    """core.excludesFile, `~` expanded, relative to the root. None means git's default path."""
    ignore_case: bool = False
    """core.ignoreCase."""
    precompose_unicode: bool = False
    """core.precomposeUnicode. Set it only on macOS, as it has no meaning elsewhere."""
    sparse_checkout: bool = False
    """core.sparseCheckout: git then clears skip-worktree for files that are on disk."""


class Rules:
    """The ignore rules for the entries of one folder."""

    __slots__ = ("_files", "_fold", "_folders")

    def __init__(
        self,
        files: tuple[tuple[Table, int], ...] = (),
        folders: tuple[tuple[Table, int], ...] = (),
        *,
        fold: bool = False,
    ) -> None:
        # Highest precedence first, each with the length of its own folder and a slash.
        self._files = files
        self._folders = folders
        self._fold = fold

    def below(self, data: bytes, folder: bytes) -> Rules:
        """Returns these rules with the rules of an ignore file in `folder` before them."""
        own = tables(data, fold=self._fold)
        skip = len(folder) + 1 if folder else 0
        files = ((own.files, skip), *self._files) if own.files else self._files
        folders = ((own.folders, skip), *self._folders) if own.folders else self._folders
        return Rules(files, folders, fold=self._fold)

    def ignored(self, name: bytes, path: bytes, *, is_folder: bool) -> bool:
        """Whether an entry is ignored. `path` ends in `name`; its folder must not be ignored."""
        if self._fold:
            name, path = name.lower(), path.lower()
        for table, skip in self._folders if is_folder else self._files:
            verdict = table.decide(name, path[skip:] if table.asks_path else b"")
            if verdict is not None:
                return verdict
        return False


class Ignore:
    """The ignore rules of a worktree or folder, read from the disk."""

    def __init__(
        self,
        root: str | bytes | os.PathLike[str],
        settings: IgnoreSettings | None = None,
        *,
        common_dir: str | bytes | os.PathLike[str] | None = None,
        blobs: Mapping[bytes, bytes] | None = None,
        read_blob: Callable[[bytes], bytes] | None = None,
    ) -> None:
        """For a worktree. For a plain folder pass only `root`.

        Args:
            root: the top folder.
            settings: the settings in git's config; None for a plain folder.
            common_dir: the folder that all worktrees share; None for a plain folder.
            blobs: `TrackedSet.ignore_blobs`: ignore files to read from git's index if they are not
                on disk.
            read_blob: returns the bytes of one of these by its object id.
        """
        self.root = os.fsencode(root)
        self.settings = settings or IgnoreSettings()
        self.blobs = dict(blobs or {})
        self._read_blob = read_blob
        self.own_files = _own_files(self.root, self.settings, common_dir)
        self._prefix = self.root.rstrip(b"/") + b"/"
        self._rules_by_folder: dict[bytes, Rules | None] = {}

    def base(self) -> Rules:
        """Returns the rules from outside the tree: info/exclude, then core.excludesFile.

        Raises:
            ReadError: one of them cannot be read. git then refuses to list anything.
        """
        rules = Rules(fold=self.settings.ignore_case)
        for path in reversed(self.own_files):
            data = read_outside(path)
            if data:
                rules = rules.below(data, b"")
        return rules

    def enter(self, rules: Rules, folder: bytes) -> Rules:
        """Returns `rules` with those of the ignore file in `folder`, if it has a valid one."""
        data = self._read(folder + b"/" + IGNORE_NAME if folder else IGNORE_NAME)
        return rules.below(data, folder) if data else rules

    def rules_in(self, folder: bytes) -> Rules | None:
        """Returns the rules for the entries of a folder; None if the folder itself is ignored.

        Reads the ignore files of the folder and of all folders above, each once per instance.
        """
        rules_by_folder = self._rules_by_folder
        unknown: list[bytes] = []
        while folder not in rules_by_folder and folder:
            unknown.append(folder)
            folder = folder.rpartition(b"/")[0]
        if folder not in rules_by_folder:
            rules_by_folder[b""] = self.enter(self.base(), b"")
        rules = rules_by_folder[folder]
        for below in reversed(unknown):
            name = below[below.rfind(b"/") + 1 :]
            if rules is None or rules.ignored(name, below, is_folder=True):
                rules = None
            else:
                rules = self.enter(rules, below)
            rules_by_folder[below] = rules
        return rules

    def ignored(self, path: bytes, *, is_folder: bool = False) -> bool:
        """Whether the rules leave out a path or a folder above it, even if it is tracked."""
        folder, _, name = path.rpartition(b"/")
        rules = self.rules_in(folder)
        return rules is None or rules.ignored(name, path, is_folder=is_folder)

    def _read(self, path: bytes) -> bytes:
        data = read_in_tree(self._prefix + path)
        if data is not None:
            return data
        oid = self.blobs.get(path)
        if oid is None or self._read_blob is None:
            return b""
        if self.settings.sparse_checkout and os.path.lexists(self._prefix + path):
            return b""
        try:
            return self._read_blob(oid)
        except ReadError:
            return b""  # not in a partial clone; git continues without it too


def default_excludes_file(environ: Mapping[str, str]) -> str | None:
    """Returns git's default path of the user's ignore file, for an unset core.excludesFile."""
    config = environ.get("XDG_CONFIG_HOME")
    if config:
        return os.path.join(config, "git", "ignore")
    home = environ.get("HOME")
    return os.path.join(home, ".config", "git", "ignore") if home else None


def _own_files(
    root: bytes, settings: IgnoreSettings, common_dir: str | bytes | os.PathLike[str] | None
) -> tuple[bytes, ...]:
    """Returns the ignore files outside the tree, highest precedence first, existing or not."""
    if common_dir is None:
        return ()
    named = settings.excludes_file
    if named is None:
        named = default_excludes_file(os.environ)
    info = os.path.join(os.fsencode(common_dir), b"info", b"exclude")
    return (info, os.path.join(root, os.fsencode(named))) if named else (info,)


def read_outside(path: bytes) -> bytes:
    """Returns the text of an ignore file outside the tree; empty if it may not be read.

    Raises:
        ReadError: it exists but cannot be read.
    """
    try:
        return _read_plain(path, _OPEN_FLAGS)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return b""  # git warns about the last case and continues
    except OSError as error:
        raise ReadError(
            f"cannot read the ignore file {os.fsdecode(path)!r} ({error.strerror}); "
            "repair it or change core.excludesFile"
        ) from error


def read_in_tree(path: bytes) -> bytes | None:
    """Returns the text of an ignore file in the tree; None if it does not open.

    A symlink does not open: git has not followed it since 2.32. Anything else but a file is empty.
    """
    if not _NOFOLLOW and os.path.islink(path):
        return None
    try:
        return _read_plain(path, _OPEN_FLAGS | _NOFOLLOW)
    except IsADirectoryError:
        return b""
    except OSError:
        return None


def _read_plain(path: bytes, flags: int) -> bytes:
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if stat_module.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat_module.S_ISREG(status.st_mode) or status.st_size > _SIZE_LIMIT:
            return b""
        with os.fdopen(descriptor, "rb", buffering=0, closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


# Applies codelens's own rules: files that it leaves out although git lists them.
#
# The lines have the form and meaning of a `.gitignore`: the last matching pattern decides, `!`
# includes again what an earlier line or a source of lower precedence excluded, and everything in an
# excluded folder is excluded. Tracked files can be excluded too; files that git ignores cannot be
# included. Precedence: `.codelensignore` at the root of the repository, then the setting `ignore`,
# then the file `ignore` in the home folder.

OWN_NAME = b".codelensignore"
"""At the root of a worktree, folder or commit."""
GLOBAL_NAME = "ignore"
"""In codelens's home folder."""


class Source(NamedTuple):
    """Lines of patterns, and their origin."""

    name: str
    data: bytes


class OwnRules:
    """The compiled patterns of all sources.

    Args:
        sources: lowest precedence first.
        fold: ignore case, like git's core.ignoreCase.
    """

    def __init__(self, sources: Sequence[Source], *, fold: bool = False) -> None:
        in_use = [source for source in sources if parse_pattern(source.data)]
        self.digest = _digest(in_use, fold=fold)
        """Digest of the rules; changes whenever other files may be included. Empty if nothing is
        left out."""
        self.invalid = tuple(line for source in in_use for line in _invalid(source))
        """Each line that can match nothing, with its origin."""
        self._rules = Rules(fold=fold)
        for source in in_use:
            self._rules = self._rules.below(source.data, b"")
        self._folders: dict[bytes, bool] = {b"": False}

    def leaves_out(self, path: bytes) -> bool:
        """Whether a file, or a folder above it, is left out."""
        if not self.digest:
            return False
        folder, _, name = path.rpartition(b"/")
        return self._is_out(folder) or self._rules.ignored(name, path, is_folder=False)

    def _is_out(self, folder: bytes) -> bool:
        is_out = self._folders.get(folder)
        if is_out is None:
            above, _, name = folder.rpartition(b"/")
            is_out = self._is_out(above) or self._rules.ignored(name, folder, is_folder=True)
            self._folders[folder] = is_out
        return is_out


def rules_of_user(home: Path, patterns: Sequence[str]) -> list[Source]:
    """Returns the sources outside of a repository, lowest precedence first.

    Raises:
        ReadError: the file in the home folder cannot be read.
    """
    file = home / GLOBAL_NAME
    lines = "\n".join(patterns).encode("utf-8", "surrogateescape")
    return [Source(str(file), read_outside(os.fsencode(file))), Source("setting `ignore`", lines)]


def source_of_root(data: bytes) -> Source:
    """Returns the source for the content of `.codelensignore`."""
    return Source(OWN_NAME.decode(), data)


def _digest(sources: Sequence[Source], *, fold: bool) -> str:
    if not sources:
        return ""
    every = repr((fold, [source.data for source in sources])).encode()
    return blake2b(every, digest_size=16).hexdigest()


def _invalid(source: Source) -> list[str]:
    """Returns malformed lines, which match nothing, as in git. No other error is possible."""
    return [
        f"{source.name}: {pattern.text[:100].decode('utf-8', 'replace')!r}"
        for pattern in parse_pattern(source.data)
        if pattern.text.strip() and matcher(pattern, fold=False) is None
    ]
