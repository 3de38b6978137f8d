"""The fields of one line of a forest's file, each checked: a line that says nothing is damage."""

from __future__ import annotations

import json
from typing import cast

Fields = dict[str, object]


class Damaged(ValueError):
    """A line, or one of its fields, that says nothing."""


def written(fields: Fields) -> bytes:
    """A line without its end."""
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def fields_of(line: bytes) -> Fields | None:
    """What a line says; None where it is no JSON object."""
    if not line:
        return None
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("Fields", fields) if isinstance(fields, dict) else None


def text_in(fields: Fields, key: str) -> str:
    """A text.

    Raises:
        Damaged: it is none.
    """
    value = fields.get(key)
    if not isinstance(value, str):
        raise Damaged(f"{key} that is no text")
    return value


def whole_in(fields: Fields, key: str) -> int:
    """A whole number.

    Raises:
        Damaged: it is none.
    """
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Damaged(f"{key} that is no number")
    return value


def number_in(fields: Fields, key: str) -> float:
    """A number that a time can be.

    Raises:
        Damaged: it is none.
    """
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise Damaged(f"{key} that is no number")
    return float(value)


def counts_in(fields: Fields, key: str) -> dict[str, int]:
    """Counted terms.

    Raises:
        Damaged: they are none.
    """
    value = fields.get(key)
    if not isinstance(value, dict):
        raise Damaged(f"{key} that are none")
    counts = cast("dict[str, object]", value)
    valid = {term: times for term, times in counts.items() if isinstance(times, int) and times > 0}
    if len(valid) != len(counts):
        raise Damaged(f"{key} that are none")
    return valid
