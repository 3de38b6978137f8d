"""Decides which views are pruned, and removes contents and paths that no view needs.

Never pruned: a pinned view, the active view of an existing worktree, a view used within two hours,
a view whose folder cannot be reached (an unmounted disk, a locked worktree), and any view while its
index is being written. Ages are by the index's clock (`codelens.store.views.index_metadata`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.writer_lease import DAY_S, Clock, machine
from codelens.store.facts import postings, precise_facts
from codelens.store.facts.contents import batched
from codelens.store.views import index_metadata, view_blocks
from codelens.store.views.index_metadata import TOUCH_S

LATELY_S = 2 * TOUCH_S
"""A view used within this time is never due, regardless of the settings: last uses are recorded to
the hour.
"""

Standing = Literal["active", "inactive", "detached", "ref", "gone", "unreachable"]
"""The state of a view: checked out in a worktree; another branch of a worktree; an older detached
HEAD; a requested commit; in a removed folder; in a folder that cannot be reached."""


class Limits(NamedTuple):
    """How long an unused view is kept, in seconds."""

    branch_s: float = 14 * DAY_S
    detached_s: float = 3 * DAY_S
    gone_s: float = 2 * DAY_S
    ref_s: float = 3 * DAY_S


class Case(NamedTuple):
    """Everything that decides whether a view is pruned."""

    standing: Standing
    pinned: bool
    unused_s: float
    """Time since its last use."""
    gone_s: float = 0.0
    """Time since its folder was first missed."""


class Verdict(NamedTuple):
    """Whether a view is due, and why in a few words."""

    goes: bool
    why: str


def prune_verdict(case: Case, limits: Limits) -> Verdict:
    """Whether a view is pruned now."""
    if case.pinned:
        return Verdict(False, "pinned")
    if case.standing == "active":
        return Verdict(False, "checked out in a worktree")
    if case.standing == "unreachable":
        return Verdict(False, "its folder cannot be reached")
    description, limit_s, age_s = {
        "inactive": ("inactive branch", limits.branch_s, case.unused_s),
        "detached": ("inactive detached HEAD", limits.detached_s, case.unused_s),
        "ref": ("ref", limits.ref_s, case.unused_s),
        "gone": ("its folder was removed", limits.gone_s, case.gone_s),
    }[case.standing]
    since = "missing for" if case.standing == "gone" else "unused for"
    if case.unused_s < LATELY_S:
        return Verdict(False, f"{description}, but recently used")
    if age_s < limit_s:
        left = prune_span(limit_s - age_s)
        return Verdict(False, f"{description}, {since} {prune_span(age_s)}, to be pruned in {left}")
    return Verdict(True, f"{description}, {since} {prune_span(age_s)}")


def prune_span(seconds: float) -> str:
    """A duration in one unit: `3 days`, `5 hours`, `10 minutes`."""
    for unit, length in (("day", DAY_S), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit}s"
    return f"{max(int(seconds), 0)} s"


# Removes data that no view needs, in small steps, each under a separate lease.
#
# Rows are first marked, then removed: a running reader may hold an earlier state of a view, and
# needs that state's texts to answer. Marked rows are removed after ten minutes, or at once if
# nobody else has the file open. Other processes can write between steps.

GRACE_S = 600.0
"""How long a reader may hold a removed view; an answer takes half a minute at most."""
_CONTENTS_A_STEP = 200
_PATHS_A_STEP = 1000
_PAGES_A_STEP = 256
_PAGES_LEFT = 16
_DEAD_SHARE = 0.25
"""A segment with a larger share of removed contents is rewritten."""

MARK_CONTENTS = """
INSERT OR IGNORE INTO doomed (kind, id, since_s) SELECT 'content', c.id, ? FROM contents c
WHERE NOT EXISTS (SELECT 1 FROM block_files f WHERE f.content = c.id)
"""
SPARE_CONTENTS = """
DELETE FROM doomed WHERE kind = 'content'
    AND EXISTS (SELECT 1 FROM block_files f WHERE f.content = doomed.id)
