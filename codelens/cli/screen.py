"""Prints answers on stdout, and notes and errors about them on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import TextIO, TypeVar

from codelens.cli import standard_streams
from codelens.cli.command_examples import PAGED
from codelens.cli.standard_streams import emit, flush, remark
from codelens.render.text_pieces import all_notes_named, receipt_line, safe
from codelens.types import Receipt

A = TypeVar("A")


def put(text: str = "") -> None:
    """Print a line of the answer."""
    emit(f"{text}\n")


def put_safe(*lines: str) -> None:
    """Print lines of the answer that may contain text from a repository."""
    for line in lines:
        put(safe(line))


def page(*lines: str) -> None:
    """Print lines of an answer; on a terminal with colours, lay them out."""
    if not colours(sys.stdout):
        put_safe(*lines)
        return
    from codelens.cli.terminal_page import lay_out

    for line in lay_out(map(safe, lines), columns()):
        put(line)


def field(name: str, value: str, style: str = "dim") -> None:
    """Print a name and its value; on a terminal, wrap a long value with a hanging indent."""
    text = safe(value)
    if colours(sys.stdout):
        from codelens.cli.terminal_page import hanging

        text = hanging(text, len(name) + 2, columns())
    put(f"{styled(name, style)}  {text}")


def columns() -> int:
    """The width of the terminal."""
    import shutil

    return shutil.get_terminal_size().columns


def put_json(value: Mapping[str, object]) -> None:
    """Print the answer as a JSON object on one line."""
    emit(f"{json.dumps(value, ensure_ascii=False)}\n")


def show(
    answer: A, shape: Callable[[A], Mapping[str, object]], lines: Iterable[str], *, as_json: bool
) -> None:
    """Print an answer as JSON; or its lines, and on stderr its notes and its receipt."""
    if as_json:
        put_json(shape(answer))
        return
    page(*lines)
    for note in (*getattr(answer, "notes", ()), *all_notes_named(getattr(answer, "contexts", ()))):
        say(f"note: {note}")
    if (receipt := getattr(answer, "receipt", None)) is not None:
        say_all(receipt)


def say(text: str) -> None:
    """Print a line about the answer."""
    remark(styled(safe(text), "dim", sys.stderr))


def say_all(receipt: Receipt, notes: Iterable[str] = ()) -> None:
    """Print the notes, then the receipt."""
    for note in notes:
        say(f"note: {note}")
    line = receipt_line(receipt)
    style = "dim" if receipt.status == "fresh" else "warn"
    remark(styled(line, style, sys.stderr))


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """`text` in a style if the stream is a terminal with colours."""
    if not text or not colours(sys.stdout if stream is None else stream):
        return text
    from codelens.cli.terminal_page import styled as painted

    return painted(text, style)


def colours(stream: TextIO) -> bool:
    """Whether to use colours: on a terminal, unless NO_COLOR or TERM forbid it."""
    return (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )


def can_ask() -> bool:
    """Whether stdin and stdout are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def agreed(question: str) -> bool:
    """Ask the user; an empty answer means no."""
    emit(f"{question} [y/N] ")
    flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


# Shows an answer that is longer than the terminal in a pager, as git does.

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
"""What git sets for its pager: colours, and no full screen if the text fits on one."""
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_NOT_RUN = frozenset({126, 127})
"""What a shell returns for a program that does not start or does not exist."""


@contextmanager
def paging(command: str, *, is_wanted: bool = True) -> Generator[None]:
    """Hold what the block prints; then print it, or show it in the pager if it is too long."""
    pager = program() if is_wanted and command in PAGED else ""
    if not pager:
        yield
        return
    with standard_streams.holding() as parts:
        yield
    text = "".join(part for _, part in parts)
    if _fits(text) or not _show(pager, text):
        standard_streams.release(parts)


def program() -> str:
    """The pager's command line; empty if answers are printed directly.

    An agent gets no pager, since it may not be able to leave it.
    """
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return ""
    from codelens.engine.contexts.asking_session import of_host

    if of_host(os.environ):
        return ""
    named = os.environ.get("CODELENS_PAGER", os.environ.get("PAGER"))
    if named is None:
        import shutil

        named = "less" if shutil.which("less") else ""
    return "" if named.strip() == "cat" else named.strip()


def _fits(text: str) -> bool:
    import shutil

    from codelens.cli.terminal_page import width_of

    size = shutil.get_terminal_size()
    used = 1  # the prompt of the shell
    for line in _STYLE.sub("", text).splitlines():
        used += max(-(-width_of(line) // size.columns), 1)
        if used > size.lines:
            return False
    return True


def _show(pager: str, text: str) -> bool:
    """Run the pager on the text; False if it does not start."""
    import signal
    import subprocess

    # The variable holds a command line, as in git; no repository can set it.
    process = subprocess.Popen(  # noqa: S602
        pager, shell=True, stdin=subprocess.PIPE, env={**_DEFAULTS, **os.environ}
    )
    # Ctrl-C is for the pager.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.communicate(text.encode(sys.stdout.encoding, "backslashreplace"))
        return process.returncode not in _NOT_RUN
    finally:
        signal.signal(signal.SIGINT, before)
