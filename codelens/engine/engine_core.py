"""The base of `Engine`: settings, open indexes, and the sync of vectors in the background."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from codelens import config
from codelens.engine.current_view import ViewRequest
from codelens.engine.index_pool import IndexPool
from codelens.paths import VECTORS_FOLDER

# Each capability is imported on first use: a search needs only one of them.
if TYPE_CHECKING:
    from codelens.config import Settings
    from codelens.engine.embedding.vector_sync import BackgroundSync


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
        from codelens.engine.embedding.provider_consent import is_enabled
        from codelens.engine.embedding.vector_sync import sync

        # A separate pool: no call waits for the sync, and the sync does not count as a call.
        pool = IndexPool(self.settings)
        try:
            if is_enabled(self.settings, pool.open(root, None).scope.repo_id):
                sync(pool, ViewRequest(root))
        finally:
            pool.close()
