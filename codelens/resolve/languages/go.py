"""Resolves Go members and values: fields, methods by receiver, embedded types, interfaces.

Nearly all types are declared in Go, so a receiver's type usually follows from a parameter, a field,
or the result of a function of the view.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from codelens.resolve.file_model import CALLABLE, FileModel
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.expression_values import Expressions
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import ExtraEdge, Resolver
from codelens.resolve.inference.values import Container, Definition, Instance, Value, each, together
from codelens.resolve.languages.go_names import STRUCT, TUPLE, GoNames, go_type, signature_types
from codelens.resolve.languages.registry import LanguageSpec
from codelens.resolve.path_tree import folder_of
from codelens.resolve.view_files import View
from codelens.types import Binding, Reference


class GoMembers(Members):
    """Finds members: fields, methods by receiver, and those of embedded types."""

    names: GoNames

    def _of_types(
        self, ancestors: list[Instance], name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        for type_ in ancestors:
            pairs = super()._of_types([type_], name, value)
            if not pairs:
                referents = self.names.methods(type_.path, type_.symbol, name)
                pairs = [(referent, value) for referent in referents] or self._of_underlying(
                    type_, name, value
                )
            if pairs:
                return pairs
        return []

    def _ancestry(self, own: Instance) -> list[Instance]:
        """Return embedded types by depth: the shallowest member counts (Go spec, "Selectors")."""
        return self._walked(own)

    def _of_underlying(
        self, own: Instance, name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        """Return the members of `A` for `type B A`: fields, and methods only of an interface."""
        under = underlying(self.resolver, own)
        if not isinstance(under, Instance) or under[:2] == own[:2]:
            return []
        pairs: list[tuple[Referent, Value]] = []
        for referent, _ in self.members(under, name):
            if self.view.symbol(referent).parent >= 0:
                pairs.append((referent, value))
        return pairs

    def taken(self, referent: Referent, me: Value) -> Value:
        """Return the value of a member that was found on an owner."""
        value = super().taken(referent, me)
        if value is not None:
            return value
        model = self.view.model(referent.path)
        if model.symbols[referent.symbol].kind != "field":
            return None
        symbol = model.symbols[referent.symbol]
        scope = model.own_scope.get(symbol.parent)
        for row in model.of_scope.get(scope, ()) if scope is not None else ():
            if row.how == "base" and _base_name(row) == symbol.name:
                return self.resolver.of_type(referent.path, scope or 0, row.text, me)
        return None


def underlying(resolver: Resolver, value: Value) -> Value:
    """Return the underlying type of a value if it is neither a struct nor an interface."""
    if not isinstance(value, Instance):
        return None
    model = resolver.view.model(value.path)
    scope = model.own_scope.get(value.symbol)
    if scope is None or model.symbols[value.symbol].kind != "type":
        return None
    row = next((row for row in model.of_scope.get(scope, ()) if row.how == "alias"), None)
    return resolver.of_type(value.path, scope, row.text) if row is not None else None


def _base_name(row: Binding) -> str:
    return row.text.partition("[")[0].lstrip("*").rpartition(".")[2]


# Finds types that implement an interface (Go spec, "Implementing an interface").
#
# Only certain matches count: the type has every method of the interface, with the same types in the
# same order after resolving package names. Considers interfaces of the package and of imported
# packages. Skips interfaces with type parameters, and those that embed something outside of the
# view.

_NAME = re.compile(r"(?<!\w)(?<!\w\.)(?:([^\W\d]\w*)\.)?([^\W\d]\w*)")
_BUILT_IN = frozenset(
    "any bool byte chan comparable complex64 complex128 error float32 float64 func int int8 int16 "
    "int32 int64 interface map rune string struct uint uint8 uint16 uint32 uint64 uintptr".split()
)
_SAME = {"interface{}": "any", "byte": "uint8", "rune": "int32"}
_MOST_METHODS = 60

Signature = tuple[str, ...]


class _Interface(NamedTuple):
    referent: Referent
    methods: dict[str, tuple[Referent, Signature]]


def satisfied(path: bytes, model: FileModel, types: GoMembers) -> Iterator[ExtraEdge]:
    """Yield the interfaces and interface methods that the types of a file satisfy."""
    owners = {symbol.qualified.rpartition(".")[0] for symbol in model.symbols if symbol.parent < 0}
    own = {
        symbol.name
        for symbol in model.symbols
        if symbol.parent < 0 and symbol.kind in {"struct", "type"}
    }
    names = sorted((owners - {""}) | own)
    if not names:
        return
    interfaces = types.view.once(
        ("go interfaces", folder_of(path), types.names.clause(path), path.endswith(b"_test.go")),
        lambda: list(_visible(path, types)),
    )
    package = types.names.package(path)
    for name in names if interfaces else ():
        for referent in types.names.chosen(path, package.names.get(name, []))[:1]:
            yield from _of_type(path, referent, types, interfaces)


def _of_type(
    path: bytes, referent: Referent, types: GoMembers, interfaces: list[_Interface]
) -> Iterator[ExtraEdge]:
    model = types.view.model(referent.path)
    if model.symbols[referent.symbol].kind not in {"struct", "type"}:
        return
    symbol = model.symbols[referent.symbol]
    if symbol.signature.startswith(f"type {symbol.name}[") or " = " in symbol.signature:
        return
    own = Instance(referent.path, referent.symbol)
    for interface in interfaces:
        implementing = _methods(own, interface, types)
        if not implementing:
            continue
        if referent.path == path:
            yield ExtraEdge(
                referent.symbol, symbol.name, symbol.name_line, interface.referent, "satisfy"
            )
        for method, (of, _) in zip(implementing, interface.methods.values(), strict=True):
            if method.path == path:
                line = types.view.model(path).symbols[method.symbol].name_line
                yield ExtraEdge(method.symbol, of.name, line, of, "override")


def _methods(own: Instance, interface: _Interface, types: GoMembers) -> list[Referent]:
    """Return a type's methods that an interface requires, in its order; empty if one is missing."""
    implementing: list[Referent] = []
    for name, (_, expected) in interface.methods.items():
        referents = [referent for referent, _ in types.members(own, name)]
        if len(referents) != 1 or signature(referents[0], types) != expected:
            return []
        implementing.append(referents[0])
    return implementing


