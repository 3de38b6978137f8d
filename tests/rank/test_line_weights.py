"""The line of a definition that matches most of a question."""

from __future__ import annotations

from codelens.rank.scoring.body_terms import BodyTerms, LineWeights, TermNumbers

LINES = ["def close(session):", "    pool.release()", "    session.close(pool)", "", "session"]


def heaviest(start: int, end: int) -> float:
    terms = TermNumbers(["session", "pool", "close"])
    counts = BodyTerms(LINES, [1, 4, 6], [(1, len(LINES))], terms)
    return LineWeights(counts.by_line, [1.0, 2.0, 4.0]).best(start, end)


def test_terms_of_one_line_add_up_each_once() -> None:
    assert heaviest(1, 3) == 7.0
    assert heaviest(1, 2) == 5.0
    assert heaviest(5, 5) == 1.0


def test_lines_without_a_term_weigh_nothing() -> None:
    assert heaviest(4, 4) == 0.0
    assert heaviest(6, 99) == 0.0
