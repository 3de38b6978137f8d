"""Vectors in a server: worktrees that were asked about are synced soon after, and now and then.

One thread, one worktree at a time; of several questions about one worktree one sync comes. Nothing
is done where no provider is enabled, and a server that ends waits for nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from codelens.errors import CodelensError, IndexLocked

logger = logging.getLogger(__name__)


class Pauses(NamedTuple):
    """When a worktree is synced, in seconds."""

    first_s: float = 5.0
    """After the first question about it."""
    between_s: float = 180.0
    """From one sync of it to the next, if there was a question since."""


USUAL = Pauses()


class BackgroundSync:
    """Syncs worktrees that were asked about.

    Args:
        sync: brings the vectors of a worktree up to date, by its root; raises `CodelensError`.
        pauses: when.
    """

    def __init__(self, sync: Callable[[str], object], pauses: Pauses = USUAL) -> None:
        self._sync = sync
        self._pauses = pauses
        self._due: dict[str, float] = {}
        """Root -> when it is synced next."""
        self._earliest: dict[str, float] = {}
        """Root -> not before."""
        self._wake = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def note(self, root: str) -> None:
        """A question was asked about a worktree with an enabled provider."""
        with self._wake:
            soon = time.monotonic() + self._pauses.first_s
            self._due.setdefault(root, max(soon, self._earliest.get(root, 0.0)))
            if self._thread is None and not self._stopping:
                # A daemon: the process ends with its client, and each request's answer is stored.
                self._thread = threading.Thread(
                    target=self._run, name="codelens-vectors", daemon=True
                )
                self._thread.start()
            self._wake.notify()

    def stop(self) -> None:
        """Begin no sync any more."""
        with self._wake:
            self._stopping = True
            self._wake.notify()

    def _run(self) -> None:
        while (root := self._next()) is not None:
            try:
                self._sync(root)
            except IndexLocked as error:
                logger.debug("vectors of %s: %s", root, error)
            except CodelensError as error:
                logger.warning("syncing the vectors of %s failed: %s", root, error)
            except Exception:
                logger.exception("syncing the vectors of %s failed", root)

    def _next(self) -> str | None:
        """The root to be synced now; None when the server ends."""
        with self._wake:
            while not self._stopping:
                now = time.monotonic()
                root = min(self._due, key=lambda root: self._due[root], default=None)
                if root is not None and self._due[root] <= now:
                    del self._due[root]
                    self._earliest[root] = now + self._pauses.between_s
                    return root
                self._wake.wait(None if root is None else self._due[root] - now)
            return None
