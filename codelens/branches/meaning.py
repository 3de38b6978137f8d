"""Collisions of meaning: each side is right alone, git merges them, and together they are wrong.

One side changes what the other newly relies on. Told by resolved edges of the other side's own
view alone; an edge that may mean several things is none.
"""

from __future__ import annotations

import re
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
from codelens.branches.file_definitions import FILE, Definition, FileDefinitions, squeezed
from codelens.branches.parameters import breaks_calls, default_changed, parameters
from codelens.branches.text_changes import BODY, MOVED, RENAMED, SIGNATURE

_DERIVES = frozenset({"inherit", "satisfy", "override"})
_OPEN_TYPES = frozenset({"interface", "trait"})
_ABSTRACT = re.compile(rb"\babstract\b|@(?:abc\.)?abstract\w*|=\s*0\s*;|\bNotImplementedError\b")
_ONE_PACKAGE = frozenset({"go"})
_REOPENED = frozenset({"go", "rust", "ruby", "csharp", "swift"})
"""Languages in which members of one type may stand in several files."""
_LINKED = frozenset({"c"})
_NOT_BY_IMPORT = frozenset({"signature and called", "default and called", "value and read"})
_COMMON = re.compile(
    r"__\w+__\Z|constructor\Z|initialize\Z|new\Z|main\Z|init\Z|(?i:test)|setUp|tearDown"
)


class Use(NamedTuple):
    """A resolved use: what is used, and where."""

    kind: str
    path: bytes
    """Of what is used, on the side of the user."""
    qualified: str
    line: int


Uses = Callable[[FileDefinitions, int], Sequence[Use]]
"""The certain uses that begin at a symbol of a file of one side, or at the file itself (`FILE`)."""


def meaning(mine: Changed, theirs: Changed, my_uses: Uses, their_uses: Uses) -> Iterator[Collision]:
    """What one side relies on and the other changes, both ways."""
    yield from _relied_on(mine, theirs, their_uses, "you", "they")
    for one in _relied_on(theirs, mine, my_uses, "they", "you"):
        yield one._replace(mine=one.theirs, theirs=one.mine)
    yield from _abstract(mine, theirs, their_uses, "you", "they")
    for one in _abstract(theirs, mine, my_uses, "they", "you"):
        yield one._replace(mine=one.theirs, theirs=one.mine)
    yield from _overrides(mine, theirs, my_uses, their_uses)


class _Broken(NamedTuple):
    change: DefinitionChange
    rule: str
    grade: str
    did: str


def _relied_on(
    changer: Changed, user: Changed, uses: Uses, who: str, other: str
) -> Iterator[Collision]:
    broken = {key: found for key, one in changer.by_key.items() if (found := _breaks(one))}
    if not broken:
        return
    by_target = {
        (path, one.change.old.symbol.qualified): one
        for (path, _), one in broken.items()
        if one.change.old is not None
    }
    names = {
        one.change.old.name.encode("utf-8", "replace")
        for one in broken.values()
        if one.change.old is not None
    }
    told: set[tuple[bytes, str, bytes, int]] = set()
    for file, at, lines in _new_users(user, names):
        for use in uses(file, at):
            found = by_target.get((use.path, use.qualified))
            if found is None or (lines and use.line not in lines):
                continue
            if use.kind == "import" and found.rule in _NOT_BY_IMPORT:
                continue
            key = (use.path, use.qualified, file.path, at)
            old = found.change.old
            if key in told or old is None or (old.file.path == file.path and old.at == at):
                continue
            told.add(key)
            theirs = Spot(file, file.by_symbol.get(at), use.line)
            mine = spot(found.change.one)
            verb = "calls" if use.kind == "call" else "uses"
            where = theirs.definition.symbol.qualified if theirs.definition else "new code"
            said = f"{who} {found.did}; {where}, which {other} wrote, newly {verb} it"
            yield Collision(found.rule, found.grade, mine, theirs, said)


