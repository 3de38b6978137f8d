"""Evaluates type annotations to values."""

from __future__ import annotations

from collections.abc import Callable

from codelens.resolve.file_model import TYPES, FileModel
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Referent
from codelens.resolve.inference.resolver import Resolver, Signature
from codelens.resolve.inference.type_text import (
    Alternatives,
    Both,
    Either,
    Fields,
    Mapped,
    Named,
    Part,
    Returns,
    Type,
    ValueOf,
    alternatives,
    function_parts,
    parsed,
)
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Function,
    Instance,
    Shape,
    Value,
    alike,
    each,
    together,
)
from codelens.types import Scope

# Generic types whose members are those of one of their type arguments.
_TRANSPARENT = {
    **dict.fromkeys(
        ("Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired"), 0
    ),
    **dict.fromkeys(("ReadOnly", "TypeGuard"), 0),
    **dict.fromkeys(("Readonly", "Partial", "NonNullable", "Omit"), 0),
}
_UNTYPED = frozenset({":", "?"})
"""Kinds of rows (annotated, unknown value) that do not make a variable an alias of a type."""
_TYPE_NAMES = frozenset({"type", "Type"})
_SELF_TYPES = frozenset({"Self", "this"})
_NEVER = Named("never")
_MOST_ALIASES, _MOST_ROUNDS = 10, 2
"""The longest chain of aliases, and how often one alias may recur in it."""


