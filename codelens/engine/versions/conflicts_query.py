"""Answers `conflicts`: what collides with other worktrees and recent branches."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codelens.answers.branch_answers import (
    CollisionLine,
    Merge,
    Rival,
    TextualConflict,
)
from codelens.branches.collisions import (
    HARMLESS,
    POSSIBLE,
    Changed,
    Collision,
    Spot,
    changed_of,
    collisions,
    independent_additions,
)
from codelens.branches.definition_diff import FileChange, definition_diff
from codelens.branches.file_definitions import FileDefinitions
from codelens.branches.meaning_collisions import Use, meaning
from codelens.branches.sides import (
    DIRTY,
    AnySide,
    CommitSide,
    Facts,
    FilesSide,
    SideChange,
    SideFile,
    texts_of,
)
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.versions.diff_query import files_side, other_edits, own_edits, worktree_named
from codelens.errors import CodelensError, NoSuchRef, ReadError
from codelens.handles.handle_grammar import handles_of
from codelens.paths import printed
from codelens.resolve.edges import Edge
from codelens.resolve.walk.edge_table import MODULE
from codelens.scope.repository import Repository, branch_at
from codelens.scope.scratch_merge import ScratchMerge, TextMerge
from codelens.scope.text_diff import changed_lines
from codelens.scope.tree_changes import GITLINK, merge_base, recent_branches, tree_changes
from codelens.types import CommitId

RECENT_DAYS = 14
MOST_RIVALS = 50
_DAY_S = 86_400


class RivalName(NamedTuple):
    """A worktree by its root, or a ref."""

    root: str
    """Empty for a ref."""
    ref: str


class Rivals(NamedTuple):
    """The rivals to compare with."""

    chosen: list[RivalName]
    left_out: list[str]
    """Those that exceed the limit."""
    old_branches: int
    """Branches without a recent commit."""


def rivals_of(view: CurrentView, named: tuple[str, ...]) -> Rivals:
    """The rivals to compare with, and how many others there are.

    Args:
        view: of the files here.
        named: worktrees by path or branch, and refs; empty: all worktrees and recent branches.

    Raises:
        NoSuchRef: a name is neither a ref nor a worktree.
    """
    if named:
        return Rivals([_rivals_named(view, name) for name in dict.fromkeys(named)], [], 0)
    repository = view.repository
    rival_names = [RivalName(root, "") for root in repository.worktrees()]
    since = int(time.time()) - RECENT_DAYS * _DAY_S
    taken = {view.scope.branch} | {branch_at(rival_name.root) for rival_name in rival_names}
    recent, old = recent_branches(repository, since)
    rival_names += [RivalName("", name) for name in recent if name not in taken]
    rest = [rival_name.root or rival_name.ref for rival_name in rival_names[MOST_RIVALS:]]
    return Rivals(rival_names[:MOST_RIVALS], rest, len({*old} - taken))


def _rivals_named(view: CurrentView, name: str) -> RivalName:
    root = worktree_named(view, name)
    if root is not None:
        return RivalName(root, "")
    worktree_names: list[str] = []
    for other in view.repository.worktrees():
        names = [branch_at(other), os.path.basename(other)]
        if name in names:
            return RivalName(other, "")
        worktree_names += filter(None, names)
    try:
        view.repository.scope(name)
    except NoSuchRef as error:
        like_it = difflib.get_close_matches(name, worktree_names, n=3)
        near = list(dict.fromkeys([*error.near, *like_it]))
        raise NoSuchRef(name, view.scope.root, near, or_worktree=True) from error
    return RivalName("", name)


# Collisions of the current worktree with other worktrees and branches.

_ORDER = {"certain": 0, "likely": 1, "possible": 2, "harmless": 3}
_MOST_EDITS = 5_000

ViewAt = Callable[[RivalName], CurrentView]


class Party(NamedTuple):
    """One of two sides that changed something."""

    name: str
    repository: Repository
    head: CommitId
    branch: str
    view: CurrentView | None
    """View of its files; None for a ref that is not indexed yet."""
    side: FilesSide | None
    """Its files as a side, which caches what it read from git; None for a ref."""
    edits: dict[bytes, SideChange]
    view_at: Callable[[], CurrentView]

    @property
    def ref(self) -> str:
        """The prefix of its handles: the ref; empty for a worktree."""
        return "" if self.view is not None and self.view.scope.kind != "ref" else self.name


class _Pair(NamedTuple):
    rival: RivalName
    theirs: Party
    base: CommitId


class Question:
    """One call of `conflicts`: the current side, with cached results about it.

    Args:
        view: of the files here.
        facts: reads facts.
        seconds: time limit for resolving files.
    """

    def __init__(self, view: CurrentView, facts: Facts, seconds: float) -> None:
        self._facts = facts
        self._seconds = seconds
        side = files_side(view, "files")
        self._own = own_edits(view, facts.db, side)
        self.current_side = Party(
            "files", view.repository, view.scope.head, view.scope.branch, view, side,
            self._own.by_path, lambda: view,
        )  # fmt: skip
        self._changed: dict[CommitId, Changed] = {}
        self._graphs: dict[str, LazyGraph] = {}
        self._walked: list[CurrentView] = []
        self._handles: dict[tuple[str, bytes], list[str]] = {}

    def party(self, rival: RivalName, view_at: ViewAt) -> Party:
        """A rival, with its uncommitted edits.

        Raises:
            CodelensError: it cannot be read.
        """
        if not rival.root:
            repository = self.current_side.repository
            scope = repository.scope(rival.ref)
            return Party(
                rival.ref, repository, scope.head, rival.ref, None, None, {}, lambda: view_at(rival)
            )
        there = view_at(rival)
        assert self.current_side.view is not None
        side = files_side(there, rival.root)
        edits = other_edits(self.current_side.view, self._own, there, self._facts.db, side)
        scope = there.scope
        return Party(
            rival.root, there.repository, scope.head, scope.branch, there, side, edits,
            lambda: there,
        )  # fmt: skip

    def answer(self, parties: Sequence[tuple[RivalName, Party]], base: str) -> list[Rival]:
        """The collisions with each party, in their order.

        Args:
            parties: the rivals.
            base: a ref in place of the merge base; may be empty.
        """
        pairs: list[_Pair] = []
        by_name: dict[str, Rival] = {}
        for rival, theirs in parties:
            try:
                at = self._base(theirs, base)
            except CodelensError as error:
                by_name[theirs.name] = _rival(rival, theirs, CommitId(""), notes=(str(error),))
                continue
            if not at:
                note = "no history in common with the current branch, so it cannot be merged"
                by_name[theirs.name] = _rival(rival, theirs, at, notes=(note,))
            elif self._differs(self.current_side, at) and self._differs(theirs, at):
                pairs.append(_Pair(rival, theirs, at))
            else:
                by_name[theirs.name] = _rival(
                    rival, theirs, at, merge="not tried" if base else "clean"
                )
        merged, notes = self._merged(pairs) if not base else ([None] * len(pairs), ())
        for pair, merge in zip(pairs, merged, strict=True):
            by_name[pair.theirs.name] = self._compared(pair, merge, notes)
        for own in self._changed.values():
            own.diff.matches.forget()
        self._changed.clear()
        rivals = [by_name[theirs.name] for _, theirs in parties]
        return [replace(rival, is_merge_base=False) for rival in rivals] if base else rivals

    def _base(self, theirs: Party, base: str) -> CommitId:
        if base:
            return self.current_side.repository.scope(base).head
        if not self.current_side.head or not theirs.head:
            return CommitId("")
        return merge_base(self.current_side.repository, self.current_side.head, theirs.head)

    def _differs(self, party: Party, base: CommitId) -> bool:
        return party.head != base or bool(party.edits)

    # Textual conflicts

    def _merged(self, pairs: Sequence[_Pair]) -> tuple[list[TextMerge | None], tuple[str, ...]]:
        if not pairs:
            return [], ()
        try:
            with ScratchMerge(self.current_side.repository, self._attributes()) as scratch:
                current = self._commit(scratch, self.current_side)
                commit_pairs = [(current, self._commit(scratch, pair.theirs)) for pair in pairs]
                return list(scratch.merges(commit_pairs)), ()
        except ReadError as error:
            return [None] * len(pairs), (str(error),)

    def _attributes(self) -> dict[bytes, bytes]:
        view = self.current_side.view
        assert view is not None
        drivers: dict[bytes, bytes] = {}
        for file in view.snapshot.files:
            if file.path.rpartition(b"/")[2] == b".gitattributes":
                drivers[file.path] = view.read(file) or b""
        return drivers

    def _commit(self, scratch: ScratchMerge, party: Party) -> str:
        if not party.edits or party.side is None:
            return party.head
        edits: dict[bytes, tuple[int, bytes] | None] = {}
        for path, change in list(party.edits.items())[:_MOST_EDITS]:
            edits[path] = _edit(party.side, change)
        return scratch.with_edits(party.head, edits)

    # Collisions of definitions and of meaning

    def _compared(self, pair: _Pair, merge: TextMerge | None, notes: Sequence[str]) -> Rival:
        current, theirs = self.current_side, pair.theirs
        other: Changed | None = None
        notes_so_far = [*notes, *(_beyond(current, theirs) if merge is not None else ())]
        lines: list[CollisionLine] = []
        changes: dict[bytes, tuple[FileChange | None, FileChange | None]] = {}
        try:
            changed, other = self._own_since(pair.base), self._since(theirs, pair.base)
            changes = _by_path(changed, other)
            found_collisions = list(collisions(changed, other, changed_lines))
            found_collisions += meaning(changed, other, self._uses(current), self._uses(theirs))
            if merge is not None:
                found_collisions = [_by_git(collision, merge) for collision in found_collisions]
            lines = [self._line(theirs, collision) for collision in _sorted(found_collisions)]
        except CodelensError as error:
            notes_so_far.append(f"definitions were not compared: {error}")
        textual = tuple(
            TextualConflict(
                printed(conflict.path),
                conflict.kind,
                independent_additions(*changes.get(conflict.path, (None, None))),
            )
            for conflict in (merge.conflicts if merge is not None else ())
        )
        # Only this pair needs them, and there may be many pairs.
        self._graphs.pop(theirs.name, None)
        if other is not None:
            other.diff.matches.forget()
        return _rival(
            pair.rival, theirs, pair.base, textual, lines=tuple(lines), notes=tuple(notes_so_far),
            merge="not tried" if merge is None else "clean" if merge.clean else "conflicts",
        )  # fmt: skip

    def _own_since(self, base: CommitId) -> Changed:
        """What the current worktree changed since a commit; cached."""
        if base not in self._changed:
            self._changed[base] = self._since(self.current_side, base)
        return self._changed[base]

    def _since(self, party: Party, base: CommitId) -> Changed:
        """What a party changed since a commit."""
        committed = tree_changes(party.repository, base, party.head) if party.head != base else []
        old: dict[bytes, SideFile] = {}
        new: dict[bytes, SideFile] = {}
        for change in committed:
            if change.old is not None:
                old[change.path] = SideFile(change.path, change.old.mode, change.old.oid)
            if change.new is not None:
                new[change.path] = SideFile(change.path, change.new.mode, change.new.oid)
        on_disk: dict[bytes, SideFile] = {}
        rel_paths = {change.path for change in committed}
        for path, edit in party.edits.items():
            new.pop(path, None)
            if edit.new is not None:
                on_disk[path] = edit.new
            if edit.old is not None and path not in rel_paths:
                old[path] = edit.old
        before = CommitSide(party.repository, base, "base")
        after = CommitSide(party.repository, party.head, party.name)
        sides: list[tuple[AnySide, Sequence[SideFile]]] = [
            (before, list(old.values())),
            (after, list(new.values())),
        ]
        if party.side is not None and on_disk:
            sides.append((party.side, list(on_disk.values())))
        texts = texts_of(sides, self._facts, "full")
        diff = definition_diff(
            texts[0], [file for part in texts[1:] for file in part], changed_lines
        )
        return changed_of(diff)

    def _uses(self, party: Party) -> Callable[[FileDefinitions, int], Sequence[Use]]:
        def uses(file: FileDefinitions, at: int) -> Sequence[Use]:
            graph = self._graph(party)
            with self._facts.db.read():
                edges = graph.edges_of(file.path, at if at >= 0 else MODULE)
                return list(_named(graph, edges))

        return uses

    def _graph(self, party: Party) -> LazyGraph:
        if party.name not in self._graphs:
            view = party.view_at()
            with self._facts.db.read():
                self._graphs[party.name] = LazyGraph(view, self._seconds)
            self._walked.append(view)
        return self._graphs[party.name]

    def walked(self) -> list[CurrentView]:
        """The views whose graphs were walked."""
        return self._walked

    def _line(self, theirs: Party, collision: Collision) -> CollisionLine:
        return CollisionLine(
            collision.rule, collision.grade, collision.message,
            self._handle("", collision.yours), _site(collision.yours),
            self._handle(theirs.ref, collision.theirs), _site(collision.theirs),
        )  # fmt: skip

    def _handle(self, ref: str, spot: Spot) -> str:
        file = spot.file
        if spot.definition is None:
            return f"{printed(file.path)}:{spot.line}"
        key = (ref, file.path + file.text.key)
        if key not in self._handles:
            self._handles[key] = handles_of(file.path, file.text.symbols, ref)
        return self._handles[key][spot.definition.at]


def _by_git(collision: Collision, merge: TextMerge) -> Collision:
    """The collision with git's verdict added: git knows all lines and merge drivers."""
    paths = {conflict.path for conflict in merge.conflicts}
    conflicts = not paths.isdisjoint({collision.yours.file.path, collision.theirs.file.path})
    definition = collision.yours.definition
    if definition is None or collision.rule not in {"mergeable", "overlapping"}:
        return collision
    name = definition.symbol.qualified
    if conflicts and collision.rule == "mergeable":
        sentence = f"both changed {name}; git conflicts in its file"
        return collision._replace(message=sentence)
    if not conflicts and collision.rule == "overlapping":
        sentence = f"both changed {name}, which git merges"
        return collision._replace(rule="mergeable", grade=POSSIBLE, message=sentence)
    return collision


