"""What of a worktree's files differs from its HEAD, untracked files included.

Of my own worktree all files are compared. Of another one only those that differ from mine, or from
my HEAD, or that I have changed: what is the same on both sides is as uncommitted there as here.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codelens.answers.branch_answers import DefinitionLine, FileDiff, OutsideLines
from codelens.branches.definition_diff import (
    DefinitionChange,
    DefinitionDiff,
    FileChange,
    definition_diff,
)
from codelens.branches.definition_matcher import ADDED, REMOVED
from codelens.branches.file_definitions import Definition, FileDefinitions
from codelens.branches.sides import (
    DIRTY,
    AnySide,
    CommitSide,
    Facts,
    FilesSide,
    SideChange,
    SideFile,
    entries_of,
    side_changes,
    texts_of,
)
from codelens.config import Settings
from codelens.engine.current_view import CurrentView
from codelens.handles.handle_grammar import file_handle, handles_of
from codelens.paths import printed
from codelens.scope.text_diff import changed_lines
from codelens.scope.tree_changes import GITLINK, LINK, entry_at, tree_changes
from codelens.store.database.database import Database
from codelens.wording import count_of


def files_side(view: CurrentView, name: str) -> FilesSide:
    """The files of a look, as a side."""
    return FilesSide(
        view.repository, view.scope, view.snapshot, view.settings, name,
        pending=view.refreshed.pending, is_checked=not view.refreshed.unchecked,
    )  # fmt: skip


def unlisted_notes(view: CurrentView | None) -> list[str]:
    """What cannot be said of a look at files that had no time to list all folders."""
    if view is None or not view.refreshed.unlisted:
        return []
    return ["at least: files that git does not track were not all looked for in time"]


class OwnEdits(NamedTuple):
    """What of my worktree differs from its HEAD."""

    by_path: dict[bytes, SideChange]
    special: frozenset[bytes]
    """Links and submodules of HEAD, which no view of files has."""


def own_edits(view: CurrentView, db: Database, side: FilesSide | None = None) -> OwnEdits:
    """What was at HEAD, and what is on disk.

    Uncommitted changes inside a submodule are left out: no commit here would take them.

    Args:
        view: at my files.
        db: where facts are.
        side: these files, where they are a side already.
    """
    head = CommitSide(view.repository, view.scope.head, "HEAD")
    entries = entries_of(head)
    changes = {
        change.path: change
        for differing in (side or files_side(view, "files")).unlike(entries, db)
        if (change := _as_committed(differing)) is not None
    }
    special = (path for path, entry in entries.items() if entry.mode in {LINK, GITLINK})
    return OwnEdits(changes, frozenset(special))


def _as_committed(change: SideChange) -> SideChange | None:
    """A change without what is not committed inside of a submodule; None if that is all of it."""
    old, new = change.old, change.new
    if new is None or not new.oid.endswith(DIRTY):
        return change
    clean = new._replace(oid=new.oid.removesuffix(DIRTY))
    return change._replace(new=clean) if clean != old else None


def other_edits(
    here: CurrentView, mine: OwnEdits, there: CurrentView, db: Database, side: FilesSide
) -> dict[bytes, SideChange]:
    """As `own_edits`, of another worktree and its side, given my own.

    A change of mode alone is one only where the file is changed here, too: else it is no matter.
    """
    before, after = here.snapshot.contents, there.snapshot.by_path
    unread_paths = (before.keys() - after.keys()).union(mine.by_path, mine.special)
    # No content: the text is not known, so it may differ.
    unread_paths.update(
        file.path
        for file in there.snapshot.files
        if file.content is None or before.get(file.path) != file.content
    )
    # Neither is it of those that the view there is behind with.
    unread_paths.update(there.refreshed.pending, after if there.refreshed.unchecked else ())
    if here.scope.head != there.scope.head:
        changes = tree_changes(there.repository, here.scope.head, there.scope.head)
        unread_paths.update(change.path for change in changes)
    entries: dict[bytes, SideFile] = {}
    for path in unread_paths:
        entry = entry_at(there.repository, there.scope.head, path) if there.scope.head else None
        if entry is not None:
            entries[path] = SideFile(entry.path, entry.mode, entry.oid)
    return {change.path: change for change in side.unlike(entries, db, unread_paths)}


# What differs between two sides, as definitions, and what that means for who uses them.

_FEW_ELSEWHERE = 40
"""Files that differ outside of the paths asked for: of more it is not looked what moved there."""
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
    """Files that differ, and that no glob or kind takes."""
    asked: frozenset[str] = frozenset()
    """Paths that are asked for by name: these are never listed as a whole."""
    unread: int = 0
    """Those of them that were not even read."""


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

    def file(self, path: bytes, *, old: bool) -> str:
        """A file's handle, as `handle`."""
        return file_handle(path, self._refs[0 if old else 1])


