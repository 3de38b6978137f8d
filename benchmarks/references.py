#!/usr/bin/env python3
"""The share of call sites known to a compiler that the answers about a definition list.

    python benchmarks/references.py CHECKOUT --truth shared/edges/NAME.jsonl.xz

The truth is that of `benchmarks/edges.py`. Each definition that has calls in it is asked about as
`FILE:LINE`, as a person at that line would: `references`, `related` (kinds callers, users, tests)
and `impact` (depth 1). Calls inside the definition itself are excluded. A site counts as listed if
the answer names its file and line. Missing sites are classified by cause:

- `edge`: `export edges` has no edge from the line to the definition, so no answer can list it;
- `answer`: the edge exists, and the answer drops it.

`possible` is the share that `references` lists as possible, which `certain` excludes. Precision is
computed over the certain call lines of `references` in which the truth has a call of that name: the
share for which it names this definition, or another place of it.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codelens.answers.graph_answers import ReferencesAnswer
from codelens.engine.engine import Engine
from codelens.extract.language_detection import language_of

DEFINITIONS = frozenset({"function", "method", "class", "interface", "type", "enum"})
MOST_LINES, MOST_ROWS = 100_000, 1_000
BUDGET_MS = 120_000
Site = tuple[str, int]
Row = dict[str, Any]


@dataclass
class Truth:
    """Calls by the definition called, and by their line."""

    calls: dict[Site, dict[Site, Row]] = field(default_factory=lambda: defaultdict(dict))
    lines: dict[Site, list[Row]] = field(default_factory=lambda: defaultdict(list))


def truth_of(path: Path, name: str) -> Truth:
    """Reads a truth, without the lines that it marks as impossible to judge."""
    skipped_path = path.with_name(f"{name}.skipped.json")
    skipped = {file: set(lines) for file, lines in _read(skipped_path).items()}
    truth = Truth()
    with lzma.open(path, "rt") as text:
        for row in map(json.loads, text):
            site = (row["src_file"], row["line"])
            if row["kind"] != "call" or row["line"] in skipped.get(row["src_file"], ()):
                continue
            truth.lines[site].append(row)
            own = row["dst_line"] in (row["src_line"], *row["src_chain"])
            if row["dst_kind"] in DEFINITIONS and not (own and row["src_file"] == row["dst_file"]):
                truth.calls[row["dst_file"], row["dst_line"]][site] = row
    return truth


def _read(path: Path) -> Mapping[str, list[int]]:
    return json.loads(path.read_text()) if path.exists() else {}


def same(row: Row) -> set[Site]:
    """The places of a row's definition, including its other declarations and definitions."""
    others = (place.rpartition(":") for place in row["dst_alt"])
    return {(row["dst_file"], row["dst_line"]), *((path, int(line)) for path, _, line in others)}


def site_of(text: str) -> Site:
    """File and line of `path:line`."""
    path, _, line = text.rpartition(":")
    return path, int(line)


@dataclass
class Figures:
    """Which of the truth's sites the answers list."""

    sites: Counter[str] = field(default_factory=Counter)
    listed: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    lost: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    examples: list[str] = field(default_factory=list)
    right: int = 0
    judged: int = 0

    def take(self, language: str, answer: str, listed: set[Site], sites: Iterable[Site]) -> None:
        """Counts the sites that an answer lists."""
        self.listed[answer][language] += sum(site in listed for site in sites)


def ask(engine: Engine, checkout: Path, target: str) -> Iterator[tuple[str, set[Site]]]:
    """The sites that each answer lists for a target."""
    related = engine.related(
        target, path=checkout, kinds=("callers", "users", "tests"), limit=MOST_ROWS,
        budget_ms=BUDGET_MS,
    )  # fmt: skip
    yield "related", {site_of(site) for row in related.results for site in row.sites}
    impact = engine.impact((target,), path=checkout, depth=1, limit=MOST_ROWS, budget_ms=BUDGET_MS)
    rows = (*impact.results, *impact.tests)
    yield "impact", {site_of(site) for row in rows for site in row.sites}


