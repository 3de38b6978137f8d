"""Finds possible targets of Python calls on receivers of unknown type: methods of that name.

The method may belong to any class of the view or to one outside of it, so each gets an equally
likely possible edge. A receiver that certainly comes from outside has no possible edges.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.expression_values import steps
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Definition, Instance, Value, each
from codelens.resolve.languages.registry import LanguageSpec
from codelens.resolve.view_files import MANY
from codelens.store.facts.resolution_facts import references_named
from codelens.types import Binding, Reference, Symbol

_MOST_OF_A_NAME = 32
"""If more methods share the name, a use has no possible targets."""
_MOST_LOOKED_AT = 12
"""The most values that are examined as sources of a receiver."""
_MOST_OVERRIDING = 24
"""If more methods override a method, calls of it get no edges to the overrides."""
_METHODS = CALLABLE | {"property"}
_USED = {"call": _METHODS, "name": frozenset({"property"})}
_OWN = frozenset({"self", "cls"})
_OPEN_TYPES = frozenset({"Any", "object", "Self"})

_BUILTIN_METHODS = frozenset(
    """
    add append as_integer_ratio bit_count bit_length capitalize casefold center clear
    conjugate copy count decode denominator difference difference_update discard encode
    endswith expandtabs extend find format format_map from_bytes fromhex fromkeys get hex imag
    index insert intersection intersection_update is_integer isalnum isalpha isascii isdecimal
    isdigit isdisjoint isidentifier islower isnumeric isprintable isspace issubset issuperset
    istitle isupper items join keys ljust lower lstrip maketrans numerator partition pop
    popitem real remove removeprefix removesuffix replace reverse rfind rindex rjust
    rpartition rsplit rstrip setdefault sort split splitlines startswith strip swapcase
    symmetric_difference symmetric_difference_update title to_bytes translate union update
    upper values zfill
    """.split()
)
"""Methods of strings, numbers and collections, from `dir` in Python 3.11.

