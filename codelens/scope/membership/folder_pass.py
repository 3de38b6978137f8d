"""One pass over folders of a worktree: what each entry is, and where to go on."""

from __future__ import annotations

import os
import stat as stat_module
import time
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from codelens.cancellation import check_cancelled
from codelens.scope.ignore.ignore_rules import IGNORE_NAME, Ignore, Rules
from codelens.scope.membership.nested_repository import is_repository
from codelens.scope.membership.tracked_paths import Tracked

_DOT_GIT: Final = b".git"
# On Windows an entry of a listing knows neither inode nor change time.
_ENTRY_STAT_IS_WHOLE: Final = os.name != "nt"
_JUNCTION: Final = getattr(stat_module, "IO_REPARSE_TAG_MOUNT_POINT", -1)
_KIND: Final = 0o170000
_CLOCK_EVERY: Final = 256


@dataclass(slots=True)
class Membership:
    """What a pass met. Paths are relative to the root, which itself is empty; in no order."""

    files: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Regular files that belong, with their lstat."""
    links: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Symlinks that git lists."""
    folders: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Folders that were listed, and ignored ones that hold tracked files, with their lstat from
    before: what comes or goes directly in one shows in it."""
    nested: set[bytes] = field(default_factory=set[bytes])
    """Other repositories inside, which git lists as `folder/`."""
    gitlinks: set[bytes] = field(default_factory=set[bytes])
    """Submodules that are folders on the disk."""
    ignore_files: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Ignore files met, with their lstat from before they were read."""
    marks: dict[bytes, bool] = field(default_factory=dict[bytes, bool])
    """Folders with a `.git`, of which git's index knows nothing, and whether it makes them a
    repository."""
    unreadable: dict[bytes, str] = field(default_factory=dict[bytes, str])
    """Folders and files that could not be looked at, and why."""
    gone: set[bytes] = field(default_factory=set[bytes])
    """After a rescan: folders that count no more; nothing at or below them belongs."""
    unlisted: int = 0
    """Folders that were met and not listed to their end before the deadline; 0: this is all."""


