"""Answers `diff`: which definitions differ between two sides; and finds uncommitted edits.

In the current worktree, all files are compared with HEAD. In another worktree, only files are
compared that differ from the current files or HEAD, or that are changed here: a file that is equal
in both worktrees is uncommitted in both or in neither.
"""

from __future__ import annotations

import fnmatch
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
    StagedSide,
    entries_of,
    side_changes,
    texts_of,
)
from codelens.config import Settings
from codelens.engine.current_view import CurrentView
from codelens.errors import CodelensError, NoSuchRef, NotInGit, SettingError
from codelens.handles.handle_grammar import file_handle, ordinals_of, shown_name, symbol_handle
from codelens.paths import can_be_named, printed
from codelens.scope.repository import Repository
from codelens.scope.text_diff import changed_lines
from codelens.scope.tree_changes import GITLINK, LINK, entry_at, merge_base, tree_changes
from codelens.store.database.database import Database
from codelens.types import CommitId
from codelens.wording import count_of


def files_side(view: CurrentView, name: str) -> FilesSide:
    """The files of a view, as a side."""
    return FilesSide(
        view.repository, view.scope, view.snapshot, view.settings, name,
        pending=view.refreshed.pending, is_checked=not view.refreshed.unchecked,
    )  # fmt: skip


def unlisted_notes(view: CurrentView | None) -> list[str]:
    """A note if there was no time to list all folders of a view."""
    if view is None or not view.refreshed.unlisted:
        return []
    return ["at least: there was no time to find all files that git does not track"]


class OwnEdits(NamedTuple):
    """What differs from HEAD in the current worktree."""

    by_path: dict[bytes, SideChange]
    special: frozenset[bytes]
    """Links and submodules of HEAD, which views do not have."""


def own_edits(view: CurrentView, db: Database, side: FilesSide | None = None) -> OwnEdits:
    """The changes from HEAD to the disk.

    Leaves out uncommitted changes inside a submodule: no commit here would contain them.

    Args:
        view: of the current worktree.
        db: has the facts.
        side: these files as a side, if it exists already.
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
    """A change without uncommitted parts of a submodule; None if nothing else is left."""
    old, new = change.old, change.new
    if new is None or not new.oid.endswith(DIRTY):
        return change
    clean = new._replace(oid=new.oid.removesuffix(DIRTY))
    return change._replace(new=clean) if clean != old else None


def other_edits(
    here: CurrentView, own: OwnEdits, there: CurrentView, db: Database, side: FilesSide
) -> dict[bytes, SideChange]:
    """Like `own_edits`, for another worktree and its side, using the edits here.

    A changed mode counts only if the file is changed here, too: otherwise it is irrelevant.
    """
    before, after = here.snapshot.contents, there.snapshot.by_path
    unread_paths = (before.keys() - after.keys()).union(own.by_path, own.special)
    # The content is unknown, so the text may differ.
    unread_paths.update(
        file.path
        for file in there.snapshot.files
        if file.content is None or before.get(file.path) != file.content
    )
    # The same applies to files that are stale in the other view.
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


# The definitions that differ between two sides.

_FEW_ELSEWHERE = 40
"""Maximum number of differing files outside of the given paths that are searched for moves."""
_FOLDED = frozenset({"generated", "vendored", "binary", "oversized", "link", "submodule"})


class Filters(NamedTuple):
    """Which differences to include."""

    globs: tuple[str, ...] = ()
    """Paths, folders or globs; `!` excludes."""
    kinds: tuple[str, ...] = ()
    """Kinds of symbols, or of differences (`moved`)."""


class Compared(NamedTuple):
    """The differences, and the names for them."""

    old: AnySide
    new: AnySide
    diff: DefinitionDiff
    names: Names
    left_out: int
    """Files that differ, and that the globs or kinds exclude."""
    asked: frozenset[str] = frozenset()
    """Paths that were given by name: these are never folded."""
    unread: int = 0
    """Number of excluded files that were not read."""


_COMMIT_DIGITS = 10


class Names:
    """Handles of definitions on both sides."""

    def __init__(self, old: AnySide, new: AnySide) -> None:
        self._refs = (_ref(old), _ref(new))
        self._ordinals: dict[tuple[bool, bytes], list[int]] = {}

    def handle(self, definition: Definition, *, old: bool) -> str:
        """A definition's handle; with a ref if its side is a commit."""
        path, qualified = definition.file.path, definition.symbol.qualified
        ordinals = self._ordinals.get((old, path))
        if ordinals is None:
            ordinals = self._ordinals[old, path] = ordinals_of(definition.file.text.symbols)
        ordinal = ordinals[definition.at]
        return symbol_handle(path, qualified, ordinal, self._refs[0 if old else 1])

    def file(self, path: bytes, *, old: bool) -> str:
        """A file's handle; see `handle`."""
        return file_handle(path, self._refs[0 if old else 1])


