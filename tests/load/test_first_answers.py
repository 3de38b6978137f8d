"""Agents that edit and ask at once get right answers; the budget is ample, because CI is slow."""

from __future__ import annotations

from pathlib import Path

from load.first_answers import first_answers


def test_agents_that_edit_and_ask_at_once_find_their_edits(tmp_path: Path) -> None:
    answers = first_answers(None, tmp_path, agents=4, rounds=4, budget_ms=10_000)
    assert len(answers) == 16
    assert [answer.why for answer in answers if not answer.right] == []
