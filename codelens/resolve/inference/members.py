"""Members: of types and their bases, of modules and namespaces."""

from __future__ import annotations

from functools import partial

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.collection_members import member
from codelens.resolve.inference.name_lookup import LOCAL, Hit, latest
from codelens.resolve.inference.object_literals import parts
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Module,
    Record,
    Several,
    Super,
    Value,
    each,
    together,
)
from codelens.resolve.languages.script.script_this import added, of_side
from codelens.types import Binding

_MOST_BASES = 100
_LONG_LINE = 8
"""Types whose bases are being looked up, one for the other; more are looked up from the far end."""


class Members:
    """Finds members."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view, self.names = resolver, resolver.view, resolver.names
        self.once = resolver.once
        self._rising = 0
        self._round: set[tuple[bytes, int]] = set()
        """Types of which a long line of bases comes back to itself, or to another of the line."""

    def ancestry(self, one: Instance) -> list[Instance]:
        """A type and its bases, nearest first, each with its arguments."""
        make = self._walked if one[:2] in self._round else self._ancestry
        return self.once(("mro", one), lambda: make(one), [one])

    def _walked(self, one: Instance) -> list[Instance]:
        """As `ancestry`, without asking for that of a base: it would come back to this."""
        found = {one[:2]: one}
        pending = [one]
        for here in pending:
            for base in self.once(("bases", here), partial(self.bases, here), []):
                if base[:2] not in found and len(found) <= _MOST_BASES:
                    found[base[:2]] = base
                    pending.append(base)
        return pending

    def _ancestry(self, one: Instance) -> list[Instance]:
        self._rising += 1
        try:
            if self._rising == _LONG_LINE:
                for far in self._far_bases(one):
                    self.ancestry(far)
                if one[:2] in self._round:
                    return self._walked(one)
            found = {one[:2]: one}
            for base in self.bases(one):
                for further in self.ancestry(base):
                    if len(found) > _MOST_BASES:
                        break
                    if further[:2] != one[:2]:
                        # What several bases share stands behind all of them.
                        found.pop(further[:2], None)
                        found[further[:2]] = further
        finally:
            self._rising -= 1
        return list(found.values())

    def _far_bases(self, one: Instance) -> list[Instance]:
        """All that a type derives from, the farthest first; none, where one is its own base.

        Asked for in this order, a line of any length keeps few questions open at once; of one
        that opens too many nothing could be remembered.
        """
        done: dict[tuple[bytes, int], Instance] = {}
        line = {one[:2]: (one, iter(self.bases(one)))}
        while line:
            key, (own, bases) = next(reversed(line.items()))
            base = next(bases, None)
            if base is None:
                del line[key]
                done[key] = own
            elif base[:2] in line:
                self._round.update(line)
                return []
            elif base[:2] not in done:
                line[base[:2]] = (base, iter(self.bases(base)))
        return list(done.values())[:-1]

    def bases(self, one: Instance) -> list[Instance]:
        """The bases of a type that are types of the view."""
        model = self.view.model(one.path)
        if model is None:
            return []
        found: list[Instance] = []
        for symbol in self._merged(model, one.symbol):
            scope = model.own_scope.get(symbol)
            if scope is None:
                continue
            place = scope if model.spec.spaces else model.scopes[scope].parent
            for row in model.of_scope.get(scope, ()):
                if row.how in {"base", "implements"}:
                    value = self.resolver.of_type(one.path, place, row.text, one)
                    if value is None and row.how == "base":
                        value = self._called_base(one.path, place, row)
                    for base in each(value):
                        if isinstance(base, Instance) and base[:2] != (one.path, one.symbol):
                            found.append(base)
        return found

    def _called_base(self, path: bytes, scope: int, row: Binding) -> Value:
        value = self.resolver.value(path, scope, row.text, row.line)
        if isinstance(value, Definition) and self.resolver.is_type(value):
            return Instance(value.path, value.symbol)
        return None

    def _merged(self, model: FileModel, symbol: int) -> list[int]:
        """A type with the others of its name in its place: merged declarations."""
        one = model.symbols[symbol]
        if not model.spec.spaces:
            return [symbol]
        entry = model.names[model.home[symbol]].get(one.name)
        if entry is None:
            return [symbol]
        return [
            at
            for at in entry.symbols
            if model.symbols[at].kind in TYPES or model.symbols[at].kind == "module" or at == symbol
        ]

    def members(self, value: Value, name: str) -> list[tuple[Hit, Value]]:
        """Members of that name, each with what it was found in."""
        if isinstance(value, Several):
            found = [pair for one in value.values for pair in self.members(one, name)]
            return list(dict.fromkeys(found))
        key = ("member", value, name)
        return self.once(key, lambda: self._members(value, name), [])

    def _members(self, value: Value, name: str) -> list[tuple[Hit, Value]]:
        if isinstance(value, Module):
            hits = self.names.exported(value.path, name) or self.names.submodule(value.path, name)
            if hits or name == "default":
                return [(hit, value) for hit in hits]
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
        return []

    def _of_record(self, value: Record, name: str) -> list[tuple[Hit, Value]]:
        """A name that an object has by itself (`{name}`), or takes over with others (`...all`)."""
        for key, text in parts(value.text):
            if key == name:
                hits = [] if text else self.names.lookup(value.path, value.scope, name)
                return [(hit, value) for hit in hits if hit.symbol != LOCAL]
            if not key:
                whole = self.resolver.value(value.path, value.scope, text, value.line)
                found = self.members(whole, name)
                if found or not isinstance(whole, (Record, Definition, Instance, Module)):
                    return found
        return []

    def _in_record(self, value: Record, name: str) -> Value:
        for key, text in parts(value.text):
            if key == name:
                return self.resolver.value(value.path, value.scope, text or name, value.line)
            if not key:
                whole = self.resolver.value(value.path, value.scope, text, value.line)
                found = self.member_value(whole, name)
                if found is not None or not self._is_told(whole, name):
                    return found
        return None

    def _is_told(self, whole: Value, name: str) -> bool:
        """It can be told that something has no such member."""
        return isinstance(whole, (Record, Definition, Instance, Module)) and not self.members(
            whole, name
        )

    def _above(self, value: Super, name: str) -> list[tuple[Hit, Value]]:
        if not isinstance(value.of, (Instance, Definition)):
            return []
        line = self.ancestry(Instance(value.path, value.symbol))
        at = next((at for at, one in enumerate(line) if one[:2] == value[:2]), -1)
        return self._of_types(line[at + 1 :], name, value.of) if at >= 0 else []

    def _static(self, value: Definition, name: str) -> list[tuple[Hit, Value]]:
        model = self.view.model(value.path)
        if model is None:
            return []
        if model.symbols[value.symbol].kind in TYPES:
            own = Instance(value.path, value.symbol)
            return self._of_types(self.ancestry(own), name, value)
        found: list[tuple[Hit, Value]] = []
        for symbol in self._merged(model, value.symbol):
            for at in model.children.get(symbol, {}).get(name, ()):
                scope = model.own_scope.get(symbol, 0)
                found.append((Hit(value.path, at, scope, name), value))
        if not found and model.spec.spaces:
            places = added(model, value.symbol, name)
            found = [(Hit(value.path, at, 0, name), value) for at in places[-1:]]
        return found

    def _of_types(self, line: list[Instance], name: str, value: Value) -> list[tuple[Hit, Value]]:
        for one in line:
            model = self.view.model(one.path)
            if model is None:
                continue
            for symbol in self._merged(model, one.symbol):
                places = model.children.get(symbol, {}).get(name)
                if places:
                    scope = model.own_scope.get(symbol, 0)
                    if model.spec.spaces:
                        static = isinstance(value, Definition)
                        places = of_side(model, symbol, places, static=static)
                        if not places:
                            continue
                    else:
                        places = latest(model, tuple(places))
                        if model.spec.submodules and self._set_by_base(model, places, one, line):
                            continue
                    return [(Hit(one.path, at, scope, name), value) for at in places]
        return []

    def _set_by_base(
        self, model: FileModel, places: tuple[int, ...], one: Instance, line: list[Instance]
    ) -> bool:
        """Python's `self.x = 1` calls the setter of a property that a base has."""
        symbol = model.symbols[places[0]]
        if symbol.kind != "field" or symbol.name not in model.attributes.get(one.symbol, {}):
            return False
        for base in line[line.index(one) + 1 :]:
            far = self.view.model(base.path)
            found = far.children.get(base.symbol, {}).get(symbol.name) if far is not None else None
            if far is not None and found:
                return far.symbols[found[0]].kind == "property"
        return False

    def member_value(self, value: Value, name: str) -> Value:
        """The value of a member."""
        key = ("member value", value, name)
        return self.once(key, lambda: self._member_value(value, name), None)

    def _member_value(self, value: Value, name: str) -> Value:
        if isinstance(value, Record):
            return self._in_record(value, name)
        if isinstance(value, Container):
            return member(value, name)
        found = self.members(value, name)
        if isinstance(value, Module):
            hits = self.resolver.chosen([hit for hit, _ in found])
            return together([self.resolver.value_of(hit, hit.path, -1, -1) for hit in hits])
        values = [self.taken(hit, value) for hit, _ in found[:1]]
        return together(values)

    def taken(self, hit: Hit, me: Value) -> Value:
        """The value of one member of something."""
        model = self.view.model(hit.path)
        if model is None:
            return None
        symbol = model.symbols[hit.symbol]
        if symbol.kind in CALLABLE:
            return Definition(hit.path, hit.symbol, me)
        if symbol.kind in TYPES or symbol.kind == "module":
            return Definition(hit.path, hit.symbol)
        scope = model.own_scope.get(hit.symbol)
        if scope is not None and model.scopes[scope].kind == "function":
            if isinstance(me, Definition) and model.spec.submodules:
                # The property itself, and not what it gives.
                return None
            return self.resolver.result(hit.path, hit.symbol, me)
        if symbol.kind == "member" and symbol.parent >= 0:
            return Instance(hit.path, symbol.parent)
        owner = symbol.parent
        rows = self._attribute_rows(model, owner, symbol.name, hit.symbol)
        declared = [row for row in rows if row.how == ":"]
        if declared:
            told = self.resolver.of_type(hit.path, declared[0].scope, declared[0].text, me)
            return self._described(told) if model.spec.submodules else told
        return self.resolver.agreed(hit.path, [row for row in rows if row.how in {"=", "+", "?"}])

    def _described(self, value: Value) -> Value:
        """What reading an attribute gives whose value is a descriptor of Python."""
        if isinstance(value, Instance):
            for hit, _ in self.members(value, "__get__")[:1]:
                return self.resolver.result(hit.path, hit.symbol, value)
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
