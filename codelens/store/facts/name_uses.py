"""Where contents use certain names: reads the packed references without building them all.

The layout of `refs` is that of `codelens.store.facts.packed_facts.pack_references`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, overload

from codelens.store.database.database import Database
from codelens.store.facts.contents import batched
from codelens.store.facts.packed_facts import REFERENCE_KINDS, reference_columns

SELECT_USES = "SELECT id, refs, imports FROM contents WHERE id IN ({marks})"
SELECT_IMPORTS = "SELECT id, imports FROM contents WHERE id IN ({marks}) AND imports <> x''"
_NUL = b"\0"
_NO_PLACES: array[int] = array("I")


class Use(NamedTuple):
    """A place where a content uses a name."""

    name: str
    kind: str
    """`call`, `type` or `name`."""
    line: int


class Uses(Sequence[Use]):
    """Places where one content uses names, of one name after the other; 4 bytes each until read.

    A question about common names holds 50,000 of Django's, and seldom looks at one.
    """

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[tuple[str, array[int]]] = []

    def add(self, name: str, places: array[int]) -> None:
        """Take in the places of one name, as `packed_uses` gives them."""
        if places:
            self._parts.append((name, places))

    def __len__(self) -> int:
        return sum(len(places) for _, places in self._parts)

    def __iter__(self) -> Iterator[Use]:
        for name, places in self._parts:
            for place in places:
                yield Use(name, REFERENCE_KINDS[place & 3], place >> 2)

    @overload
    def __getitem__(self, number: int) -> Use: ...
    @overload
    def __getitem__(self, number: slice) -> list[Use]: ...
    def __getitem__(self, number: int | slice) -> Use | list[Use]:
        return list(self)[number]


def packed_uses(
    db: Database, contents: Iterable[int], names: Set[str]
) -> dict[int, dict[str, array[int]]]:
    """Where each content uses `names`: line << 2 | kind; no places for what it only imports."""
    name_of_key = {name.encode("utf-8", "surrogatepass"): name for name in names}
    by_content: dict[int, dict[str, array[int]]] = {}
    for batch in batched(contents):
        marks = ",".join("?" * len(batch))
        for content, refs, imports in db.rows(SELECT_USES.format(marks=marks), batch):
            places = _places(refs, name_of_key)
            for part in set(imports.split(_NUL)) & name_of_key.keys():
                places.setdefault(name_of_key[part], _NO_PLACES)
            if places:
                by_content[content] = places
    return by_content


def _places(data: bytes, name_of_key: Mapping[bytes, str]) -> dict[str, array[int]]:
    packed = reference_columns(data)
    table = packed.table.split(_NUL)
    places = {at: array("I") for at, name in enumerate(table) if name in name_of_key}
    if places:
        for head, line in zip(packed.heads, packed.lines, strict=True):
            known = places.get(head >> 2)
            if known is not None:
                known.append(line << 2 | head & 3)
    return {name_of_key[table[at]]: known for at, known in places.items()}


def counts(db: Database, contents: Iterable[int]) -> Iterator[tuple[int, dict[str, int]]]:
    """How often each content uses each name."""
    for batch in batched(contents):
        marks = ",".join("?" * len(batch))
        for content, refs, _ in db.rows(SELECT_USES.format(marks=marks), batch):
            if not refs:
                continue
            packed = reference_columns(refs)
            names = packed.table.decode("utf-8", "surrogatepass").split("\0")
            totals: dict[str, int] = dict.fromkeys(names, 0)
            for head in packed.heads:
                totals[names[head >> 2]] += 1
            yield content, totals


def imports(db: Database, contents: Iterable[int]) -> Iterator[tuple[int, list[tuple[str, ...]]]]:
    """Module, name, alias and line of what each content imports, as text.

    Equal texts are one object: most modules and lines are named over and over.
    """
    shared: dict[str, str] = {}
    for content, data in packed_imports(db, contents):
        yield content, unpacked_imports(data, shared)


def packed_imports(db: Database, contents: Iterable[int]) -> Iterator[tuple[int, bytes]]:
    """What each content imports, if anything, for `unpacked_imports`."""
    for batch in batched(contents):
        marks = ",".join("?" * len(batch))
        yield from db.rows(SELECT_IMPORTS.format(marks=marks), batch)


def unpacked_imports(data: bytes, shared: dict[str, str] | None = None) -> list[tuple[str, ...]]:
    """Module, name, alias and line of imports, as text; each text once in `shared`."""
    texts = data.decode("utf-8", "surrogatepass").split("\0")
    parts = iter(texts) if shared is None else map(shared.setdefault, texts, texts)
    return list(zip(*[parts] * 4, strict=True))
