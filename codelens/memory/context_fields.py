"""What may be saved: the fields of a context, checked and made fit to be stored and printed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codelens.errors import SettingError

CATEGORIES = ("decision", "pattern", "bug_fix", "architecture", "convention", "auto", "note")
FOR_EVER = "never"
"""A time to live that does not end."""
MAX_NAME, MAX_NOTE, MAX_ITEMS, MAX_TAGS = 100, 100_000, 200, 50
_MAX_TTL_S = 100 * 365 * 86_400
_TTL = re.compile(r"([0-9]{1,6})\s*([mhdw])\Z")
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def name_of(text: str) -> str:
    """A context's name.

    Raises:
        SettingError: it is empty, too long, or cannot stand in one line.
    """
    name = _stored(text).strip()
    if not name or len(name) > MAX_NAME or _CONTROL.search(name):
        raise SettingError(
            f"a name must have 1 to {MAX_NAME} characters on one line, such as auth-flow, "
            f"not {name[:120]!r}"
        )
    return name


def note_of(text: str) -> str:
    """A context's note.

    Raises:
        SettingError: it is too long.
    """
    note = _stored(text).strip()
    if len(note) > MAX_NOTE:
        raise SettingError(
            f"the note has {len(note):,} characters, but the maximum is {MAX_NOTE:,}: shorten it, "
            "and refer to code by handles"
        )
    return note


def category_of(text: str) -> str:
    """A context's category.

    Raises:
        SettingError: there is no such category.
    """
    category = text.strip().lower().replace("-", "_").replace(" ", "_")
    if category not in CATEGORIES:
        raise SettingError(
            f"unknown category {text[:50]!r}; the categories are {', '.join(CATEGORIES)}"
        )
    return category


def tags_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Tags, each once, in the order given; one text may hold several, commas between.

    Raises:
        SettingError: one is too long or they are too many.
    """
    parts = (part.strip() for text in texts for part in _stored(text).split(","))
    tags = tuple(dict.fromkeys(part for part in parts if part))
    if len(tags) > MAX_TAGS:
        raise SettingError(f"{len(tags)} tags are too many; the maximum is {MAX_TAGS}")
    for tag in tags:
        if len(tag) > MAX_NAME or _CONTROL.search(tag):
            raise SettingError(
                f"a tag must have at most {MAX_NAME} characters on one line; not {tag[:120]!r}"
            )
    return tags


def seconds_of(text: str) -> int | None:
    """A time to live, `90m`, `12h`, `30d`, `2w`, in seconds; None for `never`, or nothing.

    Raises:
        SettingError: it is none.
    """
    if text.strip().lower() in {"", FOR_EVER}:
        return None
    match = _TTL.match(text.strip().lower())
    seconds = int(match[1]) * _SECONDS[match[2]] if match else 0
    if not 0 < seconds <= _MAX_TTL_S:
        raise SettingError(
            "a time to live must be a number of minutes, hours, days or weeks, "
            f"such as 12h, 30d or 2w, or never, not {text[:50]!r}"
        )
    return seconds


def _stored(text: str) -> str:
    """Half of a surrogate pair, which an argument may hold, cannot be stored."""
    return text.encode("utf-8", "replace").decode("utf-8")
