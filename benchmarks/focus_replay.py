"""Replays what people asked in a public repository, in order, and judges the resulting topics.

    python benchmarks/focus_replay.py GIT_DIR... [--by file|scope|session] [--prompts 300]
        [--labels 12] [--runs 4] [--sweep] [--stems]

Prompts and their labels:
- `session`: the prompts of a session that SpecStory saved under `.specstory/history`, sorted by
  time; the label is the session. Answers (their first sentences) go into the guide.
- `scope`: subjects of commits, `fix(SCOPE): ...` or `SCOPE: ...`; the label is the scope that the
  author wrote, which is removed from the prompt.
- `file`: subjects of commits that changed one or two files of code with the same name; the label
  is the file, whose name is removed from the prompt.
Commits count if they have one of the most frequent labels. The judged code does not see labels.
Printed for each way, over all prompts:
- purity: prompts that have the most common label of their tree;
- right: prompts put into a tree whose most common label so far is theirs, or into a new tree if
  no earlier prompt has their label;
- F1: of pairs of prompts in one tree against pairs with one label; trees: how many.
"""

from __future__ import annotations

import argparse
import datetime
import random
import re
import subprocess
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import PurePosixPath
from typing import NamedTuple

from codelens.extract.tokenizer import terms_of_text
from codelens.focus import prompt_terms
from codelens.focus.context_block import GuideEntry, first_sentence, listen, reinforce
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, grow
from codelens.focus.prompt_terms import DocumentCounts, cosine, counted, terms_of, words_of

PAUSE_S = 600.0
HISTORY = ".specstory/history/"
SCOPED = re.compile(r"(?:[a-z]+\(([a-z0-9/_.-]+)\)!?|([a-z0-9/_.-]+)): (.*)")
KINDS = frozenset("feat fix chore docs doc test tests refactor style perf ci build revert".split())
"""Kinds of changes, which are not topics."""
WHO = re.compile(
    r"^_\*\*(User|Agent)[^\n]*?(?:(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)Z)?\)?\*\*_\s*$", re.M
)


class Prompt(NamedTuple):
    """A prompt, its time (in seconds), its label, and its answer."""

    text: str
    label: str
    at: float
    answer: str = ""


def git(git_dir: str, *arguments: str) -> str:
    command = ["git", "-c", "safe.directory=*", "-C", git_dir, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True)
    return done.stdout


