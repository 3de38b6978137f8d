"""Ruby: constants by their nesting, methods of reopened classes, mixins.

Receivers are known where a value was made by `new`, is `self`, a constant, or an instance variable
that is given such a value; all else stays open.
"""

from __future__ import annotations

from codelens.resolve.model import CALLABLE, TYPES, FileModel
from codelens.resolve.names import LOCAL, Hit, Names
from codelens.resolve.types import Types
from codelens.resolve.values import Definition, Instance, Value, each, together
from codelens.resolve.view import View
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
        mixed: list[Instance] = []
        above: list[Instance] = []
        for hit in self.parts(self._qualified(one)):
            model = self.view.model(hit.path)
            scope = model.own_scope.get(hit.symbol) if model is not None else None
            if model is None or scope is None:
                continue
            for row in model.of_scope.get(scope, ()):
                if row.how not in {"base", "implements"}:
                    continue
                name = row.text.replace("::", ".")
                place = model.scopes[scope].parent if row.how == "base" else scope
                for base in self.constant(hit.path, place, name)[:1]:
                    if base[:2] != one[:2]:
                        (above if row.how == "base" else mixed).append(Instance(*base[:2]))
        return list(dict.fromkeys(mixed + above))

    def methods(self, one: Instance, name: str, *, above: bool = False) -> list[Hit]:
        """Methods of that name of the nearest class or module that has any."""
        for each_ in self.ancestry(one)[above:]:
            for hit in self.parts(self._qualified(each_)):
                model = self.view.model(hit.path)
                if model is None:
                    continue
                places = model.children.get(hit.symbol, {}).get(name, ())
                found = [
                    Hit(hit.path, at, 0, name) for at in places if model.symbols[at].kind in _CALLED
                ]
                if found:
                    return found[-1:]
        return []

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
            return self.methods(own, method, above=True) if own is not None else []
        if self._local(path, model, scope, name) is not None:
            return []
        found = self.methods(own, name) if own is not None else []
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
                hits = self.methods(one, name)
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
            found = self._own(path, scope)
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
        own = self._own(path, scope)
        return self._sent(own, name) if own is not None else None

    def _sent(self, value: Value, name: str) -> Value:
        if isinstance(value, Definition):
            if name == "new":
                return Instance(*value[:2])
            one = Instance(*value[:2])
        elif isinstance(value, Instance):
            if name == "class":
                return Definition(*value[:2])
            one = value
        else:
            return None
        for hit in self.methods(one, name):
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
