"""Records the commits of sessions: where each session began, and where the last one ended."""

from __future__ import annotations

import json
import os
import time
from typing import NamedTuple, cast

from codelens import home_files
from codelens.home_files import read_small, replace_file, unique_draft
from codelens.trail.trail_log import session_key

_MOST_MARKS = 24
_LARGEST = 100_000
_MARKS = "marks"
_AGAIN_S = 600
"""An unchanged mark is written again after this many seconds."""


class WorktreeState(NamedTuple):
    """The state of a worktree at one moment."""

    repository: str
    """Its id."""
    worktree: str
    """As `worktree_key` returns it."""
    head: str
    """The commit, or an empty string."""
    branch: str
    """Empty if detached, or outside of git."""


class Mark(NamedTuple):
    """A session in a worktree."""

    session: str
    began: str
    """The commit at the start of the session; empty if there was none."""
    head: str
    """The last commit that the session was on."""
    branch: str
    at: int
    """When it was last active, in seconds since the epoch."""


def marks(home: str | os.PathLike[str], repository: str, worktree: str) -> list[Mark]:
    """The latest sessions in a worktree, most recent last."""
    path = _file(home, repository, worktree)
    try:
        parsed: object = json.loads(read_small(path, _LARGEST))
    except (OSError, ValueError, RecursionError):
        return []
    if isinstance(parsed, dict):
        fields_by_name = cast("dict[str, object]", parsed)
        other = home_files.other_owner_name(path, fields_by_name.get(home_files.OWNER_KEY))
        if other:
            home_files.set_aside(path, home_files.written_for(other))
            return []
        parsed = fields_by_name.get(_MARKS)
    rows = cast("list[object]", parsed) if isinstance(parsed, list) else []
    stored: list[Mark] = []
    for row in rows:
        fields = cast("list[object]", row) if isinstance(row, list) else []
        if len(fields) == len(Mark._fields) and isinstance(fields[4], int):
            session, began, head, branch = (str(field) for field in fields[:4])
            stored.append(Mark(session, began, head, branch, fields[4]))
    return stored


def mark(
    home: str | os.PathLike[str], session: str, state: WorktreeState, now: float | None = None
) -> None:
    """Record the current state of a session; of two concurrent writes, one may be lost.

    Raises:
        OSError: it cannot be written.
    """
    key, at = session_key(session), int(time.time() if now is None else now)
    earlier = marks(home, state.repository, state.worktree)
    own = next((stored_mark for stored_mark in earlier if stored_mark.session == key), None)
    current = Mark(key, own.began if own else state.head, state.head, state.branch, at)
    if own is not None and own._replace(at=at) == current and 0 <= at - own.at < _AGAIN_S:
        return
    others = [stored_mark for stored_mark in earlier if stored_mark.session != key]
    path = _file(home, state.repository, state.worktree)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    stored = [*others[-(_MOST_MARKS - 1) :], current]
    text = json.dumps({home_files.OWNER_KEY: os.path.basename(path), _MARKS: stored})
    replace_file(path, text.encode(), temporary=unique_draft(path))


def _file(home: str | os.PathLike[str], repository: str, worktree: str) -> str:
    return os.path.join(os.fspath(home), "trails", f"sessions-{repository}-{worktree}.json")