"""
# The largest id stays, so that no id is ever reused: readers hold ids.
MARK_PATHS = """
INSERT OR IGNORE INTO doomed (kind, id, since_s) SELECT 'path', p.id, ? FROM paths p
WHERE p.id < (SELECT MAX(id) FROM paths) AND p.id NOT IN (SELECT f.path FROM block_files f)
"""
SPARE_PATHS = """
DELETE FROM doomed WHERE kind = 'path' AND id IN (SELECT f.path FROM block_files f)
"""
DUE = "SELECT id FROM doomed WHERE kind = ? AND since_s <= ? ORDER BY id LIMIT ?"
OLDEST = "SELECT MIN(since_s) FROM doomed"
VIEWS_STATE = "SELECT COUNT(*), COALESCE(SUM(id), 0), COALESCE(SUM(generation), 0) FROM views"
_FREE_PAGES = "PRAGMA freelist_count"
WAITING = "SELECT COUNT(*) FROM doomed WHERE kind = 'content'"
DELETE_CONTENTS = "DELETE FROM contents WHERE id IN ({marks})"
DELETE_DOOMED = "DELETE FROM doomed WHERE kind = ? AND id IN ({marks})"
PATH_TERMS = "SELECT id, stem, folders FROM paths WHERE id IN ({marks})"
DELETE_TERM = "DELETE FROM path_terms WHERE term = ? AND path = ?"
DELETE_EDGES = "DELETE FROM file_edges WHERE path IN ({marks})"
DELETE_PARTS = "DELETE FROM edge_parts WHERE path IN ({marks})"
DELETE_PATHS = "DELETE FROM paths WHERE id IN ({marks})"


class Collected(NamedTuple):
    """Counts of removed data, and of data that waits until no reader can hold it."""

    contents: int = 0
    paths: int = 0
    segments: int = 0
    waiting: int = 0


Rest = Callable[[], bool]
"""Called between steps; it may wait, and returns whether to go on."""


def collect(db: Database, rest: Rest = lambda: True, clock: Clock = machine) -> Collected:
    """Remove data that no view needs and free its pages; stop early when `rest` returns False.

    Raises:
        IndexLocked: another process writes; finished steps stay done.
        StoreError: the index cannot be written.
    """
    with writer_lease.held(db, 0.0, clock) as lease, db.write(lease):
        now_s = index_metadata.tick(db, clock)
        view_blocks.delete_unused(db)
        for sql in (SPARE_CONTENTS, SPARE_PATHS):
            db.execute(sql)
        for sql in (MARK_CONTENTS, MARK_PATHS):
            db.execute(sql, (now_s,))
    grace_s = 0.0 if db.alone() else GRACE_S
    due_s = now_s - grace_s
    contents = _repeat(lambda: _remove_contents(db, due_s, clock), rest)
    if precise_facts.any_unused(db) and rest():
        with writer_lease.held(db, 0.0, clock) as lease, db.write(lease):
            precise_facts.delete_unused(db)
    paths = _repeat(lambda: _remove_paths(db, due_s, clock), rest)
    segments = _repeat(lambda: _rewrite_segment(db, clock), rest)
    _repeat(lambda: _give_back(db, clock), rest)
    db.checkpoint()
    return Collected(contents, paths, segments, waiting(db))


def is_due(db: Database, clock: Clock = machine) -> bool:
    """Whether anything marked may be removed by now; writes nothing."""
    since_s = db.value(OLDEST)
    return since_s is not None and since_s <= index_metadata.clock_s(db, clock) - GRACE_S


def views_state(db: Database) -> tuple[int, ...]:
    """A value that changes with any change of a view, which may have left unused rows."""
    row = db.row(VIEWS_STATE)
    return tuple(row) if row else ()


def waiting(db: Database) -> int:
    """The number of marked contents."""
    return db.value(WAITING)


def _repeat(step: Callable[[], int], rest: Rest) -> int:
    total = 0
    while rest() and (done := step()):
        total += done
    return total


def _remove_contents(db: Database, due_s: float, clock: Clock) -> int:
    with writer_lease.held(db, 0.0, clock) as lease, db.write(lease):
        # A view may use a marked content again by now.
        db.execute(SPARE_CONTENTS)
        due = [row[0] for row in db.rows(DUE, ("content", due_s, _CONTENTS_A_STEP))]
        for batch in batched(due):
            marks = ",".join("?" * len(batch))
            db.execute(DELETE_CONTENTS.format(marks=marks), batch)
            db.execute(DELETE_DOOMED.format(marks=marks), ("content", *batch))
    return len(due)


def _remove_paths(db: Database, due_s: float, clock: Clock) -> int:
    # With foreign keys on, removing a path would scan all files of all views for each path.
    with writer_lease.held(db, 0.0, clock) as lease, db.unchecked(), db.write(lease):
        if not db.rows(DUE, ("path", due_s, 1)):
            return 0
        db.execute(SPARE_PATHS)
        due = [row[0] for row in db.rows(DUE, ("path", due_s, _PATHS_A_STEP))]
        for batch in batched(due):
            marks = ",".join("?" * len(batch))
            terms = [
                (term, path)
                for path, stem, folders in db.rows(PATH_TERMS.format(marks=marks), batch)
                for term in {*stem.split(), *folders.split()}
            ]
            db.execute_many(DELETE_TERM, terms)
            db.execute(DELETE_EDGES.format(marks=marks), batch)
            db.execute(DELETE_PARTS.format(marks=marks), batch)
            db.execute(DELETE_PATHS.format(marks=marks), batch)
            db.execute(DELETE_DOOMED.format(marks=marks), ("path", *batch))
    return len(due)


def _rewrite_segment(db: Database, clock: Clock) -> int:
    with writer_lease.held(db, 0.0, clock) as lease, db.write(lease):
        return postings.rewrite_one(db, _DEAD_SHARE)


def _give_back(db: Database, clock: Clock) -> int:
    with writer_lease.held(db, 0.0, clock) as lease, db.write(lease):
        free = db.value(_FREE_PAGES)
        if free <= _PAGES_LEFT:
            return 0
        db.rows(f"PRAGMA incremental_vacuum({min(_PAGES_A_STEP, free - _PAGES_LEFT)})")
        # Nothing was freed: the file was made before codelens used incremental vacuum.
        return free - db.value(_FREE_PAGES)
