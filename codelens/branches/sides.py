"""Represents the sides of a comparison: a commit, git's index, or the files of a worktree.

A change is exactly what git regards as one: differences in line ends or `ident` that attributes or
`core.autocrlf` explain do not count. Links, submodules and modes count as in git.
"""

from __future__ import annotations

import hashlib
import os
import stat as stat_module
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

from codelens.branches.file_definitions import FileText
from codelens.config import Settings
from codelens.errors import ReadError
from codelens.extract.file_kinds import decode
from codelens.index.ingestion import path_facts
from codelens.index.text_facts import DiskSource, Text, Unavailable, Work, text_facts
from codelens.scan.content_hash import blob_oid, hash_of
from codelens.scope.commits import tree_entries
from codelens.scope.ignore_rules import OwnRules
from codelens.scope.membership import own_rules
from codelens.scope.repository import Repository, Scope
from codelens.scope.stored_files import EXECUTABLE, REGULAR, TYPE, StoredFiles, canonical_mode
from codelens.scope.tree_changes import GITLINK, LINK, Entry, file_oid, tree_changes
from codelens.scope.uncommitted_changes import is_dirty
from codelens.store.database.database import Database
from codelens.store.facts.contents import blobs, hashes
from codelens.store.views.snapshot import Snapshot
from codelens.types import CommitId, ContentHash, Tier

DIRTY = b"-dirty"
"""Suffix of a submodule's commit if it has uncommitted changes, as in git's diffs."""
_LFS = b"version https://git-lfs.github.com/spec/"
_SPECIAL = frozenset({LINK, GITLINK})
_PLAIN = frozenset({REGULAR, EXECUTABLE})


class SideFile(NamedTuple):
    """A file on one side."""

    path: bytes
    mode: int
    oid: bytes
    """Id of git's object; empty for a regular file on disk. For a submodule, its commit."""


class SideChange(NamedTuple):
    """A path that differs between the sides."""

    path: bytes
    old: SideFile | None
    new: SideFile | None


