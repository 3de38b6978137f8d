"""Answers about the graph as text for an agent, within a number of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from codelens.answers.graph_answers import ImpactAnswer, MapAnswer, RelatedAnswer
from codelens.render import graph_json, graph_text, token_budget
from codelens.render.text_pieces import count_of, one_line, safe
from codelens.serve.tools.reading_shape import Format
from codelens.serve.tools.reading_shape import head as head_line
from codelens.types import Receipt

_AROUND_MAP_TOKENS = 70
"""What stands around a map's text: the receipt, with the worktree's path."""
_LEAST_MAP_TOKENS = 200
_RELATED_SHARES = {"results": 6, "may": 1, "notes": 2}
_IMPACT_SHARES = {"results": 4, "tests": 4, "changed": 2, "may": 1, "notes": 2}
_MAP_SHARES = {
    "results": 12, "entries": 2, "hot": 2, "folders": 1, "languages": 1, "links": 1, "notes": 1,
}  # fmt: skip


def related(answer: RelatedAnswer, form: Format, max_tokens: int) -> str:
    """What is related, relation by relation; or paths."""
    if form == "json":
        return fitted_lists(graph_json.related(answer), _RELATED_SHARES, max_tokens)
    head, blocks = graph_text.related(answer, detailed=form == "detailed")
    if not blocks:
        blocks = ["no path found" if answer.goal is not None else "nothing is certainly related"]
    more = "call cl_related with a higher max_tokens, or with kinds, direction or a lower limit"
    return _fitted(answer.receipt, answer.notes, head, blocks, more, max_tokens)


def impact(answer: ImpactAnswer, form: Format, max_tokens: int) -> str:
    """What changes, the tests to run, what is hit."""
    if form == "json":
        return fitted_lists(graph_json.impact(answer), _IMPACT_SHARES, max_tokens)
    head, blocks = graph_text.impact(answer)
    more = "call cl_impact with a higher max_tokens, fewer targets or a smaller depth"
    return _fitted(answer.receipt, answer.notes, head, blocks, more, max_tokens)


def of_map(max_tokens: int) -> int:
    """What of a limit is left for the map itself."""
    return max(max_tokens - _AROUND_MAP_TOKENS, _LEAST_MAP_TOKENS)


def map_(answer: MapAnswer, form: Format, max_tokens: int) -> str:
    """The repository at a glance."""
    if form == "json":
        return fitted_lists(graph_json.map_(answer), _MAP_SHARES, max_tokens)
    head, blocks = graph_text.map_(answer)
    more = "call cl_map with a higher max_tokens, or with a focus"
    return _fitted(answer.receipt, answer.notes, head, blocks, more, max_tokens)


def _fitted(
    receipt: Receipt, notes: Sequence[str], head: Sequence[str], blocks: Sequence[str], more: str,
    max_tokens: int,
) -> str:  # fmt: skip
    """The receipt, what is said of the whole, the notes, and as many blocks as fit."""
    around = [head_line(receipt), *map(safe, head), *(f"note: {one_line(note)}" for note in notes)]

    def left_out(left: int) -> str:
        return f"{count_of(left, 'line')} more: {more}" if left else ""

    return token_budget.fitted(around, [safe(block) for block in blocks], left_out, max_tokens).text


def fitted_lists(shaped: Mapping[str, object], shares: Mapping[str, int], max_tokens: int) -> str:
    """One object; of each list as many entries as its share of the room takes.

    What a list does not need is left to the others. `more` says how many entries of which lists
    were left out. What stands beside the lists (the receipt, the target) is never cut.
    """
    found = dict(shaped)
    text = _dumped(found)
    if token_budget.cost_of(text) <= max_tokens:
        return text
    lists = {key: cast("list[object]", found[key]) for key in shares if found.get(key)}
    lengths = {key: len(rows) for key, rows in lists.items()}
    empty: list[object] = []
    bare: dict[str, object] = {**found, **dict.fromkeys(lists, empty), "more": lengths}
    room = max_tokens * token_budget.BYTES_A_TOKEN - token_budget.size_of(_dumped(bare))
    sizes = {
        key: [token_budget.size_of(_dumped(one)) + len(", ") for one in rows]
        for key, rows in lists.items()
    }
    weight = sum(shares[key] for key in lists)
    for key in sorted(lists, key=lambda key: sum(sizes[key]) / shares[key]):
        kept, own = 0, max(room, 0) * shares[key] // weight
        for size in sizes[key]:
            if size > own:
                break
            own -= size
            room -= size
            kept += 1
        weight -= shares[key]
        found[key] = lists[key][:kept]
        lengths[key] -= kept
    found["more"] = {key: left for key, left in lengths.items() if left}
    return _dumped(found)


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
