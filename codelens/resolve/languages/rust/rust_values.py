"""Values in Rust: by declared types, patterns, and what closures are handed to."""

from __future__ import annotations

from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.expression_values import Expressions, steps
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Hit
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Type
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Module,
    Value,
    each,
    together,
)
from codelens.resolve.languages.rust.rust_containers import (
    HOLDERS,
    MAPS,
    OF_ELEMENTS,
    OF_ERRORS,
    SAME,
    failed,
    given_by,
    held,
)
from codelens.resolve.languages.rust.rust_impls import implementing, overriding
from codelens.resolve.languages.rust.rust_members import RustMembers, is_kind
from codelens.resolve.languages.rust.rust_names import RustNames
from codelens.resolve.languages.rust.rust_type_text import (
    TUPLE,
    bound_of,
    handed_to,
    parts_of,
    rust_type,
)
from codelens.types import Reference

_MACRO = -2
"""What `Reference.arguments` says of a macro."""
_HANDED = "#in"
"""The step to what a function written out gets: which argument it is, and which parameter."""
_ANY = frozenset({"_", "any", "void", "Self"})


class RustAnnotations(Annotations):
    """Types as Rust writes them, and paths to them."""

    names: RustNames

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of a type in Rust's own writing."""
        return super().of_type(path, scope, rust_type(text), me)

    def named_type(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """What a type's path means."""
        parts = name.split(".")
        if parts[0] == "Self":
            own = self.resolver.instance_around(path, scope)
            hits = [Hit(*one[:2]) for one in each(own) if isinstance(one, Instance)]
            for part in parts[1:]:
                hits = [inner for hit in hits for inner in self.names.inside(hit, part, types=True)]
            return hits
        if len(parts) == 1:
            return self.names.lookup(path, scope, name, types=True)
        return self.path_hits(path, scope, parts)

    def typed(self, hit: Hit, args: tuple[Value, ...], me: Value) -> Value:
        """A value of a type; of one that a trait leaves open, of what it must be."""
        model = self.view.model(hit.path)
        symbol = model.symbols[hit.symbol] if model is not None and hit.symbol >= 0 else None
        if model is not None and symbol is not None and symbol.kind == "type":
            scope = model.own_scope.get(hit.symbol, -1)
            if not any(row.how == "alias" for row in model.of_scope.get(scope, ())):
                bound = bound_of(symbol.signature)
                around = model.own_scope.get(symbol.parent, 0)
                return self.of_type(hit.path, around, bound, me) if bound else None
        return super().typed(hit, args, me)

    def _foreign(
        self, path: bytes, scope: int, name: str, args: tuple[Type, ...], me: Value
    ) -> Value:
        """A type that is not of the view: traits of it may say what it can do."""
        found = super()._foreign(path, scope, name, args, me)
        return Container(name, ()) if found is None and not args and name not in _ANY else found

    def path_hits(self, path: bytes, scope: int, parts: list[str]) -> list[Hit]:
        """What a path means, behind names that a variable may have as well."""
        local = (
            []
            if parts[0] in {"crate", "self", "super"}
            else self.names.lookup(path, scope, parts[0], types=True)
        )
        hits = [hit for hit in local if hit.symbol != LOCAL]
        if hits:
            for part in parts[1:]:
                hits = [inner for hit in hits for inner in self.names.inside(hit, part)]
            return hits
        model = self.view.model(path)
        if model is None or local:
            return []
        return self.names.follow(path, self.names.module_of(model, scope), parts)


class RustCalls(Calls):
    """What calls give."""

    def __init__(self, resolver: Resolver, members: RustMembers) -> None:
        super().__init__(resolver)
        self._inside = members

    def called(self, value: Value) -> Value:
        """What a call gives; of a variant or a tuple struct a value of the type."""
        if isinstance(value, Instance | Container):
            return value
        return super().called(value)

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        model = self.view.model(path)
        if model is not None and me is None:
            scope = model.own_scope.get(symbol)
            me = self.resolver.instance_around(path, scope) if scope is not None else None
        return super()._result(path, symbol, me)

    def element(self, value: Value, step: str) -> Value:
        """An element of a value, by `[]` or by a loop (`[*]`)."""
        if isinstance(value, Definition):
            return value
        if isinstance(value, Container) and value.args:
            kind = value.name.rpartition(".")[2]
            if kind in MAPS:
                return value.args[-1] if step == "[]" else Container(TUPLE, value.args[:2])
            return None if kind == TUPLE else value.args[0]
        if isinstance(value, Instance) and step == "[*]":
            return self._inside.item(value)
        return super().element(value, step)


class RustExpressions(Expressions):
    """Values of expressions and variables."""

    names: RustNames

    def __init__(self, resolver: Resolver, members: RustMembers) -> None:
        super().__init__(resolver)
        self._members = members

    def place(self, path: bytes, scope: int, head: str) -> tuple[int, bool]:
        """The scope from which a name means the same, and whether the line matters."""
        model = self.view.model(path)
        if model is None or head[0] in "(`0":
            return scope, True
        symbols = model.symbols
        at, sensitive = model.bound_at(
            scope,
            head,
            lambda one: one.symbol >= 0 and symbols[one.symbol].kind == "module",
        )
        entry = model.names[at].get(head)
        shadows = f"{head}."
        if entry is not None and any(row.text.startswith(shadows) for row in entry.rows):
            # `let x = x.f()`: on the right it is the one around.
            sensitive = True
        return at, sensitive

    def meant(self, path: bytes, one: Reference) -> list[Hit]:
        """What a name without a receiver means."""
        if one.arguments == _MACRO:
            return self.names.macros(path, one.name)
        hits = self.names.lookup(path, one.scope, one.name, types=one.kind == "type")
        return [hit for hit in hits if not is_kind(self.view, hit, "macro")]

    def member_of(self, path: bytes, one: Reference) -> list[Hit]:
        """What a name behind a receiver means."""
        if one.kind != "call":
            return super().member_of(path, one)
        value = self.value(path, one.scope, one.receiver, one.line)
        found = [
            hit for each_ in each(value) for hit in self._members.methods(each_, one.name, path)
        ]
        found = found or self._members.of_all(value, one.name, path)
        if not found and one.receiver.replace(".", "").isidentifier():
            # A variable may be called as a module is: `ast::visit(ast)`.
            parts = [*one.receiver.split("."), one.name]
            found = self._by_path(path, one.scope, parts)
        return list(dict.fromkeys(found))

    def _by_path(self, path: bytes, scope: int, parts: list[str]) -> list[Hit]:
        model = self.view.model(path)
        if model is None:
            return []
        hits = self.names.follow(path, self.names.module_of(model, scope), parts)
        return [hit for hit in hits if hit.symbol >= 0]

    def instance_around(self, path: bytes, scope: int) -> Value:
        """`Self`: the type of the block, or the trait, that a scope is in."""
        model = self.view.model(path)
        while model is not None and scope >= 0:
            one = model.scopes[scope]
            if one.kind == "class":
                if one.symbol >= 0:
                    return Instance(path, one.symbol)
                rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
                return self.resolver.of_type(path, scope, rows[0].text) if rows else None
            scope = one.parent
        return None

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        model = self.view.model(path)
        if head in {"self", "Self"} and model is not None:
            own = self.instance_around(path, scope)
            if head == "Self":
                return together(
                    [Definition(*one[:2]) for one in each(own) if isinstance(one, Instance)]
                )
            if own is not None:
                return own
        if head in {"crate", "super", "self"} and model is not None:
            module = self.names.module_of(model, scope)
            hits = self.names.follow(path, module, [head])
            return together([self._as_value(hit) for hit in hits])
        return super()._head(path, scope, head, rest, line)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        found = self._head(path, scope, head, rest, line)
        for at, step in enumerate(rest):
            if found is None:
                return None
            further = rest[at + 1 : at + 2]
            variant = self._variant(found, step) if further and further[0][0] != "(" else None
            if variant is not None:
                found = variant
            elif further and further[0][:3] == _HANDED and step[0] not in "([#":
                place, number = int(further[0][3]), int(further[0][4])
                given = [self._given_to(one, step, place, number) for one in each(found)]
                found = together(given)
            elif step[:3] == _HANDED:
                if isinstance(found, Definition):
                    found = self._said_of(found, int(step[3]), int(step[4]))
            elif further == ("()",) and step[0] not in "([#":
                found = together([self._method(one, step) for one in each(found)])
            else:
                found = self._step(found, step)
        return found

    def _method(self, value: Value, name: str) -> Value:
        """A member that is called."""
        if isinstance(value, Instance):
            hits = self._members.methods(value, name)
            if hits:
                return together([self.resolver.taken(hit, value) for hit in hits[:1]])
            item = self._members.item(value)
            if item is not None:
                return given_by(Container("Iterator", (item,)), name)
            return value if name in SAME else None
        return self.resolver.member_value(value, name)

    def _variant(self, value: Value, name: str) -> Value:
        """One of the variants of an enum, for what it holds."""
        if not isinstance(value, Definition):
            return None
        model = self.view.model(value.path)
        if model is None or model.symbols[value.symbol].kind != "enum":
            return None
        places = model.children.get(value.symbol, {}).get(name, ())
        found = [at for at in places if model.symbols[at].kind == "member"]
        return Definition(value.path, found[0]) if found else None

    def _given_to(self, value: Value, method: str, place: int, at: int) -> Value:
        """What a function gets that a method is given."""
        if isinstance(value, Module | Definition):
            taker = self.resolver.member_value(value, method)
            return self._said_of(taker, place, at) if isinstance(taker, Definition) else None
        if isinstance(value, Instance):
            hits = self._members.methods(value, method)
            if hits:
                return self._said_of(Definition(*hits[0][:2], value), place, at)
            item = self._members.item(value)
            value = Container("Iterator", (item,)) if item is not None else None
        if isinstance(value, Container) and value.args:
            kind = value.name.rpartition(".")[2]
            if kind in HOLDERS:
                other = method in OF_ERRORS and len(value.args) > 1
                return value.args[1 if other else 0]
            if method in OF_ELEMENTS or (method == "fold" and at):
                return self.resolver.element(value, "[*]")
        return None

    def _said_of(self, function: Definition, place: int, at: int) -> Value:
        """What a function says of the parameter of one that it takes."""
        model = self.view.model(function.path)
        scope = model.own_scope.get(function.symbol, -1) if model is not None else -1
        if model is None or scope < 0:
            return None
        one = model.symbols[function.symbol]
        text = handed_to(one.signature, one.name, place, at)
        me = function.owner
        return self.resolver.of_type(function.path, scope, text, me) if text else None

    def _as_value(self, hit: Hit) -> Value:
        if hit.symbol == MODULE:
            return Module(hit.path)
        return Definition(hit.path, hit.symbol) if hit.symbol >= 0 else None

    def _named(self, path: bytes, scope: int, name: str, line: int) -> Value:
        hits = self.names.lookup(path, scope, name) or self.names.lookup(
            path, scope, name, types=True
        )
        if not hits:
            files = self.view.modules(path, name)
            return together([Module(file) for file in files if file != path])
        if hits[0].symbol == LOCAL and any(r.how == "type" for r in self.names.rows(hits[0])):
            bound = self.resolver.typed(hits[0], (), None)
            made = [Definition(*one[:2]) for one in each(bound) if isinstance(one, Instance)]
            return together(list(made))
        return together([self.value_of(hit, path, scope, line) for hit in hits[:1]])

    def _from_rows(self, hit: Hit, line: int) -> Value:
        """Of the bindings of a name in a scope the last before the line: they may be shadowed."""
        rows = [row for row in self.names.rows(hit) if row.how in {":", "=", "?"}]
        before = [row for row in rows if row.line < line] or [
            row for row in rows if row.line == line
        ]
        row = (before[-1:] or rows[:1] or [None])[0]
        model = self.view.model(hit.path)
        if row is None or row.how == "?" or model is None:
            return None
        taken = steps(row.text) if row.how == "=" else None
        shadows = taken is not None and taken[0] == hit.name and rows[0] == row
        if shadows and row.line == line:
            # `let x = x.f()`: on the right it is the one around.
            return self.value(hit.path, model.scopes[row.scope].parent, hit.name, line)
        if row.how == ":":
            return self.resolver.of_type(hit.path, hit.scope, row.text)
        if shadows:
            # `if let Some(x) = x`: what is on the right is from around.
            return self.value(hit.path, model.scopes[row.scope].parent, row.text, row.line)
        return self.value(hit.path, row.scope, row.text, row.line)

    def _step(self, value: Value, step: str) -> Value:
        if step == "#try":
            return together([held(one) for one in each(value)])
        if step == "#err":
            return together([failed(one) for one in each(value)])
        if step.lstrip("#").isdigit():
            at = int(step.lstrip("#"))
            return together([self._part(one, at) for one in each(value)])
        return super()._step(value, step)

    def _part(self, value: Value, at: int) -> Value:
        """A part of a tuple, of a tuple struct, of what a variant holds."""
        if isinstance(value, Container):
            parts = value.args if value.name == TUPLE else ()
            return parts[at] if at < len(parts) else None
        if not isinstance(value, Instance | Definition):
            return None
        model = self.view.model(value.path)
        symbol = model.symbols[value.symbol] if model is not None else None
        if model is None or symbol is None:
            return None
        parts = parts_of(symbol.signature, symbol.name)
        owner = value.symbol if symbol.kind != "member" else symbol.parent
        scope = model.own_scope.get(owner, 0)
        me = value if isinstance(value, Instance) else None
        return self.resolver.of_type(value.path, scope, parts[at], me) if at < len(parts) else None


def resolver(view: View) -> Resolver:
    """A resolver for the Rust files of a view."""
    names = RustNames(view)
    found = Resolver(view, names)
    members = names.types = RustMembers(found)
    parts = (
        RustAnnotations(found),
        members,
        RustCalls(found, members),
        RustExpressions(found, members),
    )
    found.deriving = lambda path, model, scope: implementing(model, scope, found, path)
    found.extra_edges = lambda path, model: overriding(path, model, found)
    return found.join(*parts)
