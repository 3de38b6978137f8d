"""An answer never costs more than its limit, for any results."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.answers.reading_answers import Excerpt, ExpandAnswer, Hit, SearchAnswer
from codelens.render import reading_text, search_text, token_budget
from codelens.serve import answer_shapes
from codelens.types import Receipt

RECEIPT = Receipt("0123456789ab", "/src/shop", "main", "1a2b3c4d", "fresh", 1234, 1234, 0, 12.0)
TEXT = st.text(max_size=120)
NAME = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), max_size=40)
HITS = st.builds(
    Hit,
    handle=NAME.map(lambda name: f"src/{name}.py#x"),
    path=NAME,
    start_line=st.integers(1, 10_000),
    end_line=st.integers(1, 10_000),
    symbol=NAME,
    kind=st.sampled_from(["method", "chunk", "file"]),
    language=st.sampled_from(["python", ""]),
    score=st.floats(0, 9),
    signature=TEXT,
    why=TEXT,
    stale=st.booleans(),
    alike=st.lists(NAME, max_size=5).map(tuple),
    also=st.lists(NAME, max_size=3).map(tuple),
)
ANSWERS = st.builds(
    SearchAnswer,
    receipt=st.just(RECEIPT),
    results=st.lists(HITS, max_size=30).map(tuple),
    query=TEXT,
    mode=st.sampled_from(["auto", "symbol"]),
    notes=st.lists(TEXT, max_size=3).map(tuple),
)


@pytest.mark.slow
@settings(deadline=None)
@given(ANSWERS, st.sampled_from(["concise", "detailed"]), st.integers(200, 2000))
def test_a_text_costs_no_more_than_it_may(answer: SearchAnswer, form, limit: int) -> None:
    text = answer_shapes.search(answer, form, limit)
    rows = text.splitlines()
    shown = sum("\t" in row for row in rows)
    assert token_budget.cost_of(text) <= limit
    assert shown <= len(answer.results) and bool(shown) == bool(answer.results)
    if shown < len(answer.results):
        assert rows[-1].startswith(f"{len(answer.results) - shown} more: ")


@settings(deadline=None)
@given(ANSWERS, st.integers(500, 3000))
def test_json_costs_no_more_than_it_may(answer: SearchAnswer, limit: int) -> None:
    text = answer_shapes.search(answer, "json", limit)
    shaped = json.loads(text)
    assert token_budget.cost_of(text) <= limit or len(shaped["results"]) <= 1
    assert len(shaped["results"]) + shaped.get("more", 0) == len(answer.results)
    assert [one["handle"] for one in shaped["results"]] == [
        one.handle for one in answer.results[: len(shaped["results"])]
    ]


@settings(deadline=None)
@given(ANSWERS, st.integers(100, 2000))
def test_results_are_kept_as_far_as_their_text_fits(answer: SearchAnswer, limit: int) -> None:
    shortened = search_text.kept_within(answer, limit)
    assert len(shortened.results) + shortened.more == len(answer.results)
    assert bool(shortened.results) == bool(answer.results)
    if len(shortened.results) > 1:
        assert token_budget.cost_of("\n".join(search_text.blocks(shortened))) <= limit


HIT = Hit("src/a.py#go", "src/a.py", 4, 9, "go", "function", "python", 1.0, "def go()", "name")
ANSWER = SearchAnswer(RECEIPT, (HIT,), "go", "auto")


def test_one_result_that_is_too_long_is_cut_but_keeps_its_handle() -> None:
    long = replace(HIT, signature="x" * 5000, also=("y" * 900,))
    text = answer_shapes.search(replace(ANSWER, results=(long,)), "detailed", 200)
    assert token_budget.cost_of(text) <= 200
    assert "\nsrc/a.py#go\t" in text and text.endswith("…")


def test_a_head_that_is_too_long_leaves_room_for_a_result() -> None:
    shaped = replace(ANSWER, notes=("n" * 5000,))
    text = answer_shapes.search(shaped, "concise", 200)
    assert token_budget.cost_of(text) <= 200
    assert "src/a.py#go\t" in text


def test_near_copies_and_further_places_are_listed_briefly() -> None:
    copies = ("lib/a.py#go", "old/a.py#go", "old/b.py#go")
    hit = replace(HIT, alike=copies, also=("src/a.py:20-31",))
    assert search_text.block(hit).splitlines() == [
        "src/a.py#go\t4-9 function def go() (name; +3 alike in lib/a.py, old/a.py, …)",
        "  also src/a.py:20-31",
    ]
    assert search_text.block(replace(HIT, alike=("src/a.py#go~2",))).endswith(
        "(name; +1 alike in this file)"
    )
    shaped = reading_text.hit_json(hit)
    assert shaped["alike"] == [*copies] and shaped["also"] == ["src/a.py:20-31"]
    assert not {"alike", "also"} & reading_text.hit_json(HIT).keys()


@pytest.mark.parametrize("limit", [1, 5, 40])
def test_a_limit_that_is_too_low_for_anything_gives_one_handle(limit: int) -> None:
    text = answer_shapes.search(ANSWER, "concise", limit)
    assert text.splitlines()[-1].startswith("src/a.py#go")


LINES = st.lists(st.text(max_size=80).map(lambda line: line.replace("\n", "")), max_size=60)
EXCERPTS = st.builds(
    lambda name, lines: Excerpt(
        handle=f"src/{name}.py:1-{max(len(lines), 1)}",
        asked=f"src/{name}.py",
        path=f"src/{name}.py",
        start_line=1,
        end_line=max(len(lines), 1),
        language="python",
        text="".join(f"{line}\n" for line in lines),
        last_line=max(len(lines), 1),
    ),
    st.text("abcdefgh", min_size=1, max_size=30),
    LINES,
)


@settings(deadline=None)
@given(
    st.lists(EXCERPTS, min_size=1, max_size=40),
    st.sampled_from(["concise", "json"]),
    st.integers(500, 3000),
)
def test_texts_that_are_read_cost_no_more_than_they_may(
    items: list[Excerpt], form, limit: int
) -> None:
    text = answer_shapes.expand(ExpandAnswer(RECEIPT, tuple(items)), form, limit)
    assert token_budget.cost_of(text) <= limit
