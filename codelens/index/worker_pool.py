"""Extracts texts in worker processes or in this one, protected from crashes, hangs and leaks.

One watchdog thread serves all time limits. A timer for each would need a thread for each, and under
a memory limit `Thread.start` of CPython 3.11 can wait forever for a thread that finds no memory to
start.
"""

from __future__ import annotations

import itertools
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from codelens.extract.language_settings import TEXT, language_info
from codelens.home_files import open_regular
from codelens.index.worker_process import Task, extract, read_frame, write_frame
from codelens.store.database.writer_lease import process_start
from codelens.store.facts.resolution_facts import PackedFacts

if TYPE_CHECKING:
    from concurrent.futures import Future


class Watchdog:
    """Calls functions when their time is over; `close` ends its thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[object, tuple[float, Callable[[], None]]] = {}
        self._ends = False
        self._thread = threading.Thread(target=self._watch, name="codelens-watchdog", daemon=True)
        self._thread.start()

    @contextmanager
    def limit(self, seconds: float, give_up: Callable[[], None]) -> Generator[None]:
        """Call `give_up`, from another thread, if the block takes longer than `seconds`."""
        key = object()
        with self._changed:
            self._due[key] = (time.monotonic() + seconds, give_up)
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._due.pop(key, None)

    def close(self) -> None:
        """End the thread; no pending function is called any more."""
        with self._changed:
            self._ends = True
            self._due.clear()
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._ends:
                now = time.monotonic()
                for key in [key for key, (due, _) in self._due.items() if due <= now]:
                    # Under the lock, so that no function is called after its block has ended.
                    self._due.pop(key)[1]()
                next_due = min((due for due, _ in self._due.values()), default=None)
                self._changed.wait(None if next_due is None else max(0.0, next_due - now))


# Records which text this process is extracting, in case the text crashes the process.
#
# A small job runs in this process, and a fault in native code ends the process before anything can
# be caught. So a file next to the index, `index-ID.db.extracting-PID-START-NUMBER`, contains the
# digest of the current text. A later run that finds such a file of a dead process extracts that one
# text in a worker, where a crash or a hang costs only the worker. The file is removed when a worker
# has extracted the text, or when nobody has met the text for a week.

_DIGEST_BYTES = 16
_KEPT_S = 7 * 86_400
"""A text not seen for this long counts as gone."""
_numbers = itertools.count()
"""Each thread of a process has its own mark."""


class CrashMark:
    """The marks of one index: those of dead processes, and this process's. Close it."""

    def __init__(self, index: Path) -> None:
        pid = os.getpid()
        own = f"{index.name}.extracting-{pid}-{process_start(pid)}-{next(_numbers)}"
        self._own = index.with_name(own)
        self._descriptor: int | None = None
        self._dead = dead_marks(index)

    def blames(self, data: bytes) -> bool:
        """Whether a process died while it extracted this text; if so, its mark stays for a week."""
        if not self._dead:
            return False
        digest = _digest(data)
        marks = [file for file, mark in self._dead.items() if mark == digest]
        for file in marks:
            with suppress(OSError):
                os.utime(file)
        return bool(marks)

    def begin(self, data: bytes) -> None:
        """Mark this text as being extracted; best effort, since the folder may not be writable."""
        with suppress(OSError):
            if self._descriptor is None:
                flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
                self._descriptor = os.open(self._own, flags, 0o600)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, _digest(data))

    def forgive(self, data: bytes) -> None:
        """Remove a text's mark: it was extracted elsewhere without a crash."""
        digest = _digest(data)
        for file in [file for file, mark in self._dead.items() if mark == digest]:
            file.unlink(missing_ok=True)
            del self._dead[file]

    def close(self) -> None:
        """Mark that no text is being extracted."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self._own.unlink(missing_ok=True)


def dead_marks(index: Path) -> dict[Path, bytes]:
    """Marks of processes that died while they extracted a text, with its digest."""
    marks_by_file: dict[Path, bytes] = {}
    start = f"{index.name}.extracting-"
    try:
        names = [name for name in os.listdir(index.parent) if name.startswith(start)]
    except OSError:
        return marks_by_file
    for name in names:
        pid, _, rest = name.removeprefix(start).partition("-")
        began = rest.partition("-")[0]
        if pid.isdigit() and began and process_start(int(pid)) == began:
            continue
        file = index.with_name(name)
        with suppress(OSError):
            with open_regular(file) as stream:
                digest = stream.read(_DIGEST_BYTES + 1)
            if len(digest) != _DIGEST_BYTES or time.time() - file.stat().st_mtime > _KEPT_S:
                file.unlink(missing_ok=True)
            else:
                marks_by_file[file] = digest
    return marks_by_file


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()


# Extracts large jobs in worker processes, and small ones in this process.
#
# tree-sitter holds the interpreter's lock, so threads gain nothing. A worker that dies, or that
# hangs for a minute and is killed, is replaced, and its texts are tried one by one. A text that
# fails again, with a limit of three minutes, is stored as plain text with the outcome `broken` or
# `timeout`.

logger = logging.getLogger(__name__)

_OWN_GROUP: dict[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    if os.name == "nt"
    else {"process_group": 0}
)
_BATCH_BYTES = 200_000
_BATCH_TEXTS = 64
_LEAD = 2
"""Batches under way per worker: one being extracted, one waiting."""
LONG_LEAD = 80
"""Batches under way if no answer waits for the results: 16 MB keep the workers busy while a large
segment is stored, which takes seconds. This cut a cold index of Linux's network drivers from 120 s
to 78 s.
"""


HANG_S = 60.0
_HANG_S_PER_BYTE = 20e-6
_PATIENCE = 3
"""Factor for the second try's time limit: the first may fail only because the process was stopped
or starved.

