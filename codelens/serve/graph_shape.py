"""Answers about the graph as text for an agent, within a number of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from codelens.engine import graph_json, graph_text
from codelens.engine.as_text import count_of, one_line, safe, tokens_of
from codelens.engine.graph_answers import ImpactAnswer, MapAnswer, RelatedAnswer
from codelens.serve.shape import Format
from codelens.serve.shape import head as head_line
from codelens.types import Receipt

_SPARE_TOKENS = 60
"""Kept for the line that says what was left out."""


def related(answer: RelatedAnswer, form: Format, max_tokens: int) -> str:
    """What is related, relation by relation; or paths."""
    if form == "json":
        return _json(graph_json.related(answer), max_tokens)
    head, blocks = graph_text.related(answer, detailed=form == "detailed")
    if not blocks:
        blocks = ["no path found" if answer.goal is not None else "nothing is certainly related"]
    more = "call cl_related with kinds, or a higher max_tokens"
    return _fitted(answer.receipt, answer.notes, head, blocks, more, max_tokens)


def impact(answer: ImpactAnswer, form: Format, max_tokens: int) -> str:
    """What changes, the tests to run, what is hit."""
    if form == "json":
        return _json(graph_json.impact(answer), max_tokens)
    head, blocks = graph_text.impact(answer)
    more = "call cl_impact with a higher max_tokens or a smaller depth"
    return _fitted(answer.receipt, answer.notes, head, blocks, more, max_tokens)


def map_(answer: MapAnswer, form: Format, max_tokens: int) -> str:
    """The repository at a glance; the engine made it fit."""
    if form == "json":
        return _json(graph_json.map_(answer), max_tokens)
    head, blocks = graph_text.map_(answer)
    return _fitted(answer.receipt, answer.notes, head, blocks, "", max_tokens + _SPARE_TOKENS * 2)


def _fitted(
    receipt: Receipt, notes: Sequence[str], head: Sequence[str], blocks: Sequence[str], more: str,
    max_tokens: int,
) -> str:  # fmt: skip
    """The receipt, the notes, and as many lines as fit; of the heading at least one."""
    rows = [head_line(receipt), *(f"note: {one_line(note)}" for note in notes)]
    left = max_tokens - tokens_of("\n".join(rows)) - _SPARE_TOKENS
    lines = [*head, *blocks]
    for at, line in enumerate(lines):
        text = safe(line)
        left -= tokens_of(text) + 1
        if left < 0 and at:
            rows.append(f"{count_of(len(lines) - at, 'line')} more{more and f': {more}'}")
            break
        rows.append(text)
    return "\n".join(rows)


def _json(shaped: Mapping[str, object], max_tokens: int) -> str:
    """One object; results that do not fit are counted in `more`."""
    found = dict(shaped)
    results = found["results"]
    assert isinstance(results, list)
    every: list[object] = list(results)  # type: ignore[reportUnknownArgumentType]
    kept = every
    text = json.dumps(found, ensure_ascii=False)
    while kept and tokens_of(text) > max_tokens:
        kept = kept[: len(kept) * max_tokens // (tokens_of(text) + 1)]
        found["results"] = kept
        found["more"] = len(every) - len(kept)
        text = json.dumps(found, ensure_ascii=False)
    return text
