"""Measures the CPU of `conflicts`, of `diff` over a long range, and of answers asked again.

    python benchmarks/branchcost.py conflicts [--files 5000] [--worktrees 10] [--at FOLDER]
    python benchmarks/branchcost.py diff REPOSITORY [--commits 500]
    python benchmarks/branchcost.py answers REPOSITORY --ask 'diff A...B --path FOLDER' \\
        --ask 'related NAME' [--times 4]

`answers` runs each question as commands of their own: the first after `codelens index` alone, so
without the view of another commit and without edges, then again. It prints user and system time
with children, and the clock in brackets; Python's start and the imports are included.

`conflicts` makes a repository of small files and worktrees with a few uncommitted edits each.
`--at` keeps it, so that two versions can be measured in turn (`PYTHONPATH=OTHER_CHECKOUT`).
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from codelens.config import Settings
from codelens.engine.engine import Engine


def git(where: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=where, check=True, capture_output=True,
    ).stdout.decode()  # fmt: skip


def cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def conflicts(folder: Path, files: int, worktrees: int) -> None:
    root = folder / "main"
    if not root.exists():
        make(folder, files, worktrees)
    with Engine(Settings(home=folder / "home")) as engine:
        for _ in range(8):
            started = cpu()
            answer = engine.conflicts(path=root)
            spent = (cpu() - started) * 1000
            outcome = f"{len(answer.results)} with something to say, {answer.clean} clean"
            size = f"{answer.receipt.files} files, {worktrees} worktrees"
            print(f"{size}: {spent:.0f} ms CPU, {outcome}", flush=True)


def make(folder: Path, files: int, worktrees: int) -> None:
    root = folder / "main"
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for number in range(files):
        file = root / f"part{number // 100}" / f"file{number}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            f"def first{number}(one):\n    return one + {number}\n\n\n"
            f"def second{number}(two):\n    return first{number}(two) * 2\n"
        )
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    for number in range(worktrees):
        tree = folder / f"tree{number}"
        git(root, "worktree", "add", "-q", "-b", f"branch{number}", str(tree))
        for at in range(5):
            file = tree / f"part{at}" / f"file{at * 100 + number}.py"
            file.write_text(file.read_text().replace("* 2", f"* {number + 3}"))
    for at in range(5):
        file = root / f"part{at}" / f"file{at * 100 + 2}.py"
        file.write_text(file.read_text().replace("* 2", "* 99"))


def diff(where: Path, commits: int, home: Path) -> None:
    with Engine(Settings(home=home)) as engine:
        for uses in (False, False, True, True):
            started = cpu()
            answer = engine.diff(f"HEAD~{commits}..HEAD", path=where, uses=uses)
            definitions = sum(len(file.definitions) for file in answer.files)
            how = f"{'with' if uses else 'without'} uses: {cpu() - started:.2f} s CPU"
            size = f"{len(answer.files)} files, {definitions} definitions"
            print(f"{where.name}: {commits} commits, {size}, {how}")


def answers(where: Path, questions: list[str], times: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        indexed = Path(scratch) / "indexed"
        command(indexed, where, "index")
        spent: list[list[float]] = []
        for question in questions:
            home = Path(scratch) / "home"
            shutil.copytree(indexed, home)
            row: list[float] = []
            for _ in range(times):
                started, began = cpu(), time.monotonic()
                text = command(home, where, *shlex.split(question))
                row.append(cpu() - started)
                print(f"{row[-1]:.2f} ({time.monotonic() - began:.2f})", end="  ", flush=True)
            shutil.rmtree(home)
            spent.append(row)
            print(f"{question}: {text.partition(chr(10))[0][:100]}", flush=True)
    for at in range(times):
        column = sorted(row[at] for row in spent)
        worst = column[min(len(column) - 1, round(0.95 * len(column)))]
        print(f"time {at + 1}: p50 {statistics.median(column):.2f} s, p95 {worst:.2f} s")


def command(home: Path, where: Path, *words: str) -> str:
    """What a command prints; exit code 1 is an empty answer."""
    env = {**os.environ, "CODELENS_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "codelens", "-C", str(where), *words],
        capture_output=True, env=env, check=False,
    )  # fmt: skip
    if done.returncode > 1:
        raise SystemExit(done.stderr.decode())
    return done.stdout.decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("conflicts", "diff", "answers"))
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--worktrees", type=int, default=10)
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--at", type=Path, help="an empty folder, or one of an earlier run")
    parser.add_argument("--ask", action="append", default=[], help="a command with its arguments")
    parser.add_argument("--times", type=int, default=4)
    args = parser.parse_args()
    if args.what == "answers":
        answers(args.repository, args.ask, args.times)
        return
    if args.what == "conflicts":
        with tempfile.TemporaryDirectory() as scratch:
            conflicts(args.at or Path(scratch), args.files, args.worktrees)
        return
    with tempfile.TemporaryDirectory() as home:
        diff(args.repository, args.commits, Path(home))


if __name__ == "__main__":
    main()
