"""What differs between two sides, as definitions, and what that means for who uses them."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from codelens.answers.branch_answers import DefinitionLine, FileDiff, OutsideLines
from codelens.branches.definition_diff import (
    DefinitionChange,
    DefinitionDiff,
    FileChange,
    definition_diff,
)
from codelens.branches.file_definitions import Definition, FileDefinitions
from codelens.branches.files_side import DIRTY
from codelens.branches.sides import AnySide, CommitSide, Facts, side_changes, texts_of
from codelens.branches.text_changes import ADDED
from codelens.config import Settings
from codelens.handles.handle_naming import handles_of
from codelens.paths import printed
from codelens.scope.text_diff import changed_lines
from codelens.store.database.database import Database

_FOLDED = frozenset({"generated", "vendored", "binary", "oversized", "link", "submodule"})


class Filters(NamedTuple):
    """What of a comparison is wanted."""

    globs: tuple[str, ...] = ()
    """Paths, folders or globs; `!` leaves out."""
    kinds: tuple[str, ...] = ()
    """Kinds of symbols, or ways to differ (`moved`)."""


class Compared(NamedTuple):
    """What differs, and how to name it."""

    old: AnySide
    new: AnySide
    diff: DefinitionDiff
    names: Names
    left_out: int
    """Files that differ, and that the globs do not take."""


class Names:
    """Handles of definitions on both sides."""

    def __init__(self, old: AnySide, new: AnySide) -> None:
        self._refs = (_ref(old), _ref(new))
        self._handles: dict[tuple[bool, bytes], list[str]] = {}

    def handle(self, definition: Definition, *, old: bool) -> str:
        """A definition's handle; with the ref of its side, if that is a commit."""
        key = (old, definition.file.path)
        if key not in self._handles:
            self._handles[key] = handles_of(
                definition.file.path, definition.file.text.symbols, self._refs[0 if old else 1]
            )
        return self._handles[key][definition.at]


def _ref(side: AnySide) -> str:
    return side.name if isinstance(side, CommitSide) and " " not in side.name else ""


def facts_of(db: Database, settings: Settings) -> Facts:
    """Where facts come from."""
    return Facts(db, settings.languages, settings.max_file_bytes, settings.worker_count())


def compared(old: AnySide, new: AnySide, facts: Facts, globs: Sequence[str] = ()) -> Compared:
    """Compare two sides by definition. Outside of a transaction: what was never seen is stored."""
    every = side_changes(old, new, facts.db)
    changes = [change for change in every if _is_chosen(change.path, globs)]
    before, after = texts_of(
        [
            (old, [change.old for change in changes if change.old is not None]),
            (new, [change.new for change in changes if change.new is not None]),
        ],
        facts,
    )
    diff = definition_diff(before, after, changed_lines)
    return Compared(old, new, diff, Names(old, new), len(every) - len(changes))


def _is_chosen(path: bytes, globs: Sequence[str]) -> bool:
    if not globs:
        return True
    name = printed(path)
    chosen = [glob for glob in globs if not glob.startswith("!")]
    left_out = [glob[1:] for glob in globs if glob.startswith("!")]
    return (not chosen or any(_matches(name, pattern) for pattern in chosen)) and not any(
        _matches(name, pattern) for pattern in left_out
    )


def _matches(name: str, glob: str) -> bool:
    glob = glob.rstrip("/").removeprefix("./")
    return (
        glob in {"", "."}
        or name == glob
        or name.startswith(glob + "/")
        or fnmatch.fnmatchcase(name, glob)
        or fnmatch.fnmatchcase(name.rpartition("/")[2], glob)
    )


def file_lines(compared: Compared, kinds: Sequence[str] = ()) -> tuple[FileDiff, ...]:
    """The files that differ, with their definitions, as an answer has them."""
    files: list[FileDiff] = []
    for file in compared.diff.files:
        shown = _folded(file)
        changes = [
            change
            for change in file.definitions
            if not kinds or change.definition.symbol.kind in kinds or set(change.how) & set(kinds)
        ]
        if kinds and not changes:
            continue
        definitions = () if shown else tuple(_line(compared, change) for change in changes)
        outside = () if shown or kinds else tuple(
            OutsideLines(part.how, part.old_lines, part.new_lines, part.names)
            for part in file.outside
        )  # fmt: skip
        old_path = file.old.path if file.old is not None and file.how == "renamed" else b""
        old_mode, new_mode = _modes(file)
        files.append(
            FileDiff(
                printed(file.file.path), printed(old_path), file.how, shown, definitions, outside,
                old_mode, new_mode, _commit(file.old), _commit(file.new),
            )
        )  # fmt: skip
    return tuple(files)


def _modes(file: FileChange) -> tuple[str, str]:
    """The modes of both sides, where they are known and not the same."""
    if file.old is None or file.new is None:
        return "", ""
    before, after = file.old.text.mode, file.new.text.mode
    return (f"{before:o}", f"{after:o}") if before and after and before != after else ("", "")


def _commit(file: FileDefinitions | None) -> str:
    """The commit of a submodule, as git's own diffs write it."""
    if file is None or file.text.shown != "submodule":
        return ""
    oid = file.data.removesuffix(DIRTY)
    return oid.hex() + file.data[len(oid) :].decode()


def files_left_out(compared: Compared, files: Sequence[FileDiff]) -> int:
    """How many files differ that no glob or kind takes."""
    return compared.left_out + len(compared.diff.files) - len(files)


def _folded(change: FileChange) -> str:
    shown: list[FileDefinitions] = [side for side in (change.new, change.old) if side is not None]
    return next((side.text.shown for side in shown if side.text.shown in _FOLDED), "")


def _line(compared: Compared, change: DefinitionChange) -> DefinitionLine:
    definition = change.definition
    symbol = definition.symbol
    gone = change.new is None
    return DefinitionLine(
        how=change.how,
        handle=compared.names.handle(definition, old=gone),
        symbol=symbol.qualified,
        kind=symbol.kind,
        signature=symbol.signature,
        start_line=symbol.start_line,
        end_line=symbol.end_line,
        exported=symbol.exported,
        old_handle=compared.names.handle(change.old, old=True) if change.old is not None else "",
        old_signature=change.old.symbol.signature if change.old is not None else "",
        old_lines=change.old_lines,
        new_lines=change.new_lines,
        inside=change.inside,
        share_new=change.share_new,
    )


def totals(files: Sequence[FileDiff]) -> tuple[tuple[str, int], ...]:
    """How many definitions differ in each way, in the order of `HOW`."""
    counted = Counter(
        how for file in files for definition in file.definitions for how in definition.how
    )
    return tuple((how, counted[how]) for how in HOW if counted[how])


HOW = (
    ADDED, "removed", "moved", "renamed", "signature", "body", "documentation", "formatting",
)  # fmt: skip
