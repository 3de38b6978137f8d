"""Decides which files of a worktree or folder belong to the index."""

from __future__ import annotations

import os
import re
import stat as stat_module
import time
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from codelens.cancellation import check_cancelled
from codelens.config import Settings
from codelens.errors import ReadError
from codelens.scope.commits import CommitFolders
from codelens.scope.git_index import NOTHING_TRACKED, TrackedSet
from codelens.scope.ignore_rules import (
    IGNORE_NAME,
    OWN_NAME,
    Ignore,
    OwnRules,
    Rules,
    read_in_tree,
    rules_of_user,
    source_of_root,
)
from codelens.scope.repository import Repository, Scope
from codelens.scope.untouched_blobs import ATTRIBUTES_NAME


def own_rules(repository: Repository, scope: Scope, settings: Settings) -> OwnRules:
    """Returns codelens's own rules for a worktree or folder on disk, or for a ref's commit.

    Raises:
        ReadError: a file with rules exists but cannot be read.
    """
    sources = rules_of_user(settings.home, settings.ignore)
    sources.append(source_of_root(_at_root(repository, scope)))
    fold = (
        any(source.data for source in sources)
        and repository.is_git
        and repository.ignore_settings().ignore_case
    )
    return OwnRules(sources, fold=fold)


def user_digest(settings: Settings) -> str:
    """Returns a digest of the rules outside of all repositories; empty if there are none.

    Raises:
        ReadError: the file in the home folder cannot be read.
    """
    return OwnRules(rules_of_user(settings.home, settings.ignore)).digest


def _at_root(repository: Repository, scope: Scope) -> bytes:
    if scope.kind != "ref":
        return read_in_tree(os.path.join(os.fsencode(scope.root), OWN_NAME)) or b""
    try:
        oid = CommitFolders(repository, scope.head).oid_of(OWN_NAME)
        return repository.read_blob(oid) if oid else b""
    except ReadError:
        # It is not in this clone, so its content is unknown.
        return b""


# Looks up paths on disk in git's index, with and without core.ignoreCase.

FolderKind = Literal["tracked", "gitlink", "unknown"]


class Tracked:
    """Lookups in a `TrackedSet`. With `fold` they ignore ASCII case."""

    def __init__(self, tracked: TrackedSet, *, fold: bool) -> None:
        self.paths = tracked.paths
        self.folders = tracked.folders
        self._in_order = tracked.in_order
        self._gitlinks = tracked.gitlinks
        self._replaced_gitlinks = tracked.replaced_gitlinks
        self._fold = fold
        self._folded_paths: dict[bytes, list[bytes]] = {}
        self._folded_folders: set[bytes] = set()
        if fold:
            for path in sorted(tracked.paths):
                self._folded_paths.setdefault(path.lower(), []).append(path)
            self._folded_folders = {path.lower() for path in tracked.folders}

    def kind_of_folder(self, path: bytes) -> FolderKind:
        """Returns what the index says of a folder on disk (`directory_exists_in_index` of dir.c).

        With `fold` git looks the name up in a hash, which returns the last of several spellings or
        conflict stages.
        """
        if not self._fold:
            if path in self._gitlinks:
                return "gitlink"
            return "tracked" if path in self.folders else "unknown"
        lower = path.lower()
        if lower in self._folded_folders:
            return "tracked"
        last = self._folded_paths.get(lower, [b""])[-1]
        is_gitlink = last in self._gitlinks and last not in self._replaced_gitlinks
        return "gitlink" if is_gitlink else "unknown"

    def spellings(self, path: bytes) -> list[bytes]:
        """Returns the tracked paths that differ from `path` only in case; none without `fold`."""
        return self._folded_paths.get(path.lower(), []) if self._fold else []

    def directly_in(self, folders: Collection[bytes]) -> dict[bytes, list[bytes]]:
        """Returns the tracked paths that are directly in one of `folders`, by folder."""
        paths_by_folder: dict[bytes, list[bytes]] = {folder: [] for folder in folders}
        for folder, here in paths_by_folder.items():
            start = folder + b"/" if folder else b""
            for at in range(bisect_left(self._in_order, start), len(self._in_order)):
                path = self._in_order[at]
                if not path.startswith(start):
                    break
                if path.rfind(b"/") < len(start):
                    here.append(path)
        return paths_by_folder


# Detects nested repositories by git's `is_nonbare_repository_dir`.
#
# Their content never belongs to the enclosing repository. A `.git` that is not a repository (an
# empty folder, a file that points nowhere) has no effect.

