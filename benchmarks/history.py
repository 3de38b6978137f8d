"""An outside measure from real history: does a commit's message find the files it changed?

    python benchmarks/history.py REPO... [--commits 60] [--results FILE.jsonl]

For the latest commits of each repository with a telling message, the message's first paragraph
is searched in the tree before the commit (by ref, nothing is checked out), and the rank of the
files that the commit changed is scored: recall at 5, 10 and 20. Tests, generated, vendored and
non-code files do not count among the changed ones. Beside codelens, on the same trees:

- ripgrep: files by the number of lines that hold any of the message's words (what
  `rg -ic 'word|word'` sorted by count gives), words of fewer than 3 letters and English
  stopwords left out;
- BM25: files as bags of lower-case words, k1 = 1.2, b = .75.

Chosen by rule, the same for all: one parent; 1 to 5 such files changed, all there before; a
subject of at least four words; no merge, revert, release, version or dependency commit.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.extract.detect import language_by_path
from codelens.extract.languages import TEXT, language_info
from codelens.extract.tokens import STOPWORDS
from codelens.index.pathfacts import path_facts
from codelens.types import RelPath

CUTS = (5, 10, 20)
MOST_CHANGED = 5
LEAST_WORDS = 4
LARGEST_FILE = 1_000_000
DULL = re.compile(
    r"^(merge|revert|release|bump|chore\(deps|build\(deps|update dependenc|version|v?\d+\.\d+|"
    r"prepare|changelog|fixup!|squash!|wip\b|\[maven|\[release|upgrade .* to v?\d)",
    re.IGNORECASE,
)
NOISE = re.compile(
    r"\(?#\d+\)?|^(Signed-off-by|Co-authored-by|Change-Id|See|Fixes|Closes|Refs?):?.*$",
    re.MULTILINE,
)
WORD = re.compile(r"\w+")
K1, B = 1.2, 0.75


class Case(NamedTuple):
    """One commit."""

    repo: Path
    commit: str
    parent: str
    message: str
    changed: frozenset[str]


def git(repo: Path, *args: str) -> bytes:
    command = ["git", "-C", str(repo), *args]
    return subprocess.run(command, check=True, capture_output=True).stdout


def cases(repo: Path, wanted: int) -> Iterator[Case]:
    """The latest commits that the rules choose."""
    log = git(repo, "log", "--no-merges", "--first-parent", "-n", "20000", "--raw", "-z",
              "--no-renames", "--abbrev=40", "--format=%x01%H%x02%P%x02%B%x03")  # fmt: skip
    count = 0
    for entry in log.decode("utf-8", "replace").split("\1")[1:]:
        head, _, raw = entry.partition("\3")
        commit, parents, body = head.split("\2")
        message = telling(body)
        changed = judged(raw)
        if message and changed and " " not in parents and parents:
            yield Case(repo, commit, parents, message, changed)
            count += 1
            if count == wanted:
                return


def telling(body: str) -> str:
    """The first paragraph of a message without numbers of issues; empty if it says little."""
    subject = body.strip().split("\n", 1)[0]
    if DULL.match(subject) or len(WORD.findall(NOISE.sub("", subject))) < LEAST_WORDS:
        return ""
    return " ".join(NOISE.sub("", body.strip().split("\n\n", 1)[0]).split())


def judged(raw: str) -> frozenset[str]:
    """Changed code files, if they are few and were all there; else nothing."""
    parts = raw.strip("\0\n").split("\0")
    found: set[str] = set()
    for status, path in zip(parts[::2], parts[1::2], strict=False):
        if not is_code(path):
            continue
        if not status.strip().endswith(" M"):
            return frozenset()
        found.add(path)
    return frozenset(found) if len(found) <= MOST_CHANGED else frozenset()


def is_code(path: str) -> bool:
    name = path.encode()
    language = language_by_path(name)
    if language in {None, TEXT} or not language_info(language).grammar:
        return False
    return not path_facts(RelPath(name)).role


class Texts:
    """Blobs of one repository, each read and counted once."""

    def __init__(self, repo: Path) -> None:
        self._git = subprocess.Popen(
            ["git", "-C", str(repo), "cat-file", "--batch"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._repo = repo
        self._known: dict[str, tuple[str, Counter[str]] | None] = {}

    def tree(self, commit: str) -> list[tuple[str, str, Counter[str]]]:
        """Path, lower-case text and words of each text file."""
        found = []
        for row in (
            git(self._repo, "ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0")
        ):
            meta, _, path = row.partition("\t")
            if meta.split(" ")[1:2] == ["blob"]:
                known = self._text(meta.split(" ")[2])
                if known is not None:
                    found.append((path, *known))
        return found

    def _text(self, blob: str) -> tuple[str, Counter[str]] | None:
        if blob not in self._known:
            stdin, stdout = self._git.stdin, self._git.stdout
            stdin.write(blob.encode() + b"\n")
            stdin.flush()
            size = int(stdout.readline().split()[2])
            data = stdout.read(size)
            stdout.read(1)
            self._known[blob] = None
            if size <= LARGEST_FILE and b"\0" not in data[:8000]:
                text = data.decode("utf-8", "replace").lower()
                self._known[blob] = text, Counter(WORD.findall(text))
        return self._known[blob]

    def close(self) -> None:
        self._git.stdin.close()
        self._git.wait()


Tree = list[tuple[str, str, Counter[str]]]


def words_of(message: str) -> set[str]:
    words = {word.lower() for word in WORD.findall(message)}
    return {word for word in words if len(word) > 2 and word not in STOPWORDS}


def by_ripgrep(tree: Tree, message: str) -> list[str]:
    words = words_of(message)
    if not words:
        return []
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words)))
    # Only files that can match are searched line by line.
    counts = []
    for path, text, _ in tree:
        lines, last = 0, -1
        for match in pattern.finditer(text):
            if match.start() > last:
                lines += 1
                last = text.find("\n", match.end())
                if last < 0:
                    break
        if lines:
            counts.append((-lines, path))
    return [path for _, path in sorted(counts)]


def by_bm25(tree: Tree, message: str) -> list[str]:
    words = words_of(message)
    sizes = [sum(counts.values()) for _, _, counts in tree]
    mean = sum(sizes) / max(1, len(sizes))
    scores: dict[str, float] = {}
    for word in words:
        holding = [
            (path, counts[word], size)
            for (path, _, counts), size in zip(tree, sizes, strict=True)
            if word in counts
        ]
        idf = math.log(1 + (len(tree) - len(holding) + 0.5) / (len(holding) + 0.5))
        for path, count, size in holding:
            part = count * (K1 + 1) / (count + K1 * (1 - B + B * size / mean))
            scores[path] = scores.get(path, 0.0) + idf * part
    return sorted(scores, key=lambda path: (-scores[path], path))


def by_codelens(engine: Engine, case: Case) -> list[str]:
    answer = engine.search(case.message, path=case.repo, ref=case.parent, limit=max(CUTS))
    return list(dict.fromkeys(hit.path for hit in answer.results))


def recall(ranked: list[str], case: Case) -> list[float]:
    return [len(case.changed & set(ranked[:cut])) / len(case.changed) for cut in CUTS]


def run(repos: list[Path], wanted: int, home: Path, results: Path | None) -> None:
    table: dict[str, list[list[float]]] = {}
    rows: list[str] = []
    took: list[float] = []
    out = results.open("w", encoding="utf-8") if results else None
    with Engine(Settings(home=home)) as engine:
        for repo in repos:
            texts = Texts(repo)
            own: dict[str, list[list[float]]] = {}
            for case in cases(repo, wanted):
                tree = texts.tree(case.parent)
                engine.search("warm", path=repo, ref=case.parent)
                started = time.perf_counter()
                ranked = {"codelens": by_codelens(engine, case)}
                took.append(time.perf_counter() - started)
                ranked |= {
                    "ripgrep": by_ripgrep(tree, case.message),
                    "BM25": by_bm25(tree, case.message),
                }
                for name, paths in ranked.items():
                    own.setdefault(name, []).append(recall(paths, case))
                if out:
                    row = {"repo": repo.name, "commit": case.commit, "message": case.message}
                    row |= {"changed": sorted(case.changed), "codelens": ranked["codelens"]}
                    out.write(json.dumps(row) + "\n")
            texts.close()
            rows.append(line(repo.name, own))
            print(rows[-1], flush=True)
            for name, values in own.items():
                table.setdefault(name, []).extend(values)
    print(line("all", table))
    middle = statistics.median(took) * 1000
    print(f"codelens: median {middle:.0f} ms a query, the look at an indexed ref included")


def line(title: str, found: dict[str, list[list[float]]]) -> str:
    """One row: recall at the cuts for each method."""
    cells = [title, str(len(next(iter(found.values()), [])))]
    for name in ("codelens", "BM25", "ripgrep"):
        values = found.get(name, [])
        means = [sum(one[at] for one in values) / max(1, len(values)) for at in range(len(CUTS))]
        cells.append(" / ".join(f"{mean:.3f}" for mean in means))
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repos", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=60)
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-history"))
    parser.add_argument("--results", type=Path)
    args = parser.parse_args()
    print("| repository | commits | codelens @5/10/20 | BM25 | ripgrep |\n|---|---|---|---|---|")
    run(args.repos, args.commits, args.home, args.results)


if __name__ == "__main__":
    main()
