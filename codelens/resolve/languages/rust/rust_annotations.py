"""Types as Rust writes them, and what calls of Rust give."""

from __future__ import annotations

from codelens.resolve.facts.file_model import TYPES, FileModel
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.type_text import Type
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Value,
    each,
)
from codelens.resolve.languages.rust.rust_containers import (
    MAPS,
)
from codelens.resolve.languages.rust.rust_members import RustMembers
from codelens.resolve.languages.rust.rust_names import RustNames
from codelens.resolve.languages.rust.rust_type_text import (
    TUPLE,
    bound_of,
    defaults_of,
    rust_type,
    split_arguments,
)
from codelens.types import Symbol

_ANY = frozenset({"_", "any", "void", "Self"})


class RustAnnotations(Annotations):
    """Types as Rust writes them, and paths to them."""

    names: RustNames

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of a type in Rust's own writing."""
        return super().of_type(path, scope, rust_type(text), me)

    def named_type(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """What a type's path means."""
        parts = name.split(".")
        if parts[0] == "Self":
            own = self.resolver.instance_around(path, scope)
            referents = [Referent(*part[:2]) for part in each(own) if isinstance(part, Instance)]
            for part in parts[1:]:
                referents = [
                    inner
                    for referent in referents
                    for inner in self.names.inside(referent, part, types=True)
                ]
            return referents
        if len(parts) == 1:
            return self.names.lookup(path, scope, name, types=True)
        return self.path_hits(path, scope, parts)

    def typed(self, referent: Referent, args: tuple[Value, ...], me: Value) -> Value:
        """A value of a type; of one that a trait leaves open, of what it must be."""
        model = self.view.model(referent.path)
        symbol = (
            model.symbols[referent.symbol] if model is not None and referent.symbol >= 0 else None
        )
        if model is not None and symbol is not None and symbol.kind == "type":
            scope = model.own_scope.get(referent.symbol, -1)
            if not any(row.how == "alias" for row in model.of_scope.get(scope, ())):
                bound = bound_of(symbol.signature)
                around = model.own_scope.get(symbol.parent, 0)
                return self.of_type(referent.path, around, bound, me) if bound else None
        if not args and symbol is not None and symbol.kind in TYPES:
            args = self._defaults(referent, symbol)
        return super().typed(referent, args, me)

    def _defaults(self, referent: Referent, symbol: Symbol) -> tuple[Value, ...]:
        """What the parameters of a type stand for that is written without them: `R<A = T>`."""
        texts = defaults_of(symbol.signature, symbol.name)
        return (
            tuple(self.of_type(referent.path, 0, text) if text else None for text in texts)
            if any(texts)
            else ()
        )

    def _parameter(self, referent: Referent, model: FileModel, me: Value) -> Value:
        """A type parameter; that of a block stands where its type is: `impl<B> R<B>`."""
        scope = model.scopes[referent.scope]
        rows = model.of_scope.get(referent.scope, ()) if scope.symbol < 0 else ()
        alias = next((row.text for row in rows if row.how == "alias"), "")
        parts = split_arguments(alias)
        if referent.name in parts:
            at = parts.index(referent.name)
            types = self.named_type(referent.path, scope.parent, rust_type(alias).partition("<")[0])
            for part in each(me):
                if not isinstance(part, Instance) or at >= len(part.args):
                    continue
                if part.args[at] is not None and any(type_[:2] == part[:2] for type_ in types):
                    return part.args[at]
        return super()._parameter(referent, model, me)

    def _foreign(
        self, path: bytes, scope: int, name: str, args: tuple[Type, ...], me: Value
    ) -> Value:
        """A type that is not of the view: traits of it may say what it can do."""
        value = super()._foreign(path, scope, name, args, me)
        return Container(name, ()) if value is None and not args and name not in _ANY else value

    def path_hits(self, path: bytes, scope: int, parts: list[str]) -> list[Referent]:
        """What a path means, behind names that a variable may have as well."""
        local = (
            []
            if parts[0] in {"crate", "self", "super"}
            else self.names.lookup(path, scope, parts[0], types=True)
        )
        referents = [referent for referent in local if referent.symbol != LOCAL]
        if referents:
            for part in parts[1:]:
                referents = [
                    inner for referent in referents for inner in self.names.inside(referent, part)
                ]
            return referents
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