class Annotations:
    """Evaluates types to values."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view, self.names = resolver, resolver.view, resolver.names
        self.once = resolver.once
        self._expanding: list[tuple[bytes, int]] = []
        """The aliases that are being expanded, outermost first."""

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """Return a value of the type that a text denotes in a scope."""
        key = ("type", path, scope, text, me)
        return self.once(key, lambda: self._of_text(path, scope, text, me), None)

    def _of_text(self, path: bytes, scope: int, text: str, me: Value) -> Value:
        forward = self.view.model(path).spec.submodules
        return self._of(path, scope, parsed(_bound(text), forward=forward), me)

    def _of(self, path: bytes, scope: int, type_: Type, me: Value) -> Value:
        if isinstance(type_, Named):
            return self._of_name(path, scope, type_, me)
        if isinstance(type_, (Either, Both, Alternatives)):
            return self._of_several(path, scope, type_, me)
        if isinstance(type_, ValueOf):
            return self.resolver.value(path, scope, type_.expression, -1)
        if isinstance(type_, Returns):
            this = self._of(path, scope, type_.this, me)
            return Function(self._of(path, scope, type_.result, me), this)
        if isinstance(type_, (Fields, Mapped)):
            return Shape(path, scope, type_, me)
        if isinstance(type_, Part):
            whole = self._of(path, scope, type_.whole, me)
            if not type_.name:
                return together([self.resolver.element(part, "[]") for part in each(whole)])
            return together([self.resolver.member_value(part, type_.name) for part in each(whole)])
        return None

    def _of_several(
        self, path: bytes, scope: int, type_: Either | Both | Alternatives, me: Value
    ) -> Value:
        parts = type_ if isinstance(type_, Alternatives) else type_.parts
        values = [self._of(path, scope, part, me) for part in parts if part != _NEVER]
        if isinstance(type_, Alternatives):
            # The condition cannot be evaluated, so both branches must agree.
            return alike(values)
        return self._all(values) if isinstance(type_, Both) else _named(values)

    def _all(self, values: list[Value]) -> Value:
        """Return the intersection of values; a type already covers its bases."""
        whole = _named(values)
        types = [part for part in each(whole) if isinstance(part, Instance)]
        if len(types) < 2:
            return whole
        above = {
            base[:2]
            for type_ in types
            for base in self.resolver.ancestry(type_)
            if base[:2] != type_[:2]
        }
        parts: list[Value] = []
        for part in each(whole):
            if not isinstance(part, Instance) or part[:2] not in above:
                parts.append(part)
        return together(parts)

    def signatures(self, path: bytes, scope: int, text: str, me: Value = None) -> list[Signature]:
        """Return the ways to call a value of the type that a text denotes in a scope."""
        key = ("signatures", path, scope, text, me)
        return self.once(key, lambda: self._signatures(path, scope, text, me), [])

    def _signatures(self, path: bytes, scope: int, text: str, me: Value) -> list[Signature]:
        if "=>" in text:
            parts = [part for part in alternatives(text) if part.strip()]
            if len(parts) > 1:
                every = [self.signatures(path, scope, part, me) for part in parts]
                return [signature for signatures in every for signature in signatures]
            parameters, result = function_parts(text)
            if parameters or result:
                return [Signature(path, scope, me, parameters, result)]
        name, _, listed = text.removesuffix("]>").partition("<[")
        if listed and not self.named_type(path, scope, name.strip()):
            # Svelte's `Snippet<[A, B]>` lists the parameters as type arguments.
            return [Signature(path, scope, me, (f"...all: [{listed}]",), "")]
        return self._signatures_of(path, scope, parsed(_bound(text)), me)

    def _signatures_of(self, path: bytes, scope: int, type_: Type, me: Value) -> list[Signature]:
        if isinstance(type_, (Either, Both)):
            every = [self._signatures_of(path, scope, part, me) for part in type_.parts]
            return [signature for signatures in every for signature in signatures]
        if not isinstance(type_, Named):
            return []
        for referent in self.named_type(path, scope, type_.name)[:1]:
            if referent.symbol >= 0:
                args = tuple(self._of(path, scope, arg, me) for arg in type_.args)
                return self.call_signatures(Instance(referent.path, referent.symbol, args))
            rows = [row for row in self.names.rows(referent) if row.how == "type" and row.text]
            if rows:
                return self.signatures(referent.path, referent.scope, _bound(rows[0].text), me)
        return []

    def call_signatures(self, own: Instance) -> list[Signature]:
        """Return the ways to call an instance of an interface, or of an alias."""
        signatures: list[Signature] = []
        for type_ in self.resolver.ancestry(own):
            model = self.view.model(type_.path)
            scope = model.own_scope.get(type_.symbol, -1)
            if not model.spec.spaces:
                continue
            for row in model.of_scope.get(scope, ()):
                if row.how in {"called", "alias"}:
                    signatures += self.signatures(type_.path, scope, row.text, type_)
        return signatures

    def in_shape(self, value: Shape, name: str) -> Value:
        """Return a member of an object of an anonymous type."""
        if isinstance(value.type_, Mapped):
            member: Type = value.type_.member
        else:
            member = dict(value.type_.members).get(name)
        return self._of(value.path, value.scope, member, value.me)

    def _of_name(self, path: bytes, scope: int, type_: Named, me: Value) -> Value:
        name = type_.name.rpartition(".")[2]
        if name in _SELF_TYPES and name in {type_.name, "Self"}:
            return me if me is not None else self.resolver.instance_around(path, scope)
        if type_.name == "[]":
            return Container("[]", tuple(self._of(path, scope, arg, me) for arg in type_.args))
        referents = self.named_type(path, scope, type_.name)
        if referents and referents[0].symbol >= 0 and self._is_variable_type(referents[0]):
            return self._argument_for(path, scope, type_.name, me)
        if referents:
            args = tuple(self._of(path, scope, arg, me) for arg in type_.args)
            return together([self.typed(referent, args, me) for referent in referents[:1]])
        return self._foreign(path, scope, name, type_.args, me)

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

    def _is_variable_type(self, referent: Referent) -> bool:
        """Whether a name is a type variable of Python: `T = TypeVar("T")`."""
        rows = self.names.rows(referent)
        return len(rows) == 1 and rows[0].text.rpartition(".")[2] == "TypeVar()"

    def _is_variable_name(self, path: bytes, scope: int, name: str) -> bool:
        referents = self.names.lookup(path, scope, name)
        return bool(referents) and referents[0].symbol >= 0 and self._is_variable_type(referents[0])

    def _argument_for(self, path: bytes, scope: int, name: str, me: Value) -> Value:
        """Return the argument for a type variable in an instance of the enclosing class."""
        model = self.view.model(path)
        symbol = model.type_around(scope)
        if symbol < 0 and isinstance(me, Instance) and me.path == path:
            # A class's own annotations, such as its bases, belong to the scope around the class.
            symbol = me.symbol
        if symbol < 0:
            return None
        order = [
            variable
            for variable in model.variables(symbol)
            if self._is_variable_name(path, scope, variable)
        ]
        if name not in order:
            return None
        values = [self._argument(part, path, symbol, order.index(name)) for part in each(me)]
        return together(values)

    def named_type(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Return the referents of a type name, which may contain dots: `a.T`, `'./a'.T`."""
        if name[:1] == "'":
            module, _, inner = name[1:].partition("'")
            first, rest = module, inner.strip(".").split(".")
            referents = [Referent(file, MODULE) for file in self.view.modules(path, module)]
        else:
            first, *rest = name.split(".")
            referents = self.names.lookup(path, scope, first, types=not rest)
        while referents and self._is_parameter(referents[0]):
            # `def f(sql: sql.Token)`: the types of parameters are evaluated outside of the
            # function.
            outer = self.view.model(path).scopes[referents[0].scope].parent
            referents = self.names.lookup(path, outer, first, types=not rest) if outer >= 0 else []
        for at, part in enumerate(rest):
            last = at == len(rest) - 1
            referents = [
                inner for referent in referents for inner in self._inside(referent, part, last)
            ]
        return referents

    def _is_parameter(self, referent: Referent) -> bool:
        """Whether a referent is a local Python variable with an annotation or an unknown value."""
        model = self.view.model(referent.path)
        if referent.symbol != LOCAL or not model.spec.submodules:
            return False
        rows = self.names.rows(referent)
        is_function = model.scopes[referent.scope].kind == "function"
        return is_function and all(row.how in _UNTYPED for row in rows)

    def _inside(self, referent: Referent, name: str, types: bool) -> list[Referent]:
        if referent.symbol == MODULE:
            return self.names.exported(referent.path, name, types=types) or self.names.submodule(
                referent.path, name
            )
        model = self.view.model(referent.path)
        if referent.symbol < 0:
            return []
        return [
            Referent(referent.path, at, 0, name)
            for at in model.children.get(referent.symbol, {}).get(name, ())
        ]

    def typed(self, referent: Referent, args: tuple[Value, ...], me: Value) -> Value:
        """Return a value of a type with type arguments, as an annotation denotes it."""
        model = self.view.model(referent.path)
        if referent.symbol >= 0:
            kind = model.symbols[referent.symbol].kind
            if kind == "type":
                return self._alias(referent, args, model)
            if kind in TYPES:
                return Instance(referent.path, referent.symbol, args)
            rows = [row for row in self.names.rows(referent) if row.how == "="]
            if len(rows) == 1:
                # Python: `Alias = Class`.
                value = self.resolver.value(
                    referent.path, referent.scope, rows[0].text, rows[0].line
                )
                if isinstance(value, Definition) and self.resolver.is_type(value):
                    return Instance(value.path, value.symbol, args)
            return None
        if referent.symbol == LOCAL:
            return self._parameter(referent, model, me)
        return None

    def _parameter(self, referent: Referent, model: FileModel, me: Value) -> Value:
        """Return the argument for a type parameter, or else its bound."""
        order = model.parameters.get(referent.scope, [])
        scope = model.scopes[referent.scope]
        if referent.name in order and scope.kind == "class":
            for part in each(me):
                argument = self._argument(
                    part, referent.path, scope.symbol, order.index(referent.name)
                )
                if argument is not None:
                    return argument
        if referent.name in order and isinstance(me, Instance) and scope.symbol == me.symbol:
            inferred = self._inferred(referent, scope, order, me)
            if inferred is not None:
                return inferred
        rows = [row for row in self.names.rows(referent) if row.how == "type"]
        bounds = [row.text for row in rows if row.text]
        if bounds:
            return self.of_type(referent.path, referent.scope, bounds[0], me)
        if not rows and not model.spec.spaces:
            values = [row for row in self.names.rows(referent) if row.how == "="]
            if len(values) == 1:
                value = self.resolver.value(
                    referent.path, referent.scope, values[0].text, values[0].line
                )
                if isinstance(value, Definition) and self.resolver.is_type(value):
                    return Instance(value.path, value.symbol)
        return None

    def _inferred(self, referent: Referent, scope: Scope, order: list[str], me: Instance) -> Value:
        """Return the value of a function's type parameter, inferred from the receiver.

        If other parameters are known and this one is not, its default applies.
        """
        if scope.kind != "function" or me.path != referent.path:
            return None
        argument = me.args[order.index(referent.name)]
        if argument is not None:
            return argument
        rows = [row for row in self.names.rows(referent) if row.how == "type"]
        default = rows[0].text if len(rows) == 1 else ""
        if not default.startswith("= "):
            return None
        return self.of_type(me.path, referent.scope, default[2:], me)

    def _argument(self, me: Value, path: bytes, symbol: int, at: int) -> Value:
        if not isinstance(me, Instance):
            return None
        for type_ in self.resolver.ancestry(me):
            if (type_.path, type_.symbol) == (path, symbol) and at < len(type_.args):
                return type_.args[at]
        return None

    def _alias(self, referent: Referent, args: tuple[Value, ...], model: FileModel) -> Value:
        scope = model.own_scope.get(referent.symbol)
        if scope is None:
            return None
        rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
        if not rows:
            return None
        own = Instance(referent.path, referent.symbol, args)
        value = self._expanded(own, lambda: self.of_type(own.path, scope, rows[0].text, own))
        plain = (isinstance(part, Shape) and isinstance(part.type_, Fields) for part in each(value))
        if value is None:
            return None
        # The members of object types have definitions inside that of the alias.
        if all(plain):
            return own
        return together([own, value]) if model.children.get(referent.symbol) else value

    def _expanded(self, alias: Instance, make: Callable[[], Value]) -> Value:
        """Expand an alias; returns the alias itself if it is cyclic or the chain is too long.

        `type A<T> = B<A<T[]>>` grows with each step, so the check for open queries cannot detect
        the cycle.
        """
        own = alias[:2]
        deep = len(self._expanding) >= _MOST_ALIASES
        if deep or self._expanding.count(own) >= _MOST_ROUNDS:
            return alias
        self._expanding.append(own)
        try:
            value = make()
        finally:
            self._expanding.pop()
        return value if value is not None else alias


def _named(values: list[Value]) -> Value:
    """Join several values, without those of anonymous types unless there are no others."""
    named: list[Value] = [value for value in values if not isinstance(value, Shape)]
    return together(named if any(named) else values)


def _bound(text: str) -> str:
    return text.removeprefix("extends ").removeprefix(": ")
