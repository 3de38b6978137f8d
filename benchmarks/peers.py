"""Compares codelens with other code search tools in one run: docs/comparison.md.

    python benchmarks/peers.py REPOSITORY [--codegraph PROGRAM] [--aider PROGRAM] [--json FILE]

The repository is cloned, so the original is not modified. Tools that are not given are left out,
as are ripgrep and universal-ctags if they are not installed. CPU is user + system of a command and
its children, from the operating system; homes and caches are scratch folders.

The questions, drawn by a fixed seed before any tool runs:

- names: definitions whose name universal-ctags knows once in the repository, outside tests and
  documentation. Right if the first file of the answer is the one that ctags names.
- messages: subjects of commits that changed 1 to 5 source files, by the rules of
  `benchmarks/history.py`, asked of the newest tree. Right if one of the changed files is among the
  first ten of the answer. The code already contains the change, for all tools.
- worktree: a function written in a worktree below the repository (`.worktrees/side`), asked from
  there at once, and in the main worktree, which must not find it.
- edit: a function written in a file of the main worktree, asked at once.

ripgrep does not rank: names are searched with a pattern for definitions; for messages, files are
ordered by the number of distinct words they hold, then by matches (`benchmarks/rivals.py`).
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
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import history
import rivals

NAMES, MESSAGES, FIRST = 40, 30, 10
KINDS = frozenset("class function method struct interface enum trait module type".split())
DEFINING = r"\b(def|class|func|function|fn|struct|interface|trait|enum|type|module)\b[^\n]*\b{}\b"
WRITTEN = {
    "python": "\n\ndef {0}(value):\n    return value\n",
    "go": "\n\nfunc {0}(value int) int {{\n\treturn value\n}}\n",
    "javascript": "\n\nexport function {0}(value) {{\n  return value;\n}}\n",
}
SUFFIXES = {".py": "python", ".go": "go", ".js": "javascript"}


@dataclass
class Trial:
    """One tool in one clone, and its measurements."""

    name: str
    root: Path
    env: dict[str, str]
    cpu_ms: dict[str, list[float]] = field(default_factory=dict)
    right: Counter[str] = field(default_factory=Counter)

    def run(self, step: str, folder: Path, *command: str) -> str:
        """The output of a command; its CPU counts for the step."""
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(
                command, cwd=folder, env={**os.environ, **self.env}, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            printed = out.read().decode("utf-8", "replace")
        self.cpu_ms.setdefault(step, []).append(1000 * (usage.ru_utime + usage.ru_stime))
        return printed


Files = Callable[[Trial, str, Path, str], list[str]]
"""Trial, step, folder to ask from, words -> distinct paths, best first."""


@dataclass(frozen=True)
class Peer:
    """How to prepare a tool and ask it."""

    prepare: Callable[[Trial, Path], None]
    by_name: Files
    by_message: Files | None
    kept: str
    """Where the tool stores its index: below the scratch folder (`home/`) or the clone."""


def codelens_files(trial: Trial, step: str, folder: Path, words: str) -> list[str]:
    command = [sys.executable, "-P", "-m", "codelens", "search", "--json", "--limit", str(FIRST)]
    printed = trial.run(step, folder, *command, "--", words)
    return list(dict.fromkeys(hit["path"] for hit in json.loads(printed)["results"]))


def codelens_peer() -> Peer:
    def prepare(trial: Trial, folder: Path) -> None:
        trial.run("index", folder, sys.executable, "-P", "-m", "codelens", "index")

    return Peer(prepare, codelens_files, codelens_files, "home/indexes")


def codegraph_peer(program: str) -> Peer:
    def prepare(trial: Trial, folder: Path) -> None:
        trial.run("index", folder, program, "init", "-y", str(folder))

    def by_name(trial: Trial, step: str, folder: Path, words: str) -> list[str]:
        printed = trial.run(step, folder, program, "query", "--json", words)
        rows = json.loads(printed) if printed.lstrip().startswith("[") else []
        return list(dict.fromkeys(row["node"]["filePath"] for row in rows))

    def by_message(trial: Trial, step: str, folder: Path, words: str) -> list[str]:
        printed = trial.run(step, folder, program, "explore", "--max-files", str(FIRST), words)
        return list(dict.fromkeys(re.findall(r"^\*\*`([^`]+)`\*\*", printed, re.MULTILINE)))

    return Peer(prepare, by_name, by_message, ".codegraph")


def ripgrep_peer() -> Peer:
    def by_name(trial: Trial, step: str, folder: Path, words: str) -> list[str]:
        pattern = DEFINING.format(re.escape(words))
        return trial.run(step, folder, "rg", "-l", "--sort", "path", pattern).splitlines()

    def by_message(trial: Trial, step: str, folder: Path, words: str) -> list[str]:
        searched = rivals.words_of(words)
        counts: dict[str, list[int]] = {}
        command = ["rg", "-o", "-i", "--no-heading", "--with-filename", "--no-line-number"]
        pattern = "|".join(map(re.escape, searched))
        for row in trial.run(step, folder, *command, pattern).splitlines():
            path, _, word = row.rpartition(":")
            if word.lower() in searched:
                each = counts.setdefault(path, [0] * len(searched))
                each[searched.index(word.lower())] += 1
        return rivals.by_matches(counts)

    return Peer(lambda _, __: None, by_name, by_message, "")


def aider_peer(program: str) -> Peer:
    """aider's map of the repository takes no question: measures only its cost, cold and warm."""

    def prepare(trial: Trial, folder: Path) -> None:
        command = [program, "--show-repo-map", "--map-tokens", "1024", "--model", "gpt-4o"]
        quiet = ["--no-check-update", "--analytics-disable", "--no-gitignore", "--yes-always"]
        for step in ("index", "map again"):
            trial.run(step, folder, *command, *quiet)

    return Peer(prepare, lambda *_: [], None, ".aider.tags.cache.v4")


