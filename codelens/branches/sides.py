"""The two sides of a comparison: a commit, git's index, or the files of a worktree as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from codelens.branches.file_definitions import FileText
from codelens.branches.files_side import FilesSide, SideChange, SideFile
from codelens.errors import ReadError
from codelens.extract.file_kinds import decode
from codelens.index.path_facts import path_facts
from codelens.index.text_facts import Text, text_facts
from codelens.scan.content_hash import hash_of
from codelens.scope.commits.commit_tree import tree_entries
from codelens.scope.commits.tree_changes import GITLINK, LINK, Entry, tree_changes
from codelens.scope.repository import Repository, Scope
from codelens.scope.stored_files import REGULAR, TYPE, StoredFiles, canonical_mode
from codelens.store.database.database import Database
from codelens.types import CommitId, Tier


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
        entries = StoredFiles(repository, scope).entries.values()
        self.files = {
            entry.path: SideFile(entry.path, entry.mode, entry.oid)
            for entry in entries
            if entry.stage in {0, 2} and not entry.intent_to_add
        }
        self.unmerged = sorted(entry.path for entry in entries if entry.stage)
        """Paths with a conflict: what is compared of them is our side."""

    def read(self, file: SideFile) -> bytes:
        """See `Side.read`."""
        return self.repository.read_blob(file.oid)


AnySide = CommitSide | StagedSide | FilesSide


def side_changes(old: AnySide, new: AnySide, db: Database) -> list[SideChange]:
    """Paths that differ, in order.

    Raises:
        ReadError: what git has cannot be read.
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
    """All that a commit or git's index holds, by path."""
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
    """Whether two worktrees have one text in a file, or git would store one."""
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
    """The files of each side with their definitions; what the store knows is not parsed.

    Args:
        sides: each with its files.
        facts: where facts come from.
        tier: how much is extracted of the rest: all of it where its uses are followed in any case.
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
                texts.append(_untold(side, file))
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
    if file.mode & TYPE in {LINK, GITLINK}:
        return None
    try:
        return side.read(file)
    except ReadError:
        return None


def _untold(side: AnySide, file: SideFile) -> FileText:
    kind = {LINK: "link", GITLINK: "submodule"}.get(file.mode & TYPE, "oversized")
    # What is too large on the disks of two worktrees differs; else it would not be asked about.
    known_by = file.oid or side.name.encode("utf-8", "surrogateescape")
    return FileText(file.path, known_by, (), "text", kind, known_by, file.mode)
