"""Paths in JSON as a program can open them, not escaped as in a handle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from codelens.paths import from_printed

_OTHERS = frozenset({"receipt"})
"""What holds paths of its own kind."""


def usable(printed: str) -> str:
    """A printed path as it is on the disk; JSON cannot hold one that is no UTF-8."""
    if "%" not in printed:
        return printed
    try:
        return from_printed(printed).decode("utf-8")
    except UnicodeDecodeError:
        return printed


def with_usable_paths(fields: Mapping[str, object]) -> dict[str, object]:
    """An answer for JSON with each `path` in it usable."""
    return {
        key: usable(value)
        if key == "path" and isinstance(value, str)
        else value
        if key in _OTHERS
        else _inside(value)
        for key, value in fields.items()
    }


def _inside(value: object) -> object:
    if isinstance(value, Mapping):
        return with_usable_paths(cast("Mapping[str, object]", value))
    if isinstance(value, list | tuple):
        return [_inside(entry) for entry in cast("Sequence[object]", value)]
    return value
