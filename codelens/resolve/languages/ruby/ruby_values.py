"""Ruby: constants by their nesting, methods of reopened classes, mixins.

Receivers are known where a value was made by `new`, is `self`, a constant, or an instance variable
that is given such a value; all else stays open.
"""

from __future__ import annotations

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.expression_values import Types
from codelens.resolve.inference.name_lookup import LOCAL, Hit, Names
from codelens.resolve.inference.values import Definition, Instance, Value, each, together
from codelens.resolve.languages.ruby.ruby_mixins import Mixed, class_methods, mixed, singletons
from codelens.types import Reference

_CALLED = CALLABLE | {"property"}
_HOLDERS = TYPES | {"module"}


class RubyTypes(Types):
    """Names and values in Ruby."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.names = Names(view)

    # -- constants ------------------------------------------------------------------------

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

    def _own(self, path: bytes, scope: int) -> Instance | None:
        """`self`."""
        model = self.view.model(path)
        hits = self.parts(self._around(model, scope)) if model is not None else []
        return Instance(hits[0].path, hits[0].symbol) if hits else None

    # -- members --------------------------------------------------------------------------

    def _qualified(self, one: Instance) -> str:
        model = self.view.model(one.path)
        return model.symbols[one.symbol].qualified.replace("::", ".") if model is not None else ""

    def bases(self, one: Instance) -> list[Instance]:
        """Mixins and the superclass, wherever the class is opened."""
        return list(dict.fromkeys(self._included(one) + self._superclasses(one)))

    def _superclasses(self, one: Instance) -> list[Instance]:
        found: list[Instance] = []
        for hit in self.parts(self._qualified(one)):
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
            for hit in self.parts(self._qualified(one))
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
        return self._once(("mixed", *hit[:2]), lambda: mixed(model, hit.symbol), nothing)

    def _extensions(self, one: Instance) -> list[Instance]:
        """Modules whose methods a class has itself: of `extend`, and of what it includes."""
        found: list[Instance] = []
        for hit in self.parts(self._qualified(one)):
            for row in self._mixed(hit).extended:
                found += self._named_in(hit.path, row.scope, row.text, one)
        for module in self._included(one):
            for part in self.parts(self._qualified(module)):
                told = self._mixed(part)
                for scope, name in told.handed:
                    found += self._named_in(part.path, scope, name, one)
                if told.is_concern:
                    found += self._named_in(
                        part.path, 0, f"{self._qualified(module)}.ClassMethods", one
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
            found += [base for base in self._superclasses(each_)[:1] if base not in found]
        return found

    def _of_concerns(self, one: Instance, name: str) -> list[Hit]:
        for module in self._included(one):
            for hit in self.parts(self._qualified(module)):
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
        for hit in self.parts(self._qualified(one)):
            model = self.view.model(hit.path)
            places = model.children.get(hit.symbol, {}).get(name, ()) if model is not None else ()
            if model is None or not places:
                continue
            alone = self._singletons(hit.path, model)
            found = [
                Hit(hit.path, at, 0, name)
                for at in places
                if model.symbols[at].kind in _CALLED and (at in alone) is singleton
            ]
            if found:
                return found[-1:]
        return []

    def _singletons(self, path: bytes, model: FileModel) -> frozenset[int]:
        return self._once(("singletons", path), lambda: singletons(model), frozenset())

    def _of_self(self, path: bytes, scope: int, name: str) -> list[Hit]:
        """Methods of that name of what `self` is at a place."""
        own = self._self(path, scope)
        if isinstance(own, Definition):
            return self.own_methods(Instance(*own[:2]), name)
        return self.methods(own, name) if own is not None else []

    def _self(self, path: bytes, scope: int) -> Instance | Definition | None:
        """`self`: the class itself in its own methods and in its body."""
        own, model = self._own(path, scope), self.view.model(path)
        while model is not None and own is not None and scope > 0:
            one = model.scopes[scope]
            if one.kind == "class":
                return Definition(*own[:2])
            if one.kind == "function" and one.symbol >= 0:
                if self._is_of_another(model, scope):
                    return None
                alone = one.symbol in self._singletons(path, model)
                return Definition(*own[:2]) if alone else own
            scope = one.parent
        return own

    def _is_of_another(self, model: FileModel, scope: int) -> bool:
        """A method of a class that a method makes: `Class.new(Base) { def f; end }`."""
        around = model.scopes[scope].parent
        if around < 0 or model.scopes[around].kind != "block":
            return False
        holder = model.functions[around]
        return model.scopes[holder].kind == "function" and model.scopes[holder].symbol >= 0

    # -- references -----------------------------------------------------------------------

    def member_of(self, path: bytes, one: Reference) -> list[Hit]:
        """What a name behind a receiver means."""
        if one.kind == "type":
            return self.constant(path, one.scope, f"{one.receiver}.{one.name}")[:1]
        return self.called_on(path, one.scope, one.receiver, one.name, one.line)

    def meant(self, path: bytes, one: Reference) -> list[Hit]:
        """What a name without a receiver means."""
        scope, name, kind, symbol = one.scope, one.name, one.kind, one.symbol
        model = self.view.model(path)
        if model is None:
            return []
        if kind == "type":
            return self.constant(path, scope, name)[:1]
        own = self._own(path, scope)
        if name == "super":
            method = model.symbols[symbol].name if symbol >= 0 else ""
            if own is None:
                return []
            if isinstance(self._self(path, scope), Definition):
                return [
                    hit
                    for base in self._superclasses(own)[:1]
                    for hit in self.own_methods(base, method)
                ]
            return self.methods(own, method, above=True)
        if self._local(path, model, scope, name) is not None:
            return []
        found = self._of_self(path, scope, name)
        if found or name == "new":
            return found or ([Hit(*own[:2])] if own is not None else [])
        return [
            Hit(path, at, 0, name)
            for at, one in enumerate(model.symbols)
            if one.name == name and one.parent < 0 and one.kind in CALLABLE
        ][-1:]

    def called_on(self, path: bytes, scope: int, receiver: str, name: str, line: int) -> list[Hit]:
        """Targets of `a.f`."""
        found: list[Hit] = []
        for value in each(self.value(path, scope, receiver, line)):
            if isinstance(value, Definition):
                one = Instance(*value[:2])
                hits = self.own_methods(one, name)
                found += hits or ([Hit(*value[:2])] if name == "new" else [])
            elif isinstance(value, Instance):
                found += self.methods(value, name)
        return list(dict.fromkeys(found))

    def _local(self, path: bytes, model: FileModel, scope: int, name: str) -> Hit | None:
        while scope > 0 and model.scopes[scope].kind != "class":
            entry = model.names[scope].get(name)
            if entry is not None and entry.rows:
                return Hit(path, LOCAL, scope, name)
            if model.scopes[scope].kind == "function" and model.scopes[scope].symbol >= 0:
                return None
            scope = model.scopes[scope].parent
        entry = model.names[0].get(name) if scope == 0 else None
        return Hit(path, LOCAL, 0, name) if entry is not None and entry.rows else None

    # -- values ---------------------------------------------------------------------------

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """The value of an expression."""
        return super().value(path, scope, text.replace("::", "."), line)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        if head[0] == "(":
            return super()._value(path, scope, taken, line)
        if head == "0":
            return None
        at = 0
        if head[:1].isupper():
            name = head
            found: Value = self._constant_value(path, scope, name)
            while at < len(rest) and rest[at][:1].isupper():
                name = f"{name}.{rest[at]}"
                found = self._constant_value(path, scope, name)
                at += 1
        elif head == "self":
            found = self._self(path, scope)
        else:
            found = self._bare(path, scope, head, line)
        for step in rest[at:]:
            if found is None:
                return None
            if step != "()":
                found = together([self._sent(one, step) for one in each(found)])
        return found

    def _constant_value(self, path: bytes, scope: int, name: str) -> Value:
        hits = self.constant(path, scope, name)
        return Definition(hits[0].path, hits[0].symbol) if hits else None

    def _bare(self, path: bytes, scope: int, name: str, line: int) -> Value:
        """A local variable, else a method of `self`, else what is kept in `@name`."""
        model = self.view.model(path)
        if model is None:
            return None
        local = self._local(path, model, scope, name)
        if local is not None:
            return self._of_rows(local, line)
        own = self._self(path, scope)
        return self._sent(own, name) if own is not None else None

    def _sent(self, value: Value, name: str) -> Value:
        if isinstance(value, Definition):
            if name == "new":
                return Instance(*value[:2])
            one = Instance(*value[:2])
            hits = self.own_methods(one, name)
        elif isinstance(value, Instance):
            if name == "class":
                return Definition(*value[:2])
            one = value
            hits = self.methods(one, name)
        else:
            return None
        for hit in hits:
            model = self.view.model(hit.path)
            if model is not None and model.symbols[hit.symbol].kind in CALLABLE:
                return self.result(hit.path, hit.symbol, value)
        return self._kept(one, name)

    def _kept(self, one: Instance, name: str) -> Value:
        """What an instance variable is given, in the places where its class is opened."""
        for hit in self.parts(self._qualified(one)):
            model = self.view.model(hit.path)
            rows = model.attributes.get(hit.symbol, {}).get(name, []) if model is not None else []
            for row in rows:
                found = (
                    self.value(hit.path, row.scope, row.text, row.line) if row.how == "=" else None
                )
                if isinstance(found, Instance):
                    return found
        return None
