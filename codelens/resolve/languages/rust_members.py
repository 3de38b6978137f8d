"""Finds the members, annotations and call results of Rust types through `impl` blocks.

`impl Trait for Type` makes the type derive from the trait, and its methods override the trait's.
"""

from __future__ import annotations

from collections.abc import Iterator

from codelens.resolve.file_model import TYPES, FileModel
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import ExtraEdge, Resolver
from codelens.resolve.inference.type_text import Type
from codelens.resolve.inference.values import Container, Definition, Instance, Value, each
from codelens.resolve.languages.rust_names import ANY, Impl, RustNames
from codelens.resolve.languages.rust_types import (
    MAPS,
    TUPLE,
    bound_of,
    defaults_of,
    result_of_method,
    rust_type,
    split_arguments,
)
from codelens.resolve.view_files import View
from codelens.types import Symbol


def implementing(model: FileModel, scope: int, resolver: Resolver, path: bytes) -> int:
    """Return the type of this file that an `impl` block is for, or -1."""
    own = resolver.instance_around(path, scope) if is_block(model, scope) else None
    return own.symbol if isinstance(own, Instance) and own.path == path else -1


def is_block(model: FileModel, scope: int) -> bool:
    """Whether a scope is an `impl` block."""
    here = model.scopes[scope]
    return here.kind == "class" and here.symbol < 0


def overriding(path: bytes, model: FileModel, resolver: Resolver) -> Iterator[ExtraEdge]:
    """Yield the methods of a file that implement a trait method of the view, with the latter."""
    blocks = {
        scope: [row for row in rows if row.how == "implements"]
        for scope, rows in model.of_scope.items()
        if is_block(model, scope)
    }
    for at, scope in enumerate(model.home if any(blocks.values()) else ()):
        for row in blocks.get(scope, ()):
            symbol = model.symbols[at]
            for trait in each(resolver.of_type(path, model.scopes[scope].parent, row.text)):
                if not isinstance(trait, Instance):
                    continue
                trait_model = resolver.view.model(trait.path)
                for method in trait_model.children.get(trait.symbol, {}).get(symbol.name, ()):
                    referent = Referent(trait.path, method, 0, symbol.name)
                    yield ExtraEdge(at, symbol.name, symbol.name_line, referent, "override")


# Members from all `impl` blocks for a type, then from its traits.


