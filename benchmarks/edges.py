#!/usr/bin/env python3
"""Precision and recall of `export edges` against type checkers, and what the edges cost.

    python benchmarks/edges.py TRUTH CHECKOUT...

For each repository TRUTH has NAME.jsonl.xz, one edge per row: `src_file`, `src_symbol`, `src_line`
(of the enclosing definition's name, 0 for the module), `dst_file`, `dst_symbol`, `dst_line`,
`dst_alt` (equal targets), `kind` (call, ref, inherit, import), `line`, `col`, `name`; and
NAME.files.txt, the files judged. It also has a score.py. A checkout has the name of its truth
(`requests`, `httpx`, ...). Each is indexed from scratch. The folder's own score.py scores its
exported edges: each kind separately, and imports file to file. CPU is that of this process and its
workers: indexing, then resolving from scratch.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import lzma
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

KINDS = ("call", "inherit", "ref", "import")


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("truth", type=Path, help="folder with *.jsonl.xz and score.py")
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--scope", default="all", choices=["all", "src", "tests"])
    parser.add_argument("--out", type=Path, help="folder to write the edges to")
    args = parser.parse_args()
    judge = _judge(args.truth)
    print("| repository | kind | truth | codelens | precision | recall |")
    print("|---|---|---|---|---|---|")
    costs: list[str] = []
    for checkout in args.checkouts:
        edges, cost = _exported(checkout)
        costs.append(cost)
        if args.out:
            lines = "".join(json.dumps(one) + "\n" for one in edges)
            (args.out / f"{checkout.name}.jsonl").write_text(lines, encoding="utf-8")
        _scored(judge, args.truth, checkout.name, edges, args.scope)
    print("\n| repository | files | edges | index, CPU s | resolve, CPU s | share |")
    print("|---|---|---|---|---|---|")
    print("\n".join(costs))


def _scored(
    judge: ModuleType, folder: Path, name: str, edges: list[dict[str, Any]], scope: str
) -> None:
    truth = list(_lines(folder / f"{name}.jsonl"))
    unresolved = list(_lines(folder / f"{name}.unresolved.jsonl"))
    files = set((folder / f"{name}.files.txt").read_text(encoding="utf-8").split("\n")) - {""}
    for kind in KINDS:
        found = judge.score(truth, unresolved, files, edges, {kind}, scope)
        row = (found["truth"], found["cand"], found["precision"], found["recall"])
        print(f"| {name} | {kind} | {row[0]:,} | {row[1]:,} | {row[2]:.3f} | {row[3]:.3f} |")
    found = judge.score_files(truth, files, edges)
    row = (found["truth"], found["cand"], found["precision"], found["recall"])
    print(f"| {name} | import, files | {row[0]:,} | {row[1]:,} | {row[2]:.3f} | {row[3]:.3f} |")


def _exported(checkout: Path) -> tuple[list[dict[str, Any]], str]:
    """The edges of a checkout, and a row with their cost."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["CODELENS_HOME"] = home
        from codelens.engine.engine import Engine

        with Engine() as engine:
            before = _cpu()
            engine.index(path=checkout)
            indexed = _cpu()
            edges = [asdict(one) for one in engine.export_edges(path=checkout)]
            resolved = _cpu()
            receipt = engine.look(path=checkout)
    index, resolve = indexed - before, resolved - indexed
    return edges, (
        f"| {checkout.name} | {receipt.files:,} | {len(edges):,} | {index:.2f} | {resolve:.2f} | "
        f"{resolve / index:.0%} |"
    )


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        with path.open(encoding="utf-8") as plain:
            yield from map(json.loads, plain)
    else:
        with lzma.open(f"{path}.xz", "rt", encoding="utf-8") as packed:
            yield from map(json.loads, packed)


def _judge(folder: Path) -> ModuleType:
    """Loads score.py from the folder: codelens must not judge itself."""
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"no score.py in {folder}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