_GITFILE_LIMIT: Final = 1 << 20
_HEAD_BYTES: Final = 255
_GITFILE_START: Final = b"gitdir: "
# A symbolic ref below refs/, or a detached commit. git's isspace excludes the vertical tab.
_HEAD: Final = re.compile(rb"ref:[ \t\n\r]*refs/|[0-9a-fA-F]{40}")


def is_repository(folder: bytes, own_git_dir: bytes | None = None) -> bool:
    """Whether the folder has a `.git` that is a repository, or points to one.

    `own_git_dir` is the enclosing repository, which is not nested in itself.
    """
    dot_git = os.path.join(folder, b".git")
    try:
        status = os.stat(dot_git)
    except (OSError, ValueError):
        return False
    if stat_module.S_ISREG(status.st_mode):
        nested = status.st_size <= _GITFILE_LIMIT and _leads_to_repository(dot_git)
    else:
        nested = _is_git_dir(dot_git)
    if not nested or own_git_dir is None:
        return nested
    return os.path.realpath(dot_git) != os.path.realpath(own_git_dir)


def _leads_to_repository(gitfile: bytes) -> bool:
    try:
        with open(gitfile, "rb") as file:
            text = file.read(_GITFILE_LIMIT)
    except OSError:
        return True  # git takes an unreadable one for a repository
    if not text.startswith(_GITFILE_START):
        return False
    target = text.rstrip(b"\r\n")[len(_GITFILE_START) :].split(b"\0", 1)[0]
    return bool(target) and _is_git_dir(os.path.join(os.path.dirname(gitfile), target))


def _is_git_dir(folder: bytes) -> bool:
    """Follows git's `is_git_directory`, without environment variables."""
    if not _is_head(os.path.join(folder, b"HEAD")):
        return False
    common = _common_dir(folder)
    return all(os.access(os.path.join(common, name), os.X_OK) for name in (b"objects", b"refs"))


def _is_head(path: bytes) -> bool:
    try:
        status = os.lstat(path)
        if stat_module.S_ISLNK(status.st_mode):
            return os.readlink(path).startswith(b"refs/")
        if not stat_module.S_ISREG(status.st_mode):
            return False
        with open(path, "rb") as file:
            text = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return _HEAD.match(text) is not None


def _common_dir(folder: bytes) -> bytes:
    named = os.path.join(folder, b"commondir")
    if not os.path.isfile(named):
        return folder  # opening a pipe would block
    try:
        with open(named, "rb") as file:
            text = file.read(_GITFILE_LIMIT)
    except OSError:
        return folder
    target = text.rstrip(b"\r\n").split(b"\0", 1)[0]
    return os.path.join(folder, target) if target else folder


# One pass over the folders of a worktree: classifies entries and lists subfolders.

_DOT_GIT: Final = b".git"
_OTHER_TOOLS: Final = frozenset({b".codegraph", b".gitnexus", b".serena", b".cocoindex_code"})
_AIDER_CACHE: Final = b".aider.tags.cache"
"""Folders of tools that index or summarize code: copies of it, not code."""
# On Windows a directory listing has neither inode nor change time.
_ENTRY_STAT_IS_WHOLE: Final = os.name != "nt"
_JUNCTION: Final = getattr(stat_module, "IO_REPARSE_TAG_MOUNT_POINT", -1)
_KIND: Final = 0o170000
_CLOCK_EVERY: Final = 256


@dataclass(slots=True)
class Membership:
    """The result of a pass, unordered. Paths are relative to the root, which is the empty path."""

    files: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Regular files that belong, with their lstat."""
    links: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Symlinks that git lists."""
    folders: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Listed folders, and ignored ones with tracked files, with their lstat from before the
    listing. New and removed entries change it.
    """
    nested: set[bytes] = field(default_factory=set[bytes])
    """Nested repositories, which git lists as `folder/`."""
    tools: set[bytes] = field(default_factory=set[bytes])
    """Untracked folders in which other tools keep what they generate."""
    gitlinks: set[bytes] = field(default_factory=set[bytes])
    """Submodules that are folders on disk."""
    ignore_files: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Ignore files with their lstat from before they were read."""
    plain: set[bytes] = field(default_factory=set[bytes])
    """Listed folders without a file of git's attributes."""
    marks: dict[bytes, bool] = field(default_factory=dict[bytes, bool])
    """Folders with a `.git` that git's index does not list, and whether they are repositories."""
    unreadable: dict[bytes, str] = field(default_factory=dict[bytes, str])
    """Folders and files that could not be read, and why."""
    gone: set[bytes] = field(default_factory=set[bytes])
    """After a rescan: folders that no longer count. Nothing at or below them belongs."""
    unlisted: int = 0
    """The number of folders not listed completely before the deadline; 0 if the pass is complete.
    """


