"""Answers about the index itself as text for an agent, within a number of tokens."""

from __future__ import annotations

import json

from codelens.answers.reading_answers import StatusAnswer
from codelens.answers.upkeep_answers import Dropped, PruneAnswer, RepositoryLife
from codelens.plurals import count_of
from codelens.render import token_budget, upkeep_text
from codelens.render.text_pieces import Form
from codelens.serve.tools import reading_shape


def index(answer: StatusAnswer | list[RepositoryLife], form: Form, max_tokens: int) -> str:
    """Where one stands; or every index and its views."""
    if isinstance(answer, StatusAnswer):
        return reading_shape.current(answer, form)
    if form == "json":
        overview = upkeep_text.overview_json(answer)
        return token_budget.fitted_json(overview, "results", max_tokens)
    return _fitted(upkeep_text.overview_lines(answer), max_tokens)


def prune(answer: PruneAnswer, form: Form, max_tokens: int) -> str:
    """What was removed, or would be."""
    if form == "json":
        return json.dumps(upkeep_text.prune_json(answer), ensure_ascii=False)
    text = _fitted(upkeep_text.prune_lines(answer), max_tokens)
    return text.replace("--yes removes them", "dry_run false removes them")


def drop(answer: Dropped, form: Form) -> str:
    """What was removed."""
    if form == "json":
        return json.dumps(upkeep_text.dropped_json(answer), ensure_ascii=False)
    return "\n".join(upkeep_text.dropped_lines(answer))


def _fitted(lines: list[str], max_tokens: int) -> str:
    def more(left: int) -> str:
        return f"{count_of(left, 'more line')}: call it with a higher max_tokens" if left else ""

    return token_budget.fitted((), lines, more, max_tokens).text
