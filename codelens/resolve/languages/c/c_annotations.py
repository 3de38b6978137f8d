"""Types as C and C++ write them, to values."""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.type_text import Named, Type
from codelens.resolve.inference.values import Container, Instance, Value, each
from codelens.resolve.languages.c.c_containers import HOLDING, element_of
from codelens.resolve.languages.c.c_names import CNames
from codelens.resolve.languages.c.c_type_text import c_type, tag, template_parameters

_ANY = frozenset({"auto", "void", "decltype", "this"})
"""What stands in place of a type and is none."""


class CAnnotations(Annotations):
    """Types as C++ writes them."""

    names: CNames

    def named_type(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """What a type's name means, with the names of its namespaces before it or without."""
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
        """Types in a type: its own, its bases', those of what it is another name for."""
        referents: list[Referent] = []
        for referent in self.named_type(path, scope, owner):
            value = self.typed(referent, (), None)
            for part in each(value):
                line = self.resolver.ancestry(part) if isinstance(part, Instance) else []
                for base in line:
                    model = self.view.model(base.path)
                    inside = model.children.get(base.symbol, {}) if model is not None else {}
                    places = inside.get(name, ())
                    referents += self.names.of_space(
                        [Referent(base.path, at, 0, name) for at in places], "type"
                    )
                    if referents:
                        break
        return referents

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of a type as C++ writes it."""
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
        """What stands for a parameter of the template around in an instance of it."""
        model = self.view.model(path)
        symbol = model.type_around(scope) if model is not None else -1
        while model is not None and symbol < 0 <= scope:
            # A method that stands apart from its class.
            symbol, scope = model.scopes[scope].symbol, model.scopes[scope].parent
        if model is None or symbol < 0 or not isinstance(me, Instance):
            return None
        definition = model.symbols[symbol]
        order = template_parameters(definition.signature)
        if name not in order:
            return None
        path_of = definition.qualified.split(".")
        owner = path_of[-2] if definition.kind in CALLABLE and len(path_of) > 1 else definition.name
        for base in self.resolver.ancestry(me):
            there = self.view.model(base.path)
            same = there is not None and there.symbols[base.symbol].name == owner
            if same and order.index(name) < len(base.args):
                return base.args[order.index(name)]
        return None

    def _foreign(
        self, path: bytes, scope: int, name: str, args: tuple[Type, ...], me: Value
    ) -> Value:
        """A type that is not of the view: nothing is known of it but its name."""
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
        """A value of a type, with arguments, as it is said of a value."""
        model = self.view.model(referent.path)
        if (
            model is not None
            and referent.symbol >= 0
            and model.symbols[referent.symbol].kind == "type"
        ):
            key = ("aliased", *referent[:2], args, me)
            return self.once(key, lambda: self._aliased(referent, args, me), None)
        return super().typed(referent, args, me)

    def _aliased(self, referent: Referent, args: tuple[Value, ...], me: Value) -> Value:
        """What a type stands for that is another name."""
        model = self.view.model(referent.path)
        scope = model.own_scope.get(referent.symbol) if model is not None else None
        if model is None or scope is None:
            return None
        alias = Instance(referent.path, referent.symbol, args)
        rows = [row for row in model.of_scope.get(scope, ()) if row.how == "alias"]
        if not rows:
            return alias
        own, around, text = alias if args else me, model.scopes[scope].parent, rows[0].text
        return self._expanded(alias, lambda: self.of_type(alias.path, around, text, own))