def _ref(side: AnySide) -> str:
    return side.name if isinstance(side, CommitSide) and " " not in side.name else ""


def facts_of(db: Database, settings: Settings) -> Facts:
    """Where facts come from."""
    return Facts(db, settings.languages, settings.max_file_bytes, settings.worker_count())


def compared(
    old: AnySide, new: AnySide, facts: Facts, paths: Sequence[str] = (), others: int = 0
) -> Compared:
    """Compare two sides by definition. Outside of a transaction: what was never seen is stored.

    Args:
        old: from what.
        new: to what.
        facts: where facts come from.
        paths: compare those files alone: what moved between one of them and another one is not
            known.
        others: compare other files as well if no more than so many differ, so that it is known.
    """
    every = side_changes(old, new, facts.db)
    changes = [change for change in every if _is_chosen(change.path, paths)]
    if len(every) - len(changes) <= others:
        changes = every
    before, after = texts_of(
        [
            (old, [change.old for change in changes if change.old is not None]),
            (new, [change.new for change in changes if change.new is not None]),
        ],
        facts,
    )
    came = {change.path for change in changes if change.old is None}
    gone = any(change.new is None for change in changes)
    staged = new.staged(came) if isinstance(new, FilesSide) and gone and came else {}
    diff = definition_diff(before, after, changed_lines, staged)
    left_out = len(every) - len(changes)
    return Compared(old, new, diff, Names(old, new), left_out, unread=left_out)


def compared_for(old: AnySide, new: AnySide, facts: Facts, filters: Filters) -> Compared:
    """What of two sides is wanted; files that differ and were not asked for are read if few."""
    everything = compared(old, new, facts, filters.globs, _FEW_ELSEWHERE)
    return chosen(everything, filters)


def unread_notes(compared: Compared) -> list[str]:
    """What the files that were not read can have to do with those that were."""
    ends = {how for change in _changes(compared) for how in change.how} & {ADDED, REMOVED}
    ends |= {file.how for file in compared.diff.files} & {ADDED, REMOVED}
    if not compared.unread or not ends:
        return []
    files = count_of(compared.unread, "file")
    verb = "differs and was" if compared.unread == 1 else "differ and were"
    return [
        f"{files} outside of these paths {verb} not read: what moved from or to there is told as "
        "removed or added; ask without paths to know"
    ]


def _changes(compared: Compared) -> Iterator[DefinitionChange]:
    for file in compared.diff.files:
        yield from file.definitions


def chosen(compared: Compared, filters: Filters) -> Compared:
    """What of a comparison is wanted: what moved out of a file was not removed.

    A definition that came from a wanted file is listed, wherever it stands now.
    """
    files: list[FileChange] = []
    for file in compared.diff.files:
        sides = [side.path for side in (file.old, file.new) if side is not None]
        is_whole = any(_is_chosen(path, filters.globs) for path in sides)
        definitions = tuple(
            change
            for change in file.definitions
            if (is_whole or _came_from(change, filters.globs)) and _is_kind(change, filters.kinds)
        )
        if definitions or (is_whole and not filters.kinds):
            outside = file.outside if is_whole and not filters.kinds else ()
            files.append(file._replace(definitions=definitions, outside=outside))
    left_out = compared.left_out + len(compared.diff.files) - len(files)
    diff = compared.diff._replace(files=tuple(files))
    return compared._replace(diff=diff, left_out=left_out, asked=frozenset(filters.globs))


def _came_from(change: DefinitionChange, globs: Sequence[str]) -> bool:
    return change.old is not None and _is_chosen(change.old.file.path, globs)


def _is_kind(change: DefinitionChange, kinds: Sequence[str]) -> bool:
    return not kinds or change.definition.symbol.kind in kinds or bool({*change.how} & {*kinds})


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


def file_lines(compared: Compared) -> tuple[FileDiff, ...]:
    """The files that differ, with their definitions, as an answer has them."""
    files: list[FileDiff] = []
    for file in compared.diff.files:
        name = printed(file.file.path)
        shown = _folded(file)
        if shown and file.definitions and name in compared.asked:
            shown = ""
        definitions = () if shown else tuple(_line(compared, line) for line in file.definitions)
        outside = () if shown else tuple(
            OutsideLines(part.how, part.old_lines, part.new_lines, part.names)
            for part in file.outside
        )  # fmt: skip
        old_path = file.old.path if file.old is not None and file.how == "renamed" else b""
        old_mode, new_mode = _modes(file)
        files.append(
            FileDiff(
                name, printed(old_path), file.how, shown, len(file.definitions) * bool(shown),
                definitions, outside,
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
