"""Measures what each weight in the order of notes is worth, on real history.

    python benchmarks/note_weights.py collect CASES.jsonl REPO... [--questions 40] [--notes 300]
        [--home FOLDER]
    python benchmarks/note_weights.py report CASES.jsonl

Notes are the messages of commits, questions those of later ones; the rules of
`benchmarks/history.py` select the commits. A note is tied to the definitions that its commit
changed, as git names them in hunk headers. The notes of each question are the 300 commits before
it.

- Shown: the first ten places of `Engine.search` for the message, in the tree before the commit. As
  in the product, only notes on a shown file are ordered. Nearness is 1 for a note on a definition
  of the first three places, .5 on one of the others, .3 on another part of a shown file.
- Stale: a commit between the note and the question changed one of the definitions.
- Right: notes whose commits wrote the lines that the question's commit replaces, or below which it
  adds (`git blame` of the tree before it). The truth does not depend on words, but of two commits
  to the same lines it favours the later one.

A question counts if at least two notes are shown, one of them right and one not. Scored: the
share of questions with a right note first, and the reciprocal rank of the first right one.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import history

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.memory import notebook
from codelens.memory.notebook import NoteOrder, NoteWeights
from codelens.store.saved.context_rows import Context

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@ ?(.*)")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?=\s*(?:[(=:{<]|$))")
_FIRST = 3
_WHOLE_FILE = 0.3
DAY_S = 86_400
MOST_FILES = 20


class Commit(NamedTuple):
    """The message and the changes of one commit."""

    id: str
    parent: str
    at: int
    message: str
    places: frozenset[tuple[str, str]]
    """Paths, each with the name of the definition around each hunk."""
    replaced: tuple[tuple[str, int, int], ...]
    """Path, first line and number of lines, in the parent's tree."""


def commits(repo: Path, most: int) -> Iterator[Commit]:
    """The latest commits that change source files, newest first."""
    log = history.git(repo, "log", "--no-merges", "-n", str(most), "--raw", "-z", "--no-renames",
                      "--format=%x01%H%x02%P%x02%ct%x02%B%x03")  # fmt: skip
    for entry in log.decode("utf-8", "replace").split("\1")[1:]:
        head, _, raw = entry.partition("\3")
        commit, parents, at, body = head.split("\2")
        changed = [path for path in raw.strip("\0\n").split("\0")[1::2] if history.is_source(path)]
        if not parents or " " in parents or not 0 < len(changed) <= MOST_FILES:
            continue
        try:
            patch = history.git(repo, "diff-tree", "-p", "-U0", "--no-renames", commit, "--",
                                *changed)  # fmt: skip
        except subprocess.CalledProcessError:
            continue  # Mirrors may lack their largest blobs.
        places, replaced = hunks(patch.decode("utf-8", "replace"))
        yield Commit(commit, parents, int(at), body, frozenset(places), tuple(replaced))


def hunks(patch: str) -> tuple[set[tuple[str, str]], list[tuple[str, int, int]]]:
    places: set[tuple[str, str]] = set()
    replaced: list[tuple[str, int, int]] = []
    path = ""
    for line in patch.split("\n"):
        if line.startswith("--- "):
            path = line[6:] if line.startswith("--- a/") and history.is_source(line[6:]) else ""
        elif path and (match := _HUNK.match(line)):
            names = _NAME.findall(match[3])
            places.add((path, names[0] if names else ""))
            count = 1 if match[2] is None else int(match[2])
            replaced.append((path, max(int(match[1]), 1), max(count, 1)))
    return places, replaced


def blamed(repo: Path, commit: Commit) -> set[str]:
    """The commits that wrote the lines that this one replaces."""
    writers: set[str] = set()
    for path, start, count in commit.replaced[:20]:
        span = f"{start},+{min(count, 100)}"
        try:
            lines = history.git(repo, "blame", "-l", "-s", "-L", span, commit.parent, "--", path)
        except subprocess.CalledProcessError:
            continue  # The file is new, or a blob is missing.
        writers |= {line[:40] for line in lines.decode("utf-8", "replace").splitlines()}
    return writers


def nearness(note: Commit, hits: list[tuple[str, str]]) -> float:
    """How near a note is to the shown places; 0 if it is in none of their files."""
    best = 0.0
    for at, (path, name) in enumerate(hits):
        for place in note.places:
            if place[0] == path:
                on = bool(name) and place[1] == name
                best = max(best, (1.0 if at < _FIRST else 0.5) if on else _WHOLE_FILE)
    return best


