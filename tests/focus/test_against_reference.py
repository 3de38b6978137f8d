"""Compares the forest, prompt by prompt, with an independent one in plain Python."""

from __future__ import annotations

import pytest
from focus.reference import Reference
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.focus.context_block import GuideEntry, reinforce
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, grow
from codelens.focus.prompt_terms import counted, terms_of

WORDS = "token jwt login agent schema index query column pixel font border layout".split()
PROMPTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
STEPS = st.lists(
    st.tuples(PROMPTS, st.sampled_from([0, 30, 600, 7200, 90_000]), st.none() | PROMPTS),
    min_size=1, max_size=30,
)  # fmt: skip
SETTINGS = st.fixed_dictionaries({}, optional={
    "memory_size": st.sampled_from([5, 8, 13]),
    "decay_rate": st.sampled_from([0, 0.05, 1.0]),
    "transition_boost": st.sampled_from([0, 0.2, 2.0]),
    "bubble_up_terms": st.sampled_from([0, 2, 6]),
    "max_sources": st.sampled_from([0, 1, 3]),
    "guide_size": st.sampled_from([1, 3]),
})  # fmt: skip


def test_the_words_of_the_streams_are_terms() -> None:
    assert terms_of(" ".join(WORDS)) == WORDS


@settings(max_examples=300, deadline=None)
@given(steps=STEPS, chosen=SETTINGS)
def test_trees_actions_and_scores_are_those_of_the_reference(steps: list, chosen: dict) -> None:
    grown, expected = Forest(), Reference(**chosen)
    guide: list[GuideEntry] = []
    settings = FocusSettings(**chosen)
    now = 1_800_000_000.0
    for words, pause, answer in steps:
        now += pause
        reinforce(grown, guide)
        found = grow(grown, " ".join(words), counted(words), settings, now=now, branch="")
        action, scores = expected.prompt(words, now)
        assert found.action == action
        for one, (tree, nearest, cosine, boost, score) in zip(found.trees, scores, strict=True):
            assert (one.tree, one.nearest) == (tree, nearest)
            assert one[2:] == pytest.approx((cosine, boost, score), rel=1e-12, abs=1e-12)
        assert list(grown.nodes) == list(expected.nodes)
        for number, node in grown.nodes.items():
            other = expected.nodes[number]
            assert (node.parent, node.kind, node.frequency, node.touched) == (
                other["parent"], other["kind"], other["frequency"], other["touched"],
            )  # fmt: skip
            assert grown.score(node, now, settings) == pytest.approx(
                expected.node_score(number, now), rel=1e-12
            )
            if node.kind != "prompt":
                assert list(node.terms) == other["words"]
        assert (grown.last or None) == expected.last
        for tree in (one.id for one in grown.roots()):
            given_last = grown.transitions.probability(tree, grown.last)
            assert given_last == pytest.approx(expected.probability(tree))
        if answer is not None:
            now += 5  # test_extremes.py covers clocks that go back
            guide.append(GuideEntry(" ".join(answer), now))
            del guide[: max(0, len(guide) - settings.guide_size)]
            expected.answer(answer, now)
