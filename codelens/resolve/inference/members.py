"""Finds the members of values: object literals, containers, types with their bases, modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.name_lookup import LOCAL, Referent, latest
from codelens.resolve.inference.resolver import ExtraEdge, Resolver
from codelens.resolve.inference.type_text import Fields
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Function,
    Instance,
    Module,
    Record,
    Several,
    Shape,
    Super,
    Value,
    each,
    together,
)
from codelens.resolve.languages.script import added, of_side
from codelens.types import Binding

_SPREAD = "..."
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@lru_cache(maxsize=5_000)
def parts(text: str) -> tuple[tuple[str, str], ...]:
    """Return the parts of `{a,b:c,...d}` as (key, value), last first.

    A spread has no key; a shorthand key has no value.
    """
    entries: list[tuple[str, str]] = []
    for part in _split(text[1:-1]):
        if part.startswith(_SPREAD):
            entries.append(("", part[len(_SPREAD) :]))
        else:
            key, _, value = part.partition(":")
            entries.append((key, value))
    return tuple(reversed(entries))


def _split(text: str) -> list[str]:
    """Split a text at the commas outside of brackets and types."""
    depth, start = 0, 0
    quoted = False
    texts: list[str] = []
    for at, sign in enumerate(text):
        quoted ^= sign == "`"
        if quoted:
            continue
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if sign == "," and not depth:
            texts.append(text[start:at])
            start = at + 1
    return [*texts, text[start:]]


# The results of methods of lists, mappings and similar containers, by their element types.

PAIRS = frozenset(
    "dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict Map Record "
    "WeakMap ReadonlyMap".split()
)
_ROWS = frozenset(
    "list List Sequence MutableSequence deque Deque set Set AbstractSet MutableSet frozenset "
    "FrozenSet [] Array ReadonlyArray ReadonlySet".split()
)
REFS = frozenset("Ref ShallowRef ComputedRef WritableComputedRef ModelRef".split())
"""The types of Vue that hold a value as their `value`."""
_TUPLES = frozenset({"tuple", "Tuple"})
_ONE_OF_PAIRS = frozenset("get pop setdefault".split())
_ONE_OF_ROWS = frozenset("pop popleft shift at find findLast".split())
_THE_SAME = frozenset("copy filter slice concat reverse toReversed sort toSorted values".split())


def member(value: Container, name: str) -> Value:  # noqa: PLR0911 - a table of cases
    """Return a container's method as its result; `#1` is the second part of a tuple."""
    if value.name in PAIRS and len(value.args) > 1:
        return _of_pairs(value, name)
    if not value.args:
        return None
    first = value.args[0]
    if name.startswith("#"):
        at = int(name[1:]) if name[1:].isdigit() else -1
        if value.name in _TUPLES:
            return value.args[at] if 0 <= at < len(value.args) else None
        return first if value.name in _ROWS else None
    if value.name in REFS and name == "value":
        return first
    if value.name == "ContextVar":
        return Function(first) if name == "get" else None
    if value.name in _ROWS:
        if name in _ONE_OF_ROWS:
            return Function(first)
        return Function(value) if name in _THE_SAME else None
    return None


def _of_pairs(value: Container, name: str) -> Value:
    key, item = value.args[0], value.args[-1]
    if name in _ONE_OF_PAIRS:
        return Function(item)
    if name == "values":
        return Function(Container("Iterable", (item,)))
    if name == "keys":
        return Function(Container("Iterable", (key,)))
    if name in {"items", "entries"}:
        return Function(Container("Iterable", (Container("tuple", (key, item)),)))
    return Function(value) if name == "copy" else None


# Members of types and their bases, of modules and namespaces.

_MOST_BASES = 100
_MOST_OWNERS = 50
"""If more places declare a name, it does not count as a member of an anonymous object type."""
_LONG_CHAIN = 8
"""In a chain of bases longer than this, the lookup starts from the far end."""


