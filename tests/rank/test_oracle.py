"""The same files give byte-identical answers, regardless of other content in the store."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_index import Store, shown

from codelens.rank.scoring import candidates
from codelens.rank.search_request import Outcome

WORDS = "session token user validate parse config cache index query store view load save".split()
NAMES = st.sampled_from(["session", "parseConfig", "cache_index", "View", "load"])
PATHS = st.sampled_from(
    [f"{folder}{name}.{end}" for folder in ("", "src/", "src/cache/", "tests/")
     for name in ("session", "config", "view_store", "__init__") for end in ("py", "md", "go")]
)  # fmt: skip
QUERIES = [
    "session", "parseConfig", "View.load", "validate the session token", "load config cache",
    "sesion tokne", "ERROR: session 12 token user not valid 7", "src/session.py:2",
    'File "/x/src/view_store.py", line 3, in load', "the", "def parse_config(", "session.py::load",
    "index query store", '"token user"', "test for session", "cahce_index",
]  # fmt: skip


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=8))
    name = draw(NAMES)
    body = "\n".join(f"    {' '.join(line)}" for line in lines)
    return f"def {name}(x):\n{body or '    pass'}\n\n\nclass {name.title()}:\n    {name} = 1\n"


trees = st.dictionaries(PATHS, texts(), min_size=1, max_size=9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(trees, trees, st.integers(1, 3), st.randoms(use_true_random=False))
def test_other_views_order_and_segments_change_nothing(
    tmp_path_factory,
    files: dict[str, str],
    others: dict[str, str],
    few: int,
    shuffle: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("stores")
    alone, crowded = Store(folder / "alone.db"), Store(folder / "crowded.db")
    plain = alone.view(files)
    crowded.view(others, name="other", per_segment=2)
    mixed = list(files.items())
    shuffle.shuffle(mixed)
    view = crowded.view(dict(mixed), per_segment=few)
    crowded.view({f"more/{path}": text for path, text in others.items()}, name="third")
    for query in QUERIES:
        for mode in ("auto", "symbol", "text", "path"):
            options = {"mode": mode, "explain": True}
            assert shown(alone.search(plain, query, **options)) == shown(
                crowded.search(view, query, **options)
            )


def test_a_text_at_two_paths_counts_twice(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    files = {"a.py": "alpha beta\n", "b.py": "alpha\n", "c.py": "gamma\n", "d.py": "gamma delta\n"}
    view = store.view({**files, "e.py": files["a.py"]})
    # The same view from texts that differ, but not in their words.
    apart = store.view({**files, "e.py": "beta alpha\n"}, name="apart")
    for query in ("alpha", "beta gamma", "delta alpha"):
        one, other = store.search(view, query), store.search(apart, query)
        assert _scores(one) == _scores(other)


def _scores(outcome: Outcome) -> list[tuple[bytes, float]]:
    folded = [place for hit in outcome.results for place in (hit, *hit.alike)]
    return sorted((place.file.path, place.score) for place in folded)


def test_skipping_common_terms_loses_no_candidate(tmp_path: Path, monkeypatch) -> None:
    store = Store(tmp_path / "index.db")
    chance = random.Random(7)
    files = {
        f"{number}.py": " ".join(
            ["common", "usual"] * chance.randint(0, 3)
            + chance.sample(WORDS, 3)
            + (["rare"] * chance.randint(1, 4) if number % 4 == 0 else [])
        )
        for number in range(120)
    }
    view = store.view(files, per_segment=7)
    monkeypatch.setattr(candidates, "WANTED", 10)
    whole = shown(store.search(view, "rare session usual common", limit=10))
    monkeypatch.setattr(candidates, "_WORTH_PRUNING", 0)
    assert shown(store.search(view, "rare session usual common", limit=10)) == whole


def test_terms_that_are_looked_up_count_as_those_that_are_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "index.db")
    words = "get set error value name list open close".split()
    files = {
        f"src/f{number}.py": " ".join(words[: 1 + number % 8] * (1 + number % 5))
        for number in range(300)
    }
    view = store.view(files, per_segment=64)
    query = "open the list of error values by name and close it"
    walked = shown(store.search(view, query))
    monkeypatch.setattr(candidates, "_WALKED", 0)
    assert shown(store.search(view, query)) == walked