def drawn_names(root: Path) -> list[tuple[str, str]]:
    """Name and file of definitions that ctags finds once."""
    printed = subprocess.run(
        ["ctags", "-R", "--output-format=json", "--fields=+K", "--exclude=.git", "-f", "-", "."],
        cwd=root, check=True, capture_output=True, text=True, errors="replace",
    ).stdout  # fmt: skip
    tags = [json.loads(row) for row in printed.splitlines()]
    times = Counter(tag["name"] for tag in tags)
    unique_names = sorted(
        (tag["name"], tag["path"].removeprefix("./"))
        for tag in tags
        if times[tag["name"]] == 1 and tag.get("kind") in KINDS and len(tag["name"]) > 3
        and re.fullmatch(r"\w+", tag["name"]) and history.is_source(tag["path"].removeprefix("./"))
    )  # fmt: skip
    return random.Random(23).sample(unique_names, min(NAMES, len(unique_names)))


def drawn_messages(root: Path) -> list[tuple[str, frozenset[str]]]:
    """The subject of a commit, and the files it changed that still exist."""
    there = set(history.git(root, "ls-files", "-z").decode("utf-8", "replace").split("\0"))
    cases = [(case.message, case.changed & there) for case in history.cases(root, MESSAGES)]
    return [(message, changed) for message, changed in cases if changed]


def measured(trial: Trial, peer: Peer, names: Sequence[Any], messages: Sequence[Any]) -> None:
    peer.prepare(trial, trial.root)
    if peer.by_message is None:
        return
    for name, path in names:
        trial.right["names"] += peer.by_name(trial, "name", trial.root, name)[:1] == [path]
    for message, changed in messages:
        files = peer.by_message(trial, "message", trial.root, message)
        trial.right["messages"] += not changed.isdisjoint(files[:FIRST])
    path = names[0][1]
    text = WRITTEN[SUFFIXES[Path(path).suffix]]
    side = trial.root / ".worktrees" / "side"
    history.git(trial.root, "worktree", "add", "-q", "-b", "side", str(side))
    append(side / path, text.format("written_in_side"))
    trial.right["in the worktree"] = (
        peer.by_name(trial, "worktree", side, "written_in_side")[:1] == [path]
    )  # fmt: skip
    files = peer.by_name(trial, "name", trial.root, "written_in_side")
    trial.right["not elsewhere"] = path not in files and not any("side" in file for file in files)
    append(trial.root / path, text.format("written_just_now"))
    trial.right["at once"] = (
        peer.by_name(trial, "edit", trial.root, "written_just_now")[:1] == [path]
    )  # fmt: skip


def append(file: Path, text: str) -> None:
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def kept_mib(folder: Path) -> float:
    if not folder.is_dir():
        return 0.0
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20


def report(trial: Trial, peer: Peer, asked: tuple[int, int]) -> dict[str, Any]:
    home = trial.root.parent
    place = home / peer.kept if peer.kept.startswith("home/") else trial.root / peer.kept
    row: dict[str, Any] = {"tool": trial.name}
    row |= {f"{step} ms": round(statistics.median(each)) for step, each in trial.cpu_ms.items()}
    row["kept MiB"] = round(kept_mib(place), 1) if peer.kept else 0
    for step, count in zip(("names", "messages"), asked, strict=True):
        if step in trial.right:
            row[step] = f"{trial.right.pop(step)} of {count}"
    return row | {step: "yes" if right else "no" for step, right in trial.right.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--codegraph", help="its program")
    parser.add_argument("--aider", help="its program")
    parser.add_argument("--json", type=Path, help="where the rows are written")
    args = parser.parse_args()
    peers = {"codelens": codelens_peer()}
    if args.codegraph:
        peers["codegraph"] = codegraph_peer(args.codegraph)
    if args.aider:
        peers["aider, map"] = aider_peer(args.aider)
    if shutil.which("rg"):
        peers["ripgrep"] = ripgrep_peer()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, peer in peers.items():
            place = Path(scratch, name.partition(",")[0])
            root = place / "clone"
            place.mkdir()
            history.git(place, "clone", "-q", str(args.repository.resolve()), str(root))
            names, messages = drawn_names(root), drawn_messages(root)
            env = {"HOME": str(place / "home"), "CODELENS_HOME": str(place / "home")}
            env["PYTHONDONTWRITEBYTECODE"] = ""  # as installed, else each start compiles all
            (place / "home").mkdir()
            trial = Trial(name, root, env)
            measured(trial, peer, names, messages)
            rows.append(report(trial, peer, (len(names), len(messages))))
            print(json.dumps(rows[-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
