#!/usr/bin/env python3
"""Generated changes of real code, and which of the callers `impact --diff` tells.

    python benchmarks/seededchanges.py CHECKOUT... [--truth FOLDER] [--each N] [--seed N]

Each checkout is cloned, and in the clone definitions by chance (the same for the same seed) are
changed one at a time: a parameter added, removed, exchanged with the next or given another type;
renamed; moved to another file; deleted; another value of a constant; an override added in a
subtype. `impact --diff` must tell who called (of a constant: who used) the definition before.

Who that is says FOLDER (form: `benchmarks/edges.py --help`) where it has a truth of the checkout's
name, made by compilers and type checkers; else the edges that codelens itself exported before the
change, and the row then tells only what a change loses. A caller is told if it is a direct result
(of an override: in at most two steps), or stands in a test file to run; `or possible` adds those
listed as possible uses. `precision` is the share of direct calls told that are callers by the same
judge, in files that it judged. C and C++ change each declaration with the definition.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import change_texts
from change_texts import NEW_PARAMETER, Definition

from codelens.answers.graph_answers import ImpactAnswer
from codelens.engine.engine import Engine

GIT_ENV = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
CALLABLE = frozenset({"function", "method"})
TYPES = frozenset({"class", "interface", "struct", "trait"})
VALUES = frozenset({"constant", "macro", "variable", "field"})
IN_PLACE: dict[str, Callable[[str, Definition], str | None]] = {
    "add": change_texts.with_more,
    "remove": change_texts.with_fewer,
    "reorder": change_texts.with_order,
    "retype": change_texts.with_type,
    "rename": change_texts.renamed,
    "delete": lambda text, definition: change_texts.taken_out(text, definition)[0],
}
KINDS = (*IN_PLACE, "move", "constant", "override")
FILES_MOVE = frozenset({"csharp", "java", "kotlin", "php"})
"""Languages where a definition moves with its file."""
NO_OVERRIDES = frozenset({"c", "go", "lua", "rust"})
"""Languages where a type's own text does not say what it overrides."""
DECLARED_APART = frozenset({"c", "cpp"})


class User(NamedTuple):
    """Who uses: a definition by the line of its name; 0 is the file itself."""

    path: str
    line: int


