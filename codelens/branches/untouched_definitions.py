"""Finds the definitions of a file that have no changed line in or near them.

If only a few lines of a long file changed, nearly all of its definitions are the same in both
versions. They match by name and are never reported, so a comparison need not build or match them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codelens.types import Symbol


class _Group(NamedTuple):
    """Definitions whose lines overlap: one at top level and all inside."""

    first: int
    last: int
    """Lines, 1-based."""
    members: list[int]


class Untouched(NamedTuple):
    """Positions of the untouched symbols of both versions."""

    old: frozenset[int]
    new: frozenset[int]


def untouched(
    old: Sequence[Symbol], new: Sequence[Symbol], changed: Sequence[tuple[int, int, int, int]]
) -> Untouched:
    """The symbols of groups that are the same on both sides, except those next to a change.

    The first group after a change does not count, because comments above a definition belong to it.
    Nor does the last group before a change, because it limits how far up such comments reach. If a
    version defines a name more than once, all definitions of that name must be matched, so none is
    untouched.

    Args:
        old: the symbols of the old version.
        new: the symbols of the new version.
        changed: the differing lines: start and count on both sides.
    """
    repeated = {
        name
        for symbols in (old, new)
        for name, count in Counter(symbol.qualified for symbol in symbols).items()
        if count > 1
    }
    same_old: list[int] = []
    same_new: list[int] = []
    old_groups, new_groups = list(_groups(old)), list(_groups(new))
    at = new_at = 0
    for begin, new_begin, end in _equal_stretches(changed):
        pairs: list[tuple[_Group, _Group]] = []
        at = _first_from(old_groups, at, begin)
        new_at = _first_from(new_groups, new_at, new_begin)
        by_line: dict[int, _Group] = {}
        while new_at < len(new_groups) and (
            end is None or new_groups[new_at].last - new_begin < end - begin
        ):
            by_line[new_groups[new_at].first - new_begin] = new_groups[new_at]
            new_at += 1
        while at < len(old_groups) and (end is None or old_groups[at].last < end):
            group = old_groups[at]
            other = by_line.get(group.first - begin)
            if other is not None and _is_same(
                (old, group, begin), (new, other, new_begin), repeated
            ):
                pairs.append((group, other))
            at += 1
        for group, other in pairs[1 if begin > 1 else 0 : None if end is None else -1]:
            same_old += group.members
            same_new += other.members
    return Untouched(frozenset(same_old), frozenset(same_new))


def _groups(symbols: Sequence[Symbol]) -> Iterator[_Group]:
    group: _Group | None = None
    for at, symbol in enumerate(symbols):
        if group is not None and symbol.start_line <= group.last:
            group.members.append(at)
            group = group._replace(last=max(group.last, symbol.end_line))
            continue
        if group is not None:
            yield group
        group = _Group(symbol.start_line, symbol.end_line, [at])
    if group is not None:
        yield group


def _equal_stretches(
    changed: Sequence[tuple[int, int, int, int]],
) -> Iterator[tuple[int, int, int | None]]:
    """Yield each stretch of equal lines: its first line on both sides, and the old line after it.

    None stands for the end of the file.
    """
    begin = new_begin = 1
    for start, count, new_start, new_count in changed:
        yield begin, new_begin, start if count else start + 1
        begin = (start if count else start + 1) + count
        new_begin = (new_start if new_count else new_start + 1) + new_count
    yield begin, new_begin, None


def _first_from(groups: Sequence[_Group], at: int, line: int) -> int:
    while at < len(groups) and groups[at].first < line:
        at += 1
    return at


def _is_same(
    old: tuple[Sequence[Symbol], _Group, int],
    new: tuple[Sequence[Symbol], _Group, int],
    repeated: set[str],
) -> bool:
    """Whether two groups have the same definitions in the same lines of a stretch."""
    if len(old[1].members) != len(new[1].members):
        return False
    for at, other_at in zip(old[1].members, new[1].members, strict=True):
        symbol, other = old[0][at], new[0][other_at]
        if (
            symbol.qualified != other.qualified
            or symbol.qualified in repeated
            or symbol.kind != other.kind
            or symbol.start_line - old[2] != other.start_line - new[2]
            or symbol.end_line - old[2] != other.end_line - new[2]
            or (symbol.parent < 0) != (other.parent < 0)
        ):
            return False
    return True