class FilesSide:
    """The current files of a worktree, including untracked ones.

    Args:
        repository: the repository of the worktree.
        scope: the worktree.
        snapshot: its view.
        settings: the settings that decide which files belong to it.
        name: see `Side.name`.
        pending: files whose state in the view is outdated or missing.
        is_checked: whether all other files were checked against the view.
    """

    def __init__(
        self,
        repository: Repository,
        scope: Scope,
        snapshot: Snapshot,
        settings: Settings,
        name: str,
        *,
        pending: Collection[bytes] = (),
        is_checked: bool = True,
    ) -> None:
        self.repository = repository
        self.scope = scope
        self.snapshot = snapshot
        self.name = name
        self.stored = StoredFiles(repository, scope)
        self._settings = settings
        self._pending = pending
        self._is_checked = is_checked
        self._disk = DiskSource(os.fsencode(scope.root), settings.max_file_bytes, 0)

    def read(self, file: SideFile) -> bytes:
        """See `Side.read`."""
        if file.mode & TYPE == LINK:
            return self._target(file.path)
        try:
            return self._disk.fetch(Work(file.path, 0)).data
        except (Unavailable, FileNotFoundError, NotADirectoryError) as error:
            raise ReadError(f"{file.path!r} cannot be read") from error

    def read_stored(self, file: SideFile) -> bytes:
        """Return the content that git would store for a file.

        Raises:
            ReadError: the file cannot be read.
        """
        data = self.read(file)
        return data if file.mode & TYPE in _SPECIAL else self.stored.stored(file.path, data)

    def file(self, path: bytes, known_mode: int = REGULAR) -> SideFile:
        """Return a regular file of this side.

        Args:
            path: the file.
            known_mode: its mode on the other side, used if the disk stores no modes.
        """
        return SideFile(path, self.stored.mode(path, known_mode), b"")

    def staged(self, paths: Collection[bytes]) -> dict[bytes, bytes]:
        """Return the texts in git's index of those paths that are staged, in UTF-8."""
        return {
            entry.path: decode(self.repository.read_blob(entry.oid))
            for entry in self.stored.entries.values()
            if entry.path in paths and not entry.stage and not entry.intent_to_add
            and entry.mode & TYPE not in _SPECIAL
        }  # fmt: skip

    def all_special(self) -> dict[bytes, SideFile]:
        """Return the tracked links and submodules on the disk."""
        return {
            path: SideFile(path, mode, oid)
            for path, (mode, oid) in self.stored.special_entries().items()
        }

    def unlike(
        self,
        entries: Mapping[bytes, SideFile],
        db: Database,
        paths: Collection[bytes] | None = None,
    ) -> list[SideChange]:
        """Compare this side with entries of a tree or of git's index.

        Args:
            entries: entries of the other side.
            db: the store with known hashes.
            paths: only compare these paths. Without it, submodules with uncommitted changes
                count, too, and so do links and submodules that are new in git's index.

        Raises:
            ReadError: git's index or an object cannot be read.
        """
        behind = self._behind
        by_path = self.snapshot.by_path
        if paths is None:
            now = {path: file for path, file in by_path.items() if path not in behind}
        else:
            now = {path: by_path[path] for path in paths if path in by_path and path not in behind}
            behind = behind.intersection(paths)
        hash_by_oid = _hashes_of_objects(entries, db)
        have = hashes(db, {file.content for file in now.values() if file.content is not None})
        side_changes: list[SideChange] = []
        stored_mode = self.stored.mode
        for path, file in now.items():
            then = entries.get(path)
            if then is None:
                side_changes.append(SideChange(path, None, self.file(path)))
                continue
            known_hash = have.get(file.content) if file.content is not None else None
            # Of thousands of files nearly all are equal, so skip the call for these.
            if (
                known_hash is not None
                and then.mode in _PLAIN
                and known_hash == hash_by_oid.get(then.oid)
                and stored_mode(path, then.mode) == then.mode
            ):
                continue
            side_changes += self._regular(then, known_hash, hash_by_oid)
        for path in entries.keys() - now.keys():
            side_changes += self._not_in_view(entries[path], with_dirty=paths is None)
        side_changes += [
            SideChange(path, None, self.file(path))
            for path in behind - entries.keys()
            if self._is_there(path)
        ]
        if paths is None:
            side_changes += [
                SideChange(path, None, special)
                for path, special in self.all_special().items()
                if path not in entries and path not in now
            ]
        return sorted(side_changes)

    def regular(self) -> dict[bytes, SideFile]:
        """Return all regular files, including those missing in the view."""
        listed = self.snapshot.by_path.keys() - self._behind
        return {
            path: self.file(path)
            for path in (*listed, *(path for path in self._behind if self._is_there(path)))
        }

    def content(self, path: bytes) -> int | None:
        """Return the content id of a file in the view; None if missing or outdated."""
        file = self.snapshot.by_path.get(path)
        return file.content if file is not None and path not in self._behind else None

    def _is_there(self, path: bytes) -> bool:
        """Whether an outdated path is a regular file that belongs to the view."""
        status = self.stored.status(path)
        is_regular = status is not None and stat_module.S_ISREG(status.st_mode)
        return is_regular and not self._rules.leaves_out(path)

    @cached_property
    def _behind(self) -> frozenset[bytes]:
        """Return the files to read from disk: the view may lack their text or have an old one."""
        if self._is_checked:
            return frozenset(self._pending)
        return frozenset((*self._pending, *self.snapshot.by_path, *self.stored.entries))

    def _regular(
        self, then: SideFile, known_hash: bytes | None, hash_by_oid: dict[bytes, ContentHash]
    ) -> Iterator[SideChange]:
        """Yield the difference in text or mode of a regular file; see `_is_same`."""
        here = self.file(then.path, then.mode)
        is_special = then.mode & TYPE in _SPECIAL
        if not self._is_same(then, known_hash, hash_by_oid) or (
            not is_special and here.mode != canonical_mode(then.mode)
        ):
            yield SideChange(then.path, then, here)

    def _is_same(
        self, then: SideFile, known_hash: bytes | None, hash_by_oid: dict[bytes, ContentHash]
    ) -> bool:
        """Whether a regular file of the view has the same text as the other side.

        Args:
            then: the file on the other side.
            known_hash: hash of its text; None if unknown.
            hash_by_oid: hashes of objects; new ones are added.
        """
        kind = then.mode & TYPE
        if kind == GITLINK or (kind == LINK and self.stored.keeps_links):
            return False
        if known_hash is not None and known_hash == self._hash(then, hash_by_oid):
            return True
        return not self._differs(then)

    def _hash(self, then: SideFile, hash_by_oid: dict[bytes, ContentHash]) -> bytes:
        content_hash = hash_by_oid.get(then.oid)
        if content_hash is None:
            try:
                content_hash = hash_by_oid[then.oid] = hash_of(self.repository.read_blob(then.oid))
            except ReadError:
                return b""
        return content_hash

    def _differs(self, then: SideFile) -> bool:
        """Whether git regards different bytes as a change."""
        path = then.path
        if self.stored.is_untouched(path, then.oid):
            return False
        try:
            new = self.read(SideFile(path, REGULAR, b""))
        except ReadError:
            return not self._same_object(then)
        if blob_oid(new) == then.oid or blob_oid(self.stored.stored(path, new)) == then.oid:
            return False
        try:
            old = self.repository.read_blob(then.oid)
        except ReadError:
            return True
        if old.startswith(_LFS):
            digest = hashlib.sha256(new).hexdigest().encode()
            return b"oid sha256:" + digest not in old
        return True

    def _same_object(self, then: SideFile) -> bool:
        """Compare a file that is too large to be read."""
        status = self.stored.status(then.path)
        if status is None or status.st_size != self.repository.object_size(then.oid):
            return False
        try:
            return file_oid(self.repository, then.path) == then.oid
        except (OSError, ValueError):
            return False

    def _not_in_view(self, then: SideFile, *, with_dirty: bool) -> Iterator[SideChange]:
        """Yield the change of a path that is not a file of the view."""
        path, kind = then.path, then.mode & TYPE
        if self.stored.is_left_out(path) or (kind != GITLINK and self._rules.leaves_out(path)):
            return
        status = self.stored.status(path)
        if status is not None and stat_module.S_ISREG(status.st_mode):
            # Not listed yet, or no longer tracked, and ignored.
            if self.stored.is_tracked(path) or path in self._behind:
                yield from self._regular(then, None, {})
            else:
                yield SideChange(path, then, None)
            return
        special = self.stored.special_at(path)
        if special is not None and (special[0] == LINK or kind == GITLINK):
            now = SideFile(path, *special)
            if with_dirty and now.mode == GITLINK and self._is_dirty(path):
                now = now._replace(oid=now.oid + DIRTY)
            if (now.mode, now.oid) != (kind, then.oid):
                yield SideChange(path, then, now)
        elif status is None or kind != GITLINK:
            # A folder in place of a submodule: it is not checked out.
            yield SideChange(path, then, None)

    @cached_property
    def _rules(self) -> OwnRules:
        return own_rules(self.repository, self.scope, self._settings)

    def _is_dirty(self, path: bytes) -> bool:
        inner = self.stored.submodule(path)
        return inner is not None and bool(is_dirty(inner))

    def _target(self, path: bytes) -> bytes:
        try:
            return os.readlink(self.stored.full(path))
        except OSError as error:
            raise ReadError(f"{path!r} cannot be read ({error.strerror})") from error


