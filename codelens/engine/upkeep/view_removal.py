"""Overview, drop, pin: what is done to an index's views by name; see `pruning` for the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from codelens.answers.upkeep_answers import Dropped, RepositoryLife, ViewLife
from codelens.engine.upkeep import disk_space
from codelens.engine.upkeep.last_use import folder_text
from codelens.engine.upkeep.view_survey import Survey, as_life, index_files, repo_id_of, survey
from codelens.errors import DiskFull, SettingError, StoreError
from codelens.paths import can_be_named, printed
from codelens.store.database import database_recovery, exclusive_index, index_removal, writer_lease
from codelens.store.database.database import Database
from codelens.store.saved import pins
from codelens.store.views import garbage_collection, index_metadata
from codelens.store.views.prune_rules import Limits

_LEAST_PREFIX = 4
_COMMIT_PREFIX = 7


def overview(home: Path, limits: Limits, *, only: Path | None = None) -> list[RepositoryLife]:
    """Every index of a home folder, or one of them, with its views."""
    repositories: list[RepositoryLife] = []
    for path in index_files(home, only):
        try:
            with disk_space.opened(path) as db:
                repositories.append(as_life(db, survey(db, limits)))
        except StoreError as error:
            size = path.stat().st_size if path.exists() else 0
            repositories.append(
                RepositoryLife(repo_id_of(path), "", "unknown", str(path), size, error=str(error))
            )
    return repositories


def drop_view(db: Database, survey: Survey, life: ViewLife, *, force: bool) -> Dropped:
    """Remove one view; `force` also if it is active or pinned.

    If it is gone already, what it alone needed goes.

    Raises:
        SettingError: it is not removed without force.
    """
    _refuse([life], force=force)
    pairs = zip(survey.rows, survey.lives, strict=True)
    rows = [(row.id, view_life) for row, view_life in pairs if view_life.index_id == life.index_id]
    if life.pinned:
        pin(db, survey, life, pinned=False)
    return replace(_drop(db, survey, rows, whole=False), views=(life,))


def drop_index(path: Path, limits: Limits, *, force: bool) -> Dropped:
    """Remove all views of a repository, and the file if nobody else has it open.

    That needs no room; nor is what was set aside of it kept.

    Raises:
        SettingError: views are active or pinned, and there is no force.
        DiskFull: there is no room, and others have it open.
    """
    try:
        with disk_space.opened(path) as db:
            surveyed = survey(db, limits)
            _refuse(surveyed.lives, force=force)
            size = db.size_bytes()
            pins.forget(pins.file_beside(path))
            if index_removal.remove_file(db):
                name = printed(os.fsencode(surveyed.common_dir))
                return Dropped(surveyed.repo_id, name, surveyed.lives, True, size + _aside(path), 0)
            pairs = [
                (row.id, life) for row, life in zip(surveyed.rows, surveyed.lives, strict=True)
            ]
            return _drop(db, surveyed, pairs, whole=True)
    except DiskFull as error:
        if error.beside or not force:
            raise
    pins.forget(pins.file_beside(path))
    with closing(exclusive_index.hold(path, to_remove=True)) as db:
        size = db.size_bytes()
        index_removal.remove_file(db)
    return Dropped(repo_id_of(path), "", (), True, size + _aside(path), 0)


def _aside(path: Path) -> int:
    """Remove what was set aside of an index; its size."""
    return database_recovery.forget_all(path.parent, path.name)


def _drop(
    db: Database, survey: Survey, pairs: Sequence[tuple[int, ViewLife]], *, whole: bool
) -> Dropped:
    before = index_removal.pages_bytes(db)
    lease = writer_lease.acquire(db, index_removal.WAIT_S)
    try:
        for view, _ in pairs:
            with db.write(lease):
                index_metadata.remove_view(db, view)
    finally:
        lease.release(db)
    lives = tuple(life for _, life in pairs)
    name = printed(os.fsencode(survey.common_dir))
    if whole:
        size = db.size_bytes()
        # Who had it open may be gone by now.
        if index_removal.remove_file(db):
            return Dropped(survey.repo_id, name, lives, True, size, 0)
    collected = garbage_collection.collect(db)
    freed = max(0, before - index_removal.pages_bytes(db))
    return Dropped(survey.repo_id, name, lives, whole, freed, collected.waiting)


def one_view(survey: Survey, target: str, scope_key: str) -> ViewLife:
    """The one view that is called so; see `views_called`.

    Raises:
        SettingError: none is, or several are.
    """
    fitting = views_called(survey, target, scope_key)
    if not fitting and not target:
        raise SettingError(
            "the current worktree and branch have no view yet, or it was dropped",
            typed="`codelens index` builds one",
            called="cl_index builds one",
        )
    if not fitting:
        raise SettingError(
            f"no view matches {target!r}",
            typed="`codelens status --all` lists them with their ids",
            called="cl_index with action status lists them with their ids",
        )
    if len(fitting) > 1:
        shown = ", ".join(f"{view_life.index_id} ({view_life.title})" for view_life in fitting)
        raise SettingError(f"{target!r} matches {len(fitting)} views: {shown}; give the id of one")
    return fitting[0]


def views_called(survey: Survey, target: str, scope_key: str) -> list[ViewLife]:
    """The views that `target` names: by branch, index id, ref, worktree or commit, in this order.

    Args:
        survey: of the index.
        target: as the user named it; empty: by `scope_key` alone.
        scope_key: of the ref that it may name, or of where one stands; empty if it names none.
    """
    pairs = list(zip(survey.rows, survey.lives, strict=True))
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
    return next((matches for matches in tries if matches), list[ViewLife]())


def _refuse(lives: Iterable[ViewLife], *, force: bool) -> None:
    if force:
        return
    for life in lives:
        if life.pinned:
            raise SettingError(
                f"{life.title} is pinned",
                typed=f"`codelens unpin {life.index_id}` first, or --force",
                called="force: true removes it anyway",
            )
        if life.standing == "active":
            raise SettingError(
                f"{life.title} is checked out in a worktree and would be rebuilt at the next query",
                typed="--force removes it anyway",
                called="force: true removes it anyway",
            )


def pin(db: Database, survey: Survey, life: ViewLife, *, pinned: bool) -> ViewLife:
    """Pin or unpin a view; as it is then."""
    row = survey.rows[survey.lives.index(life)]
    pins.set_pinned(pins.file_beside(db.path), row.scope, pinned=pinned)
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
