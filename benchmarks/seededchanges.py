#!/usr/bin/env python3
"""Makes changes to real code, and counts the callers that `impact --diff` reports.

    python benchmarks/seededchanges.py CHECKOUT... [--truth FOLDER] [--each N] [--seed N]

Each checkout is cloned. In the clone, random definitions (the same for the same seed) are changed
one at a time: a parameter added, removed, swapped with the next or given another type; renamed;
moved to another file; deleted; another value of a constant; an override added in a subtype.
`impact --diff` must report the previous callers (of a constant: users) of the definition.

FOLDER (form: `benchmarks/edges.py --help`) names those callers if it has a truth with the
checkout's name, made by compilers and type checkers. Otherwise they come from the edges that
codelens itself exported before the change, and the row shows only what a change loses. A caller
counts as reported if it is a direct result (of an override: in at most two steps), or is in a test
file to run; `or possible` adds those listed as possible uses. `precision` is the share of reported
direct calls that are callers by the same judge, in files that it judged. C and C++ change each
declaration together with the definition.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from change_texts import NEW_PARAMETER, Definition
from change_trials import KINDS, Code, Trial, User, is_within, trials

from codelens.answers.graph_answers import ImpactAnswer
from codelens.engine.engine import Engine

GIT_ENV = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


@dataclass
class Count:
    """How many callers of the changes were reported."""

    changes: int = 0
    expected: int = 0
    reported: int = 0
    possible: int = 0
    calls: int = 0
    right: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, other: Count) -> None:
        """Adds another count."""
        for name in ("changes", "expected", "reported", "possible", "calls", "right"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.missed += other.missed


def load(engine: Engine, checkout: Path, folder: Path, truth: Path | None) -> Code:
    """The definitions of a checkout, and their users."""
    packed = truth / f"{checkout.name}.jsonl.xz" if truth else None
    code = Code(checkout.name, folder, "truth" if packed and packed.is_file() else "codelens")
    for one in engine.export_symbols(path=folder):
        if one.language in NEW_PARAMETER and "#" not in one.path:
            place = Definition(one.path, one.name, one.qualified_name, one.kind, one.language,
                               one.start_line, one.end_line, one.line)  # fmt: skip
            code.symbols[one.path].append(place)
    judged_kinds = set[str]()
    if code.judge == "truth" and packed is not None and truth is not None:
        judged = truth / f"{checkout.name}.files.txt"
        code.judged = set(judged.read_text(encoding="utf-8").split("\n")) - {""}
        with lzma.open(packed, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                judged_kinds.add(row["kind"])
                used = [User(row["dst_file"], row["dst_line"])]
                used += _same(code, used[0], row["dst_alt"])
                for place in dict.fromkeys(used):
                    _note(code, row["kind"], User(row["src_file"], row["src_line"]), place)
    for edge in engine.export_edges(path=folder):
        if edge.kind not in judged_kinds:
            user = User(edge.src_file, edge.src_line)
            _note(code, edge.kind, user, User(edge.dst_file, edge.dst_line))
    return code


def _same(code: Code, used: User, alternatives: list[str]) -> Iterator[User]:
    """Other places of a used definition: declarations, overloads, the constructor of a type.

    A truth may also name methods that override it; their callers are two steps away.
    """
    definition = code.at(used)
    for alternative in alternatives:
        path, _, line = alternative.rpartition(":")
        place = User(path, int(line))
        other = code.at(place)
        if definition is None or other is None:
            continue
        if other.qualified == definition.qualified or is_within(place, definition):
            yield place


def _note(code: Code, kind: str, user: User, used: User) -> None:
    if kind == "inherit":
        code.bases.append((user, used))
    elif user != used:
        code.users[kind, used].add(user)


def ask(engine: Engine, code: Code, trial: Trial) -> Count:
    """Makes a change, asks, and restores everything."""
    before = {path: (code.folder / path) for path in trial.texts}
    old = {path: file.read_bytes() for path, file in before.items() if file.exists()}
    try:
        for path, text in trial.texts.items():
            file = code.folder / path
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(text.encode("utf-8", "surrogateescape"))
        answer = engine.impact(diff="HEAD", path=code.folder, depth=trial.steps, limit=1000)
    finally:
        for path, file in before.items():
            if path in old:
                file.write_bytes(old[path])
            else:
                file.unlink()
    return judged(code, trial, answer)


def judged(code: Code, trial: Trial, answer: ImpactAnswer) -> Count:
    """Counts the expected users that are reported, and the reported calls that are wrong."""
    reported, calls = set[tuple[str, str]](), set[tuple[str, str]]()
    for result in answer.results:
        if result.distance <= trial.steps:
            reported.add((result.node.path, result.node.symbol))
            if result.distance == 1 and result.how == "call":
                calls.add((result.node.path, result.node.symbol))
    possible = {(one.node.path, one.node.symbol) for one in answer.may}
    changed = {(one.node.path, one.node.symbol) for one in answer.changed}
    tests = {one.path for one in answer.tests}
    count = Count(changes=1)
    names = dict[User, tuple[str, str]]()
    for user in trial.expected:
        around = code.at(user) or code.around(user.path, user.line)
        names[user] = (user.path, around.qualified if user.line and around else "")
    for user, name in sorted(names.items()):
        count.expected += 1
        if name in reported or name in changed or user.path in tests:
            count.reported += 1
        elif name in possible:
            count.possible += 1
        else:
            count.missed.append(f"{trial.what.path}#{trial.what.qualified} < {name[0]}#{name[1]}"
                                f" ({', '.join(trial.texts)})")  # fmt: skip
    if trial.steps == 1 and (not code.judged or trial.what.path in code.judged):
        expected_names = set(names.values())
        judged_calls = {
            one for one in calls if (not code.judged or one[0] in code.judged)
        } - changed
        count.calls, count.right = len(judged_calls), len(judged_calls & expected_names)
    return count


def measure(checkout: Path, args: argparse.Namespace) -> dict[tuple[str, str], Count]:
    """Counts by (language, kind of change)."""
    counts: dict[tuple[str, str], Count] = {}
    with tempfile.TemporaryDirectory(prefix="changes-") as scratch:
        folder = Path(scratch) / checkout.name
        command = ["git", "clone", "-q", "--local", str(checkout), str(folder)]
        subprocess.run(command, check=True, env=GIT_ENV)
        os.environ["CODELENS_HOME"] = str(Path(scratch) / "home")
        with Engine() as engine:
            code = load(engine, checkout, folder, args.truth)
            languages = args.language or sorted(
                {one.language for every in code.symbols.values() for one in every}
            )
            for language in languages:
                for kind in args.kind or KINDS:
                    chance = random.Random(f"{args.seed} {checkout.name} {kind} {language}")
                    count = Count()
                    for trial in trials(code, kind, language, chance):
                        count.add(ask(engine, code, trial))
                        if count.changes == args.each:
                            break
                    if count.changes:
                        counts[language, kind] = count
                        show(checkout.name, language, kind, count, code.judge)
                        for line in count.missed[: args.missed]:
                            print(f"    {line}", file=sys.stderr)
    return counts


def show(name: str, language: str, kind: str, count: Count, judge: str) -> None:
    """Prints one row of the table."""
    recall = count.reported / count.expected
    either = (count.reported + count.possible) / count.expected
    precision = f"{count.right / count.calls:.3f}" if count.calls else ""
    print(f"| {name} | {language} | {judge} | {kind} | {count.changes} | {count.expected} | "
          f"{recall:.3f} | {either:.3f} | {precision} |", flush=True)  # fmt: skip


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--truth", type=Path, help="folder with NAME.jsonl.xz and NAME.files.txt")
    parser.add_argument("--each", type=int, default=6, help="changes of a kind and language")
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--language", action="append", choices=sorted(NEW_PARAMETER))
    parser.add_argument("--missed", type=int, default=0, metavar="N",
                        help="list the first N unreported callers of each row")  # fmt: skip
    args = parser.parse_args()
    print("| repository | language | judge | change | changes | callers | recall | or possible "
          "| precision |\n|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    totals: dict[tuple[str, str], Count] = defaultdict(Count)
    for checkout in args.checkouts:
        for (language, kind), count in measure(checkout.resolve(), args).items():
            totals[language, "all"].add(count)
            totals["all", kind].add(count)
            totals["all", "all"].add(count)
    for (language, kind), count in totals.items():
        show("all", language, kind, count, "")


if __name__ == "__main__":
    main()
