"""The two sides of a comparison: a commit, git's index, or the files of a worktree as they are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from codelens.branches.file_definitions import FileText
from codelens.config import Settings
from codelens.errors import ReadError
from codelens.extract.file_kinds import decode
from codelens.index.path_facts import path_facts
from codelens.index.text_facts import Text, text_facts
from codelens.index.text_sources import DiskSource, Unavailable, Work
from codelens.scan.content_hash import hash_of
from codelens.scope.commits.commit_tree import expand_tree, tree_entries
from codelens.scope.commits.tree_changes import GITLINK, LINK, Entry, file_oid, tree_changes
from codelens.scope.git_index.git_index import read_index
from codelens.scope.membership.own_membership import own_rules
from codelens.scope.repository import Repository, Scope
from codelens.scope.text_diff import left_out
from codelens.store.database.database import Database
from codelens.store.facts.contents import blobs
from codelens.store.facts.raw_hashes import hashes
from codelens.store.views.snapshot import Snapshot
from codelens.types import CommitId, ContentHash

_REGULAR = 0o100644
_TYPE = 0o170000
_LFS = b"version https://git-lfs.github.com/spec/"
_OWNER_RUNS = 0o100


class SideFile(NamedTuple):
    """A file as one side has it."""

    path: bytes
    mode: int
    oid: bytes
    """Of git's object; empty for a file on disk."""


class SideChange(NamedTuple):
    """A path that is not the same on both sides."""

    path: bytes
    old: SideFile | None
    new: SideFile | None


class Facts(NamedTuple):
    """Where facts come from, and how texts are read."""

    db: Database
    languages: Mapping[str, str]
    max_bytes: int
    workers: int


class Side(Protocol):
    """One side."""

    name: str
    """As it is called in an answer: `HEAD`, `feature-b`, `staged`, `files`."""

    def read(self, file: SideFile) -> bytes:
        """The raw bytes.

        Raises:
            ReadError: they cannot be had.
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
    """What git's index holds: what `git commit` would take."""

    def __init__(self, repository: Repository, scope: Scope) -> None:
        self.repository = repository
        self.name = "staged"
        entries = read_index(
            os.path.join(scope.git_dir, "index"),
            expand_tree=lambda oid, prefix: expand_tree(repository, oid, prefix),
        )
        self.files = {
            entry.path: SideFile(entry.path, entry.mode, entry.oid)
            for entry in entries
            if entry.stage in {0, 2} and not entry.intent_to_add
        }

    def read(self, file: SideFile) -> bytes:
        """See `Side.read`."""
        return self.repository.read_blob(file.oid)


class FilesSide:
    """The files of a worktree as they are, untracked ones included."""

    def __init__(
        self,
        repository: Repository,
        scope: Scope,
        snapshot: Snapshot,
        settings: Settings,
        name: str,
    ) -> None:
        self.repository = repository
        self.scope = scope
        self.snapshot = snapshot
        self.name = name
        self._settings = settings
        self._disk = DiskSource(os.fsencode(scope.root), settings.max_file_bytes, 0)

    def read(self, file: SideFile) -> bytes:
        """See `Side.read`."""
        if file.mode & _TYPE == LINK:
            return os.readlink(self._full(file.path))
        try:
            return self._disk.fetch(Work(file.path, 0)).data
        except (Unavailable, FileNotFoundError, NotADirectoryError) as error:
            raise ReadError(f"{file.path!r} cannot be read") from error

    def file(self, path: bytes) -> SideFile:
        """A file of it."""
        return SideFile(path, _REGULAR, b"")

    def unlike(
        self,
        entries: Mapping[bytes, SideFile],
        db: Database,
        oids: Collection[bytes] | None = None,
    ) -> list[SideChange]:
        """Where it differs from entries of a tree or of git's index; `oids`: of these paths."""
        now = self.snapshot.by_path
        if oids is not None:
            now = {path: now[path] for path in oids if path in now}
        plain = {
            path: file for path, file in entries.items() if file.mode & _TYPE not in {LINK, GITLINK}
        }
        hash_by_oid = {
            oid: known[0] for oid, known in blobs(db, {file.oid for file in plain.values()}).items()
        }
        have = hashes(db, {file.content for file in now.values() if file.content is not None})
        side_changes: list[SideChange] = []
        for path, file in now.items():
            then = plain.get(path)
            if then is None:
                side_changes.append(SideChange(path, entries.get(path), self.file(path)))
                continue
            if file.content is not None and have.get(file.content) == self._hash(then, hash_by_oid):
                continue
            if self._differs(path, then):
                side_changes.append(SideChange(path, then, self.file(path)))
        gone = plain.keys() - now.keys()
        if gone:
            gone -= left_out(self.repository, self.scope)
            rules = own_rules(self.repository, self.scope, self._settings)
            gone = {path for path in gone if not rules.leaves_out(path)}
        side_changes += [SideChange(path, plain[path], None) for path in gone]
        side_changes += self._links(entries, now.keys())
        return sorted(side_changes)

    def _hash(self, then: SideFile, hash_by_oid: dict[bytes, ContentHash]) -> bytes:
        known = hash_by_oid.get(then.oid)
        if known is None:
            try:
                known = hash_by_oid[then.oid] = hash_of(self.repository.read_blob(then.oid))
            except ReadError:
                return b""
        return known

    def _differs(self, path: bytes, then: SideFile) -> bool:
        """Whether bytes that are not the same are so by more than line ends or a large file."""
        try:
            old = self.repository.read_blob(then.oid)
            new = self.read(self.file(path))
        except ReadError:
            return not self._same_object(path, then)
        if old == new:
            return False
        if old.startswith(_LFS):
            digest = hashlib.sha256(new).hexdigest().encode()
            return b"oid sha256:" + digest not in old and not new.startswith(_LFS)
        return b"\r\n" not in new + old or old.replace(b"\r\n", b"\n") != new.replace(
            b"\r\n", b"\n"
        )

    def _same_object(self, path: bytes, then: SideFile) -> bool:
        try:
            return file_oid(self.repository, path) == then.oid
        except (OSError, ValueError):
            return False

    def _links(
        self, entries: Mapping[bytes, SideFile], now: Iterable[bytes]
    ) -> Iterable[SideChange]:
        known = set(now)
        for path, then in entries.items():
            kind = then.mode & _TYPE
            if kind not in {LINK, GITLINK} or path in known:
                continue
            full = self._full(path)
            if kind == LINK:
                if not os.path.lexists(full):
                    yield SideChange(path, then, None)
                elif os.path.islink(full) and os.readlink(full) != self.repository.read_blob(
                    then.oid
                ):
                    yield SideChange(path, then, SideFile(path, LINK, b""))

    def _full(self, path: bytes) -> bytes:
        return os.path.join(os.fsencode(self.scope.root), path)


