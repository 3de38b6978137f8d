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


class _Work(threading.local):
    deadline = math.inf
    """Of this thread's CPU time."""


_work = _Work()
_starting = threading.Lock()


@contextmanager
def limited(size: int) -> Generator[None]:
    """What this thread does in the block is for one text of so many bytes."""
    before = _work.deadline
    _work.deadline = time.thread_time() + _BASE_S + size * _PER_BYTE_S
    try:
        yield
    finally:
        _work.deadline = before


def check_work() -> None:
    """Give up if it is too much.

    Raises:
        ParseTimeout: the text took more CPU than it may.
    """
    if time.thread_time() > _work.deadline:
        raise ParseTimeout("took more time than any sound text of its size")


def with_deep_stack(work: Callable[[], T]) -> T:
    """What `work` gives, done by a thread whose stack is far larger; its CPU counts here.

    tree-sitter (0.26.1) frees its parser's stack by recursion: over 256 kB of `{-` in C that is
    87,000 frames, which ends a process whose stack has the usual 8 MB. Where no such thread can
    be started it is done here.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    left = _work.deadline - time.thread_time()
    used = 0.0

    def run() -> None:
        nonlocal used
        _work.deadline = time.thread_time() + left
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
    _work.deadline -= used
    if errors:
        raise errors[0]
    return results[0]


def cpu_left_s() -> float:
    """Seconds of CPU that this thread may still spend on the text."""
    return _work.deadline - time.thread_time()
