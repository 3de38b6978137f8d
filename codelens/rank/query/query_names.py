"""The names of a query among the definitions of a view: exact, by convention, or near."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.rank.query.query_analysis import Name
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.ranking_reads import Definition
from codelens.store.facts.symbol_keys import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

EXACT, CONVENTION, LAST = 3, 2, 1
"""How a definition is called: as typed; the same without its convention; or only the last part
of a qualified name, which stands when no definition has all of it."""
OTHER = -1
"""Another operator."""
REACHED = 0
"""Its owners and folders have the parts of a qualified name in order, with others between: an
import path that a package passes on. Turned into `EXACT` or `LAST` by what else there is."""

CONTAINERS = frozenset("class struct interface trait enum module union type".split())
MEMBERS = frozenset("field property member".split())
WEAK = MEMBERS | {"key", "heading"}
"""Their names are too common to come before everything else."""
_UNNAMED = frozenset("__init__ index mod lib main".split())
"""Files that are called by their folder."""
_OPERATOR = re.compile(r"operator\s*[^\w\s]")


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
        definitions = [
            Defined(file, symbol, _grade(name, symbol.name, qualified, file.path))
            for key in keys_of(name.parts[-1])
            for content, symbol, qualified in reads.definitions_with_key(view.db, key)
            for file in view.by_content.get(content, ())
        ]
        definitions = _settled(definitions)
        top = max((definition.grade for definition in definitions), default=0)
        for definition in definitions:
            known = best.get((definition.file.path_id, definition.symbol.ordinal))
            if (definition.grade > LAST or top == LAST) and (
                known is None or known.grade < definition.grade
            ):
                best[definition.file.path_id, definition.symbol.ordinal] = definition
    return sorted(
        best.values(), key=lambda definition: (definition.file.path, definition.symbol.ordinal)
    )


def keys_of(name: str) -> list[str]:
    """The keys that a name is looked up by: as typed, and without accents."""
    key = key_of(name)
    if key.isascii():
        return [key]
    plain = unicodedata.normalize("NFKD", key)
    return list(
        dict.fromkeys((key, "".join(char for char in plain if not unicodedata.combining(char))))
    )


def _settled(definitions: Sequence[Defined]) -> list[Defined]:
    """The same without `REACHED` and `OTHER`: they stand where there is nothing better."""
    definitions = [definition for definition in definitions if definition.grade != OTHER] or [
        definition._replace(grade=LAST) for definition in definitions
    ]
    whole = any(definition.grade > LAST for definition in definitions)
    return [
        definition._replace(grade=LAST if whole else EXACT)
        if definition.grade == REACHED
        else definition
        for definition in definitions
    ]


def _grade(name: Name, called: str, qualified: str, path: bytes) -> int:
    """How a definition answers a name; `REACHED` where only some of its owners were named."""
    last = _spelling(name.parts[-1], called)
    if len(name.parts) == 1 or last == OTHER:
        return last
    owners = qualified.split(".")
    if owners[-1:] != [called]:
        owners = [called]  # a name with dots of its own
    chain = [*_modules(path, owners), *owners]
    part_count = len(name.parts)
    if tuple(chain[-part_count:-1]) == name.parts[:-1]:
        return last
    keys = [key_of(part) for part in chain]
    asked_keys = [key_of(part) for part in name.parts]
    if keys[-part_count:] == asked_keys:
        return CONVENTION
    rest = iter(keys[:-1])
    return REACHED if all(part in rest for part in asked_keys[:-1]) else LAST


def _spelling(typed: str, called: str) -> int:
    """As typed, in another convention, or another operator."""
    if typed == called:
        return EXACT
    if _OPERATOR.match(typed) and _OPERATOR.match(called):
        return EXACT if "".join(typed.split()) == "".join(called.split()) else OTHER
    return CONVENTION


def _modules(path: bytes, owners: Sequence[str]) -> list[str]:
    """Folders and stem of a file, as modules are called; a file called like its class adds none."""
    *folders, name = path.decode("utf-8", "replace").split("/")
    stem = name.split(".")[0]
    if stem in _UNNAMED or key_of(stem) == key_of(owners[0]):
        return folders
    return [*folders, stem]


def telling(definition: Defined) -> tuple[int, bool, int, int]:
    """Sorts the definitions of one file: as typed, containers, the longest, the first."""
    lines = definition.symbol.end_line - definition.symbol.start_line
    return (
        definition.grade,
        definition.symbol.kind in CONTAINERS,
        lines,
        -definition.symbol.ordinal,
    )


def by_file(defined: Sequence[Defined]) -> Mapping[int, list[Defined]]:
    """Path id -> the definitions there."""
    grouped: dict[int, list[Defined]] = {}
    for definition in defined:
        grouped.setdefault(definition.file.path_id, []).append(definition)
    return grouped
