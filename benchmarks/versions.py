"""Does the newest of sibling versions come first? Asks judged questions of search and explore.

    python benchmarks/versions.py CHECKOUTS [--half A|B] [--home FOLDER]

`CHECKOUTS` has a folder with the name of each repository of `judged/versions.tsv` (without its
owner). A row has a question, a pattern of the paths that answer it, and one of the paths of the
other version. Questions are names that both versions define (`name`), words, and questions that
ask for the old version (`old`). Half A was looked at when the rule was made.

Counted: the first file answers, one of the first three does, and a path of the other version is
before the first that answers.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Sequence
from pathlib import Path

from home_settings import home_settings

from codelens.engine.engine import Engine

JUDGED = Path(__file__).with_name("judged") / "versions.tsv"
KINDS = ("name", "words", "old")
NOWHERE = 1000


def rank(paths: Sequence[str], pattern: str) -> int:
    places = (at for at, path in enumerate(paths, 1) if pattern and re.search(pattern, path))
    return next(places, NOWHERE)


def row_of(ranks: Sequence[tuple[int, int]]) -> str:
    first = sum(answer == 1 for answer, _ in ranks) / len(ranks)
    in_three = sum(answer <= 3 for answer, _ in ranks) / len(ranks)
    behind = sum(other < answer for answer, other in ranks)
    return f"{len(ranks)} | {first:.3f} | {in_three:.3f} | {behind}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--half", choices=["A", "B"])
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-versions"))
    args = parser.parse_args()
    ranks: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    with JUDGED.open(encoding="utf-8") as judged, Engine(home_settings(args.home)) as engine:
        for row in csv.DictReader(judged, delimiter="\t"):
            folder = args.checkouts / row["repository"].partition("/")[2]
            if args.half not in (None, row["half"]) or not folder.exists():
                continue
            answers = {
                "search": engine.search(row["question"], path=folder).results,
                "explore": engine.explore(row["question"], path=folder).pieces,
            }
            for method, results in answers.items():
                paths = [result.path for result in results]
                places = (rank(paths, row["answer"]), rank(paths, row["other"]))
                for kind in (row["kind"], "all"):
                    ranks.setdefault((row["half"], method, kind), []).append(places)
    print("| half | | kind | questions | first | in 3 | other version before |")
    print("|---|---|---|---|---|---|---|")
    for half, method, kind in sorted(
        ranks, key=lambda key: (*key[:2], (*KINDS, "all").index(key[2]))
    ):
        print(f"| {half} | {method} | {kind} | {row_of(ranks[half, method, kind])} |")


if __name__ == "__main__":
    main()