class Pass:
    """Fills a `Membership`: call `visit`, then `add_tracked_only`."""

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
        """Never enters a `known` folder from its parent. For `deadline` see `Walker.walk`."""
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
        """Lists a folder and everything below it. `rules` are those of its parent's entries."""
        self._pending.append((folder, rules))
        while self._pending:
            if self._is_past_deadline():
                self.members.unlisted += len(self._pending)
                self._pending.clear()
                return
            self._visit_folder(*self._pending.pop())

    def add_tracked_only(self, start: Collection[bytes] = ()) -> None:
        """Adds tracked files in folders that were not or could not be listed.

        Tracked files belong even if a rule ignores their folder. `start` are such folders that
        changed themselves; others are found below the folders of this pass. After an incomplete
        pass nothing is added, because each file costs a stat.
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
            # A link could lead out of the tree.
            if stat is not None and stat_module.S_ISDIR(stat.st_mode):
                folders[folder] = stat
                bare.add(folder)
        if bare:
            for paths in self._tracked.directly_in(bare).values():
                for path in paths:
                    self._add(path, self._lstat(path))

    def _visit_folder(self, folder: bytes, outer: Rules) -> None:
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
        if ATTRIBUTES_NAME not in special:
            self.members.plain.add(folder)
        prefix = folder + b"/" if folder else b""
        rules = outer
        ignore_file = prefix + IGNORE_NAME
        if IGNORE_NAME in special or ignore_file in self._ignore.blobs:
            at = self._lstat(ignore_file)
            if at is not None:
                self.members.ignore_files[ignore_file] = at
            rules = self._ignore.enter(outer, folder)
        if not self._classify(prefix, names, entries, rules):
            # Without a signature, the folder does not count as completely listed.
            del self.members.folders[folder]
            self.members.unlisted += 1

    def _classify(
        self, prefix: bytes, names: list[bytes], entries: list[os.DirEntry[bytes]], rules: Rules
    ) -> bool:
        """Classifies the entries of a folder. Returns whether there was time for all."""
        members, tracked = self.members, self._tracked.paths
        files = members.files
        for at, (name, entry) in enumerate(zip(names, entries, strict=True), 1):
            if not at % _CLOCK_EVERY and self._is_past_deadline():
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
                continue  # removed since the listing
            except OSError as error:
                members.unreadable[path] = error.strerror or str(error)
                continue
            if stat.st_mode & _KIND == stat_module.S_IFREG:
                files[path] = stat
            else:
                self._add(path, stat)
        return True

    def _is_past_deadline(self) -> bool:
        check_cancelled()
        return self._deadline is not None and time.monotonic() > self._deadline

    def _folder(self, name: bytes, path: bytes, rules: Rules) -> None:
        if path in self._known or self._is_dot_git(name):
            return
        # A rule applies even if the folder has tracked files; add_tracked_only adds these.
        if rules.ignored(name, path, is_folder=True):
            return
        kind = self._tracked.kind_of_folder(path)
        if kind == "gitlink":
            self.members.gitlinks.add(path)
        elif kind == "unknown" and (name in _OTHER_TOOLS or name.startswith(_AIDER_CACHE)):
            self.members.tools.add(path)
        else:
            self._pending.append((path, rules))

    def _left_out(self, name: bytes, path: bytes, rules: Rules) -> bool:
        """Whether an untracked entry does not belong."""
        if self._is_dot_git(name):
            return True
        spellings = self._tracked.spellings(path)
        for spelling in spellings:
            # On a case-insensitive file system this is the tracked file, and git's spelling counts.
            here, there = self._lstat(path), self._lstat(spelling)
            if here is not None and there is not None and os.path.samestat(here, there):
                self._add(spelling, there)
        return bool(spellings) or rules.ignored(name, path, is_folder=False)

    def _is_dot_git(self, name: bytes) -> bool:
        return name == _DOT_GIT or (self._fold and name.lower() == _DOT_GIT)

    def _is_nested(self, folder: bytes, *, has_dot_git: bool) -> bool:
        """Whether a folder is another repository. A folder with tracked files is not, as in git."""
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
            return None  # removed since its parent was listed
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
    """Whether it is a folder, and not a junction (a kind of link on Windows)."""
    if stat.st_mode & _KIND != stat_module.S_IFDIR:
        return False
    return _JUNCTION < 0 or getattr(stat, "st_reparse_tag", 0) != _JUNCTION


def _composed(name: bytes) -> bytes:
    """Returns a name as git has it if the file system decomposes accents (macOS)."""
    if name.isascii():
        return name
    try:
        return unicodedata.normalize("NFC", name.decode()).encode()
    except UnicodeDecodeError:
        return name


# Determines the files of a worktree or plain folder: `Walker.walk`, and `rescan` for a part.
#
# The result equals that of `git ls-files -co --exclude-standard` without files that are not on
# disk: tracked files, and untracked ones that no rule ignores. Links are listed separately and
# never followed. Anything but a file, link or folder never belongs, nor does anything in another
# repository.

__all__ = ["Membership", "Walker", "marks_hold"]


class Walker:
    """Decides which files belong, by passes over the disk. Use a new instance for each look."""

    def __init__(
        self,
        root: str | bytes | os.PathLike[str],
        ignore: Ignore,
        tracked: TrackedSet = NOTHING_TRACKED,
        git_dir: str | bytes | os.PathLike[str] | None = None,
    ) -> None:
        """For a worktree. For a plain folder omit `tracked` and `git_dir`."""
        self.root = os.fsencode(root)
        self._prefix = self.root.rstrip(b"/") + b"/"
        self._ignore = ignore
        self._tracked = Tracked(tracked, fold=ignore.settings.ignore_case)
        self._git_dir = None if git_dir is None else os.fsencode(git_dir)

    def walk(self, deadline: float | None = None) -> Membership:
        """Returns everything that belongs; nothing if the root is gone.

        Args:
            deadline: a `time.monotonic` value. `Membership.unlisted` counts the folders not
                reached by then.

        Raises:
            ReadError: an ignore file outside the tree cannot be read.
        """
        folder_pass = self._pass((), deadline)
        folder_pass.visit(b"", self._ignore.base())
        folder_pass.add_tracked_only()
        return folder_pass.members

    def rescan(
        self,
        folders: Iterable[bytes],
        known: Collection[bytes],
        ignore_files: Collection[bytes],
        deadline: float | None = None,
    ) -> Membership | None:
        """Returns what belongs directly in changed folders, and all that belongs in new ones.

        Valid only while all other inputs are unchanged: `TrackedSet.digest`, the files of
        `Ignore.own_files` and of `Membership.ignore_files`, git's config, and `marks_hold`.

        Args:
            folders: folders of an earlier pass whose lstat changed, or fails.
            known: all folders of earlier passes (a set, or a dict by folder). Their own lstat shows
                their changes, so none is entered from above.
            ignore_files: the ignore files of earlier passes.
            deadline: a `time.monotonic` value.

        Returns:
            The content of its `folders`, and the folders that are `gone`. None if an ignore file
            was added or removed, so that everything must be walked again.

        Raises:
            ReadError: an ignore file outside the tree cannot be read.
        """
        folder_pass = self._pass(known, deadline)
        members = folder_pass.members
        tracked_only: set[bytes] = set()
        for folder in sorted(set(folders)):
            if not self._still_exists(folder, members.gone):
                members.gone.add(folder)
            elif self._ignore.rules_in(folder) is None:
                tracked_only.add(folder)
            else:
                above = self._ignore.rules_in(folder.rpartition(b"/")[0]) if folder else None
                folder_pass.visit(folder, above or self._ignore.base())
                if members.unlisted:
                    return members
                if folder not in members.folders:
                    members.gone.add(folder)
                elif _ignore_file_changed(folder, members, ignore_files):
                    return None
        folder_pass.add_tracked_only(tracked_only)
        members.gone |= tracked_only - members.folders.keys()
        return members

    def _pass(self, known: Collection[bytes], deadline: float | None) -> Pass:
        return Pass(
            self.root, self._ignore, self._tracked, self._git_dir, known=known, deadline=deadline
        )

    def _still_exists(self, folder: bytes, gone: set[bytes]) -> bool:
        """Whether a folder and all folders above it still exist, and none is a link."""
        while folder:
            if folder in gone:
                return False
            try:
                status = os.lstat(self._prefix + folder)
            except OSError:
                return False
            if not stat_module.S_ISDIR(status.st_mode):
                return False
            folder = folder.rpartition(b"/")[0]
        return True


def _ignore_file_changed(
    folder: bytes, members: Membership, ignore_files: Collection[bytes]
) -> bool:
    path = folder + b"/" + IGNORE_NAME if folder else IGNORE_NAME
    return (path in members.ignore_files) != (path in ignore_files)


def marks_hold(
    root: str | bytes | os.PathLike[str],
    marks: Iterable[tuple[bytes, bool]],
    git_dir: str | bytes | os.PathLike[str] | None = None,
) -> bool:
    """Whether `marks` are still right about which folders are repositories.

    Costs a few system calls for each.
    """
    top = os.fsencode(root)
    own = None if git_dir is None else os.fsencode(git_dir)
    return all(
        is_repository(os.path.join(top, path), own) == was_repository
        for path, was_repository in marks
    )
