#!/usr/bin/env python3
"""Measures what an existing index costs to use, on a repository of any size.

    python benchmarks/scale.py WORKTREE --home CODELENS_HOME [--related N] [--json FILE]

For repositories whose cold index takes minutes: make it once (`CODELENS_HOME=DIR codelens index`)
and measure the rest with it. Measures whole processes: `git status`, a search, and the first
`related` of N definitions. Measures one server (`Engine(keep_going=True)`): the freshness check, a
question without the check, and one edit of a file of about 17 and of about 160 kB to the right
answer, written in place and replaced as editors do. Edited files are restored. CPU is user +
system, in medians.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import time
from pathlib import Path

from speed import GIT_ENV, PYTHON, git, median, run, some_queries

NAMES = """
import json, os, random, sys
from pathlib import Path
from codelens.engine.engine import Engine
from codelens.engine.current_view import ViewRequest
count = int(sys.argv[1])
names = []
with Engine() as engine, engine.pool.view(ViewRequest(Path('.'))) as view:
    pick = random.Random(3)
    paths = {one.content: one.path for one in view.snapshot.files if one.content is not None}
    chosen = sorted(paths)
    chosen = pick.sample(chosen, min(len(chosen), 40 * count))
    symbols = view.snapshot.symbols(set(chosen))
    for content in chosen:
        functions = [one for one in symbols.get(content, ())
                     if one.kind in ('function', 'method') and len(one.name) > 5]
        if functions:
            names.append(os.fsdecode(paths[content]) + '#' + pick.choice(functions).qualified)
print(json.dumps(list(dict.fromkeys(names))[:count]))
"""

INSIDE = """
import gc, json, os, resource, sys, time
from pathlib import Path
from codelens.engine.engine import Engine
gc.set_threshold(150_000, 20, 50)  # as the command and the server set it
queries, edited = json.load(sys.stdin)
cpu = time.process_time
out = {}
with Engine(keep_going=True) as server:
    def spent(work):
        start, wall = cpu(), time.perf_counter()
        work()
        return [1000 * (cpu() - start), 1000 * (time.perf_counter() - wall)]
    out['first_look'] = spent(lambda: server.look(path='.'))
    out['looks'] = [spent(lambda: server.look(path='.')) for _ in range(9)]
    for query in queries[:5]:
        server.search(query, path='.')
    out['queries'] = [[*spent(lambda: server.search(query, path='.')), query] for query in queries]
    out['edits'] = {}
    for path, replaced in [(path, replaced) for path in edited for replaced in (False, True)]:
        data = Path(path).read_bytes()
        rows = []
        try:
            for number in range(5):
                name = f'measured_edit_{os.getpid()}_{replaced}_{number}'
                comment = b'#' if path.endswith(('.py', '.rb', '.sh')) else b'//'
                written = Path(path + '.measured') if replaced else Path(path)
                written.write_bytes(data + b'\\n' + comment + b' ' + name.encode() + b'\\n')
                written.replace(path)
                look = spent(lambda: server.look(path='.'))
                answer = spent(lambda: out.update(found=server.search(name, path='.')))
                right = [one.path for one in out.pop('found').results[:1]] == [path]
                rows.append([*look, *answer, right])
        finally:
            Path(path).write_bytes(data)
            server.look(path='.')
        out['edits'][path + ' (replaced)' * replaced] = rows
    out['peak_mib'] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(out))
