"""Saved contexts and the recovery of a session as text for an agent, within a number of tokens."""

from __future__ import annotations

import json

from codelens.answers.context_answers import ForgetAnswer, LoadAnswer, SaveAnswer
from codelens.answers.session_answers import RecoverAnswer
from codelens.plurals import count_of
from codelens.render import contexts_json, contexts_text, token_budget
from codelens.render.sessions import session_json, session_text
from codelens.render.text_pieces import Form, head_line, one_line


def save(answer: SaveAnswer, form: Form) -> str:
    """What was saved."""
    if form == "json":
        return json.dumps(contexts_json.save(answer), ensure_ascii=False)
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    return "\n".join([head_line(answer.receipt), *notes, contexts_text.saved(answer)])


def load(answer: LoadAnswer, form: Form, max_tokens: int, *, narrowed: bool = False) -> str:
    """What was found.

    Args:
        answer: what is told.
        form: of the text.
        max_tokens: that it takes at most.
        narrowed: by category or tags.
    """
    if form == "json":
        return token_budget.fitted_json(contexts_json.load(answer), "results", max_tokens)
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    if answer.hidden:
        notes.append(contexts_text.hidden(answer.hidden))
    if answer.former:
        former_text = one_line(contexts_text.former(answer.former))
        notes.append(
            f"{former_text}: ask the user, then run `codelens load --adopt` here to take them over"
        )
    elif not answer.results and not answer.hidden:
        nothing = "no saved note matches; cl_load without arguments lists all"
        notes.append(nothing if answer.query or narrowed else "nothing is saved")
    if form == "detailed":
        blocks = [contexts_text.block(result) for result in answer.results]
    else:
        blocks = contexts_text.blocks(answer)

    def more(left: int) -> str:
        left += answer.more
        if not left:
            return ""
        how = "a higher max_tokens or limit" if answer.query else "words, category or tags"
        return f"{count_of(left, 'context')} more: call cl_load with {how}"

    return token_budget.fitted([head_line(answer.receipt), *notes], blocks, more, max_tokens).text


def forget(answer: ForgetAnswer) -> str:
    """Which names were forgotten."""
    notes = [f"note: {one_line(note)}" for note in answer.notes]
    return "\n".join([*contexts_text.forgotten(answer), *notes])


def recover(answer: RecoverAnswer, form: Form, max_tokens: int) -> str:
    """What a session needs to go on."""
    if form == "json":
        return token_budget.fitted_json(session_json.recover(answer), "results", max_tokens)
    notes = [f"note: {one_line(note)}" for note in answer.notes]

    def more(left: int) -> str:
        return f"{count_of(left, 'line')} more: a higher max_tokens shows them" if left else ""

    blocks = session_text.recover(answer)
    return token_budget.fitted([head_line(answer.receipt), *notes], blocks, more, max_tokens).text
