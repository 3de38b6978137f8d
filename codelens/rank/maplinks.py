"""Which files of a view use which, and by which names: what the map is ranked by.

Cheaper than edges, and never made up from a name alone where imports can tell: a file uses
another if it imports it, or stands in one package with it, and holds the name of one of its
top-level definitions. Where a language has no imports that can be told, a name that one file of
the view alone defines leads there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from codelens.resolve.importer import Importer
from codelens.resolve.reexports import Definers, Surface
from codelens.resolve.tree import folder_of
from codelens.types import Import

_PACKAGES = frozenset({"go", "java", "kotlin", "scala", "csharp", "swift"})
"""Files of one folder see each other's names."""
_BY_IMPORT = frozenset(
    {"python", "javascript", "typescript", "tsx", "go", "java", "kotlin", "rust", "vue", "svelte"}
)
"""A name that is used has been imported, or stands in the package."""
_SHORTEST = 4
_UNIQUE_WEIGHT = 0.5


class Source(NamedTuple):
    """One file that the map may show."""

    path: bytes
    content: int
    language: str
    defined: frozenset[str]
    """Names of its top-level definitions."""
    imports: tuple[Import, ...]


class Links:
    """Files by number, in the order given."""

    def __init__(self, count: int) -> None:
        self.weights: list[dict[int, float]] = [{} for _ in range(count)]
        """For each file, what it uses and how much."""
        self.users: Counter[tuple[int, str]] = Counter()
        """File and name of a definition -> how many other files use it."""
        self.importers: Counter[int] = Counter()
        """File -> how many files import or use it."""
        self.spread: Counter[str] = Counter()
        """Name -> how many files use it, whoever defines it."""

    def _add(self, source: int, target: int, weight: float) -> None:
        out = self.weights[source]
        if target not in out:
            self.importers[target] += 1
        out[target] = out.get(target, 0.0) + weight

    def use(self, source: int, target: int, name: str, weight: float) -> None:
        """A file uses a definition of another."""
        if source != target:
            self._add(source, target, weight)
            self.users[target, name] += 1

    def take(self, source: int, target: int, weight: float) -> None:
        """A file imports another, and it cannot be told what of it."""
        if source != target:
            self._add(source, target, weight)


def linked(
    sources: Sequence[Source],
    importer: Importer,
    counts: Iterable[tuple[int, Mapping[str, int]]],
) -> Links:
    """The links of a view.

    Args:
        sources: its files, by path.
        importer: of the whole view.
        counts: content -> how often it uses each name; asked for once.
    """
    return _Linking(sources, importer).run(counts)


class _Linking:
    def __init__(self, sources: Sequence[Source], importer: Importer) -> None:
        self._sources = sources
        self._importer = importer
        self._number = {one.path: at for at, one in enumerate(sources)}
        self._definers = Definers(importer, self._surface)
        self._package: dict[tuple[bytes, str], dict[str, int]] = {}
        self._owner: dict[str, int] = {}
        for at, one in enumerate(sources):
            for name in one.defined:
                # -1: several files define it.
                self._owner[name] = -1 if name in self._owner else at
            if one.language in _PACKAGES:
                names = self._package.setdefault((folder_of(one.path), one.language), {})
                for name in one.defined:
                    names.setdefault(name, at)

    def _surface(self, path: bytes) -> Surface | None:
        at = self._number.get(path)
        if at is None:
            return None
        one = self._sources[at]
        return Surface(one.language, one.defined, one.imports)

    def run(self, counts: Iterable[tuple[int, Mapping[str, int]]]) -> Links:
        links = Links(len(self._sources))
        by_content: dict[int, list[int]] = {}
        for at, one in enumerate(self._sources):
            by_content.setdefault(one.content, []).append(at)
        for content, names in counts:
            links.spread.update(names.keys())
            for at in by_content.get(content, ()):
                self._link(links, at, names)
        return links

    def _link(self, links: Links, at: int, names: Mapping[str, int]) -> None:
        seen: set[tuple[int, str]] = set()
        for target, name, weight in self._uses(at, names):
            if target is None:
                continue
            if not name:
                links.take(at, target, weight)
            elif (target, name) not in seen:
                seen.add((target, name))
                links.use(at, target, name, weight)

    def _uses(self, at: int, names: Mapping[str, int]) -> Iterator[tuple[int | None, str, float]]:
        one = self._sources[at]
        for row in one.imports:
            yield from self._imported(one, row, names)
        package = self._package.get((folder_of(one.path), one.language), {})
        if package:
            for name in names.keys() & package.keys() - one.defined:
                yield package[name], name, sqrt(names[name])
        if one.language not in _BY_IMPORT:
            for name in sorted(names.keys() & self._owner.keys() - one.defined):
                owner = self._owner[name]
                alike = owner >= 0 and self._sources[owner].language == one.language
                if alike and len(name) >= _SHORTEST:
                    yield owner, name, _UNIQUE_WEIGHT * sqrt(names[name])

    def _imported(
        self, one: Source, row: Import, names: Mapping[str, int]
    ) -> Iterator[tuple[int | None, str, float]]:
        number = self._number
        if row.name and row.name != "*":
            definer = self._definers.definer(one.path, one.language, row)
            target = number.get(definer) if definer is not None else None
            if target is not None:
                used = 1 + names.get(row.alias or row.name, 0)
                known = row.name in self._sources[target].defined
                if known:
                    yield target, row.name, sqrt(used)
                    return
                # The name is a module's, or one that the module only holds.
                yield target, "", 1.0
                yield from self._named_in(target, names)
                return
        files = self._importer.targets(one.path, one.language, row)
        for path in files:
            target = number.get(path)
            if target is not None:
                if len(files) == 1:
                    # Of a package only the files whose names are used count.
                    yield target, "", 0.3
                yield from self._named_in(target, names)

    def _named_in(
        self, target: int, names: Mapping[str, int]
    ) -> Iterator[tuple[int | None, str, float]]:
        defined = self._sources[target].defined
        for name in sorted(names.keys() & defined):
            yield target, name, sqrt(names[name])
