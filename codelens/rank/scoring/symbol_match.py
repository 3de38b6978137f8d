"""How the names of a file's definitions answer a query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokenizer import terms_of_text
from codelens.rank import ranking_weights
from codelens.rank.scoring import term_prefilter
from codelens.rank.scoring.path_coverage import PathQuery
from codelens.store.facts.ranking_reads import Definition, Definitions


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


def match(definitions: Sequence[Definition], query: PathQuery) -> SymbolMatch:
    """Compare definitions with a query by the IDF-weighted cosine of their names."""
    cosines = [0.0] * len(definitions)
    length = math.sqrt(sum(weight * weight for weight in query.terms.values()))
    if not length or not definitions:
        return NOTHING._replace(cosines=cosines)
    names = definitions.names if isinstance(definitions, Definitions) else [
        definition.name for definition in definitions
    ]  # fmt: skip
    seen = query.names
    total = best = 0.0
    for at in term_prefilter.holding(names, term_prefilter.beginnings(tuple(query.terms))):
        name = names[at]
        cosine = seen.get(name)
        if cosine is None:
            cosine = seen[name] = _cosine(name, query, length)
        cosines[at] = cosine
        if cosine >= ranking_weights.SYMBOL_COSINE:
            total += cosine * cosine
        best = max(best, cosine)
    return SymbolMatch(math.log1p(total), best, cosines.index(best) if best else -1, cosines)


def _cosine(name: str, query: PathQuery, length: float) -> float:
    known = query.terms
    terms = _terms_of_name(name)
    if known.keys().isdisjoint(terms):
        return 0.0
    common = squares = 0.0
    for term in terms:
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