def _visible(path: bytes, types: GoMembers) -> Iterator[_Interface]:
    """Yield the interfaces of a file's package and of the packages that it imports."""
    package = types.names.package(path)
    chosen = types.names.chosen
    places = dict.fromkeys(
        referent for referents in package.names.values() for referent in chosen(b"", referents)
    )
    files = dict.fromkeys(
        referent.path for referents in package.names.values() for referent in referents
    )
    for methods in package.methods.values():
        files |= dict.fromkeys(
            referent.path for referents in methods.values() for referent in referents
        )
    for file in files:
        for import_ in types.view.model(file).imports:
            for main in types.view.modules(file, import_.module)[:1]:
                for name, referents in types.names.package(main).names.items():
                    if name[:1].isupper():
                        places |= dict.fromkeys(chosen(b"", referents))
    for referent in places:
        required = _required_methods(referent, types, 0)
        if folder_of(referent.path) != folder_of(path) and not all(
            name[0].isupper() for name in required
        ):
            # Only types of the same package can have them (Go spec, "Uniqueness of identifiers").
            continue
        if required and len(required) <= _MOST_METHODS:
            yield _Interface(referent, required)


def _required_methods(
    referent: Referent, types: GoMembers, depth: int
) -> dict[str, tuple[Referent, Signature]]:
    """Return the methods of an interface, including embedded ones; empty if any is unknown."""
    model = types.view.model(referent.path)
    if model.symbols[referent.symbol].kind != "interface" or depth > _MOST_METHODS:
        return {}
    if "[" in model.symbols[referent.symbol].signature:
        return {}
    required: dict[str, tuple[Referent, Signature]] = {}
    rows = model.of_scope.get(model.own_scope.get(referent.symbol, -1), ())
    embedded = types.bases(Instance(referent.path, referent.symbol))
    if len(embedded) != sum(row.how == "base" for row in rows):
        return {}
    for base in embedded:
        inner = _required_methods(Referent(*base[:2]), types, depth + 1)
        if not inner:
            return {}
        required |= inner
    for name, places in model.children.get(referent.symbol, {}).items():
        for at in places:
            method = Referent(referent.path, at, 0, name)
            signature_ = signature(method, types) if model.symbols[at].kind in CALLABLE else None
            if signature_ is None:
                return {}
            required[name] = (method, signature_)
    return required


def signature(referent: Referent, types: GoMembers) -> Signature | None:
    """Return the parameter and result types of a method with package paths; None if unknown."""
    model = types.view.model(referent.path)
    if referent.symbol < 0 or model.symbols[referent.symbol].kind not in CALLABLE:
        return None
    symbol = model.symbols[referent.symbol]
    types_written = signature_types(symbol.signature, symbol.name)
    if types_written is None:
        return None
    return tuple(_resolved(text, referent.path, model, types) for text in types_written)


def _resolved(text: str, path: bytes, model: FileModel, types: GoMembers) -> str:
    """Return a type with the package of each name written out."""

    def whole(match: re.Match[str]) -> str:
        package, name = match[1], match[2]
        if package:
            return f"{_package(package, path, model, types)}.{name}"
        return _SAME.get(name, name) if name in _BUILT_IN else f"{_folder(path)}.{name}"

    text = " ".join(text.split()).replace("interface {}", "any").replace("interface{}", "any")
    return _NAME.sub(whole, text)


