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
    search_state: SearchState, defined: Sequence[Defined], results: list[Ranked]
) -> list[Ranked]:
    """`results` with the one definition that has the name asked for, to the letter, before them.

    Headings and keys of data count only where what was typed is written as a name is.
    """
    if not search_state.query.single:
        return results
    named = [
        definition
        for definition in defined
        if definition.grade > query_names.LAST
        and (not search_state.filters.active or search_state.filters.keep([definition.file]))
    ]
    code = [definition for definition in named if definition.symbol.kind not in _PROSE]
    if not code and query_analysis.looks_like_name(search_state.query.text):
        code = named
    exact = [definition for definition in code if definition.grade == query_names.EXACT]
    # A word may mean the same name in another convention; who writes an identifier means its case.
    in_its_case = query_analysis.looks_like_name(search_state.query.text)
    if len(exact) != 1 or (len(code) > 1 and not in_its_case):
        return results
    sole = exact[0]
    for at, place in enumerate(results):
        if place.file.path_id == sole.file.path_id and place.symbol == sole.symbol.ordinal:
            if at == 0:
                return results
            rest = [*results[:at], *results[at + 1 :]]
            return before([place], rest, search_state.request.limit)
    if search_state.request.kinds and sole.symbol.kind not in search_state.request.kinds:
        return results
    first = definitions(search_state, [sole], f"the only definition of {sole.symbol.name}")
    return before(first, results, search_state.request.limit)