def _beyond(*parties: Party) -> Iterator[str]:
    """Notes on parties with too many uncommitted files to merge them all."""
    for party in parties:
        if len(party.edits) > _MOST_EDITS:
            yield (
                f"git merged the first {_MOST_EDITS:,} of {len(party.edits):,} uncommitted files "
                f"of {party.name}; commit them to merge all"
            )


def _named(graph: LazyGraph, edges: Sequence[Edge]) -> Iterator[Use]:
    for edge in edges:
        if edge.target_symbol >= 0:
            symbols = graph.symbols(edge.target)
            qualified = symbols[edge.target_symbol].qualified
            yield Use(edge.kind, edge.target, qualified, edge.line)


def _edit(side: FilesSide, change: SideChange) -> tuple[int, bytes] | None:
    """Mode and bytes that git would store for an edit; for a submodule, its commit."""
    if change.new is None:
        return None
    if change.new.mode == GITLINK:
        return GITLINK, change.new.oid.removesuffix(DIRTY)
    try:
        return change.new.mode, side.read_stored(change.new)
    except ReadError:
        return None


def _by_path(
    current: Changed, theirs: Changed
) -> dict[bytes, tuple[FileChange | None, FileChange | None]]:
    side_diff = {file.file.path: file for file in current.diff.files}
    other = {file.file.path: file for file in theirs.diff.files}
    return {
        path: (side_diff.get(path), other.get(path)) for path in side_diff.keys() | other.keys()
    }


