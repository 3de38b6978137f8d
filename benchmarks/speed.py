#!/usr/bin/env python3
"""Measures what the index costs on any repository, compared with other tools in the same run.

The other tools: parsing alone, `git status`, universal-ctags and ripgrep if installed, and
codegraph if its program is given (`npm install @colbymchenry/codegraph`).

    python benchmarks/speed.py REPOSITORY [--repeat N] [--cold N] [--codegraph PROGRAM] [--keep DIR]

The repository is cloned into a scratch folder (hard links, the original is not modified) and
indexed in a scratch CODELENS_HOME; `--keep` leaves both in DIR, as `repo` and `home`, for
`scale.py`. CPU is user + system of the process and its children, from the operating system
(`os.wait4`), in whole processes unless noted otherwise. Machines are noisy: the table gives medians
of N runs for repeatable steps, and ratios against figures of the same run. The load is the mean of
the minute before the first cold index.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from speed_table import rows
from tree_memory import PeakMemory

HERE = Path(__file__).resolve().parent
PYTHON = sys.executable
GIT_ENV = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


def run(
    command: list[str], cwd: Path, env: dict[str, str], *, watched: bool = False
) -> dict[str, float]:
    """CPU, wall seconds and peak memory of one command and its children.

    `peak_mib` is that of the largest process. With `watched`, `together_mib` is the peak of all of
    them together.
    """
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, cwd=cwd, env={**os.environ, **env}, stdout=out, stderr=subprocess.STDOUT
        )
        together = PeakMemory(process.pid) if watched else None
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            out.seek(0)
            said = out.read().decode(errors="replace")
            raise SystemExit(f"{command} failed with {process.returncode}:\n{said}")
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.perf_counter() - start,
        "peak_mib": usage.ru_maxrss / 1024,
        "together_mib": together.end() if together else 0.0,
    }


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(one[key] for one in runs) for key in runs[0]}


def git(repo: Path, *args: str) -> str:
    return subprocess.run(
        ["git", *args], cwd=repo, env={**os.environ, **GIT_ENV}, check=True,
        capture_output=True, text=True, errors="replace",
    ).stdout  # fmt: skip


def codelens(
    repo: Path, home: Path, *args: str, repeat: int = 1, fresh: bool = False
) -> dict[str, float]:
    """Medians of a command; `fresh` deletes the index before each run."""
    # Without compiled copies each start would compile all modules again.
    env = {"CODELENS_HOME": str(home), "PYTHONDONTWRITEBYTECODE": ""}
    command = [PYTHON, "-P", "-m", "codelens", *args]
    runs: list[dict[str, float]] = []
    for _ in range(repeat):
        if fresh:
            shutil.rmtree(home, ignore_errors=True)
        runs.append(run(command, repo, env, watched=fresh))
    return median(runs)


INSIDE = """
import gc, json, sys, time, resource
from codelens.engine.engine import Engine
gc.set_threshold(150_000, 20, 50)  # as the command and the server set it
queries = json.load(sys.stdin)
engine = Engine()
cpu = time.process_time
out = {}
engine.search(queries[0], path='.')
looks = []
for _ in range(9):
    t = cpu(); engine.look(path='.')
    looks.append(cpu() - t)
out['look_ms'] = [1000 * one for one in looks]
looks = []
with Engine(keep_going=True) as server:
    server.look(path='.')
    for _ in range(9):
        t = time.thread_time(); server.look(path='.')
        looks.append(time.thread_time() - t)
out['server_look_ms'] = [1000 * one for one in looks]
rows = []
for query in queries:
    t, w = cpu(), time.perf_counter()
    receipt = engine.search(query, path='.').receipt
    rows.append((1000 * (cpu() - t), 1000 * (time.perf_counter() - w), query))
out['queries'] = rows
out['rss_mib'] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
engine.close()
print(json.dumps(out))
"""


ONE_LOOK = """
import json, time
from codelens.engine.engine import Engine
with Engine() as engine:
    start = time.process_time()
    receipt = engine.look(path='.')
    print(json.dumps({'cpu_s': time.process_time() - start, 'indexed': receipt.indexed}))