Of Linux's 52,373 files the slowest batch took 20 s, for .6 s of CPU, on a machine with six times as
many busy processes as cores."""
RETIRE_BYTES = 64_000_000
"""A worker is replaced after this many bytes. Two workers grew to 680 and 790 MB when each
extracted half a gigabyte of Linux; starting one costs .3 s of CPU.
"""

_UnderWay = tuple[list[Any], "Future[list[PackedFacts]]"]


class _Hung(OSError):
    """A worker did not answer in time."""


class Extractor(Protocol):
    """Turns texts into facts, in order."""

    def run(self, tasks: Iterable[tuple[Any, Task]]) -> Iterator[tuple[Any, PackedFacts]]:
        """Yield the facts of each task, with what the caller attached to it."""
        ...


class InProcess:
    """Extracts in this process: for small jobs, where starting a worker costs more than it saves.

    Also for texts that one answer needs and nothing stores. A text that crashed a process before,
    or whose grammar leaks memory, still goes to a worker.

    Args:
        index: the index that the facts are for, or None.
        hang_s: as in `WorkerPool`.
    """

    def __init__(self, index: Path | None = None, hang_s: float = HANG_S) -> None:
        self._mark = CrashMark(index) if index is not None else None
        self._hang_s = hang_s
        self._pool: WorkerPool | None = None

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._mark is not None:
            self._mark.close()
        if self._pool is not None:
            self._pool.close()

    def run(self, tasks: Iterable[tuple[Any, Task]]) -> Iterator[tuple[Any, PackedFacts]]:
        """Yield the facts of each task, one at a time."""
        for tag, task in tasks:
            yield tag, self.facts(task)

    def facts(self, task: Task) -> PackedFacts:
        """The facts of one text."""
        mark = self._mark
        if mark is None:
            return extract([task])[0]
        blamed = mark.blames(task.data)
        if blamed or (task.tier == "full" and language_info(task.language or TEXT).leaks):
            if self._pool is None:
                self._pool = WorkerPool(1, self._hang_s)
            facts = next(iter(self._pool.run([(None, task)])))[1]
            if blamed and facts.outcome not in {"broken", "timeout"}:
                mark.forgive(task.data)
            return facts
        mark.begin(task.data)
        return extract([task])[0]


class WorkerPool:
    """Extracts in `count` processes, started when first needed; use it as a context manager.

    Args:
        count: the number of processes.
        hang_s: time limit of a batch at the first try; plus 20 s per megabyte.
        retire_bytes: a worker is replaced after extracting this much.
        lead: batches under way, at least two per worker.
    """

    def __init__(
        self,
        count: int,
        hang_s: float = HANG_S,
        retire_bytes: int = RETIRE_BYTES,
        *,
        lead: int = 0,
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._count = count
        self._lead = max(lead, count * _LEAD)
        self._retire_bytes = retire_bytes
        self._hang_s = hang_s
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="codelens-worker")
        self._watchdog = Watchdog()
        self._all: list[_Worker] = []
        self._lock = threading.Lock()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, tasks: Iterable[tuple[Any, Task]]) -> Iterator[tuple[Any, PackedFacts]]:
        """Yield the facts of each task, in order; reads a few batches ahead of the caller."""
        under_way = deque[_UnderWay]()
        try:
            for tags, batch in _batches(tasks):
                under_way.append((tags, self._threads.submit(self._extract, batch)))
                while len(under_way) >= self._lead or (under_way and under_way[0][1].done()):
                    yield from _results(under_way.popleft())
            while under_way:
                yield from _results(under_way.popleft())
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
        self._watchdog.close()

    def _extract(self, batch: list[Task]) -> list[PackedFacts]:
        try:
            return self._send(batch, self._hang_s)
        except (OSError, EOFError):
            if len(batch) > 1:
                return [facts for task in batch for facts in self._extract([task])]
        # It may have been killed or stopped from outside; a text that fails twice is to blame.
        try:
            return self._send(batch, self._hang_s * _PATIENCE)
        except (OSError, EOFError) as error:
            logger.warning("a text of %d bytes crashed its worker twice", len(batch[0].data))
            return [_as_text(batch[0], "timeout" if isinstance(error, _Hung) else "broken")]

    def _send(self, batch: list[Task], hang_s: float) -> list[PackedFacts]:
        worker = self._take()
        try:
            factses = worker.extract(batch, hang_s, self._watchdog)
        except BaseException:
            worker.end()
            raise
        if worker.done_bytes > self._retire_bytes:
            worker.end()
        else:
            self._idle.put(worker)
        return factses

    def _take(self) -> _Worker:
        with suppress(queue.Empty):
            while True:
                worker = self._idle.get_nowait()
                # If a worker died while idle, the text that it would have received is not to blame.
                if worker.is_alive():
                    return worker
                worker.end()
        worker = _Worker()
        with self._lock:
            self._all.append(worker)
        return worker


class _Worker:
    def __init__(self) -> None:
        self._hung = False
        self.done_bytes = 0
        # -P: do not search the user's current folder for modules; it may be hostile.
        command = [
            sys.executable,
            "-P",
            "-m",
            "codelens.index.worker_process",
            str(os.getpid()),
        ]
        import_path = [entry for entry in sys.path if os.path.isabs(entry)]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(import_path)},
            # Ctrl-C is for the parent, which ends its workers.
            **_OWN_GROUP,
        )

    def is_alive(self) -> bool:
        """Whether its process is running."""
        return self._process.poll() is None

    def extract(self, batch: list[Task], hang_s: float, watchdog: Watchdog) -> list[PackedFacts]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        limit_s = hang_s + _HANG_S_PER_BYTE * sum(len(task.data) for task in batch)
        try:
            with watchdog.limit(limit_s, self._give_up):
                write_frame(stdin, batch)  # type: ignore[arg-type]
                frame = read_frame(stdout)  # type: ignore[arg-type]
        except (OSError, EOFError) as error:
            if self._hung:
                raise _Hung from error
            raise
        self.done_bytes += sum(len(task.data) for task in batch)
        assert isinstance(frame, list)
        return frame  # type: ignore[return-value]

    def _give_up(self) -> None:
        self._hung = True
        self._process.kill()

    def end(self) -> None:
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    logger.debug("a worker's pipe was broken already")
        self._process.wait()


def _as_text(task: Task, outcome: Literal["timeout", "broken"]) -> PackedFacts:
    """The facts of a text that cannot be parsed: its words."""
    return extract([task._replace(tier="text")])[0]._replace(outcome=outcome)


def _results(batch: _UnderWay) -> Iterator[tuple[Any, PackedFacts]]:
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
