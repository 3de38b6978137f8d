"""Finds semantic collisions: each side is correct, git merges them, and the result is broken.

One side changes what the other newly depends on. Only resolved edges of the other side's own view
count; ambiguous edges do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.branches.collisions import (
    CERTAIN,
    LIKELY,
    POSSIBLE,
    Changed,
    Collision,
    Spot,
    spot,
)
from codelens.branches.definition_diff import DefinitionChange, FileChange
from codelens.branches.definition_matcher import BODY, MOVED, RENAMED, SIGNATURE
from codelens.branches.file_definitions import FILE, Definition, FileDefinitions, squeezed
from codelens.branches.parameters import breaks_calls, default_changed, parameters
from codelens.resolve.languages.registry import spec_of

_DERIVES = frozenset({"inherit", "satisfy", "override"})
_OPEN_TYPES = frozenset({"interface", "trait"})
_ABSTRACT = re.compile(rb"\babstract\b|@(?:abc\.)?abstract\w*|=\s*0\s*;|\bNotImplementedError\b")
_NOT_BY_IMPORT = frozenset({"signature and called", "default and called", "value and read"})
_COMMON = re.compile(
    r"__\w+__\Z|constructor\Z|initialize\Z|new\Z|main\Z|init\Z|(?i:test)|setUp|tearDown"
)


class Use(NamedTuple):
    """A resolved use: which definition it uses, and where."""

    kind: str
    path: bytes
    """File of the used definition, on the side that uses it."""
    qualified: str
    line: int


Uses = Callable[[FileDefinitions, int], Sequence[Use]]
"""Returns the certain uses from a symbol of a file of one side, or from the file itself
(`FILE`)."""


def meaning(
    yours: Changed, theirs: Changed, your_uses: Uses, their_uses: Uses
) -> Iterator[Collision]:
    """Yield what one side newly depends on and the other side changes, in both directions."""
    yield from _relied_on(yours, theirs, their_uses, "you", "they")
    for collision in _relied_on(theirs, yours, your_uses, "they", "you"):
        yield collision._replace(yours=collision.theirs, theirs=collision.yours)
    yield from _abstract(yours, theirs, their_uses, "you", "they")
    for collision in _abstract(theirs, yours, your_uses, "they", "you"):
        yield collision._replace(yours=collision.theirs, theirs=collision.yours)
    yield from _overrides(yours, theirs, your_uses, their_uses)


class _Broken(NamedTuple):
    change: DefinitionChange
    rule: str
    grade: str
    did: str


def _relied_on(
    changer: Changed, user: Changed, uses: Uses, changer_name: str, user_name: str
) -> Iterator[Collision]:
    broken = {
        key: broken_use for key, change in changer.by_key.items() if (broken_use := _breaks(change))
    }
    if not broken:
        return
    by_target = {
        (path, broken_use.change.old.symbol.qualified): broken_use
        for (path, _), broken_use in broken.items()
        if broken_use.change.old is not None
    }
    names = {
        broken_use.change.old.name.encode("utf-8", "replace")
        for broken_use in broken.values()
        if broken_use.change.old is not None
    }
    reported: set[tuple[bytes, str, bytes, int]] = set()
    for file, at, lines in _new_users(user, names):
        for use in uses(file, at):
            broken_use = by_target.get((use.path, use.qualified))
            if broken_use is None or (lines and use.line not in lines):
                continue
            if use.kind == "import" and broken_use.rule in _NOT_BY_IMPORT:
                continue
            key = (use.path, use.qualified, file.path, at)
            old = broken_use.change.old
            if key in reported or old is None or (old.file.path == file.path and old.at == at):
                continue
            reported.add(key)
            theirs = Spot(file, file.by_symbol.get(at), use.line)
            yours = spot(broken_use.change.definition)
            verb = "calls" if use.kind == "call" else "uses"
            where = theirs.definition.symbol.qualified if theirs.definition else "new code"
            sentence = (
                f"{changer_name} {broken_use.did}; "
                f"{where}, which {user_name} wrote, newly {verb} it"
            )
            yield Collision(broken_use.rule, broken_use.grade, yours, theirs, sentence)


def _breaks(definition_change: DefinitionChange) -> _Broken | None:
    """Return what a change breaks for users of the definition."""
    old, new = definition_change.old, definition_change.new
    if old is None or old.group == "module":
        return None
    name = old.symbol.qualified
    if new is None:
        return _Broken(definition_change, "removed and used", CERTAIN, f"removed {name}")
    if RENAMED in definition_change.how:
        now = new.symbol.qualified
        return _Broken(definition_change, "renamed and used", CERTAIN, f"renamed {name} to {now}")
    if MOVED in definition_change.how and not _is_in_reach(old, new):
        where = new.file.path.decode("utf-8", "replace")
        return _Broken(definition_change, "moved and used", LIKELY, f"moved {name} to {where}")
    if old.group == "value" and {BODY, SIGNATURE} & set(definition_change.how):
        grade = LIKELY if old.symbol.kind in {"constant", "member"} else POSSIBLE
        return _Broken(definition_change, "value and read", grade, f"changed the value of {name}")
    return _broken_call(definition_change, old, new) if SIGNATURE in definition_change.how else None


def _is_in_reach(old: Definition, new: Definition) -> bool:
    """Whether users of the old definition can find it in the file that it moved to."""
    if old.symbol.qualified != new.symbol.qualified:
        return False
    spec = spec_of(new.file.language)
    if spec.global_names:
        return b"static" not in _head(new)
    return spec.folder_is_one_scope and not new.owner and _folder(old) == _folder(new)


def _broken_call(change: DefinitionChange, old: Definition, new: Definition) -> _Broken | None:
    if old.group != "callable" or _same_parameters(old, new):
        return None
    name = old.symbol.qualified
    before, after = old.symbol.signature, new.symbol.signature
    if breaks_calls(before, after, old.name, new.name):
        return _Broken(
            change, "signature and called", CERTAIN, f"changed the required parameters of {name}"
        )
    if default_changed(before, after, old.name, new.name):
        return _Broken(change, "default and called", POSSIBLE, f"changed a default of {name}")
    return _Broken(change, "signature and called", POSSIBLE, f"changed the signature of {name}")


def _same_parameters(old: Definition, new: Definition) -> bool:
    """Whether every old call still fits, because only optional parameters were added."""
    before = parameters(old.symbol.signature, old.name)
    after = parameters(new.symbol.signature, new.name)
    if before is None or after is None or after[: len(before)] != before:
        return False
    return not any(parameter.required for parameter in after[len(before) :])


def _new_users(
    user: Changed, names: set[bytes]
) -> Iterator[tuple[FileDefinitions, int, frozenset[int]]]:
    """Yield definitions and files that contain one of the names more often than before.

    Files come with their new lines, definitions without lines, since they count as a whole.
    """
    for definition in user.added:
        if not names.isdisjoint(definition.words):
            yield definition.file, definition.at, frozenset()
    for change in user.by_key.values():
        old, new = change.old, change.new
        if new is None or old is None or not {BODY, SIGNATURE} & set(change.how):
            continue
        if any(new.words[name] > old.words[name] for name in names & new.words.keys()):
            yield new.file, new.at, frozenset()
    for file in user.diff.files:
        if file.new is not None:
            lines = _new_lines(file, names)
            if lines:
                yield file.new, FILE, lines


def _new_lines(file: FileChange, names: set[bytes]) -> frozenset[int]:
    """Return new lines outside of definitions that contain one of the names."""
    assert file.new is not None
    line_numbers: set[int] = set()
    for part in file.outside:
        if part.how not in {"imports", "statements"}:
            continue
        for start, stop in part.new_lines:
            for line in range(start, stop + 1):
                if not names.isdisjoint(re.findall(rb"\w+", file.new.lines[line - 1])):
                    line_numbers.add(line)
    return frozenset(line_numbers)


def _abstract(
    changer: Changed, user: Changed, uses: Uses, changer_name: str, user_name: str
) -> Iterator[Collision]:
    """Yield new members that every subtype must define, with new subtypes that lack them."""
    required: dict[tuple[bytes, str], list[Definition]] = {}
    names: set[bytes] = set()
    for definition in changer.added:
        owner = definition.file.by_symbol.get(definition.symbol.parent)
        before = changer.diff.matches.old_of.get(owner) if owner is not None else None
        if owner is not None and before is not None and _must_be_given(definition, owner):
            required.setdefault((before.file.path, before.symbol.qualified), []).append(definition)
            names.add(before.name.encode("utf-8", "replace"))
    if not required:
        return
    for owner, use in _derived(user, names, uses):
        for member in required.get((use.path, use.qualified), ()):
            if member.name in _member_names(owner):
                continue
            sentence = (
                f"{changer_name} added {member.symbol.qualified}, which every subtype must define; "
                f"{owner.symbol.qualified}, which {user_name} wrote, does not define it"
            )
            yield Collision(
                "abstract and derived", CERTAIN, spot(member), spot(owner, use.line), sentence
            )


def _derived(user: Changed, names: set[bytes], uses: Uses) -> Iterator[tuple[Definition, Use]]:
    """Yield types that newly derive from a type with one of these names."""
    for file, at, lines in _new_users(user, names):
        # Implementations may be outside of the type: `impl Shape for Box`.
        types = (
            [definition for definition in file.definitions if definition.group == "type"]
            if at == FILE
            else []
        )
        definition = file.by_symbol.get(at)
        for owner in [definition] if definition is not None else types:
            for use in uses(file, owner.at):
                if use.kind in _DERIVES and (not lines or use.line in lines):
                    yield owner, use


def _member_names(owner: Definition) -> set[str]:
    inside = {child.name for child in owner.file.children(owner)}
    prefix = owner.symbol.qualified + "."
    return inside | {
        definition.name
        for definition in owner.file.definitions
        if definition.symbol.qualified.startswith(prefix)
    }


def _must_be_given(definition: Definition, owner: Definition) -> bool:
    if definition.group != "callable" and owner.symbol.kind not in _OPEN_TYPES:
        return False
    own = definition.own
    if owner.symbol.kind in _OPEN_TYPES:
        optional = spec_of(definition.file.language).optional_members
        if optional and re.match(rb"\s*[\w$]+\?", own):
            return False
        body = b"{" in own or b" default " in b" " + own or b"=" in squeezed(own).partition(b")")[2]
        return not body and b"static" not in own
    return bool(_ABSTRACT.search(own))


def _overrides(
    yours: Changed, theirs: Changed, your_uses: Uses, their_uses: Uses
) -> Iterator[Collision]:
    """Yield definitions of the same name that both sides added to one type or package."""
    named: dict[str, list[Definition]] = {}
    for definition in theirs.added:
        named.setdefault(definition.name, []).append(definition)
    for definition in yours.added:
        for other in named.get(definition.name, ()):
            if definition.group != other.group:
                continue
            rule = _same_place(definition, other)
            inherits = definition.group == "callable" and not _COMMON.match(definition.name)
            if rule is None and inherits and definition.owner and other.owner:
                rule = _in_hierarchy(definition, other, your_uses, their_uses)
            if rule is not None:
                name, grade, sentence = rule
                yield Collision(name, grade, spot(definition), spot(other), sentence)


def _same_place(definition: Definition, other: Definition) -> tuple[str, str, str] | None:
    """Check for a second definition of the name in one scope across two files."""
    if definition.file.path == other.file.path or definition.owner != other.owner:
        return None
    if definition.file.language != other.file.language:
        return None
    spec = spec_of(definition.file.language)
    callables = definition.group == "callable"
    if callables and _COMMON.match(definition.name):
        return None
    sentence = f"both added {definition.symbol.qualified}, in different files"
    if spec.folder_is_one_scope and _folder(definition) == _folder(other):
        return ("defined twice", CERTAIN, sentence) if _in_one_package(definition, other) else None
    same = definition.signature == other.signature or not spec.overloads
    reopened = callables and definition.owner and spec.members_apart and same
    private = b"partial" if spec.split_types else b"static"
    shared = not {private} & (_head(definition).keys() | _head(other).keys())
    linked = callables and spec.linked_names and shared
    types = definition.group == "type" and spec.split_types and shared
    return ("defined twice", LIKELY, sentence) if reopened or linked or types else None


def _in_one_package(definition: Definition, other: Definition) -> bool:
    """Whether two definitions of one name in the files of a folder conflict."""
    clause = spec_of(definition.file.language).package_clause
    if clause:
        sides = (definition.file.data, other.file.data)
        packages, other_packages = (re.findall(clause, data, re.MULTILINE) for data in sides)
        return packages == other_packages
    if definition.owner or {b"private"} & (_head(definition).keys() | _head(other).keys()):
        return False
    return definition.group != "callable" or definition.signature == other.signature


def _head(definition: Definition) -> Counter[bytes]:
    """Count the words before the body."""
    return Counter(re.findall(rb"\w+", definition.own.partition(b"{")[0]))


def _folder(definition: Definition) -> bytes:
    return definition.file.path.rpartition(b"/")[0]


def _in_hierarchy(
    definition: Definition, other: Definition, your_uses: Uses, their_uses: Uses
) -> tuple[str, str, str] | None:
    yours, theirs = _owner(definition), _owner(other)
    if yours is None or theirs is None or yours.symbol.qualified == theirs.symbol.qualified:
        return None
    over = _derives(yours, theirs, your_uses)
    under = _derives(theirs, yours, their_uses)
    # The definition implements the abstract member that the other side added.
    if (over and _must_be_given(other, theirs)) or (under and _must_be_given(definition, yours)):
        return None
    if over or under:
        sentence = (
            f"you added {definition.symbol.qualified} and they added {other.symbol.qualified}: "
            "one now "
            "overrides the other"
        )
        return "overrides", LIKELY, sentence
    return None


def _owner(definition: Definition) -> Definition | None:
    owner = definition.file.by_symbol.get(definition.symbol.parent)
    if owner is not None:
        return owner if owner.group == "type" else None
    named: Iterable[Definition] = definition.file.definitions
    return next(
        (
            candidate
            for candidate in named
            if candidate.group == "type" and candidate.symbol.qualified == definition.owner
        ),
        None,
    )


def _derives(definition: Definition, base: Definition, uses: Uses) -> bool:
    return any(
        use.kind in _DERIVES
        and use.qualified == base.symbol.qualified
        and use.path == base.file.path
        for use in uses(definition.file, definition.at)
    )
