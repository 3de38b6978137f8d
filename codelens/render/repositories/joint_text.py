"""A search of several repositories as text and JSON: each one's receipt, then one list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codelens.answers.joint_answers import JointAnswer, RepositoryAnswer
from codelens.render import reading_json, search_text, token_budget
from codelens.render.json_paths import with_usable_paths
from codelens.render.text_pieces import Form, head_line, one_line, safe


def head(answer: JointAnswer, *, in_call: bool) -> list[str]:
    """What is said before the results: of each repository its receipt and notes, or its error.

    Args:
        answer: the answer.
        in_call: for one who calls a tool, not for the command line.
    """
    return [row for part in answer.repositories for row in _rows(part, in_call=in_call)] + [
        f"note: {one_line(note)}" for note in answer.notes
    ]


def _rows(part: RepositoryAnswer, *, in_call: bool) -> list[str]:
    rows = [head_line(part.receipt)] if part.receipt is not None else []
    if part.error:
        why = one_line(part.error_in_call if in_call else part.error)
        return [*rows, f"error: {safe(part.root)}: {why}"]
    return [*rows, *(f"note: {safe(part.root)}: {one_line(note)}" for note in part.notes)]


def reply(answer: JointAnswer, form: Form, max_tokens: int) -> str:
    """The answer for an agent, within a number of tokens."""
    if form == "json":
        return token_budget.fitted_json(as_json(answer), "results", max_tokens)
    rows = head(answer, in_call=True)
    if not answer.results:
        return token_budget.fitted([*rows, "nothing found"], (), lambda _: "", max_tokens).text
    blocks = [search_text.block(hit, detailed=form == "detailed") for hit in answer.results]

    def more(left: int) -> str:
        return search_text.left_out(left + answer.more, 0, answer.left, typed=False)

    return token_budget.fitted(rows, blocks, more, max_tokens).text


def kept_within(answer: JointAnswer, max_tokens: int) -> JointAnswer:
    """The answer without the results that its short text has no room for; one is always kept."""
    blocks = [search_text.block(hit) for hit in answer.results]
    fitted = token_budget.fitted(
        head(answer, in_call=True), blocks, lambda left: f"{left} more", max_tokens
    )
    hits = answer.results[: len(fitted.blocks)]
    return replace(answer, results=hits, more=len(answer.results) - len(hits))


def as_json(answer: JointAnswer) -> Mapping[str, object]:
    """The places found, best first, and what each repository came to."""
    fields: dict[str, object] = {
        "query": answer.query,
        "repositories": [_part(part) for part in answer.repositories],
        "results": [reading_json.hit(hit) for hit in answer.results],
        "notes": list(answer.notes),
    }
    if answer.more:
        fields["more"] = answer.more
    if answer.left:
        fields["left"] = answer.left
    return with_usable_paths(fields)


def _part(part: RepositoryAnswer) -> Mapping[str, object]:
    receipt = None if part.receipt is None else reading_json.receipt(part.receipt)
    fields: dict[str, object] = {"root": part.root, "receipt": receipt}
    if part.error:
        return {**fields, "error": part.error}
    return {**fields, "mode": part.mode, "found": part.found, "notes": list(part.notes)}
