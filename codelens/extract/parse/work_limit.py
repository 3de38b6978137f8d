"""How much CPU the extraction of one text may take, whatever step it is in.

A parse has limits of its own (`captures`); repairs parse several times, and what follows walks
trees that a hopeless text can make of any shape. So the whole has a limit too, far above what a
sound text takes (2 to 5 us a byte), asked at each symbol and at each 64th piece of text read.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

_BASE_S = 3.0
_PER_BYTE_S = 1e-5
_STACK_BYTES = 256 << 20


class ParseTimeout(Exception):
    """A text takes more work than any sound text of its size does."""


class CpuLimit:
    """So much of the CPU time of the thread that makes it and asks.

    Reading that clock is a call of the kernel (.6 us, a twelfth of an extraction), and the clock on
    the wall a twelfth of it. No thread uses more CPU than passes on the wall.
    """

    __slots__ = ("_deadline", "_unreached_until")

    def __init__(self, allowed_s: float) -> None:
        self._unreached_until = time.monotonic() + allowed_s
        self._deadline = time.thread_time() + allowed_s

    def is_reached(self) -> bool:
        """Whether the thread has used it all."""
        return time.monotonic() >= self._unreached_until and self.left_s() <= 0

    def left_s(self) -> float:
        """What is left of it, in seconds."""
        now = time.monotonic()
        left = self._deadline - time.thread_time()
        self._unreached_until = now + left
        return left

    def use(self, used_s: float) -> None:
        """Count what another thread did for this one."""
        self._deadline -= used_s
        self._unreached_until -= used_s


class _Work(threading.local):
    limit = CpuLimit(math.inf)


_work = _Work()
_starting = threading.Lock()


@contextmanager
def limited(size: int) -> Generator[None]:
    """What this thread does in the block is for one text of so many bytes."""
    before = _work.limit
    _work.limit = CpuLimit(_BASE_S + size * _PER_BYTE_S)
    try:
        yield
    finally:
        _work.limit = before


def check_work() -> None:
    """Give up if it is too much.

    Raises:
        ParseTimeout: the text took more CPU than it may.
    """
    if _work.limit.is_reached():
        raise ParseTimeout("took more time than any sound text of its size")


def with_deep_stack(work: Callable[[], T]) -> T:
    """What `work` gives, done by a thread whose stack is far larger; its CPU counts here.

    tree-sitter (0.26.1) frees its parser's stack by recursion: over 256 kB of `{-` in C that is
    87,000 frames, which ends a process whose stack has the usual 8 MB. Where no such thread can
    be started it is done here.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    left = _work.limit.left_s()
    used = 0.0

    def run() -> None:
        nonlocal used
        _work.limit = CpuLimit(left)
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        used = time.thread_time()

    thread = threading.Thread(target=run, name="codelens-parse", daemon=True)
    with _starting:
        before = threading.stack_size(_STACK_BYTES)
        try:
            thread.start()
        except RuntimeError:
            return work()
        finally:
            threading.stack_size(before)
    thread.join()
    _work.limit.use(used)
    if errors:
        raise errors[0]
    return results[0]


def cpu_left_s() -> float:
    """Seconds of CPU that this thread may still spend on the text."""
    return _work.limit.left_s()