"""


def one_look(repo: Path, home: Path) -> dict:
    """Checks freshness in a separate process: CPU without Python's start, and parsed files."""
    done = subprocess.run(
        [PYTHON, "-P", "-c", ONE_LOOK], cwd=repo, env={**os.environ, "CODELENS_HOME": str(home)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def warm(repo: Path, home: Path, queries: list[str]) -> dict:
    done = subprocess.run(
        [PYTHON, "-P", "-c", INSIDE], cwd=repo, env={**os.environ, "CODELENS_HOME": str(home)},
        input=json.dumps(queries), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


PARSE_ONLY = """
import json, os, sys, time
from codelens.extract.file_kinds import classify, decode
from codelens.extract.language_detection import language_of
from codelens.extract.parse.grammars import grammar
from tree_sitter import Parser
total, work = 0, []
for name in sys.stdin.buffer.read().split(b'\\0'):
    if not name or os.path.islink(name) or not os.path.isfile(name): continue
    if os.path.getsize(name) > 1_000_000: continue
    data = open(name, 'rb').read()
    language = language_of(name, data, {})
    total += len(data)
    if classify(data)[0] == 'parsed' and language != 'text': work.append((language, decode(data)))
t = time.process_time()
for language, text in work: Parser(grammar(language).language).parse(text)
print(json.dumps({'cpu_s': time.process_time() - t, 'source_bytes': total,
                  'parsed_bytes': sum(len(x) for _, x in work), 'parsed_files': len(work)}))
"""


def parse_only(repo: Path) -> dict:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=repo, capture_output=True, check=True)
    done = subprocess.run(
        [PYTHON, "-P", "-c", PARSE_ONLY], cwd=repo, input=names.stdout, capture_output=True,
        check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def some_queries(repo: Path, count: int) -> list[str]:
    """Queries from the repository's own words: identifiers, pairs of words, phrases of comments."""
    pick = random.Random(7)
    files = [name for name in git(repo, "ls-files").splitlines() if not name.startswith('"')]
    found: list[str] = []
    while len(found) < count:
        path = repo / pick.choice(files)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        lines = [line.strip() for line in text.splitlines() if len(line.strip()) > 20]
        if not lines:
            continue
        words = re.findall(r"[A-Za-z_]{4,}", pick.choice(lines))
        if not words:
            continue
        size = pick.choice([1, 1, 2, 3, 5, 8])
        found.append(" ".join(words[:size]))
    return found


def codegraph(repo: Path, scratch: Path, program: Path, repeat: int) -> dict[str, float]:
    """codegraph's index of the same files, in a separate home."""
    env = {"HOME": str(scratch / "codegraph-home"), "CODEGRAPH_TELEMETRY": "0"}
    runs: list[dict[str, float]] = []
    for _ in range(repeat):
        shutil.rmtree(repo / ".codegraph", ignore_errors=True)
        runs.append(run([str(program), "init", "-y", str(repo)], repo, env))
    size = sum(one.stat().st_size for one in (repo / ".codegraph").rglob("*") if one.is_file())
    shutil.rmtree(repo / ".codegraph")
    git(repo, "checkout", "-q", "--", ".")
    git(repo, "clean", "-qfd")
    return {**median(runs), "bytes": size}


def measure(source: Path, scratch: Path, repeat: int, cold: int, program: Path | None) -> dict:
    home, repo = scratch / "home", scratch / "repo"
    git(source, "clone", "-q", "--local", str(source), str(repo))
    return steps(scratch, home, repo, repeat, cold, program)


def steps(
    scratch: Path, home: Path, repo: Path, repeat: int, cold: int, codegraph_program: Path | None
) -> dict:
    result: dict = {"files": len(git(repo, "ls-files", "-z").split("\0")) - 1}
    result["parse_only"] = parse_only(repo)
    result["git_status"] = median(
        [run(["git", "status", "--porcelain"], repo, GIT_ENV) for _ in range(max(5, repeat))]
    )
    result["load"] = os.getloadavg()[0]
    result["cold_index"] = codelens(repo, home, "index", "--json", repeat=cold, fresh=True)
    if codegraph_program:
        result["codegraph"] = codegraph(repo, scratch, codegraph_program, cold)
    if shutil.which("ctags"):
        tags = ["ctags", "-R", "-f", str(scratch / "tags"), "."]
        result["ctags"] = median([run(tags, repo, {}) for _ in range(3)])
    status = json.loads(
        subprocess.run(
            [PYTHON, "-P", "-m", "codelens", "status", "--json"], cwd=repo, check=True,
            env={**os.environ, "CODELENS_HOME": str(home)}, capture_output=True, text=True,
        ).stdout
    )  # fmt: skip
    size = sum(one.stat().st_size for one in (home / "indexes").iterdir())
    result["index_bytes"] = size
    result["index_per_source"] = size / result["parse_only"]["source_bytes"]
    result["status"] = {key: status.get(key) for key in ("files", "outcomes", "skipped")}

    queries = some_queries(repo, 60)
    result["cold_cli_search"] = codelens(repo, home, "search", queries[0], repeat=max(5, repeat))
    if shutil.which("rg"):
        # The Debian package of Linux ignores every file that it tracks.
        literal = ["rg", "--no-ignore", "-F", "-e", queries[0], str(repo)]
        result["ripgrep"] = median([run(literal, repo, {}) for _ in range(max(5, repeat))])
    inside = warm(repo, home, queries)
    cpu = sorted(one[0] for one in inside["queries"])
    result["look_ms"] = statistics.median(inside["look_ms"])
    result["server_look_ms"] = statistics.median(inside["server_look_ms"])
    result["query_with_look_p50_ms"] = cpu[len(cpu) // 2]
    result["query_with_look_p95_ms"] = cpu[int(len(cpu) * 0.95)]
    result["query_p50_ms"] = result["query_with_look_p50_ms"] - result["look_ms"]
    result["query_p95_ms"] = result["query_with_look_p95_ms"] - result["look_ms"]
    result["slowest"] = [one[2] for one in sorted(inside["queries"], reverse=True)[:5]]
    result["serving_rss_mib"] = inside["rss_mib"]

    # Edit to answer: one changed file, then a search, as a whole process.
    largest = [
        name
        for name in git(repo, "ls-files", "*.py", "*.ts", "*.js", "*.go", "*.c").split("\n")
        if name
    ]
    target = repo / (largest or git(repo, "ls-files").split("\n"))[0]
    edits = []
    for step in range(max(3, repeat)):
        with target.open("ab") as file:
            file.write(b"\n// edit %d\n" % step)
        edits.append(codelens(repo, home, "search", queries[1]))
    result["edit_to_answer"] = median(edits)
    git(repo, "checkout", "-q", "--", ".")
    codelens(repo, home, "search", queries[1])

    # A new branch that renames a folder of files and edits others, and back.
    git(repo, "checkout", "-q", "-b", "bench-branch")
    names = [name for name in git(repo, "ls-files", "-z").split("\0") if name]
    for name in names[:: max(1, len(names) // 50)]:
        path = repo / name
        if path.is_file() and not path.is_symlink():
            path.write_bytes(path.read_bytes() + b"\n# bench\n")
    git(repo, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qam", "bench")
    result["new_branch"] = one_look(repo, home)
    git(repo, "checkout", "-q", "-")
    result["branch_back"] = one_look(repo, home)
    git(repo, "checkout", "-q", "-")
    result["branch_again"] = one_look(repo, home)
    git(repo, "checkout", "-q", "-")

    other = scratch / "second"
    git(repo, "worktree", "add", "-q", "--detach", str(other))
    result["second_worktree"] = one_look(other, home)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--cold", type=int, default=3, help="cold indexes, codegraph's as well")
    parser.add_argument("--codegraph", type=Path, help="its program")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="a new folder that stays")
    args = parser.parse_args()
    program = args.codegraph.resolve() if args.codegraph else None
    scratch = args.keep.resolve() if args.keep else Path(tempfile.mkdtemp(prefix="codelens-bench-"))
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        result = measure(args.repository.resolve(), scratch, args.repeat, args.cold, program)
    finally:
        if not args.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"| {args.repository.name} | | aim |\n|---|---|---|")
    for row in rows(result):
        print(f"| {' | '.join(row)} |")
    print("slowest queries:", "; ".join(result["slowest"]))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