def _sorted(collisions: Sequence[Collision]) -> list[Collision]:
    unique = {
        (
            collision.rule,
            collision.yours.file.path,
            collision.yours.line,
            collision.theirs.file.path,
            collision.theirs.line,
        ): collision
        for collision in collisions
    }
    return sorted(
        unique.values(),
        key=lambda collision: (
            _ORDER[collision.grade],
            collision.yours.file.path,
            collision.yours.line,
            collision.theirs.file.path,
            collision.theirs.line,
            collision.rule,
        ),
    )


def _site(spot: Spot) -> str:
    return f"{printed(spot.file.path)}:{spot.line}"


def _rival(
    rival: RivalName,
    theirs: Party,
    base: CommitId,
    textual: tuple[TextualConflict, ...] = (),
    *,
    lines: tuple[CollisionLine, ...] = (),
    notes: tuple[str, ...] = (),
    merge: Merge = "not tried",
) -> Rival:
    return Rival(
        theirs.name, theirs.branch, theirs.head, base, "worktree" if rival.root else "ref",
        len(theirs.edits), textual, lines, notes, merge=merge,
    )  # fmt: skip


def says_something(rival: Rival) -> bool:
    """Whether to show a rival in detail; clean merges without notes are only counted."""
    return bool(rival.textual or rival.notes) or any(
        line.grade != HARMLESS for line in rival.collisions
    )