A use of one of these names on a receiver of unknown type probably does not refer to the view.
"""
_HOLDING = frozenset(
    "Counter OrderedDict WeakValueDictionary chain defaultdict deque dict enumerate filter "
    "frozenset iter list map set tuple zip".split()
)
"""Classes and functions of the standard library whose elements may be anything."""
_VARIABLES = frozenset({"field", "variable", "constant", "property"})
_PASSING = frozenset("getattr max min next reversed sorted sum type vars".split())
"""Functions whose result is one of their arguments or derived from it."""

_Place = tuple[bytes, int, str, int]
"""An expression in a scope of a file, at a line."""


class PossibleUses:
    """Finds the methods that a use may refer to."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view = resolver, resolver.view

    def possible(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the methods that a use may refer to, by name alone."""
        name, receiver = reference.name, reference.receiver
        if not self.view.model(path).spec.submodules or receiver == "super()":
            return []
        if not receiver:
            return self._handed_in(path, reference)
        kinds = _USED.get(reference.kind)
        if kinds is None or name in _BUILTIN_METHODS or name[:2] == "__":
            return []
        methods = [method for method, kind in self._named(name) if kind in kinds]
        if len(methods) > _MOST_OF_A_NAME:
            return []
        if not methods or receiver == "?":
            return methods
        place = (path, reference.scope, receiver, reference.line)
        value = self.resolver.value(*place)
        if value is not None:
            return methods if self._has_open_bases(value) else []
        return [] if self._is_foreign(place) else methods

    def _handed_in(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the functions that a called parameter or variable may hold, by its name."""
        if reference.kind != "call":
            return []
        referents = self.resolver.meant(path, reference)
        if not referents or any(referent.symbol != LOCAL for referent in referents):
            return []
        place = (path, reference.scope, reference.name, reference.line)
        if self.resolver.value(*place) is not None or self._is_foreign(place):
            return []
        return self._functions(reference.name)

    def _functions(self, name: str) -> list[Referent]:
        """Return the functions of a name that their own file passes on; empty if there are many."""

        def named() -> list[Referent]:
            functions = [function for function, _ in self._defined(name, CALLABLE)]
            return [function for function in functions if self._is_passed_on(function)]

        functions = self.resolver.once(("functions", name), named, [])
        return functions if len(functions) <= _MOST_OF_A_NAME else []

    def _is_passed_on(self, function: Referent) -> bool:
        """Whether the function's file names it without a call: `run(match)`, `run(match=match)`."""
        model = self.view.model(function.path)
        return any(
            reference.kind in {"name", "export"} and not reference.receiver
            for reference in references_named(model.references, {function.name})
        )

    def _named(self, name: str) -> list[tuple[Referent, str]]:
        """Return the methods and properties of that name in the view, with their kinds."""
        return self.resolver.once(("methods", name), lambda: self._defined(name), [])

    def _defined(self, name: str, inside: Set[str] = TYPES) -> list[tuple[Referent, str]]:
        """Return the methods of a name; if `inside` contains function kinds, any function of it.

        Empty if too many files define the name.
        """
        methods: list[tuple[Referent, str]] = []
        paths = self.view.defined_in(name, "python")
        for path in paths if paths != MANY else ():
            symbols = self.view.model(path).symbols
            methods += [
                (Referent(path, at, 0, name), symbol.kind)
                for at, symbol in enumerate(symbols)
                if symbol.name == name
                and symbol.kind in _METHODS
                and (inside is not TYPES or _is_in_type(symbols, symbol))
            ]
        return methods

    def overriding(self, path: bytes, reference: Reference, method: Referent) -> list[Referent]:
        """Return the methods of derived types that may run instead of `method`."""
        model = self.view.model(method.path)
        symbol = model.symbols[method.symbol] if method.symbol >= 0 else None
        if symbol is None or symbol.parent < 0 or not model.spec.submodules:
            return []
        if symbol.kind in _VARIABLES and reference.kind == "call":
            # An attribute is called; it usually holds a function of the same name.
            place = (path, reference.scope, f"{reference.receiver}.{reference.name}")
            is_known = self.resolver.value(*place, reference.line) is not None
            return [] if is_known else self._functions(symbol.name)
        if symbol.kind not in _METHODS or model.symbols[symbol.parent].kind not in TYPES:
            return []
        key = ("overriding", method.path, method.symbol)
        methods = self.resolver.once(key, lambda: self._below(method, symbol), [])
        if methods and self._is_exact(path, reference):
            return []
        return methods

    def _below(self, method: Referent, symbol: Symbol) -> list[Referent]:
        methods: list[Referent] = []
        owner = (method.path, symbol.parent)
        for other, _ in self._named(symbol.name):
            if other[:2] != method[:2]:
                mixin = (other.path, self.view.symbol(other).parent)
                if owner in self._ancestors(mixin) or self._are_joined(mixin, owner):
                    methods.append(other)
        return methods if len(methods) <= _MOST_OVERRIDING else []

    def _ancestors(self, type_: tuple[bytes, int]) -> list[tuple[bytes, int]]:
        return [ancestor[:2] for ancestor in self.resolver.ancestry(Instance(*type_))]

    def _are_joined(self, mixin: tuple[bytes, int], base: tuple[bytes, int]) -> bool:
        """Whether a class in their files derives from both, with the mixin first in its MRO."""
        orders = (
            order
            for path in sorted({mixin[0], base[0]})
            for order in self.resolver.once(
                ("orders", path), partial(self._resolution_orders, path), []
            )
        )
        return any(mixin in order and base in order[order.index(mixin) :] for order in orders)

    def _resolution_orders(self, path: bytes) -> list[list[tuple[bytes, int]]]:
        """Return the ancestors of each class of a file that has at least two."""
        symbols = self.view.model(path).symbols
        types = [(path, at) for at, symbol in enumerate(symbols) if symbol.kind in TYPES]
        return [order for order in map(self._ancestors, types) if len(order) > 2]

    def _is_exact(self, path: bytes, reference: Reference) -> bool:
        """Whether the receiver's exact type is known: a class name, or a new instance."""
        scope, text, line = reference.scope, reference.receiver, reference.line
        head = text.partition(".")[0].partition("(")[0]
        if head == "super":
            return True
        if head in _OWN or "?" in text:
            return False
        model = self.view.model(path)
        at, _ = self.resolver.place(path, scope, head)
        entry = model.names[at].get(head)
        rows = entry.rows if entry is not None and text == head else ()
        if len(rows) == 1 and rows[0].how == "=":
            text, scope, line = rows[0].text, rows[0].scope, rows[0].line
        value = self.resolver.value(path, scope, text.removesuffix("()"), line)
        return isinstance(value, Definition) and self.resolver.is_type(value)

    def _has_open_bases(self, value: Value) -> bool:
        """Whether derived classes may add the missing member, as in a mixin."""
        return any(isinstance(part, Instance) for part in each(value))

    def _is_foreign(self, place: _Place) -> bool:
        """Whether a receiver certainly comes from outside of the view."""
        pending, looked_at = [(place, False)], 0
        while pending:
            looked_at += 1
            source, is_element = pending.pop()
            is_element = is_element or "[" in source[2]
            if is_element and _holds(source[2]):
                return False
            sources = self._sources(source)
            if sources is None or looked_at > _MOST_LOOKED_AT:
                return False
            pending += [(further, is_element) for further in sources]
        return True

    def _sources(self, place: _Place) -> list[_Place] | None:
        """Return the expressions that a value comes from; None if it may be anything."""
        path, scope, text, _ = place
        model, taken = self.view.model(path), steps(text)
        if taken is None:
            return None
        head, rest = taken
        if head[0] in "({`0":
            return [] if head[0] in "0{" else None
        if head == "super":
            return []
        at, _ = self.resolver.place(path, scope, head)
        entry = model.names[at].get(head)
        if entry is None:
            return None if head in _PASSING or model.stars else []
        if entry.imports and not self.resolver.names.lookup(path, scope, head):
            return []
        if entry.imports or entry.symbols:
            return self._behind(place, head, rest)
        if len(entry.rows) == 1 and head in _OWN:
            return self._behind(place, head, rest)
        return self._assigned_sources(path, model, at, entry.rows)

    def _assigned_sources(
        self, path: bytes, model: FileModel, scope: int, rows: tuple[Binding, ...] | list[Binding]
    ) -> list[_Place] | None:
        """Return the expressions that are assigned to a variable; None if it may be anything."""
        sources: list[_Place] = []
        for row in rows:
            if row.how == ":":
                name = row.text.strip("\"'").partition("[")[0]
                if name.rpartition(".")[2] in _OPEN_TYPES:
                    return None
                return None if self.resolver.named_type(path, scope, name) else []
            if row.how == "?":
                return None
            if row.how in {"=", "+"}:
                sources.append((path, row.scope, row.text, row.line))
        return sources

    def _behind(self, place: _Place, head: str, rest: tuple[str, ...]) -> list[_Place] | None:
        """Return the sources of the first step of an expression that cannot be resolved."""
        path, scope, _, line = place
        value, text = self.resolver.value(path, scope, head, line), head
        for step in rest:
            text += step if step[0] in "([" else f".{step}"
            further = self.resolver.value(path, scope, text, line)
            if further is not None:
                value = further
                continue
            if step[0] == "(" and isinstance(value, Definition):
                return self._returned(value)
            members = self.resolver.members(value, step) if step[0] not in "([" else []
            return self._stored(members[0][0]) if members else None
        return None

    def _returned(self, function: Definition) -> list[_Place] | None:
        model = self.view.model(function.path)
        scope = model.own_scope.get(function.symbol, -1)
        if scope < 0:
            return None
        rows = model.of_scope.get(scope, ())
        if any(row.how in {"->", "yield"} for row in rows):
            return None
        return [
            (function.path, row.scope, row.text, row.line) for row in rows if row.how == "return"
        ]

    def _stored(self, referent: Referent) -> list[_Place] | None:
        model = self.view.model(referent.path)
        if model.symbols[referent.symbol].kind != "field":
            return None
        symbol = model.symbols[referent.symbol]
        rows = model.attributes.get(symbol.parent, {}).get(symbol.name, [])
        scope = model.own_scope.get(symbol.parent, 0)
        return self._assigned_sources(referent.path, model, scope, rows) if rows else None


def _holds(text: str) -> bool:
    """Whether an expression makes a collection: `[...]`, `dict()`, `collections.deque()`."""
    return text[:1] in {"{", "["} or text.partition("(")[0].rpartition(".")[2] in _HOLDING


def _is_in_type(symbols: Sequence[Symbol], symbol: Symbol) -> bool:
    return symbol.parent >= 0 and symbols[symbol.parent].kind in TYPES


# The language descriptions of Python and notebooks.

SPECS = {
    "python": LanguageSpec(
        fields_are_inherited=True,
        modules="python_rules:PythonModules",
        named_in_texts=True,
        follows_names=True,
        needs_receiver=True,
        class_names=True,
        keeps_names=True,
        submodules=True,
        ordered=True,
        overload_declarations=True,
        rebinds=True,
        stubs=((b".pyi", (b".py", b".pyx")),),
        named_arguments=True,
        constructors=frozenset({"__init__", "__new__", "__post_init__"}),
        written_constructor="__init__",
        star_spreads=True,
        imports_are_complete=True,
    ),
    "jupyter": LanguageSpec(
        modules="python_rules:PythonModules",
        follows_names=True,
        spaces=True,
        instance=frozenset({"this"}),
    ),
}
