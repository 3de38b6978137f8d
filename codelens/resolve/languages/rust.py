"""Evaluates Rust expressions by declared types, patterns, and the parameters of closures."""

from __future__ import annotations

from codelens.resolve.file_model import TYPES
from codelens.resolve.inference.expression_values import Expressions, steps
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Module,
    Value,
    each,
    together,
)
from codelens.resolve.languages.registry import LanguageSpec
from codelens.resolve.languages.rust_members import (
    RustAnnotations,
    RustCalls,
    RustMembers,
    implementing,
    is_kind,
    overriding,
)
from codelens.resolve.languages.rust_names import RustNames
from codelens.resolve.languages.rust_types import (
    HOLDERS,
    MAKING,
    OF_ELEMENTS,
    OF_ERRORS,
    PRIMITIVES,
    SAME,
    TUPLE,
    callback_parameter_type,
    error_value,
    parts_of,
    result_of_method,
    success_value,
)
from codelens.resolve.view_files import View
from codelens.types import PROTOCOL, Reference

_LOOPING = frozenset({"into_iter", "next"})
_MACRO = -2
"""The value of `Reference.arguments` for a macro."""
_CALLBACK = "#in"
"""The step to a parameter of a closure; the argument and parameter indexes follow."""


class RustExpressions(Expressions):
    """Evaluates expressions and variables."""

    names: RustNames

    def __init__(self, resolver: Resolver, members: RustMembers) -> None:
        super().__init__(resolver)
        self._members = members

    def place(self, path: bytes, scope: int, head: str) -> tuple[int, bool]:
        """Return the scope that decides what a name means, and whether that varies by line."""
        model = self.view.model(path)
        if head[0] in "(`0":
            return scope, True
        symbols = model.symbols
        at, sensitive = model.bound_at(
            scope,
            head,
            lambda inner: inner.symbol >= 0 and symbols[inner.symbol].kind == "module",
        )
        entry = model.names[at].get(head)
        shadows = f"{head}."
        if entry is not None and any(row.text.startswith(shadows) for row in entry.rows):
            # `let x = x.f()`: the right side refers to the outer `x`.
            sensitive = True
        return at, sensitive

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name without a receiver."""
        if reference.arguments == _MACRO:
            return self.names.macros(path, reference.name)
        referents = self.names.lookup(
            path, reference.scope, reference.name, types=reference.kind == "type"
        )
        return [referent for referent in referents if not is_kind(self.view, referent, "macro")]

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name after a receiver."""
        if reference.arguments == PROTOCOL:
            return self._operators(path, reference)
        if reference.kind != "call":
            fields = super().member_of(path, reference)
            return fields or self._in_variant(path, reference)
        value = self.value(path, reference.scope, reference.receiver, reference.line)
        methods = [
            referent
            for part in each(value)
            for referent in self._members.methods(part, reference.name, path)
        ]
        methods = methods or self._members.of_all(value, reference.name, path)
        if not methods and reference.receiver.replace(".", "").isidentifier():
            # A variable may share the name of a module: `ast::visit(ast)`.
            parts = [*reference.receiver.split("."), reference.name]
            methods = self._by_path(path, reference.scope, parts)
        called = [referent for referent in methods if referent.symbol >= 0]
        return list(dict.fromkeys(called or methods))

    def _in_variant(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the field of an enum's variant that a key names: `w` of `Shape::Rect { w: 1 }`."""
        if reference.receiver[:1] != "`" or reference.receiver[-1:] != "`":
            return []
        variants = self.resolver.named_type(
            path, reference.scope, reference.receiver[1:-1].replace("::", ".")
        )
        fields: list[Referent] = []
        for variant in variants[:1]:
            owner = self.view.model(variant.path)
            if variant.symbol >= 0:
                places = owner.children.get(variant.symbol, {}).get(reference.name, ())
                fields += [Referent(variant.path, at, 0, reference.name) for at in places]
        return fields

    def _operators(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the trait methods that an operator may call; one if the other operand decides."""
        name, receiver = reference.name, reference.receiver
        called = receiver.removesuffix("()").rpartition(".")[2] if receiver[-2:] == "()" else ""
        value = self.value(path, reference.scope, receiver, reference.line)
        if not isinstance(value, Instance) or (called in SAME and name in _LOOPING):
            # `a.iter()` may be an iterator over the target of `a`.
            return []
        if name == "deref" and not self._is_owned(path, reference.scope, receiver):
            return []
        other = reference.argument_lines
        operand = (
            self.value(path, reference.scope, other, reference.line)
            if other and other[0] != "'"
            else None
        )
        return self._members.of_operator(value, name, operand)

    def _is_owned(self, path: bytes, scope: int, name: str) -> bool:
        """Whether a variable is declared as a non-reference, so that `*name` calls `deref`."""
        referents = self.names.lookup(path, scope, name)
        rows = self.names.rows(referents[0]) if referents and name != "self" else ()
        return bool(rows) and all(row.how == ":" and row.text[:1] not in "&*" for row in rows)

    def _by_path(self, path: bytes, scope: int, parts: list[str]) -> list[Referent]:
        model = self.view.model(path)
        referents = self.names.follow(path, self.names.module_of(model, scope), parts)
        return [referent for referent in referents if referent.symbol >= 0]

    def instance_around(self, path: bytes, scope: int) -> Value:
        """Return `Self`: the type of the block, or the trait, around a scope."""
        model = self.view.model(path)
        while scope >= 0:
            here = model.scopes[scope]
            if here.kind == "class":
                if here.symbol >= 0:
                    return Instance(path, here.symbol)
                rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
                return self.resolver.of_type(path, scope, rows[0].text) if rows else None
            scope = here.parent
        return None

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        model = self.view.model(path)
        is_path = bool(rest) and rest[0][:1].isupper() and head[:1].islower()
        if head in {"self", "Self"} and not is_path:
            own = self.instance_around(path, scope)
            if head == "Self":
                types = [Definition(*part[:2]) for part in each(own) if isinstance(part, Instance)]
                # For a type outside of the view, only its `impl` blocks list its members.
                return together([*types]) or (own if isinstance(own, Container) else None)
            if own is not None:
                return own
        if head in PRIMITIVES and rest[:1] and (rest[0].isupper() or rest[1:2] == ("()",)):
            return Container(head, ())
        if is_path and head not in {"crate", "super", "self"}:
            # A variable of the same name has no such members: `hir::Class` next to `hir: &Hir`.
            module = self._module_named(path, scope, head)
            if module is not None:
                return module
        if head in {"crate", "super", "self"}:
            module = self.names.module_of(model, scope)
            referents = self.names.follow(path, module, [head])
            return together([self._as_value(referent) for referent in referents])
        return super()._head(path, scope, head, rest, line)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        value = self._head(path, scope, head, rest, line)
        for at, step in enumerate(rest):
            if value is None:
                return None
            further = rest[at + 1 : at + 2]
            variant = self._variant(value, step) if further and further[0][0] != "(" else None
            if variant is not None:
                value = variant
            elif further and further[0][:3] == _CALLBACK and step[0] not in "([#":
                place, number = int(further[0][3]), int(further[0][4])
                arguments = [
                    self._closure_parameter(part, step, place, number) for part in each(value)
                ]
                value = together(arguments)
            elif step[:3] == _CALLBACK:
                if isinstance(value, Definition):
                    value = self._declared_parameter(value, int(step[3]), int(step[4]))
            elif further == ("()",) and step[0] not in "([#":
                value = together([self._method(part, step) for part in each(value)])
            else:
                value = self._step(value, step)
        return value

    def _method(self, value: Value, name: str) -> Value:
        """Return the value of a method."""
        if isinstance(value, Instance):
            referents = self._members.methods(value, name)
            if referents:
                return together(
                    [self.resolver.taken(referent, value) for referent in referents[:1]]
                )
            item = self._members.item(value)
            if item is not None:
                return result_of_method(Container("Iterator", (item,)), name)
            return value if name in SAME else None
        if isinstance(value, Definition | Container):
            # A field may share the name of a method.
            methods = self._members.methods(value, name)
            if methods:
                return together([self.resolver.taken(method, value) for method in methods[:1]])
        result = self.resolver.member_value(value, name)
        if result is None and isinstance(value, Definition):
            # `impl From<A> for T`, `impl From<B> for T`: either one returns a `T`.
            several = self._members.of_traits(Instance(*value[:2]), name)
            result = together([Definition(*referent[:2], value) for referent in several])
        if result is None and name in MAKING and isinstance(value, Definition):
            return self._constructed(value)
        return result

    def _constructed(self, type_: Definition) -> Value:
        """Return the result of a standard library trait function: `T::default()`."""
        if self.view.symbol(type_).kind not in TYPES:
            return None
        return self.resolver.typed(Referent(*type_[:2]), (), None)

    def _variant(self, value: Value, name: str) -> Value:
        """Return a variant of an enum, to access the values in it."""
        if not isinstance(value, Definition):
            return None
        model = self.view.model(value.path)
        if model.symbols[value.symbol].kind != "enum":
            return None
        places = model.children.get(value.symbol, {}).get(name, ())
        variants = [at for at in places if model.symbols[at].kind == "member"]
        return Definition(value.path, variants[0]) if variants else None

    def _closure_parameter(self, value: Value, method: str, place: int, at: int) -> Value:
        """Return what a method passes to a parameter of its closure argument."""
        if isinstance(value, Module | Definition):
            taker = self.resolver.member_value(value, method)
            return (
                self._declared_parameter(taker, place, at)
                if isinstance(taker, Definition)
                else None
            )
        if isinstance(value, Instance):
            referents = self._members.methods(value, method)
            if referents:
                return self._declared_parameter(Definition(*referents[0][:2], value), place, at)
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

    def _declared_parameter(self, function: Definition, place: int, at: int) -> Value:
        """Return the declared type of a parameter of a closure parameter."""
        model = self.view.model(function.path)
        scope = model.own_scope.get(function.symbol, -1)
        if scope < 0:
            return None
        definition = model.symbols[function.symbol]
        text = callback_parameter_type(definition.signature, definition.name, place, at)
        me = function.owner
        return self.resolver.of_type(function.path, scope, text, me) if text else None

    def _as_value(self, referent: Referent) -> Value:
        if referent.symbol == MODULE:
            return Module(referent.path)
        return Definition(referent.path, referent.symbol) if referent.symbol >= 0 else None

    def _module_named(self, path: bytes, scope: int, name: str) -> Value:
        """Return the module that a path starts with."""
        model = self.view.model(path)
        referents = self.names.follow(path, self.names.module_of(model, scope), [name])
        return together(
            [
                self._as_value(referent)
                for referent in referents
                if referent.symbol == MODULE or is_kind(self.view, referent, "module")
            ]
        )

    def _named(self, path: bytes, scope: int, name: str, line: int) -> Value:
        referents = self.names.lookup(path, scope, name) or self.names.lookup(
            path, scope, name, types=True
        )
        if not referents:
            files = self.view.modules(path, name)
            return together([Module(file) for file in files if file != path])
        if referents[0].symbol == LOCAL and any(
            r.how == "type" for r in self.names.rows(referents[0])
        ):
            bound = self.resolver.typed(referents[0], (), None)
            bounds = [Definition(*part[:2]) for part in each(bound) if isinstance(part, Instance)]
            return together(list(bounds))
        return together([self.value_of(referent, path, scope, line) for referent in referents[:1]])

    def _from_rows(self, referent: Referent, line: int) -> Value:
        """Return the value of the last binding before the line: earlier ones are shadowed."""
        rows = [row for row in self.names.rows(referent) if row.how in {":", "=", "?"}]
        before = [row for row in rows if row.line < line] or [
            row for row in rows if row.line == line
        ]
        row = (before[-1:] or rows[:1] or [None])[0]
        model = self.view.model(referent.path)
        if row is None or row.how == "?":
            return None
        taken = steps(row.text) if row.how == "=" else None
        shadows = taken is not None and taken[0] == referent.name and rows[0] == row
        if shadows and row.line == line and _CALLBACK not in row.text:
            # `let x = x.f()`: the right side refers to the outer `x`.
            return self.value(referent.path, model.scopes[row.scope].parent, referent.name, line)
        if row.how == ":":
            return self.resolver.of_type(referent.path, referent.scope, row.text)
        if shadows:
            # `if let Some(x) = x`: the right side refers to the outer scope.
            return self.value(referent.path, model.scopes[row.scope].parent, row.text, row.line)
        return self.value(referent.path, row.scope, row.text, row.line)

    def _step(self, value: Value, step: str) -> Value:
        if step == "#try":
            return together([success_value(part) for part in each(value)])
        if isinstance(value, Container) and value.name in PRIMITIVES and step.isupper():
            # A constant such as `u32::MAX` has the type before it.
            return value
        if step == "#err":
            return together([error_value(part) for part in each(value)])
        if step.lstrip("#").isdigit():
            at = int(step.lstrip("#"))
            return together([self._part(part, at) for part in each(value)])
        return super()._step(value, step)

    def _part(self, value: Value, at: int) -> Value:
        """Return a part of a tuple, a tuple struct or a variant."""
        if isinstance(value, Container):
            parts = value.args if value.name == TUPLE else ()
            return parts[at] if at < len(parts) else None
        if not isinstance(value, Instance | Definition):
            return None
        model = self.view.model(value.path)
        symbol = model.symbols[value.symbol]
        parts = parts_of(symbol.signature, symbol.name)
        owner = value.symbol if symbol.kind != "member" else symbol.parent
        scope = model.own_scope.get(owner, 0)
        me = value if isinstance(value, Instance) else None
        return self.resolver.of_type(value.path, scope, parts[at], me) if at < len(parts) else None


def resolver(view: View) -> Resolver:
    """Build a resolver for the Rust files of a view."""
    names = RustNames(view)
    rust = Resolver(view, names)
    members = names.types = RustMembers(rust)
    parts = (
        RustAnnotations(rust),
        members,
        RustCalls(rust, members),
        RustExpressions(rust, members),
    )
    rust.deriving = lambda path, model, scope: implementing(model, scope, rust, path)
    rust.extra_edges = lambda path, model: overriding(path, model, rust)
    return rust.join(*parts)


# The language description of Rust.

SPECS = {
    "rust": LanguageSpec(
        trait_blocks=True,
        bases_are_declared=True,
        modules="rust_names:Crates",
        settings=(b"Cargo.toml",),
        resolver="rust:resolver",
        follows_names=True,
        declares_late=True,
        needs_receiver=True,
        overloads_apart=True,
        indexes_view=True,
        imports_are_complete=True,
        has_main=True,
        keeps_names=True,
        members_apart=True,
    )
}