@dataclass
class Code:
    """One checkout, as it stands before any change."""

    name: str
    folder: Path
    judge: str
    symbols: dict[str, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    users: dict[tuple[str, User], set[User]] = field(default_factory=lambda: defaultdict(set))
    """(kind of edge, what is used) -> who."""
    bases: list[tuple[User, User]] = field(default_factory=list)
    judged: set[str] = field(default_factory=set)
    """Files; empty if all were."""

    def at(self, place: User) -> Definition | None:
        """The definition whose name stands in that line."""
        return next((one for one in self.symbols[place.path] if one.line == place.line), None)

    def around(self, path: str, line: int) -> Definition | None:
        """The innermost definition of a line, of those that can use anything."""
        holding = [one for one in self.symbols[path] if one.start <= line <= one.end]
        return min(holding, key=lambda one: one.end - one.start, default=None)

    def text(self, path: str) -> str:
        """A file as it is; bytes that are no UTF-8 stay what they are."""
        return (self.folder / path).read_bytes().decode("utf-8", "surrogateescape")


@dataclass
class Count:
    """What was told of the callers of some changes."""

    changes: int = 0
    expected: int = 0
    told: int = 0
    possible: int = 0
    calls: int = 0
    right: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, other: Count) -> None:
        """Take what another one counted."""
        for name in ("changes", "expected", "told", "possible", "calls", "right"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.missed += other.missed


def load(engine: Engine, checkout: Path, folder: Path, truth: Path | None) -> Code:
    """The definitions of a checkout, and who uses which."""
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
    """Other places of what is used: declarations, overloads, the constructor of a type.

    A truth may also name methods that override it; their callers are of two steps.
    """
    known = code.at(used)
    for alternative in alternatives:
        path, _, line = alternative.rpartition(":")
        place = User(path, int(line))
        other = code.at(place)
        if known is None or other is None:
            continue
        if other.qualified == known.qualified or _is_within(place, known):
            yield place


def _note(code: Code, kind: str, user: User, used: User) -> None:
    if kind == "inherit":
        code.bases.append((user, used))
    elif user != used:
        code.users[kind, used].add(user)


class Trial(NamedTuple):
    """One change: the files that it writes, and who must be told."""

    what: Definition
    texts: dict[str, str | None]
    """Path -> text; None where the file is gone."""
    expected: set[User]
    steps: int = 1


def trials(code: Code, kind: str, language: str, chance: random.Random) -> Iterator[Trial]:
    """Changes of one kind, in an order by chance."""
    if kind == "override":
        yield from _overrides(code, language, chance)
        return
    values = kind == "constant"
    used = sorted(code.users, key=lambda one: (one[1], one[0]))
    chance.shuffle(used)
    for edge, place in used:
        definition = code.at(place)
        if edge != ("ref" if values else "call") or definition is None:
            continue
        if definition.language != language:
            continue
        if definition.kind not in (VALUES if values else CALLABLE):
            continue
        texts = _texts(code, kind, definition)
        users = code.users[edge, place]
        if kind == "move" and language in FILES_MOVE:
            users = {
                user
                for (also, other), every in code.users.items()
                if also == "call" and other.path == place.path
                for user in every
            }
        gone = (place.path,) if kind == "move" and language in FILES_MOVE else ()
        expected = {
            user for user in users if user.path not in gone and not _is_within(user, definition)
        }
        if texts and expected:
            yield Trial(definition, texts, expected)


def _is_within(user: User, definition: Definition) -> bool:
    """The user is part of a definition: of what changes, and is told as that."""
    return user.path == definition.path and definition.start <= user.line <= definition.end


def _holds(code: Code, user: User, definition: Definition) -> bool:
    """The user is a function around the definition, and so changes itself."""
    around = code.at(user)
    return around is not None and _is_within(User(definition.path, definition.line), around)


def _texts(code: Code, kind: str, definition: Definition) -> dict[str, str | None]:
    """The files of a change as they are after it; empty if it cannot be made."""
    text = code.text(definition.path)
    folder, _, base = definition.path.rpartition("/")
    if kind == "constant":
        changed = change_texts.with_value(text, definition)
        return {} if changed is None or changed == text else {definition.path: changed}
    if kind == "move":
        if definition.language in FILES_MOVE:
            return {definition.path: None, f"{folder}/zzmoved/{base}".lstrip("/"): text}
        if definition.kind != "function":
            return {}
        left, taken = change_texts.taken_out(text, definition)
        package = folder.rpartition("/")[2] or code.name
        head = f"package {package}\n" if definition.language == "go" else ""
        return {definition.path: left, f"{folder}/zzmoved_{base}".lstrip("/"): head + taken}
    texts: dict[str, str | None] = {}
    for one in _declarations(code, definition):
        before = texts.get(one.path) or code.text(one.path)
        after = IN_PLACE[kind](before, one)
        if after is None or after == before:
            return {}
        texts[one.path] = after
    return texts


def _declarations(code: Code, definition: Definition) -> list[Definition]:
    """The definition, and where C and C++ declare it; the last of a file first."""
    if definition.language not in DECLARED_APART:
        return [definition]
    every = [
        one
        for symbols in code.symbols.values()
        for one in symbols
        if one.qualified == definition.qualified and one.kind == definition.kind
    ]
    return sorted(every, key=lambda one: -one.start)


def _overrides(code: Code, language: str, chance: random.Random) -> Iterator[Trial]:
    pairs = sorted(set(code.bases))
    chance.shuffle(pairs)
    for sub, base in pairs:
        subtype, above = code.at(sub), code.at(base)
        if subtype is None or above is None or subtype.language != language:
            continue
        if {subtype.kind, above.kind} - TYPES or language in NO_OVERRIDES:
            continue
        others = _apart(code, sub, base)
        own = {one.qualified for one in code.symbols[subtype.path]}
        methods = [one for one in code.symbols[above.path]
                   if one.kind == "method" and above.start <= one.line <= above.end
                   and one.qualified.rpartition(one.name)[0][:-1].endswith(above.name)
                   and subtype.qualified + one.qualified[len(above.qualified):] not in own
                   and not _is_constructor(one, above)]  # fmt: skip
        chance.shuffle(methods)
        for method in methods:
            users = code.users.get(("call", User(method.path, method.line)), set())
            body = change_texts.taken_out(code.text(method.path), method)[1]
            if not users or not change_texts.is_open(body, method, above):
                continue
            text = change_texts.with_override(code.text(subtype.path), subtype, body)
            if text is not None:
                expected = {user for user in users if not _is_within(user, method)
                            and not any(_is_within(user, other) for other in others)}  # fmt: skip
                if expected:
                    yield Trial(method, {subtype.path: text}, expected, 2)
                    break


def _apart(code: Code, sub: User, base: User) -> list[Definition]:
    """Types below a base that a subtype of it is no base of: what is called there on the instance
    itself can never be of the subtype."""
    below = {base}
    while more := {one for one, above in code.bases if above in below} - below:
        below |= more
    line = {sub}
    while more := {above for one, above in code.bases if one in line} - line:
        line |= more
    return [one for place in below - line if (one := code.at(place)) is not None]


def _is_constructor(method: Definition, above: Definition) -> bool:
    return method.name in {above.name, "__init__", "__new__", "__construct", "initialize",
                           "constructor"} or method.name.startswith("~")  # fmt: skip


def ask(engine: Engine, code: Code, trial: Trial) -> Count:
    """Make a change, ask, and put everything back."""
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
    """What of the expected is told, and what is told beside it."""
    told, calls = set[tuple[str, str]](), set[tuple[str, str]]()
    for result in answer.results:
        if result.distance <= trial.steps:
            told.add((result.node.path, result.node.symbol))
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
        if name in told or name in changed or user.path in tests:
            count.told += 1
        elif name in possible:
            count.possible += 1
        else:
            count.missed.append(f"{trial.what.path}#{trial.what.qualified} < {name[0]}#{name[1]}"
                                f" ({', '.join(trial.texts)})")  # fmt: skip
    if trial.steps == 1 and (not code.judged or trial.what.path in code.judged):
        known = set(names.values())
        mine = {one for one in calls if (not code.judged or one[0] in code.judged)} - changed
        count.calls, count.right = len(mine), len(mine & known)
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
    """One row of the table."""
    recall = count.told / count.expected
    either = (count.told + count.possible) / count.expected
    precision = f"{count.right / count.calls:.3f}" if count.calls else ""
    print(f"| {name} | {language} | {judge} | {kind} | {count.changes} | {count.expected} | "
          f"{recall:.3f} | {either:.3f} | {precision} |", flush=True)  # fmt: skip


def main() -> None:
    """Print a table."""
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
                        help="list the first N callers that were not told of each row")  # fmt: skip
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
