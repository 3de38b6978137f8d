"""The two sides of a comparison: a commit, git's index, or the files of a worktree as they are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from codelens.branches.file_definitions import FileText
from codelens.errors import ReadError
from codelens.extract.file_kinds import decode
from codelens.index.path_facts import path_facts
from codelens.index.text_facts import Text, text_facts
from codelens.index.text_sources import DiskSource, Unavailable, Work
from codelens.scan.content_hash import hash_of
from codelens.scope.commits.commit_tree import expand_tree, tree_entries
from codelens.scope.commits.tree_changes import GITLINK, LINK, Entry, file_oid, tree_changes
from codelens.scope.git_index.git_index import read_index
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
            one.path: SideFile(one.path, one.mode, one.oid)
            for one in entries
            if one.stage in {0, 2} and not one.intent_to_add
        }

    def read(self, file: SideFile) -> bytes:
        """See `Side.read`."""
        return self.repository.read_blob(file.oid)


class FilesSide:
    """The files of a worktree as they are, untracked ones included."""

    def __init__(
        self, repository: Repository, scope: Scope, snapshot: Snapshot, max_bytes: int, name: str
    ) -> None:
        self.repository = repository
        self.scope = scope
        self.snapshot = snapshot
        self.name = name
        self._disk = DiskSource(os.fsencode(scope.root), max_bytes, 0)

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
        asked: Collection[bytes] | None = None,
    ) -> list[SideChange]:
        """Where it differs from entries of a tree or of git's index; `asked`: of these paths."""
        now = self.snapshot.by_path
        if asked is not None:
            now = {path: now[path] for path in asked if path in now}
        plain = {
            path: one for path, one in entries.items() if one.mode & _TYPE not in {LINK, GITLINK}
        }
        told = {oid: one[0] for oid, one in blobs(db, {one.oid for one in plain.values()}).items()}
        have = hashes(db, {one.content for one in now.values() if one.content is not None})
        found: list[SideChange] = []
        for path, file in now.items():
            then = plain.get(path)
            if then is None:
                found.append(SideChange(path, entries.get(path), self.file(path)))
                continue
            if file.content is not None and have.get(file.content) == self._hash(then, told):
                continue
            if self._differs(path, then):
                found.append(SideChange(path, then, self.file(path)))
        gone = plain.keys() - now.keys()
        if gone:
            gone -= left_out(self.repository, self.scope)
        found += [SideChange(path, plain[path], None) for path in gone]
        found += self._links(entries, now.keys())
        return sorted(found)

    def _hash(self, then: SideFile, told: dict[bytes, ContentHash]) -> bytes:
        known = told.get(then.oid)
        if known is None:
            try:
                known = told[then.oid] = hash_of(self.repository.read_blob(then.oid))
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
        return [SideChange(one.path, one.new, one.old) for one in old.unlike(_entries(new), db)]
    if isinstance(old, CommitSide) and isinstance(new, CommitSide):
        found = tree_changes(new.repository, old.commit, new.commit)
        return [SideChange(one.path, _file(one.old), _file(one.new)) for one in found]
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
    found = tree_entries(side.repository, side.commit)
    return {path: SideFile(path, mode, oid) for path, mode, oid in found}


def _files_and_files(old: FilesSide, new: FilesSide) -> list[SideChange]:
    before, after = old.snapshot.by_path, new.snapshot.by_path
    found: list[SideChange] = []
    for path in sorted(before.keys() | after.keys()):
        one, other = before.get(path), after.get(path)
        if one is not None and other is not None and one.content is not None:
            if one.content == other.content:
                continue
        elif one is not None and other is not None and _same_bytes(old, new, path):
            continue
        found.append(
            SideChange(
                path,
                old.file(path) if one is not None else None,
                new.file(path) if other is not None else None,
            )
        )
    return found


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
    asked: list[Text] = []
    for side, files in sides:
        rows: list[tuple[SideFile, bytes | None]] = []
        for file in files:
            data = _data(side, file)
            rows.append((file, data))
            if data is not None:
                asked.append(Text(file.path, data))
        read.append(rows)
    told = iter(
        text_facts(
            facts.db,
            asked,
            languages=facts.languages,
            max_bytes=facts.max_bytes,
            workers=facts.workers,
        )
    )
    found: list[list[FileText]] = []
    for rows in read:
        texts: list[FileText] = []
        for file, data in rows:
            if data is None:
                texts.append(_untold(file))
                continue
            known = next(told)
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
        found.append(texts)
    return found


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
