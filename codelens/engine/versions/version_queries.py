"""Answers the `Engine` methods about branches and commits: diff, conflicts, changed_elsewhere."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.answers.branch_answers import ConflictsAnswer, DiffAnswer, Elsewhere
from codelens.branches.sides import CommitSide
from codelens.engine.current_view import MANY_MS, CurrentView, ViewRequest, current_view
from codelens.engine.graph import candidate_files
from codelens.engine.graph.lazy_graph import WorkLimit
from codelens.engine.index_pool import IndexPool, seconds_for_uses, seconds_to_read
from codelens.engine.versions import diff_query
from codelens.engine.versions.broken_uses import (
    Users,
    names_with_broken_uses,
    old_files_needed,
    public_surface,
    takes_something_away,
)
from codelens.engine.versions.diff_query import chosen_sides, facts_of, own_edits, unlisted_notes
from codelens.errors import BareRepository, CodelensError, NotInGit, SettingError
from codelens.handles.handle_grammar import parse_handle
from codelens.paths import from_printed

if TYPE_CHECKING:
    from codelens.branches.sides import AnySide
    from codelens.engine.versions.broken_uses import Meaning
    from codelens.engine.versions.diff_query import Compared, Sides, ViewAt

_VIEW_MS = 400.0
"""How long indexing a commit may take without a budget; usually all its texts are known, and it
takes .2 s."""
_PATIENCE = 3.0
"""Multiple of the limit that the first file may take: definitions matter more than uses."""


def diff(
    pool: IndexPool,
    view_request: ViewRequest,
    spec: str,
    *,
    other: str = "",
    staged: bool = False,
    globs: Sequence[str] = (),
    kinds: Sequence[str] = (),
    uses: bool = True,
) -> DiffAnswer:
    """See `Engine.diff`."""
    view_request = _of_refs_alone(pool, view_request._replace(many_ms=MANY_MS), spec, other)
    started, cpu_started = time.monotonic(), time.thread_time()
    with pool.view(view_request) as view:
        sides = chosen_sides(view, spec, other, _view_at(view, view_request), staged=staged)
        facts = facts_of(view.index.db, view.settings)
        filters = diff_query.Filters(tuple(globs), tuple(kinds))
        compared = diff_query.compared_for(sides.old, sides.new, facts, filters)
        files = diff_query.file_lines(compared)
        meaning = None
        notes = (*unlisted_notes(sides.new_view), *unlisted_notes(sides.old_view))
        is_whole = not notes
        notes = (*notes, *diff_query.unread_notes(compared))
        if uses and files:
            worked_s = time.thread_time() - cpu_started
            seconds = seconds_for_uses(view_request.budget_ms, started, worked_s)
            meaning = _meaning(view, sides, compared, view_request, seconds)
            if staged:
                notes = (
                    *notes,
                    "uses were searched in the files on disk, not as staged",
                )
        added, removed = public_surface(compared)
        return DiffAnswer(
            receipt=view.receipt(),
            old=sides.old.name,
            new=sides.new.name,
            files=files,
            totals=diff_query.totals(files),
            broken=meaning.broken if meaning else (),
            added_public=added,
            removed_public=removed,
            tests=meaning.tests if meaning else (),
            test_count=len(meaning.tests) if meaning else 0,
            at_least=not is_whole or (meaning.at_least if meaning else False),
            left_out=compared.left_out,
            notes=(*notes, *(meaning.notes if meaning else ())),
        )


def _of_refs_alone(
    pool: IndexPool, view_request: ViewRequest, spec: str, other: str
) -> ViewRequest:
    """The request, at the newer of two refs if the repository is bare and has no files."""
    try:
        pool.open(view_request.path, view_request.ref)
    except BareRepository as error:
        newer = spec.rpartition("..")[2] or "HEAD" if ".." in spec else spec and other
        if not newer:
            raise SettingError(
                f"{error.path!r} is a bare repository: there are no files to compare with",
                typed="give two refs, A..B or A...B",
                called="pass two refs in spec, A..B or A...B",
            ) from error
        return view_request._replace(ref=newer)
    return view_request


def conflicts(
    pool: IndexPool, view_request: ViewRequest, others: Sequence[str], base: str
) -> ConflictsAnswer:
    """See `Engine.conflicts`."""
    from codelens.engine.versions import conflicts_query

    with pool.view(view_request) as view:
        if not view.repository.is_git:
            raise NotInGit(view.scope.root, "nothing can collide")
        at_root = _view_at(view, view_request)
        seen: dict[str, CurrentView] = {}

        def view_at(rival: conflicts_query.RivalName) -> CurrentView:
            if rival.root:
                return at_root(rival.root)
            if rival.ref not in seen:
                seen[rival.ref] = current_view(view.opened.at(rival.ref), view_request)
            return seen[rival.ref]

        chosen_rivals = conflicts_query.rivals_of(view, tuple(others))
        facts = facts_of(view.index.db, view.settings)
        question = conflicts_query.Question(view, facts, seconds_to_read(view_request.budget_ms))
        parties: list[tuple[conflicts_query.RivalName, conflicts_query.Party]] = []
        notes: list[str] = []
        for name in chosen_rivals.chosen:
            try:
                parties.append((name, question.party(name, view_at)))
            except CodelensError as error:
                if others:
                    raise
                notes.append(f"{name.root or name.ref} was not compared: {error}")
        answers = question.answer(parties, base)
        for walked in question.walked():
            candidate_files.keep(walked)
        colliding = [rival for rival in answers if conflicts_query.says_something(rival)]
        clean = [rival for rival in answers if rival not in colliding]
        return ConflictsAnswer(
            view.receipt(),
            tuple(colliding),
            len(clean),
            tuple(chosen_rivals.left_out),
            tuple(notes),
            tuple(rival for rival in clean if rival.collisions),
            chosen_rivals.old_branches,
        )


def changed_elsewhere(
    pool: IndexPool, path: str | Path, files: Sequence[str], *, quiet: bool
) -> tuple[Elsewhere, ...]:
    """See `Engine.changed_elsewhere`."""
    from codelens.engine.versions import history_query

    opened = pool.open(path, None)
    with opened.index.lock, opened.index.mended():
        facts = facts_of(opened.index.db, pool.settings)
        paths = list(dict.fromkeys(_path_within(file, opened.scope.root) for file in files))
        roots = opened.repository.worktrees()
        changes = history_query.changed_elsewhere(
            opened.repository, opened.scope, paths, facts, roots=roots
        )
        return tuple(row for row in changes if quiet or not row.is_quiet)


def _path_within(file: str, root: str) -> bytes:
    """A printed path, or an absolute one inside the worktree, relative to its top.

    Raises:
        OutsideWorktree: an absolute path is not inside the worktree.
    """
    if not os.path.isabs(file):
        return from_printed(file)

    return parse_handle(file, root).path or b""


def _meaning(
    view: CurrentView, sides: Sides, compared: Compared, view_request: ViewRequest, seconds: float
) -> Meaning:
    """The effect of the changes on users: on the new side and, for deletions, on the old.

    An unindexed commit is indexed as far as there is time, and further the next time: first the
    texts that other views have, then those with a name that the changes take away; with a budget
    all others, too.
    """
    in_haste = view_request.budget_ms is None
    budget_ms = _VIEW_MS if view_request.budget_ms is None else view_request.budget_ms
    hurried = view_request._replace(budget_ms=budget_ms, then_others=not in_haste)

    def at(side: AnySide, only: frozenset[bytes] = frozenset()) -> CurrentView | None:
        if not isinstance(side, CommitSide) or not side.commit:
            return None
        if _are_files_of(view, side):
            return view
        return current_view(view.opened.at(side.commit), hurried._replace(only=only))

    new = sides.new_view or at(sides.new) or view
    words = " ".join(sorted(names_with_broken_uses(compared)))
    if words and in_haste and new is view and view.refreshed.unread:
        view.read_pending(words, budget_ms)
    old, needed = None, frozenset[bytes]()
    if takes_something_away(compared):
        needed = old_files_needed(compared, in_haste=in_haste)
        old = sides.old_view or at(sides.old, needed)
    limit = WorkLimit(seconds, _PATIENCE)
    with view.reading():
        meaning = Users(compared, new, old, needed, limit, in_haste=in_haste).meaning()
    for walked in (new, old):
        if walked is not None:
            candidate_files.keep(walked)
    return meaning


def _are_files_of(view: CurrentView, side: CommitSide) -> bool:
    """Whether the files of a view are those of a commit, so that its own view is not needed."""
    if view.scope.kind != "worktree" or view.scope.head != side.commit:
        return False
    edits = own_edits(view, view.index.db)
    return not edits.by_path and not unlisted_notes(view)


def _view_at(view: CurrentView, view_request: ViewRequest) -> ViewAt:
    """Views of other worktrees of the repository, each brought up to date once."""
    views = {view.scope.root: view}

    def view_at(root: str) -> CurrentView:
        if root not in views:
            views[root] = current_view(view.opened.at_worktree(root), view_request)
        return views[root]

    return view_at
