"""Links files that use each other, and ranks them by personalised PageRank.

The rank is iterated (Page et al., "The PageRank Citation Ranking", 1999). Sums follow the order of
the nodes, so equal graphs give bit-identical ranks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property, partial
from math import sqrt
from typing import NamedTuple, TypeVar

from codelens.resolve.imports import Definers, Importer, Surface
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.path_tree import folder_of
from codelens.types import Import

DAMPING = 0.85
_ITERATIONS, _LEAST_ITERATIONS = 30, 3
_SETTLED = 1e-6


def _never() -> bool:
    return False


def pagerank(
    links: Sequence[Mapping[int, float]],
    start: Sequence[float],
    spent: Callable[[], bool] = _never,
) -> list[float]:
    """Return the rank of each node; the sum is 1.

    Args:
        links: for each node its targets, with weights above 0.
        start: restart weight of each node, at least 0; all 0 counts as all 1.
        spent: whether to stop before the next iteration.
    """
    size = len(links)
    if not size:
        return []
    total = sum(start)
    home = [weight / total for weight in start] if total > 0 else [1.0 / size] * size
    shares = [_shared(out) for out in links]
    rank = list(home)
    for number in range(_ITERATIONS):
        if number >= _LEAST_ITERATIONS and spent():
            break
        lost = sum(rank[node] for node in range(size) if not shares[node])
        back = (1.0 - DAMPING) + DAMPING * lost
        after = [back * weight for weight in home]
        for node in range(size):
            passed_on = DAMPING * rank[node]
            if passed_on:
                for target, share in shares[node]:
                    after[target] += passed_on * share
        moved = sum(abs(weight - other) for weight, other in zip(rank, after, strict=True))
        rank = after
        if moved < _SETTLED:
            break
    return rank


def _shared(out: Mapping[int, float]) -> list[tuple[int, float]]:
    total = sum(weight for _, weight in sorted(out.items()))
    return [(target, weight / total) for target, weight in sorted(out.items())] if total else []


# Finds which files of a view use each other, and by which names; the map ranks files by these
# links.
#
# Links are cheaper than edges. A file uses another if it imports it or is in the same package, and
# contains the name of one of its top-level definitions. A name alone makes a link only in languages
# whose imports do not resolve, and only if one file of the view defines it.

_SHORTEST = 4
_MOST_AGAIN, _SHARE_AGAIN = 50, 0.25
"""Maximum number and share of files to relink; beyond both, all files are linked again."""
_Key = TypeVar("_Key", bound=Hashable)
_UNIQUE_WEIGHT = 0.5
_BATCH = 200
"""Contents linked between two checks of the clock, about 0.1 s."""
Counts = Callable[[Iterable[int]], Iterable[tuple[int, Mapping[str, int]]]]


class Source(NamedTuple):
    """A file that the map may show."""

    path: bytes
    content: int
    language: str
    defined: frozenset[str]
    """Names of its top-level definitions."""
    imports: tuple[Import, ...]


class Links:
    """The links between files, which are numbered in the order given."""

    def __init__(self, count: int) -> None:
        self.weights: list[dict[int, float]] = [{} for _ in range(count)]
        """For each file, the files it uses and how much."""
        self._named: list[set[tuple[int, str]]] = [set() for _ in range(count)]
        self.users: Counter[tuple[int, str]] = Counter()
        """File and name of a definition -> how many other files use it."""
        self.importers: Counter[int] = Counter()
        """File -> how many files import or use it."""
        self.spread: Counter[str] = Counter()
        """Name -> how many files use it, regardless of who defines it."""

    def forget(self, source: int) -> None:
        """Remove the uses of a file."""
        for target in self.weights[source]:
            self._less(self.importers, target)
        for name_key in self._named[source]:
            self._less(self.users, name_key)
        self.weights[source], self._named[source] = {}, set()

    def forget_names(self, names: Iterable[str]) -> None:
        """Remove the names that a content uses."""
        for name in names:
            self._less(self.spread, name)

    @staticmethod
    def _less(counts: Counter[_Key], key: _Key) -> None:
        counts[key] -= 1
        if not counts[key]:
            del counts[key]

    def _add(self, source: int, target: int, weight: float) -> None:
        out = self.weights[source]
        if target not in out:
            self.importers[target] += 1
        out[target] = out.get(target, 0.0) + weight

    def use(self, source: int, target: int, name: str, weight: float) -> None:
        """Add that a file uses a definition of another."""
        if source != target:
            self._add(source, target, weight)
            self._named[source].add((target, name))
            self.users[target, name] += 1

    def take(self, source: int, target: int, weight: float) -> None:
        """Add that a file imports another, without knowing which names."""
        if source != target:
            self._add(source, target, weight)


def relinked(
    links: Links,
    before: Sequence[Source],
    sources: Sequence[Source],
    importer: Importer,
    *,
    counts: Counts,
    holding: Callable[[Set[str]], Set[bytes]],
) -> bool:
    """Update the links of an earlier state; False if they must be rebuilt.

    Args:
        links: the links of `before`; updated in place.
        before: the earlier files.
        sources: the current files: the same paths, with the same importer.
        importer: the importer of the whole view.
        counts: how often each of some contents uses each name.
        holding: returns the paths of the files that use or import one of some names.
    """
    changed = [at for at, source in enumerate(sources) if source is not before[at]]
    names = _affected([(before[at], sources[at]) for at in changed], sources)
    if names is None:
        return False
    holding_paths = holding(names) if names else set[bytes]()
    again = set(changed) | {at for at, source in enumerate(sources) if source.path in holding_paths}
    if len(again) > max(_MOST_AGAIN, len(sources) * _SHARE_AGAIN):
        return False
    old = {source.content for source in before} - {source.content for source in sources}
    counts_of = dict(counts(old))
    if counts_of.keys() != old:
        # The content was dropped from the index, or has no names: what it uses is unknown.
        return False
    for content in old:
        links.forget_names(counts_of[content].keys())
    for at in again:
        links.forget(at)
    new = {source.content for source in sources} - {source.content for source in before}
    linking = Linking(sources, importer)
    by_content: dict[int, list[int]] = {}
    for at in sorted(again):
        by_content.setdefault(sources[at].content, []).append(at)
    for content, used in counts(sorted(by_content)):
        if content in new:
            links.spread.update(used.keys())
        for at in by_content[content]:
            linking.link(links, at, used)
    return True


def _affected(
    changed: Sequence[tuple[Source, Source]], sources: Sequence[Source]
) -> set[str] | None:
    """Return the names whose uses may now refer elsewhere; None for any name."""
    names: set[str] = set()
    for old, new in changed:
        names |= old.defined ^ new.defined
        for row in {imported[:3] for imported in old.imports} ^ {
            imported[:3] for imported in new.imports
        }:
            if "*" in row:
                return None
            names |= {part for part in row if part}
    size = -1
    while names and size != len(names):
        size = len(names)
        # Aliases under which a file re-exports one of them.
        names |= {
            row.alias
            for source in sources
            for row in source.imports
            if row.alias and row.name in names
        }
    return names


def _surface(
    sources: Sequence[Source], numbers: Mapping[bytes, int], path: bytes
) -> Surface | None:
    at = numbers.get(path)
    if at is None:
        return None
    source = sources[at]
    return Surface(source.language, source.defined, source.imports)


class Linking:
    """Builds links step by step, some contents at a time.

    Args:
        sources: the files of a view, by path.
        importer: the importer of the whole view.
    """

    def __init__(self, sources: Sequence[Source], importer: Importer) -> None:
        self.sources = sources
        self.importer = importer
        self.links = Links(len(sources))
        """Links of the contents that are not in `left`."""
        self._by_content: dict[int, list[int]] = {}
        for at, source in enumerate(sources):
            self._by_content.setdefault(source.content, []).append(at)
        self.left = sorted(self._by_content)
        """Contents whose files are not linked yet."""
        self._number = {source.path: at for at, source in enumerate(sources)}
        self._definers = Definers(importer, partial(_surface, sources, self._number))
        self._package: dict[tuple[bytes, str], dict[str, int]] = {}
        for at, source in enumerate(sources):
            if spec_of(source.language).folder_is_package:
                names = self._package.setdefault((folder_of(source.path), source.language), {})
                for name in source.defined:
                    names.setdefault(name, at)

    @cached_property
    def _owner(self) -> dict[str, int]:
        """Name -> the only file that defines it, -1 if several do."""
        owner_of: dict[str, int] = {}
        for at, source in enumerate(self.sources):
            for name in source.defined:
                owner_of[name] = -1 if name in owner_of else at
        return owner_of

    @property
    def unlinked(self) -> int:
        """Files that are not linked yet."""
        return sum(len(self._by_content[content]) for content in self.left)

    def go_on(self, counts: Counts) -> None:
        """Link the files of some more contents."""
        batch, self.left = self.left[:_BATCH], self.left[_BATCH:]
        for content, names in counts(batch):
            self.links.spread.update(names.keys())
            for at in self._by_content[content]:
                self.link(self.links, at, names)

    def link(self, links: Links, at: int, names: Mapping[str, int]) -> None:
        """Add the uses of one file."""
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
        source = self.sources[at]
        for row in source.imports:
            yield from self._imported(source, row, names)
        package = self._package.get((folder_of(source.path), source.language), {})
        if package:
            for name in (names.keys() & package.keys()) - source.defined:
                yield package[name], name, sqrt(names[name])
        if not spec_of(source.language).imports_are_complete:
            # Iterate over the file's names: the view has a hundred thousand times as many.
            for name in sorted((names.keys() & self._owner.keys()) - source.defined):
                owner = self._owner[name]
                alike = owner >= 0 and self.sources[owner].language == source.language
                if alike and len(name) >= _SHORTEST:
                    yield owner, name, _UNIQUE_WEIGHT * sqrt(names[name])

    def _imported(
        self, source: Source, row: Import, names: Mapping[str, int]
    ) -> Iterator[tuple[int | None, str, float]]:
        number = self._number
        if row.name and row.name != "*":
            definer = self._definers.definer(source.path, source.language, row)
            target = number.get(definer) if definer is not None else None
            if target is not None:
                used = 1 + names.get(row.alias or row.name, 0)
                is_defined = row.name in self.sources[target].defined
                if is_defined:
                    yield target, row.name, sqrt(used)
                    return
                # The name is a module's, or the module only re-exports it.
                yield target, "", 1.0
                yield from self._named_in(target, names)
                return
        files = self.importer.targets(source.path, source.language, row)
        for path in files:
            target = number.get(path)
            if target is not None:
                if len(files) == 1:
                    # In a package only the files whose names are used count.
                    yield target, "", 0.3
                yield from self._named_in(target, names)

    def _named_in(
        self, target: int, names: Mapping[str, int]
    ) -> Iterator[tuple[int | None, str, float]]:
        defined = self.sources[target].defined
        for name in sorted(names.keys() & defined):
            yield target, name, sqrt(names[name])
