"""How many names of functions are refused since several definitions have them.

    python benchmarks/owners.py REPOSITORY [--language NAME]... [--show 10]

Every bare name of a function or method that codelens knows in REPOSITORY is asked as a handle.
A prototype and its definition are one function, so neither may be a second owner. What is left
has bodies in several places (`main`, static functions): `expand` lists these, `related` and
`impact` answer for each of them.
"""

from __future__ import annotations

import argparse
import collections
from pathlib import Path

from codelens.answers.reading_answers import SymbolLine
from codelens.config import load
from codelens.engine.engine import Engine
from codelens.errors import HandleError

_FUNCTIONS = {"function", "method"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--language", action="append", help="functions of these languages only")
    parser.add_argument("--show", type=int, default=10, help="refused names to list")
    args = parser.parse_args()
    with Engine(load()) as engine:
        places: dict[str, list[SymbolLine]] = collections.defaultdict(list)
        for line in engine.export_symbols(path=args.repository):
            if line.kind in _FUNCTIONS and line.language in (args.language or [line.language]):
                places[line.name].append(line)
        names = sorted(places)
        answer = engine.expand(names, path=args.repository, max_lines=1, signatures=True)
        refused = {item.asked: item for item in answer.items if item.error}
        unanswered = [name for name in refused if not _is_answered(engine, args.repository, name)]
    several = sum(len(lines) > 1 for lines in places.values())
    print(f"{len(names):,} names of functions, {several:,} of them in several places")
    print(f"expand refuses {len(refused):,}; of these related refuses {len(unanswered):,}")
    for name in sorted(refused, key=lambda name: -len(places[name]))[: args.show]:
        print(f"  {refused[name].error[:300]}")


def _is_answered(engine: Engine, repository: Path, name: str) -> bool:
    try:
        engine.related(name, path=repository)
    except HandleError:
        return False
    return True


if __name__ == "__main__":
    main()