class Members:
    """Finds members."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view, self.names = resolver, resolver.view, resolver.names
        self.once = resolver.once
        self._rising = 0
        self._cyclic: set[tuple[bytes, int]] = set()
        """Types in a cyclic chain of bases."""

    def ancestry(self, own: Instance) -> list[Instance]:
        """Return a type and its bases, nearest first, each with its type arguments."""
        make = self._walked if own[:2] in self._cyclic else self._ancestry
        return self.once(("mro", own), lambda: make(own), [own])

    def _walked(self, own: Instance) -> list[Instance]:
        """As `ancestry`, without calling it for the bases, because that would recurse back here."""
        seen = {own[:2]: own}
        pending = [own]
        for here in pending:
            for base in self.once(("bases", here), partial(self.bases, here), []):
                if base[:2] not in seen and len(seen) <= _MOST_BASES:
                    seen[base[:2]] = base
                    pending.append(base)
        return pending

    def _ancestry(self, own: Instance) -> list[Instance]:
        self._rising += 1
        try:
            if self._rising == _LONG_CHAIN:
                for far_base in self._far_bases(own):
                    self.ancestry(far_base)
                if own[:2] in self._cyclic:
                    return self._walked(own)
            ancestors = {own[:2]: own}
            for base in self.bases(own):
                for further in self.ancestry(base):
                    if len(ancestors) > _MOST_BASES:
                        break
                    if further[:2] != own[:2]:
                        # A shared base comes after all the types that share it.
                        ancestors.pop(further[:2], None)
                        ancestors[further[:2]] = further
        finally:
            self._rising -= 1
        return list(ancestors.values())

    def _far_bases(self, start: Instance) -> list[Instance]:
        """Return all bases of a type, farthest first; an empty list if they form a cycle.

        In this order, a long chain keeps few queries open at once. Results of queries beyond the
        nesting limit could not be cached.
        """
        done: dict[tuple[bytes, int], Instance] = {}
        chain = {start[:2]: (start, iter(self.bases(start)))}
        while chain:
            key, (own, bases) = next(reversed(chain.items()))
            base = next(bases, None)
            if base is None:
                del chain[key]
                done[key] = own
            elif base[:2] in chain:
                self._cyclic.update(chain)
                return []
            elif base[:2] not in done:
                chain[base[:2]] = (base, iter(self.bases(base)))
        return list(done.values())[:-1]

    def bases(self, own: Instance) -> list[Instance]:
        """Return the bases of a type that are types of the view."""
        model = self.view.model(own.path)
        bases: list[Instance] = []
        for symbol in self._merged(model, own.symbol):
            scope = model.own_scope.get(symbol)
            if scope is None:
                continue
            place = scope if model.spec.spaces else model.scopes[scope].parent
            for row in model.of_scope.get(scope, ()):
                if row.how in {"base", "implements"}:
                    value = self.resolver.of_type(own.path, place, row.text, own)
                    if value is None and row.how == "base":
                        value = self._called_base(own.path, place, row)
                    for base in each(value):
                        if isinstance(base, Instance) and base[:2] != (own.path, own.symbol):
                            bases.append(base)
        return bases

    def _called_base(self, path: bytes, scope: int, row: Binding) -> Value:
        text = row.text.partition("<")[0]
        value = self.resolver.value(path, scope, text, row.line)
        if isinstance(value, Definition) and self.resolver.is_type(value):
            return Instance(value.path, value.symbol)
        return None

    def _merged(self, model: FileModel, symbol: int) -> list[int]:
        """Return a type with its merged declarations, which have its name in the same place."""
        definition = model.symbols[symbol]
        if not model.spec.spaces:
            return [symbol]
        entry = model.names[model.home[symbol]].get(definition.name)
        if entry is None:
            return [symbol]
        return [
            at
            for at in entry.symbols
            if model.symbols[at].kind in TYPES or model.symbols[at].kind == "module" or at == symbol
        ]

    def members(self, value: Value, name: str) -> list[tuple[Referent, Value]]:
        """Return the members of that name, each with the value that owns it."""
        if isinstance(value, Several):
            pairs = [pair for part in value.values for pair in self.members(part, name)]
            return list(dict.fromkeys(pairs))
        key = ("member", value, name)
        return self.once(key, lambda: self._members(value, name), [])

    def _members(self, value: Value, name: str) -> list[tuple[Referent, Value]]:
        if isinstance(value, Module):
            referents = self.names.exported(value.path, name) or self.names.submodule(
                value.path, name
            )
            if referents or name == "default":
                return [(referent, value) for referent in referents]
            whole = self.resolver.handed(value)
            return self.members(whole, name) if whole is not None else []
        if isinstance(value, Definition):
            return self._static(value, name)
        if isinstance(value, Instance):
            return self._of_types(self.ancestry(value), name, value)
        if isinstance(value, Super):
            return self._above(value, name)
        if isinstance(value, Record):
            return self._of_record(value, name)
        return self._of_shape(value, name) if isinstance(value, Shape) else []

    def _of_shape(self, value: Shape, name: str) -> list[tuple[Referent, Value]]:
        """Return a member of an anonymous object type, if one place declares its members."""
        model = self.view.model(value.path)
        if not model.spec.spaces or not isinstance(value.type_, Fields):
            return []
        fields = [field for field, _ in value.type_.members]
        owners = self.once(("owners", value.path), lambda: _owners(model), {}).get(name, ())
        if name not in fields or len(owners) > _MOST_OWNERS:
            return []
        declaring = [at for at in owners if all(field in model.children[at] for field in fields)]
        symbols = model.children[declaring[0]][name] if len(declaring) == 1 else ()
        symbols = [at for at in symbols if model.symbols[at].kind in _IN_TYPES]
        return [(Referent(value.path, at, 0, name), value) for at in symbols[:1]]

    def _of_record(self, value: Record, name: str) -> list[tuple[Referent, Value]]:
        """Return the key of an object literal: its own (`{name}`) or from a spread (`...all`)."""
        for key, text in parts(value.text):
            if key == name:
                referents = [] if text else self.names.lookup(value.path, value.scope, name)
                return [(referent, value) for referent in referents if referent.symbol != LOCAL]
            if not key:
                whole = self.resolver.value(value.path, value.scope, text, value.line)
                pairs = self.members(whole, name)
                if pairs or not isinstance(whole, (Record, Definition, Instance, Module)):
                    return pairs
        return []

    def _in_record(self, value: Record, name: str) -> Value:
        for key, text in parts(value.text):
            if key == name:
                return self.resolver.value(value.path, value.scope, text or name, value.line)
            if not key:
                whole = self.resolver.value(value.path, value.scope, text, value.line)
                member_ = self.member_value(whole, name)
                if member_ is not None or not self._is_without(whole, name):
                    return member_
        return None

    def _is_without(self, whole: Value, name: str) -> bool:
        """Whether a value certainly does not have such a member."""
        return isinstance(whole, (Record, Definition, Instance, Module)) and not self.members(
            whole, name
        )

    def _above(self, value: Super, name: str) -> list[tuple[Referent, Value]]:
        if not isinstance(value.of, (Instance, Definition)):
            return []
        ancestors = self.ancestry(Instance(value.path, value.symbol))
        at = next((at for at, type_ in enumerate(ancestors) if type_[:2] == value[:2]), -1)
        return self._of_types(ancestors[at + 1 :], name, value.of) if at >= 0 else []

    def _static(self, value: Definition, name: str) -> list[tuple[Referent, Value]]:
        model = self.view.model(value.path)
        if model.symbols[value.symbol].kind in TYPES:
            own = Instance(value.path, value.symbol)
            return self._of_types(self.ancestry(own), name, value)
        pairs: list[tuple[Referent, Value]] = []
        for symbol in self._merged(model, value.symbol):
            for at in model.children.get(symbol, {}).get(name, ()):
                scope = model.own_scope.get(symbol, 0)
                pairs.append((Referent(value.path, at, scope, name), value))
        if not pairs and model.spec.spaces:
            places = added(model, value.symbol, name)
            pairs = [(Referent(value.path, at, 0, name), value) for at in places[-1:]]
        return pairs

    def _of_types(
        self, ancestors: list[Instance], name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        for type_ in ancestors:
            model = self.view.model(type_.path)
            for symbol in self._merged(model, type_.symbol):
                places = model.children.get(symbol, {}).get(name)
                if places:
                    scope = model.own_scope.get(symbol, 0)
                    if model.spec.spaces:
                        static = isinstance(value, Definition)
                        places = of_side(model, symbol, places, static=static)
                        if not places or _are_alternatives(model, symbol, places):
                            continue
                    else:
                        places = latest(model, tuple(places))
                        if model.spec.submodules and self._set_by_base(
                            model, places, type_, ancestors
                        ):
                            continue
                    return [(Referent(type_.path, at, scope, name), value) for at in places]
        return []

    def _set_by_base(
        self, model: FileModel, places: tuple[int, ...], own: Instance, ancestors: list[Instance]
    ) -> bool:
        """Whether Python's `self.x = 1` calls a property setter of a base."""
        symbol = model.symbols[places[0]]
        if symbol.kind != "field" or symbol.name not in model.attributes.get(own.symbol, {}):
            return False
        for base in ancestors[ancestors.index(own) + 1 :]:
            base_model = self.view.model(base.path)
            places_of_base = base_model.children.get(base.symbol, {}).get(symbol.name)
            if places_of_base:
                return base_model.symbols[places_of_base[0]].kind == "property"
        return False

    def member_value(self, value: Value, name: str) -> Value:
        """Return the value of a member."""
        key = ("member value", value, name)
        return self.once(key, lambda: self._member_value(value, name), None)

    def _member_value(self, value: Value, name: str) -> Value:
        if isinstance(value, Record):
            return self._in_record(value, name)
        if isinstance(value, Container):
            return member(value, name)
        if isinstance(value, Shape):
            return self.resolver.in_shape(value, name)
        pairs = self.members(value, name)
        if isinstance(value, Module):
            referents = self.resolver.chosen([referent for referent, _ in pairs])
            return together(
                [self.resolver.value_of(referent, referent.path, -1, -1) for referent in referents]
            )
        values = [self.taken(referent, value) for referent, _ in pairs[:1]]
        return together(values)

    def taken(self, referent: Referent, me: Value) -> Value:
        """Return the value of a member that was found on an owner."""
        model = self.view.model(referent.path)
        symbol = model.symbols[referent.symbol]
        if symbol.kind in CALLABLE:
            return Definition(referent.path, referent.symbol, me)
        if symbol.kind in TYPES or symbol.kind == "module":
            return Definition(referent.path, referent.symbol)
        scope = model.own_scope.get(referent.symbol)
        if scope is not None and model.scopes[scope].kind == "function":
            if isinstance(me, Definition) and model.spec.submodules:
                # The property itself, not its value.
                return None
            return self.resolver.result(referent.path, referent.symbol, me)
        if symbol.kind == "member" and symbol.parent >= 0:
            return Instance(referent.path, symbol.parent)
        owner = symbol.parent
        rows = self._attribute_rows(model, owner, symbol.name, referent.symbol)
        declared = [row for row in rows if row.how == ":"]
        if len(declared) > 1 and model.spec.spaces:
            # Prefer the type's own declaration over those in nested object types.
            declared.sort(key=lambda row: row.line != symbol.name_line)
        if declared:
            declared_value = self.resolver.of_type(
                referent.path, declared[0].scope, declared[0].text, me
            )
            return self._described(declared_value) if model.spec.submodules else declared_value
        return self.resolver.agreed(
            referent.path, [row for row in rows if row.how in {"=", "+", "?"}]
        )

    def _described(self, value: Value) -> Value:
        """Return the value of an attribute that is a Python descriptor."""
        if isinstance(value, Instance):
            for referent, _ in self.members(value, "__get__")[:1]:
                return self.resolver.result(referent.path, referent.symbol, value)
        return value

    def _attribute_rows(
        self, model: FileModel, owner: int, name: str, symbol: int
    ) -> list[Binding]:
        scope = model.own_scope.get(owner)
        rows: list[Binding] = []
        if scope is not None:
            entry = model.names[scope].get(name)
            rows += [row for row in entry.rows if row.how != "let"] if entry is not None else []
        rows += model.attributes.get(owner, {}).get(name, [])
        if not rows:
            line = model.symbols[symbol].name_line
            rows = [row for row in model.bindings if row.line == line and row.name == name]
        return rows


