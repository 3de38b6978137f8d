"""The names of a query among the definitions of a view: exact, by convention, or near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.rank.query import Name, Query
from codelens.store import contents
from codelens.store import rankreads as reads
from codelens.store.contents import key_of
from codelens.store.rankreads import Definition
from codelens.store.snapshot import Snapshot
from codelens.store.views import FileRow

EXACT, CONVENTION, LAST = 3, 2, 1
"""How a definition is called: as typed; the same without its convention; or only the last part
of a qualified name, which stands when no definition has all of it."""

CONTAINERS = frozenset("class struct interface trait enum module union type".split())
WEAK = frozenset("key heading field property member".split())
"""Their names are too common to come before everything else."""
_NEAR_SHOWN = 3
_SHORTEST_NEAR = 4


class Defined(NamedTuple):
    """A definition that a name of the query stands for."""

    file: FileRow
    symbol: Definition
    grade: int


def defined(view: Snapshot, names: Sequence[Name]) -> list[Defined]:
    """Definitions in the view that `names` stand for, by path and position.

    `Class.method` stands for a `method` inside `Class`, in any convention; `module.name` for a
    `name` in a file or folder called so.
    """
    best: dict[tuple[int, int], Defined] = {}
    for name in names:
        found = [
            Defined(file, symbol, _grade(name, symbol.name, qualified, file.path))
            for content, symbol, qualified in reads.definitions_with_key(
                view.db, key_of(name.parts[-1])
            )
            for file in view.by_content.get(content, ())
        ]
        top = max((one.grade for one in found), default=0)
        for one in found:
            known = best.get((one.file.path_id, one.symbol.ordinal))
            if (one.grade > LAST or top == LAST) and (known is None or known.grade < one.grade):
                best[one.file.path_id, one.symbol.ordinal] = one
    return sorted(best.values(), key=lambda one: (one.file.path, one.symbol.ordinal))


def _grade(name: Name, called: str, qualified: str, path: bytes) -> int:
    if len(name.parts) == 1:
        return EXACT if name.text.rstrip("!?") == called.rstrip("!?") else CONVENTION
    owners = qualified.split(".")
    folders = path.decode("utf-8", "replace").split("/")
    folders[-1] = folders[-1].split(".")[0]
    if owners[-1:] != [called]:
        owners = [called]  # a name with dots of its own
    chain = [*folders, *owners][-len(name.parts) :]
    if tuple(chain) == name.parts:
        return EXACT
    same = [key_of(one) for one in chain] == [key_of(one) for one in name.parts]
    return CONVENTION if same else LAST


def telling(one: Defined) -> tuple[int, bool, int, int]:
    """Sorts the definitions of one file: as typed, containers, the longest, the first."""
    lines = one.symbol.end_line - one.symbol.start_line
    return (one.grade, one.symbol.kind in CONTAINERS, lines, -one.symbol.ordinal)


def by_file(found: Sequence[Defined]) -> Mapping[int, list[Defined]]:
    """Path id -> the definitions there."""
    grouped: dict[int, list[Defined]] = {}
    for one in found:
        grouped.setdefault(one.file.path_id, []).append(one)
    return grouped


def near(view: Snapshot, query: Query) -> list[str]:
    """Names of the view that are spelt almost like the query's first name; nearest first."""
    if not query.names:
        return []
    key = key_of(query.names[0].parts[-1])
    if len(key) < _SHORTEST_NEAR:
        return []
    most = 1 if len(key) < 6 else 2
    found: list[tuple[int, str]] = []
    # A slip in the first letter is rare, and the index is by what a key starts with.
    for known in contents.symbol_keys(view.db, key[0], key[0] + "\U0010ffff", 1 << 31):
        if abs(len(known) - len(key)) <= most:
            steps = _steps(key, known, most)
            if 0 < steps <= most:
                found.append((steps, known))
    shown: list[str] = []
    for _, known in sorted(found):
        names = {symbol.name for _, _, symbol in view.symbols_with_key(known)}
        shown.extend(sorted(names))
        if len(shown) >= _NEAR_SHOWN:
            break
    return shown[:_NEAR_SHOWN]


def _steps(left: str, right: str, most: int) -> int:
    """Edits from one text to the other, a swap of neighbours being one; more than `most`: any.

    Restricted Damerau-Levenshtein distance, row by row.
    """
    before: list[int] = []
    row = list(range(len(right) + 1))
    for at, char in enumerate(left):
        new = [at + 1]
        for to, other in enumerate(right):
            steps = min(row[to + 1] + 1, new[to] + 1, row[to] + (char != other))
            if at and to and char == right[to - 1] and left[at - 1] == other:
                steps = min(steps, before[to - 1] + 1)
            new.append(steps)
        if min(new) > most:
            return most + 1
        before, row = row, new
    return row[-1]
