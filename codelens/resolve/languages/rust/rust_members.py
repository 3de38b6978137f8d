"""Members in Rust: of all `impl` blocks for a type, then those that its traits have."""

from __future__ import annotations

from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Hit
from codelens.resolve.inference.values import Container, Definition, Instance, Value, each
from codelens.resolve.languages.rust.rust_containers import given_by
from codelens.resolve.languages.rust.rust_names import ANY, Impl, RustNames
from codelens.resolve.languages.rust.rust_type_text import rust_type


class RustMembers(Members):
    """Members: of a type, of its blocks, of its traits."""

    names: RustNames

    def bases(self, one: Instance) -> list[Instance]:
        """Traits that a type implements, or that a trait asks for."""
        model = self.view.model(one.path)
        if model is None:
            return []
        found: list[Instance] = []
        places = [(one.path, model.own_scope.get(one.symbol, -1))]
        places += [(block.path, block.scope) for block in self._blocks(one)]
        for path, scope in places:
            there = self.view.model(path)
            if there is None or scope < 0:
                continue
            for row in there.of_scope.get(scope, ()):
                if row.how == "implements":
                    for base in each(
                        self.resolver.of_type(path, there.scopes[scope].parent, row.text)
                    ):
                        if isinstance(base, Instance) and base[:2] != one[:2]:
                            found.append(base)
        return list(dict.fromkeys(found))

    def _blocks(self, one: Instance) -> list[Impl]:
        """The `impl` blocks of a type."""
        return self.once(("blocks", *one[:2]), lambda: self._find_blocks(one), [])

    def _find_blocks(self, one: Instance) -> list[Impl]:
        model = self.view.model(one.path)
        if model is None:
            return []
        found: list[Impl] = []
        name = model.symbols[one.symbol].name
        for called in (name, *self.names.other_names(name)):
            for block in self.names.impls(called):
                hits = self._meant_by(block)
                if any(hit[:2] == one[:2] for hit in hits):
                    found.append(block)
        return sorted(found, key=lambda block: block.of_trait)

    def _meant_by(self, block: Impl) -> list[Hit]:
        """The type that a block is for, also by another name of it."""
        model = self.view.model(block.path)
        if model is None:
            return []
        rows = [row for row in model.of_scope.get(block.scope, ()) if row.how == "alias"]
        head = rust_type(rows[0].text).partition("<")[0]
        hits = self.resolver.named_type(block.path, model.scopes[block.scope].parent, head)
        found: list[Hit] = []
        for hit in hits:
            if is_kind(self.view, hit, "type"):
                made = self.resolver.typed(hit, (), None)
                found += [Hit(*one[:2]) for one in each(made) if isinstance(one, Instance)]
            else:
                found.append(hit)
        return found

    def _of_types(self, line: list[Instance], name: str, value: Value) -> list[tuple[Hit, Value]]:
        for one in line:
            found = super()._of_types([one], name, value)
            if found:
                return found
            hits = self._in_blocks(one, name)
            if hits:
                return [(hit, value) for hit in hits]
        return []

    def _in_blocks(self, one: Instance, name: str) -> list[Hit]:
        by_trait: list[Hit] = []
        for block in self._blocks(one):
            hits = block.members.get(name, [])
            if hits and not block.of_trait:
                return hits
            by_trait += hits
        # `impl From<A> for T` and `impl From<B> for T` cannot be told apart.
        return by_trait if len(by_trait) == 1 else []

    def methods(self, value: Value, name: str, path: bytes = b"") -> list[Hit]:
        """Members of that name that can be called, in a file."""
        hits = [hit for hit, _ in self.members(value, name)]
        kept = [hit for hit in hits if not is_kind(self.view, hit, "field")]
        if not kept and isinstance(value, Instance | Definition):
            line = self.ancestry(Instance(*value[:2]))
            kept = [hit for one in line for hit in self._in_blocks(one, name)]
        if not kept and isinstance(value, Container):
            kept = self._by_traits(value.name.rpartition(".")[2], name, path)
        return kept

    def of_all(self, value: Value, name: str, path: bytes) -> list[Hit]:
        """What a trait gives all types."""
        known = any(isinstance(one, Instance | Container) for one in each(value))
        return self._by_traits(ANY, name, path) if known else []

    def _by_traits(self, kind: str, name: str, path: bytes) -> list[Hit]:
        """What traits of the view give a type that is not of it, or all types: the only one.

        Of several crates that of the file.
        """
        found = [
            hit
            for block in self.names.impls(kind)
            if block.of_trait and name in block.members and not self._meant_by(block)
            for hit in block.members[name]
        ]
        if len(found) > 1 and path:
            root = self.view.modules(path, "crate")
            found = [hit for hit in found if self.view.modules(hit.path, "crate") == root]
        return found if len(found) == 1 else []

    def item(self, value: Instance) -> Value:
        """What going through a value gives: the `Item` of its iterator."""
        for one in self.ancestry(value):
            for hit in self._in_blocks(one, "Item"):
                return self.resolver.typed(hit, (), value)
        return None

    def _static(self, value: Definition, name: str) -> list[tuple[Hit, Value]]:
        model = self.view.model(value.path)
        if model is not None and model.symbols[value.symbol].kind == "module":
            hits = self.names.inside(Hit(value.path, value.symbol), name)
            return [(hit, value) for hit in hits]
        if model is not None and model.symbols[value.symbol].kind == "type":
            made = self.resolver.typed(Hit(value.path, value.symbol), (), None)
            if isinstance(made, Instance) and made[:2] != value[:2]:
                return super()._static(Definition(*made[:2]), name)
        return super()._static(value, name)

    def _member_value(self, value: Value, name: str) -> Value:
        if isinstance(value, Container):
            return given_by(value, name)
        return super()._member_value(value, name)


def is_kind(view: View, hit: Hit, kind: str) -> bool:
    """Whether a definition is of a kind."""
    model = view.model(hit.path)
    return model is not None and hit.symbol >= 0 and model.symbols[hit.symbol].kind == kind
