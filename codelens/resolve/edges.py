"""Resolves the references of a file to edges: calls, uses, base types and imports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference import plain_resolver
from codelens.resolve.inference.expression_values import steps
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Named, parsed
from codelens.resolve.languages.registry import loaded, spec_of
from codelens.resolve.view_files import View
from codelens.store.facts.resolution_facts import references_named
from codelens.types import CASE, INITIAL, NAMED, PROTOCOL, ROOT, VARIABLE, Import, Reference

CERTAIN = 1.0


class Edge(NamedTuple):
    """A use of one definition by another definition or by a module."""

    source: bytes
    symbol: int
    """The index of the using definition in `source`, -1 for the module itself."""
    target: bytes
    target_symbol: int
    kind: str
    """`call`, `ref`, `inherit`, `import`; `override` from a method to the trait or interface method
    it implements; `satisfy` from a Go type to an interface; `include` between templates."""
    name: str
    line: int
    confidence: float
    """1 for a certain edge; 1/n if the use has n possible targets."""

    @property
    def is_certain(self) -> bool:
        """Whether the use has no other possible target."""
        return self.confidence == CERTAIN

    @property
    def choices(self) -> int:
        """The number of possible targets of the use."""
        return round(CERTAIN / self.confidence)


_SEVERAL = (CALLABLE, CALLABLE | TYPES)
_MOST_CHOICES = 40
"""If a use has more possible targets than this, the edges leave all of them out."""
MOST_ANSWERS = 400_000
ANSWERS_KEPT = 10_000
"""How many answers stay between queries; the edges already hold most of the results."""
_CROWD = 200
"""For more definitions of one name than this, the targets are computed once and cached."""
EDGE_KINDS = {"call": "call", "type": "ref", "name": "ref", "export": "ref"}
_NOT_BY_NAME = frozenset({"new", "super", "base", "this", "self", "static", "parent", "cls"})
"""Uses whose name differs from the target's name: a type, or the overridden method."""
_PATH_PARTS = re.compile(r"[./\\:]+")


_WeightedTarget = tuple[Referent, float]
"""A target and the confidence in it."""


def _one_of(targets: list[_WeightedTarget]) -> list[_WeightedTarget]:
    """Splits the confidence evenly between the alternatives."""
    return [(referent, CERTAIN / len(targets)) for referent, _ in targets]


def _is_whole(model: FileModel, reference: Reference) -> bool:
    """Whether the union of a receiver's types is exact: no type test may have narrowed it further.

    If so, the call may reach each of the types, and a change of any of them affects it.
    """
    if not model.spec.narrows:
        return False
    function, receiver = model.functions[reference.scope], reference.receiver
    tests = [
        (subject, at, type_text)
        for subject, rows in model.asserted.items()
        if receiver.startswith(subject) and receiver[len(subject) :][:1] in {"", ".", "(", "["}
        for within, at, type_text in rows
        if within == function and at < reference.line
    ]
    if not tests:
        return True
    subject, _, type_text = sorted(tests, key=lambda test: test[1])[-1]
    return subject == receiver and bool(type_text)


