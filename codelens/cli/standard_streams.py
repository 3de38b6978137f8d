"""Makes the standard streams cope with any character, and with being closed or full."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self, TextIO

from codelens.cli.command_examples import FAILED

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_OBEYED = r"\x1b(?!\[(?:0|1|2|31|32|33|35|36)m)|[\x00-\x08\x0b-\x1a\x1c-\x1f"
"""The pattern up to the middle of a character class, which `HIDDEN` completes."""


class Unwritable(Exception):
    """Stdout cannot be written: it is closed, or its disk is full."""


def prepare() -> None:
    """Replace closed streams and set the encoding of all.

    Raises:
        Unwritable: stdout is closed.
    """
    _reserve_closed()
    if _closed(sys.stderr):
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    _stdin_closed[0] = _closed(sys.stdin)
    if _stdin_closed[0]:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    _use_utf8(sys.stderr)
    if _closed(sys.stdout):
        raise Unwritable("it is closed")
    _use_utf8(sys.stdout)


_stdin_closed = [False]


def stdin_text() -> str:
    """Read all of stdin.

    Raises:
        ReadError: stdin is closed.
    """
    from codelens.errors import ReadError

    if _stdin_closed[0]:
        raise ReadError("stdin is closed, so `-` has nothing to read; pipe text in")
    return sys.stdin.read()


_emitted = [0]


def emitted_bytes() -> int:
    """The number of bytes printed so far."""
    return _emitted[0]


def emit(text: str) -> None:
    """Print a part of the answer.

    Raises:
        BrokenPipeError: the reader has closed the pipe.
        Unwritable: stdout cannot be written.
    """
    _emitted[0] += len(text.encode("utf-8", "replace"))
    escaped = _escape_controls(text, sys.stdout)
    if _held:
        _held[-1].append((_write, escaped))
    else:
        _write(escaped)


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise Unwritable(error.strerror or str(error)) from error


Held = list[tuple[Callable[[str], None], str]]
"""Texts that are not written yet, each with the function that writes it."""
_held: list[Held] = []


@contextmanager
def holding() -> Generator[Held]:
    """Hold what the block prints on stdout, and on stderr if that is a terminal too.

    If the block raises, what it printed is written at once.
    """
    parts: Held = []
    _held.append(parts)
    try:
        yield parts
    except BaseException:
        _held.pop()
        release(parts)
        raise
    _held.pop()


def release(parts: Held) -> None:
    """Write what was held."""
    for write, text in parts:
        write(text)


def flush() -> None:
    """Flush stdout.

    Raises:
        BrokenPipeError: the reader has closed the pipe.
        Unwritable: stdout cannot be written.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise Unwritable(error.strerror or str(error)) from error


def remark(line: str) -> None:
    """Print a line on stderr; a failure to do so must not fail the command."""
    text = f"{_escape_controls(line, sys.stderr)}\n"
    if _held and sys.stderr.isatty():
        _held[-1].append((_write_remark, text))
    else:
        _write_remark(text)


def _write_remark(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def _escape_controls(text: str, stream: TextIO) -> str:
    """Escape the control characters in `text`, except those of our styles.

    This is the last check after `codelens.render.text_pieces.safe`: text from a repository must
    never control the terminal. The escapes are those of JSON because `text` may be JSON.
    """
    if not stream.isatty():
        return text
    # Late import: `--version` needs no paths.
    from codelens.paths import HIDDEN

    return re.sub(f"{_OBEYED}{HIDDEN}]", _escape_of_json, text)


def _escape_of_json(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def discard(stream: TextIO) -> None:
    """Redirect an unwritable stream to nowhere, so that its buffer does not fail again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _reserve_closed() -> None:
    """Reserve the numbers of closed streams, so that no file opened later gets them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _closed(stream: TextIO | None) -> bool:
    return stream is None or stream.closed


def _use_utf8(stream: TextIO) -> None:
    """Make the stream accept any character: names and code may contain all of them."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None:
        return
    if stream.isatty():
        reconfigure(errors="backslashreplace")
    else:
        reconfigure(encoding="utf-8", errors="backslashreplace")


def fail(message: str) -> int:
    """Print an error on stderr; return its exit code."""
    from codelens.render.text_pieces import one_line

    remark(f"codelens: error: {one_line(message)}")
    return FAILED


_SHOWN_AFTER_S = 0.5
_SAID_AFTER_S, _SAID_EVERY_S = 3.0, 5.0
"""If stderr is not a terminal, for agents and logs."""
_UNITS = {"sending texts": "texts", "filling the store": "vectors"}
"""Stage -> its unit; any other stage counts files."""


class Bar:
    """A `codelens.index.ingestion.Progress` that draws a bar on stderr; use it in a `with`."""

    def __init__(self) -> None:
        self._wanted = sys.stderr.isatty()
        self._started = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._say_at = self._started + _SAID_AFTER_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the bar; the next progress draws it again."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = self._task = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show the progress."""
        if not self._wanted:
            self._say(stage, done, total)
            return
        if self._progress is None:
            if time.monotonic() - self._started < _SHOWN_AFTER_S:
                return
            self._progress = _draw()
        if stage != self._stage or self._task is None:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._stage = stage
            unit = _UNITS.get(stage, "files")
            self._task = self._progress.add_task(stage, total=total, unit=unit)
        self._progress.update(self._task, completed=done, total=total)

    def _say(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._say_at:
            return
        self._say_at = now + _SAID_EVERY_S
        remark(f"codelens: {stage}: {done:,} of {total:,} {_UNITS.get(stage, 'files')}")


def _draw() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        console=Console(stderr=True),
        transient=True,
    )
    progress.start()
    return progress
