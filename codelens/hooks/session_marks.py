"""Where sessions stood: the commit that a session began on, and where the last one here ended."""

from __future__ import annotations

import json
import os
import time
from typing import NamedTuple, cast

from codelens import file_owner
from codelens.focus.checkout import Checkout, head_commit
from codelens.trail.trail_log import session_key

_KEPT = 12
_LARGEST = 100_000
_MARKS = "marks"


class Mark(NamedTuple):
    """A session in a worktree."""

    session: str
    began: str
    """The commit that it began on; empty where there was none."""
    head: str
    """The commit that it last stood on."""
    branch: str
    at: int
    """When last, in seconds since the epoch."""


def marks(home: str, place: Checkout) -> list[Mark]:
    """The latest sessions in this worktree, the last one last."""
    path = _file(home, place)
    try:
        with open(path, "rb") as file:
            parsed: object = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return []
    if isinstance(parsed, dict):
        fields_by_name = cast("dict[str, object]", parsed)
        other = file_owner.other_name(path, fields_by_name.get(file_owner.KEY))
        if other:
            file_owner.set_aside(path, file_owner.written_for(other))
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


def mark(home: str, session: str, place: Checkout) -> None:
    """Note where a session stands now; of two that write at once, one note may be lost.

    Raises:
        OSError: it cannot be written.
    """
    key, head = session_key(session), head_commit(place)
    earlier = marks(home, place)
    own = next((stored_mark for stored_mark in earlier if stored_mark.session == key), None)
    now = Mark(key, own.began if own else head, head, place.branch, int(time.time()))
    stored = [stored_mark for stored_mark in earlier if stored_mark.session != key][-(_KEPT - 1) :]
    path = _file(home, place)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    beside = f"{path}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8") as file:
        fields = {file_owner.KEY: os.path.basename(path), _MARKS: [*stored, now]}
        json.dump(fields, file)
    os.replace(beside, path)


def _file(home: str, place: Checkout) -> str:
    name = f"sessions-{place.repository}-{place.worktree}.json"
    return os.path.join(home, "trails", name)
