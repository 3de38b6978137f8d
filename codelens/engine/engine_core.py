"""The base of `Engine`: settings, open indexes, and capabilities, created on first use."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from codelens import config
from codelens.engine.index_pool import IndexPool
from codelens.paths import VECTORS_FOLDER

# Each capability is imported on first use: a search needs only one of them.
if TYPE_CHECKING:
    from codelens.config import Settings
    from codelens.engine.contexts.recovery import Recovery
    from codelens.engine.contexts.saved_contexts import SavedContexts
    from codelens.engine.embedding.vector_sync import BackgroundSync
    from codelens.engine.explore_query import TaskExplorer
    from codelens.engine.graph.graph_queries import GraphQueries
    from codelens.engine.reading.code_reader import CodeReader
    from codelens.engine.reading.search_hits import JointReader
    from codelens.engine.upkeep.fact_packs import FactPacks
    from codelens.engine.upkeep.usage_counter import UsageReports
    from codelens.engine.upkeep.view_removal import IndexUpkeep
    from codelens.engine.versions.version_queries import VersionQueries


def unnoticed() -> Settings:
    """Settings for internal calls: they leave no session trail and no usage."""
    return replace(config.load(), usage=False, trail=False, sent=False)


class EngineCore:
    """Settings, open indexes and capabilities; `Engine` adds the methods.

    Args:
        settings: as `codelens.config.load` returns them; None loads them.
        keep_going: finish in the background the work that exceeded a budget; for servers.
    """

    now_s: Callable[[], float] = staticmethod(time.time)
    """Seconds since 1970; for times to live."""

    def __init__(self, settings: Settings | None = None, *, keep_going: bool = False) -> None:
        self.settings: Settings = settings or config.load()
        self._vectors: BackgroundSync | None = None
        self.pool = IndexPool(
            self.settings,
            keep_going=keep_going,
            on_question=self._sync_soon if keep_going else None,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the open indexes and abandon background work."""
        if self._vectors is not None:
            self._vectors.stop()
        self.pool.close()

    def _sync_soon(self, root: str) -> None:
        """Sync the vectors of a worktree soon, if any repository ever had a provider."""
        if not (self.settings.home / VECTORS_FOLDER).is_dir():
            return
        if self._vectors is None:
            from codelens.engine.embedding.vector_sync import BackgroundSync

            self._vectors = BackgroundSync(self._sync_vectors)
        self._vectors.note(root)

    def _sync_vectors(self, root: str) -> None:
        from codelens.engine.current_view import ViewRequest
        from codelens.engine.embedding.provider_consent import is_enabled
        from codelens.engine.embedding.vector_sync import sync

        # A separate pool: no call waits for the sync, and the sync does not count as a call.
        pool = IndexPool(self.settings)
        try:
            if is_enabled(self.settings, pool.open(root, None).scope.repo_id):
                sync(pool, ViewRequest(root))
        finally:
            pool.close()

    @cached_property
    def reader(self) -> CodeReader:
        """See `CodeReader`."""
        from codelens.engine.reading.code_reader import CodeReader

        return CodeReader(self.pool, self._now)

    @cached_property
    def joint_reader(self) -> JointReader:
        """See `JointReader`."""
        from codelens.engine.reading.search_hits import JointReader

        return JointReader(self.pool)

    @cached_property
    def explorer(self) -> TaskExplorer:
        """See `TaskExplorer`."""
        from codelens.engine.explore_query import TaskExplorer

        return TaskExplorer(self.pool, self._now)

    @cached_property
    def graph(self) -> GraphQueries:
        """See `GraphQueries`."""
        from codelens.engine.graph.graph_queries import GraphQueries

        return GraphQueries(self.pool, self._now)

    @cached_property
    def versions(self) -> VersionQueries:
        """See `VersionQueries`."""
        from codelens.engine.versions.version_queries import VersionQueries

        return VersionQueries(self.pool)

    @cached_property
    def contexts(self) -> SavedContexts:
        """See `SavedContexts`."""
        from codelens.engine.contexts.saved_contexts import SavedContexts

        return SavedContexts(self.pool, self._now)

    @cached_property
    def packs(self) -> FactPacks:
        """See `FactPacks`."""
        from codelens.engine.upkeep.fact_packs import FactPacks

        return FactPacks(self.pool)

    @cached_property
    def recovery(self) -> Recovery:
        """See `Recovery`."""
        from codelens.engine.contexts.recovery import Recovery

        return Recovery(self.pool, self.contexts, self.versions, self._now)

    @cached_property
    def upkeep(self) -> IndexUpkeep:
        """See `IndexUpkeep`."""
        from codelens.engine.upkeep.view_removal import IndexUpkeep

        return IndexUpkeep(self.pool)

    @cached_property
    def usage_reports(self) -> UsageReports:
        """See `UsageReports`."""
        from codelens.engine.upkeep.usage_counter import UsageReports

        return UsageReports(self.settings, self._now)

    def _now(self) -> float:
        # Looks up `self.now_s` at each call: a test may replace it.
        return self.now_s()
