"""Implements the upkeep methods of `Engine`, and removes or pins views by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from codelens.answers.upkeep_answers import Dropped, Pinned, PruneAnswer, RepositoryLife, ViewLife
from codelens.engine.current_view import OpenRepository, ViewRequest
from codelens.engine.index_pool import IndexPool
from codelens.engine.upkeep import pruning, view_survey
from codelens.engine.upkeep.view_survey import (
    Survey,
    as_life,
    folder_text,
    index_files,
    repo_id_of,
    survey,
)
from codelens.errors import DiskFull, InvalidArgument, ScopeError, SettingError, StoreError
from codelens.paths import barred, can_be_named, printed
from codelens.store.database import database_opening, database_recovery, writer_lease
from codelens.store.database.database import Database
from codelens.store.database.database_opening import hold_index
from codelens.store.saved import pins
from codelens.store.views import garbage_collection, index_metadata
from codelens.store.views.garbage_collection import Limits

_LEAST_PREFIX = 4
_COMMIT_PREFIX = 7


def overview(home: Path, limits: Limits, *, only: Path | None = None) -> list[RepositoryLife]:
    """Every index of a home folder, or one of them, with its views and pins."""
    repositories: list[RepositoryLife] = []
    for path in sorted({*index_files(home, only), *view_survey.pinned_indexes(home, only)}):
        try:
            if not path.exists():
                repositories += _without_index(path)
                continue
            with view_survey.opened(path) as db:
                repositories.append(as_life(db, survey(db, limits)))
        except StoreError as error:
            size = path.stat().st_size if path.exists() else 0
            repositories.append(
                RepositoryLife(repo_id_of(path), "", "unknown", str(path), size, error=str(error))
            )
    return repositories


def _without_index(path: Path) -> list[RepositoryLife]:
    """The pins of a repository whose index was removed; empty if nothing is pinned."""
    unbuilt = view_survey.unbuilt_pins(pins.pinned_scopes(pins.pins_file_for(path)))
    life = RepositoryLife(repo_id_of(path), "", "unknown", str(path), 0, unbuilt_pins=unbuilt)
    return [life] if unbuilt else []


def drop_view(db: Database, survey: Survey, life: ViewLife, *, force: bool) -> Dropped:
    """Remove one view; with `force` even if it is active or pinned. The pin stays.

    If it is gone already, remove data that only it needed.

    Raises:
        SettingError: removal requires `force`.
    """
    _refuse([life], force=force)
    pairs = zip(survey.rows, survey.lives, strict=True)
    rows = [(row.id, view_life) for row, view_life in pairs if view_life.index_id == life.index_id]
    return replace(_drop(db, survey, rows, whole=False), views=(life,))


def drop_index(path: Path, limits: Limits, *, force: bool) -> Dropped:
    """Remove all views of a repository, and the file if no other process has it open.

    This needs no disk space, and also removes damaged indexes that were set aside.

    Raises:
        SettingError: views are active or pinned, and `force` is not set.
        DiskFull: the disk is full, and other processes have it open.
    """
    try:
        with view_survey.opened(path) as db:
            surveyed = survey(db, limits)
            _refuse(surveyed.lives, force=force)
            size = db.size_bytes()
            pins.forget(pins.pins_file_for(path))
            if database_opening.remove_file(db):
                name = printed(os.fsencode(surveyed.common_dir))
                return Dropped(surveyed.repo_id, name, surveyed.lives, True, size + _aside(path), 0)
            pairs = [
                (row.id, life) for row, life in zip(surveyed.rows, surveyed.lives, strict=True)
            ]
            return _drop(db, surveyed, pairs, whole=True)
    except DiskFull as error:
        if error.is_shared or not force:
            raise
    pins.forget(pins.pins_file_for(path))
    with closing(database_opening.hold_index(path, to_remove=True)) as db:
        size = db.size_bytes()
        database_opening.remove_file(db)
    return Dropped(repo_id_of(path), "", (), True, size + _aside(path), 0)


def _aside(path: Path) -> int:
    """Remove the set-aside files of an index; returns their size."""
    return database_recovery.forget_all(path.parent, path.name)


def _drop(
    db: Database, survey: Survey, pairs: Sequence[tuple[int, ViewLife]], *, whole: bool
) -> Dropped:
    before = database_opening.pages_bytes(db)
    with writer_lease.held(db, database_opening.WAIT_S) as lease:
        for view, _ in pairs:
            with db.write(lease):
                index_metadata.remove_view(db, view)
    lives = tuple(life for _, life in pairs)
    name = printed(os.fsencode(survey.common_dir))
    if whole:
        size = db.size_bytes()
        # The process that had the file open may have ended by now.
        if database_opening.remove_file(db):
            return Dropped(survey.repo_id, name, lives, True, size, 0)
    collected = garbage_collection.collect(db)
    freed = max(0, before - database_opening.pages_bytes(db))
    return Dropped(survey.repo_id, name, lives, whole, freed, collected.waiting)


def one_view(survey: Survey, target: str, scope_key: str) -> ViewLife:
    """The only view that matches; see `views_called`.

    Raises:
        SettingError: no view or several views match.
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
        target: from the user; empty: use only `scope_key`.
        scope_key: of the ref that `target` names, or of the current scope; empty if neither.
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


