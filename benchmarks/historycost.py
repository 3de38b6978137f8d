"""Compares `codelens history` with `git log -L`: what it finds, and at which cost.

    python benchmarks/historycost.py REPOSITORY... [--definitions 34]

Compares the commits that `git log -L` reports for the lines of definitions with those of codelens,
as far back as the commit that codelens says added the definition. Each missing commit is checked:
if the definition of that name has the same text before and after it, git followed other lines
(`drifted`). Commits older than the one that added the definition are `beyond`: git continues with
the lines of something else. A history that does not end with `added` is `cut`, which is always
wrong. CPU is that of git's process, and of this one and its children (`git rev-list`) for the
question alone: once with nothing cached about these versions, and again.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of
from codelens.handles.handle_grammar import parse_handle
from codelens.types import RelPath


def git(where: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=where, check=True, capture_output=True
    ).stdout.decode("utf-8", "replace")


def cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def by_git(where: Path, path: str, start: int, end: int) -> tuple[list[str], float]:
    started = cpu()
    text = git(where, "log", "-s", "--format=%H", f"-L{start},{end}:{path}")
    return text.split(), cpu() - started


def texts(where: Path, commit: str, path: str, qualified: str) -> list[bytes]:
    data = subprocess.run(
        ["git", "cat-file", "blob", f"{commit}:{path}"], cwd=where, capture_output=True
    ).stdout
    language = language_of(RelPath(path.encode()), data, {})
    lines = data.split(b"\n")
    return [
        b"\n".join(lines[one.start_line - 1 : one.end_line])
        for one in facts_of(data, language).structure.symbols
        if one.qualified == qualified
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--definitions", type=int, default=34)
    args = parser.parse_args()
    totals: dict[str, int] = dict.fromkeys(
        ("asked", "git", "found", "drifted", "missed", "beyond", "more", "moves", "cut"), 0
    )
    with tempfile.TemporaryDirectory() as home:
        for where in args.repositories:
            one(where, args.definitions, Path(home), totals)
    print(totals, f"recall {totals['found'] / max(totals['found'] + totals['missed'], 1):.4f}")


def one(where: Path, count: int, home: Path, totals: dict[str, int]) -> None:
    with Engine(Settings(home=home)) as engine:
        rows = list(engine.export_symbols(path=where, ref="HEAD"))
        named = Counter((row.path, row.qualified_name) for row in rows)
        symbols = [
            row
            for row in rows
            if row.kind in {"function", "method", "class"}
            and row.end_line - row.start_line > 5
            and named[row.path, row.qualified_name] == 1
        ]
        chosen = symbols[:: max(1, len(symbols) // count)][:count]
        cost = [0.0, 0.0, 0.0]
        for row in chosen:
            path = row.path
            handle = f"{path}#{row.qualified_name}"
            git_commits, spent = by_git(where, path, row.start_line, row.end_line)
            cost[0] += spent
            for at in (1, 2):
                started = cpu()
                answer = engine.history(handle, path=where, ref="HEAD", limit=1000)
                cost[at] += cpu() - started
            compare(where, handle, answer, git_commits, totals)
        print(f"{where}: {len(chosen)} definitions, {totals}; CPU git log -L {cost[0]:.1f} s, "
              f"first {cost[1]:.1f} s, again {cost[2]:.1f} s", flush=True)  # fmt: skip


def compare(
    where: Path, handle: str, answer, git_commits: list[str], totals: dict[str, int]
) -> None:
    by_codelens = {event.commit: event for event in answer.results}
    oldest = answer.results[-1].commit if answer.results else ""
    cut = git_commits.index(oldest) + 1 if oldest in git_commits else len(git_commits)
    totals["asked"] += 1
    totals["git"] += cut
    totals["beyond"] += len(git_commits) - cut
    totals["cut"] += not answer.results or "added" not in answer.results[-1].how
    totals["moves"] += sum("moved" in event.how for event in answer.results)
    totals["more"] += sum(commit not in git_commits for commit in by_codelens)
    names = {(parse_handle(event.handle).path, parse_handle(event.handle).symbol)
             for event in answer.results}  # fmt: skip
    for commit in git_commits[:cut]:
        if commit in by_codelens:
            totals["found"] += 1
            continue
        changed = any(
            texts(where, commit, (path or b"").decode(), name)
            != texts(where, f"{commit}~1", (path or b"").decode(), name)
            and texts(where, f"{commit}~1", (path or b"").decode(), name)
            for path, name in names
        )
        totals["missed" if changed else "drifted"] += 1
        print(f"{'missed' if changed else 'drifted'}: {where} {handle} {commit[:10]}")


if __name__ == "__main__":
    main()
