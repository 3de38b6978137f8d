"""Term counts by definition equal those of a plain reading of all lines."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.extract.tokenizer import terms_of_text
from codelens.rank.scoring.body_terms import BodyTerms, TermNumbers, comment_start

WORDS = st.sampled_from(
    "session Sessions validate_session ValidateSession able ability café cafe İstanbul relational "
    "relate time tying tie skies sky probability probable café—session «time» İ\xa0sky x\u3000tie "
    "time\0tie x\x85sky 会话时间 会话、时间 x = ( ) \r".split(" ")
)
LINES = st.lists(st.lists(WORDS, max_size=4).map(" ".join), min_size=1, max_size=12)


@settings(max_examples=150, deadline=None)
@given(LINES, st.lists(st.integers(1, 13), max_size=5), st.lists(WORDS, min_size=1, max_size=4))
def test_counts_are_those_of_all_lines(
    lines: list[str], borders: list[int], words: list[str]
) -> None:
    terms = sorted(set(terms_of_text(" ".join(words))))
    counts = BodyTerms(lines, borders, [(1, len(lines))], TermNumbers(terms))
    ends = sorted({1, len(lines) + 1, *(min(one, len(lines) + 1) for one in borders)})
    for start in ends:
        for stop in ends:
            plain = Counter(terms_of_text("\n".join(lines[start - 1 : stop - 1])))
            wanted = {at: plain[term] for at, term in enumerate(terms) if plain[term]}
            if start < stop:
                assert counts.inside(start, stop - 1) == wanted


def test_lines_of_spans_without_a_term_are_not_read() -> None:
    lines = ["session", "session", "session"]
    counts = BodyTerms(lines, [2, 3], [(2, 2)], TermNumbers(["session"]))
    assert counts.inside(1, 3) == {0: 1}


@pytest.mark.parametrize(
    "comment",
    [
        "# one\n# two", "/** one\n * two\n */", "/**\none\n\ntwo\n*/", "(* one\n   two *)",
        "{- one\n two -}", "--[[ one\n two ]]", "=begin\none\n=end", '@doc """\none\n"""',
        "<!-- one\n two -->", "/* one */", "/* one */\n// two", "@decorated",
    ],
)  # fmt: skip
def test_a_comment_begins_at_its_first_line(comment: str) -> None:
    lines = f"x = 1\n\n{comment}\ndef it".split("\n")
    assert comment_start(lines, len(lines)) == 3


@pytest.mark.parametrize(
    "above", ["x = 1", "", 'class A:\n    """A doc of\n    the class."""', "a */"]
)
def test_trailing_comments_are_left_alone(above: str) -> None:
    lines = f"{above}\ndef it".split("\n")
    assert comment_start(lines, len(lines)) == len(lines)


COMMENTED = st.lists(
    st.sampled_from(["#define A", "# b", "/*", "*/", "/* c */", " * d", "x = 1", "", "*", "-->"]),
    min_size=1, max_size=120,
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(COMMENTED, st.lists(st.integers(1, 120), max_size=20), st.booleans())
def test_lines_above_do_not_change_a_comment(
    lines: list[str], starts: list[int], repeated: bool
) -> None:
    lines = lines * 3 if repeated else lines
    cache: dict[int, int] = {}
    for start in [*(min(start, len(lines)) for start in starts), *range(1, len(lines) + 1)]:
        assert comment_start(lines, start, cache) == comment_start(lines, start)


def test_at_most_forty_comment_lines_belong_to_a_definition() -> None:
    lines = ["#define LAMP"] * 100
    cache: dict[int, int] = {}
    assert [comment_start(lines, start, cache) for start in (100, 60, 41, 40, 1)] == [
        60,
        20,
        1,
        1,
        1,
    ]
