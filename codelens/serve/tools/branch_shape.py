"""Answers about branches as text for an agent, within a number of tokens."""

from __future__ import annotations

from dataclasses import replace

from codelens.answers.branch_answers import ConflictsAnswer, DiffAnswer, HistoryAnswer
from codelens.render.branches import branch_json, branch_text
from codelens.render.text_pieces import Form
from codelens.serve.tools.answer_size import fitted_blocks, fitted_lists

_DIFF_SHARES = {
    "results": 6, "broken": 4, "added_public": 1, "removed_public": 2, "tests": 1, "notes": 1,
}  # fmt: skip
_USES_SENT, _USUAL_TOKENS = 20, 3000
"""Uses of one definition that JSON of so many tokens names; `count` has them all."""
_HISTORY_SHARES = {"results": 6, "definitions": 6, "together": 2, "notes": 1}
_CONFLICTS_SHARES = {"results": 8, "harmless": 2, "left_out": 1, "notes": 1}


def diff(answer: DiffAnswer, form: Form, max_tokens: int) -> str:
    """What breaks, then what differs, file by file."""
    if form == "json":
        most = _USES_SENT * max(max_tokens // _USUAL_TOKENS, 1)
        broken = tuple(replace(use, uses=use.uses[:most]) for use in answer.broken)
        answer = replace(answer, broken=broken)
        return fitted_lists(branch_json.diff(answer), _DIFF_SHARES, max_tokens)
    head, blocks = branch_text.diff(answer)
    more = "call cl_diff with a higher max_tokens, or with paths"
    return fitted_blocks(
        answer.receipt, answer.notes, head, blocks, more=more, max_tokens=max_tokens
    )


def history(answer: HistoryAnswer, form: Form, max_tokens: int) -> str:
    """Change by change, newest first."""
    if form == "json":
        return fitted_lists(branch_json.history(answer), _HISTORY_SHARES, max_tokens)
    head, blocks = branch_text.history(answer)
    more = "call cl_history with a higher max_tokens, or with since"
    return fitted_blocks(
        answer.receipt, answer.notes, head, blocks, more=more, max_tokens=max_tokens
    )


def conflicts(answer: ConflictsAnswer, form: Form, max_tokens: int) -> str:
    """What collides, rival by rival."""
    if form == "json":
        return fitted_lists(branch_json.conflicts(answer), _CONFLICTS_SHARES, max_tokens)
    head, blocks = branch_text.conflicts(answer, detailed=form == "detailed")
    more = "call cl_conflicts with a higher max_tokens, or with one of others"
    return fitted_blocks(
        answer.receipt, answer.notes, head, blocks, more=more, max_tokens=max_tokens
    )
