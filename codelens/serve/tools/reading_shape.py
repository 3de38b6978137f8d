"""Answers as text for an agent: line-oriented, within a number of tokens, honest about the rest."""

from __future__ import annotations

import json
from dataclasses import replace

from codelens.answers.explore_answers import ExploreAnswer
from codelens.answers.joint_answers import JointAnswer
from codelens.answers.reading_answers import ExpandAnswer, OutlineAnswer, StatusAnswer
from codelens.answers.search_answers import SearchAnswer
from codelens.render import (
    expand_text,
    explore_json,
    explore_text,
    outline_text,
    reading_json,
    saved_note_lines,
    search_text,
    token_budget,
)
from codelens.render.repositories import joint_text
from codelens.render.text_pieces import (
    Form,
    head_line,
    one_line,
    receipt_line,
    safe,
    status_rows,
)


def search(
    answer: SearchAnswer | JointAnswer, form: Form, max_tokens: int, *, brief: bool = False
) -> str:
    """Ranked places, a line each; `brief` leaves out places that only use what others define."""
    if isinstance(answer, JointAnswer):
        return joint_text.reply(answer, form, max_tokens)
    answer = replace(answer, contexts=saved_note_lines.fitting(answer.contexts, max_tokens))
    if brief and form == "concise":
        answer = search_text.briefly(answer)
    if form == "json":
        return token_budget.fitted_json(reading_json.search(answer), "results", max_tokens)
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    notes += saved_note_lines.all_named(answer.contexts, answer.context_count)
    if not answer.results:
        rows = [head_line(answer.receipt), "nothing found", *notes]
        return token_budget.fitted(rows, (), lambda _: "", max_tokens).text
    shown = search_text.blocks(answer, detailed=form == "detailed")

    def more(left: int) -> str:
        return search_text.left_out(left + answer.more, answer.unshown, answer.left, typed=False)

    return token_budget.fitted([head_line(answer.receipt), *notes], shown, more, max_tokens).text


def explore(answer: ExploreAnswer, form: Form, max_tokens: int) -> str:
    """The code of a task; the answer was packed to its tokens."""
    if form == "json":
        return explore_json.fitted(answer, max_tokens)[0]
    return explore_text.explore(answer)


def expand(answer: ExpandAnswer, form: Form, max_tokens: int) -> str:
    """The text of each handle; what does not fit is named so that it can be asked for."""
    return expand_text.expand_reply(answer, form, max_tokens)


def delivered(answer: ExpandAnswer, form: Form, max_tokens: int) -> ExpandAnswer:
    """What of the answer is in the text that `expand` makes of it."""
    return expand_text.delivered(answer, form, max_tokens)


def explore_delivered(answer: ExploreAnswer, form: Form, max_tokens: int) -> ExploreAnswer:
    """What of the answer is in the text that `explore` makes of it."""
    return explore_json.fitted(answer, max_tokens)[1] if form == "json" else answer


def outline(answer: OutlineAnswer, form: Form, max_tokens: int) -> str:
    """A file or folder, folded."""
    return outline_text.outline_reply(answer, form, max_tokens)


def current(answer: StatusAnswer, form: Form) -> str:
    """Where one stands."""
    if form == "json":
        return json.dumps(reading_json.status(answer), ensure_ascii=False)
    rows = [f"{name}: {safe(value)}" for name, value in status_rows(answer)]
    if form == "concise":
        rows = [row for row in rows if not row.startswith("index: ")]
    return "\n".join([receipt_line(answer.receipt), *rows])
