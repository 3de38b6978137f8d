"""Names that cannot contain a term are skipped before they are split; no match is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_index import Store

from codelens.extract.tokenizer import terms_of_text
from codelens.rank.scoring import chunk_scores
from codelens.store.facts import ranking_reads as reads

_ENDINGS = (
    "y ies ied ed ing able ability ibility bly ate ation ational izer ization e es ss ll tional"
)
_WORDS = [
    stem + ending for stem in ("", "t", "fil", "conflat", "hop") for ending in _ENDINGS.split()
]
WORDS = st.sampled_from([*_WORDS, "sky", "is", "Straße", "İstanbul", "名前", "42", "utf"])
NAMES = st.lists(WORDS, min_size=1, max_size=4).flatmap(
    lambda words: st.sampled_from(
        ["_".join(words), "".join(word.title() for word in words), "_".join(words).upper()]
    )
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(NAMES, st.lists(NAMES, max_size=4))
def test_a_name_is_found_by_each_of_its_terms(name: str, others: list[str]) -> None:
    names = [*others, name]
    for term in set(terms_of_text(name)):
        found = chunk_scores.holding(names, chunk_scores.beginnings((term,)))
        assert len(others) in found


@pytest.mark.parametrize("name", ["two\nlines", "", "a\x00b", "_"])
def test_any_name_may_stand_among_others(name: str) -> None:
    names = [name, "validate_session", name]
    assert 1 in chunk_scores.holding(names, chunk_scores.beginnings(("session",)))


def test_among_very_many_names_those_with_most_terms_are_compared() -> None:
    names = [f"mask_{number}" for number in range(5_000)] + ["mask_shift"]
    found = list(chunk_scores.holding(names, chunk_scores.beginnings(("mask", "shift"))))
    assert len(found) == chunk_scores.MOST
    assert found == [*range(chunk_scores.MOST - 1), 5_000]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["mask_a", "shift", "MASK_SHIFT", "b", "a_mask_b", ""]), max_size=60),
    st.lists(st.sampled_from(["mask", "shift", "a", "b"]), min_size=1, max_size=4, unique=True),
    st.integers(1, 20),
)
def test_the_names_compared_are_those_that_hold_most(
    names: list[str], starts: list[str], most: int
) -> None:
    held = {
        at: sum(start in name.lower().replace("_", "") for start in starts)
        for at, name in enumerate(names)
    }
    some = [at for at in held if held[at]]
    wanted = sorted(sorted(some, key=lambda at: (-held[at], at))[:most])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_scores, "MOST", most)
        assert list(chunk_scores.holding(names, starts)) == (wanted if names else [])


@pytest.mark.parametrize("many", [0, 500])
def test_definitions_that_begin_in_some_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(reads, "_MANY", many)
    store = Store(tmp_path / "index.db")
    text = "".join(f"class A{at}:\n    def run(self): ...\n\n\n" for at in range(20))
    view = store.view({"a.py": text})
    contents = [file.content for file in view.files if file.content is not None]
    for first in range(0, 82, 3):
        for last in range(first - 1, 84, 7):
            (found,) = reads.definitions(store.db, contents).values()
            wanted = [one for one in list(found) if first <= one.start_line <= last]
            (again,) = reads.definitions(store.db, contents).values()
            assert reads.beginning_in(again, first, last) == wanted
            assert reads.beginning_in(found, first, last) == wanted
            assert reads.beginning_in(list(found), first, last) == wanted


def test_definitions_in_no_order_are_found_by_their_lines(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view({"a.py": "def a(): ...\ndef b(): ...\ndef c(): ...\n"})
    contents = [file.content for file in view.files if file.content is not None]
    store.db.execute("UPDATE symbols SET start_line = 9 WHERE name = 'a'")
    (found,) = reads.definitions(store.db, contents).values()
    assert [one.name for one in reads.beginning_in(found, 1, 2)] == ["b"]
    assert [one.name for one in reads.beginning_in(found, 3, 9)] == ["a", "c"]


def test_definitions_are_the_same_read_one_by_one_and_together(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    text = "class A:\n    def run(self): ...\n\n\ndef stop(): ...\n"
    view = store.view({"a.py": text, "empty.txt": "words"})
    contents = [file.content for file in view.files if file.content is not None]
    (found,) = reads.definitions(store.db, contents).values()
    (again,) = reads.definitions(store.db, contents).values()
    assert found.names == ["A", "run", "stop"] == [one.name for one in found]
    assert [again[number] for number in range(len(again))] == list(found)
    assert again[-1] == found[2]
    assert found[1:] == list(again)[1:]
    with pytest.raises(IndexError):
        again[3]
