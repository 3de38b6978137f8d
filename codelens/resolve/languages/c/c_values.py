"""Evaluates C and C++ types and expressions."""

from __future__ import annotations

from codelens.resolve.file_model import CALLABLE
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.expression_values import steps
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Named, Type
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Value,
    each,
    together,
)
from codelens.resolve.languages.c.c_names import CNames
from codelens.resolve.languages.c.c_operators import COperators
from codelens.resolve.languages.c.c_overloads import CMembers, COverloads
from codelens.resolve.languages.c.c_types import (
    HOLDING,
    OPERATOR,
    c_type,
    element_of,
    name_of,
    part_of,
    result_of_method,
    result_type,
    returns_wrapped_value,
    tag,
    template_parameters,
)
from codelens.resolve.languages.classes.class_names import builds
from codelens.resolve.languages.classes.class_values import ClassCalls, ClassExpressions
from codelens.resolve.view_files import View
from codelens.types import INITIAL, PROTOCOL, Reference

_ANY = frozenset({"auto", "void", "decltype", "this"})
"""Words in place of a type that do not name a type."""


class CAnnotations(Annotations):
    """Evaluates C++ types."""

    names: CNames

    def named_type(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Return the referents of a type name, with or without its namespaces."""
        package, _, last = name.rpartition(".")
        if not package:
            types = self.names.find(path, scope, last, "type")
            if not types:
                return self.names.declared(path, scope, last)
            if types[0].symbol < 0 or not self.names.is_outer(types[0]):
                return types
            near = self.names.of_space(self.names.nearest(path, scope, last), "type")
            return self.names.first_of_each_file(near) or types
        referents = self.names.of_space(self.names.in_package(path, package, last), "type")
        if referents:
            return self.names.first_of_each_file(referents)
        types = self._inner(path, scope, package, last)
        return types or self.names.declared(path, scope, last, package)

    def _inner(self, path: bytes, scope: int, owner: str, name: str) -> list[Referent]:
        """Return the types nested in a type, in its bases, or in the type that it aliases."""
        referents: list[Referent] = []
        for referent in self.named_type(path, scope, owner):
            value = self.typed(referent, (), None)
            for part in each(value):
                line = self.resolver.ancestry(part) if isinstance(part, Instance) else []
                for base in line:
                    inside = self.view.model(base.path).children.get(base.symbol, {})
                    places = inside.get(name, ())
                    referents += self.names.of_space(
                        [Referent(base.path, at, 0, name) for at in places], "type"
                    )
                    if referents:
                        break
        return referents

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """Return a value of a type in C++ syntax."""
        tagged = tag(text)
        if tagged:
            referents = self.names.tagged(path, scope, tagged)
            if referents:
                return self.typed(referents[0], (), me)
        return super().of_type(path, scope, c_type(text), me)

    def _of_name(self, path: bytes, scope: int, type_: Named, me: Value) -> Value:
        argument = self._argument_of(path, scope, type_.name, me)
        return argument if argument is not None else super()._of_name(path, scope, type_, me)

    def _argument_of(self, path: bytes, scope: int, name: str, me: Value) -> Value:
        """Return the argument for a template parameter in an instance of the enclosing template."""
        model = self.view.model(path)
        symbol = model.type_around(scope)
        while symbol < 0 <= scope:
            # A method defined outside of its class.
            symbol, scope = model.scopes[scope].symbol, model.scopes[scope].parent
        if symbol < 0 or not isinstance(me, Instance):
            return None
        definition = model.symbols[symbol]
        order = template_parameters(definition.signature)
        if name not in order:
            return None
        path_of = definition.qualified.split(".")
        owner = path_of[-2] if definition.kind in CALLABLE and len(path_of) > 1 else definition.name
        for base in self.resolver.ancestry(me):
            same = self.view.symbol(base).name == owner
            if same and order.index(name) < len(base.args):
                return base.args[order.index(name)]
        return None

    def _foreign(
        self, path: bytes, scope: int, name: str, args: tuple[Type, ...], me: Value
    ) -> Value:
        """Return a value of a type outside of the view, of which only the name is known."""
        if name in HOLDING and args:
            return self._of(path, scope, args[0], me)
        if name == "iterator" and args:
            items = [
                element_of(part, "[*]") if isinstance(part, Container) else None
                for part in each(self._of(path, scope, args[0], me))
            ]
            return items[0] if items else None
        value = super()._foreign(path, scope, name, args, me)
        return Container(name, ()) if value is None and not args and name not in _ANY else value

    def typed(self, referent: Referent, args: tuple[Value, ...], me: Value) -> Value:
        """Return a value of a type with type arguments, as an annotation denotes it."""
        if referent.symbol >= 0 and self.view.symbol(referent).kind == "type":
            key = ("aliased", *referent[:2], args, me)
            return self.once(key, lambda: self._aliased(referent, args, me), None)
        return super().typed(referent, args, me)

    def _aliased(self, referent: Referent, args: tuple[Value, ...], me: Value) -> Value:
        """Return the target of a type alias."""
        model = self.view.model(referent.path)
        scope = model.own_scope.get(referent.symbol)
        if scope is None:
            return None
        alias = Instance(referent.path, referent.symbol, args)
        rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
        if not rows:
            return alias
        own, around, text = alias if args else me, model.scopes[scope].parent, rows[0].text
        return self._expanded(alias, lambda: self.of_type(alias.path, around, text, own))


# Values by declared types, with methods defined outside of their classes.

_ARROWS = ("operator->", "operator*")


class CCalls(ClassCalls):
    """Infers the results of calls."""

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        value = super()._result(path, symbol, me)
        model = self.view.model(path)
        if value is not None or symbol in model.own_scope:
            return value
        function = model.symbols[symbol]
        for row in model.bindings:
            if row.line == function.name_line and row.name == function.name and row.how == ":":
                return self.resolver.of_type(path, row.scope, row.text, me)
        type_text = result_type(function.signature, function.name)
        scope = model.own_scope.get(function.parent, 0) if function.parent >= 0 else 0
        return self.resolver.of_type(path, scope, type_text, me) if type_text else None

    def element(self, value: Value, step: str) -> Value:
        """Return an element of a value, by `[]` or by iteration (`[*]`)."""
        if isinstance(value, Instance):
            name = "operator[]" if step == "[]" else "begin"
            items = [
                self.resolver.result(referent.path, referent.symbol, value)
                for referent, _ in self.resolver.members(value, name)[:1]
            ]
            # `[]` of a pointer returns its target; a pointer and an array look alike here.
            return together([*items, value]) if step == "[]" else items[0] if items else value
        if isinstance(value, Container):
            return element_of(value, step)
        return super().element(value, step)


class CExpressions(ClassExpressions):
    """Evaluates expressions and variables."""

    names: CNames  # pyright: ignore[reportIncompatibleVariableOverride]
    operators: COperators
    _members: CMembers

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a bare name; a constructor initializer names a type or field."""
        if reference.kind == "call" and reference.argument_lines == INITIAL:
            types = self.resolver.named_type(path, reference.scope, reference.name)
            own = None if types else self.instance_around(path, reference.scope)
            return types or [field for field, _ in self.resolver.members(own, reference.name)]
        return super().meant(path, reference)

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name after a receiver."""
        if reference.arguments == PROTOCOL:
            return self.operators.meant(path, reference)
        if reference.kind == "call" and reference.argument_lines == INITIAL:
            return self.resolver.named_type(
                path, reference.scope, f"{reference.receiver}.{reference.name}"
            )
        referents = super().member_of(path, reference)
        package = reference.receiver.replace("::", ".")
        if referents or reference.kind != "name" or not package.replace(".", "").isidentifier():
            return referents
        return self.names.in_package(path, package, reference.name)

    def instance_around(self, path: bytes, scope: int) -> Value:
        """Return `this`."""
        model = self.view.model(path)
        while scope > 0:
            here = model.scopes[scope]
            if here.kind == "class":
                return self._members.instance_of_scope(path, scope)
            owner = self._members.owner(path, scope) if here.symbol >= 0 else None
            if owner is not None:
                return owner
            scope = here.parent
        return None

    def called_on(
        self, path: bytes, scope: int, receiver: str, name: str, *, line: int, arguments: int
    ) -> list[Referent]:
        """Return the targets of `a.f()`, `a->f()` and `ns::f()`."""
        methods = self.taking(self.value(path, scope, receiver, line), name, arguments)
        if methods:
            return methods
        plain = receiver.replace("::", ".")
        if not plain.replace(".", "").isidentifier():
            return []
        named = self.names.in_package(path, plain, name)
        referents = self.names.of_space(named, "call")
        if not referents:
            # A variable that can be called: a pointer to a function, or an object.
            return named
        fitting = self.names.fitting(referents, arguments)
        functions: list[Referent] = []
        for referent in fitting:
            if not builds(self.view.model(referent.path), referent.symbol):
                functions.append(referent)
        return functions

    def taking(self, value: Value, name: str, arguments: int) -> list[Referent]:
        """As in the base class; falls back to the target of the class's `->` operator."""
        referents = super().taking(value, name, arguments)
        for part in () if referents else each(value):
            led = self._arrow_target(part)
            referents += super().taking(led, name, arguments) if led != part else []
        return referents

    def _arrow_target(self, value: Value) -> Value:
        """Return the target of the `->` or `*` operator of a class."""
        if not isinstance(value, Instance):
            return None
        for sign in _ARROWS:
            for referent, _ in self.resolver.members(value, sign)[:1]:
                return self.resolver.result(referent.path, referent.symbol, value)
        return None

    def value_of(self, referent: Referent, path: bytes, scope: int, line: int) -> Value:
        """Return the value of a referent; a type alias means its target."""
        found_value = super().value_of(referent, path, scope, line)
        return self._named_so(found_value)

    def _named_so(self, value: Value) -> Value:
        if not isinstance(value, Definition):
            return value
        if self.view.symbol(value).kind != "type":
            return value
        typed_value = self.resolver.typed(Referent(value.path, value.symbol), (), None)
        return Definition(*typed_value[:2]) if isinstance(typed_value, Instance) else value

    def _step(self, value: Value, step: str) -> Value:
        stepped = together([self._stepped(part, step) for part in each(value)])
        return stepped if stepped is not None else super()._step(value, step)

    def _stepped(self, value: Value, step: str) -> Value:
        """Evaluate steps that only C++ has: parts of pairs, `x.Base::f()`, targets of `->`."""
        if step[:1] == "#" and step[1:].isdigit():
            return self._destructured(value, int(step[1:]))
        if not step.isidentifier():
            return None
        if isinstance(value, Container):
            return part_of(value, step)
        if not isinstance(value, Instance):
            return None
        for base in self.resolver.ancestry(value):
            if self.view.symbol(base).name == step:
                return base
        if self.resolver.members(value, step):
            return None
        led = self._arrow_target(value)
        return self.resolver.member_value(led, step) if led is not None else None

    def _destructured(self, value: Value, at: int) -> Value:
        """Return a part of a structured binding `auto [a, b] = x`: of a pair, tuple or struct."""
        if isinstance(value, Container):
            is_parted = name_of(value) in {"pair", "tuple"} and at < len(value.args)
            return value.args[at] if is_parted else None
        if not isinstance(value, Instance):
            return None
        model = self.view.model(value.path)
        fields = [
            name
            for name, places in model.children.get(value.symbol, {}).items()
            if model.symbols[places[0]].kind == "field"
        ]
        return self.resolver.member_value(value, fields[at]) if at < len(fields) else None

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """Return the value of an expression."""
        if text[:1] != "`":
            text = text.replace("::", ".")
        found_value = super().value(path, scope, text, line)
        return found_value if found_value is not None else self._by_namespace(path, text)

    def _by_namespace(self, path: bytes, text: str) -> Value:
        """Evaluate `ns.Foo`, `ns.make()` by the longest prefix that is a type or function."""
        taken = steps(text)
        if taken is None:
            return None
        head, rest = taken
        parts = [head]
        for at, step in enumerate(rest):
            if step in {"()", "[]", "[*]"}:
                return None
            parts.append(step)
            calls = rest[at + 1 : at + 2] == ("()",)
            referents = self.names.in_package(path, ".".join(parts[:-1]), step)
            value: Value = None
            if calls:
                targets = self.names.of_space(referents, "call")
                value = together([self._outcome_of(referent, None) for referent in targets[:1]])
            else:
                targets = self.names.of_space(referents, "type")
                value = self._named_so(Definition(*targets[0][:2])) if targets else None
            if value is not None:
                for further in rest[at + 1 + calls :]:
                    value = self._step(value, further)
                return value
        return None

    def _sent(self, value: Value, name: str) -> Value:
        if isinstance(value, Container):
            return result_of_method(value, name)
        result = super()._sent(value, name)
        if result is None and name.startswith(OPERATOR):
            path = value.path if isinstance(value, Instance) else b""
            free = self.operators.free(path, name, [("", value)])
            return together([self._outcome_of(referent, None) for referent in free])
        if result is None and isinstance(value, Instance):
            led = self._arrow_target(value)
            if led is not None and led != value:
                return together([self._sent(part, name) for part in each(led)])
            return (
                value
                if returns_wrapped_value(name) and not self.resolver.members(value, name)
                else None
            )
        return result


def resolver(view: View) -> Resolver:
    """Build a resolver for the C and C++ files of a view."""
    names = CNames(view)
    c = Resolver(view, names)
    members = names.types = CMembers(c, names)
    names.owner = members.owner
    c.others = names.others
    overloads = COverloads(c, members)
    c.overloads = overloads.meant
    expressions = CExpressions(c, members)
    expressions.operators = COperators(c, names, members, overloads)
    return c.join(CAnnotations(c), members, CCalls(c), expressions)
