"""Finds the definitions that two sides both changed since their merge base."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from codelens.branches.code_tokens import is_same_code
from codelens.branches.definition_diff import (
    DefinitionChange,
    DefinitionDiff,
    DiffLines,
    FileChange,
)
from codelens.branches.definition_matcher import ADDED, DOCUMENTATION, FORMATTING, MOVED, RENAMED
from codelens.branches.file_definitions import Definition, FileDefinitions
from codelens.resolve.languages.registry import spec_of

CERTAIN, LIKELY, POSSIBLE, HARMLESS = "certain", "likely", "possible", "harmless"
_QUIET = frozenset({DOCUMENTATION, FORMATTING})

Key = tuple[bytes, int]
"""Path and position of a definition in the merge base."""


class Spot(NamedTuple):
    """A place on one side."""

    file: FileDefinitions
    definition: Definition | None
    """None for a line outside of definitions."""
    line: int


def spot(definition_: Definition, line: int = 0) -> Spot:
    """Return the place of a definition, or of a line in it."""
    return Spot(definition_.file, definition_, line or definition_.symbol.name_line)


class Collision(NamedTuple):
    """A definition that both sides change, or that one side changes and the other newly uses."""

    rule: str
    """`overlapping`, `mergeable`, `same`, `moved`, `removed`, `added twice`, `additions`; or a
    rule of `codelens.branches.meaning_collisions`."""
    grade: str
    """`certain`, `likely`, `possible` or `harmless`."""
    yours: Spot
    theirs: Spot
    message: str


class Changed(NamedTuple):
    """The changes of one side, by definition of the merge base."""

    diff: DefinitionDiff
    by_key: dict[Key, DefinitionChange]
    added: tuple[Definition, ...]
    """All new definitions, including those inside new ones."""


def changed_of(diff: DefinitionDiff) -> Changed:
    """Index the changes of a side."""
    by_key: dict[Key, DefinitionChange] = {}
    added: list[Definition] = []
    for file in diff.files:
        for definition in file.definitions:
            if definition.old is not None:
                by_key[definition.old.file.path, definition.old.at] = definition
                if definition.new is None:
                    for inner in definition.old.file.children(definition.old):
                        if inner not in diff.matches.new_of:
                            by_key[inner.file.path, inner.at] = definition._replace(old=inner)
            elif definition.new is not None:
                added.append(definition.new)
                added += [
                    inner
                    for inner in definition.new.file.children(definition.new)
                    if inner not in diff.matches.old_of
                ]
    return Changed(diff, by_key, tuple(added))


def collisions(yours: Changed, theirs: Changed, diff_lines: DiffLines) -> Iterator[Collision]:
    """Yield the definitions that both sides changed, in the order of `yours`."""
    for key, change in yours.by_key.items():
        other = theirs.by_key.get(key)
        if other is not None:
            collision = _both(change, other, diff_lines)
            if collision is not None:
                yield collision
    yield from _added_twice(yours, theirs)


def _both(
    yours: DefinitionChange, theirs: DefinitionChange, diff_lines: DiffLines
) -> Collision | None:
    old = yours.old
    assert old is not None
    name = old.symbol.qualified
    if yours.new is None and theirs.new is None:
        return Collision("same", HARMLESS, spot(old), spot(old), f"both removed {name}")
    if yours.new is None or theirs.new is None:
        return _removed(yours, theirs, name)
    definition, other = yours.new, theirs.new
    if _is_same(definition, other) and definition.symbol.qualified == other.symbol.qualified:
        return Collision(
            "same", HARMLESS, spot(definition), spot(other), f"both made the same change to {name}"
        )
    if _place(yours) != _place(theirs) and (_moved(yours) or _moved(theirs)):
        if _moved(yours) and _moved(theirs):
            sentence = f"you {_did(yours)} {name}, they {_did(theirs)} it"
            return Collision("moved", CERTAIN, spot(definition), spot(other), sentence)
        if _changes_code(yours if not _moved(yours) else theirs):
            mover, changer = ("you", "they") if _moved(yours) else ("they", "you")
            moved = yours if _moved(yours) else theirs
            sentence = f"{mover} {_did(moved)} {name}, which {changer} changed"
            return Collision("moved", LIKELY, spot(definition), spot(other), sentence)
    if overlaps(old.own, definition.own, other.own, diff_lines):
        quiet = set(yours.how) <= _QUIET and set(theirs.how) <= _QUIET
        sentence = f"both changed the same lines of {name}"
        return Collision(
            "overlapping", LIKELY if quiet else CERTAIN, spot(definition), spot(other), sentence
        )
    return Collision(
        "mergeable",
        POSSIBLE,
        spot(definition),
        spot(other),
        f"both changed {name}, in different lines",
    )


def _is_same(definition: Definition, other: Definition) -> bool:
    language = definition.file.language
    return is_same_code(definition.own, other.own, language, with_comments=True)


def _removed(yours: DefinitionChange, theirs: DefinitionChange, name: str) -> Collision | None:
    changed, remover, changer = (
        (theirs, "you", "they") if yours.new is None else (yours, "they", "you")
    )
    if not (_changes_code(changed) or _moved(changed)):
        return None
    sentence = f"{remover} removed {name}, which {changer} changed"
    return Collision("removed", CERTAIN, spot(yours.definition), spot(theirs.definition), sentence)


def _moved(change: DefinitionChange) -> bool:
    return bool({MOVED, RENAMED} & set(change.how))


def _did(change: DefinitionChange) -> str:
    return "renamed" if RENAMED in change.how else "moved"


def _changes_code(change: DefinitionChange) -> bool:
    return bool(set(change.how) - _QUIET - {MOVED, RENAMED})


def _place(change: DefinitionChange) -> tuple[bytes, str]:
    assert change.new is not None
    return change.new.file.path, change.new.symbol.qualified


def overlaps(old: bytes, yours: bytes, theirs: bytes, diff_lines: DiffLines) -> bool:
    """Whether two changes of a text affect the same or adjacent lines, as git defines it."""
    # An insertion has no lines of its own; it is between `start` and the next one.
    spans = [
        [
            (start - 1 if count else start, start - 1 + count if count else start)
            for start, count, *_ in diff_lines(old + b"\n", new + b"\n")
        ]
        for new in (yours, theirs)
    ]
    return any(
        first <= other_stop and other_first <= stop
        for first, stop in spans[0]
        for other_first, other_stop in spans[1]
    )


def _added_twice(yours: Changed, theirs: Changed) -> Iterator[Collision]:
    waiting = {
        (definition.file.path, definition.symbol.qualified, _parameters(definition)): definition
        for definition in theirs.added
    }
    named = {
        (definition.file.path, definition.symbol.qualified): definition
        for definition in theirs.added
    }
    reported: set[tuple[bytes, str]] = set()
    for definition in yours.added:
        key = (definition.file.path, definition.symbol.qualified)
        other = waiting.get((*key, _parameters(definition))) or named.get(key)
        if other is None or key in reported:
            continue
        reported.add(key)
        owner = definition.owner
        if owner and (definition.file.path, owner) in reported:
            continue  # it is reported with its owner
        name = definition.symbol.qualified
        if _is_same(definition, other):
            yield Collision(
                "same", HARMLESS, spot(definition), spot(other), f"both added the same {name}"
            )
        elif _overloads(definition, other):
            continue
        else:
            yield Collision(
                "added twice", CERTAIN, spot(definition), spot(other), f"both added {name}"
            )


def _parameters(definition: Definition) -> bytes:
    return definition.signature


def _overloads(definition: Definition, other: Definition) -> bool:
    return (
        definition.group == "callable"
        and spec_of(definition.file.language).overloads
        and definition.signature != other.signature
    )


def independent_additions(yours: FileChange | None, theirs: FileChange | None) -> bool:
    """Whether two changes of a file only add definitions with different names."""
    if yours is None or theirs is None:
        return False
    for file_change in (yours, theirs):
        if any(part.how not in {"imports", "comments"} for part in file_change.outside):
            return False
        if any(change.how != (ADDED,) for change in file_change.definitions):
            return False
    names = [
        {change.definition.symbol.qualified for change in file_change.definitions}
        for file_change in (yours, theirs)
    ]
    return bool(names[0]) and bool(names[1]) and not names[0] & names[1]