# Methods of an anonymous class: `new Base() { ... }`, `object : Base { ... }`.


def unnamed_overrides(
    path: bytes,
    model: FileModel,
    resolver: Resolver,
    takes: Callable[[Referent], int] = lambda _: 0,
) -> Iterator[ExtraEdge]:
    """Yield the methods of anonymous classes, with the methods of bases that they override.

    Args:
        path: the file.
        model: its facts.
        resolver: finds the bases.
        takes: returns the maximum number of arguments, in which overrides agree with their base.
    """
    unnamed = {
        at
        for at, scope in enumerate(model.scopes)
        if scope.kind == "class" and scope.symbol < 0 and at in model.of_scope
    }
    for at, symbol in enumerate(model.symbols if unnamed else ()):
        body = model.own_scope.get(at, 0)
        scope = model.scopes[body].parent if body else model.home[at]
        if scope not in unnamed or symbol.kind not in CALLABLE:
            continue
        own = takes(Referent(path, at, scope, symbol.name))
        methods = (
            method
            for row in model.of_scope[scope]
            if row.how in {"base", "implements"}
            for base in each(resolver.of_type(path, model.scopes[scope].parent, row.text))
            for method, _ in resolver.members(base, symbol.name)
            if method.symbol >= 0 and takes(method) == own
        )
        for method in dict.fromkeys(methods):
            yield ExtraEdge(at, symbol.name, symbol.name_line, method, "override")


def _are_alternatives(model: FileModel, owner: int, places: Sequence[int]) -> bool:
    """Whether any of these may be meant: `kind` of `{ kind: "a" } | { kind: "b" }`."""
    return (
        len(places) > 1
        and model.symbols[owner].kind == "type"
        and all(model.symbols[at].kind == "property" for at in places)
    )


def _owners(model: FileModel) -> dict[str, list[int]]:
    """Return member name -> the definitions that have such a member, without named types."""
    owners: dict[str, list[int]] = {}
    for owner, members in model.children.items():
        if model.symbols[owner].kind in _NAMED_TYPES:
            continue
        for name, symbols in members.items():
            if any(model.symbols[at].kind in _IN_TYPES for at in symbols):
                owners.setdefault(name, []).append(owner)
    return owners


_NAMED_TYPES = frozenset({"interface", "enum"})
_IN_TYPES = frozenset({"property", "method", "function"})