def sessions(git_dir: str) -> list[Prompt]:
    """The prompts of all saved sessions by time, without commands and empty prompts."""
    names = git(git_dir, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    found: dict[tuple[str, float], Prompt] = {}
    for name in names:
        if HISTORY not in name or "fixtures" in name or not name.endswith(".md"):
            continue
        parts = WHO.split(git(git_dir, "show", f"HEAD:{name}"))
        speeches = list(zip(parts[1::3], parts[2::3], parts[3::3], strict=True))
        for number, (who, when, speech) in enumerate(speeches):
            text = speech.partition("\n---\n")[0].strip()
            if who != "User" or not when or text.startswith("<") or not terms_of(text):
                continue
            answers = [said for by, _, said in speeches[number + 1 :] if by == "Agent"]
            answer = next((one for one in answers if not one.lstrip().startswith("<")), "")
            at = datetime.datetime.fromisoformat(f"{when}+00:00").timestamp()
            # SpecStory saves a resumed session again, including its earlier prompts.
            found.setdefault((text[:200], at), Prompt(text, name, at, answer))
    return sorted(found.values(), key=lambda one: one.at)


def scopes(git_dir: str) -> list[Prompt]:
    found: list[Prompt] = []
    for subject in git(git_dir, "log", "--no-merges", "--format=%s", "-n", "6000").splitlines():
        match = SCOPED.fullmatch(subject)
        label = (match[1] or match[2]) if match else ""
        if match and label not in KINDS and not match[3].lower().startswith(("update", "bump")):
            text = re.sub(re.escape(label), " ", match[3], flags=re.IGNORECASE)
            if len(set(terms_of(text))) >= 2:
                found.append(Prompt(text, label, 0.0))
    return found


def files(git_dir: str) -> list[Prompt]:
    log = git(git_dir, "log", "--no-merges", "--name-only", "--format=%x00%s", "-n", "6000")
    found: list[Prompt] = []
    for record in log.split("\0")[1:]:
        subject, *paths = [one for one in record.splitlines() if one.strip()] or [""]
        stems = {PurePosixPath(one).stem.removeprefix("test_").removesuffix("_test")
                 for one in paths if "CHANGE" not in one.upper()}  # fmt: skip
        if len(stems) == 1 and len(paths) <= 2:
            label = stems.pop()
            text = re.sub(re.escape(label), " ", subject, flags=re.IGNORECASE)
            if len(set(terms_of(text))) >= 2:
                found.append(Prompt(text, label, 0.0))
    return found


def of_frequent(found: list[Prompt], most: int, labels: int) -> list[Prompt]:
    """The latest commits with the most frequent labels, in order, ten minutes apart."""
    frequent = {one for one, _ in Counter(one.label for one in found).most_common(labels)}
    latest = [one for one in found if one.label in frequent][:most][::-1]
    return [one._replace(at=PAUSE_S * number) for number, one in enumerate(latest)]


def in_runs(prompts: list[Prompt], mean: int) -> list[Prompt]:
    """The prompts of each label in order, in runs: one label after another."""
    chance = random.Random(7)
    queues: dict[str, list[Prompt]] = defaultdict(list)
    for one in prompts:
        queues[one.label].append(one)
    found: list[Prompt] = []
    while queues:
        label = chance.choice(sorted(queues))
        size = chance.randint(1, 2 * mean - 1)
        found += queues[label][:size]
        del queues[label][:size]
        if not queues[label]:
            del queues[label]
    return [one._replace(at=PAUSE_S * number) for number, one in enumerate(found)]


def by_focus(prompts: list[Prompt], settings: FocusSettings, terms=terms_of) -> list[int]:
    forest, guide, trees = Forest(), list[GuideEntry](), []
    for one in prompts:
        reinforce(forest, guide)
        grow(forest, one.text, counted(terms(one.text)), settings, now=one.at, branch="")
        listen(guide, first_sentence(one.answer), settings, one.at)
        trees.append(forest.last)
    return trees


def by_neighbours(prompts: list[Prompt], settings: FocusSettings, most: int) -> list[int]:
    """The tree that the nearest of the last hundred prompts vote for, weighted by cosine."""
    counts, seen, trees = DocumentCounts(), [], []
    for one in prompts:
        terms = counted(terms_of(one.text))
        vector = counts.vector(terms)
        near = sorted(
            ((cosine(vector, counts.vector(other)), tree) for other, tree in seen[-100:]),
            reverse=True,
        )[:most]  # fmt: skip
        votes: dict[int, float] = defaultdict(float)
        for like, tree in near:
            if like >= settings.branch:
                votes[tree] += like
        tree = max(votes, key=lambda tree: votes[tree]) if votes else len(trees) + 1
        counts.add(terms)
        seen.append((terms, tree))
        trees.append(tree)
    return trees


def judged(prompts: list[Prompt], trees: list[int]) -> tuple[float, float, float, int]:
    labels = [one.label for one in prompts]
    members: dict[int, Counter[str]] = defaultdict(Counter)
    known: set[str] = set()
    right = 0
    for tree, label in zip(trees, labels, strict=True):
        so_far = members[tree].most_common(1)
        right += so_far[0][0] == label if so_far else label not in known
        members[tree][label] += 1
        known.add(label)
    pure = sum(one.most_common(1)[0][1] for one in members.values())
    together = Counter()
    for (tree, label), (other, other_label) in combinations(zip(trees, labels, strict=True), 2):
        together[tree == other, label == other_label] += 1
    both = together[True, True]
    f1 = 2 * both / max(1, 2 * both + together[True, False] + together[False, True])
    return pure / len(trees), right / len(trees), f1, len(members)


def shown(name: str, rows: list[tuple[float, float, float, int]]) -> None:
    cells = "   ".join(f"{p:.3f} {r:.3f} {f:.3f} {t:4}" for p, r, f, t in rows)
    mean = [sum(row[at] for row in rows) / len(rows) for at in range(3)]
    print(f"{name:24} {cells}   | {mean[0]:.3f} {mean[1]:.3f} {mean[2]:.3f}")


def stem_agreement(prompts: list[Prompt]) -> None:
    """How often the stemmers of focus and of the index agree on whether two words are the same."""
    words = sorted({one for prompt in prompts for one in words_of(prompt.text) if one.isalpha()})
    stems = {one: prompt_terms.stem(one) for one in words}
    porter = {one: (terms_of_text(one) or [one])[0] for one in words}
    agree = Counter()
    for left, right in combinations(words, 2):
        agree[stems[left] == stems[right], porter[left] == porter[right]] += 1
    both, alone, other = agree[True, True], agree[True, False], agree[False, True]
    print(f"{len(words)} words: {both} pairs joined by both, {alone} by focus, {other} by Porter")
    odd = [f"{a}/{b}" for a, b in combinations(words, 2)
           if (stems[a] == stems[b]) != (porter[a] == porter[b])]  # fmt: skip
    print("  differ:", " ".join(odd[:40]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("git_dirs", nargs="+")
    parser.add_argument("--by", choices=("file", "scope", "session"), default="file")
    parser.add_argument("--prompts", type=int, default=300)
    parser.add_argument("--labels", type=int, default=12)
    parser.add_argument("--runs", type=int, default=0, help="topics in runs of so many on average")
    parser.add_argument("--sweep", action="store_true", help="other thresholds and boosts too")
    parser.add_argument("--stems", action="store_true", help="the two stemmers compared")
    args = parser.parse_args()
    read = {"file": files, "scope": scopes, "session": sessions}[args.by]
    streams = [read(one) for one in args.git_dirs]
    if args.by != "session":
        streams = [of_frequent(one, args.prompts, args.labels) for one in streams]
    if args.runs:
        streams = [in_runs(one, args.runs) for one in streams]
    for git_dir, stream in zip(args.git_dirs, streams, strict=True):
        print(f"{git_dir}: {len(stream)} prompts, {len({one.label for one in stream})} labels")
    print("for each: purity right F1 trees; at the end the means")

    def run(name: str, way) -> None:
        shown(name, [judged(stream, way(stream)) for stream in streams])

    chosen = FocusSettings()
    run("focus", lambda one: by_focus(one, chosen))
    run("no Markov", lambda one: by_focus(one, chosen._replace(transition_boost=0)))
    for most in (1, 5):
        run(f"{most} nearest", lambda one, most=most: by_neighbours(one, chosen, most))
    run("one tree each", lambda one: list(range(len(one))))
    run("stems of the index", lambda one: by_focus(one, chosen, terms_of_text))
    if args.sweep:
        for extend, branch in (
            (0.35, 0.15), (0.45, 0.2), (0.55, 0.15), (0.55, 0.2), (0.55, 0.3), (0.65, 0.25),
            (0.65, 0.35),
        ):  # fmt: skip
            way = chosen._replace(extend=extend, branch=branch)
            run(f"extend {extend} branch {branch}", lambda one, way=way: by_focus(one, way))
        for boost in (0.1, 0.5, 1.0):
            way = chosen._replace(transition_boost=boost)
            run(f"transition_boost {boost}", lambda one, way=way: by_focus(one, way))
    if args.stems:
        stem_agreement([one for stream in streams for one in stream])


if __name__ == "__main__":
    main()
