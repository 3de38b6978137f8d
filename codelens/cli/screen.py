"""What is printed, and where: answers on stdout, what is said about them on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from codelens.cli.standard_streams import emit, remark
from codelens.render.text_pieces import receipt_line, safe
from codelens.types import Receipt

_STYLES = {"bold": "1", "dim": "2", "path": "35", "kind": "36", "warn": "33"}


def put(text: str = "") -> None:
    """A line of the answer; control characters are removed."""
    emit(f"{text}\n")


def put_safe(*lines: str) -> None:
    """Lines of the answer that may hold anything that a repository does."""
    for line in lines:
        put(safe(line))


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
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def colours(stream: TextIO) -> bool:
    """Whether colours are wanted: on a terminal, unless NO_COLOR or TERM say no."""
    return (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )
