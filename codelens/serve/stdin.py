r"""Stdin for the SDK, with what its JSON reader would drop without an answer made readable.

JSON may escape half of a surrogate pair (`\ud800`), and clients that cut a text in the midst of
a character send it. The SDK refuses such a line before it knows its id, so that the client would
wait for ever. The half is replaced by U+FFFD, which is what it stands for on any screen.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# A pair is one character; `\\` must be passed over as a whole, so that `\\ud800` stays text.
_ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def divert() -> None:
    """Let `sys.stdin` read mended lines from a duplicate; file 0 is empty for all others.

    A child that inherits file 0 must not eat what the client says.
    """
    private = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # Never closed: a thread may still wait on it when the server ends.
    wire = os.fdopen(private, "rb", closefd=False)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(Mended(wire)), "utf-8", "replace")


def mended(line: bytes) -> bytes:
    """A line of JSON whose escaped half surrogates are replaced."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPES.sub(lambda match: b"\\ufffd" if match["half"] else match[0], line)


class Mended(io.RawIOBase):
    """Reads `wire` by lines, each as `mended` has it."""

    def __init__(self, wire: BinaryIO) -> None:
        self._wire = wire
        self._left = b""

    def readable(self) -> bool:
        """It is only read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """As much of one line as fits; 0 at the end."""
        room = memoryview(buffer).cast("B")
        if not self._left:
            self._left = mended(self._wire.readline())
        given, self._left = self._left[: len(room)], self._left[len(room) :]
        room[: len(given)] = given
        return len(given)
