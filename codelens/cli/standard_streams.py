"""The standard streams: fit for any character, and for being closed or full."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TextIO

from codelens.cli.exit_codes import FAILED

_OBEYED = re.compile(
    r"\x1b(?!\[(?:0|1|2|31|32|33|35|36)m)"
    r"|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


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
    _stdin_closed[0] = _closed(sys.stdin)
    if _stdin_closed[0]:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    _speak_utf8(sys.stderr)
    if _closed(sys.stdout):
        raise Unwritable("it is closed")
    _speak_utf8(sys.stdout)


_stdin_closed = [False]


def stdin_text() -> str:
    """All that comes from stdin.

    Raises:
        ReadError: it is closed.
    """
    from codelens.errors import ReadError

    if _stdin_closed[0]:
        raise ReadError("stdin is closed, so `-` has nothing to read; pipe text in")
    return sys.stdin.read()


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
        sys.stdout.write(_tame(text, sys.stdout))
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
        sys.stderr.write(f"{_tame(line, sys.stderr)}\n")
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def _tame(text: str, stream: TextIO) -> str:
    """`text` without what a terminal would obey, our own styles aside.

    The last gate behind `codelens.render.text_pieces.safe`, on every way to a terminal: what a
    repository names or holds must never move a cursor. In JSON's form, for it may be JSON.
    """
    if not stream.isatty():
        return text
    return _OBEYED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


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


def fail(message: str) -> int:
    """Say on stderr what went wrong; the exit code for it."""
    from codelens.render.text_pieces import one_line

    remark(f"codelens: error: {one_line(message)}")
    return FAILED
