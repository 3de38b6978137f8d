"""Compares codelens' uses in templates of Angular with those of Angular's own compiler."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

JUDGE = Path(__file__).resolve().parent / "angular_definitions.mjs"
KINDS = ("component", "directive", "input", "output", "pipe", "name", "member")
_Use = tuple[str, int, str]
_Place = tuple[str, int]


class Judged(NamedTuple):
    """The uses of one repository by kind: all, reported, edges, right ones."""

    truth: Counter[str]
    found: Counter[str]
    edges: Counter[str]
    right: Counter[str]


def judged(repository: Path, tsconfig: str, show: int) -> Judged:
    """Compares the uses in the templates of one program, of what codelens has as a definition."""
    answered = subprocess.run(
        ["node", "--max-old-space-size=6000", JUDGE, repository, tsconfig],
        stdout=subprocess.PIPE, check=True, text=True,
    )  # fmt: skip
    answer = json.loads(answered.stdout)
    truth: dict[_Use, set[_Place]] = {}
    kinds: dict[_Use, str] = {}
    for row in answer["rows"]:
        use = (row["file"], row["line"], row["name"])
        kinds.setdefault(use, row["kind"])
        truth.setdefault(use, set()).update((file, line) for file, line in row["targets"])
    edges, defined = _edges(repository, set(answer["templates"]))
    others = {use for use, places in truth.items() if not places & defined}
    counts = Judged(Counter(), Counter(), Counter(), Counter())
    for use, places in sorted(truth.items()):
        if use in others:
            continue
        kind, hit = kinds[use], bool(edges.get(use, set()) & places)
        counts.truth[kind] += 1
        counts.found[kind] += hit
        if not hit and show > 0:
            show -= 1
            print(f"missed {kind} {use} {sorted(places)} {sorted(edges.get(use, ()))}")
    for use, places in sorted(edges.items()):
        if not use[0].endswith(".html") and use not in truth:
            # A file of a class has edges of its code, too.
            continue
        if use in others:
            continue
        kind, right = kinds.get(use, "name"), bool(truth.get(use, set()) & places)
        counts.edges[kind] += 1
        counts.right[kind] += right
        if not right and show > 0:
            show -= 1
            print(f"wrong {kind} {use} {sorted(places)} {sorted(truth.get(use, ()))}")
    return counts


def _edges(repository: Path, templates: set[str]) -> tuple[dict[_Use, set[_Place]], set[_Place]]:
    """The certain edges from templates (file, line, name -> definitions), and all definitions."""
    by_use: dict[_Use, set[_Place]] = {}
    with tempfile.TemporaryDirectory() as home:
        os.environ["CODELENS_HOME"] = home
        from codelens.engine.engine import Engine

        with Engine() as engine:
            engine.index(path=repository)
            for edge in engine.export_edges(path=repository):
                if edge.src_file in templates and edge.kind in {"call", "ref"}:
                    use = (edge.src_file, edge.line, edge.name)
                    by_use.setdefault(use, set()).add((edge.dst_file, edge.dst_line))
            defined = {
                (symbol.path, symbol.line) for symbol in engine.export_symbols(path=repository)
            }
    return by_use, defined
