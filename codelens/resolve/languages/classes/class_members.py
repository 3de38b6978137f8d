"""Members of classes in Java and its like: of all parts of a type, of its bases, extensions."""

from __future__ import annotations

from codelens.resolve.facts.file_model import TYPES
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Hit
from codelens.resolve.inference.values import Definition, Instance, Super, Value, each
from codelens.resolve.languages.classes.class_names import ClassNames, Space, builds
from codelens.resolve.languages.classes.class_type_text import extended, is_delegate, is_explicit

_EXTENDED = frozenset({"csharp", "kotlin"})
"""Languages with extension methods; for the others nothing needs an index of the view."""


class ClassMembers(Members):
    """Finds members of classes."""

    names: ClassNames

    def inherited(
        self, value: Instance, name: str, space: Space | None, arguments: int = -1
    ) -> list[Hit]:
        """Members of a type and its bases, those of the nearest that has any that fit."""
        return self.line_members(value, name, space, arguments)

    def line_members(
        self,
        value: Instance | Definition | Super,
        name: str,
        space: Space | None,
        arguments: int,
        *,
        strict: bool = True,
    ) -> list[Hit]:
        """Members of the nearest type; if not `strict`, what is read by a call as well."""
        for one in self._line(value):
            model = self.view.model(one.path)
            if model is None:
                continue
            hits = [hit for hit in self.held(one, name) if self.is_own(hit)]
            if space is not None:
                chosen = self.names.of_space(hits, space)
                lax = not strict and space == "call"
                hits = [hit for hit in hits if self._runs(hit)] if lax and not chosen else chosen
            hits = self.names.fitting(hits, arguments)
            if hits:
                return hits
        return []

    def held(self, one: Instance, name: str) -> list[Hit]:
        """Members of that name in the parts of a type, constructors left out."""
        parts = self.parts(one)
        if len(parts) == 1:
            return self._in_part(*parts[0], name)
        # A class may have hundreds of parts, where code is generated.
        whole = self.once(("held", one.path, one.symbol), lambda: self._all_held(parts), {})
        return whole.get(name, [])

    def _all_held(self, parts: list[tuple[bytes, int]]) -> dict[str, list[Hit]]:
        found: dict[str, list[Hit]] = {}
        for path, symbol in parts:
            model = self.view.model(path)
            for name in model.children.get(symbol, {}) if model is not None else ():
                found.setdefault(name, []).extend(self._in_part(path, symbol, name))
        return found

    def _in_part(self, path: bytes, symbol: int, name: str) -> list[Hit]:
        model = self.view.model(path)
        places = model.children.get(symbol, {}).get(name, ()) if model is not None else ()
        if model is None or not places:
            return []
        scope = model.own_scope.get(symbol, 0)
        return [Hit(path, at, scope, name) for at in places if not builds(model, at)]

    def is_own(self, hit: Hit) -> bool:
        """An explicit member of an interface is none of the class (C# 18.6.2)."""
        model = self.view.model(hit.path)
        if model is None or model.language != "csharp":
            return True
        return not is_explicit(model.symbols[hit.symbol].signature, hit.name)

    def _runs(self, hit: Hit) -> bool:
        """What is no method can be called: a component of a record, a value that is a function."""
        model = self.view.model(hit.path)
        if model is None or hit.symbol < 0:
            return False
        symbol = model.symbols[hit.symbol]
        if model.language == "csharp":
            return is_delegate(symbol.signature)
        if model.language == "java":
            owner = model.symbols[symbol.parent].signature if symbol.parent >= 0 else ""
            return "record " in owner
        return model.language != "php"

    def extensions(self, value: Instance | Definition | Super, name: str) -> list[Hit]:
        """Functions made for a type outside of it: the only one of that name for it."""
        if not isinstance(value, Instance) or self.view.languages.get(value.path) not in _EXTENDED:
            return []
        every = self.view.index("extensions", self._all_extensions).get(name, ())
        for one in self.ancestry(value):
            found = [hit for hit, own in every if own[:2] == one[:2]]
            if found:
                return found if len({hit.path for hit in found}) == 1 else []
        return []

    def _all_extensions(self) -> dict[str, list[tuple[Hit, Instance]]]:
        found: dict[str, list[tuple[Hit, Instance]]] = {}
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language in _EXTENDED else None
            for at, symbol in enumerate(model.symbols if model is not None else ()):
                kind = extended(symbol.signature, symbol.name, language)
                if kind:
                    for own in each(self.resolver.of_type(path, 0, kind)):
                        if isinstance(own, Instance):
                            hit = Hit(path, at, 0, symbol.name)
                            found.setdefault(symbol.name, []).append((hit, own))
        return found

    def parts(self, one: Instance) -> list[tuple[bytes, int]]:
        """The declarations that a type is made of; in C# there may be several."""
        if self.view.languages.get(one.path) != "csharp":
            return [one[:2]]
        return self.once(("parts", one.path, one.symbol), lambda: self._parts(one), [one[:2]])

    def _parts(self, one: Instance) -> list[tuple[bytes, int]]:
        model = self.view.model(one.path)
        if model is None:
            return [one[:2]]
        symbol = model.symbols[one.symbol]
        if symbol.parent >= 0 and model.symbols[symbol.parent].kind in TYPES:
            return [one[:2]]
        hits = self.names.parts(self.names.package(one.path), symbol.name)
        count = self.names.generics(Hit(*one[:2]))
        hits = [
            hit for hit in self.names.of_space(hits, "type") if self.names.generics(hit) == count
        ]
        return [(hit.path, hit.symbol) for hit in hits] or [one[:2]]

    def _line(self, value: Instance | Definition | Super) -> list[Instance]:
        if isinstance(value, Super):
            if not isinstance(value.of, Instance):
                return []
            line = self.ancestry(value.of)
            at = next((at for at, one in enumerate(line) if one[:2] == value[:2]), len(line))
            return line[at + 1 :]
        if isinstance(value, Definition):
            return self.ancestry(Instance(value.path, value.symbol))
        return self.ancestry(value)

    def _of_types(self, line: list[Instance], name: str, value: Value) -> list[tuple[Hit, Value]]:
        for one in line:
            hits: list[Hit] = []
            for path, symbol in self.parts(one):
                model = self.view.model(path)
                if model is not None:
                    scope = model.own_scope.get(symbol, 0)
                    places = model.children.get(symbol, {}).get(name, ())
                    hits += [Hit(path, at, scope, name) for at in places]
            if hits:
                return [(hit, value) for hit in hits]
        return []

    def bases(self, one: Instance) -> list[Instance]:
        """The bases of a type that are types of the view."""
        found: list[Instance] = []
        for path, symbol in self.parts(one):
            model = self.view.model(path)
            scope = model.own_scope.get(symbol) if model is not None else None
            if model is None or scope is None:
                continue
            key = (path, symbol)
            fresh = key not in self.names.busy
            self.names.busy.add(key)
            try:
                for row in model.of_scope.get(scope, ()):
                    if row.how in {"base", "implements"}:
                        for base in each(self.resolver.of_type(path, scope, row.text, one)):
                            if isinstance(base, Instance) and base[:2] != one[:2]:
                                found.append(base)
            finally:
                if fresh:
                    self.names.busy.discard(key)
        return found

    def instance_of_scope(self, path: bytes, scope: int) -> Instance | None:
        """An instance of the class that a class scope is; of its base, if it has no name."""
        model = self.view.model(path)
        if model is None:
            return None
        one = model.scopes[scope]
        if one.symbol >= 0:
            symbol = one.symbol
            if model.symbols[symbol].kind not in TYPES:
                symbol = model.symbols[symbol].parent
            return Instance(path, symbol) if symbol >= 0 else None
        for row in model.of_scope.get(scope, ()):
            if row.how == "base":
                value = self.resolver.of_type(path, one.parent, row.text)
                return value if isinstance(value, Instance) else None
        return None
