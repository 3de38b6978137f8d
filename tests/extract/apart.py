"""Extraction in a fork of this process: a crash or a hang names its text and ends nothing else.

A new interpreter with its imports takes 0.4 s of CPU, a fork a hundredth of that.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Self

from codelens.extract.facts import facts_of


class Child:
    """A process that extracts texts of a language; a new one replaces it if a text kills it."""

    def __init__(self, language: str, killed_s: int, prepare: Callable[[], object] = int) -> None:
        """Starts nothing yet.

        Args:
            language: of the texts.
            killed_s: CPU seconds after which a text kills the process.
            prepare: runs in the process before its first text.
        """
        self._given = language, killed_s, prepare
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()

    def extract(self, text: bytes) -> tuple[str, float]:
        """Outcome and CPU seconds; `killed (code)` if the process did not survive it."""
        if self._process is None:
            self._start()
        assert self._process is not None and self._pipe is not None
        try:
            self._pipe.send_bytes(text)
            return self._pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code, self._process = self._process.exitcode, None
            return f"killed ({code})", float(self._given[1])

    def _start(self) -> None:
        for text in (b"", b"a = 1\n"):
            facts_of(text, self._given[0])  # the grammar is loaded once, before the processes fork
        forking = multiprocessing.get_context("fork")
        self._pipe, theirs = forking.Pipe()
        process = forking.Process(target=_extract_each, args=(theirs, *self._given))
        with may_fork():
            process.start()
        theirs.close()
        self._process = process


def _extract_each(
    texts: Connection, language: str, killed_s: int, prepare: Callable[[], object]
) -> None:
    import resource  # not on Windows

    # A gRPC channel of an earlier test crashes a fork that collects it.
    gc.freeze()
    prepare()
    for text in iter(texts.recv_bytes, None):
        before = time.process_time()
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(before) + killed_s, most))
        outcome = facts_of(text, language).outcome
        texts.send((outcome, time.process_time() - before))


@contextmanager
def may_fork() -> Iterator[None]:
    """Python 3.12 warns of forks next to threads; those of pytest-xdist only wait."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
