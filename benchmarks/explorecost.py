"""Compares the CPU of one explore with one search, warm: each task was asked once before.

    python benchmarks/explorecost.py REPO... [--tasks 30] [--home FOLDER]

The tasks are subjects of the latest commits, chosen by the rules of `benchmarks/history.py`. They
are asked of the tree of HEAD, by ref, so a bare repository works. The measurement is the CPU of
the process, with 8,000 tokens per explore and ten results per search.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import history

from codelens.config import Settings
from codelens.engine.engine import Engine


def subjects(repo: Path, most: int) -> list[str]:
    """The first paragraphs of the latest informative commit messages."""
    log = history.git(repo, "log", "--no-merges", "-n", str(most * 20), "--format=%x01%B")
    messages = [history.telling(body) for body in log.decode("utf-8", "replace").split("\1")[1:]]
    return list(dict.fromkeys(message for message in messages if message))[:most]


def spent(ask: Callable[[], object]) -> float:
    """Milliseconds of CPU of a second call."""
    ask()
    started = time.process_time()
    ask()
    return (time.process_time() - started) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("repos", nargs="+", type=Path)
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-explorecost"))
    args = parser.parse_args()
    print(
        "| repository | files | explore p50 | p95 | search p50 | p95 |\n|---|---|---|---|---|---|"
    )
    with Engine(Settings(home=args.home)) as engine:
        for repo in args.repos:
            files = engine.status(path=repo, ref="HEAD").files
            tasks = subjects(repo, args.tasks)
            cells: list[str] = []
            for ask in (engine.explore, engine.search):
                times = sorted(spent(partial(ask, task, path=repo, ref="HEAD")) for task in tasks)
                at_95 = times[int(len(times) * 0.95)]
                cells += [f"{statistics.median(times):.0f} ms", f"{at_95:.0f} ms"]
            name = repo.parent.name if repo.name == "repo" else repo.name
            print(f"| {name} | {files:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
