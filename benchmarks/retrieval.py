"""Measures retrieval quality: codelens on the 500 questions of a retrieval benchmark.

    python benchmarks/retrieval.py prepare MIRROR CHECKOUTS   # once: scratch repositories
    python benchmarks/retrieval.py run CHECKOUTS RESULTS.jsonl
    python $CODELENS_SHARED/retrieval/score.py RESULTS.jsonl

`CODELENS_SHARED` names the folder of the data set: questions with target files for 25 public
repositories, their pinned revisions, and the scorer. `MIRROR` has a git folder `owner+name/repo`
for each repository. Each checkout holds the benchmark's root at the pinned revision, as one commit
of a separate repository.

A result counts only if its whole path equals the target's. The scorer treats a path that ends with
the other as equal, so such results are written with a mark that prevents a match.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from home_settings import home_settings

from codelens.engine.engine import Engine

SHARED = Path(os.environ.get("CODELENS_SHARED", "shared"))
RETRIEVAL = SHARED / "retrieval"
REPOS = RETRIEVAL / "repos.json"
MOVED = {"neuecc": "MessagePack-CSharp", "echasnovski": "nvim-mini"}
"""Owners that moved: a mirror under the old name has no new commits."""


def prepare(mirror: Path, checkouts: Path) -> None:
    for one in json.loads(REPOS.read_text()):
        target = checkouts / one["name"]
        url = re.match(r".*github\.com/([^/]+)/(.+)\.git", one["url"])
        if url is None:
            raise SystemExit(f"not a URL of GitHub: {one['url']}")
        owner, name = url.groups()
        source = mirror / f"{MOVED.get(owner, owner)}+{name}" / "repo"
        if target.exists() or not source.exists():
            print(f"{one['name']}: {'there' if target.exists() else 'not in the mirror'}")
            continue
        root = one.get("benchmark_root")
        command = ["git", "--git-dir", str(source), "archive", one["revision"]]
        archive = subprocess.run(command + ([root] if root else []), capture_output=True)
        if archive.returncode:
            print(f"{one['name']}: {archive.stderr.decode().strip()}")
            continue
        target.mkdir(parents=True)
        subprocess.run(["tar", "x", "-C", str(target)], input=archive.stdout, check=True)
        git = ["git", "-C", str(target), "-c", "user.name=x", "-c", "user.email=x@localhost"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "add", "-A", "-f"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", one["revision"]], check=True)


def questions() -> list[dict]:
    lines = (RETRIEVAL / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def run(checkouts: Path, results: Path, home: Path) -> None:
    roots = {one["name"]: one for one in json.loads(REPOS.read_text())}
    took: list[float] = []
    with Engine(home_settings(home)) as engine, results.open("w", encoding="utf-8") as out:
        for one in questions():
            folder = checkouts / one["repo"]
            if not folder.exists():
                continue
            started = time.perf_counter()
            answer = engine.search(one["query"], path=folder)
            took.append(time.perf_counter() - started)
            root = roots[one["repo"]].get("benchmark_root") or ""
            wanted = {
                full_path(folder, root, target["path"]): target["path"]
                for target in one["relevant"]
            }
            rows = [row(hit, wanted) for hit in answer.results]
            out.write(
                json.dumps({"repo": one["repo"], "query": one["query"], "results": rows}) + "\n"
            )
    took.sort()
    print(f"{len(took)} questions, p50 {took[len(took) // 2] * 1000:.1f} ms")


def full_path(folder: Path, root: str, target: str) -> str:
    """A target's path from the checkout's root: labels give it with or without `benchmark_root`."""
    return next(
        (path for path in (target, f"{root}/{target}") if (folder / path).is_file()), target
    )


def row(hit, wanted: dict[str, str]) -> dict:
    lines = {"start_line": hit.start_line, "end_line": hit.end_line}
    if hit.path in wanted:
        return {"path": wanted[hit.path], **lines}
    alike = any(
        hit.path.endswith("/" + path) or path.endswith("/" + hit.path) for path in wanted.values()
    )
    return {"path": hit.path + ("\0" if alike else ""), **lines}


def report(results: Path) -> None:
    """NDCG@10 by category, language and repository."""
    sys.path.insert(0, str(RETRIEVAL))
    from score import ndcg  # pyright: ignore[reportMissingImports]  # it comes with the data set

    languages = {one["name"]: one["language"] for one in json.loads(REPOS.read_text())}
    answers = {}
    for line in results.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answers[row["repo"], row["query"]] = row["results"]
    groups = collections.defaultdict(list)
    for one in questions():
        value = ndcg(answers.get((one["repo"], one["query"]), []), one["relevant"])
        for name in ("all", one["category"], f"  {languages[one['repo']]}", f"    {one['repo']}"):
            groups[name].append(value)
    for name, values in sorted(groups.items()):
        print(f"{name:24} {sum(values) / len(values):.4f}  n={len(values)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("prepare")
    first.add_argument("mirror", type=Path)
    first.add_argument("checkouts", type=Path)
    second = commands.add_parser("run")
    second.add_argument("checkouts", type=Path)
    second.add_argument("results", type=Path)
    second.add_argument("--home", type=Path, default=Path("/tmp/codelens-retrieval"))
    args = parser.parse_args()
    if args.command == "prepare":
        prepare(args.mirror, args.checkouts)
    else:
        run(args.checkouts, args.results, args.home)
        report(args.results)


if __name__ == "__main__":
    main()
