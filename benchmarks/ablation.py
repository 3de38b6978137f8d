"""Measures what each part of the ranking is worth, and whether its weights hold elsewhere.

    python benchmarks/ablation.py table CHECKOUTS   # one row per signal: NDCG@10 without it
    python benchmarks/ablation.py five CHECKOUTS    # fitted on four fifths of the repositories

`retrieval.py prepare` makes `CHECKOUTS`. Each row is a whole run: each question goes through
`codelens.rank` on the view that the engine returns, with one constant changed.

`five` is a five-fold cross-validation over repositories. It fits the weights of questions of
several words on the features of four folds (coordinate ascent on NDCG@10 over a bootstrap of
repositories, the mean of several) and scores the fifth. Repositories are assigned to folds in
turn, by name.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import retrieval

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.rank import ranking_weights, search_pipeline
from codelens.rank.query import query_analysis
from codelens.rank.scoring import definition_features
from codelens.rank.search_request import Outcome, Request
from codelens.store.views.snapshot import Snapshot

sys.path.insert(0, str(retrieval.RETRIEVAL))
from score import ndcg

FOLDS = 5
BAGS = 6
STEPS = (1.5, 1.25, 0.8, 0.67)
DISCOUNT = [1 / math.log2(rank + 2) for rank in range(10)]


class Case(NamedTuple):
    """A question that can be asked repeatedly."""

    question: dict[str, Any]
    wanted: dict[str, str]
    view: Snapshot
    request: Request
    read: Callable[..., bytes | None]

    def ask(self) -> Outcome:
        return search_pipeline.search(self.view, self.request, self.read)

    def score(self) -> float:
        rows = [retrieval.row(_Hit(one), self.wanted) for one in self.ask().results]
        return ndcg(rows, self.question["relevant"])


class _Hit:
    """A ranked place with the names that the engine gives it."""

    def __init__(self, ranked: Any) -> None:
        self.path = ranked.file.path.decode("utf-8", "replace")
        self.start_line, self.end_line = ranked.start_line, ranked.end_line


def cases(checkouts: Path, engine: Engine) -> list[Case]:
    """All questions, with the views that answer them."""
    taken: list[tuple[Any, ...]] = []
    real = search_pipeline.search

    def take(*asked: Any) -> Outcome:
        taken.append(asked)
        return real(*asked)

    roots = {one["name"]: one for one in json.loads(retrieval.REPOS.read_text())}
    found: list[Case] = []
    with changed(search_pipeline, "search", take):
        for one in retrieval.questions():
            folder = checkouts / one["repo"]
            if not folder.exists():
                continue
            engine.search(one["query"], path=folder)
            root = roots[one["repo"]].get("benchmark_root") or ""
            wanted = {
                retrieval.full_path(folder, root, target["path"]): target["path"]
                for target in one["relevant"]
            }
            found.append(Case(one, wanted, *taken.pop()))
    return found


@contextmanager
def changed(module: Any, name: str, value: Any) -> Iterator[None]:
    """Sets `module.name` to `value` inside the block."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def by_category(values: list[tuple[str, float]]) -> dict[str, float]:
    groups: dict[str, list[float]] = collections.defaultdict(list)
    for category, value in values:
        groups["all"].append(value)
        groups[category].append(value)
    return {name: mean(every) for name, every in groups.items()}


def scores(every: list[Case]) -> list[tuple[str, float]]:
    """Category and NDCG@10 of each question."""
    return [(one.question["category"], one.score()) for one in every]


COLUMNS = ("all", "architecture", "semantic", "symbol")


def table(every: list[Case]) -> None:
    baseline = scores(every)
    base = by_category(baseline)
    print("| without | " + " | ".join(COLUMNS) + " |")
    print("|---|" + "---|" * len(COLUMNS))
    print("| (nothing left out) | " + " | ".join(f"{base[name]:.4f}" for name in COLUMNS) + " |")
    for label, module, name, value in left_out():
        # A row about weights of names leaves questions unchanged, and the reverse.
        only = {"WORDS": False, "TOKEN": True}.get(name)
        with changed(module, name, value):
            now = by_category(
                [
                    (old[0], one.score()) if only is None or only == (old[0] == "symbol") else old
                    for one, old in zip(every, baseline, strict=True)
                ]
            )
        shown = (f"{now[column] - base[column]:+.4f}" for column in COLUMNS)
        print(f"| {label} | " + " | ".join(shown) + " |", flush=True)


def left_out() -> Iterator[tuple[str, Any, str, Any]]:
    """Yields what to change for each row: label, module, name, value."""
    for kind, chosen in (("WORDS", ranking_weights.WORDS), ("TOKEN", ranking_weights.TOKEN)):
        for name in chosen:
            yield f"{kind.lower()}: {name}", ranking_weights, kind, _with(chosen, {name: 0.0})
    words = ranking_weights.WORDS
    sums = {"csum3": 0.0, "csumall": 0.0}
    stem = dict.fromkeys(("stemcov", "stempfx", "stemeq"), 0.0)
    folder = dict.fromkeys(("dircov", "dirwt", "dirpfx", "depth"), 0.0)
    yield "chunks beyond the best", ranking_weights, "WORDS", _with(words, sums)
    yield "the file's name", ranking_weights, "WORDS", _with(words, stem)
    yield "its folders", ranking_weights, "WORDS", _with(words, folder)
    for role in ranking_weights.PUSHED_DOWN["words"]:
        less = {
            kind: _with(every, {role: 0.0}) for kind, every in ranking_weights.PUSHED_DOWN.items()
        }
        yield f"pushed down: {role}", ranking_weights, "PUSHED_DOWN", less
    none = {kind: MappingProxyType({}) for kind in ranking_weights.PUSHED_DOWN}
    yield "pushed down: all", ranking_weights, "PUSHED_DOWN", none
    yield "kindred words", query_analysis, "kindred", lambda _: []
    yield "adjacent words as one", ranking_weights, "COMPOUND_WEIGHT", 1e-9
    yield "long queries: a stem's share", ranking_weights, "LONG_QUERY", 10**6
    yield "names as a field (weight 1)", ranking_weights, "NAME_WEIGHT", 1.0
    yield "docs as a field (weight 0)", ranking_weights, "DOC_WEIGHT", 0.0
    yield "stem as a field", ranking_weights, "STEM_WEIGHT", 0.0
    yield "folders as a field", ranking_weights, "FOLDER_WEIGHT", 0.0


