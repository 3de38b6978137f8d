"""Files with human verdicts on sampled definitions, `benchmarks/judged/<language>.tsv`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from language_judges.comparison import Place, sampled

_COLUMNS = ("repo", "path", "line", "kind", "qualified", "class", "why")
EXTRA_CLASSES = ("right", "debatable", "wrong")
MISS_CLASSES = ("ctags-wrong", "debatable", "ours")


class Verdict(NamedTuple):
    place: Place
    verdict: str
    why: str


def read(path: Path, classes: tuple[str, ...]) -> list[Verdict]:
    """Rows of a judged file, including those not judged yet; empty if there is no file.

    Raises:
        SystemExit: a class is not in `classes`.
    """
    if not path.exists():
        return []
    found: list[Verdict] = []
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        for number, row in enumerate(rows, 2):
            if row["class"] not in ("", *classes):
                raise SystemExit(f"{path}:{number}: class is none of {', '.join(classes)}")
            place = Place(row["repo"], row["path"], int(row["line"]), row["kind"], row["qualified"])
            found.append(Verdict(place, row["class"], row["why"] or ""))
    return found


def current(path: Path, classes: tuple[str, ...], places: list[Place]) -> list[Verdict]:
    """Verdicts on what is still among `places`: a fair sample of what is left."""
    there = {one.key for one in places}
    return [one for one in read(path, classes) if one.verdict and one.place.key in there]


def write(path: Path, classes: tuple[str, ...], places: list[Place], count: int) -> int:
    """Writes the sample, keeps existing verdicts, returns the number of rows without a class."""
    verdicts = {one.place.key: one for one in read(path, classes) if one.verdict}
    rows = sampled(places)[:count]
    open_rows = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(_COLUMNS) + "\n")
        for place in rows:
            earlier = verdicts.get(place.key)
            verdict, why = (earlier.verdict, earlier.why) if earlier else ("", "")
            open_rows += not verdict
            cells = (place.repo, place.path, str(place.line), place.kind, place.qualified)
            file.write("\t".join(_cell(one) for one in (*cells, verdict, why)) + "\n")
    return open_rows


def _cell(text: str) -> str:
    return " ".join(text.split())


def share(verdicts: list[Verdict], name: str) -> float:
    """Share of one class among the verdicts; 0 if there are no verdicts."""
    return sum(one.verdict == name for one in verdicts) / len(verdicts) if verdicts else 0.0