def _breaks(one: DefinitionChange) -> _Broken | None:
    """What a change takes from those who rely on the definition."""
    old, new = one.old, one.new
    if old is None or old.group == "module":
        return None
    name = old.symbol.qualified
    if new is None:
        return _Broken(one, "removed and used", CERTAIN, f"removed {name}")
    if RENAMED in one.how:
        now = new.symbol.qualified
        return _Broken(one, "renamed and used", CERTAIN, f"renamed {name} to {now}")
    if MOVED in one.how:
        where = new.file.path.decode("utf-8", "replace")
        return _Broken(one, "moved and used", LIKELY, f"moved {name} to {where}")
    if old.group == "value" and {BODY, SIGNATURE} & set(one.how):
        grade = LIKELY if old.symbol.kind in {"constant", "member"} else POSSIBLE
        return _Broken(one, "value and read", grade, f"changed the value of {name}")
    return _broken_call(one, old, new) if SIGNATURE in one.how else None


def _broken_call(one: DefinitionChange, old: Definition, new: Definition) -> _Broken | None:
    if old.group != "callable" or _same_parameters(old, new):
        return None
    name = old.symbol.qualified
    before, after = old.symbol.signature, new.symbol.signature
    if breaks_calls(before, after, old.name, new.name):
        return _Broken(
            one, "signature and called", CERTAIN, f"changed the required parameters of {name}"
        )
    if default_changed(before, after, old.name, new.name):
        return _Broken(one, "default and called", POSSIBLE, f"changed a default of {name}")
    return _Broken(one, "signature and called", POSSIBLE, f"changed the signature of {name}")


def _same_parameters(old: Definition, new: Definition) -> bool:
    """Every old call still fits: nothing but parameters that may be left out was added."""
    before = parameters(old.symbol.signature, old.name)
    after = parameters(new.symbol.signature, new.name)
    if before is None or after is None or after[: len(before)] != before:
        return False
    return not any(one.required for one in after[len(before) :])


def _new_users(
    user: Changed, names: set[bytes]
) -> Iterator[tuple[FileDefinitions, int, frozenset[int]]]:
    """Definitions and files that hold one of the names more often than before.

    With the lines that are new, for a file; none for a definition: all of it counts.
    """
    for one in user.added:
        if not names.isdisjoint(one.words):
            yield one.file, one.at, frozenset()
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
    """Lines outside of definitions that are new and hold one of the names."""
    assert file.new is not None
    found: set[int] = set()
    for part in file.outside:
        if part.how not in {"imports", "statements"}:
            continue
        for start, stop in part.new_lines:
            for line in range(start, stop + 1):
                if not names.isdisjoint(re.findall(rb"\w+", file.new.lines[line - 1])):
                    found.add(line)
    return frozenset(found)


def _abstract(
    changer: Changed, user: Changed, uses: Uses, who: str, other: str
) -> Iterator[Collision]:
    """A new member that every subtype must have, and a new subtype without it."""
    wanted: dict[tuple[bytes, str], list[Definition]] = {}
    names: set[bytes] = set()
    for one in changer.added:
        owner = one.file.by_symbol.get(one.symbol.parent)
        before = changer.diff.matches.old_of.get(owner) if owner is not None else None
        if owner is not None and before is not None and _must_be_given(one, owner):
            wanted.setdefault((before.file.path, before.symbol.qualified), []).append(one)
            names.add(before.name.encode("utf-8", "replace"))
    if not wanted:
        return
    for owner, use in _derived(user, names, uses):
        for member in wanted.get((use.path, use.qualified), ()):
            if member.name in _member_names(owner):
                continue
            said = (
                f"{who} added {member.symbol.qualified}, which every subtype must define; "
                f"{owner.symbol.qualified}, which {other} wrote, does not define it"
            )
            yield Collision(
                "abstract and derived", CERTAIN, spot(member), spot(owner, use.line), said
            )


def _derived(user: Changed, names: set[bytes], uses: Uses) -> Iterator[tuple[Definition, Use]]:
    """Types that newly derive from something of these names."""
    for file, at, lines in _new_users(user, names):
        # What a type implements may stand outside of it: `impl Shape for Box`.
        types = [one for one in file.definitions if one.group == "type"] if at == FILE else []
        one = file.by_symbol.get(at)
        for owner in [one] if one is not None else types:
            for use in uses(file, owner.at):
                if use.kind in _DERIVES and (not lines or use.line in lines):
                    yield owner, use