def _with(chosen: Any, changes: dict[str, float]) -> MappingProxyType[str, float]:
    return MappingProxyType({**chosen, **changes})


class Sample(NamedTuple):
    """The candidates of one question: features by column, sorted by path."""

    case: Case
    columns: list[list[float]]
    fixed: list[float]
    """The roles' share, which is not fitted."""
    right: list[bool]
    ideal: float


def sample(case: Case, names: list[str]) -> Sample | None:
    """The features of one question's candidates; None for a single name."""
    judged: list[definition_features.Judged] = []
    single = False
    real = definition_features.judge

    def take(found: Any, query: Any) -> list[definition_features.Judged]:
        nonlocal single
        single = query.single
        judged[:] = real(found, query)
        return judged

    with changed(definition_features, "judge", take):
        case.ask()
    if single or not judged:
        return None
    judged.sort(key=lambda one: one.evidence.file.path)
    paths = [one.evidence.file.path.decode("utf-8", "replace") for one in judged]
    columns = [[one.evidence.features.get(name, 0.0) for one in judged] for name in names]
    fixed = [
        one.score
        - sum(ranking_weights.WORDS[name] * one.evidence.features.get(name, 0.0) for name in names)
        for one in judged
    ]
    ideal = sum(DISCOUNT[: len(case.question["relevant"])])
    return Sample(case, columns, fixed, [path in case.wanted for path in paths], ideal)


def scored(one: Sample, chosen: list[float]) -> list[float]:
    """The score of each candidate."""
    total = list(one.fixed)
    for weight, column in zip(chosen, one.columns, strict=True):
        if weight:
            total = [score + weight * value for score, value in zip(total, column, strict=True)]
    return total


def quality(one: Sample, total: list[float]) -> float:
    order = sorted(range(len(total)), key=lambda at: -total[at])[:10]
    gain = sum(DISCOUNT[rank] for rank, at in enumerate(order) if one.right[at])
    return gain / one.ideal if one.ideal else 0.0


def fitted(samples: list[Sample], start: list[float], names: list[str]) -> list[float]:
    """Runs one round of coordinate ascent from `start`, one weight at a time."""
    chosen = list(start)
    totals = [scored(one, chosen) for one in samples]
    best = mean([quality(one, at) for one, at in zip(samples, totals, strict=True)])
    for number in random.sample(range(len(names)), len(names)):
        for step in STEPS:
            more = chosen[number] * (step - 1.0)
            tried = [
                [old + more * value for old, value in zip(at, one.columns[number], strict=True)]
                for one, at in zip(samples, totals, strict=True)
            ]
            value = mean([quality(one, at) for one, at in zip(samples, tried, strict=True)])
            if value > best + 1e-5:
                best, totals = value, tried
                chosen[number] += more
    return chosen


def bagged(samples: list[Sample], start: list[float], names: list[str]) -> list[float]:
    """The mean of fits on bootstraps of the repositories."""
    repos = sorted({one.case.question["repo"] for one in samples})
    found: list[list[float]] = []
    for _ in range(BAGS):
        picked = collections.Counter(random.choices(repos, k=len(repos)))
        drawn = [one for one in samples for _ in range(picked[one.case.question["repo"]])]
        found.append(fitted(drawn, start, names))
    return [mean(list(column)) for column in zip(*found, strict=True)]


def five(every: list[Case]) -> None:
    random.seed(1)
    names = list(ranking_weights.WORDS)
    start = list(ranking_weights.WORDS.values())
    samples = [features for one in every if (features := sample(one, names))]
    repos = sorted({one.question["repo"] for one in every})
    values: dict[str, list[float]] = collections.defaultdict(list)
    for fold in range(FOLDS):
        held = set(repos[fold::FOLDS])
        rest = [one for one in samples if one.case.question["repo"] not in held]
        chosen = dict(zip(names, bagged(rest, start, names), strict=True))
        print(f"fold {fold + 1}: " + ", ".join(f"{name} {w:.2f}" for name, w in chosen.items()))
        with changed(ranking_weights, "WORDS", MappingProxyType(chosen)):
            for one in every:
                if one.question["repo"] in held:
                    value = one.score()
                    values["all"].append(value)
                    values[one.question["category"]].append(value)
    base = by_category(scores(every))
    for name in COLUMNS:
        print(f"{name:14} as shipped {base[name]:.4f}  five-fold {mean(values[name]):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("table", "five"))
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-retrieval"))
    args = parser.parse_args()
    with Engine(Settings(home=args.home)) as engine:
        every = cases(args.checkouts, engine)
        (table if args.what == "table" else five)(every)


if __name__ == "__main__":
    main()