def _hashes_of_objects(entries: Mapping[bytes, SideFile], db: Database) -> dict[bytes, ContentHash]:
    oids = {file.oid for file in entries.values() if file.mode & TYPE not in _SPECIAL}
    return {oid: row[0] for oid, row in blobs(db, oids).items()}


# Represents commits and git's index as sides, and compares two sides.


class Facts(NamedTuple):
    """Where the facts of texts come from, and how to extract missing ones."""

    db: Database
    languages: Mapping[str, str]
    max_bytes: int
    workers: int


class Side(Protocol):
    """One side of a comparison."""

    name: str
    """Its name in answers: `HEAD`, `feature-b`, `staged`, `files`."""

    def read(self, file: SideFile) -> bytes:
        """Return the raw bytes of a file.

        Raises:
            ReadError: the file cannot be read.
        """
        ...


class CommitSide:
    """The files of a commit."""

    def __init__(self, repository: Repository, commit: CommitId, name: str) -> None:
        self.repository = repository
        self.commit = commit
        self.name = name

    def read(self, file: SideFile) -> bytes:
        """See `Side.read`."""
        return self.repository.read_blob(file.oid)


class StagedSide:
    """The content of git's index, which `git commit` would use."""

    def __init__(self, repository: Repository, scope: Scope) -> None:
        self.repository = repository
        self.name = "staged"
        entries = StoredFiles(repository, scope).entries.values()
        self.files = {
            entry.path: SideFile(entry.path, entry.mode, entry.oid)
            for entry in entries
            if entry.stage in {0, 2} and not entry.intent_to_add
        }
        self.unmerged = sorted(entry.path for entry in entries if entry.stage)
        """Paths with a conflict; their stage of the current branch is compared."""

    def read(self, file: SideFile) -> bytes:
        """See `Side.read`."""
        return self.repository.read_blob(file.oid)


AnySide = CommitSide | StagedSide | FilesSide


