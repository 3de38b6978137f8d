"""The standard streams: fit for any character, and for being closed or full."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


class Unwritable(Exception):
    """Stdout takes nothing: it is closed, or its disk is full."""


def prepare() -> None:
    """Make the streams fit for an answer.

    Raises:
        Unwritable: stdout is closed.
    """
    _occupy()
    if _closed(sys.stderr):
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    if _closed(sys.stdin):
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    _speak_utf8(sys.stderr)
    if _closed(sys.stdout):
        raise Unwritable("it is closed")
    _speak_utf8(sys.stdout)


_emitted = [0]


def emitted_bytes() -> int:
    """How much was printed so far."""
    return _emitted[0]


def emit(text: str) -> None:
    """Print a piece of the answer.

    Raises:
        BrokenPipeError: the reader has gone.
        Unwritable: it cannot be written.
    """
    try:
        sys.stdout.write(text)
        _emitted[0] += len(text.encode("utf-8", "replace"))
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise Unwritable(error.strerror or str(error)) from error


def flush() -> None:
    """Send what was printed.

    Raises:
        BrokenPipeError: the reader has gone.
        Unwritable: it cannot be written.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise Unwritable(error.strerror or str(error)) from error


def remark(line: str) -> None:
    """A line on stderr; one that cannot be written must not turn an answer into a failure."""
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Nothing more can be written: what is still kept must not fail again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _occupy() -> None:
    """A file opened later must not get the number of a stream that was closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _closed(stream: TextIO | None) -> bool:
    return stream is None or stream.closed


def _speak_utf8(stream: TextIO) -> None:
    """Names and code hold any character; a stream that cannot show one must not end the run."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None:
        return
    if stream.isatty():
        reconfigure(errors="backslashreplace")
    else:
        reconfigure(encoding="utf-8", errors="backslashreplace")
