"""Measures what a pack costs and saves: `python benchmarks/packcost.py WORKTREE`.

Indexes the worktree, packs its HEAD, and updates two clones of it, one with the pack and one
without, each with a separate home. Prints the processor time of each command and its children, and
sizes. The worktree is not modified.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path


def cpu_s(home: Path, folder: Path, *words: str) -> tuple[float, str]:
    """The processor time of one command, and the last line that it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "codelens", *words], cwd=folder, check=True, capture_output=True,
        text=True, env={**os.environ, "CODELENS_HOME": str(home)},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, done.stdout.strip().splitlines()[-1]


def index_bytes(home: Path) -> int:
    return sum(file.stat().st_size for file in (home / "indexes").iterdir())


def main() -> None:
    worktree = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clone, pack = folder / "clone", folder / "a.pack"
        subprocess.run(["git", "clone", "-q", worktree, clone], check=True)
        homes = [folder / f"home{number}" for number in range(3)]
        indexed, _ = cpu_s(homes[0], worktree, "index")
        packed, line = cpu_s(homes[0], worktree, "pack", "-o", str(pack))
        print(f"pack     {packed:6.1f} s CPU, {line.rpartition('/')[2]}; index {indexed:.1f} s CPU")
        without, line = cpu_s(homes[1], clone, "index")
        print(f"without  {without:6.1f} s CPU, index of {index_bytes(homes[1]):,} bytes")
        unpacked, line = cpu_s(homes[2], clone, "unpack", str(pack))
        print(f"with     {unpacked:6.1f} s CPU, {line}")


if __name__ == "__main__":
    main()
