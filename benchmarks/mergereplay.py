"""Do the textual conflicts match git's? Replays real merges from their parents.

    python benchmarks/mergereplay.py REPOSITORY... [--merges 100]

For each merge of two parents, compares the result of `ScratchMerge` with that of
`git merge-tree --write-tree` in the repository itself: paths and kinds.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from pathlib import Path

from codelens.scope.repository import Repository
from codelens.scope.scratch_merge import ScratchMerge


def in_repository(where: Path, one: str, other: str) -> tuple[bool, set[tuple[bytes, str]]] | None:
    done = subprocess.run(
        ["git", "merge-tree", "--write-tree", "-z", "--messages", one, other],
        cwd=where, capture_output=True,
    )  # fmt: skip
    if done.returncode not in {0, 1}:
        return None
    parts = done.stdout.split(b"\0")
    at = parts.index(b"", 1) + 1 if b"" in parts[1:] else len(parts)
    found: set[tuple[bytes, str]] = set()
    while at < len(parts) and parts[at].isdigit():
        count = int(parts[at])
        kind = parts[at + 1 + count].decode()
        if kind.startswith("CONFLICT"):
            found.add((parts[at + 1], kind))
        at += count + 3
    return done.returncode == 0, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--merges", type=int, default=100)
    args = parser.parse_args()
    merges = conflicting = differences = 0
    for where in args.repositories:
        text = subprocess.run(
            ["git", "rev-list", "--merges", "--max-parents=2", "--parents", "HEAD"],
            cwd=where, capture_output=True, check=True,
        ).stdout.decode()  # fmt: skip
        every = [line.split()[1:] for line in text.splitlines()]
        chosen = every[:: max(1, len(every) // args.merges)][: args.merges]
        repository = Repository.at(where)
        pairs = [(one, other) for one, other in chosen if repository.git.merge_base(one, other)]
        started = time.process_time()
        with ScratchMerge(repository, {}) as scratch:
            replayed = scratch.merges(pairs)
        spent = time.process_time() - started
        for (one, other), found in zip(pairs, replayed, strict=True):
            theirs = in_repository(where, one, other)
            merges += 1
            mine = found.clean, {(conflict.path, conflict.kind) for conflict in found.conflicts}
            conflicting += not found.clean
            if mine != theirs:
                differences += 1
                print(where, one, other, mine, theirs)
        print(f"{where}: {merges} merges, {conflicting} with conflicts, {differences} differences "
              f"({spent:.2f} s CPU here)", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
