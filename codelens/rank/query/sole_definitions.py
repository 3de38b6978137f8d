"""An exact name that one definition alone has is first, whatever its kind and place."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.rank.pasted.query_forms import definitions
from codelens.rank.query import query_analysis, query_names
from codelens.rank.query.query_names import Defined
from codelens.rank.search_request import Ranked
from codelens.rank.search_state import SearchState, before

_PROSE = frozenset({"heading", "key"})


def unique_first(
    asked: SearchState, found: Sequence[Defined], results: list[Ranked]
) -> list[Ranked]:
    """`results` with the one definition that has the name asked for, to the letter, before them.

    Headings and keys of data count only where what was typed is written as a name is.
    """
    if not asked.query.single:
        return results
    named = [
        one
        for one in found
        if one.grade > query_names.LAST
        and (not asked.filters.active or asked.filters.keep([one.file]))
    ]
    code = [one for one in named if one.symbol.kind not in _PROSE]
    if not code and query_analysis.looks_like_name(asked.query.text):
        code = named
    if len(code) != 1 or code[0].grade != query_names.EXACT:
        # The same name in another convention is as good.
        return results
    one = code[0]
    for at, place in enumerate(results):
        if place.file.path_id == one.file.path_id and place.symbol == one.symbol.ordinal:
            if at == 0:
                return results
            rest = [*results[:at], *results[at + 1 :]]
            return before([place], rest, asked.request.limit)
    if asked.request.kinds and one.symbol.kind not in asked.request.kinds:
        return results
    first = definitions(asked, [one], f"the only definition of {one.symbol.name}")
    return before(first, results, asked.request.limit)
