r"""The two ends of the client: lines in, replies out; files 0 and 1 are taken from all others.

The SDK is given these instead of the process's own streams: it would open file 0 anew, and lose
what was read ahead of it, before it was there.

JSON may escape half of a surrogate pair (`\ud800`), and clients that cut a text in the midst of
a character send it. The SDK refuses such a line before it knows its id, so that the client would
wait for ever. The half is replaced by U+FFFD, which is what it stands for on any screen.
"""

from __future__ import annotations

import json
import os
import queue
import re
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

RequestId = str | int

REQUEST_BYTES = 8 * 1024 * 1024
"""The most bytes of one request; the largest that an agent sends has a hundredth of it."""
_INVALID_REQUEST = -32600  # JSON-RPC 2.0, section 5.1
_PIECE_BYTES = 64 * 1024
_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,18}|"(?:[^"\\]|\\.){0,200}")')
_SEARCHED = 4096
"""Bytes at both ends of a request that is too large, in which its id is looked for."""

# A pair is one character; `\\` must be passed over as a whole, so that `\\ud800` stays text.
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class Wire(NamedTuple):
    """What the client says, and where it listens."""

    source: BinaryIO
    sink: BinaryIO


def claim() -> Wire:
    """Take files 0 and 1 for the protocol alone.

    Whoever reads file 0 afterwards finds it empty, so that a child cannot eat what the client
    says; what is printed to file 1 goes to stderr.
    """
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    # Never closed: a thread may still wait on the one when the server ends, or write to the other.
    return Wire(os.fdopen(source, "rb", closefd=False), os.fdopen(sink, "wb", closefd=False))


class Lines:
    """Lines for the SDK, as from a text file; `readline` waits for the next one."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()

    def put(self, line: str) -> None:
        """One more line, with its end."""
        self._queue.put(line)

    def end(self) -> None:
        """Nothing comes any more."""
        self._queue.put("")

    def readline(self) -> str:
        """The next line; empty at the end."""
        return self._queue.get()


class Replies:
    """Lines to the client, from any thread, each whole; for the SDK a text file to write to.

    A thread writes them: a client that asks and does not read would else keep the one that listens
    from hearing that it left.

    Args:
        sink: where they go.
        lost: called when the client does not listen any more.
    """

    def __init__(self, sink: BinaryIO, lost: Callable[[], None]) -> None:
        self._sink = sink
        self._lost = lost
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._answered: set[RequestId] = set()
        self._writer = threading.Thread(target=self._write_all, daemon=True)
        self._writer.start()

    def answered(self, identity: RequestId) -> None:
        """A reply to this request was removed out already: the next one to it is dropped."""
        self._answered.add(identity)

    def send(self, message: dict[str, Any]) -> None:
        """One message, as the SDK prints them."""
        self._queue.put(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")

    def write(self, text: str) -> int:
        """One line of the SDK's; not sent on if it answers what was answered."""
        if text and not (self._answered and self._repeats(text)):
            self._queue.put(text)
        return len(text)

    def flush(self) -> None:
        """Nothing waits longer than the lines before it."""

    def close(self, seconds: float) -> None:
        """Write what was said, for so long at most; nothing can be said afterwards."""
        self._queue.put("")
        if threading.current_thread() is not self._writer:
            self._writer.join(seconds)

    def _repeats(self, text: str) -> bool:
        message = json.loads(text)
        identity = message.get("id")
        if "method" in message or identity not in self._answered:
            return False
        self._answered.discard(identity)
        return True

    def _write_all(self) -> None:
        while text := self._queue.get():
            try:
                self._sink.write(text.encode("utf-8", "replace"))
                self._sink.flush()
            except (OSError, ValueError):
                self._lost()
                return


class Oversized(NamedTuple):
    """A request that was too large, and was not kept."""

    size: int
    identity: RequestId | None
    """Its id; None where it was not found."""

    def refusal(self) -> dict[str, Any]:
        """The reply to it."""
        message = (
            f"the request has {self.size:,} bytes; {REQUEST_BYTES:,} is the maximum: send less text"
        )
        error = {"code": _INVALID_REQUEST, "message": message}
        return {"jsonrpc": "2.0", "id": self.identity, "error": error}


def read_line(source: BinaryIO) -> str | Oversized:
    """The next line the client sends, readable for the SDK; empty at the end.

    One that is too large is read to its end, and only its first and last bytes are kept.
    """
    try:
        line = source.readline(REQUEST_BYTES)
        if len(line) == REQUEST_BYTES and not line.endswith(b"\n"):
            return _passed_over(source, line)
    except OSError:
        return ""
    return _mended(line).decode("utf-8", "replace")


def _passed_over(source: BinaryIO, start: bytes) -> Oversized:
    size, head, tail = len(start), start[:_SEARCHED], start[-_SEARCHED:]
    while piece := source.readline(_PIECE_BYTES):
        size += len(piece)
        tail = (tail + piece)[-_SEARCHED:]
        if piece.endswith(b"\n"):
            break
    # The parameters may have an "id" of their own.
    match = _ID.search(head.partition(b'"params"')[0])
    if match is None:
        *_, match = (None, *_ID.finditer(tail))
    return Oversized(size, json.loads(match[1]) if match else None)


def _mended(line: bytes) -> bytes:
    """A line of JSON whose escaped half surrogates are replaced."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPES.sub(lambda match: b"\\ufffd" if match["half"] else match[0], line)
