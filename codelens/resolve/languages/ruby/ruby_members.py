"""Ruby: constants by their nesting, methods of reopened classes, mixins.

Receivers are known where a value was made by `new`, is `self`, a constant, or an instance variable
that is given such a value; all else stays open.
"""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Hit
from codelens.resolve.inference.values import Instance
from codelens.resolve.languages.ruby.ruby_mixins import Mixed, class_methods, mixed, singletons

_CALLED = CALLABLE | {"property"}
_HOLDERS = TYPES | {"module"}


class RubyMembers(Members):
    """Constants, and members of classes wherever they are opened."""

    def _constants(self) -> dict[str, list[Hit]]:
        """Qualified name -> where it is opened."""
        found: dict[str, list[Hit]] = {}
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language == "ruby" else None
            for at, symbol in enumerate(model.symbols if model is not None else ()):
                if symbol.kind in _HOLDERS:
                    name = symbol.qualified.replace("::", ".")
                    found.setdefault(name, []).append(Hit(path, at, 0, symbol.name))
        return found

    def parts(self, qualified: str) -> list[Hit]:
        """All places where a class or module is opened."""
        return self.view.index("ruby constants", self._constants).get(qualified, [])

    def constant(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """What a constant's path means: in the modules around, innermost first."""
        model = self.view.model(path)
        if model is None:
            return []
        around = self._around(model, scope)
        while True:
            hits = self.parts(f"{around}.{name}" if around else name)
            if hits or not around:
                return hits
            around = around.rpartition(".")[0]

    def _around(self, model: FileModel, scope: int) -> str:
        while scope > 0:
            symbol = model.scopes[scope].symbol
            if symbol >= 0 and model.symbols[symbol].kind in _HOLDERS:
                return model.symbols[symbol].qualified.replace("::", ".")
            scope = model.scopes[scope].parent
        return ""

    def own(self, path: bytes, scope: int) -> Instance | None:
        """`self`."""
        model = self.view.model(path)
        hits = self.parts(self._around(model, scope)) if model is not None else []
        return Instance(hits[0].path, hits[0].symbol) if hits else None

    def qualified(self, one: Instance) -> str:
        """The name of a class or module with those around it, dots between."""
        model = self.view.model(one.path)
        return model.symbols[one.symbol].qualified.replace("::", ".") if model is not None else ""

    def bases(self, one: Instance) -> list[Instance]:
        """Mixins and the superclass, wherever the class is opened."""
        return list(dict.fromkeys(self._included(one) + self.superclasses(one)))

    def superclasses(self, one: Instance) -> list[Instance]:
        """The superclass, as it is named wherever the class is opened."""
        found: list[Instance] = []
        for hit in self.parts(self.qualified(one)):
            model = self.view.model(hit.path)
            scope = model.own_scope.get(hit.symbol) if model is not None else None
            if model is None or scope is None:
                continue
            for row in model.of_scope.get(scope, ()):
                if row.how == "base":
                    found += self._named_in(hit.path, model.scopes[scope].parent, row.text, one)
        return found

    def _included(self, one: Instance) -> list[Instance]:
        return [
            base
            for hit in self.parts(self.qualified(one))
            for row in self._mixed(hit).included
            for base in self._named_in(hit.path, row.scope, row.text, one)
        ]

    def _named_in(self, path: bytes, scope: int, text: str, but: Instance) -> list[Instance]:
        hits = self.constant(path, scope, text.replace("::", "."))[:1]
        return [Instance(*hit[:2]) for hit in hits if hit[:2] != but[:2]]

    def _mixed(self, hit: Hit) -> Mixed:
        nothing = Mixed((), (), (), is_concern=False)
        model = self.view.model(hit.path)
        if model is None:
            return nothing
        return self.once(("mixed", *hit[:2]), lambda: mixed(model, hit.symbol), nothing)

    def _extensions(self, one: Instance) -> list[Instance]:
        """Modules whose methods a class has itself: of `extend`, and of what it includes."""
        found: list[Instance] = []
        for hit in self.parts(self.qualified(one)):
            for row in self._mixed(hit).extended:
                found += self._named_in(hit.path, row.scope, row.text, one)
        for module in self._included(one):
            for part in self.parts(self.qualified(module)):
                told = self._mixed(part)
                for scope, name in told.handed:
                    found += self._named_in(part.path, scope, name, one)
                if told.is_concern:
                    found += self._named_in(
                        part.path, 0, f"{self.qualified(module)}.ClassMethods", one
                    )
        return list(dict.fromkeys(found))

    def methods(self, one: Instance, name: str, *, above: bool = False) -> list[Hit]:
        """Methods of that name of the nearest class or module that has any."""
        for each_ in self.ancestry(one)[above:]:
            found = self._in_parts(each_, name, singleton=False)
            if found:
                return found
        return []

    def own_methods(self, one: Instance, name: str) -> list[Hit]:
        """Methods of that name of a class or module itself: of the nearest that has any."""
        for each_ in self._lineage(one):
            found = self._in_parts(each_, name, singleton=True)
            for module in self._extensions(each_) if not found else ():
                found = found or self.methods(module, name)
            if not found and each_ is one and self._is_module(one):
                # `module_function`, `extend self`.
                found = self._in_parts(one, name, singleton=False)
            if found:
                return found
        return self._of_concerns(one, name)

    def _lineage(self, one: Instance) -> list[Instance]:
        found = [one]
        for each_ in found:
            found += [base for base in self.superclasses(each_)[:1] if base not in found]
        return found

    def _of_concerns(self, one: Instance, name: str) -> list[Hit]:
        for module in self._included(one):
            for hit in self.parts(self.qualified(module)):
                model = self.view.model(hit.path)
                places = model.children.get(hit.symbol, {}).get(name, ()) if model else ()
                if model is None or not places or not self._mixed(hit).is_concern:
                    continue
                found = [at for at in places if at in class_methods(model, hit.symbol)]
                if found:
                    return [Hit(hit.path, found[-1], 0, name)]
        return []

    def _is_module(self, one: Instance) -> bool:
        model = self.view.model(one.path)
        return model is not None and model.symbols[one.symbol].kind == "module"

    def _in_parts(self, one: Instance, name: str, *, singleton: bool) -> list[Hit]:
        for hit in self.parts(self.qualified(one)):
            model = self.view.model(hit.path)
            places = model.children.get(hit.symbol, {}).get(name, ()) if model is not None else ()
            if model is None or not places:
                continue
            alone = self.singletons(hit.path, model)
            found = [
                at
                for at in places
                if model.symbols[at].kind in _CALLED and (at in alone) is singleton
            ]
            # What a block in the class defines is mostly of what the block makes.
            direct = [at for at in found if not in_block(model, at)]
            if found:
                return [Hit(hit.path, (direct or found)[-1], 0, name)]
        return []

    def singletons(self, path: bytes, model: FileModel) -> frozenset[int]:
        """Methods of a file that belong to classes and modules themselves."""
        return self.once(("singletons", path), lambda: singletons(model), frozenset())


def in_block(model: FileModel, symbol: int) -> bool:
    """Whether a method is defined in a block: `Class.new do def f; end end`."""
    around = model.scopes[model.own_scope.get(symbol, 0)].parent
    return around >= 0 and model.scopes[around].kind == "block"