def collect(repo: Path, engine: Engine, questions: int, notes: int) -> Iterator[dict]:
    """The cases of one repository."""
    every = list(commits(repo, notes + questions * 12))
    telling = [commit for commit in every if history.telling(commit.message) and commit.places]
    question_count = 0
    for at, question in enumerate(telling):
        if question_count == questions or len(telling) - at < 30:
            break
        if len({path for path, _, _ in question.replaced}) > history.MOST_CHANGED:
            continue
        question_count += 1
        before = telling[at + 1 : at + 1 + notes]
        words = history.telling(question.message)
        hits_found = engine.search(words, path=repo, ref=question.parent, limit=10).results
        hits = [(hit.path, hit.symbol.rpartition(".")[2]) for hit in hits_found]
        right = blamed(repo, question)
        rows: list[dict] = []
        later: set[tuple[str, str]] = set()
        for note in before:
            near = nearness(note, hits)
            if near:
                rows.append(
                    {"id": note.id, "message": note.message.strip(), "at": note.at, "near": near,
                     "stale": bool(note.places & later), "right": note.id in right}
                )  # fmt: skip
            later |= note.places
        marks = {row["right"] for row in rows}
        if len(marks) == 2:
            others = [{"id": note.id, "message": note.message.strip(), "at": note.at}
                      for note in before if not nearness(note, hits)]  # fmt: skip
            yield {"repo": repo.parent.name, "question": words, "at": question.at, "notes": rows,
                   "others": others}  # fmt: skip


def _context(row: Mapping) -> Context:
    return Context(
        row["id"], row["message"], "note", (), False, row["at"], row["at"], None, "", "", ()
    )


def rank_of_right(case: dict, weights: NoteWeights) -> int:
    """The place of the first right note, from 1."""
    notes = [_context(row) for row in case["notes"]]
    every = notes + [_context(row) for row in case["others"]]
    order = NoteOrder(every, case["question"], case["at"], weights)
    scored = sorted(
        (
            (-order.score(note, row["near"], stale=row["stale"]), note.name, row["right"])
            for note, row in zip(notes, case["notes"], strict=True)
        ),
        key=lambda entry: entry[:2],
    )
    return next(at for at, entry in enumerate(scored, 1) if entry[2])


def scored(cases: list[dict], weights: NoteWeights) -> tuple[float, float]:
    ranks = [rank_of_right(case, weights) for case in cases]
    return (
        sum(rank == 1 for rank in ranks) / len(ranks),
        statistics.mean(1 / rank for rank in ranks),
    )


def report(cases: list[dict]) -> None:
    """Prints each weight left out, halved and doubled; and other half-lives."""
    now = NoteWeights()
    issue = NoteWeights(0.35, 0.25, 0.20, 0.15, -0.30)
    rows: list[tuple[str, NoteWeights]] = [("as it is", now), ("as the issue has it", issue)]
    for name in NoteWeights._fields:
        for factor in (0.0, 0.5, 2.0):
            value = getattr(now, name) * factor
            rows.append((f"{name} {value:.2f}", now._replace(**{name: value})))
    halves = [case for at, case in enumerate(cases) if at % 2 == 0], cases[1::2]
    print(f"{len(cases)} questions of {len({case['repo'] for case in cases})} repositories, "
          f"{statistics.mean(len(case['notes']) for case in cases):.0f} notes each")  # fmt: skip
    print(f"{'':24} first  rank   even   odd")
    for label, weights in rows:
        first, reciprocal = scored(cases, weights)
        parts = [scored(half, weights)[1] for half in halves]
        print(f"{label:24} {first:.3f}  {reciprocal:.3f}  {parts[0]:.3f}  {parts[1]:.3f}")
    before = notebook.HALF_LIFE_S
    for days in (1, 7, 30, 90, 365):
        notebook.HALF_LIFE_S = days * DAY_S
        first, reciprocal = scored(cases, now)
        print(f"{f'half-life {days} days':24} {first:.3f}  {reciprocal:.3f}")
    notebook.HALF_LIFE_S = before


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("collect", "report"))
    parser.add_argument("cases", type=Path)
    parser.add_argument("repos", nargs="*", type=Path)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--notes", type=int, default=300)
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-notes"))
    args = parser.parse_args()
    if args.what == "report":
        lines = args.cases.read_text(encoding="utf-8").splitlines()
        report([json.loads(line) for line in lines])
        return
    with args.cases.open("w", encoding="utf-8") as out, Engine(Settings(home=args.home)) as engine:
        for repo in args.repos:
            for case in collect(repo, engine, args.questions, args.notes):
                out.write(json.dumps(case) + "\n")
                out.flush()


if __name__ == "__main__":
    main()
