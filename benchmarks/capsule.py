"""Checks capsules without a language model: do answers hold the code that real commits changed?

    python benchmarks/capsule.py run MIRROR ANSWERS.jsonl [--first 6] [--repo OWNER/NAME ...]
        [--methods explore,search] [--home FOLDER] [--tasks FILE] [--half A|B]
    python benchmarks/capsule.py score MIRROR ANSWERS.jsonl [--by language] [--tasks FILE]
    python benchmarks/capsule.py ablation MIRROR [--first 6] [--repo OWNER/NAME ...]

`CODELENS_SHARED` names the folder of the data set. Its folder `capsule` holds the scorer and the
tasks, one per commit: the commit's message, and the code that it changed and used. `MIRROR` has a
git folder `owner+name/repo` for each repository, which may be bare. Each task is asked of the tree
before its commit. `--tasks` names another file of tasks in the same form:
`benchmarks/judged/reports.jsonl` has bug reports. `--half` keeps the tasks of half of the
repositories: A is for choosing rules, B is for judging them. `score` scores the tasks that the
answers are about.

Methods: `explore` is the text of `Engine.explore`; `default` is that without a budget, which is at
most 8,000 tokens, so `CODELENS_BUDGETS` should be 8192; `search` is the text of `cl_search`, then
`cl_expand` of its handles in their order, until the budget is spent.

`ablation` leaves out one part at a time and asks only repositories outside `HELD_OUT`. No weight
was tuned on those of `HELD_OUT` before 26 November 2026.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from home_settings import home_settings

from codelens import capsule
from codelens.engine import explore_query, task_candidates
from codelens.engine.engine import Engine
from codelens.rank import ranking_weights
from codelens.render import explore_text
from codelens.serve import answer_shapes

SHARED = Path(os.environ.get("CODELENS_SHARED", "shared"))
CAPSULE = SHARED / "capsule"
BUDGETS = tuple(map(int, os.environ.get("CODELENS_BUDGETS", "1024 2048 4096 8192 16384").split()))
HELD_OUT = frozenset("google/gson serilog/serilog celery/celery jekyll/jekyll trpc/trpc".split())


def half_of(repo: str) -> str:
    """The half of the tasks that a repository belongs to."""
    return "A" if hashlib.sha1(repo.encode()).digest()[0] % 2 == 0 else "B"


def tasks(file: Path, first: int, repos: list[str], half: str) -> list[dict]:
    """The first tasks of each repository."""
    seen: collections.Counter[str] = collections.Counter()
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        seen[one["repo"]] += 1
        chosen = not repos or one["repo"] in repos
        if seen[one["repo"]] <= first and chosen and half in {"", half_of(one["repo"])}:
            found.append(one)
    return found


def explored(engine: Engine, folder: Path, task: dict, budget: int) -> str:
    answer = engine.explore(task["query"], path=folder, ref=task["parent"], max_tokens=budget)
    return explore_text.explore(answer)


def searched(engine: Engine, folder: Path, task: dict, budget: int) -> str:
    answer = engine.search(task["query"], path=folder, ref=task["parent"])
    text = answer_shapes.search(answer, "concise", budget)
    left = budget - len(text.encode()) // 3
    handles = [one.handle for one in answer.results]
    if not handles or left < 100:
        return text
    read = engine.expand(handles, path=folder, ref=task["parent"])
    return f"{text}\n{answer_shapes.expand(read, 'concise', left)}"


def by_default(engine: Engine, folder: Path, task: dict, budget: int) -> str:
    answer = engine.explore(task["query"], path=folder, ref=task["parent"])
    return explore_text.explore(answer)


METHODS = {"explore": explored, "default": by_default, "search": searched}


def answers(
    mirror: Path, home: Path, wanted: list[dict], methods: list[str], label: str = ""
) -> Iterator[dict]:
    spent: list[float] = []
    with Engine(home_settings(home)) as engine:
        for task in wanted:
            folder = mirror / task["repo"].replace("/", "+") / "repo"
            if not folder.exists():
                continue
            engine.look(path=folder, ref=task["parent"])
            for method in methods:
                for budget in BUDGETS:
                    started = time.process_time()
                    text = METHODS[method](engine, folder, task, budget)
                    spent.append(time.process_time() - started)
                    if len(text.encode()) > 3 * budget:
                        print(f"over: {task['task']} {method} {budget}", file=sys.stderr)
                    yield {"task": task["task"], "budget": budget, "method": label or method,
                           "text": text}  # fmt: skip
    if spent:
        spent.sort()
        print(f"{len(spent)} answers, CPU p50 {statistics.median(spent) * 1000:.0f} ms, "
              f"p95 {spent[int(len(spent) * 0.95)] * 1000:.0f} ms", file=sys.stderr)  # fmt: skip


PARTS: Mapping[str, tuple[tuple[object, str, object], ...]] = {
    "all parts": (),
    "no neighbours": ((task_candidates, "FOLLOWED", 0),),
    "no containers' heads": ((task_candidates, "_HEAD_LINES", -1),),
    "no windows: long bodies are left out": ((capsule, "_FEWEST", 10**6),),
    "no names": (
        (explore_query, "_NAMES_SHARE", 0.0),
        (explore_query, "_LEAST_NAMES_SHARE", 0.0),
    ),
    "no tests": ((explore_query, "_MOST_TESTS_SHARE", 0.0),),
    **{
        f"definitions: no {name}": (
            (
                ranking_weights,
                table,
                MappingProxyType({**getattr(ranking_weights, table), name: 0.0}),
            ),
        )
        for table in ("DEFINITIONS", "TASK_DEFINITIONS")
        for name in getattr(ranking_weights, table)
    },
}
"""The parts to leave out, one row at a time."""


@contextmanager
def without(part: str) -> Iterator[None]:
    before = [(module, name, getattr(module, name)) for module, name, _ in PARTS[part]]
    for module, name, value in PARTS[part]:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def score(mirror: Path, tasks_file: Path, file: Path, by: str) -> None:
    command = [sys.executable, str(CAPSULE / "score.py"), str(tasks_file)]
    more = ["--by", by] if by else []
    # If a path may mean two files, the scorer takes the first of a set: scores vary by .01.
    fixed = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run([*command, str(mirror), str(file), *more], check=True, env=fixed)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("run", "score", "ablation"))
    parser.add_argument("mirror", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--first", type=int, default=13)
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--methods", default="explore,search")
    parser.add_argument("--by", default="")
    parser.add_argument("--tasks", type=Path, default=CAPSULE / "tasks.jsonl")
    parser.add_argument("--half", default="", choices=("", "A", "B"))
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-capsule"))
    args = parser.parse_args()
    if args.what == "score":
        score(args.mirror, args.tasks, args.answers, args.by)
        return
    wanted = tasks(args.tasks, args.first, args.repo, args.half)
    with args.answers.open("w", encoding="utf-8") as out:
        if args.what == "run":
            for one in answers(args.mirror, args.home, wanted, args.methods.split(",")):
                out.write(json.dumps(one) + "\n")
        else:
            wanted = [one for one in wanted if one["repo"] not in HELD_OUT]
            for part in PARTS:
                with without(part):
                    for one in answers(args.mirror, args.home, wanted, ["explore"], part):
                        out.write(json.dumps(one) + "\n")
    score(args.mirror, args.tasks, args.answers, args.by)


if __name__ == "__main__":
    main()