class RustMembers(Members):
    """Finds members of types, their blocks and their traits."""

    names: RustNames

    def bases(self, own: Instance) -> list[Instance]:
        """Return the traits that a type implements, or that a trait requires."""
        model = self.view.model(own.path)
        traits: list[Instance] = []
        places = [(own.path, model.own_scope.get(own.symbol, -1))]
        places += [(block.path, block.scope) for block in self._blocks(own)]
        for path, scope in places:
            traits += [] if scope < 0 else self._implemented(path, scope)
        return [trait for trait in dict.fromkeys(traits) if trait[:2] != own[:2]]

    def _implemented(self, path: bytes, scope: int) -> list[Instance]:
        """Return the traits that a type or a block names as implemented."""
        model = self.view.model(path)
        around = model.scopes[scope].parent
        return [
            base
            for row in model.of_scope.get(scope, ())
            if row.how == "implements"
            for base in each(self.resolver.of_type(path, around, row.text))
            if isinstance(base, Instance)
        ]

    def _blocks(self, own: Instance) -> list[Impl]:
        """Return the `impl` blocks of a type."""
        return self.once(("blocks", *own[:2]), lambda: self._find_blocks(own), [])

    def _find_blocks(self, own: Instance) -> list[Impl]:
        blocks: list[Impl] = []
        name = self.view.symbol(own).name
        for called in (name, *self.names.other_names(name)):
            for block in self.names.impls(called):
                referents = self._types_of(block)
                if any(referent[:2] == own[:2] for referent in referents):
                    blocks.append(block)
        return sorted(blocks, key=lambda block: block.of_trait)

    def _types_of(self, block: Impl) -> list[Referent]:
        """Return the type that a block is for, resolving aliases."""
        model = self.view.model(block.path)
        rows = [row for row in model.of_scope.get(block.scope, ()) if row.how == "alias"]
        head = rust_type(rows[0].text).partition("<")[0]
        referents = self.resolver.named_type(block.path, model.scopes[block.scope].parent, head)
        types: list[Referent] = []
        for referent in referents:
            if is_kind(self.view, referent, "type"):
                aliased = self.resolver.typed(referent, (), None)
                types += [
                    Referent(*part[:2]) for part in each(aliased) if isinstance(part, Instance)
                ]
            else:
                types.append(referent)
        return types

    def _of_types(
        self, ancestors: list[Instance], name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        for type_ in ancestors:
            pairs = super()._of_types([type_], name, value)
            if pairs:
                return pairs
            referents = self._in_blocks(type_, name)
            if referents:
                return [(referent, value) for referent in referents]
        return []

    def _in_blocks(self, own: Instance, name: str) -> list[Referent]:
        by_trait: list[Referent] = []
        for block in self._blocks(own):
            referents = block.members.get(name, [])
            if referents and not block.of_trait:
                return referents
            by_trait += referents
        # `impl From<A> for T` and `impl From<B> for T` are indistinguishable here.
        return by_trait if len(by_trait) == 1 else []

    def of_traits(self, own: Instance, name: str) -> list[Referent]:
        """Return the members of that name from all trait blocks of a type."""
        return [
            referent
            for block in self._blocks(own)
            if block.of_trait
            for referent in block.members.get(name, ())
        ]

    def of_operator(self, own: Instance, name: str, operand: Value) -> list[Referent]:
        """Return the trait methods of that name; if there are several, those for the operand."""
        blocks = [block for block in self._blocks(own) if block.of_trait and name in block.members]
        if len(blocks) > 1 and isinstance(operand, Instance | Container):
            fitting = [block for block in blocks if self._takes(block, own, operand)]
            blocks = fitting or blocks
        return [referent for block in blocks for referent in block.members[name]]

    def _takes(self, block: Impl, own: Instance, operand: Instance | Container) -> bool:
        """Whether a trait block takes the operand's type as argument, or none: `Add<Foo>`."""
        model = self.view.model(block.path)
        around = model.scopes[block.scope].parent
        for row in model.of_scope.get(block.scope, ()):
            if row.how == "implements":
                _, sign, inner = rust_type(row.text).partition("<")
                if isinstance(operand, Container):
                    return bool(sign) and inner[:-1] == operand.name
                taken = self.resolver.of_type(block.path, around, inner[:-1]) if sign else own
                return any(
                    isinstance(part, Instance) and part[:2] == operand[:2] for part in each(taken)
                )
        return False

    def methods(self, value: Value, name: str, path: bytes = b"") -> list[Referent]:
        """Return the callable members of that name, as seen from a file."""
        referents = [referent for referent, _ in self.members(value, name)]
        methods = [referent for referent in referents if not is_kind(self.view, referent, "field")]
        if not methods and isinstance(value, Instance | Definition):
            ancestors = self.ancestry(Instance(*value[:2]))
            methods = [referent for type_ in ancestors for referent in self._in_blocks(type_, name)]
        if not methods and isinstance(value, Instance):
            target = self._target(value)
            methods = self.methods(target, name, path) if isinstance(target, Instance) else []
        if not methods and isinstance(value, Container):
            methods = self._by_traits(value.name.rpartition(".")[2], name, path)
        return methods

    def of_all(self, value: Value, name: str, path: bytes) -> list[Referent]:
        """Return the members of that name that traits add to all types."""
        is_evaluated = any(isinstance(part, Instance | Container) for part in each(value))
        return self._by_traits(ANY, name, path) if is_evaluated else []

    def _by_traits(self, kind: str, name: str, path: bytes) -> list[Referent]:
        """Return the only member that a trait of the view adds to a foreign type or to all types.

        Blocks without a trait also count, for types that a macro defines. Among several crates, the
        file's own crate wins.
        """
        methods = [
            referent
            for block in self.names.impls(kind)
            if name in block.members and not self._types_of(block)
            for referent in block.members[name]
        ]
        methods = methods or [
            Referent(trait.path, symbol, 0, name)
            for block in self.names.impls(kind)
            if block.of_trait and not self._types_of(block)
            for trait in self._implemented(block.path, block.scope)
            for symbol in self._provided(trait, name)
        ]
        if len(methods) > 1 and path:
            root = self.view.modules(path, "crate")
            methods = [
                referent
                for referent in methods
                if self.view.modules(referent.path, "crate") == root
            ]
        return methods if len(methods) == 1 else []

    def _provided(self, trait: Instance, name: str) -> tuple[int, ...]:
        return tuple(self.view.model(trait.path).children.get(trait.symbol, {}).get(name, ()))

    def _target(self, value: Instance) -> Value:
        """Return the `Deref` target of a value, whose methods it shares."""
        return self.once(("target", value), lambda: self._find_target(value), None)

    def _find_target(self, value: Instance) -> Value:
        for block in self._blocks(value):
            if block.of_trait and "deref" in block.members:
                for referent in block.members.get("Target", ()):
                    target = self.resolver.typed(referent, (), value)
                    return None if target is None or target[:2] == value[:2] else target
        return None

    def item(self, value: Instance) -> Value:
        """Return the item type of a value's iterator."""
        for type_ in self.ancestry(value):
            for referent in self._in_blocks(type_, "Item"):
                return self.resolver.typed(referent, (), value)
        return None

    def _static(self, value: Definition, name: str) -> list[tuple[Referent, Value]]:
        model = self.view.model(value.path)
        if model.symbols[value.symbol].kind == "module":
            referents = self.names.inside(Referent(value.path, value.symbol), name)
            return [(referent, value) for referent in referents]
        if model.symbols[value.symbol].kind == "type":
            aliased = self.resolver.typed(Referent(value.path, value.symbol), (), None)
            if isinstance(aliased, Instance) and aliased[:2] != value[:2]:
                return super()._static(Definition(*aliased[:2]), name)
        return super()._static(value, name)

    def _member_value(self, value: Value, name: str) -> Value:
        if isinstance(value, Container):
            return result_of_method(value, name)
        return super()._member_value(value, name)


def is_kind(view: View, referent: Referent, kind: str) -> bool:
    """Whether a definition is of a kind."""
    return referent.symbol >= 0 and view.symbol(referent).kind == kind


# Type annotations, and the results of calls.

_ANY = frozenset({"_", "any", "void", "Self"})


class RustAnnotations(Annotations):
    """Evaluates Rust types and paths to them."""

    names: RustNames

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """Return a value of a type in Rust syntax."""
        return super().of_type(path, scope, rust_type(text), me)

    def named_type(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """Return the referents of a type's path."""
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
        """Return a value of a type; an associated type has the value of its bound."""
        model = self.view.model(referent.path)
        symbol = model.symbols[referent.symbol] if referent.symbol >= 0 else None
        if symbol is not None and symbol.kind == "type":
            scope = model.own_scope.get(referent.symbol, -1)
            if not any(row.how == "alias" for row in model.of_scope.get(scope, ())):
                bound = bound_of(symbol.signature)
                around = model.own_scope.get(symbol.parent, 0)
                return self.of_type(referent.path, around, bound, me) if bound else None
        if not args and symbol is not None and symbol.kind in TYPES:
            args = self._defaults(referent, symbol)
        return super().typed(referent, args, me)

    def _defaults(self, referent: Referent, symbol: Symbol) -> tuple[Value, ...]:
        """Return the default type arguments of a type that is written without any: `R<A = T>`."""
        texts = defaults_of(symbol.signature, symbol.name)
        return (
            tuple(self.of_type(referent.path, 0, text) if text else None for text in texts)
            if any(texts)
            else ()
        )

    def _parameter(self, referent: Referent, model: FileModel, me: Value) -> Value:
        """Return a type parameter's argument; for a block's, by its place in `impl<B> R<B>`."""
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
        """Return a value of a type outside of the view; the view's traits may add members."""
        value = super()._foreign(path, scope, name, args, me)
        return Container(name, ()) if value is None and not args and name not in _ANY else value

    def path_hits(self, path: bytes, scope: int, parts: list[str]) -> list[Referent]:
        """Return the referents of a path, excluding local variables."""
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
        if local:
            return []
        return self.names.follow(path, self.names.module_of(model, scope), parts)


class RustCalls(Calls):
    """Infers the results of calls."""

    def __init__(self, resolver: Resolver, members: RustMembers) -> None:
        super().__init__(resolver)
        self._inside = members

    def called(self, value: Value) -> Value:
        """Return the result of a call; a call of a variant or tuple struct constructs a value."""
        if isinstance(value, Instance | Container):
            return value
        return super().called(value)

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        model = self.view.model(path)
        if me is None:
            scope = model.own_scope.get(symbol)
            me = self.resolver.instance_around(path, scope) if scope is not None else None
        return super()._result(path, symbol, me)

    def element(self, value: Value, step: str) -> Value:
        """Return an element of a value, by `[]` or by iteration (`[*]`)."""
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