def _package(name: str, path: bytes, model: FileModel, types: GoMembers) -> str:
    """Return the location of a package: its folder in the view, or else its import path."""
    for referent in types.names.lookup(path, 0, name):
        if referent.symbol < 0:
            return _folder(referent.path)
    for import_ in model.imports:
        if import_.alias == name or (not import_.alias and import_.module.endswith(name)):
            return import_.module
    return f"?{name}"


def _folder(path: bytes) -> str:
    return folder_of(path).decode("utf-8", "surrogateescape") or "."


# Values in Go.


class GoAnnotations(Annotations):
    """Evaluates Go's type syntax."""

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """Return a value of a type in Go syntax."""
        return super().of_type(path, scope, go_type(text), me)

    def typed(self, referent: Referent, args: tuple[Value, ...], me: Value) -> Value:
        """Return a value of a type with type arguments, as an annotation denotes it."""
        model = self.view.model(referent.path)
        if referent.symbol < 0 or model.symbols[referent.symbol].kind != "type":
            return super().typed(referent, args, me)
        if " = " in model.symbols[referent.symbol].signature:
            return super().typed(referent, args, me)
        return Instance(referent.path, referent.symbol, args)


class GoCalls(Calls):
    """Infers the results of calls."""

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        """Return the result of a function; only the call determines its type parameters."""
        model = self.view.model(path)
        scope = model.own_scope.get(symbol)
        if scope is None or scope not in model.parameters:
            return super()._result(path, symbol, me)
        results = [row.text for row in model.of_scope.get(scope, ()) if row.how == "->"]
        own = "|".join(map(re.escape, model.parameters[scope]))
        return (
            self.resolver.of_type(path, scope, re.sub(rf"\b(?:{own})\b", "any", results[0]), me)
            if results
            else None
        )

    def element(self, value: Value, step: str) -> Value:
        """Return an element of a value, by `[]` or by iteration (`[*]`)."""
        if isinstance(value, Definition):
            # `f[int]`, `T[int]`: the same value with its type arguments.
            return value
        under = underlying(self.resolver, value)
        return super().element(under if under is not None else value, step)

    def called(self, value: Value) -> Value:
        """Return the result of a call; a call of a type is a conversion to it."""
        under = underlying(self.resolver, value)
        return super().called(under if under is not None else value)


class GoExpressions(Expressions):
    """Evaluates expressions and variables."""

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the referents of a name after a receiver; a key of a map is an expression."""
        referents = super().member_of(path, reference)
        if referents or reference.receiver[:1] != "`" or reference.kind != "name":
            return referents
        value = self.value(path, reference.scope, reference.receiver, reference.line)
        under = underlying(self.resolver, value)
        whole = under if under is not None else value
        is_map = isinstance(whole, Container) and whole.name != STRUCT
        return self.meant(path, reference) if is_map else []

    def _step(self, value: Value, step: str) -> Value:
        if step == "#key":
            # A range with one name yields keys, whose type is of no use, or the values of a
            # channel, which have its element type.
            return together([part for part in each(value) if isinstance(part, Instance)])
        if step[:1] == "#":
            return together([_part(part, int(step[1:])) for part in each(value)])
        if isinstance(value, Container) and value.name == STRUCT:
            fields = (field for field in value.args if isinstance(field, Container))
            return next((field.args[0] for field in fields if field.name == f"#{step}"), None)
        return super()._step(value, step)

    def _from_rows(self, referent: Referent, line: int) -> Value:
        """Return the value of a variable by its declared type."""
        del line
        for row in self.names.rows(referent):
            if row.how == ":":
                return self.resolver.of_type(referent.path, referent.scope, row.text)
            if row.how == "=":
                value = self.value(referent.path, row.scope, row.text, row.line)
                if value is not None:
                    return value
        return None


def _part(value: Value, at: int) -> Value:
    """Return one of several results; the first of `value, ok` is the value."""
    if isinstance(value, Container) and value.name == TUPLE:
        return value.args[at] if at < len(value.args) else None
    return value if at == 0 else None


def resolver(view: View) -> Resolver:
    """Build a resolver for the Go files of a view."""
    go = Resolver(view, GoNames(view))
    members = GoMembers(go)
    go.join(GoAnnotations(go), members, GoCalls(go), GoExpressions(go))
    go.extra_edges = lambda path, model: satisfied(path, model, members)
    return go


# The language description of Go.

SPECS = {
    "go": LanguageSpec(
        modules="go_names:GoPackages",
        settings=(b"go.mod",),
        resolver="go:resolver",
        follows_names=True,
        declares_late=True,
        needs_receiver=True,
        implicit_interfaces=True,
        imports_folders=True,
        folder_is_package=True,
        imports_are_complete=True,
        has_main=True,
        folder_is_one_scope=True,
        package_clause=rb"^package (\w+)",
        platform_file=rb"_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|nacl|netbsd|"
        rb"openbsd|plan9|solaris|wasip1|windows|386|amd64|arm|arm64|loong64|mips\w*|ppc64|ppc64le|"
        rb"riscv64|s390x|wasm)(?:_test)?\.go$",
    )
}