def _ref(side: AnySide) -> str:
    """The ref in the handles of a side; a merge base has no name but its commit."""
    if not isinstance(side, CommitSide):
        return ""
    return side.name if " " not in side.name else side.commit[:_COMMIT_DIGITS]


def facts_of(db: Database, settings: Settings) -> Facts:
    """The source of facts."""
    return Facts(db, settings.languages, settings.max_file_bytes, settings.worker_count())


def compared(
    old: AnySide, new: AnySide, facts: Facts, paths: Sequence[str] = (), others: int = 0
) -> Compared:
    """Compare two sides by definition. Call outside of a transaction: it stores new facts.

    Args:
        old: the side before.
        new: the side after.
        facts: reads facts.
        paths: compare only these files: moves between one of them and another file are unknown.
        others: also compare other files if at most this many differ, to find such moves.
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
    diff = definition_diff(before, after, changed_lines, staged, whole=False)
    left_out = len(every) - len(changes)
    return Compared(old, new, diff, Names(old, new), left_out, unread=left_out)


def compared_for(old: AnySide, new: AnySide, facts: Facts, filters: Filters) -> Compared:
    """Compare two sides with filters; few excluded files are read as well, to find moves."""
    everything = compared(old, new, facts, filters.globs, _FEW_ELSEWHERE)
    return chosen(everything, filters)


def unread_notes(compared: Compared) -> list[str]:
    """A note on moves that are unknown because files were not read."""
    ends = {how for change in _changes(compared) for how in change.how} & {ADDED, REMOVED}
    ends |= {file.how for file in compared.diff.files} & {ADDED, REMOVED}
    if not compared.unread or not ends:
        return []
    files = count_of(compared.unread, "file")
    verb = "differs and was" if compared.unread == 1 else "differ and were"
    return [
        f"{files} outside of these paths {verb} not read: moves from or to there are listed as "
        "removed or added; ask without paths to know"
    ]


def _changes(compared: Compared) -> Iterator[DefinitionChange]:
    for file in compared.diff.files:
        yield from file.definitions


def chosen(compared: Compared, filters: Filters) -> Compared:
    """Apply filters to a comparison; a definition that moved out of a file counts as moved.

    A definition that came from an included file is listed at its current place.
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
    """The files that differ, with their definitions, in the form of an answer."""
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
    """The modes of both sides, if they are known and differ."""
    if file.old is None or file.new is None:
        return "", ""
    before, after = file.old.text.mode, file.new.text.mode
    return (f"{before:o}", f"{after:o}") if before and after and before != after else ("", "")


def _commit(file: FileDefinitions | None) -> str:
    """The commit of a submodule, in the form that git's diffs use."""
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
        symbol=shown_name(definition.file.path, symbol.qualified),
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
    """The number of definitions by kind of difference, in the order of `HOW`."""
    counted = Counter(
        how for file in files for definition in file.definitions for how in definition.how
    )
    return tuple((how, counted[how]) for how in HOW if counted[how])


HOW = (
    ADDED, "removed", "moved", "renamed", "signature", "body", "documentation", "formatting",
)  # fmt: skip


# The two sides of a comparison: refs, git's index, or files of a worktree.

ViewAt = Callable[[str], CurrentView]
"""Returns a view of the worktree with this root."""


class Sides(NamedTuple):
    """The old and new side of a comparison."""

    old: AnySide
    new: AnySide
    new_view: CurrentView | None
    """View of the new side, if it consists of files on disk."""
    old_view: CurrentView | None = None
    """View of the old side, likewise."""


