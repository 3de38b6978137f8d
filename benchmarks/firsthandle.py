"""When a query asks for a definition, is the first handle exactly its range?

    python benchmarks/firsthandle.py CHECKOUTS [--home HOME] [--misses]

Uses the questions and checkouts of `retrieval.py`, through the engine:

- `symbol`: the questions that are a name. The range is the target's, if it has lines (a result
  that starts in it and ends in it). Otherwise it is that of universal-ctags for the name in the
  target files or, if it is not defined there, in any file. Only questions whose name ctags knows
  count.
- `sentence`: all other questions that contain an identifier (inner capitals, `_`) that ctags
  finds in a target file; counted if any result is in that file. The first such result must begin
  at the definition, or contain its first line.

ctags reads the files independently, so a definition that codelens fails to extract counts as a
miss.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
import retrieval

from codelens.config import Settings
from codelens.engine.engine import Engine

NAME = re.compile(r"[A-Za-z_]\w*")
SPELLED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w_\w")
NOT_DEFINITIONS = frozenset(
    "package import unknown section subsection chapter field member enumerator key local "
    "parameter id namespace using reference implementation".split()
)
NEAR_LINES = 12
"""ctags gives the line of the name; decorators, attributes and a long head start before it."""


class Tag(NamedTuple):
    """One definition, as reported by ctags."""

    path: str
    line: int
    end: int
    """0 if ctags does not report it."""


def tags_of(folder: Path) -> dict[str, list[Tag]]:
    """Name -> its definitions in a checkout."""
    listed = subprocess.run(
        ["git", "-C", str(folder), "ls-files"], capture_output=True, text=True, check=True
    ).stdout
    command = ["ctags", "--output-format=json", "--fields=+neKl", "-f", "-", "-L", "-"]
    done = subprocess.run(command, cwd=folder, input=listed, capture_output=True, text=True)
    found: dict[str, list[Tag]] = defaultdict(list)
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        if tag.get("_type") == "tag" and tag.get("kind") not in NOT_DEFINITIONS and "line" in tag:
            name = re.split(r"[.:#]+", tag["name"])[-1]
            found[name].append(Tag(tag["path"], tag["line"], tag.get("end", 0)))
    return found


def is_range(hit, tag: Tag) -> bool:
    """Whether a result covers the definition, and not just some lines that hold its name."""
    if hit.path != tag.path or not hit.start_line <= tag.line <= hit.end_line:
        return False
    begins = tag.line - hit.start_line <= NEAR_LINES
    return begins and (hit.symbol != "" or not tag.end or abs(hit.end_line - tag.end) <= NEAR_LINES)


def symbol(hits, name: str, targets: list[dict], paths: set[str], tags) -> bool | None:
    """Whether the first result is the definition asked for; None if unknown."""
    lines = [one for one in targets if "start_line" in one]
    definitions = [tag for tag in tags.get(name, []) if tag.path in paths] or tags.get(name, [])
    if not hits or not (lines or definitions):
        return None if not (lines or definitions) else False
    if any(is_range(hits[0], tag) for tag in definitions):
        return True
    return any(
        hits[0].path.endswith(one["path"])
        and int(one["start_line"]) - NEAR_LINES <= hits[0].start_line <= int(one["end_line"])
        and hits[0].symbol.split(".")[-1] == name
        for one in lines
    )


def sentence(hits, query: str, paths: set[str], tags) -> bool | None:
    """Whether the first result in the target file covers the definition that the question names."""
    known = [
        tag
        for word in NAME.findall(query)
        if SPELLED.search(word)
        for tag in tags.get(word, [])
        if tag.path in paths
    ]
    shown = [hit for hit in hits if hit.path in {tag.path for tag in known}]
    if not shown:
        return None
    return any(
        hit.start_line <= tag.line <= hit.end_line
        for hit in shown[:1]
        for tag in known
        if tag.path == hit.path
    )


def main() -> None:
    """Prints both shares, and the misses if requested."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-retrieval"))
    parser.add_argument("--misses", action="store_true")
    args = parser.parse_args()
    roots = {
        one["name"]: one.get("benchmark_root") or ""
        for one in json.loads((retrieval.RETRIEVAL / "repos.json").read_text())
    }
    tags: dict[str, dict[str, list[Tag]]] = {}
    counted: dict[str, list[bool]] = defaultdict(list)
    with Engine(Settings(home=args.home)) as engine:
        for one in retrieval.questions():
            folder = args.checkouts / one["repo"]
            if not folder.exists():
                continue
            by_name = tags.get(one["repo"]) or tags.setdefault(one["repo"], tags_of(folder))
            paths = {
                retrieval.full_path(folder, roots[one["repo"]], target["path"])
                for target in one["relevant"]
            }
            hits = engine.search(one["query"], path=folder).results
            if one["category"] == "symbol":
                name = NAME.findall(one["query"])[-1]
                group, good = "symbol", symbol(hits, name, one["relevant"], paths, by_name)
            else:
                group, good = "sentence", sentence(hits, one["query"], paths, by_name)
            if good is None:
                continue
            counted[group].append(good)
            if args.misses and not good:
                first = f"{hits[0].handle} {hits[0].start_line}-{hits[0].end_line}" if hits else ""
                print(f"{group}: {one['repo']}: {one['query']}: {first}")
    for group, values in sorted(counted.items()):
        print(f"{group:9} {sum(values) / len(values):.3f}  n={len(values)}")


if __name__ == "__main__":
    main()
