"""Prune, drop, pin: what is done to an index's views, each step under a lease of its own.

Works on files of the home folder, of repositories that may be gone. Beside running servers: views
go in one transaction each, and what readers may still hold is collected later (`store/collect.py`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from codelens.engine.lives import Survey, as_life, index_files, repo_id_of, survey
from codelens.engine.upkeep_answers import Dropped, PruneAnswer, Pruned, RepositoryLife, ViewLife
from codelens.engine.used import folder_text
from codelens.errors import IndexLocked, LeaseLost, SchemaTooNew, SettingError, StoreError
from codelens.paths import can_be_named, printed
from codelens.scope.standing import whereabouts
from codelens.store import collect, leases, recovery, removal, upkeep
from codelens.store.clock import Clock, machine
from codelens.store.database import Database, open_index
from codelens.store.prune import Limits
from codelens.store.upkeep import Site

logger = logging.getLogger(__name__)

_VIEWS_A_STEP = 4
_LEAST_PREFIX = 4
_COMMIT_PREFIX = 7

Rest = Callable[[], bool]


def overview(home: Path, limits: Limits, *, only: Path | None = None) -> list[RepositoryLife]:
    """Every index of a home folder, or one of them, with its views."""
    found: list[RepositoryLife] = []
    for path in _files(home, only):
        try:
            db = open_index(path)
            try:
                found.append(as_life(db, survey(db, limits)))
            finally:
                db.close()
        except StoreError as error:
            size = path.stat().st_size if path.exists() else 0
            found.append(
                RepositoryLife(repo_id_of(path), "", "unknown", str(path), size, error=str(error))
            )
    return found


def prune(
    home: Path,
    limits: Limits,
    *,
    dry_run: bool = False,
    only: Path | None = None,
    rest: Rest = lambda: True,
    every_s: float = 0.0,
) -> PruneAnswer:
    """Prune every index of a home folder; one that fails does not keep the others from it.

    Args:
        home: where the indexes are.
        limits: how long views are kept.
        dry_run: only say what would go.
        only: this index alone.
        rest: called between steps; may wait, and says whether to go on.
        every_s: leave out what was pruned less than so long ago.
    """
    files = _files(home, only)
    results: list[Pruned] = []
    for path in files:
        if not rest():
            break
        try:
            if every_s and not _is_time(path, every_s):
                continue
            done = prune_index(path, limits, dry_run=dry_run, rest=rest)
        except (IndexLocked, LeaseLost, SchemaTooNew) as error:
            done = Pruned(repo_id_of(path), "", skipped=str(error))
        except StoreError as error:
            done = Pruned(repo_id_of(path), "", error=str(error))
        results.append(done)
    if not dry_run and (home / "indexes").is_dir():
        recovery.forget_old(home / "indexes")
    worth = tuple(one for one in results if one.views or one.contents or one.removed or one.why
                  or one.waiting or one.error or one.skipped)  # fmt: skip
    return PruneAnswer(dry_run, len(files), worth)


def prune_index(
    path: Path,
    limits: Limits,
    *,
    dry_run: bool = False,
    rest: Rest = lambda: True,
    clock: Clock = machine,
) -> Pruned:
    """Prune one index.

    Raises:
        IndexLocked: another process writes; what was done so far stays done.
        StoreError: the index cannot be used.
    """
    db = open_index(path)
    try:
        if dry_run:
            found = survey(db, limits, clock)
            views = tuple(life for life in found.lives if life.goes)
            return replace(
                _blank(found), views=views, kept=len(found.lives) - len(views),
                waiting=collect.waiting(db), removed=bool(found.leftover), why=found.leftover,
            )  # fmt: skip
        return _prune(db, limits, rest, clock)
    finally:
        db.close()


def _files(home: Path, only: Path | None) -> list[Path]:
    return [path for path in index_files(home) if only is None or path == only]


def _is_time(path: Path, every_s: float) -> bool:
    """Whether the last prune of an index is so long ago, by its own clock."""
    db = open_index(path)
    try:
        return upkeep.pruned_ago_s(db) >= every_s
    finally:
        db.close()


def _prune(db: Database, limits: Limits, rest: Rest, clock: Clock) -> Pruned:
    before = removal.pages_bytes(db)
    views: list[ViewLife] = []
    while True:
        found, went = _remove_due(db, limits, clock)
        views += went
        if not went or not rest():
            break
    done = replace(_blank(found), views=tuple(views), kept=len(found.lives))
    if found.leftover:
        size = db.size_bytes()
        if removal.remove_file(db):
            return replace(done, removed=True, why=found.leftover, freed_bytes=size, kept=0)
    collected = collect.collect(db, rest, clock)
    if rest():
        with db.write(None):
            upkeep.note_pruned(db)
    return replace(
        done, contents=collected.contents, waiting=collected.waiting,
        freed_bytes=max(0, before - removal.pages_bytes(db)),
    )  # fmt: skip


def _remove_due(db: Database, limits: Limits, clock: Clock) -> tuple[Survey, list[ViewLife]]:
    """Remove a few views that are due, as it is under the lease; what is left to be seen.

    The survey is of before, without those that went.
    """
    lease = leases.acquire(db, 0.0, clock)
    try:
        found = survey(db, limits, clock)
        with db.write(lease):
            _note(db, found, clock)
        # Looked at again with what was noted: gone since now is gone for no time.
        found = survey(db, limits, clock)
        pairs = [(row, life) for row, life in zip(found.rows, found.lives, strict=True)]
        went = [(row, life) for row, life in pairs if life.goes][:_VIEWS_A_STEP]
        for row, _ in went:
            with db.write(lease):
                upkeep.remove_view(db, row.id)
    finally:
        lease.release(db)
    gone = {row.id for row, _ in went}
    kept = [(row, life) for row, life in pairs if row.id not in gone]
    rows, lives = tuple(row for row, _ in kept), tuple(life for _, life in kept)
    return found._replace(rows=rows, lives=lives), [life for _, life in went]


def _note(db: Database, found: Survey, clock: Clock) -> None:
    now_s = upkeep.tick(db, clock)
    there: dict[str, Site] = {}
    for folder, state in found.folders.items():
        if state == "there":
            try:
                there[folder] = Site(*whereabouts(folder))
            except OSError as error:
                logger.debug("%s: %s", folder, error)
    states = found.folders.items()
    gone = [folder for folder, state in states if state == "gone"]
    unreachable = [folder for folder, state in states if state == "unreachable"]
    upkeep.note_sites(db, now_s, there, gone, unreachable)
    upkeep.forget_sites(db, folder_text(found.common_dir))


def _blank(found: Survey) -> Pruned:
    return Pruned(found.repo_id, printed(os.fsencode(found.common_dir)))


def drop_view(db: Database, found: Survey, life: ViewLife, *, force: bool) -> Dropped:
    """Remove one view; `force` also if it is active or pinned.

    Raises:
        SettingError: it is not removed without force.
    """
    _refuse([life], force=force)
    row = found.rows[found.lives.index(life)]
    return _drop(db, found, [(row.id, life)], whole=False)


def drop_index(db: Database, found: Survey, *, force: bool) -> Dropped:
    """Remove all views of a repository, and the file if nobody else has it open.

    Raises:
        SettingError: views are active or pinned, and there is no force.
    """
    _refuse(found.lives, force=force)
    pairs = [(row.id, life) for row, life in zip(found.rows, found.lives, strict=True)]
    return _drop(db, found, pairs, whole=True)


def _drop(
    db: Database, found: Survey, pairs: Sequence[tuple[int, ViewLife]], *, whole: bool
) -> Dropped:
    before = removal.pages_bytes(db)
    lease = leases.acquire(db, removal.WAIT_S)
    try:
        for view, _ in pairs:
            with db.write(lease):
                upkeep.remove_view(db, view)
    finally:
        lease.release(db)
    lives = tuple(life for _, life in pairs)
    name = printed(os.fsencode(found.common_dir))
    if whole:
        size = db.size_bytes()
        if removal.remove_file(db):
            return Dropped(found.repo_id, name, lives, True, size, 0)
    collected = collect.collect(db)
    freed = max(0, before - removal.pages_bytes(db))
    return Dropped(found.repo_id, name, lives, whole, freed, collected.waiting)


def one_view(found: Survey, target: str, scope_key: str) -> ViewLife:
    """The one view that is called so; see `views_called`.

    Raises:
        SettingError: none is, or several are.
    """
    fitting = views_called(found, target, scope_key)
    if not fitting:
        raise SettingError(
            f"no view is called {target!r}",
            typed="`codelens status --all` lists them with their ids",
            called="cl_index with action status lists them with their ids",
        )
    if len(fitting) > 1:
        shown = ", ".join(f"{one.index_id} ({called(one)})" for one in fitting)
        raise SettingError(f"{target!r} names {len(fitting)} views: {shown}; give the id of one")
    return fitting[0]


def views_called(found: Survey, target: str, scope_key: str) -> list[ViewLife]:
    """The views that `target` names: by branch, index id, ref, worktree or commit, in this order.

    Args:
        found: of the index.
        target: as the user named it; empty: by `scope_key` alone.
        scope_key: of the ref that it may name, or of where one stands; empty if it names none.
    """
    pairs = list(zip(found.rows, found.lives, strict=True))
    at_scope = [life for row, life in pairs if scope_key and row.scope == scope_key]
    if not target:
        return at_scope
    root = folder_text(os.path.realpath(target)) if can_be_named(target) else None
    by_id = [life for row, life in pairs if row.index_id.startswith(target)]
    by_head = [life for _, life in pairs if not life.branch and life.head.startswith(target)]
    there = [life for _, life in pairs if life.worktree == root]
    tries = (
        [life for _, life in pairs if life.branch == target],
        by_id if len(target) >= _LEAST_PREFIX else [],
        at_scope,
        [life for life in there if life.standing == "active"],
        there,
        by_head if len(target) >= _COMMIT_PREFIX else [],
    )
    return next((some for some in tries if some), list[ViewLife]())


def _refuse(lives: Iterable[ViewLife], *, force: bool) -> None:
    if force:
        return
    for life in lives:
        if life.pinned:
            raise SettingError(
                f"{called(life)} is pinned",
                typed=f"`codelens unpin {life.index_id}` first, or --force",
                called="force: true removes it all the same",
            )
        if life.standing == "active":
            raise SettingError(
                f"{called(life)} is what a worktree stands on, and would be built again at the "
                "next question",
                typed="--force removes it all the same",
                called="force: true removes it all the same",
            )


def called(life: ViewLife) -> str:
    """A view as people call it."""
    what = life.branch or (f"detached {life.head[:7]}" if life.head else "")
    if life.kind == "ref":
        return f"ref {life.head[:12]}"
    return f"{what} in {life.worktree}" if what else life.worktree


def pin(db: Database, found: Survey, life: ViewLife, *, pinned: bool) -> ViewLife:
    """Pin or unpin a view; as it is then."""
    row = found.rows[found.lives.index(life)]
    lease = leases.acquire(db, removal.WAIT_S)
    try:
        upkeep.set_pinned(db, lease, row.id, pinned=pinned)
    finally:
        lease.release(db)
    return replace(life, pinned=pinned, goes=False, why="pinned" if pinned else "not pinned")


def file_of(home: Path, repo_id: str) -> Path:
    """The index of a repository that is named by its id or the beginning of it.

    Raises:
        SettingError: there is none, or there are several.
    """
    fitting = [path for path in index_files(home) if repo_id_of(path).startswith(repo_id)]
    if len(fitting) == 1 and len(repo_id) >= _LEAST_PREFIX:
        return fitting[0]
    raise SettingError(
        f"{repo_id!r} is the id of {len(fitting) or 'no'} indexes",
        typed="`codelens status --all` lists them",
        called="cl_index with action status lists them",
    )
