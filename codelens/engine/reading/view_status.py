"""Where one stands: scope, freshness, what is in the view and what was left out."""

from __future__ import annotations

import json

from codelens.answers.reading_answers import StatusAnswer
from codelens.engine.current_view import CurrentView
from codelens.errors import ReadError, ScopeError
from codelens.index.membership_cache import INVALID
from codelens.scope.uncommitted_changes import is_dirty
from codelens.store.views import views
from codelens.store.views.views import OVERSIZED, PENDING, UNREADABLE


def status(view: CurrentView) -> StatusAnswer:
    """The status of a view and of the index that it is in."""
    repository, index = view.repository, view.index
    scope, row = view.scope, view.snapshot.row
    notes = json.loads(row.notes)
    outcomes: dict[str, int] = {}
    for outcome, generated, count in views.outcomes_of(index.db, row.id):
        outcomes[outcome] = outcomes.get(outcome, 0) + count
        if generated:
            outcomes["generated"] = outcomes.get("generated", 0) + count
    states = views.states_of(index.db, row.id)
    skipped = {
        "oversized": states.get(OVERSIZED, 0),
        "unreadable": states.get(UNREADABLE, 0) + len(notes.get("unreadable", ())),
        "links": len(notes.get("links", ())),
        "pending": states.get(PENDING, 0),
    }
    return StatusAnswer(
        receipt=view.receipt(),
        kind=scope.kind,
        root=scope.worktree,
        repository=scope.common_dir if repository.is_git else "",
        repo_id=scope.repo_id,
        branch=scope.ref or scope.branch,
        head=scope.head,
        detached=scope.kind == "worktree" and bool(scope.head) and not scope.branch,
        state=scope.state,
        dirty=is_dirty(repository) if scope.kind == "worktree" else None,
        files=len(view.snapshot.files),
        languages=tuple(views.languages_of(index.db, row.id)),
        outcomes=outcomes,
        skipped={name: count for name, count in skipped.items() if count},
        invalid_patterns=tuple(notes.get(INVALID, ())),
        submodules=tuple(notes.get("submodules", ())),
        nested=tuple(notes.get("nested", ())),
        worktrees=tuple(repository.worktrees()),
        others=_others(view),
        views=len(index.views()),
        index_path=str(index.path),
        index_bytes=index.db.size_bytes(),
        watch=index.watch_of(scope),
    )


def _others(view: CurrentView) -> tuple[str, ...]:
    """Who is changing what is changed here; nobody, where that cannot be told."""
    from codelens.engine.versions.diff_query import facts_of
    from codelens.engine.versions.elsewhere import also_changed_here

    try:
        return also_changed_here(view, facts_of(view.index.db, view.settings))
    except (ReadError, ScopeError):
        return ()