class Pass:
    """Fills a `Membership`; entered by `visit` and ended by `add_tracked_only`."""

    def __init__(
        self,
        root: bytes,
        ignore: Ignore,
        tracked: Tracked,
        git_dir: bytes | None,
        *,
        known: Collection[bytes],
        deadline: float | None = None,
    ) -> None:
        """`known` are folders that are not entered from above; `deadline` as `Walker.walk`."""
        self.members = Membership()
        self._prefix = root.rstrip(b"/") + b"/"
        self._ignore = ignore
        self._tracked = tracked
        self._git_dir = git_dir
        self._known = known
        self._fold = ignore.settings.ignore_case
        self._compose = ignore.settings.precompose_unicode
        self._deadline = deadline
        self._pending: list[tuple[bytes, Rules]] = []

    def visit(self, folder: bytes, rules: Rules) -> None:
        """List a folder and all below it; `rules` are those that hold in the folder above."""
        self._pending.append((folder, rules))
        while self._pending:
            if self._late():
                self.members.unlisted += len(self._pending)
                self._pending.clear()
                return
            self._visit_one(*self._pending.pop())

    def add_tracked_only(self, start: Collection[bytes] = ()) -> None:
        """Add tracked files in folders that were not listed, or could not be.

        A rule may ignore the folder, but what is tracked in it belongs all the same. `start` are
        such folders that changed themselves; others are found below what this pass met. After a
        pass that was cut short nothing is added: each costs a look at the disk.
        """
        if self.members.unlisted:
            return
        folders, known = self.members.folders, self._known
        bare = {folder for folder in self.members.unreadable if folder in folders}
        for folder in sorted(self._tracked.folders - folders.keys()):
            above = folder.rpartition(b"/")[0]
            if folder not in start and (folder in known or above not in folders):
                continue
            stat = self._lstat(folder)
            # Not through a link, which could lead out of the tree.
            if stat is not None and stat_module.S_ISDIR(stat.st_mode):
                folders[folder] = stat
                bare.add(folder)
        if bare:
            for paths in self._tracked.directly_in(bare).values():
                for path in paths:
                    self._add(path, self._lstat(path))

    def _visit_one(self, folder: bytes, outer: Rules) -> None:
        stat = self._lstat(folder)
        if stat is None or not _is_real_folder(stat):
            return
        entries = self._list(folder)
        if entries is None:
            return
        names = [entry.name for entry in entries]
        if self._compose:
            names = [_composed(name) for name in names]
        special = {name.lower() for name in names} if self._fold else names
        if folder and self._is_nested(folder, has_dot_git=_DOT_GIT in special):
            return
        self.members.folders[folder] = stat
        prefix = folder + b"/" if folder else b""
        rules = outer
        ignore_file = prefix + IGNORE_NAME
        if IGNORE_NAME in special or ignore_file in self._ignore.blobs:
            at = self._lstat(ignore_file)
            if at is not None:
                self.members.ignore_files[ignore_file] = at
            rules = self._ignore.enter(outer, folder)
        if not self._sort_out(prefix, names, entries, rules):
            # Its signature would say that all in it is known.
            del self.members.folders[folder]
            self.members.unlisted += 1

    def _sort_out(
        self, prefix: bytes, names: list[bytes], entries: list[os.DirEntry[bytes]], rules: Rules
    ) -> bool:
        """Tell what each entry of a folder is; whether there was time for all."""
        members, tracked = self.members, self._tracked.paths
        files = members.files
        for at, (name, entry) in enumerate(zip(names, entries, strict=True), 1):
            if not at % _CLOCK_EVERY and self._late():
                return False
            path = prefix + name
            try:
                if entry.is_dir(follow_symlinks=False):
                    self._folder(name, path, rules)
                    continue
                if path not in tracked and self._left_out(name, path, rules):
                    continue
                if _ENTRY_STAT_IS_WHOLE:
                    stat = entry.stat(follow_symlinks=False)
                else:
                    stat = os.lstat(entry.path)
            except FileNotFoundError:
                continue  # gone since the listing
            except OSError as error:
                members.unreadable[path] = error.strerror or str(error)
                continue
            if stat.st_mode & _KIND == stat_module.S_IFREG:
                files[path] = stat
            else:
                self._add(path, stat)
        return True

    def _late(self) -> bool:
        check_cancelled()
        return self._deadline is not None and time.monotonic() > self._deadline

    def _folder(self, name: bytes, path: bytes, rules: Rules) -> None:
        if path in self._known or self._is_dot_git(name):
            return
        # A rule counts even if files in the folder are tracked; these come by add_tracked_only.
        if rules.ignored(name, path, is_folder=True):
            return
        if self._tracked.kind_of_folder(path) == "gitlink":
            self.members.gitlinks.add(path)
        else:
            self._pending.append((path, rules))

    def _left_out(self, name: bytes, path: bytes, rules: Rules) -> bool:
        """Whether an entry that is not tracked does not belong."""
        if self._is_dot_git(name):
            return True
        spellings = self._tracked.spellings(path)
        for spelling in spellings:
            # On a file system that ignores case this is the tracked file, named as git has it.
            here, there = self._lstat(path), self._lstat(spelling)
            if here is not None and there is not None and os.path.samestat(here, there):
                self._add(spelling, there)
        return bool(spellings) or rules.ignored(name, path, is_folder=False)

    def _is_dot_git(self, name: bytes) -> bool:
        return name == _DOT_GIT or (self._fold and name.lower() == _DOT_GIT)

    def _is_nested(self, folder: bytes, *, has_dot_git: bool) -> bool:
        """Whether a folder is another repository; one with tracked files never is, to git."""
        if not has_dot_git and folder not in self.members.unreadable:
            return False
        if self._tracked.kind_of_folder(folder) == "tracked":
            return False
        nested = is_repository(self._prefix + folder, self._git_dir)
        self.members.marks[folder] = nested
        if nested and folder not in self._tracked.paths:
            self.members.nested.add(folder)
        return nested

    def _list(self, folder: bytes) -> list[os.DirEntry[bytes]] | None:
        try:
            with os.scandir(self._prefix + folder) as listing:
                return list(listing)
        except (FileNotFoundError, NotADirectoryError):
            return None  # gone since the folder above was listed
        except OSError as error:
            self.members.unreadable[folder] = error.strerror or str(error)
            return []

    def _lstat(self, path: bytes) -> os.stat_result | None:
        try:
            return os.lstat(self._prefix + path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.members.unreadable[path] = error.strerror or str(error)
            return None

    def _add(self, path: bytes, stat: os.stat_result | None) -> None:
        kind = stat.st_mode & _KIND if stat is not None else 0
        if stat is not None and kind == stat_module.S_IFREG:
            self.members.files[path] = stat
        elif stat is not None and kind == stat_module.S_IFLNK:
            self.members.links[path] = stat


def _is_real_folder(stat: os.stat_result) -> bool:
    """A junction of Windows is a folder that leads elsewhere, like a link."""
    junction = getattr(stat, "st_reparse_tag", 0) == _JUNCTION
    return stat_module.S_ISDIR(stat.st_mode) and not junction


def _composed(name: bytes) -> bytes:
    """A name as git has it where the file system keeps accents apart (macOS)."""
    if name.isascii():
        return name
    try:
        return unicodedata.normalize("NFC", name.decode()).encode()
    except UnicodeDecodeError:
        return name
