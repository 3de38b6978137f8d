"""What every question goes through: the scope worked out anew, the look, the index that is open."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

from codelens import config
from codelens.config import Settings
from codelens.engine import background_work
from codelens.engine.current_view import Look, looked
from codelens.engine.open_index import Shelf
from codelens.engine.upkeep.last_use import note_use
from codelens.engine.usage import usage_counter
from codelens.errors import (
    DiskFull,
    HomeNotWritable,
    IndexCorrupt,
    SettingError,
    UnclearWorktree,
)
from codelens.index.progress import Progress
from codelens.scope.repository import Repository, Scope
from codelens.scope.worktree_location import link_out, locate

logger = logging.getLogger(__name__)

_MAX_LIMIT = 1000
_HEAD_TRIES = 3
# A text or regex search may have to read every file; who waits for a fresh view waits for that.
_READ_S, _READ_BUDGETED_S = 30.0, 2.0


class Opened(NamedTuple):
    """A repository, where one stands in it, and its index."""

    repository: Repository
    scope: Scope
    shelf: Shelf


class Door:
    """Opens the indexes of any number of repositories, one turn at a time each.

    Args:
        settings: as `codelens.config.load` gives them; None loads them.
        keep_going: finish in the background what a budget cut off; for servers.
    """

    def __init__(self, settings: Settings | None = None, *, keep_going: bool = False) -> None:
        self.settings = settings or config.load()
        self._shelves: dict[Path, Shelf] = {}
        self._lock = threading.Lock()
        self._background = background_work.Background(self.settings) if keep_going else None
        if self._background is not None:
            self._background.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the open indexes; work in the background is given up."""
        if self._background is not None:
            self._background.stop()
        with self._lock:
            for shelf in self._shelves.values():
                shelf.close()
            self._shelves.clear()

    def _settled(
        self,
        opened: Opened,
        look: Look,
        ref: str | None,
        budget_ms: float | None,
        progress: Progress,
        query: str,
    ) -> Look:
        """The look, taken again if HEAD moved meanwhile: a receipt must not name another tree."""
        for _ in range(_HEAD_TRIES):
            now = opened.repository.scope(ref)
            if now == look.scope:
                return look
            look = looked(
                opened.repository, now, opened.shelf, self.settings, budget_ms, progress, query
            )
        note = "HEAD moved during the look; ask again"
        look.refreshed = look.refreshed._replace(status="partial", note=note)
        return look

    def _open(self, path: str | Path, ref: str | None) -> Opened:
        if ref is not None and not ref.strip():
            raise SettingError("the ref is empty; name a branch, tag or commit, or leave it out")
        repository = Repository.at(path)
        scope = repository.scope(ref)
        usage_counter.stands(scope)
        return Opened(repository, scope, self._shelf(scope))

    def _shelf(self, scope: Scope) -> Shelf:
        with self._lock:
            file = Shelf.file_of(self.settings, scope)
            shelf = self._shelves.get(file)
            if shelf is None:
                shelf = self._shelves[file] = Shelf(self.settings, scope)
            return shelf

    @contextmanager
    def _looked(
        self,
        path: str | Path,
        ref: str | None,
        budget_ms: float | None,
        progress: Progress,
        query: str = "",
    ) -> Generator[tuple[Opened, Look]]:
        opened = self._open(path, ref)
        asked = (opened.repository, opened.scope, opened.shelf, self.settings, budget_ms)
        with opened.shelf.lock, opened.shelf.mended():
            try:
                look = looked(*asked, progress, query)
            except IndexCorrupt as error:
                logger.warning("%s", error)
                opened.shelf.set_aside()
                look = looked(*asked, progress, query)
            except (DiskFull, HomeNotWritable) as error:
                opened.shelf.stand_in(error)
                look = looked(*asked, progress, query)
            look = self._settled(opened, look, ref, budget_ms, progress, query)
            if opened.shelf.standing_in:
                note = f"answered from memory: {opened.shelf.standing_in}"
                look.refreshed = look.refreshed._replace(note=note)
            if look.refreshed.status == "partial" and self._background is not None:
                self._background.finish(opened.repository.place.root, ref)
            try:
                yield opened, look
            finally:
                opened.repository.release()
            note_use(look)


def root_of(path: str | Path) -> str:
    """The top of the worktree, or the plain folder, that `path` lies in.

    Raises:
        ScopeError: there is no such path, or it is never indexed.
    """
    return locate(path).root


def refuse_link_out(path: str | Path, own: Callable[[], set[str]]) -> None:
    """Refuse a path that leaves its worktree by a link of that worktree.

    Args:
        path: any path.
        own: tells the worktrees that are meant anyway; a link may lead to those.

    Raises:
        UnclearWorktree: always when it refuses.
    """
    out = link_out(path)
    if out is not None and root_of(path) not in own():
        why = f"{path} leaves {out.worktree} by its link {out.link}, to {out.target}"
        raise UnclearWorktree(why, [out.worktree, out.target])


def in_range(limit: int) -> None:
    """Refuse a number of results that no question takes.

    Raises:
        SettingError: always when it refuses.
    """
    if not 1 <= limit <= _MAX_LIMIT:
        raise SettingError(f"limit must be between 1 and {_MAX_LIMIT}, not {limit}")


def seconds_to_read(budget_ms: float | None) -> float:
    """How long a question may work after the look: longer for who waits for a fresh view."""
    return _READ_S if budget_ms is None else _READ_BUDGETED_S