AnySide = CommitSide | StagedSide | FilesSide


def side_changes(old: AnySide, new: AnySide, db: Database) -> list[SideChange]:
    """Paths that differ, in order.

    Raises:
        ReadError: what git has cannot be read.
    """
    if isinstance(old, FilesSide) and isinstance(new, FilesSide):
        return _files_and_files(old, new)
    if isinstance(new, FilesSide):
        return new.unlike(_entries(old), db)
    if isinstance(old, FilesSide):
        return [
            SideChange(change.path, change.new, change.old)
            for change in old.unlike(_entries(new), db)
        ]
    if isinstance(old, CommitSide) and isinstance(new, CommitSide):
        changes = tree_changes(new.repository, old.commit, new.commit)
        return [SideChange(change.path, _file(change.old), _file(change.new)) for change in changes]
    before, after = _entries(old), _entries(new)
    return [
        SideChange(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    ]


def _file(entry: Entry | None) -> SideFile | None:
    return SideFile(entry.path, entry.mode, entry.oid) if entry is not None else None


def _entries(side: CommitSide | StagedSide | FilesSide) -> dict[bytes, SideFile]:
    if isinstance(side, StagedSide):
        return side.files
    assert isinstance(side, CommitSide)
    if not side.commit:
        return {}
    entries = tree_entries(side.repository, side.commit)
    return {path: SideFile(path, mode, oid) for path, mode, oid in entries}


def _files_and_files(old: FilesSide, new: FilesSide) -> list[SideChange]:
    before, after = old.snapshot.by_path, new.snapshot.by_path
    side_changes: list[SideChange] = []
    for path in sorted(before.keys() | after.keys()):
        file, other = before.get(path), after.get(path)
        if file is not None and other is not None and file.content is not None:
            if file.content == other.content:
                continue
        elif file is not None and other is not None and _same_bytes(old, new, path):
            continue
        side_changes.append(
            SideChange(
                path,
                old.file(path) if file is not None else None,
                new.file(path) if other is not None else None,
            )
        )
    return side_changes


def _same_bytes(old: FilesSide, new: FilesSide, path: bytes) -> bool:
    try:
        return old.read(old.file(path)) == new.read(new.file(path))
    except ReadError:
        return False


def texts_of(
    sides: Sequence[tuple[AnySide, Sequence[SideFile]]], facts: Facts
) -> list[list[FileText]]:
    """The files of each side with their definitions; what the store knows is not parsed."""
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
        )
    )
    file_textses: list[list[FileText]] = []
    for rows in read:
        texts: list[FileText] = []
        for file, data in rows:
            if data is None:
                texts.append(_untold(file))
                continue
            known = next(text_factses)
            shown = "text"
            role = path_facts(file.path).role
            if known.outcome in {"binary", "oversized"}:
                shown = known.outcome
            elif known.generated or known.outcome == "minified":
                shown = "generated"
            elif role in {"generated", "vendored"}:
                shown = role
            text = decode(data) if shown != "binary" else data
            texts.append(
                FileText(
                    file.path, text, known.symbols, known.language, shown, hash_of(data),
                    file.mode,
                )
            )  # fmt: skip
        file_textses.append(texts)
    return file_textses


def _data(side: AnySide, file: SideFile) -> bytes | None:
    if file.mode & _TYPE in {LINK, GITLINK}:
        return None
    try:
        return side.read(file)
    except ReadError:
        return None


def _untold(file: SideFile) -> FileText:
    kind = {LINK: "link", GITLINK: "submodule"}.get(file.mode & _TYPE, "oversized")
    return FileText(file.path, file.oid, (), "text", kind, file.oid, file.mode)
