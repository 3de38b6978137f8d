"""Extraction in worker processes for large jobs, in this process for small ones.

tree-sitter holds the interpreter's lock, so threads gain nothing (MEASURED.md). A worker that
dies is replaced; the text it died on is tried once alone, and if it kills again it is kept as
text with the outcome `broken`.
"""

from __future__ import annotations

import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from codelens.index.worker import Task, extract, read_frame, write_frame
from codelens.types import Facts

logger = logging.getLogger(__name__)

_OWN_GROUP: dict[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if os.name == "nt"
    else {"process_group": 0}
)
_BATCH_BYTES = 200_000
_BATCH_TEXTS = 64
_LEAD = 2
"""Batches under way for each worker: one in hand, one waiting."""


_UnderWay = tuple[list[Any], "Future[list[Facts]]"]


class Extractor(Protocol):
    """Turns texts into facts, in their order."""

    def run(self, tasks: Iterable[tuple[Any, Task]]) -> Iterator[tuple[Any, Facts]]:
        """Facts for each task, with what the caller attached to it."""
        ...


class InProcess:
    """Extraction here: for small jobs, where starting a process costs more than it saves."""

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""

    def run(self, tasks: Iterable[tuple[Any, Task]]) -> Iterator[tuple[Any, Facts]]:
        """Facts for each task, one at a time."""
        for tag, task in tasks:
            yield tag, extract([task])[0]


class WorkerPool:
    """Extraction in `count` processes, started when first needed; use as a context manager."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="codelens-worker")
        self._all: list[_Worker] = []
        self._lock = threading.Lock()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, tasks: Iterable[tuple[Any, Task]]) -> Iterator[tuple[Any, Facts]]:
        """Facts for each task, in order; reads a few batches ahead of what was taken."""
        under_way: list[_UnderWay] = []
        try:
            for tags, batch in _batches(tasks):
                under_way.append((tags, self._threads.submit(self._extract, batch)))
                if len(under_way) >= self._count * _LEAD:
                    yield from _results(under_way.pop(0))
            while under_way:
                yield from _results(under_way.pop(0))
        finally:
            for _, future in under_way:
                future.cancel()

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            for worker in self._all:
                worker.end()
            self._all.clear()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _extract(self, batch: list[Task]) -> list[Facts]:
        try:
            return self._send(batch)
        except (OSError, EOFError):
            if len(batch) > 1:
                return [facts for task in batch for facts in self._extract([task])]
        # It may have been killed from outside; a text that kills twice is to blame.
        try:
            return self._send(batch)
        except (OSError, EOFError):
            logger.warning("a text of %d bytes ended its worker twice", len(batch[0].data))
            plain = extract([batch[0]._replace(tier="text")])[0]
            return [plain._replace(outcome="broken")]

    def _send(self, batch: list[Task]) -> list[Facts]:
        worker = self._take()
        try:
            found = worker.extract(batch)
        except BaseException:
            worker.end()
            raise
        self._idle.put(worker)
        return found

    def _take(self) -> _Worker:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            worker = _Worker()
            with self._lock:
                self._all.append(worker)
            return worker


class _Worker:
    def __init__(self) -> None:
        # -P: the folder a user stands in is never searched for modules; it may be hostile.
        command = [sys.executable, "-P", "-m", "codelens.index.worker"]
        known = [entry for entry in sys.path if os.path.isabs(entry)]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(known)},
            # Ctrl-C is for the parent, which ends its workers itself.
            **_OWN_GROUP,
        )

    def extract(self, batch: list[Task]) -> list[Facts]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        write_frame(stdin, batch)  # type: ignore[arg-type]
        found = read_frame(stdout)  # type: ignore[arg-type]
        assert isinstance(found, list)
        return found  # type: ignore[return-value]

    def end(self) -> None:
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    logger.debug("a worker's pipe was broken already")
        self._process.wait()


def _results(batch: _UnderWay) -> Iterator[tuple[Any, Facts]]:
    tags, future = batch
    return zip(tags, future.result(), strict=True)


def _batches(tasks: Iterable[tuple[Any, Task]]) -> Iterator[tuple[list[Any], list[Task]]]:
    tags: list[Any] = []
    batch: list[Task] = []
    size = 0
    for tag, task in tasks:
        tags.append(tag)
        batch.append(task)
        size += len(task.data)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_TEXTS:
            yield tags, batch
            tags, batch, size = [], [], 0
    if batch:
        yield tags, batch
