"""Reads of the store that fetch just what ranking needs; a whole `Symbol` costs ten times more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codelens.store.contents import batched
from codelens.store.database import Database


class Definition(NamedTuple):
    """A symbol as ranking sees it."""

    ordinal: int
    name: str
    kind: str
    start_line: int
    end_line: int
    parent: int


SELECT_DEFINITIONS = """
SELECT content, ordinal, name, kind, start_line, end_line, parent FROM symbols
WHERE content IN ({marks}) ORDER BY content, ordinal
"""
SELECT_BY_KEY = """
SELECT content, ordinal, name, kind, start_line, end_line, parent, qualified FROM symbols
WHERE key = ?
"""
SELECT_SHOWN = "SELECT signature FROM symbols WHERE content = ? AND ordinal = ?"
_LANGUAGES = "SELECT id, language, generated FROM contents WHERE id IN ({marks})"


def definitions(db: Database, contents: Iterable[int]) -> dict[int, list[Definition]]:
    """The symbols of each content, in their order."""
    found: dict[int, list[Definition]] = {}
    for batch in batched(contents):
        for content, *row in db.rows(SELECT_DEFINITIONS.format(marks=_marks(batch)), batch):
            known = found.get(content)
            if known is None:
                found[content] = [Definition._make(row)]
            else:
                known.append(Definition._make(row))
    return found


def definitions_with_key(db: Database, key: str) -> list[tuple[int, Definition, str]]:
    """Symbols of any view with a key: content, symbol, qualified name."""
    return [(row[0], Definition(*row[1:7]), row[7]) for row in db.rows(SELECT_BY_KEY, (key,))]


def signature(db: Database, content: int, ordinal: int) -> str:
    """One symbol's signature; empty if there is no such symbol."""
    row = db.row(SELECT_SHOWN, (content, ordinal))
    return row[0] if row else ""


def languages(db: Database, contents: Iterable[int]) -> dict[int, tuple[str, bool]]:
    """Language of each content, and whether it says that it was generated."""
    found: dict[int, tuple[str, bool]] = {}
    for batch in batched(contents):
        for content, language, generated in db.rows(_LANGUAGES.format(marks=_marks(batch)), batch):
            found[content] = (language, bool(generated))
    return found


def _marks(batch: Sequence[object]) -> str:
    return ",".join("?" * len(batch))
