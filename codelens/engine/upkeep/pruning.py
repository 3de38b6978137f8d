"""Prunes views that were unused for long, each step under its own lease.

Works on index files in the home folder, also of deleted repositories, and concurrently with
servers: each view is removed in one transaction, and data that readers may still use is collected
later (`store/views/garbage_collection.py`). On a full disk, pruning holds the index exclusively
(`store/database/database_opening.py`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from codelens.answers.upkeep_answers import PruneAnswer, Pruned, ViewLife
from codelens.engine.upkeep import view_survey
from codelens.engine.upkeep.view_survey import Survey, folder_text, index_files, repo_id_of, survey
from codelens.errors import DiskFull, IndexLocked, LeaseLost, SchemaTooNew, StoreError
from codelens.paths import printed
from codelens.scope.worktree_presence import whereabouts
from codelens.store.database import database_opening, database_recovery, writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import HeldIndex, hold_index, open_index
from codelens.store.database.database_recovery import aside_folders
from codelens.store.database.writer_lease import Clock, machine
from codelens.store.views import garbage_collection, index_metadata
from codelens.store.views.garbage_collection import Limits
from codelens.store.views.index_metadata import Site

logger = logging.getLogger(__name__)

_VIEWS_A_STEP = 4

Rest = Callable[[], bool]
LetGo = Callable[[Path], AbstractContextManager[None]]


def prune(
    home: Path,
    limits: Limits,
    *,
    dry_run: bool = False,
    only: Path | None = None,
    rest: Rest = lambda: True,
    every_s: float = 0.0,
    let_go: LetGo = lambda _: nullcontext(),
) -> PruneAnswer:
    """Prune every index of a home folder; a failure in one does not stop the others.

    Args:
        home: the folder with the indexes.
        limits: how long views are kept.
        dry_run: report what would be removed; remove nothing.
        only: prune only this index.
        rest: called between steps; may wait, and returns whether to go on.
        every_s: skip indexes that were pruned more recently than this.
        let_go: closes the caller's own connection to an index that is needed exclusively.
    """
    files = index_files(home, only)
    results: list[Pruned] = []
    disposed = 0
    full = False
    for path in files:
        if not rest():
            break
        try:
            if every_s and not _is_time(path, every_s):
                continue
            removed_views: list[ViewLife] = []
            pruned = partial(
                prune_index, path, limits, dry_run=dry_run, rest=rest, removed_views=removed_views
            )
            try:
                done = pruned()
            except DiskFull:
                full = True
                if not dry_run:
                    # A damaged file is kept for a week, as long as the disk has room.
                    disposed += sum(map(database_recovery.forget_all, aside_folders(home)))
                with let_go(path):
                    done = pruned(alone=True)
        except (IndexLocked, LeaseLost, SchemaTooNew) as error:
            done = Pruned(repo_id_of(path), "", skipped=str(error))
        except StoreError as error:
            done = Pruned(repo_id_of(path), "", error=str(error))
        results.append(done)
    if not dry_run:
        for folder in aside_folders(home):
            database_recovery.forget_old(folder)
    worth = tuple(
        result
        for result in results
        if result.views or result.contents or result.removed or result.why
        or result.waiting or result.error or result.skipped
    )  # fmt: skip
    advice = view_survey.disk_space_advice(home) if full and view_survey.is_scarce(home) else ""
    return PruneAnswer(dry_run, len(files), worth, disposed_bytes=disposed, advice=advice)


def prune_index(
    path: Path,
    limits: Limits,
    *,
    dry_run: bool = False,
    rest: Rest = lambda: True,
    clock: Clock = machine,
    removed_views: list[ViewLife] | None = None,
    alone: bool = False,
) -> Pruned:
    """Prune one index.

    Args:
        path: the index.
        limits: how long views are kept.
        dry_run: report what would be removed; remove nothing.
        rest: called between steps.
        clock: the machine's.
        removed_views: receives the removed views, even if pruning fails later.
        alone: hold the index exclusively, which needs less room: for a full disk.

    Raises:
        IndexLocked: another process writes; steps done so far remain.
        DiskFull: there is not enough room; with `alone`, or other processes have it open.
        StoreError: the index cannot be used.
    """
    with closing(hold_index(path) if alone else open_index(path)) as db:
        if dry_run:
            return _planned(db, limits, clock)
        with db.without_log() if isinstance(db, HeldIndex) else nullcontext():
            return _prune(db, limits, rest, clock, [] if removed_views is None else removed_views)


def _planned(db: Database, limits: Limits, clock: Clock) -> Pruned:
    surveyed = survey(db, limits, clock)
    views = tuple(life for life in surveyed.lives if life.goes)
    return replace(
        _blank(surveyed), views=views, kept=len(surveyed.lives) - len(views),
        waiting=garbage_collection.waiting(db), removed=bool(surveyed.leftover),
        why=surveyed.leftover,
    )  # fmt: skip


def _is_time(path: Path, every_s: float) -> bool:
    """Whether enough time passed since the last prune of an index, by its own clock."""
    with view_survey.opened(path) as db:
        return index_metadata.pruned_ago_s(db) >= every_s


def _prune(db: Database, limits: Limits, rest: Rest, clock: Clock, views: list[ViewLife]) -> Pruned:
    before = database_opening.pages_bytes(db)
    while True:
        survey, removed_now = _remove_due(db, limits, clock)
        views += removed_now
        if not removed_now or not rest():
            break
    done = replace(_blank(survey), views=tuple(views), kept=len(survey.lives))
    if survey.leftover:
        size = db.size_bytes()
        if database_opening.remove_file(db):
            return replace(done, removed=True, why=survey.leftover, freed_bytes=size, kept=0)
    collected = garbage_collection.collect(db, rest, clock)
    if rest():
        with db.write(None):
            index_metadata.note_pruned(db)
    return replace(
        done, contents=collected.contents, waiting=collected.waiting,
        freed_bytes=max(0, before - database_opening.pages_bytes(db)),
    )  # fmt: skip


def _remove_due(db: Database, limits: Limits, clock: Clock) -> tuple[Survey, list[ViewLife]]:
    """Remove a few views that are due, checked again under the lease.

    Returns the survey from before, without the removed views, and the removed views.
    """
    with writer_lease.held(db, 0.0, clock) as lease:
        surveyed = survey(db, limits, clock)
        with db.write(lease):
            _record_sites(db, surveyed, clock)
        # Survey again with the updated record: a folder that just went missing is not due yet.
        surveyed = survey(db, limits, clock)
        pairs = [(row, life) for row, life in zip(surveyed.rows, surveyed.lives, strict=True)]
        due_pairs = [(row, life) for row, life in pairs if life.goes][:_VIEWS_A_STEP]
        for row, _ in due_pairs:
            with db.write(lease):
                index_metadata.remove_view(db, row.id)
    gone = {row.id for row, _ in due_pairs}
    kept_pairs = [(row, life) for row, life in pairs if row.id not in gone]
    rows, lives = tuple(row for row, _ in kept_pairs), tuple(life for _, life in kept_pairs)
    return surveyed._replace(rows=rows, lives=lives), [life for _, life in due_pairs]


def _record_sites(db: Database, survey: Survey, clock: Clock) -> None:
    now_s = index_metadata.tick(db, clock)
    there: dict[str, Site] = {}
    for folder, state in survey.folders.items():
        if state == "there":
            try:
                there[folder] = Site(*whereabouts(folder))
            except OSError as error:
                logger.debug("%s: %s", folder, error)
    states = survey.folders.items()
    gone = [folder for folder, state in states if state == "gone"]
    unreachable = [folder for folder, state in states if state == "unreachable"]
    index_metadata.note_sites(db, now_s, there, gone, unreachable)
    index_metadata.forget_sites(db, folder_text(survey.common_dir))


def _blank(survey: Survey) -> Pruned:
    return Pruned(survey.repo_id, printed(os.fsencode(survey.common_dir)))
