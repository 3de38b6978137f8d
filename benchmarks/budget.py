#!/usr/bin/env python3
"""Measures whether codelens became slower: CPU of its steps against yardsticks and the budget.

    python benchmarks/budget.py              the table; exit code 1 where a ratio is 20 % worse
    python benchmarks/budget.py --record     makes the current ratios the budget

The tree is the standard library of the running Python, put under git in a scratch folder, so no
network is needed. Each step is measured in turns with a yardstick that does not involve codelens.
The median of the ratios counts, because a slow or busy machine slows both. CPU is user + system of
a process and its children, from the operating system. `budget.toml` holds the budget.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from speed import GIT_ENV, PYTHON, parse_only, run

BUDGET = Path(__file__).with_name("budget.toml")
ALLOWED = 1.2
"""Maximum ratio, relative to the recorded one."""
LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "site-packages", "dist-packages", "__pycache__"}
START = "import argparse, dataclasses, inspect, json, logging, pathlib, re, sqlite3, ssl, typing"
"""The yardstick for startup: modules of the standard library that a search also imports."""


LOOKS = """
import time
from codelens.engine.engine import Engine
engine = Engine()
engine.look(path='.')
start = time.process_time()
for _ in range(10):
    engine.look(path='.')
print((time.process_time() - start) / 10)
"""


@dataclass(frozen=True)
class Step:
    """A codelens step and its yardstick; each returns seconds of CPU."""

    name: str
    yardstick: str
    step_cpu: Callable[[], float]
    yardstick_cpu: Callable[[], float]
    rounds: int = 15


def standard_library(to: Path) -> None:
    """Makes a git repository of the standard library's modules."""
    source = Path(sysconfig.get_path("stdlib"))
    for file in sorted(source.rglob("*.py")):
        place = file.relative_to(source)
        if not LEFT_OUT.intersection(place.parts):
            (to / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to / place)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "standard library"]):
        subprocess.run(
            ["git", "-c", "user.name=b", "-c", "user.email=b@example.com", *command],
            cwd=to, env=GIT_ENV | {"PATH": os.environ["PATH"]}, check=True,
        )  # fmt: skip


# Without compiled copies each start would compile all modules again.
STARTS_AS_INSTALLED = {"PYTHONDONTWRITEBYTECODE": ""}


def steps(repo: Path, home: Path) -> list[Step]:
    """The steps to measure, in the order they must run: the index comes first."""

    def python(code: str) -> float:
        return run([PYTHON, "-P", "-c", code], repo, STARTS_AS_INSTALLED)["cpu_s"]

    def codelens(*arguments: str) -> float:
        command = [PYTHON, "-P", "-m", "codelens", *arguments]
        env = {"CODELENS_HOME": str(home), **STARTS_AS_INSTALLED}
        return run(command, repo, env)["cpu_s"]

    def look() -> float:
        env = {**os.environ, "CODELENS_HOME": str(home)}
        done = subprocess.run(
            [PYTHON, "-P", "-c", LOOKS], cwd=repo, env=env, check=True, capture_output=True
        )
        return float(done.stdout)

    def cold_index() -> float:
        shutil.rmtree(home, ignore_errors=True)
        return codelens("index", "--json")

    def git_status() -> float:
        return run(["git", "status", "--porcelain"], repo, GIT_ENV)["cpu_s"]

    def edited_search() -> float:
        with (repo / "argparse.py").open("ab") as file:
            file.write(b"\n# edited\n")
        return codelens("search", "ArgumentParser")

    return [
        Step("cold index", "parse only", cold_index, lambda: parse_only(repo)["cpu_s"], 3),
        Step("look, nothing changed", "git status", look,
             git_status),
        Step("search of a name", "imports", lambda: codelens("search", "ArgumentParser"),
             lambda: python(START)),
        Step("search of a sentence", "imports",
             lambda: codelens("search", "how are command line options parsed"),
             lambda: python(START)),
        Step("one edit, then a search", "imports", edited_search, lambda: python(START)),
        Step("focus", "Python alone", lambda: codelens("focus", "on", "--here"),
             lambda: python("pass")),
        Step("--version", "Python alone", lambda: codelens("--version"), lambda: python("pass")),
    ]  # fmt: skip


def ratio(step: Step) -> float:
    """The median of codelens / yardstick, taken in turns; the first round only warms up."""
    pairs = [(step.step_cpu(), step.yardstick_cpu()) for _ in range(step.rounds + 1)][1:]
    return statistics.median(step_cpu / yardstick_cpu for step_cpu, yardstick_cpu in pairs)


def verdict(now: float, recorded: float | None) -> str:
    """Compares a ratio with the budget: `new`, `worse` by more than is allowed, or `holds`."""
    if recorded is None:
        return "new"
    return "worse" if now > ALLOWED * recorded else "holds"


def written(ratios: dict[str, float]) -> str:
    """The budget as TOML."""
    lines = [f'"{name}" = {value:.3g}' for name, value in ratios.items()]
    return "\n".join(["# Written by `python benchmarks/budget.py --record`.", *lines, ""])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    recorded = tomllib.loads(BUDGET.read_text(encoding="utf-8")) if BUDGET.exists() else {}
    ratios: dict[str, float] = {}
    print("| step | against | ratio | recorded | |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="codelens-budget-") as scratch:
        repo, home = Path(scratch, "repo"), Path(scratch, "home")
        repo.mkdir()
        standard_library(repo)
        for step in steps(repo, home):
            now = ratios[step.name] = ratio(step)
            before = recorded.get(step.name)
            recorded_ratio = "" if before is None else f"{before:.3g}"
            line = f"| {step.name} | {step.yardstick} | {now:.3g} | {recorded_ratio} |"
            print(line, verdict(now, before), "|", flush=True)
    if args.record:
        BUDGET.write_text(written(ratios), encoding="utf-8")
        return 0
    return int(any(verdict(ratios[name], recorded.get(name)) == "worse" for name in ratios))


if __name__ == "__main__":
    sys.exit(main())
