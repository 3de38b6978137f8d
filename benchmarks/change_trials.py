"""Chooses definitions of real code and how they change, and determines who is affected.

Used by benchmarks/seededchanges.py.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import change_texts
from change_texts import Definition

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
"""Languages in which a definition moves together with its file."""
NO_OVERRIDES = frozenset({"c", "go", "lua", "rust"})
"""Languages in which the text of a type does not show what it overrides."""
DECLARED_APART = frozenset({"c", "cpp"})


class User(NamedTuple):
    """A user: a definition, by the line of its name; 0 is the file itself."""

    path: str
    line: int


@dataclass
class Code:
    """One checkout before any change."""

    name: str
    folder: Path
    judge: str
    symbols: dict[str, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    users: dict[tuple[str, User], set[User]] = field(default_factory=lambda: defaultdict(set))
    """(kind of edge, used definition) -> users."""
    bases: list[tuple[User, User]] = field(default_factory=list)
    judged: set[str] = field(default_factory=set)
    """Judged files; empty if all files were judged."""

    def at(self, place: User) -> Definition | None:
        """The definition whose name is in that line."""
        return next((one for one in self.symbols[place.path] if one.line == place.line), None)

    def around(self, path: str, line: int) -> Definition | None:
        """The innermost definition that contains a line."""
        holding = [one for one in self.symbols[path] if one.start <= line <= one.end]
        return min(holding, key=lambda one: one.end - one.start, default=None)

    def text(self, path: str) -> str:
        """The text of a file; bytes that are not UTF-8 survive a round trip."""
        return (self.folder / path).read_bytes().decode("utf-8", "surrogateescape")


class Trial(NamedTuple):
    """One change: the files that it writes, and the users that must be reported."""

    what: Definition
    texts: dict[str, str | None]
    """Path -> text; None if the file is deleted."""
    expected: set[User]
    steps: int = 1


def trials(code: Code, kind: str, language: str, chance: random.Random) -> Iterator[Trial]:
    """Yields changes of one kind, in random order."""
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
            user for user in users if user.path not in gone and not is_within(user, definition)
        }
        if texts and expected:
            yield Trial(definition, texts, expected)


def is_within(user: User, definition: Definition) -> bool:
    """Whether the user is inside a changed definition, which is reported itself."""
    return user.path == definition.path and definition.start <= user.line <= definition.end


def _holds(code: Code, user: User, definition: Definition) -> bool:
    """Whether the user is a function around the definition, and so changes itself."""
    around = code.at(user)
    return around is not None and is_within(User(definition.path, definition.line), around)


def _texts(code: Code, kind: str, definition: Definition) -> dict[str, str | None]:
    """The changed files after a change; empty if the change is impossible."""
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
                expected = {user for user in users if not is_within(user, method)
                            and not any(is_within(user, other) for other in others)}  # fmt: skip
                if expected:
                    yield Trial(method, {subtype.path: text}, expected, 2)
                    break


def _apart(code: Code, sub: User, base: User) -> list[Definition]:
    """Types below a base that are not related to its subtype.

    What these types call on their own instance can never resolve to the subtype.
    """
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