def chosen_sides(
    view: CurrentView, spec: str, other: str, view_at: ViewAt, *, staged: bool
) -> Sides:
    """The requested sides.

    Args:
        view: of the files here.
        spec: empty, `REF`, `A..B`, `A B` or `A...B`; A and B may be worktrees.
        other: a worktree by path or branch, or a ref, in place of the files here; may be empty.
        view_at: opens a view of another worktree.
        staged: compare with git's index.

    Raises:
        SettingError: they cannot be combined.
        NotInGit: the folder is not in a git repository.
        NoSuchRef: a name is neither a ref nor a worktree.
        ReadError: the sides have no common history.
    """
    if ".." not in spec and len(spec.split()) == 2 and not _exists(view, spec):
        # `A B` as git accepts it; no ref has a blank in its name.
        spec = "..".join(spec.split())
    _refuse(view, spec, other, staged=staged)
    if staged:
        old = _side(view, spec or "HEAD", view_at)[0]
        return Sides(old, StagedSide(view.repository, view.scope), None)
    if ".." in spec:
        return _range(view, spec, view_at)
    files = files_side(view, "files"), view
    if other:
        old = _side(view, spec, view_at) if spec else files
        return Sides(old[0], *_side(view, other, view_at), old[1])
    return Sides(_side(view, spec or "HEAD", view_at)[0], *files)


def _exists(view: CurrentView, name: str) -> bool:
    """Whether a text with a blank is the path of a worktree."""
    return os.path.isdir(os.path.join(view.scope.root, os.path.expanduser(name)))


def _refuse(view: CurrentView, spec: str, other: str, *, staged: bool) -> None:
    if not view.repository.is_git:
        raise NotInGit(view.scope.root, "there is nothing to compare with")
    if staged and (other or ".." in spec):
        raise SettingError(
            "what is staged is compared with one ref",
            typed="omit --with, and give one ref and no range",
            called="omit other, and pass one ref and no range",
        )
    if other and ".." in spec:
        raise SettingError(
            f"the range {spec} already has both sides",
            typed="omit --with, or give one ref",
            called="omit other, or pass one ref",
        )


def _range(view: CurrentView, spec: str, view_at: ViewAt) -> Sides:
    left, dots, right = spec.partition("..")
    if right.startswith("."):
        dots, right = "...", right[1:]
    left, right = left or "HEAD", right or "HEAD"
    if ".." in right:
        raise SettingError(f"{spec!r} has several ranges; write A..B or A...B")
    if dots == "..":
        old = _side(view, left, view_at)
        return Sides(old[0], *_side(view, right, view_at), old[1])
    repository = view.repository
    new, new_view = _side(view, right, view_at)
    if new_view is not None:
        head = new_view.scope.head
    else:
        assert isinstance(new, CommitSide)
        head = CommitId(new.commit)
    base = merge_base(repository, repository.scope(left).head, head)
    if not base:
        raise SettingError(
            f"{left} and {right} have no history in common: compare them with {left}..{right}"
        )
    name = f"the merge base {base[:7]} of {left} and {right}"
    return Sides(CommitSide(repository, base, name), new, new_view)


def _side(view: CurrentView, name: str, view_at: ViewAt) -> tuple[AnySide, CurrentView | None]:
    """A ref, or a worktree by its path or branch."""
    if name == "HEAD" and not view.scope.head:
        return CommitSide(view.repository, CommitId(""), "HEAD (no commit yet)"), None
    root = worktree_named(view, name)
    if root is not None:
        there = view_at(root)
        return files_side(there, name), there
    return CommitSide(view.repository, view.repository.scope(name).head, name), None


def worktree_named(view: CurrentView, name: str) -> str | None:
    """The root of the worktree that a path names; None if none matches."""
    written = "/" in name or os.sep in name or name in {".", ".."}
    if not written or not can_be_named(name):
        return None
    full = os.path.realpath(os.path.join(view.scope.root, os.path.expanduser(name)))
    if not os.path.isdir(full):
        return None
    try:
        view.repository.scope(name)
    except NoSuchRef:
        pass
    else:
        return None
    try:
        there = Repository.at(full)
    except CodelensError as error:
        raise SettingError(f"{name!r} cannot be compared: {error}") from error
    if there.common_dir != view.repository.common_dir:
        raise SettingError(
            f"{name!r} is in another repository ({there.place.root}); only worktrees and "
            "refs of one repository can be compared"
        )
    return there.place.root