def measure(checkout: Path, truth: Truth, most: int) -> Figures:
    """Asks about each definition of the truth, or about `most` of them."""
    targets = sorted(truth.calls)
    random.Random(1).shuffle(targets)
    figures = Figures()
    with Engine() as engine:
        engine.index(path=checkout)
        edges: dict[Site, set[Site]] = defaultdict(set)
        for edge in engine.export_edges(path=checkout):
            edges[edge.src_file, edge.line].add((edge.dst_file, edge.dst_line))
        for file, line in targets[:most]:
            sites = truth.calls[file, line]
            language = language_of(file.encode(), (checkout / file).read_bytes()) or ""
            figures.sites[language] += len(sites)
            target = f"{file}:{line}"
            answer = engine.references(target, path=checkout, limit=MOST_LINES, budget_ms=BUDGET_MS)
            certain = {(row.path, row.line) for row in answer.references if row.basis is None}
            every = {(row.path, row.line) for row in answer.references}
            figures.take(language, "references", every, sites)
            figures.take(language, "certain", certain, sites)
            figures.take(language, "edges", _known(sites, edges), sites)
            _judge(figures, answer, truth)
            for name, listed in ask(engine, checkout, target):
                figures.take(language, name, listed, sites)
                _lose(figures, name, target, listed, edges, sites)
            _lose(figures, "references", target, every, edges, sites)
    return figures


def _known(sites: Mapping[Site, Row], edges: Mapping[Site, set[Site]]) -> set[Site]:
    return {site for site, row in sites.items() if edges.get(site, set()) & same(row)}


def _lose(
    figures: Figures, answer: str, target: str, listed: set[Site],
    edges: Mapping[Site, set[Site]], sites: Mapping[Site, Row],
) -> None:  # fmt: skip
    has_edge = _known(sites, edges)
    for site in sites.keys() - listed:
        cause = "answer" if site in has_edge else "edge"
        figures.lost[answer][cause] += 1
        if answer != "impact":
            place = f"{site[0]}:{site[1]}"
            figures.examples.append(f"{answer}, {cause}: {target} is called at {place}")


def _judge(figures: Figures, answer: ReferencesAnswer, truth: Truth) -> None:
    places = {(place.path, place.start_line, place.end_line) for place in answer.places}
    name = answer.target.symbol.rpartition(".")[2]
    for row in answer.references:
        if row.basis is not None or "call" not in row.kinds:
            continue
        calls = [call for call in truth.lines.get((row.path, row.line), ()) if call["name"] == name]
        if calls:
            figures.judged += 1
            sites_meant = {place for call in calls for place in same(call)}
            figures.right += any(
                path == file and first <= line <= last
                for path, first, last in places
                for file, line in sites_meant
            )


def main() -> None:
    """Measures one repository and prints its figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--truth", type=Path, required=True)
    parser.add_argument(
        "--targets", type=int, default=MOST_LINES, help="at most so many definitions"
    )
    parser.add_argument("--lost", action="store_true", help="also list the sites that are lost")
    args = parser.parse_args()
    truth = truth_of(args.truth, args.checkout.name)
    with tempfile.TemporaryDirectory() as home:
        os.environ["CODELENS_HOME"] = home
        figures = measure(args.checkout, truth, args.targets)
    for language, sites in figures.sites.items():
        shares = "  ".join(
            f"{answer} {counts[language] / sites:.4f}" for answer, counts in figures.listed.items()
        )
        print(f"{args.checkout.name}  {language}  {sites} sites  {shares}")
    lost = {answer: dict(causes) for answer, causes in figures.lost.items()}
    precision = figures.right / max(figures.judged, 1)
    print(f"lost {lost}  precision {precision:.4f} of {figures.judged}")
    if args.lost:
        print("\n".join(sorted(figures.examples)))


if __name__ == "__main__":
    main()
