"""Members in Rust: of all `impl` blocks for a type, then those that its traits have."""

from __future__ import annotations

from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.values import Container, Definition, Instance, Value, each
from codelens.resolve.languages.rust.rust_containers import result_of_method
from codelens.resolve.languages.rust.rust_names import ANY, Impl, RustNames
from codelens.resolve.languages.rust.rust_type_text import rust_type


class RustMembers(Members):
    """Members: of a type, of its blocks, of its traits."""

    names: RustNames

    def bases(self, own: Instance) -> list[Instance]:
        """Traits that a type implements, or that a trait asks for."""
        model = self.view.model(own.path)
        if model is None:
            return []
        traits: list[Instance] = []
        places = [(own.path, model.own_scope.get(own.symbol, -1))]
        places += [(block.path, block.scope) for block in self._blocks(own)]
        for path, scope in places:
            there = self.view.model(path)
            if there is None or scope < 0:
                continue
            for row in there.of_scope.get(scope, ()):
                if row.how == "implements":
                    for base in each(
                        self.resolver.of_type(path, there.scopes[scope].parent, row.text)
                    ):
                        if isinstance(base, Instance) and base[:2] != own[:2]:
                            traits.append(base)
        return list(dict.fromkeys(traits))

    def _blocks(self, own: Instance) -> list[Impl]:
        """The `impl` blocks of a type."""
        return self.once(("blocks", *own[:2]), lambda: self._find_blocks(own), [])

    def _find_blocks(self, own: Instance) -> list[Impl]:
        model = self.view.model(own.path)
        if model is None:
            return []
        blocks: list[Impl] = []
        name = model.symbols[own.symbol].name
        for called in (name, *self.names.other_names(name)):
            for block in self.names.impls(called):
                referents = self._meant_by(block)
                if any(referent[:2] == own[:2] for referent in referents):
                    blocks.append(block)
        return sorted(blocks, key=lambda block: block.of_trait)

    def _meant_by(self, block: Impl) -> list[Referent]:
        """The type that a block is for, also by another name of it."""
        model = self.view.model(block.path)
        if model is None:
            return []
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
        self, line: list[Instance], name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        for type_ in line:
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
        # `impl From<A> for T` and `impl From<B> for T` cannot be told apart.
        return by_trait if len(by_trait) == 1 else []

    def of_traits(self, own: Instance, name: str) -> list[Referent]:
        """Members of that name of all blocks that implement a trait for a type."""
        return [
            referent
            for block in self._blocks(own)
            if block.of_trait
            for referent in block.members.get(name, ())
        ]

    def of_operator(self, own: Instance, name: str, operand: Value) -> list[Referent]:
        """Methods of that name that a type has by a trait, of several those for an operand."""
        blocks = [block for block in self._blocks(own) if block.of_trait and name in block.members]
        if len(blocks) > 1 and isinstance(operand, Instance | Container):
            fitting = [block for block in blocks if self._takes(block, own, operand)]
            blocks = fitting or blocks
        return [referent for block in blocks for referent in block.members[name]]

    def _takes(self, block: Impl, own: Instance, operand: Instance | Container) -> bool:
        """A block is for a trait with that type as its argument, or with none: `Add<Foo>`."""
        model = self.view.model(block.path)
        if model is None:
            return False
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
        """Members of that name that can be called, in a file."""
        referents = [referent for referent, _ in self.members(value, name)]
        methods = [referent for referent in referents if not is_kind(self.view, referent, "field")]
        if not methods and isinstance(value, Instance | Definition):
            line = self.ancestry(Instance(*value[:2]))
            methods = [referent for type_ in line for referent in self._in_blocks(type_, name)]
        if not methods and isinstance(value, Instance):
            target = self._target(value)
            methods = self.methods(target, name, path) if isinstance(target, Instance) else []
        if not methods and isinstance(value, Container):
            methods = self._by_traits(value.name.rpartition(".")[2], name, path)
        return methods

    def of_all(self, value: Value, name: str, path: bytes) -> list[Referent]:
        """What a trait gives all types."""
        known = any(isinstance(part, Instance | Container) for part in each(value))
        return self._by_traits(ANY, name, path) if known else []

    def _by_traits(self, kind: str, name: str, path: bytes) -> list[Referent]:
        """What traits of the view give a type that is not of it, or all types: the only one.

        So do blocks without a trait, for types that a macro defines. Of several crates that of the
        file.
        """
        methods = [
            referent
            for block in self.names.impls(kind)
            if name in block.members and not self._meant_by(block)
            for referent in block.members[name]
        ]
        if len(methods) > 1 and path:
            root = self.view.modules(path, "crate")
            methods = [
                referent
                for referent in methods
                if self.view.modules(referent.path, "crate") == root
            ]
        return methods if len(methods) == 1 else []

    def _target(self, value: Instance) -> Value:
        """What a value leads to by its `Deref`: it has the methods of that."""
        return self.once(("target", value), lambda: self._find_target(value), None)

    def _find_target(self, value: Instance) -> Value:
        for block in self._blocks(value):
            if block.of_trait and "deref" in block.members:
                for referent in block.members.get("Target", ()):
                    target = self.resolver.typed(referent, (), value)
                    return None if target is None or target[:2] == value[:2] else target
        return None

    def item(self, value: Instance) -> Value:
        """What going through a value gives: the `Item` of its iterator."""
        for type_ in self.ancestry(value):
            for referent in self._in_blocks(type_, "Item"):
                return self.resolver.typed(referent, (), value)
        return None

    def _static(self, value: Definition, name: str) -> list[tuple[Referent, Value]]:
        model = self.view.model(value.path)
        if model is not None and model.symbols[value.symbol].kind == "module":
            referents = self.names.inside(Referent(value.path, value.symbol), name)
            return [(referent, value) for referent in referents]
        if model is not None and model.symbols[value.symbol].kind == "type":
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
    model = view.model(referent.path)
    return (
        model is not None and referent.symbol >= 0 and model.symbols[referent.symbol].kind == kind
    )
