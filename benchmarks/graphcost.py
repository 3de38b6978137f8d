#!/usr/bin/env python3
"""Measures what the graph costs on any repository: resolving, questions, and an edit.

    python benchmarks/graphcost.py REPOSITORY... [--asked N] [--repeat N] [--json FILE]

Each repository is cloned into a scratch folder (hard links, the original is not modified) and
indexed in a scratch CODELENS_HOME. All figures are CPU: of a whole process and its children for
indexing (`os.wait4`), of the process for the rest (`time.process_time`), with the garbage collector
configured as the command line and the server configure it.

- resolving: all edges of all files from scratch, in a separate process, against the CPU of indexing
  from scratch in the same run; the median of `--repeat` runs of each.
- questions: `--asked` random definitions (the same for the same repository), in one process;
  "first" is a definition not asked about before, "warm" the best of three further times. The
  freshness check of the files is part of each question.
- edit: a line added inside a function, and a definition added; then a freshness check, then each
  question once, on the definition that was asked about last. Medians over `--repeat` edits of each
  kind.
- noise: spread of the same warm check, (p95 - p50) / p50 of 20.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = sys.executable
GIT_ENV = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}

RESOLVE = """
import gc, json, resource, time
gc.set_threshold(50_000, 20, 50)
from codelens.engine.engine import Engine
from codelens.engine.current_view import ViewRequest
from codelens.resolve.graph import graph_of
engine = Engine()
engine.look()
with engine.pool.view(ViewRequest()) as view, view.reading():
    by_path = view.snapshot.by_path
    read = lambda path: view.read(by_path[path]) if path in by_path else None
    start = time.process_time()
    edges = sum(1 for _ in graph_of(view.snapshot, read).every())
    spent = time.process_time() - start
rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({'cpu_s': spent, 'edges': edges, 'rss_mib': rss, 'files': len(by_path)}))
"""

ASK = """
import gc, json, random, sys, time
gc.set_threshold(50_000, 20, 50)
from codelens.engine.engine import Engine
asked, repeat = int(sys.argv[1]), int(sys.argv[2])
engine = Engine()
cpu = time.process_time
chance = random.Random(5)
kinds = {'function', 'method', 'class', 'struct', 'interface', 'trait'}
lines = [one for one in engine.export_symbols() if one.kind in kinds]
count = {}
for one in lines:
    count[one.path, one.qualified_name] = count.get((one.path, one.qualified_name), 0) + 1
known = sorted({one for one in count if count[one] == 1 and '#' not in one[0]})
chosen = chance.sample(known, min(asked, len(known)))
handles = [f'{path}#{name}' for path, name in chosen]
ways = {
    'related': lambda one: engine.related(one),
    'related, depth 3': lambda one: engine.related(one, depth=3),
    'impact': lambda one: engine.impact([one]),
    'impact, depth 5': lambda one: engine.impact([one], depth=5),
    'map': lambda one: engine.map(),
    'map with a focus': lambda one: engine.map([one]),
}
def spent(do):
    start = cpu()
    do()
    return (cpu() - start) * 1000
looks = [spent(engine.look) for _ in range(21)][1:]
out = {'looks': looks, 'questions': {}, 'edits': {}}
opening = {name: spent(lambda: way(handles[0])) for name, way in ways.items()}
out['opening'] = opening
for name, way in ways.items():
    first = [spent(lambda: way(one)) for one in handles[1:]]
    warm = [min(spent(lambda: way(one)) for _ in range(3)) for one in handles]
    out['questions'][name] = {'first': first, 'warm': warm}
