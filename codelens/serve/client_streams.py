r"""Reads lines from the client and writes replies; keeps files 0 and 1 for the protocol alone.

The SDK uses these streams instead of the process's own: it would open file 0 again and lose what
was read before it was imported.

JSON may escape half of a surrogate pair (`\ud800`), and clients that cut a text within a character
send it. The SDK rejects such a line before it knows its id, and the client would wait for ever. So
each half is replaced by U+FFFD, the replacement character.
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
"""Maximum size of a request; the largest ones of agents have a hundredth of it."""
_INVALID_REQUEST = -32600  # JSON-RPC 2.0, section 5.1
_PIECE_BYTES = 64 * 1024
_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,18}|"(?:[^"\\]|\\.){0,200}")')
_SEARCHED = 4096
"""How many bytes at both ends of a request that is too large are searched for its id."""

# A pair is one character; `\\` must be matched as a whole, so that `\\ud800` stays text.
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class Wire(NamedTuple):
    """The streams from and to the client."""

    source: BinaryIO
    sink: BinaryIO


def claim() -> Wire:
    """Reserve files 0 and 1 for the protocol.

    Afterwards file 0 is empty for all other readers, so that a child process cannot consume the
    client's lines, and text printed to file 1 goes to stderr.
    """
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    # These are never closed: when the server ends, a thread may still read from the one or write to
    # the other.
    return Wire(os.fdopen(source, "rb", closefd=False), os.fdopen(sink, "wb", closefd=False))


class Lines:
    """Lines for the SDK, as from a text file; `readline` waits for the next one."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()

    def put(self, line: str) -> None:
        """Add a line, including its line end."""
        self._queue.put(line)

    def end(self) -> None:
        """End the stream."""
        self._queue.put("")

    def readline(self) -> str:
        """The next line; empty at the end."""
        return self._queue.get()


class Replies:
    """Sends whole lines to the client, from any thread; the SDK uses it as a text file.

    A separate thread writes them. Otherwise a client that sends but does not read would block the
    listening thread, which would not notice that the client left.

    Args:
        sink: the stream to the client.
        lost: called when the client no longer reads.
    """

    def __init__(self, sink: BinaryIO, lost: Callable[[], None]) -> None:
        self._sink = sink
        self._lost = lost
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._answered: set[RequestId] = set()
        self._writer = threading.Thread(target=self._write_all, daemon=True)
        self._writer.start()

    def answered(self, identity: RequestId) -> None:
        """Drop the next reply to this request: it was already answered."""
        self._answered.add(identity)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message in the SDK's format."""
        self._queue.put(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")

    def write(self, text: str) -> int:
        """Send a line of the SDK, unless it replies to an answered request."""
        if text and not (self._answered and self._repeats(text)):
            self._queue.put(text)
        return len(text)

    def flush(self) -> None:
        """Do nothing: lines are sent as soon as possible."""

    def close(self, seconds: float) -> None:
        """Write the pending lines, for at most this long, and accept no more."""
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
    """A request that was too large and was discarded."""

    size: int
    identity: RequestId | None
    """Its id; None if it was not found."""

    def refusal(self) -> dict[str, Any]:
        """The reply to it."""
        message = (
            f"the request has {self.size:,} bytes; {REQUEST_BYTES:,} is the maximum: send less text"
        )
        error = {"code": _INVALID_REQUEST, "message": message}
        return {"jsonrpc": "2.0", "id": self.identity, "error": error}


def read_line(source: BinaryIO) -> str | Oversized:
    """The client's next line, in a form that the SDK can parse; empty at the end.

    A line that is too large is read to its end, but only its first and last bytes are kept.
    """
    try:
        line = source.readline(REQUEST_BYTES)
        if len(line) == REQUEST_BYTES and not line.endswith(b"\n"):
            return _discard_line(source, line)
    except OSError:
        return ""
    return _without_half_surrogates(line).decode("utf-8", "replace")


def _discard_line(source: BinaryIO, start: bytes) -> Oversized:
    size, head, tail = len(start), start[:_SEARCHED], start[-_SEARCHED:]
    while piece := source.readline(_PIECE_BYTES):
        size += len(piece)
        tail = (tail + piece)[-_SEARCHED:]
        if piece.endswith(b"\n"):
            break
    # The parameters may also contain an "id".
    match = _ID.search(head.partition(b'"params"')[0])
    if match is None:
        *_, match = (None, *_ID.finditer(tail))
    return Oversized(size, json.loads(match[1]) if match else None)


def _without_half_surrogates(line: bytes) -> bytes:
    """A line of JSON whose escaped half surrogates are replaced."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPES.sub(lambda match: b"\\ufffd" if match["half"] else match[0], line)
