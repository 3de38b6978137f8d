"""How the names of a file's definitions answer a query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokens import terms_of_text
from codelens.rank import weights
from codelens.rank.stems import Asked
from codelens.store.rankreads import Definition


class SymbolMatch(NamedTuple):
    """The definitions of one file against a query."""

    total: float
    """ln(1 + sum of squared cosines) over those above `weights.SYMBOL_COSINE`."""
    best: float
    """The best cosine."""
    at: int
    """Position of the definition that has it, -1 if none has any."""
    cosines: Sequence[float]
    """Of each definition."""


NOTHING = SymbolMatch(0.0, 0.0, -1, ())


def match(definitions: Sequence[Definition], query: Asked) -> SymbolMatch:
    """Compare definitions with a query by the IDF-weighted cosine of their names."""
    length = math.sqrt(sum(weight * weight for weight in query.terms.values()))
    if not length:
        return NOTHING._replace(cosines=[0.0] * len(definitions))
    seen: dict[str, float] = {}
    cosines: list[float] = []
    for one in definitions:
        cosine = seen.get(one.name)
        if cosine is None:
            cosine = seen[one.name] = _cosine(one.name, query, length)
        cosines.append(cosine)
    best = max(cosines, default=0.0)
    total = sum(cosine * cosine for cosine in cosines if cosine >= weights.SYMBOL_COSINE)
    return SymbolMatch(math.log1p(total), best, cosines.index(best) if best else -1, cosines)


def _cosine(name: str, query: Asked, length: float) -> float:
    known = query.terms
    common = squares = 0.0
    for term in _terms_of_name(name):
        weight = known.get(term)
        if weight is None:
            squares += query.other * query.other
        else:
            common += weight * weight
            squares += weight * weight
    return common / (length * math.sqrt(squares)) if common else 0.0


@lru_cache(maxsize=50_000)
def _terms_of_name(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms_of_text(name)))