def _member_names(owner: Definition) -> set[str]:
    inside = {one.name for one in owner.file.children(owner)}
    prefix = owner.symbol.qualified + "."
    return inside | {
        one.name for one in owner.file.definitions if one.symbol.qualified.startswith(prefix)
    }


def _must_be_given(one: Definition, owner: Definition) -> bool:
    if one.group != "callable" and owner.symbol.kind not in _OPEN_TYPES:
        return False
    own = one.own
    if owner.symbol.kind in _OPEN_TYPES:
        if one.file.language in {"typescript", "tsx"} and re.match(rb"\s*[\w$]+\?", own):
            return False
        body = b"{" in own or b" default " in b" " + own or b"=" in squeezed(own).partition(b")")[2]
        return not body and b"static" not in own
    return bool(_ABSTRACT.search(own))


def _overrides(
    mine: Changed, theirs: Changed, my_uses: Uses, their_uses: Uses
) -> Iterator[Collision]:
    """Both added something that answers for the same name of the same type or package."""
    named: dict[str, list[Definition]] = {}
    for one in theirs.added:
        if one.group == "callable" and not _COMMON.match(one.name):
            named.setdefault(one.name, []).append(one)
    for one in mine.added:
        if one.group != "callable":
            continue
        for other in named.get(one.name, ()):
            rule = _same_place(one, other)
            if rule is None and one.owner and other.owner:
                rule = _in_hierarchy(one, other, my_uses, their_uses)
            if rule is not None:
                name, grade, said = rule
                yield Collision(name, grade, spot(one), spot(other), said)


def _same_place(one: Definition, other: Definition) -> tuple[str, str, str] | None:
    """Two files, one scope: a second definition of the name."""
    if one.file.path == other.file.path or one.owner != other.owner:
        return None
    language = one.file.language
    if language != other.file.language:
        return None
    same_folder = _folder(one) == _folder(other)
    name = one.symbol.qualified
    said = f"both added {name}, in different files"
    if language in _ONE_PACKAGE and same_folder:
        return "defined twice", CERTAIN, said
    if one.owner and language in _REOPENED and language not in _ONE_PACKAGE:
        same = one.signature == other.signature or language in {"ruby", "rust"}
        return ("defined twice", LIKELY, said) if same else None
    if language in _LINKED and not {b"static"} & (one.words.keys() | other.words.keys()):
        return "defined twice", LIKELY, said
    return None


def _folder(one: Definition) -> bytes:
    return one.file.path.rpartition(b"/")[0]


def _in_hierarchy(
    one: Definition, other: Definition, my_uses: Uses, their_uses: Uses
) -> tuple[str, str, str] | None:
    mine, theirs = _owner(one), _owner(other)
    if mine is None or theirs is None or mine.symbol.qualified == theirs.symbol.qualified:
        return None
    over = _derives(mine, theirs, my_uses)
    under = _derives(theirs, mine, their_uses)
    # What has to be given is given: that is what the other side waits for.
    if (over and _must_be_given(other, theirs)) or (under and _must_be_given(one, mine)):
        return None
    if over or under:
        said = (
            f"you added {one.symbol.qualified} and they added {other.symbol.qualified}: one now "
            "overrides the other"
        )
        return "overrides", LIKELY, said
    return None


def _owner(one: Definition) -> Definition | None:
    found = one.file.by_symbol.get(one.symbol.parent)
    if found is not None:
        return found if found.group == "type" else None
    named: Iterable[Definition] = one.file.definitions
    return next(
        (known for known in named if known.group == "type" and known.symbol.qualified == one.owner),
        None,
    )


def _derives(one: Definition, base: Definition, uses: Uses) -> bool:
    return any(
        use.kind in _DERIVES
        and use.qualified == base.symbol.qualified
        and use.path == base.file.path
        for use in uses(one.file, one.at)
    )
