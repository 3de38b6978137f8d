"""From the references of a file to edges: who calls, uses, derives from and imports what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference import plain_resolver
from codelens.resolve.inference.expression_values import ROOT, steps
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Hit
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Named, parsed
from codelens.resolve.languages.registry import loaded, spec_of
from codelens.types import Reference

CERTAIN = 1.0
BEGINS = ":"
"""In place of arguments: what begins a constructor of C++, and can only be a type."""


class Edge(NamedTuple):
    """One definition, or module (-1), uses another."""

    source: bytes
    symbol: int
    """In the source, -1 for its module."""
    target: bytes
    target_symbol: int
    kind: str
    """`call`, `ref`, `inherit`, `import`; `override` from a method to that of its trait or
    interface; `satisfy` from a type of Go to an interface."""
    name: str
    line: int
    confidence: float
    """Below 1 for one of several things that a use may mean: 1/n, if there are n of them."""

    @property
    def is_certain(self) -> bool:
        """Nothing else can be meant."""
        return self.confidence == CERTAIN

    @property
    def choices(self) -> int:
        """Of how many things that may be meant this is one."""
        return round(CERTAIN / self.confidence)


_SEVERAL = (CALLABLE, CALLABLE | TYPES)
_MOST_CHOICES = 40
"""Of more than these none is worth naming."""
_KINDS = {"call": "call", "type": "ref", "name": "ref"}


_Told = tuple[Hit, float]
"""A target, and how certain it is."""


class Edges:
    """Resolves files of one view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._resolvers: dict[str, Resolver] = {}
        self._resolver = self._resolver_of("")

    def _resolver_of(self, language: str) -> Resolver:
        place = spec_of(language).resolver
        found = self._resolvers.get(place)
        if found is None:
            made = loaded(place) if place else plain_resolver.resolver
            found = self._resolvers[place] = made(self._view)
        return found

    @property
    def answers(self) -> int:
        """How much is remembered."""
        return sum(one.answers for one in self._resolvers.values())

    def exported(self, path: bytes, model: FileModel) -> list[Hit]:
        """The definitions that a file exports by their names, its own and others'."""
        names = self._resolver_of(model.language).names
        told = dict.fromkeys((*model.exports, *sorted(model.listed or ())))
        hits = (hit for name in told for hit in names.exported(path, name))
        return list(dict.fromkeys(hit for hit in hits if hit.symbol >= 0))

    def of_file(self, path: bytes) -> list[Edge]:
        """All edges that begin in a file, in order of its text; the uncertain ones as well."""
        return self.within(path, lambda: False) or []

    def within(self, path: bytes, spent: Callable[[], bool]) -> list[Edge] | None:
        """As `of_file`; None where time ran out (`spent`). What was found out by then stays."""
        model = self._view.model(path)
        if model is None:
            return []
        self._resolver = self._resolver_of(model.language)
        found: list[Edge] = list(self._imports(path, model))
        for one in self._uses(path, model):
            if one is None and spent():
                return None
            if one is not None:
                found.append(one)
        extra = self._resolver.extra_edges
        for symbol, name, line, of, kind in extra(path, model) if extra is not None else ():
            found.append(Edge(path, symbol, of.path, of.symbol, kind, name, line, CERTAIN))
        return list(dict.fromkeys(found))

    def _uses(self, path: bytes, model: FileModel) -> Iterator[Edge | None]:
        """The edges of references; None before each, so that looking on may be given up."""
        bases = _bases(model)
        values = model.spec.spaces
        deriving = self._resolver.deriving
        known: dict[object, list[_Told]] = {}
        places: dict[tuple[int, str], tuple[int, bool]] = {}
        for reference in model.references:
            yield None
            kind = _KINDS[reference.kind]
            if (reference.line, reference.name) in bases and reference.kind != "call":
                kind = "inherit"
            hits = self._hits(path, model, reference, kind, known, places)
            if not hits:
                continue
            source = model.enclosing(reference, values=values)
            if kind == "inherit" and deriving is not None:
                own = deriving(path, model, reference.scope)
                source = own if own >= 0 else source
            name, line = reference.name, reference.line
            for hit, confidence in hits:
                if self._is_definition(hit, path, model, reference):
                    continue
                if hit.path != path and not model.spec.follows_names:
                    continue
                yield Edge(path, source, hit.path, hit.symbol, kind, name, line, confidence)

    def _hits(
        self,
        path: bytes,
        model: FileModel,
        one: Reference,
        kind: str,
        known: dict[object, list[_Told]],
        places: dict[tuple[int, str], tuple[int, bool]],
    ) -> list[_Told]:
        """Targets of edges; the same name at the same place in its scope is looked up once."""
        resolver = self._resolver
        receiver = one.receiver
        if receiver == "?":
            return []
        if not resolver.by_place:
            return self._told(self.targets(path, model, one), kind)
        taken = steps(receiver) if receiver and receiver != ROOT else None
        if receiver and taken is None:
            return self._told(self.targets(path, model, one), kind) if receiver == ROOT else []
        begin = (one.scope, taken[0] if taken is not None else one.name)
        place = places.get(begin)
        if place is None:
            place = places[begin] = resolver.place(path, *begin)
        at, sensitive = place
        line = one.line if sensitive or receiver in model.asserted else -1
        begins = one.given == BEGINS
        key = (receiver, one.name, one.kind, kind, one.arguments, at, line, begins)
        found = known.get(key)
        if found is None:
            hits = self.targets(path, model, one)
            others = 0
            if hits and not receiver and resolver.others is not None:
                others = resolver.others(path, hits)
            found = self._told(hits, kind, others)
            if receiver and len(found) > 1 and (model.spec.unions or not model.spec.resolver):
                # Which of the types of a union it is may have been asked before.
                found = [(hit, CERTAIN / len(found)) for hit, _ in found]
            known[key] = found
        if not found or resolver.overloads is None:
            return found
        if not (one.given or len(found) > 1 or model.spec.split_types):
            return found
        hits = [hit for hit, _ in found]
        meant = resolver.overloads(path, one, hits)
        return found if meant is hits else self._told(meant, kind)

    def targets(self, path: bytes, model: FileModel, one: Reference) -> list[Hit]:
        """What a reference means."""
        if one.receiver == "?":
            return []
        hits = (
            self._resolver.member_of(path, one) if one.receiver else self._resolver.meant(path, one)
        )
        return [hit for hit in hits if hit.symbol != LOCAL]

    def _told(self, hits: list[Hit], kind: str, others: int = 0) -> list[_Told]:
        """The targets that an edge is drawn to; nearly always there is one."""
        if not hits:
            return []
        if len(hits) > 1 or others or (kind == "call" and hits[0].symbol == MODULE):
            return self._weighed(hits, kind, others)
        self._view.model(hits[0].path)
        return [(hits[0], CERTAIN)]

    def _weighed(self, hits: list[Hit], kind: str, others: int) -> list[_Told]:
        """The targets that an edge is drawn to, and how certain each is.

        Definitions of one name in one place are one thing, of which an edge is drawn to one;
        where they are several things, a use that may mean several has an edge to each.
        """
        found: dict[tuple[bytes, int, str, int], Hit] = {}
        several: set[Hit] = set()
        for hit in hits:
            if hit.symbol == MODULE and kind == "call":
                model = self._view.model(hit.path)
                if model is None or not model.spec.spaces:
                    continue
                whole = self._resolver.names.exported(hit.path, "default")
                for one in whole:
                    if one.symbol >= 0:
                        found[one.path, one.symbol, "", -1] = one
                continue
            model = self._view.model(hit.path)
            if model is None or hit.symbol < 0:
                found[hit.path, hit.symbol, "", -1] = hit
                continue
            symbol = model.symbols[hit.symbol]
            # An import of a name imports all its overloads.
            apart = (
                kind != "import"
                and model.spec.overloads_apart
                and symbol.kind in _SEVERAL[model.spec.types_apart]
            )
            own = apart or (model.spec.split_types and symbol.kind in TYPES)
            key = (hit.path, symbol.parent, symbol.name, hit.symbol if own else -1)
            before = found.get(key)
            if apart:
                several.add(hit)
            if before is None or (
                symbol.kind in CALLABLE and model.symbols[before.symbol].kind in CALLABLE
            ):
                # Of overloads the last, which is the one with a body where there is one.
                found[key] = hit
        told = list(dict.fromkeys(found.values()))
        choices = sum(hit in several for hit in told) + others
        if choices > _MOST_CHOICES:
            return [(hit, CERTAIN) for hit in told if hit not in several]
        weight = CERTAIN / max(choices, 1)
        return [(hit, weight if hit in several else CERTAIN) for hit in told]

    def _is_definition(self, hit: Hit, path: bytes, model: FileModel, one: Reference) -> bool:
        """A reference is the very place where its target gets its value: `self.x = 1`."""
        if one.kind != "name" or hit.symbol < 0:
            return False
        if hit.path == path and model.symbols[hit.symbol].name_line == one.line:
            return True
        return bool(one.receiver) and (one.line, f"{one.receiver}.{one.name}") in model.stores

    def _imports(self, path: bytes, model: FileModel) -> Iterator[Edge]:
        names = self._resolver.names
        for one in model.imports:
            files = self._view.modules(path, one.module)
            # `from . import x` names x alone, `from . import *` the package.
            named = one.module.strip(".") or one.name == "*" or not model.spec.submodules
            hits = [Hit(file, MODULE) for file in files] if named else []
            if one.name and one.name != "*":
                hits += names.imported(path, one)
                if not model.spec.submodules:
                    # Python's types are values like all others.
                    hits += names.imported(path, one, types=True)
            elif not one.name:
                hits += names.imported(path, one)
            hits += [Hit(file, MODULE) for file in self._view.through(path, one)]
            for hit, confidence in self._told(hits, "import"):
                if hit.symbol != LOCAL:
                    name = one.name or one.module
                    yield Edge(path, -1, hit.path, hit.symbol, "import", name, one.line, confidence)


def _bases(model: FileModel) -> set[tuple[int, str]]:
    """Lines and names of the bases of types."""
    found: set[tuple[int, str]] = set()
    for row in model.bindings:
        if row.how in {"base", "implements"}:
            one = parsed(row.text)
            if isinstance(one, Named):
                found.add((row.line, one.name.rpartition(".")[2]))
    return found
