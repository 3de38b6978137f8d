"""Answers about the graph as text for an agent, within a number of tokens."""

from __future__ import annotations

from dataclasses import replace

from codelens.answers.graph_answers import ImpactAnswer, MapAnswer, ReferencesAnswer, RelatedAnswer
from codelens.render import saved_note_lines
from codelens.render.graph import graph_json, graph_text
from codelens.render.text_pieces import Form
from codelens.serve.tools.answer_size import fitted_blocks, fitted_lists

_RELATED_SHARES = {"results": 6, "may": 1, "notes": 2}
_REFERENCES_SHARES = {"results": 8, "places": 1, "notes": 2}
_IMPACT_SHARES = {"results": 4, "tests": 4, "changed": 2, "may": 1, "notes": 2}
_MAP_SHARES = {
    "results": 12, "entries": 2, "hot": 2, "folders": 1, "languages": 1, "links": 1, "notes": 1,
}  # fmt: skip


def related(answer: RelatedAnswer, form: Form, max_tokens: int) -> str:
    """What is related, relation by relation; or paths."""
    if form == "json":
        return fitted_lists(graph_json.related(answer), _RELATED_SHARES, max_tokens)
    head, blocks = graph_text.related(answer, detailed=form == "detailed")
    if not blocks:
        blocks = ["no path found" if answer.goal is not None else "nothing is certainly related"]
    more = "call cl_related with a higher max_tokens, or with kinds, direction or a lower limit"
    return fitted_blocks(
        answer.receipt, answer.notes, head, blocks, more=more, max_tokens=max_tokens
    )


def references(answer: ReferencesAnswer, form: Form, max_tokens: int) -> str:
    """Every line that uses it."""
    if form == "json":
        return fitted_lists(graph_json.references(answer), _REFERENCES_SHARES, max_tokens)
    head, blocks = graph_text.references(answer, 'cursor="{}"')
    more = "call cl_references with a higher max_tokens, or a lower limit and then its cursor"
    return fitted_blocks(
        answer.receipt, answer.notes, head, blocks, more=more, max_tokens=max_tokens
    )


def impact(answer: ImpactAnswer, form: Form, max_tokens: int) -> str:
    """What changes, the tests to run, what is hit."""
    contexts = saved_note_lines.fitting(answer.contexts, max_tokens)
    answer = replace(answer, contexts=contexts)
    if form == "json":
        return fitted_lists(graph_json.impact(answer), _IMPACT_SHARES, max_tokens)
    head, blocks = graph_text.impact(answer)
    head += saved_note_lines.all_named(contexts)
    more = "call cl_impact with a higher max_tokens, fewer targets or a smaller depth"
    return fitted_blocks(
        answer.receipt, answer.notes, head, blocks, more=more, max_tokens=max_tokens
    )


def map_(answer: MapAnswer, form: Form, max_tokens: int) -> str:
    """The repository at a glance."""
    if form == "json":
        return fitted_lists(graph_json.map_(answer), _MAP_SHARES, max_tokens)
    head, blocks = graph_text.map_(answer)
    more = "call cl_map with a higher max_tokens, or with a focus"
    return fitted_blocks(
        answer.receipt, answer.notes, head, blocks, more=more, max_tokens=max_tokens
    )
