"""Selects the relations of a call, by kinds and by direction."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.errors import InvalidArgument, SettingError
from codelens.resolve.relations import INWARD, OUTWARD, RELATIONS, STRUCTURE, Relation

__all__ = ["DIRECTIONS", "RELATIONS", "Relation", "relations"]


DIRECTIONS = ("both", "in", "out")


def relations(kinds: Sequence[str], direction: str) -> tuple[str, ...]:
    """The requested relations, in the order in which they are shown.

    Raises:
        SettingError: the kind or direction does not exist, or they exclude each other.
    """
    if direction not in DIRECTIONS:
        raise InvalidArgument(
            "direction", f"must be one of {', '.join(DIRECTIONS)}, not {direction!r}"
        )
    unknown = [kind for kind in kinds if kind not in RELATIONS]
    if unknown:
        raise SettingError(
            f"unknown relation {unknown[0]!r}; the relations are {', '.join(RELATIONS)}"
        )
    allowed = {"both": RELATIONS, "in": INWARD, "out": OUTWARD}[direction]
    against = [kind for kind in dict.fromkeys(kinds) if kind not in allowed]
    if against:
        other = "in" if direction == "out" else "out"
        raise SettingError(
            f"{' and '.join(against)} lead {other}, not {direction}",
            typed=f"omit --direction, or give --direction {other}",
            called=f"omit direction, or pass direction {other!r}",
        )
    chosen = kinds or [relation for relation in RELATIONS if relation not in STRUCTURE]
    return tuple(relation for relation in RELATIONS if relation in allowed and relation in chosen)
