"""What keeps indexes in order: prune, overview, drop, pin."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from codelens.answers.upkeep_answers import Dropped, Pinned, PruneAnswer, RepositoryLife, ViewLife
from codelens.engine.current_view import OpenRepository
from codelens.engine.index_pool import IndexPool
from codelens.engine.upkeep import pruning, view_removal, view_survey
from codelens.engine.view_request import ViewRequest
from codelens.errors import DiskFull, InvalidArgument, ScopeError, SettingError
from codelens.paths import barred
from codelens.store.database.database import Database
from codelens.store.database.exclusive_index import hold

_MOST_DAYS = 36_500.0


class IndexUpkeep:
    """Answers `Engine`'s requests of this kind; see there for what each takes and raises."""

    def __init__(self, pool: IndexPool) -> None:
        self._pool = pool
        self._home = pool.settings.home

    def prune(self, *, dry_run: bool, days: float | None, only: str | Path | None) -> PruneAnswer:
        """See `Engine.prune`."""
        if days is not None and not 0 <= days <= _MOST_DAYS:
            raise InvalidArgument("days", f"must be between 0 and {_MOST_DAYS:,.0f}, not {days}")
        settings = self._pool.settings
        if settings.damage and not dry_run:
            raise SettingError(
                f"nothing is pruned while the settings are invalid: {settings.damage}"
            )
        limits = view_survey.limits_of(settings, days)
        file = self._file_of(only) if only is not None else None
        return pruning.prune(
            self._home, limits, dry_run=dry_run, only=file, let_go=self._pool.closed
        )

    def overview(self, only: str | Path | None) -> list[RepositoryLife]:
        """See `Engine.overview`."""
        file = self._file_of(only) if only is not None else None
        return view_removal.overview(self._home, self._limits(), only=file)

    def drop(self, target: str, path: str | Path, *, force: bool) -> Dropped:
        """See `Engine.drop`."""
        opened = self._pool.open_any(path)
        index, limits, key = opened.index, self._limits(), _scope_key(opened, target)
        named: list[ViewLife] = []

        def dropped(db: Database) -> Dropped:
            survey = view_survey.survey(db, limits)
            if not named:
                named.append(view_removal.one_view(survey, target, key))
            return view_removal.drop_view(db, survey, named[0], force=force)

        try:
            with index.lock, index.mended():
                return dropped(index.db)
        except DiskFull:
            # Some of it may be done.
            file = index.path
            with self._pool.closed(file), closing(hold(file)) as db, db.without_log():
                return dropped(db)

    def drop_repository(self, path: str | Path, repo_id: str, *, force: bool) -> Dropped:
        """See `Engine.drop_repository`."""
        file = self._file_of(path) if not repo_id else view_removal.file_of(self._home, repo_id)
        unreadable = barred(file.parent)
        if unreadable is not None:
            raise unreadable
        if not file.exists():
            raise SettingError(
                f"there is no index {str(file)!r}",
                typed="`codelens status --all` lists all",
                called="cl_index with action status lists all",
            )
        with self._pool.closed(file):
            return view_removal.drop_index(file, self._limits(), force=force)

    def pin(self, view_request: ViewRequest, target: str, *, pinned: bool) -> Pinned:
        """See `Engine.pin`."""
        opened = self._pool.open_any(view_request.path)
        index, limits, key = opened.index, self._limits(), _scope_key(opened, target)
        with index.lock, index.mended():
            survey = view_survey.survey(index.db, limits)
            named = view_removal.views_called(survey, target, key)
        if pinned and key and not named:
            with self._pool.view(view_request):
                pass
        with index.lock, index.mended():
            survey = view_survey.survey(index.db, limits)
            life = view_removal.one_view(survey, target, key)
            if life.pinned == pinned:
                return Pinned(life, False)
            return Pinned(view_removal.pin(index.db, survey, life, pinned=pinned), True)

    def _limits(self) -> view_survey.Limits:
        return view_survey.limits_of(self._pool.settings)

    def _file_of(self, path: str | Path) -> Path:
        return self._pool.open_any(path).index.path


def _scope_key(opened: OpenRepository, target: str) -> str:
    """The scope that a target names: a ref, or where one stands; empty if neither."""
    if not target:
        return opened.scope.key
    try:
        return opened.repository.scope(target).key
    except ScopeError:
        return ""
