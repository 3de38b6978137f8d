"""Replay commit subjects of a repository as prompts, in order, and judge the topics they get.

    python benchmarks/focus_replay.py GIT_DIR... [--prompts 300] [--labels 12] [--runs 4] [--sweep]
        [--stems]

A prompt's label is the file that its commit changed (one or two files of code, named alike); kept
are the commits of the most frequent labels. The file's name is taken out of the subject. Labels
are not seen by what is judged. Printed for each way, over all prompts:
- purity: prompts that have the commonest label of their tree;
- right: prompts put into a tree whose commonest label so far is theirs, or into a new tree where
  no earlier prompt has their label;
- F1: of pairs of prompts in one tree against pairs with one label; trees: how many.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import PurePosixPath

import codelens.focus.prompt_terms as prompt_terms
from codelens.extract.tokenizer import terms_of_text
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, grow
from codelens.focus.prompt_terms import terms_of, words_of
from codelens.focus.term_vectors import DocumentCounts, cosine, counted

PAUSE_S = 600.0
NEIGHBOURS = 5
Prompt = tuple[str, str]


def commits(git_dir: str, most: int, labels: int) -> list[Prompt]:
    """(subject without the label, label) of the latest commits with frequent labels, in order."""
    log = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", git_dir, "log", "--no-merges", "--name-only",
         "--format=%x00%s", "-n", "6000"],
        capture_output=True, text=True, errors="replace", check=True,
    ).stdout  # fmt: skip
    found: list[Prompt] = []
    for record in log.split("\0")[1:]:
        subject, *paths = [one for one in record.splitlines() if one.strip()] or [""]
        stems = {PurePosixPath(one).stem.removeprefix("test_").removesuffix("_test")
                 for one in paths if "CHANGE" not in one.upper()}  # fmt: skip
        if len(stems) == 1 and len(paths) <= 2:
            label = stems.pop()
            text = re.sub(re.escape(label), " ", subject, flags=re.IGNORECASE)
            if len(set(terms_of(text))) >= 2:
                found.append((text, label))
    frequent = {one for one, _ in Counter(label for _, label in found).most_common(labels)}
    return [one for one in found if one[1] in frequent][:most][::-1]


def in_runs(prompts: list[Prompt], mean: int) -> list[Prompt]:
    """The prompts of each label in their order, a run of one label after a run of another."""
    chance = random.Random(7)
    queues: dict[str, list[Prompt]] = defaultdict(list)
    for one in prompts:
        queues[one[1]].append(one)
    found: list[Prompt] = []
    while queues:
        label = chance.choice(sorted(queues))
        size = chance.randint(1, 2 * mean - 1)
        found += queues[label][:size]
        del queues[label][:size]
        if not queues[label]:
            del queues[label]
    return found


def by_focus(prompts: list[Prompt], settings: FocusSettings, terms=terms_of) -> list[int]:
    forest, trees = Forest(), []
    for number, (text, _) in enumerate(prompts):
        grow(forest, text, counted(terms(text)), settings, now=PAUSE_S * number, branch="")
        trees.append(forest.last)
    return trees


def by_neighbours(prompts: list[Prompt], settings: FocusSettings) -> list[int]:
    """The tree that the nearest five of the last hundred prompts vote for by their cosines."""
    counts, seen, trees = DocumentCounts(), [], []
    for text, _ in prompts:
        terms = counted(terms_of(text))
        vector = counts.vector(terms)
        near = sorted(
            ((cosine(vector, counts.vector(other)), tree) for other, tree in seen[-100:]),
            reverse=True,
        )[:NEIGHBOURS]  # fmt: skip
        votes: dict[int, float] = defaultdict(float)
        for like, tree in near:
            if like >= settings.branch:
                votes[tree] += like
        tree = max(votes, key=lambda one: votes[one]) if votes else len(trees) + 1
        counts.add(terms)
        seen.append((terms, tree))
        trees.append(tree)
    return trees


def judged(prompts: list[Prompt], trees: list[int]) -> tuple[float, float, float, int]:
    labels = [label for _, label in prompts]
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
    """How often our stems and the index's put two words of the prompts together or apart alike."""
    words = sorted({one for text, _ in prompts for one in words_of(text) if one.isalpha()})
    ours = {one: prompt_terms.stem(one) for one in words}
    theirs = {one: (terms_of_text(one) or [one])[0] for one in words}
    agree = Counter()
    for left, right in combinations(words, 2):
        agree[ours[left] == ours[right], theirs[left] == theirs[right]] += 1
    both, alone, other = agree[True, True], agree[True, False], agree[False, True]
    print(
        f"{len(words)} words: {both} pairs joined by both, {alone} by ours alone, {other} by Porter"
    )
    odd = [f"{a}/{b}" for a, b in combinations(words, 2)
           if (ours[a] == ours[b]) != (theirs[a] == theirs[b])]  # fmt: skip
    print("  differ:", " ".join(odd[:40]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("git_dirs", nargs="+")
    parser.add_argument("--prompts", type=int, default=300)
    parser.add_argument("--labels", type=int, default=12)
    parser.add_argument("--runs", type=int, default=0, help="topics in runs of so many on average")
    parser.add_argument("--sweep", action="store_true", help="other thresholds and boosts too")
    parser.add_argument("--stems", action="store_true", help="the two stemmers compared")
    args = parser.parse_args()
    streams = [commits(one, args.prompts, args.labels) for one in args.git_dirs]
    if args.runs:
        streams = [in_runs(one, args.runs) for one in streams]
    for git_dir, stream in zip(args.git_dirs, streams, strict=True):
        print(f"{git_dir}: {len(stream)} prompts, {len({label for _, label in stream})} labels")
    print("for each: purity right F1 trees; at the end the means")

    def run(name: str, way) -> None:
        shown(name, [judged(stream, way(stream)) for stream in streams])

    chosen = FocusSettings()
    run("focus", lambda one: by_focus(one, chosen))
    run("no Markov", lambda one: by_focus(one, chosen._replace(transition_boost=0)))
    run("5 nearest", lambda one: by_neighbours(one, chosen))
    run("one tree each", lambda one: list(range(len(one))))
    run("stems of the index", lambda one: by_focus(one, chosen, terms_of_text))
    if args.sweep:
        for extend, branch in ((0.45, 0.15), (0.45, 0.2), (0.55, 0.2), (0.55, 0.3), (0.65, 0.35)):
            way = chosen._replace(extend=extend, branch=branch)
            run(f"extend {extend} branch {branch}", lambda one, way=way: by_focus(one, way))
        for boost in (0.1, 0.5, 1.0):
            way = chosen._replace(transition_boost=boost)
            run(f"transition_boost {boost}", lambda one, way=way: by_focus(one, way))
    if args.stems:
        stem_agreement([one for stream in streams for one in stream])


if __name__ == "__main__":
    main()
