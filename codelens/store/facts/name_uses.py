"""Where contents use certain names: reads the packed references without building them all.

The layout of `refs` is that of `codelens.store.facts.packed_facts.pack_references`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from codelens.light_library import NamedTuple
from codelens.store.database.database import Database
from codelens.store.facts.contents import batched
from codelens.store.facts.packed_facts import REFERENCE_KINDS, reference_columns

SELECT_USES = "SELECT id, refs, imports FROM contents WHERE id IN ({marks})"
SELECT_IMPORTS = "SELECT id, imports FROM contents WHERE id IN ({marks}) AND imports <> x''"
_NUL = b"\0"


class Use(NamedTuple):
    """A place where a content uses a name."""

    name: str
    kind: str
    """`call`, `type` or `name`."""
    line: int


def uses(db: Database, contents: Iterable[int], names: Set[str]) -> dict[int, dict[str, list[Use]]]:
    """The uses of `names` in each content that has one; no places for what it only imports."""
    name_of_key = {name.encode("utf-8", "surrogatepass"): name for name in names}
    by_content: dict[int, dict[str, list[Use]]] = {}
    for batch in batched(contents):
        marks = ",".join("?" * len(batch))
        for content, refs, imports in db.rows(SELECT_USES.format(marks=marks), batch):
            places = _places(refs, name_of_key)
            for part in set(imports.split(_NUL)) & name_of_key.keys():
                places.setdefault(name_of_key[part], [])
            if places:
                by_content[content] = places
    return by_content


def _places(data: bytes, name_of_key: Mapping[bytes, str]) -> dict[str, list[Use]]:
    packed = reference_columns(data)
    table = packed.table.split(_NUL)
    numbers = {at: name_of_key[name] for at, name in enumerate(table) if name in name_of_key}
    by_name: dict[str, list[Use]] = {name: [] for name in numbers.values()}
    if numbers:
        for head, line in zip(packed.heads, packed.lines, strict=True):
            name = numbers.get(head >> 2)
            if name is not None:
                by_name[name].append(Use(name, REFERENCE_KINDS[head & 3], line))
    return by_name


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
    """Module, name, alias and line of what each content imports, as text."""
    for batch in batched(contents):
        marks = ",".join("?" * len(batch))
        for content, data in db.rows(SELECT_IMPORTS.format(marks=marks), batch):
            parts = iter(data.decode("utf-8", "surrogatepass").split("\0"))
            yield content, list(zip(*[parts] * 4, strict=True))