def side_changes(old: AnySide, new: AnySide, db: Database) -> list[SideChange]:
    """Return the paths that differ, in order.

    Raises:
        ReadError: git's data cannot be read.
    """
    if isinstance(old, FilesSide) and isinstance(new, FilesSide):
        return _files_and_files(old, new)
    if isinstance(new, FilesSide):
        return new.unlike(entries_of(old), db)
    if isinstance(old, FilesSide):
        return [
            SideChange(change.path, change.new, change.old)
            for change in old.unlike(entries_of(new), db)
        ]
    if isinstance(old, CommitSide) and isinstance(new, CommitSide):
        changes = tree_changes(new.repository, old.commit, new.commit)
        return [SideChange(change.path, _file(change.old), _file(change.new)) for change in changes]
    before, after = entries_of(old), entries_of(new)
    return [
        SideChange(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    ]


def _file(entry: Entry | None) -> SideFile | None:
    if entry is None:
        return None
    return SideFile(entry.path, canonical_mode(entry.mode), entry.oid)


def entries_of(side: CommitSide | StagedSide | FilesSide) -> dict[bytes, SideFile]:
    """Return all entries of a commit, git's index or a worktree by path."""
    if isinstance(side, StagedSide):
        return side.files
    assert isinstance(side, CommitSide)
    if not side.commit:
        return {}
    entries = tree_entries(side.repository, side.commit)
    return {path: SideFile(path, canonical_mode(mode), oid) for path, mode, oid in entries}


def _files_and_files(old: FilesSide, new: FilesSide) -> list[SideChange]:
    before, after = _special_and_rest(old), _special_and_rest(new)
    side_changes: list[SideChange] = []
    for path in sorted(before.keys() | after.keys()):
        file, other = before.get(path), after.get(path)
        is_regular = file is not None and file.mode & TYPE == REGULAR & TYPE
        if file != other or (is_regular and not _same_text(old, new, path)):
            side_changes.append(SideChange(path, file, other))
    return side_changes


def _special_and_rest(side: FilesSide) -> dict[bytes, SideFile]:
    return side.regular() | side.all_special()


def _same_text(old: FilesSide, new: FilesSide, path: bytes) -> bool:
    """Whether a file has the same text in two worktrees, or git would store the same."""
    content = old.content(path)
    if content is not None and content == new.content(path):
        return True
    try:
        before, after = (
            side.stored.stored(path, side.read(SideFile(path, REGULAR, b""))) for side in (old, new)
        )
    except ReadError:
        return False
    return before == after


def texts_of(
    sides: Sequence[tuple[AnySide, Sequence[SideFile]]], facts: Facts, tier: Tier = "symbols"
) -> list[list[FileText]]:
    """Return the files of each side with definitions; parse only files unknown to the store.

    Args:
        sides: the sides with their files.
        facts: the sources of facts.
        tier: how much to extract from other files; everything if uses are followed anyway.
    """
    read: list[list[tuple[SideFile, bytes | None]]] = []
    wanted_texts: list[Text] = []
    for side, files in sides:
        rows: list[tuple[SideFile, bytes | None]] = []
        for file in files:
            data = _data(side, file)
            rows.append((file, data))
            if data is not None:
                wanted_texts.append(Text(file.path, data))
        read.append(rows)
    text_factses = iter(
        text_facts(
            facts.db,
            wanted_texts,
            languages=facts.languages,
            max_bytes=facts.max_bytes,
            workers=facts.workers,
            tier=tier,
        )
    )
    file_textses: list[list[FileText]] = []
    for (side, _), rows in zip(sides, read, strict=True):
        texts: list[FileText] = []
        for file, data in rows:
            if data is None:
                texts.append(_summary_text(side, file))
                continue
            extracted = next(text_factses)
            shown = "text"
            role = path_facts(file.path).role
            if extracted.outcome in {"binary", "oversized"}:
                shown = extracted.outcome
            elif extracted.generated or extracted.outcome == "minified":
                shown = "generated"
            elif role in {"generated", "vendored"}:
                shown = role
            text = decode(data) if shown != "binary" else data
            texts.append(
                FileText(
                    file.path, text, extracted.symbols, extracted.language, shown, hash_of(data),
                    file.mode,
                )
            )  # fmt: skip
        file_textses.append(texts)
    return file_textses


def _data(side: AnySide, file: SideFile) -> bytes | None:
    if file.mode & TYPE in {LINK, GITLINK}:
        return None
    try:
        return side.read(file)
    except ReadError:
        return None


def _summary_text(side: AnySide, file: SideFile) -> FileText:
    kind = {LINK: "link", GITLINK: "submodule"}.get(file.mode & TYPE, "oversized")
    # Large files of two worktrees are requested only if they differ.
    known_by = file.oid or side.name.encode("utf-8", "surrogateescape")
    return FileText(file.path, known_by, (), "text", kind, known_by, file.mode)