"""


def asked(code: str, worktree: Path, home: Path, *args: str, given: object = None) -> object:
    done = subprocess.run(
        [PYTHON, "-P", "-c", code, *args], cwd=worktree, input=json.dumps(given), text=True,
        env={**os.environ, "CODELENS_HOME": str(home)}, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def of_size(worktree: Path, size: int) -> str:
    """A source file of about `size` bytes."""
    endings = ("*.c", "*.py", "*.go", "*.java", "*.ts", "*.js", "*.cc", "*.cpp", "*.rs", "*.kt")
    names = [name for name in git(worktree, "ls-files", "-z", *endings).split("\0") if name]
    sizes = {name: (worktree / name).stat().st_size for name in random.Random(5).sample(
        names, min(len(names), 5_000))}  # fmt: skip
    return min(sizes, key=lambda name: abs(sizes[name] - size))


def command(worktree: Path, home: Path, *args: str) -> dict[str, float]:
    env = {"CODELENS_HOME": str(home), "PYTHONDONTWRITEBYTECODE": ""}
    return run([PYTHON, "-P", "-m", "codelens", *args], worktree, env)


def measure(worktree: Path, home: Path, count: int) -> dict:
    result: dict = {"files": len(git(worktree, "ls-files", "-z").split("\0")) - 1}
    queries = some_queries(worktree, 60)
    result["git_status"] = median(
        [run(["git", "status", "--porcelain"], worktree, GIT_ENV) for _ in range(5)]
    )
    command(worktree, home, "search", queries[0])
    result["search"] = median([command(worktree, home, "search", queries[0]) for _ in range(5)])
    names = asked(NAMES, worktree, home, str(count))
    assert isinstance(names, list)
    result["related"] = [[*command(worktree, home, "related", n).values(), n] for n in names]
    result["related_again"] = [[*command(worktree, home, "related", n).values(), n] for n in names]
    edited = [of_size(worktree, size) for size in (17_000, 160_000)]
    result["server"] = asked(INSIDE, worktree, home, given=[queries, edited])
    return result


def spread(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{statistics.median(ordered):,.0f} / {ordered[int(len(ordered) * 0.95)]:,.0f}"


def report(result: dict) -> str:
    git_ms, server = 1000 * result["git_status"]["cpu_s"], result["server"]
    look = statistics.median(row[0] for row in server["looks"])
    lines = [
        f"{result['files']:,} files; ms of CPU, p50 / p95 where there are two, load "
        f"{os.getloadavg()[0]:.0f}\n",
        "| | CPU | on the clock |",
        "|---|---|---|",
        f"| `git status` | {git_ms:.0f} | {1000 * result['git_status']['wall_s']:.0f} |",
        f"| a search, whole process | {1000 * result['search']['cpu_s']:.0f} "
        f"| {1000 * result['search']['wall_s']:.0f} |",
        "| a server's first look "
        f"| {server['first_look'][0]:.0f} | {server['first_look'][1]:.0f} |",
        f"| further looks | {look:.1f} | {statistics.median(r[1] for r in server['looks']):.1f} |",
        f"| a question, look aside | {spread([row[0] - look for row in server['queries']])} "
        f"| {spread([row[1] for row in server['queries']])} |",
    ]
    for path, rows in server["edits"].items():
        right = sum(row[4] for row in rows)
        cpu = statistics.median(row[0] - look for row in rows)
        both = statistics.median(row[1] + row[3] for row in rows)
        lines.append(
            f"| an edit of `{path}`, without the check ({right} of {len(rows)} answers right) "
            f"| {cpu:.0f} | {both:.0f} with a search |"
        )
    for key, what in (("related", "first"), ("related_again", "the same again")):
        rows = result[key]
        lines.append(
            f"| `related` of {len(rows)} functions, {what}, whole process "
            f"| {spread([1000 * row[0] for row in rows])} "
            f"| {spread([1000 * row[1] for row in rows])} |"
        )
    lines.append(f"\nThe server had {server['peak_mib']:.0f} MiB at most.")
    slow = sorted(((row[0], row[-1]) for row in server["queries"]), reverse=True)[:5]
    lines.append("Slowest: " + "; ".join(f"{cpu:.0f} ms `{text}`" for cpu, text in slow))
    slow = sorted(((row[0], row[-1]) for row in result["related"]), reverse=True)[:3]
    lines.append("Slowest related: " + "; ".join(f"{cpu:.1f} s `{text}`" for cpu, text in slow))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worktree", type=Path)
    parser.add_argument("--home", type=Path, required=True, help="CODELENS_HOME with its index")
    parser.add_argument("--related", type=int, default=10)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    started = time.perf_counter()
    result = measure(options.worktree.resolve(), options.home.resolve(), options.related)
    print(report(result))
    print(f"({time.perf_counter() - started:.0f} s)")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