def _set_pinned(db: Database, survey: Survey, life: ViewLife, *, pinned: bool) -> ViewLife:
    """Pin or unpin a view; returns its new state."""
    row = survey.rows[survey.lives.index(life)]
    pins.set_pinned(pins.pins_file_for(db.path), row.scope, pinned=pinned)
    return replace(life, pinned=pinned, goes=False, why="pinned" if pinned else "not pinned")


def file_of(home: Path, repo_id: str) -> Path:
    """The index of a repository, by its id or the beginning of it.

    Raises:
        SettingError: no index or several indexes match.
    """
    fitting = [path for path in index_files(home) if repo_id_of(path).startswith(repo_id)]
    if len(fitting) == 1 and len(repo_id) >= _LEAST_PREFIX:
        return fitting[0]
    raise SettingError(
        f"{repo_id!r} is the id of {len(fitting) or 'no'} indexes",
        typed="`codelens status --all` lists them",
        called="cl_index with action status lists them",
    )


# The upkeep methods: prune, overview, drop, pin.

_MOST_DAYS = 36_500.0


def prune(
    pool: IndexPool, *, dry_run: bool, days: float | None, only: str | Path | None
) -> PruneAnswer:
    """See `Engine.prune`."""
    if days is not None and not 0 <= days <= _MOST_DAYS:
        raise InvalidArgument("days", f"must be between 0 and {_MOST_DAYS:,.0f}, not {days}")
    settings = pool.settings
    if settings.damage and not dry_run:
        raise SettingError(f"nothing is pruned while the settings are invalid: {settings.damage}")
    limits = view_survey.limits_of(settings, days)
    file = index_of(pool, only) if only is not None else None
    return pruning.prune(pool.settings.home, limits, dry_run=dry_run, only=file, let_go=pool.closed)


def drop(pool: IndexPool, target: str, path: str | Path, *, force: bool) -> Dropped:
    """See `Engine.drop`."""
    opened = pool.open_any(path)
    index, key = opened.index, _scope_key(opened, target)
    limits, file = view_survey.limits_of(pool.settings), index.path
    named: list[ViewLife] = []
    scopes: list[str] = []

    def dropped(db: Database) -> Dropped:
        survey = view_survey.survey(db, limits)
        if not named:
            named.append(one_view(survey, target, key))
            scopes.append(survey.rows[survey.lives.index(named[0])].scope)
        return drop_view(db, survey, named[0], force=force)

    try:
        with index.lock, index.mended():
            done = dropped(index.db)
    except DiskFull:
        # The removal may be partly done.
        with pool.closed(file), closing(hold_index(file)) as db, db.without_log():
            done = dropped(db)
    if named[0].pinned:
        # Afterwards: a full disk may have room only now, and a view that stays keeps its pin.
        pins.set_pinned(pins.pins_file_for(file), scopes[0], pinned=False)
    return done


def drop_repository(pool: IndexPool, path: str | Path, repo_id: str, *, force: bool) -> Dropped:
    """See `Engine.drop_repository`."""
    file = index_of(pool, path) if not repo_id else file_of(pool.settings.home, repo_id)
    unreadable = barred(file.parent)
    if unreadable is not None:
        raise unreadable
    if not file.exists():
        raise SettingError(
            f"there is no index {str(file)!r}",
            typed="`codelens status --all` lists all",
            called="cl_index with action status lists all",
        )
    with pool.closed(file):
        return drop_index(file, view_survey.limits_of(pool.settings), force=force)


def pin(pool: IndexPool, view_request: ViewRequest, target: str, *, pinned: bool) -> Pinned:
    """See `Engine.pin`."""
    opened = pool.open_any(view_request.path)
    index, limits, key = (
        opened.index,
        view_survey.limits_of(pool.settings),
        _scope_key(opened, target),
    )
    with index.lock, index.mended():
        survey = view_survey.survey(index.db, limits)
        named = views_called(survey, target, key)
        # A rebuild that was killed keeps the pins of views that it had not built again.
        is_kept = pinned or key in pins.pinned_scopes(pins.pins_file_for(index.path))
    if key and not named and is_kept:
        with pool.view(view_request):
            pass
    with index.lock, index.mended():
        survey = view_survey.survey(index.db, limits)
        life = one_view(survey, target, key)
        if life.pinned == pinned:
            return Pinned(life, False)
        return Pinned(_set_pinned(index.db, survey, life, pinned=pinned), True)


def index_of(pool: IndexPool, path: str | Path) -> Path:
    """The index file of the repository that contains a path."""
    return pool.open_any(path).index.path


def _scope_key(opened: OpenRepository, target: str) -> str:
    """The scope that a target names: a ref, or the current one; empty if neither."""
    if not target:
        return opened.scope.key
    try:
        return opened.repository.scope(target).key
    except ScopeError:
        return ""
