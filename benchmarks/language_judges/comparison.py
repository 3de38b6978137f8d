"""Matches definitions of ctags with those of codelens, and lists those that only codelens has."""

from __future__ import annotations

import collections
import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from codelens.types import Symbol
from language_judges.definitions import Tag, bare, codelens_symbols, ctags_definitions, texts
from language_judges.plan import FUNCTIONS, TYPES, Plan

_OF_FUNCTIONS = FUNCTIONS | {
    "member", "callback", "delegate", "guard", "operator", "subroutine", "singletonMethod",
    "procedure", "rpc", "generator", "getter", "setter", "val", "prototype",
}  # fmt: skip
_OF_TYPES = TYPES | {
    "typedef", "alias", "typealias", "talias", "object", "protocol", "record", "implementation",
    "namespace", "package", "message", "service",
}  # fmt: skip


class Place(NamedTuple):
    """A definition of ctags or codelens, as lists and judged files write it."""

    repo: str
    path: str
    line: int
    kind: str
    qualified: str
    signature: str = ""

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.repo, self.path, self.line, self.qualified


class Comparison(NamedTuple):
    """Both sides over all repositories of one language."""

    files: int
    size: int
    outcomes: dict[str, int]
    by_ctags: list[Place]
    """ctags definitions that count."""
    misses: list[Place]
    dropped: list[Place]
    """Misses that are not names by the plan's rule: errors of ctags."""
    by_codelens: list[Place]
    extras: list[Place]

    @property
    def found(self) -> int:
        return len(self.by_ctags) - len(self.misses) - len(self.dropped)


def compare(plan: Plan, repositories: list[Path], limit: int) -> Comparison:
    """Compares both in the files of all the repositories, about `limit` bytes of each."""
    result = Comparison(0, 0, collections.Counter(), [], [], [], [], [])
    for repository in repositories:
        files = texts(repository, plan, limit)
        result = result._replace(
            files=result.files + len(files),
            size=result.size + sum(len(one.data) for one in files),
        )
        tags: dict[str, list[Tag]] = collections.defaultdict(list)
        for tag in ctags_definitions(repository, plan, files) if files else ():
            tags[tag.path].append(tag)
        for text in files:
            outcome, symbols = codelens_symbols(text, plan.language)
            result.outcomes[outcome] += 1
            _one_file(repository.name, text.path, symbols, tags[text.path], plan, result)
    return result


def _one_file(
    repo: str,
    path: str,
    symbols: tuple[Symbol, ...],
    tags: list[Tag],
    plan: Plan,
    result: Comparison,
) -> None:
    by_name: dict[str, list[Symbol]] = collections.defaultdict(list)
    for symbol in symbols:
        by_name[bare(symbol.name)].append(symbol)
    matched: set[Symbol] = set()
    for tag in tags:
        serving = [one for one in by_name.get(bare(tag.name), ()) if _serves(one, tag)]
        matched.update(serving)
        if tag.counts:
            place = Place(repo, path, tag.line, tag.kind, tag.name)
            result.by_ctags.append(place)
            if not serving:
                named = not re.fullmatch(plan.not_names, tag.name)
                (result.misses if named else result.dropped).append(place)
    for symbol in symbols:
        if symbol.kind in plan.codelens_kinds:
            place = Place(
                repo, path, symbol.name_line, symbol.kind, symbol.qualified, symbol.signature
            )
            result.by_codelens.append(place)
            if symbol not in matched:
                result.extras.append(place)


def _serves(symbol: Symbol, tag: Tag) -> bool:
    """Whether the tag is at the symbol's head, or (merged clauses) of its kind in its span."""
    if symbol.start_line <= tag.line <= symbol.name_line or abs(tag.line - symbol.name_line) <= 1:
        return True
    if not symbol.start_line <= tag.line <= symbol.end_line:
        return False
    if symbol.kind in FUNCTIONS:
        return tag.kind in _OF_FUNCTIONS
    return symbol.kind in TYPES and tag.kind in _OF_TYPES


def sampled(places: list[Place], seed: str = "7") -> list[Place]:
    """Sorts in a random but stable order: its head is a fair sample even if items come or go."""
    return sorted(places, key=lambda one: _draw(seed, one))


def _draw(seed: str, place: Place) -> bytes:
    return hashlib.md5(repr((seed, place.key)).encode(), usedforsecurity=False).digest()
