"""Members of classes in Java and its like: of all parts of a type, of its bases, extensions."""

from __future__ import annotations

from codelens.resolve.facts.file_model import TYPES
from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Referent
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
    ) -> list[Referent]:
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
    ) -> list[Referent]:
        """Members of the nearest type; if not `strict`, what is read by a call as well."""
        for type_ in self._line(value):
            model = self.view.model(type_.path)
            if model is None:
                continue
            referents = [
                referent for referent in self.members_named(type_, name) if self.is_own(referent)
            ]
            if space is not None:
                chosen = self.names.of_space(referents, space)
                lax = not strict and space == "call"
                referents = (
                    [referent for referent in referents if self._runs(referent)]
                    if lax and not chosen
                    else chosen
                )
            referents = self.names.fitting(referents, arguments)
            if referents:
                return referents
        return []

    def members_named(self, own: Instance, name: str) -> list[Referent]:
        """Members of that name in the parts of a type, constructors left out."""
        parts = self.parts(own)
        if len(parts) == 1:
            return self._in_part(*parts[0], name)
        # A class may have hundreds of parts, where code is generated.
        whole = self.once(("held", own.path, own.symbol), lambda: self._members_by_name(parts), {})
        return whole.get(name, [])

    def _members_by_name(self, parts: list[tuple[bytes, int]]) -> dict[str, list[Referent]]:
        by_name: dict[str, list[Referent]] = {}
        for path, symbol in parts:
            model = self.view.model(path)
            for name in model.children.get(symbol, {}) if model is not None else ():
                by_name.setdefault(name, []).extend(self._in_part(path, symbol, name))
        return by_name

    def _in_part(self, path: bytes, symbol: int, name: str) -> list[Referent]:
        model = self.view.model(path)
        places = model.children.get(symbol, {}).get(name, ()) if model is not None else ()
        if model is None or not places:
            return []
        scope = model.own_scope.get(symbol, 0)
        return [Referent(path, at, scope, name) for at in places if not builds(model, at)]

    def is_own(self, referent: Referent) -> bool:
        """An explicit member of an interface is none of the class (C# 18.6.2)."""
        model = self.view.model(referent.path)
        if model is None or model.language != "csharp":
            return True
        return not is_explicit(model.symbols[referent.symbol].signature, referent.name)

    def _runs(self, referent: Referent) -> bool:
        """What is no method can be called: a component of a record, a value that is a function."""
        model = self.view.model(referent.path)
        if model is None or referent.symbol < 0:
            return False
        symbol = model.symbols[referent.symbol]
        if model.language == "csharp":
            return is_delegate(symbol.signature)
        if model.language == "java":
            owner = model.symbols[symbol.parent].signature if symbol.parent >= 0 else ""
            return "record " in owner
        return model.language != "php"

    def extensions(self, value: Instance | Definition | Super, name: str) -> list[Referent]:
        """Functions made for a type outside of it: the only one of that name for it."""
        if not isinstance(value, Instance) or self.view.languages.get(value.path) not in _EXTENDED:
            return []
        every = self.view.index("extensions", self._all_extensions).get(name, ())
        for type_ in self.ancestry(value):
            referents = [referent for referent, own in every if own[:2] == type_[:2]]
            if referents:
                return referents if len({referent.path for referent in referents}) == 1 else []
        return []

    def _all_extensions(self) -> dict[str, list[tuple[Referent, Instance]]]:
        by_name: dict[str, list[tuple[Referent, Instance]]] = {}
        for path, language in sorted(self.view.languages.items()):
            model = self.view.model(path) if language in _EXTENDED else None
            for at, symbol in enumerate(model.symbols if model is not None else ()):
                kind = extended(symbol.signature, symbol.name, language)
                if kind:
                    for own in each(self.resolver.of_type(path, 0, kind)):
                        if isinstance(own, Instance):
                            referent = Referent(path, at, 0, symbol.name)
                            by_name.setdefault(symbol.name, []).append((referent, own))
        return by_name

    def parts(self, own: Instance) -> list[tuple[bytes, int]]:
        """The declarations that a type is made of; in C# there may be several."""
        if self.view.languages.get(own.path) != "csharp":
            return [own[:2]]
        return self.once(("parts", own.path, own.symbol), lambda: self._parts(own), [own[:2]])

    def _parts(self, own: Instance) -> list[tuple[bytes, int]]:
        model = self.view.model(own.path)
        if model is None:
            return [own[:2]]
        symbol = model.symbols[own.symbol]
        if symbol.parent >= 0 and model.symbols[symbol.parent].kind in TYPES:
            return [own[:2]]
        referents = self.names.parts(self.names.package(own.path), symbol.name)
        count = self.names.generics(Referent(*own[:2]))
        referents = [
            referent
            for referent in self.names.of_space(referents, "type")
            if self.names.generics(referent) == count
        ]
        return [(referent.path, referent.symbol) for referent in referents] or [own[:2]]

    def _line(self, value: Instance | Definition | Super) -> list[Instance]:
        if isinstance(value, Super):
            if not isinstance(value.of, Instance):
                return []
            line = self.ancestry(value.of)
            at = next((at for at, type_ in enumerate(line) if type_[:2] == value[:2]), len(line))
            return line[at + 1 :]
        if isinstance(value, Definition):
            return self.ancestry(Instance(value.path, value.symbol))
        return self.ancestry(value)

    def _of_types(
        self, line: list[Instance], name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        for type_ in line:
            referents: list[Referent] = []
            for path, symbol in self.parts(type_):
                model = self.view.model(path)
                if model is not None:
                    scope = model.own_scope.get(symbol, 0)
                    places = model.children.get(symbol, {}).get(name, ())
                    referents += [Referent(path, at, scope, name) for at in places]
            if referents:
                return [(referent, value) for referent in referents]
        return []

    def bases(self, own: Instance) -> list[Instance]:
        """The bases of a type that are types of the view."""
        bases: list[Instance] = []
        for path, symbol in self.parts(own):
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
                        for base in each(self.resolver.of_type(path, scope, row.text, own)):
                            if isinstance(base, Instance) and base[:2] != own[:2]:
                                bases.append(base)
            finally:
                if fresh:
                    self.names.busy.discard(key)
        return bases

    def instance_of_scope(self, path: bytes, scope: int) -> Instance | None:
        """An instance of the class that a class scope is; of its base, if it has no name."""
        model = self.view.model(path)
        if model is None:
            return None
        here = model.scopes[scope]
        if here.symbol >= 0:
            symbol = here.symbol
            if model.symbols[symbol].kind not in TYPES:
                symbol = model.symbols[symbol].parent
            return Instance(path, symbol) if symbol >= 0 else None
        for row in model.of_scope.get(scope, ()):
            if row.how == "base":
                value = self.resolver.of_type(path, here.parent, row.text)
                return value if isinstance(value, Instance) else None
        return None
