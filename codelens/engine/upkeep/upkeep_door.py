"""What keeps indexes in order: prune, drop, pin, overview, and long indexing beside questions."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from codelens.engine.answers.reading_answers import StatusAnswer
from codelens.engine.answers.upkeep_answers import (
    Dropped,
    Pinned,
    PruneAnswer,
    RepositoryLife,
    ViewLife,
)
from codelens.engine.current_view import looked
from codelens.engine.index_pool import Door, Opened
from codelens.engine.open_index import Shelf
from codelens.engine.reading.view_status import status
from codelens.errors import BareRepository, DiskFull, ScopeError, SettingError
from codelens.index.progress import Progress, silent
from codelens.paths import barred
from codelens.store.database.database import Database
from codelens.store.database.exclusive_index import hold

_MOST_DAYS = 36_500.0


class UpkeepDoor(Door):
    """The part of the engine that looks after the indexes."""

    def prune(
        self, *, dry_run: bool = False, days: float | None = None, only: str | Path | None = None
    ) -> PruneAnswer:
        """Remove views that nobody has asked for long, and what no view needs, of all indexes.

        Never: a pinned view, the active one of a worktree that is there, one used lately, one whose
        folder cannot be reached, any while its index is being written.

        Args:
            dry_run: only say what would go.
            days: how long a view is kept unused, for all kinds, in place of the settings.
            only: prune the repository that this path lies in, and no other.

        Raises:
            SettingError: `days` is out of range.
            ScopeError: `only` cannot be served.
        """
        from codelens.engine.upkeep import pruning, view_survey

        if days is not None and not 0 <= days <= _MOST_DAYS:
            raise SettingError(f"days must be between 0 and {_MOST_DAYS:,.0f}, not {days}")
        limits = view_survey.limits_of(self.settings, days)
        path = self._index_of(only) if only is not None else None
        return pruning.prune(
            self.settings.home, limits, dry_run=dry_run, only=path, let_go=self._closed
        )

    def overview(self, *, only: str | Path | None = None) -> list[RepositoryLife]:
        """Every index with its views: size, age, last use, and why each would go or not."""
        from codelens.engine.upkeep import view_removal, view_survey

        path = self._index_of(only) if only is not None else None
        return view_removal.overview(
            self.settings.home, view_survey.limits_of(self.settings), only=path
        )

    def drop(self, target: str, *, path: str | Path = ".", force: bool = False) -> Dropped:
        """Remove one view of the repository that `path` lies in.

        Args:
            target: an index id, a branch, a ref, or a worktree's folder.
            path: any path inside a worktree of the repository.
            force: also what is active or pinned.

        Raises:
            SettingError: no view is called so, several are, or it is not removed without force.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.upkeep import view_removal, view_survey

        opened = self._open_any(path)
        limits, key = view_survey.limits_of(self.settings), _key(opened, target)
        named: list[ViewLife] = []

        def dropped(db: Database) -> Dropped:
            found = view_survey.survey(db, limits)
            if not named:
                named.append(view_removal.one_view(found, target, key))
            return view_removal.drop_view(db, found, named[0], force=force)

        try:
            with opened.shelf.lock, opened.shelf.mended():
                return dropped(opened.shelf.db)
        except DiskFull:
            # Some of it may be done.
            file = opened.shelf.path
            with self._closed(file), closing(hold(file)) as db, db.without_log():
                return dropped(db)

    def drop_repository(
        self, *, path: str | Path = ".", repo_id: str = "", force: bool = False
    ) -> Dropped:
        """Remove all views of a repository and, if no other process has it open, its index.

        Saved contexts stay.

        Args:
            path: any path inside a worktree of the repository.
            repo_id: names it instead, when its folders are gone.
            force: also if views are active or pinned.

        Raises:
            SettingError: there is no such index, or it is not removed without force.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.upkeep import view_removal, view_survey

        file = (
            self._index_of(path)
            if not repo_id
            else view_removal.file_of(self.settings.home, repo_id)
        )
        unreadable = barred(file.parent)
        if unreadable is not None:
            raise unreadable
        if not file.exists():
            raise SettingError(
                f"there is no index {str(file)!r}",
                typed="`codelens status --all` lists all",
                called="cl_index with action status lists all",
            )
        with self._closed(file):
            return view_removal.drop_index(file, view_survey.limits_of(self.settings), force=force)

    def pin(
        self,
        target: str = "",
        *,
        path: str | Path = ".",
        pinned: bool = True,
        progress: Progress = silent,
    ) -> Pinned:
        """Keep a view whatever its age, or with `pinned` False no longer.

        Args:
            target: as in `drop`; empty: the view one stands in. To pin a ref that has no view
                makes it.
            path: any path inside a worktree of the repository.
            pinned: whether to pin or to unpin.
            progress: told of long work.

        Raises:
            SettingError: no view is called so, or several are.
            ScopeError, StoreError: as `search`.
        """
        from codelens.engine.upkeep import view_removal, view_survey

        opened = self._open_any(path)
        limits = view_survey.limits_of(self.settings)
        key = _key(opened, target)
        with opened.shelf.lock, opened.shelf.mended():
            found = view_survey.survey(opened.shelf.db, limits)
            named = view_removal.views_called(found, target, key)
        if pinned and key and not named:
            with self._looked(path, target or None, None, progress):
                pass
        with opened.shelf.lock, opened.shelf.mended():
            found = view_survey.survey(opened.shelf.db, limits)
            life = view_removal.one_view(found, target, key)
            if life.pinned == pinned:
                return Pinned(life, False)
            return Pinned(view_removal.pin(opened.shelf.db, found, life, pinned=pinned), True)

    def bring(
        self,
        *,
        path: str | Path = ".",
        ref: str | None = None,
        rebuild: bool = False,
        progress: Progress = silent,
    ) -> StatusAnswer:
        """As `index`, beside other questions: they do not wait for it."""
        opened = self._open(path, ref)
        if rebuild:
            with opened.shelf.lock:
                opened.shelf.rebuild()
        self._bring(opened, progress)
        with self._looked(path, ref, None, silent) as (opened, look):
            return status(look, opened.repository, opened.shelf)

    def _bring(self, opened: Opened, progress: Progress) -> None:
        """Look to the end, on a connection of its own."""
        shelf = Shelf(self.settings, opened.scope)
        try:
            with shelf.mended():
                looked(opened.repository, opened.scope, shelf, self.settings, None, progress)
        finally:
            shelf.close()

    def _open_any(self, path: str | Path) -> Opened:
        try:
            return self._open(path, None)
        except BareRepository:
            return self._open(path, "HEAD")

    def _index_of(self, path: str | Path) -> Path:
        return self._open_any(path).shelf.path

    @contextmanager
    def _closed(self, file: Path) -> Generator[None]:
        """An index that this engine has not open."""
        with self._lock:
            shelf = self._shelves.get(file)
        with shelf.lock if shelf is not None else nullcontext():
            if shelf is not None:
                shelf.close()
            yield


def _key(opened: Opened, target: str) -> str:
    """The scope that a target names: a ref, or where one stands; empty if neither."""
    if not target:
        return opened.scope.key
    try:
        return opened.repository.scope(target).key
    except ScopeError:
        return ""