class Edges:
    """Resolves the files of one view to edges."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._resolvers: dict[str, Resolver] = {}
        self._resolver = self._resolver_of("")
        self._crowds: dict[tuple[int, str, int], tuple[list[Referent], list[_WeightedTarget]]] = {}

    def _resolver_of(self, language: str) -> Resolver:
        place = spec_of(language).resolver
        resolver = self._resolvers.get(place)
        if resolver is None:
            make = loaded(place) if place else plain_resolver.resolver
            resolver = self._resolvers[place] = make(self._view)
        return resolver

    @property
    def answers(self) -> int:
        """The number of cached answers."""
        return sum(resolver.answers for resolver in self._resolvers.values())

    def forget(self) -> None:
        """Clear the caches; do not query the object afterwards.

        The reference cycles would otherwise keep 40 MiB of 220 alive until the garbage collector
        runs.
        """
        for resolver in self._resolvers.values():
            resolver.forget()
        self._view.forget()
        self._crowds.clear()

    def end(self) -> None:
        """Break the reference cycles, so that everything is freed now."""
        for resolver in self._resolvers.values():
            vars(resolver).clear()
        vars(self._view).clear()

    def exported(self, path: bytes, model: FileModel) -> list[Referent]:
        """Return the definitions that a file exports by name, including re-exports."""
        names = self._resolver_of(model.language).names
        names_exported = dict.fromkeys((*model.exports, *sorted(model.listed or ())))
        referents = (referent for name in names_exported for referent in names.exported(path, name))
        return list(dict.fromkeys(referent for referent in referents if referent.symbol >= 0))

    def imported_as(self, path: bytes, name: str) -> list[Referent]:
        """Return the definitions that a name refers to through an import or export of the file."""
        model = self._view.model(path)
        names = self._resolver_of(model.language).names
        imports = [import_ for import_ in model.imports if name in {import_.alias, import_.name}]
        referents = [*names.exported(path, name)] if name in model.exports else []
        for import_ in imports:
            referents += names.imported(path, import_) or names.imported(path, import_, types=True)
        return list(dict.fromkeys(referent for referent in referents if referent.symbol >= 0))

    def of_file(self, path: bytes) -> list[Edge]:
        """Return all edges from a file in source order, including uncertain ones."""
        return self.within(path, lambda: False) or []

    def within(
        self, path: bytes, spent: Callable[[], bool], names: Set[str] | None = None
    ) -> list[Edge] | None:
        """Return the edges of `of_file`, or None if time ran out (`spent`).

        Answers found before that stay cached. With `names`, for a language that `keeps_names`,
        the result contains at least the edges to definitions that the file uses under one of
        these names.
        """
        model = self._view.model(path)
        self._resolver = self._resolver_of(model.language)
        imports, references = model.imports, model.references
        if names is not None:
            imports = [import_ for import_ in imports if not names.isdisjoint(_words(import_))]
            renamed = {import_.alias for import_ in model.imports if import_.alias}
            chosen = names | renamed | _NOT_BY_NAME
            references = references_named(references, chosen)
        edges: list[Edge] = []
        for edge in self._imports(path, model, imports):
            # In Rust, following the imports may take longer than resolving all uses.
            if spent():
                return None
            edges.append(edge)
        for edge in self._uses(path, model, references):
            if edge is None and spent():
                return None
            if edge is not None:
                edges.append(edge)
        extra = self._resolver.extra_edges
        for symbol, name, line, of, kind in extra(path, model) if extra is not None else ():
            edges.append(Edge(path, symbol, of.path, of.symbol, kind, name, line, CERTAIN))
        return list(dict.fromkeys(edges))

    def _uses(
        self, path: bytes, model: FileModel, references: Sequence[Reference]
    ) -> Iterator[Edge | None]:
        """Yield the edges of references, and None before each one so that the caller can stop."""
        bases = base_places(model)
        values = model.spec.spaces
        deriving = self._resolver.deriving
        targets_by_use: dict[object, list[_WeightedTarget]] = {}
        places: dict[tuple[int, str], tuple[int, bool]] = {}
        for reference in references:
            yield None
            kind = EDGE_KINDS[reference.kind]
            if (reference.line, reference.name) in bases and reference.kind != "call":
                kind = "inherit"
            referents = self._hits(
                path, model, reference, kind, targets_by_use=targets_by_use, places=places
            )
            if not referents:
                continue
            source = model.enclosing(reference, values=values)
            if kind == "inherit" and deriving is not None:
                own = deriving(path, model, reference.scope)
                source = own if own >= 0 else source
            name, line = reference.name, reference.line
            for referent, confidence in referents:
                if self._is_definition(referent, path, model, reference):
                    continue
                if referent.path != path and not model.spec.follows_names:
                    continue
                how = kind if reference.argument_lines != INITIAL else self._begun(referent)
                yield Edge(
                    path, source, referent.path, referent.symbol, how, name, line, confidence
                )

    def _begun(self, referent: Referent) -> str:
        """Return the edge kind of a C++ constructor initializer: `ref` to a field, else `call`."""
        return "ref" if self._view.symbol(referent).kind == "field" else "call"

    def _hits(
        self,
        path: bytes,
        model: FileModel,
        reference: Reference,
        kind: str,
        *,
        targets_by_use: dict[object, list[_WeightedTarget]],
        places: dict[tuple[int, str], tuple[int, bool]],
    ) -> list[_WeightedTarget]:
        """Return the targets of a reference; looks up a name once per place in its scope."""
        resolver = self._resolver
        receiver = reference.receiver
        if not resolver.by_place:
            return self._called_by_name(path, model, reference, kind)
        if receiver == "?":
            return self._possible(path, reference)
        if receiver[:1] == "<" and receiver.find(">") == len(receiver) - 1:
            # An element may have several directives, and each is used.
            uses = resolver.element_uses(path, reference)
            return [(referent, CERTAIN) for referent in uses]
        is_rooted = receiver[:1] == ROOT
        taken = steps(receiver) if receiver and not is_rooted else None
        if receiver and taken is None:
            return self._weighted(self.targets(path, model, reference), kind) if is_rooted else []
        begin = (reference.scope, taken[0] if taken is not None else reference.name)
        place = places.get(begin)
        if place is None:
            place = places[begin] = resolver.place(path, *begin)
        at, sensitive = place
        line = reference.line if sensitive or receiver in model.asserted else -1
        begins: object = reference.argument_lines in {INITIAL, CASE, NAMED, VARIABLE}
        if reference.arguments == PROTOCOL and reference.argument_lines:
            # The operator depends on the whole receiver expression, and that depends on the place.
            begins, line = (reference.scope, reference.argument_lines), reference.line
        key = (
            receiver,
            reference.name,
            reference.kind,
            kind,
            reference.arguments,
            at,
            line,
            begins,
        )
        targets = targets_by_use.get(key)
        if targets is None:
            targets = targets_by_use[key] = self._looked_up(path, model, reference, kind)
        if not targets or resolver.overloads is None:
            return targets
        if not (reference.argument_lines or len(targets) > 1 or model.spec.split_types):
            return targets
        referents = [referent for referent, _ in targets]
        overloads = resolver.overloads(path, reference, referents)
        return targets if overloads is referents else self._weighted(overloads, kind)

    def _looked_up(
        self, path: bytes, model: FileModel, reference: Reference, kind: str
    ) -> list[_WeightedTarget]:
        """Look up the targets of a reference, or its possible targets if no lookup succeeds."""
        resolver, receiver = self._resolver, reference.receiver
        if reference.arguments == PROTOCOL and not self._view.defined_in(
            reference.name, model.language
        ):
            return []
        referents = self.targets(path, model, reference)
        if reference.argument_lines == NAMED and reference.kind == "name":
            return self._weighted(self._passed(path, model, reference, referents), kind)
        if not referents:
            return self._possible(path, reference)
        others = 0
        if not receiver and resolver.others is not None:
            others = resolver.others(path, referents)
        targets = self._weighted(referents, kind, others)
        if receiver and len(targets) > 1 and (model.spec.unions or not model.spec.resolver):
            # An earlier check may have narrowed the union to one of these types.
            members = targets if _is_whole(model, reference) else _one_of(targets)
            overriding = [
                method
                for referent, confidence in targets
                for method in self._overriding(path, reference, referent, confidence)
            ]
            return list(dict(reversed([*members, *overriding])).items())[::-1]
        if receiver and len(targets) == 1 and reference.kind != "type":
            return targets + self._overriding(path, reference, *targets[0])
        return targets

    def _called_by_name(
        self, path: bytes, model: FileModel, reference: Reference, kind: str
    ) -> list[_WeightedTarget]:
        """Look up targets by name alone, for languages in which the place does not matter."""
        targets = self._weighted(self.targets(path, model, reference), kind)
        if targets:
            return _one_of(targets) if model.spec.unions else targets
        return self._possible(path, reference)

    def _possible(self, path: bytes, reference: Reference) -> list[_WeightedTarget]:
        """Return the possible targets by name, for a reference that cannot be resolved."""
        if self._resolver.possible is None:
            return []
        possible = self._resolver.possible(path, reference)
        # Plus one: the actual target may be outside of the view.
        return [(referent, CERTAIN / (len(possible) + 1)) for referent in possible]

    def _overriding(
        self, path: bytes, reference: Reference, referent: Referent, confidence: float
    ) -> list[_WeightedTarget]:
        """Return the overriding methods that may run instead of the resolved method."""
        if self._resolver.overriding is None or confidence != CERTAIN:
            return []
        methods = self._resolver.overriding(path, reference, referent)
        return [(method, CERTAIN / (len(methods) + 1)) for method in methods]

    def targets(self, path: bytes, model: FileModel, reference: Reference) -> list[Referent]:
        """Return what a reference refers to."""
        if reference.receiver == "?":
            return []
        referents = (
            self._resolver.member_of(path, reference)
            if reference.receiver
            else self._resolver.meant(path, reference)
        )
        if len(referents) > _CROWD:
            # So many referents include no local variable, which would hide all others.
            # `_weighted_crowd` needs the identical list object.
            return referents
        return [referent for referent in referents if referent.symbol != LOCAL]

    def _passed(
        self, path: bytes, model: FileModel, reference: Reference, fields: list[Referent]
    ) -> list[Referent]:
        """Return the fields that are parameters of their type's constructor, too."""
        builder = model.spec.written_constructor
        if builder:
            call = reference._replace(name=builder, kind="call", argument_lines="")
            return [] if fields and self.targets(path, model, call) else fields
        return [field for field in fields if self._is_parameter(field)]

    def _is_parameter(self, field: Referent) -> bool:
        """Whether a constructor declares a field among its parameters: `class A(val b: Int)`."""
        model = self._view.model(field.path)
        symbol = model.symbols[field.symbol] if field.symbol >= 0 else None
        if symbol is None or symbol.parent < 0:
            return False
        owner = model.symbols[symbol.parent]
        builders = [
            other
            for other in model.symbols
            if other.parent == symbol.parent and other.name in model.spec.constructors
        ]
        return any(
            symbol.signature in each.signature or each.signature.endswith("…")
            for each in (owner, *builders)
        )

    def variable_lines(self, path: bytes, name: str) -> set[int]:
        """Return the lines of a file where a name refers only to local variables or parameters."""
        model = self._view.model(path)
        self._resolver = self._resolver_of(model.language)
        is_variable: dict[int, bool] = {}
        for reference in references_named(model.references, {name}):
            so_far = is_variable.get(reference.line, True)
            is_variable[reference.line] = so_far and self._is_variable(path, reference)
        return {line for line, only_variable in is_variable.items() if only_variable}

    def _is_variable(self, path: bytes, reference: Reference) -> bool:
        """Whether a reference is to a local variable whose value does not mention the same name."""
        if reference.receiver or not self._resolver.by_place:
            return False
        referents = self._resolver.meant(path, reference)
        same = re.compile(rf"\b{re.escape(reference.name)}\b")
        return bool(referents) and all(
            referent.symbol == LOCAL
            and referent.scope > 0
            and not any(same.search(row.text) for row in self._resolver.names.rows(referent))
            for referent in referents
        )

    def _weighted(
        self, referents: list[Referent], kind: str, others: int = 0
    ) -> list[_WeightedTarget]:
        """Return the targets of an edge; nearly always there is only one."""
        if not referents:
            return []
        if len(referents) > _CROWD:
            return self._weighted_crowd(referents, kind, others)
        if len(referents) > 1 or others or (kind == "call" and referents[0].symbol == MODULE):
            return self._weighted_of_several(referents, kind, others)
        self._view.model(referents[0].path)
        return [(referents[0], CERTAIN)]

    def _weighted_crowd(
        self, referents: list[Referent], kind: str, others: int
    ) -> list[_WeightedTarget]:
        """As `_weighted_of_several`, cached for each list that a name lookup returns.

        Without the cache, thousands of uses of a name with thousands of definitions would be
        quadratic.
        """
        cached = self._crowds.get((id(referents), kind, others))
        if cached is None or cached[0] is not referents:
            cached = (referents, self._weighted_of_several(referents, kind, others))
            self._crowds[id(referents), kind, others] = cached
        return cached[1]

    def _weighted_of_several(
        self, referents: list[Referent], kind: str, others: int
    ) -> list[_WeightedTarget]:
        """Return the targets of an edge with their confidence.

        Several definitions of one name in one place usually count as one thing, with one edge.
        Where they are separate things, an ambiguous use gets an edge to each.
        """
        targets: dict[tuple[bytes, int, str, int], Referent] = {}
        several: set[Referent] = set()
        for referent in referents:
            if referent.symbol == MODULE and kind == "call":
                if not self._view.model(referent.path).spec.spaces:
                    continue
                whole = self._resolver.names.exported(referent.path, "default")
                for export in whole:
                    if export.symbol >= 0:
                        targets[export.path, export.symbol, "", -1] = export
                continue
            model = self._view.model(referent.path)
            if referent.symbol < 0:
                targets[referent.path, referent.symbol, "", -1] = referent
                continue
            symbol = model.symbols[referent.symbol]
            # An import of a name imports all its overloads.
            apart = (
                kind != "import"
                and model.spec.overloads_apart
                and symbol.kind in _SEVERAL[model.spec.types_apart]
            )
            own = apart or (model.spec.split_types and symbol.kind in TYPES)
            key = (referent.path, symbol.parent, symbol.name, referent.symbol if own else -1)
            before = targets.get(key)
            if apart:
                several.add(referent)
            if before is None or (
                symbol.kind in CALLABLE and model.symbols[before.symbol].kind in CALLABLE
            ):
                # Take the last overload: it is the one with a body, if any has one.
                targets[key] = referent
        distinct = list(dict.fromkeys(targets.values()))
        choices = sum(referent in several for referent in distinct) + others
        if choices > _MOST_CHOICES:
            return [(referent, CERTAIN) for referent in distinct if referent not in several]
        weight = CERTAIN / max(choices, 1)
        return [(referent, weight if referent in several else CERTAIN) for referent in distinct]

    def _is_definition(
        self, referent: Referent, path: bytes, model: FileModel, reference: Reference
    ) -> bool:
        """Whether a reference is itself the assignment that defines its target: `self.x = 1`."""
        if reference.kind not in {"name", "export"} or referent.symbol < 0:
            return False
        # If another line defines the field, `self.x = 1` writes it.
        return referent.path == path and model.symbols[referent.symbol].name_line == reference.line

    def _imports(self, path: bytes, model: FileModel, imports: Sequence[Import]) -> Iterator[Edge]:
        names = self._resolver.names
        for import_ in imports:
            files = self._view.modules(path, import_.module)
            # `from . import x` imports only x, `from . import *` the package.
            named = import_.module.strip(".") or import_.name == "*" or not model.spec.submodules
            referents = [Referent(file, MODULE) for file in files] if named else []
            if import_.name and import_.name != "*":
                referents += names.imported(path, import_)
                if not model.spec.submodules:
                    # In Python, types share one namespace with values.
                    referents += names.imported(path, import_, types=True)
            elif not import_.name:
                referents += names.imported(path, import_)
            referents += [Referent(file, MODULE) for file in self._view.through(path, import_)]
            for owner in dict.fromkeys(names.on_import_path(path, import_)):
                yield self._import_of_type(path, owner, import_.line)
            for referent, confidence in self._weighted(referents, "import"):
                if referent.symbol != LOCAL:
                    name = import_.name or import_.module
                    yield Edge(
                        path,
                        -1,
                        referent.path,
                        referent.symbol,
                        "import",
                        name,
                        import_.line,
                        confidence,
                    )

    def _import_of_type(self, path: bytes, type_: Referent, line: int) -> Edge:
        """Return the edge to a type that an import names on its way to a member."""
        name = self._view.symbol(type_).name
        return Edge(path, -1, type_.path, type_.symbol, "import", name, line, CERTAIN)


def _words(import_: Import) -> set[str]:
    """Return every name that an import contains: the name, its alias, the parts of its module."""
    return {import_.name, import_.alias, *_PATH_PARTS.split(import_.module)}


def base_places(model: FileModel) -> set[tuple[int, str]]:
    """Return the line and name of each base type that a file names."""
    bases: set[tuple[int, str]] = set()
    for row in model.bindings:
        if row.how in {"base", "implements"}:
            type_ = parsed(row.text)
            if isinstance(type_, Named):
                bases.add((row.line, type_.name.rpartition(".")[2]))
    return bases