endings = {
    '.py': '\\n\\ndef zz%d():\\n    return [%d]\\n',
    '.go': '\\nfunc zz%d() int { return %d }\\n',
    '.c': '\\nint zz%d(void) { return %d; }\\n',
    '.rs': '\\nfn zz%d() -> i32 { %d }\\n',
    '.ts': '\\nexport function zz%d() { return %d }\\n',
    '.js': '\\nfunction zz%d() { return %d }\\n',
    '.java': '\\nclass Zz%d { int a() { return %d; } }\\n',
}
path = next((p for p, _ in chosen if p[p.rfind('.'):] in endings), None)
if path:
    form = endings[path[path.rfind('.'):]]
    text = open(path, newline='').read()
    open(path, 'w', newline='').write(text + form % (0, 0))
    for way in ways.values():
        way(handles[0])
    for kind in ('body', 'definition'):
        rows = []
        for number in range(1, repeat + 1):
            numbers = (0, number) if kind == 'body' else (number, number)
            open(path, 'w', newline='').write(text + form % numbers)
            row = {'look': spent(engine.look)}
            row.update((name, spent(lambda: way(handles[0]))) for name, way in ways.items())
            rows.append(row)
        out['edits'][kind] = rows
print(json.dumps(out))
"""


def run(code: str, repo: Path, home: Path, *args: str) -> dict:
    done = subprocess.run(
        [PYTHON, "-c", code, *args], cwd=repo, env={**os.environ, "CODELENS_HOME": str(home)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def index(repo: Path, home: Path) -> float:
    """CPU seconds of indexing from scratch."""
    process = subprocess.Popen(
        [PYTHON, "-P", "-m", "codelens", "index"], cwd=repo, stdout=subprocess.DEVNULL,
        env={**os.environ, "CODELENS_HOME": str(home)},
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"indexing {repo} failed")
    return usage.ru_utime + usage.ru_stime


def measure(source: Path, asked: int, repeat: int) -> dict:
    with tempfile.TemporaryDirectory(prefix="graphcost-") as scratch:
        repo, home = Path(scratch) / "repo", Path(scratch) / "home"
        command = ["git", "clone", "-q", "--local", str(source), str(repo)]
        subprocess.run(command, check=True, env={**os.environ, **GIT_ENV})
        runs = [index(repo, home / str(number)) for number in range(repeat)]
        home = home / "0"
        resolved = [run(RESOLVE, repo, home) for _ in range(repeat)]
        answers = run(ASK, repo, home, str(asked), str(repeat))
    return {"name": source.name, "index": runs, "resolve": resolved, **answers}


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def show(result: dict) -> None:
    cold = statistics.median(result["index"])
    resolve = statistics.median(one["cpu_s"] for one in result["resolve"])
    last, looks = result["resolve"][-1], result["looks"]
    usual = statistics.median(looks)
    noise = (percentile(looks, 0.95) - usual) / usual
    print(f"\n{result['name']}: {last['files']:,} files, {last['edges']:,} edges; "
          f"index {cold:.1f} s, resolving {resolve:.2f} s = {resolve / cold:.0%} "
          f"(peak {last['rss_mib']:.0f} MiB); look {usual:.0f} ms, noise {noise:.0%}")  # fmt: skip
    print("\n| CPU ms | opens | first p50 | p95 | warm p50 | p95 | after an edit | of a name |")
    print("|---|---|---|---|---|---|---|---|")
    edits = result["edits"]
    for name, both in result["questions"].items():
        cells = [result["opening"][name]]
        for rows in (both["first"], both["warm"]):
            cells += [percentile(rows, 0.5), percentile(rows, 0.95)]
        cells += [statistics.median(row[name] for row in rows) for rows in edits.values()]
        print(f"| {name} | " + " | ".join(f"{cell:.0f}" for cell in cells) + " |")
    if edits:
        look_times = [statistics.median(row["look"] for row in rows) for rows in edits.values()]
        print("| the look before it | | | | | | " + " | ".join(f"{one:.0f}" for one in look_times)
              + " |")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--asked", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = []
    for repository in args.repositories:
        found.append(measure(repository.resolve(), args.asked, args.repeat))
        show(found[-1])
        if args.json:
            args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
