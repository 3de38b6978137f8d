"""What a second worktree, and a branch with 50 edited files, add to an existing index.

Index the repository first:

    CODELENS_HOME=HOME codelens index -C REPOSITORY
    python benchmarks/worktrees.py REPOSITORY --home HOME

Each run starts with a copy of HOME. CPU is user and system, of a look without Python's start and
imports; `git status` is a whole process. Bytes are used pages of the index file. The program is the
`codelens` that Python finds, so PYTHONPATH compares two versions (each with an index of its own).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EDITS = 50
LOOK = """
import json, time
import gc
from codelens.engine.engine import Engine
gc.set_threshold(150_000, 20, 50)  # as the command and the server set it
with Engine() as engine:
    start = time.process_time()
    receipt = engine.look(path='.')
    spent = time.process_time() - start
    print(json.dumps({'ms': 1000 * spent, 'indexed': receipt.indexed, 'status': receipt.status}))
"""
TABLES = ("view_files", "view_folders", "view_blocks", "blocks", "block_files")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=b", "-c", "user.email=b@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def git_status_ms(folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    git(folder, "status", "--porcelain")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def look_ms(folder: Path, home: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-P", "-c", LOOK], cwd=folder, check=True, capture_output=True, text=True,
        env={**os.environ, "CODELENS_HOME": str(home)},
    )  # fmt: skip
    look = json.loads(done.stdout)
    if look["status"] != "fresh":
        raise SystemExit(f"the view of {folder} is {look['status']}")
    return look["ms"]


def size(home: Path) -> dict[str, int]:
    """Used bytes of the index, and rows of the tables of views."""
    (file,) = (home / "indexes").glob("index-*.db")
    with sqlite3.connect(file) as db:
        (pages,), (free,) = (
            db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count")
        )
        (page_bytes,) = db.execute("PRAGMA page_size").fetchone()
        there = {
            row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        rows = sum(
            db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
            for table in TABLES if table in there
        )  # fmt: skip
    db.close()
    return {"bytes": (pages - free) * page_bytes, "rows": rows}


def edited_branch(tree: Path) -> None:
    git(tree, "checkout", "-q", "-b", "codelens-bench")
    names = [name for name in git(tree, "ls-files", "-z").split("\0") if name]
    for name in names[:: max(1, len(names) // EDITS)]:
        path = tree / name
        if path.is_file() and not path.is_symlink():
            path.write_bytes(path.read_bytes() + b"\n# bench\n")
    git(tree, "commit", "-qam", "bench")
    git(tree, "checkout", "-q", "-")


def one_run(tree: Path, home: Path) -> dict[str, float]:
    before = size(home)
    result = {"git status": git_status_ms(tree), "second worktree": look_ms(tree, home)}
    with_second = size(home)
    result["no change"] = look_ms(tree, home)
    git(tree, "checkout", "-q", "codelens-bench")
    result["branch with 50 edits"] = look_ms(tree, home)
    with_branch = size(home)
    git(tree, "checkout", "-q", "-")
    result["branch seen before"] = look_ms(tree, home)
    for name in ("bytes", "rows"):
        result[f"second worktree, {name}"] = with_second[name] - before[name]
        result[f"branch with 50 edits, {name}"] = with_branch[name] - with_second[name]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--home", type=Path, required=True, help="has an index of the repository")
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    repository, home = args.repository.resolve(), args.home.resolve()
    with tempfile.TemporaryDirectory(dir=repository.parent) as scratch:
        tree = Path(scratch) / "second"
        git(repository, "worktree", "add", "-q", "-b", "codelens-second", str(tree))
        try:
            edited_branch(tree)
            runs: list[dict[str, float]] = []
            for number in range(args.repeat):
                copy = Path(scratch) / f"home{number}"
                shutil.copytree(home, copy)
                # codelens checks the whole file of a copied index once.
                look_ms(repository, copy)
                runs.append(one_run(tree, copy))
                shutil.rmtree(copy)
        finally:
            git(repository, "worktree", "remove", "--force", str(tree))
            git(repository, "branch", "-D", "-q", "codelens-second", "codelens-bench")
    for name in runs[0]:
        values = [run[name] for run in runs]
        print(
            f"{name}: {statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"
        )


if __name__ == "__main__":
    main()
