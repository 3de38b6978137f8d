"""A worker process: reads batches of texts on stdin, writes their facts on stdout.

`python -P -m codelens.index.worker_process PARENT`. A frame is a four-byte length and a pickle. The
process ends when stdin closes, and during an extraction when its parent dies: on Linux at once, on
other POSIX systems within five minutes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
from typing import BinaryIO, NamedTuple

from codelens.store.facts.resolution_facts import PackedFacts, pack_facts
from codelens.types import Tier

_LENGTH = 4
_PR_SET_PDEATHSIG = 1
_ALARM_S = 300
"""Longer than a parent waits for any batch."""
_MEMORY = 2 << 30
"""Address space of a worker, in bytes; extracting 1 MB, the largest text, takes under 300 MB."""


class Task(NamedTuple):
    """One text to extract."""

    data: bytes
    language: str
    tier: Tier


def write_frame(stream: BinaryIO, value: object) -> None:
    """Send one value."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, "big"))
    stream.write(data)
    stream.flush()


def read_frame(stream: BinaryIO) -> object:
    """Receive one value; only from the parent or child process, since it is a pickle.

    Raises:
        EOFError: the other side is gone.
    """
    head = stream.read(_LENGTH)
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == _LENGTH else b""
    if len(head) < _LENGTH or len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - both ends are this program


def extract(tasks: list[Task]) -> list[PackedFacts]:
    """Facts of each text."""
    # Imported late: a question with a fresh view extracts nothing, and tree-sitter costs 55 ms.
    from codelens.extract.facts import facts_of
    from codelens.meaning.text_vectors import with_vectors

    return [
        pack_facts(with_vectors(facts_of(task.data, task.language, task.tier))) for task in tasks
    ]


def main() -> None:
    """Serve until the parent closes stdin."""
    # Facts have no cycles, so garbage is collected between two batches, when almost nothing else is
    # in memory: during a batch it costs 2 to 3 % of the extraction.
    gc.disable()
    _limit_memory()
    _die_with_parent()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    # Stray prints must not corrupt the frames.
    sys.stdout = sys.stderr
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            tasks = read_frame(source)
            assert isinstance(tasks, list)
            _set_alarm(_ALARM_S)
            write_frame(sink, extract(tasks))  # type: ignore[arg-type]
            _set_alarm(0)
            del tasks
            # The remaining objects are caches: freeze them after one scan.
            gc.collect()
            gc.freeze()


def _die_with_parent() -> None:
    """Have the kernel end this process when its parent is killed."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes
    import signal

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The parent may have died before that.
    if len(sys.argv) > 1 and os.getppid() != int(sys.argv[1]):
        sys.exit(0)


def _set_alarm(seconds: int) -> None:
    """End this process after `seconds`, even in hanging native code; 0 cancels the alarm."""
    import signal

    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def _limit_memory() -> None:
    """Limit memory, so that a text on which tree-sitter grows forever only kills its worker."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MEMORY if most == resource.RLIM_INFINITY else min(most, _MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


if __name__ == "__main__":
    main()
