"""What is shown for a definition that is only part of another: a field, alias, constructor."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.rank.query import query_names
from codelens.store.facts.ranking_reads import Definition

_PARTS = frozenset({"field", "property", "member", "constant", "variable", "type"})
_SHORT = 3
_CONSTRUCTORS = frozenset("__init__ __new__ __construct constructor initialize init new".split())
_TESTS = frozenset({"test", "tests"})
_ASKED = 0.75
"""Likeness of a name that is asked for by words."""


def is_shown_alone(at: int, every: Sequence[Definition], like: float, grade: int) -> bool:
    """Whether a definition is an answer of its own.

    A part of a type (field, alias, enum member, constructor) is none unless it is asked for: by
    name, or by words that are all of its name.
    """
    symbol = every[at]
    if symbol.parent < 0 or every[symbol.parent].kind not in query_names.CONTAINERS:
        return True
    if every[symbol.parent].kind == "module":
        return True
    if grade > query_names.LAST or like >= _ASKED:
        return not is_constructor(at, every) or grade > query_names.LAST
    if is_constructor(at, every):
        return symbol.end_line - every[symbol.parent].start_line >= _LONG_OWNER
    return symbol.kind not in _PARTS or symbol.end_line - symbol.start_line >= _SHORT


def is_part(at: int, every: Sequence[Definition]) -> bool:
    """Whether a definition is a line or two of a type: a field, an alias, an enum's member."""
    symbol = every[at]
    return (
        symbol.parent >= 0
        and symbol.kind in _PARTS
        and symbol.end_line - symbol.start_line < _SHORT
    )


_LONG_OWNER = 80
"""Lines: of a longer type its constructor is shown, since the type would not fit an answer."""


def beside_code(every: Sequence[Definition]) -> set[int]:
    """The definitions that lie in a container of tests, in the source that they test."""
    beside: set[int] = set()
    for at, symbol in enumerate(every):
        is_container = symbol.kind in query_names.CONTAINERS and symbol.name.lower() in _TESTS
        if is_container or symbol.parent in beside:
            beside.add(at)
    return beside


def is_declaration_alone(at: int, every: Sequence[Definition]) -> bool:
    """Whether a definition only names a package, namespace or module, and nothing stands in it."""
    return every[at].kind == "module" and not (at + 1 < len(every) and every[at + 1].parent == at)


def is_constructor(at: int, every: Sequence[Definition]) -> bool:
    """Whether a definition makes or unmakes the type that it stands in."""
    symbol = every[at]
    if symbol.parent < 0:
        return False
    owner = every[symbol.parent]
    return symbol.kind != "property" and (
        symbol.name.lstrip("~") == owner.name or symbol.name in _CONSTRUCTORS
    )


def owner_of(at: int, every: Sequence[Definition]) -> int:
    """The innermost definition around one that is an answer of its own."""
    return every[at].parent
