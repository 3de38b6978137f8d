"""Where one stands: scope, freshness, what is in the view and what was left out."""

from __future__ import annotations

import json

from codelens.engine.answers.reading_answers import StatusAnswer
from codelens.engine.current_view import Look
from codelens.engine.open_index import Shelf
from codelens.scope.repository import Repository
from codelens.scope.uncommitted_changes import is_dirty
from codelens.store.views import views
from codelens.store.views.views import OVERSIZED, PENDING, UNREADABLE


def status(look: Look, repository: Repository, shelf: Shelf) -> StatusAnswer:
    """The status of a looked-at view."""
    scope, view = look.scope, look.snapshot.row
    notes = json.loads(view.notes)
    outcomes: dict[str, int] = {}
    for outcome, generated, count in views.outcomes_of(shelf.db, view.id):
        outcomes[outcome] = outcomes.get(outcome, 0) + count
        if generated:
            outcomes["generated"] = outcomes.get("generated", 0) + count
    states = views.states_of(shelf.db, view.id)
    skipped = {
        "oversized": states.get(OVERSIZED, 0),
        "unreadable": states.get(UNREADABLE, 0) + len(notes.get("unreadable", ())),
        "links": len(notes.get("links", ())),
        "pending": states.get(PENDING, 0),
    }
    return StatusAnswer(
        receipt=look.receipt(),
        kind=scope.kind,
        root=scope.worktree,
        repository=scope.common_dir if repository.is_git else "",
        repo_id=scope.repo_id,
        branch=scope.ref or scope.branch,
        head=scope.head,
        detached=scope.kind == "worktree" and bool(scope.head) and not scope.branch,
        state=scope.state,
        dirty=is_dirty(repository) if scope.kind == "worktree" else None,
        files=len(look.snapshot.files),
        languages=tuple(views.languages_of(shelf.db, view.id)),
        outcomes=outcomes,
        skipped={name: count for name, count in skipped.items() if count},
        submodules=tuple(notes.get("submodules", ())),
        nested=tuple(notes.get("nested", ())),
        worktrees=tuple(repository.worktrees()),
        views=len(shelf.views()),
        index_path=str(shelf.path),
        index_bytes=shelf.db.size_bytes(),
    )
