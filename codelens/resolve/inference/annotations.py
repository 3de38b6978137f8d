"""From types as they are written to values of them."""

from __future__ import annotations

from codelens.resolve.facts.file_model import TYPES, FileModel
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Hit
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Either, Named, Part, Returns, Type, ValueOf, parsed
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Function,
    Instance,
    Value,
    each,
    together,
)

# Generic types whose value is, for what can be called on it, that of an argument.
_TRANSPARENT = {
    **dict.fromkeys(
        ("Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired"), 0
    ),
    **dict.fromkeys(("ReadOnly", "TypeGuard"), 0),
    **dict.fromkeys(("Readonly", "Partial", "NonNullable", "Omit"), 0),
}
_TYPE_NAMES = frozenset({"type", "Type"})
_SELF_TYPES = frozenset({"Self", "this"})


class Annotations:
    """Values of types."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view, self.names = resolver, resolver.view, resolver.names
        self.once = resolver.once

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of the type that a text says, in a scope."""
        key = ("type", path, scope, text, me)
        return self.once(key, lambda: self._said(path, scope, text, me), None)

    def _said(self, path: bytes, scope: int, text: str, me: Value) -> Value:
        model = self.view.model(path)
        forward = model is not None and model.spec.submodules
        return self._of(path, scope, parsed(_bound(text), forward=forward), me)

    def _of(self, path: bytes, scope: int, one: Type, me: Value) -> Value:
        if isinstance(one, Named):
            return self._of_name(path, scope, one, me)
        if isinstance(one, Either):
            return together([self._of(path, scope, part, me) for part in one.parts])
        if isinstance(one, ValueOf):
            return self.resolver.value(path, scope, one.expression, -1)
        if isinstance(one, Returns):
            return Function(self._of(path, scope, one.result, me))
        if isinstance(one, Part):
            whole = self._of(path, scope, one.whole, me)
            if not one.name:
                return together([self.resolver.element(each_, "[]") for each_ in each(whole)])
            return together([self.resolver.member_value(each_, one.name) for each_ in each(whole)])
        return None

    def _of_name(self, path: bytes, scope: int, one: Named, me: Value) -> Value:
        name = one.name.rpartition(".")[2]
        if name in _SELF_TYPES and name in {one.name, "Self"}:
            return me if me is not None else self.resolver.instance_around(path, scope)
        if one.name == "[]":
            return Container("[]", tuple(self._of(path, scope, arg, me) for arg in one.args))
        hits = self.named_type(path, scope, one.name)
        if hits and hits[0].symbol >= 0 and self._is_variable_type(hits[0]):
            return self._given_for(path, scope, one.name, me)
        if hits:
            args = tuple(self._of(path, scope, arg, me) for arg in one.args)
            return together([self.typed(hit, args, me) for hit in hits[:1]])
        return self._foreign(path, scope, name, one.args, me)

    def _foreign(
        self, path: bytes, scope: int, name: str, args: tuple[Type, ...], me: Value
    ) -> Value:
        if name in {"Union", "Optional"}:
            return together([self._of(path, scope, arg, me) for arg in args])
        if name in {"ReturnType", "InstanceType", "Awaited"} and args:
            of = self._of(path, scope, args[0], me)
            leads = self.resolver.awaited if name == "Awaited" else self.resolver.called
            return together([leads(value) for value in each(of)])
        if name in _TYPE_NAMES and args:
            of = self._of(path, scope, args[0], me)
            if isinstance(of, Instance):
                return Definition(of.path, of.symbol)
            return None
        if name == "Callable" and len(args) == 2:
            return Function(self._of(path, scope, args[1], me))
        if name in _TRANSPARENT and len(args) > _TRANSPARENT[name]:
            return self._of(path, scope, args[_TRANSPARENT[name]], me)
        if args:
            return Container(name, tuple(self._of(path, scope, arg, me) for arg in args))
        return None

    def _is_variable_type(self, hit: Hit) -> bool:
        """Python's `T = TypeVar("T")`."""
        rows = self.names.rows(hit)
        return len(rows) == 1 and rows[0].text.rpartition(".")[2] == "TypeVar()"

    def _varies(self, path: bytes, scope: int, name: str) -> bool:
        hits = self.names.lookup(path, scope, name)
        return bool(hits) and hits[0].symbol >= 0 and self._is_variable_type(hits[0])

    def _given_for(self, path: bytes, scope: int, name: str, me: Value) -> Value:
        """What stands for a type variable in an instance of the class around."""
        model = self.view.model(path)
        symbol = model.type_around(scope) if model is not None else -1
        if symbol < 0 and isinstance(me, Instance) and me.path == path:
            # What is said of a class stands outside of it: its bases.
            symbol = me.symbol
        if model is None or symbol < 0:
            return None
        order = [one for one in model.variables(symbol) if self._varies(path, scope, one)]
        if name not in order:
            return None
        found = [self._argument(one, path, symbol, order.index(name)) for one in each(me)]
        return together(found)

    def named_type(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """What a type's name means, dots in it included."""
        first, *rest = name.split(".")
        hits = self.names.lookup(path, scope, first, types=not rest)
        for at, part in enumerate(rest):
            last = at == len(rest) - 1
            hits = [inner for hit in hits for inner in self._inside(hit, part, last)]
        return hits

    def _inside(self, hit: Hit, name: str, types: bool) -> list[Hit]:
        if hit.symbol == MODULE:
            return self.names.exported(hit.path, name, types=types) or self.names.submodule(
                hit.path, name
            )
        model = self.view.model(hit.path)
        if model is None or hit.symbol < 0:
            return []
        return [
            Hit(hit.path, at, 0, name) for at in model.children.get(hit.symbol, {}).get(name, ())
        ]

    def typed(self, hit: Hit, args: tuple[Value, ...], me: Value) -> Value:
        """A value of a type, with arguments, as it is said of a value."""
        model = self.view.model(hit.path)
        if model is None:
            return None
        if hit.symbol >= 0:
            kind = model.symbols[hit.symbol].kind
            if kind == "type":
                return self._alias(hit, args, model)
            if kind in TYPES:
                return Instance(hit.path, hit.symbol, args)
            rows = [row for row in self.names.rows(hit) if row.how == "="]
            if len(rows) == 1:
                # Python: `Alias = Class`.
                value = self.resolver.value(hit.path, hit.scope, rows[0].text, rows[0].line)
                if isinstance(value, Definition) and self.resolver.is_type(value):
                    return Instance(value.path, value.symbol, args)
            return None
        if hit.symbol == LOCAL:
            return self._parameter(hit, model, me)
        return None

    def _parameter(self, hit: Hit, model: FileModel, me: Value) -> Value:
        """A type parameter: what it stands for, else its bound."""
        order = model.parameters.get(hit.scope, [])
        scope = model.scopes[hit.scope]
        if hit.name in order and scope.kind == "class":
            for one in each(me):
                found = self._argument(one, hit.path, scope.symbol, order.index(hit.name))
                if found is not None:
                    return found
        rows = [row for row in self.names.rows(hit) if row.how == "type"]
        bounds = [row.text for row in rows if row.text]
        if bounds:
            return self.of_type(hit.path, hit.scope, bounds[0], me)
        if not rows and not model.spec.spaces:
            values = [row for row in self.names.rows(hit) if row.how == "="]
            if len(values) == 1:
                value = self.resolver.value(hit.path, hit.scope, values[0].text, values[0].line)
                if isinstance(value, Definition) and self.resolver.is_type(value):
                    return Instance(value.path, value.symbol)
        return None

    def _argument(self, me: Value, path: bytes, symbol: int, at: int) -> Value:
        if not isinstance(me, Instance):
            return None
        for one in self.resolver.ancestry(me):
            if (one.path, one.symbol) == (path, symbol) and at < len(one.args):
                return one.args[at]
        return None

    def _alias(self, hit: Hit, args: tuple[Value, ...], model: FileModel) -> Value:
        scope = model.own_scope.get(hit.symbol)
        if scope is None:
            return None
        rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
        if not rows:
            return None
        found = self.of_type(hit.path, scope, rows[0].text, Instance(hit.path, hit.symbol, args))
        return found if found is not None else Instance(hit.path, hit.symbol, args)


def _bound(text: str) -> str:
    return text.removeprefix("extends ").removeprefix(": ")
