"""An answer cut to a number of tokens: blocks of text below its receipt, or lists of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import cast

from codelens.plurals import count_of
from codelens.render import token_budget
from codelens.render.text_pieces import head_line, one_line, safe
from codelens.types import Receipt


def fitted_blocks(
    receipt: Receipt, notes: Sequence[str], head: Sequence[str], blocks: Sequence[str], *,
    more: str, max_tokens: int,
) -> str:  # fmt: skip
    """The receipt, what is said of the whole, the notes, and as many blocks as fit."""
    around = [head_line(receipt), *map(safe, head), *(f"note: {one_line(note)}" for note in notes)]

    lines = list(accumulate(block.count("\n") + 1 for block in reversed(blocks)))

    def left_out(left: int) -> str:
        return f"{count_of(lines[left - 1], 'line')} more: {more}" if left else ""

    return token_budget.fitted(around, [safe(block) for block in blocks], left_out, max_tokens).text


def fitted_lists(shaped: Mapping[str, object], shares: Mapping[str, int], max_tokens: int) -> str:
    """One object; of each list as many entries as its share of the room takes.

    What a list does not need is left to the others. `more` says how many entries of which lists
    were left out. What stands beside the lists (the receipt, the target) is never cut.
    """
    shortened = dict(shaped)
    text = _dumped(shortened)
    if token_budget.cost_of(text) <= max_tokens:
        return text
    lists = {key: cast("list[object]", shortened[key]) for key in shares if shortened.get(key)}
    lengths = {key: len(rows) for key, rows in lists.items()}
    empty: list[object] = []
    bare: dict[str, object] = {**shortened, **dict.fromkeys(lists, empty), "more": lengths}
    room = max_tokens * token_budget.BYTES_A_TOKEN - token_budget.size_of(_dumped(bare))
    sizes = {
        key: [token_budget.size_of(_dumped(row)) + len(", ") for row in rows]
        for key, rows in lists.items()
    }
    weight = sum(shares[key] for key in lists)
    for key in sorted(lists, key=lambda key: sum(sizes[key]) / shares[key]):
        fitting, own = 0, max(room, 0) * shares[key] // weight
        for size in sizes[key]:
            if size > own:
                break
            own -= size
            room -= size
            fitting += 1
        weight -= shares[key]
        shortened[key] = lists[key][:fitting]
        lengths[key] -= fitting
    shortened["more"] = {key: left for key, left in lengths.items() if left}
    return _dumped(shortened)


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
