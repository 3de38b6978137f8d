"""Metadata of an index: its clock, the last use of its views, and the locations of its folders.

The index's clock is a number of seconds in `upkeep`. Each write advances it by
`codelens.store.database.writer_lease.passed`. Everything that decides whether a view is due uses
this clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from codelens.store.database.database import Database
from codelens.store.database.writer_lease import Clock, Moment, machine, passed

TOUCH_S = 3600.0
"""Precision of a view's last use: writing it more often would slow readers."""
_AT_ONCE = 0.0

_CLOCK = "SELECT clock_s, wall_s, up_s, boot FROM upkeep"
_SET_CLOCK = "UPDATE upkeep SET clock_s = ?, wall_s = ?, up_s = ?, boot = ?"
_USED = "UPDATE views SET used_s = ?, accessed_s = ? WHERE id = ?"
_REMOVE = "DELETE FROM views WHERE id = ?"
_LAST_VIEW = "UPDATE upkeep SET last_view = MAX(last_view, ?)"
_NEXT_VIEW = """
SELECT MAX(last_view, (SELECT COALESCE(MAX(id), 0) FROM views)) + 1 FROM upkeep
"""
_COMMON_DIR = "SELECT common_dir FROM upkeep"
_SET_COMMON_DIR = "UPDATE upkeep SET common_dir = ?"
_SITES = "SELECT folder, mount, filesystem, gone_s FROM sites"
_SEEN = """
INSERT INTO sites (folder, mount, filesystem) VALUES (?, ?, ?)
ON CONFLICT (folder) DO UPDATE SET mount = excluded.mount, filesystem = excluded.filesystem,
    gone_s = NULL
"""
# A folder that nobody has seen yet has an empty mount point, which matches no disk.
_GONE = """
INSERT INTO sites (folder, mount, filesystem, gone_s) VALUES (?, x'', '', ?)
ON CONFLICT (folder) DO UPDATE SET gone_s = excluded.gone_s WHERE gone_s IS NULL
"""
_BACK = "UPDATE sites SET gone_s = NULL WHERE folder = ? AND gone_s IS NOT NULL"
_KNOWN = "SELECT 1 FROM sites WHERE folder = ? AND gone_s IS NULL"
_DROP_SITES = "DELETE FROM sites WHERE folder NOT IN (SELECT worktree FROM views) AND folder <> ?"
_PRUNED = "UPDATE upkeep SET pruned_s = clock_s"
_PRUNED_S = "SELECT pruned_s FROM upkeep"


class Site(NamedTuple):
    """Where a folder was last seen."""

    mount: bytes
    filesystem: str
    gone_s: float | None = None
    """The index's time when it was first missed; None if it existed at the last look."""


def clock_s(db: Database, clock: Clock = machine) -> float:
    """The index's time now; writes nothing."""
    return _clock(db, clock())


def tick(db: Database, clock: Clock = machine) -> float:
    """Advance the index's clock and return it; in the caller's transaction."""
    now = clock()
    reached = _clock(db, now)
    db.execute(_SET_CLOCK, (reached, *now))
    return reached


def _clock(db: Database, now: Moment) -> float:
    row = db.row(_CLOCK)
    assert row is not None
    reached, before = row[0], Moment(*row[1:])
    # Never read before: there is no time to add.
    return reached + passed(before, now) if before.wall_s else reached


def touch(
    db: Database, view: int, used_s: float, common_dir: bytes, *, folders: Iterable[str],
    seen: Callable[[], Mapping[str, Site]], clock: Clock = machine,
) -> bool:  # fmt: skip
    """Record that a view was just used, and where its folders are; return whether it was written.

    It writes rarely, and only if no other transaction is open: no reader waits for it.

    Args:
        db: the index.
        view: its id.
        used_s: its last recorded use, by the index's clock.
        common_dir: the repository's git folder.
        folders: folders that are known to exist, as views store them.
        seen: returns where they are.
        clock: the machine's clock.

    Raises:
        StoreError: it could not be written; nothing depends on it.
    """
    are_recorded = all(db.row(_KNOWN, (folder,)) for folder in folders)
    if are_recorded and clock_s(db, clock) - used_s < TOUCH_S:
        return False
    where = seen()
    with db.write(None, _AT_ONCE):
        now = tick(db, clock)
        db.execute(_USED, (now, int(clock().wall_s), view))
        if db.row(_COMMON_DIR) != (common_dir,):
            db.execute(_SET_COMMON_DIR, (common_dir,))
        for folder, site in where.items():
            db.execute(_SEEN, (folder, site.mount, site.filesystem))
    return True


def next_view(db: Database) -> int:
    """An id that no view ever had; in the caller's transaction.

    Running servers key their caches by it.
    """
    return db.value(_NEXT_VIEW)


def remove_view(db: Database, view: int) -> None:
    """Remove a view with its files; in the caller's transaction. Contents stay: see `collect`."""
    db.execute(_LAST_VIEW, (view,))
    db.execute(_REMOVE, (view,))


def common_dir(db: Database) -> bytes:
    """The repository's git folder; empty if never recorded."""
    return db.value(_COMMON_DIR, (), b"")


def sites(db: Database) -> dict[str, Site]:
    """Where each folder was last seen."""
    return {row[0]: Site(*row[1:]) for row in db.rows(_SITES)}


def note_sites(
    db: Database, now_s: float, there: Mapping[str, Site], gone: Iterable[str],
    unreachable: Iterable[str],
) -> None:  # fmt: skip
    """Record where folders are, and since when some are gone; in the caller's transaction.

    A folder that cannot be reached does not count as gone, so its time starts over.
    """
    for folder, site in there.items():
        db.execute(_SEEN, (folder, site.mount, site.filesystem))
    for folder in gone:
        db.execute(_GONE, (folder, now_s))
    for folder in unreachable:
        db.execute(_BACK, (folder,))


def forget_sites(db: Database, keep: str) -> None:
    """Forget folders that belong to no view, except `keep`; in the caller's transaction."""
    db.execute(_DROP_SITES, (keep,))


def note_pruned(db: Database) -> None:
    """Record that a prune has completed; in the caller's transaction."""
    db.execute(_PRUNED)


def pruned_ago_s(db: Database, clock: Clock = machine) -> float:
    """Seconds since the last prune, by the index's clock."""
    return clock_s(db, clock) - db.value(_PRUNED_S)
