"""A worker process: reads batches of texts on stdin, writes their facts on stdout.

`python -P -m codelens.index.worker`. A frame is a length in four bytes and a pickle. It ends
when stdin does, so it never outlives its parent by more than the text in hand.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from typing import BinaryIO, NamedTuple

from codelens.types import Facts, Tier

_LENGTH = 4
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
    """Receive one value, from our own parent or child alone.

    Raises:
        EOFError: the other side is gone.
    """
    head = stream.read(_LENGTH)
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == _LENGTH else b""
    if len(head) < _LENGTH or len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - both ends are this program


def extract(tasks: list[Task]) -> list[Facts]:
    """Facts of each text."""
    # Late: a question whose view is fresh extracts nothing, and tree-sitter costs 55 ms.
    from codelens.extract.facts import facts_of

    return [facts_of(task.data, task.language, task.tier) for task in tasks]


def main() -> None:
    """Serve until the parent closes stdin."""
    _limit_memory()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    # Whatever prints by mistake must not break the frames.
    sys.stdout = sys.stderr
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            tasks = read_frame(source)
            assert isinstance(tasks, list)
            write_frame(sink, extract(tasks))  # type: ignore[arg-type]


def _limit_memory() -> None:
    """A text that makes tree-sitter grow without end kills its worker, not the machine."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MEMORY if most == resource.RLIM_INFINITY else min(most, _MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


if __name__ == "__main__":
    main()
