"""What is printed, and where: answers on stdout, remarks about them on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TextIO

from codelens.cli.standard_streams import emit, remark
from codelens.render.text_pieces import receipt_line, safe
from codelens.types import Receipt

if TYPE_CHECKING:
    pass


def put(text: str = "") -> None:
    """A line of the answer; control characters are removed."""
    emit(f"{text}\n")


def put_safe(*lines: str) -> None:
    """Lines of the answer that may hold anything that a repository does."""
    for line in lines:
        put(safe(line))


def page(*lines: str) -> None:
    """Lines of an answer: as they are, or laid out where stdout is a terminal with colours."""
    if not colours(sys.stdout):
        put_safe(*lines)
        return
    from codelens.cli.terminal_page import lay_out

    for line in lay_out(map(safe, lines), columns()):
        put(line)


def field(name: str, value: str, style: str = "dim") -> None:
    """A name and what it stands for; on a terminal a long value goes on below its beginning."""
    text = safe(value)
    if colours(sys.stdout):
        from codelens.cli.terminal_page import hanging

        text = hanging(text, len(name) + 2, columns())
    put(f"{styled(name, style)}  {text}")


def columns() -> int:
    """How wide the terminal is."""
    import shutil

    return shutil.get_terminal_size().columns


def put_json(value: Mapping[str, object]) -> None:
    """The answer as one JSON object in one line."""
    emit(f"{json.dumps(value, ensure_ascii=False)}\n")


def say(text: str) -> None:
    """A line about the answer."""
    remark(styled(safe(text), "dim", sys.stderr))


def say_all(receipt: Receipt, notes: Iterable[str] = ()) -> None:
    """The notes, then what the answer stands on."""
    for note in notes:
        say(f"note: {note}")
    line = receipt_line(receipt)
    style = "dim" if receipt.status == "fresh" else "warn"
    remark(styled(line, style, sys.stderr))


def styled(text: str, style: str, stream: TextIO | None = None) -> str:
    """`text` in a style where the stream is a terminal that shows it."""
    if not text or not colours(sys.stdout if stream is None else stream):
        return text
    from codelens.cli.terminal_page import styled as painted

    return painted(text, style)


def colours(stream: TextIO) -> bool:
    """Whether colours are wanted: on a terminal, unless NO_COLOR or TERM say no."""
    return (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )
