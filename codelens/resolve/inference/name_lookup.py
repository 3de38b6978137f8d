"""From a name in a scope to what it means: scopes outwards, then imports, then nothing."""

from __future__ import annotations

from typing import NamedTuple

from codelens.resolve.facts.file_model import TYPES, VARIABLES, Entry, FileModel
from codelens.resolve.facts.view_files import View
from codelens.resolve.languages.language_spec import LanguageSpec
from codelens.types import Binding, Import

_FAR = 30
"""Longest chain of re-exports."""


class Hit(NamedTuple):
    """What a name means: a definition, a module (symbol -1), or a variable of a scope (-2)."""

    path: bytes
    symbol: int
    scope: int = 0
    name: str = ""


MODULE, LOCAL = -1, -2


def latest(model: FileModel, symbols: tuple[int, ...]) -> tuple[int, ...]:
    """Of definitions of one name in one place the one that counts: the last.

    Of a property's parts it is the first, the one that reads it.
    """
    if len(symbols) < 2:
        return symbols
    first = symbols[0]
    return (first,) if model.symbols[first].kind == "property" else symbols[-1:]


def _is_own(path: bytes, one: Import) -> bool:
    """A file imports from itself, as what is run as a script and imported does."""
    folder, _, name = path.rpartition(b"/")
    stem = name.partition(b".")[0]
    if stem in {b"__init__", b"index"}:
        stem = folder.rpartition(b"/")[2]
    return one.module.replace("/", ".").rpartition(".")[2].encode() == stem


class Names:
    """Looks names up in one view."""

    def __init__(self, view: View) -> None:
        self.view = view

    def place(self, path: bytes, scope: int, name: str) -> tuple[int, bool]:
        """A scope in which a name means the same, and whether its meaning changes by the line.

        Where most scopes bind little, so many questions become one.
        """
        model = self.view.model(path)
        if model is None or type(self).lookup is not Names.lookup:
            return scope, True
        scopes, names = model.scopes, model.names
        at, first = scope, True
        while at >= 0:
            one = scopes[at]
            entry = names[at].get(name)
            if entry is not None and one.kind == "class":
                entry = self._in_class(entry, model.spec, first)
            if entry is not None:
                return at, len(entry.rows) > 1
            if one.kind != "block":
                first = False
            at = one.parent
        return 0, False

    def lookup(self, path: bytes, scope: int, name: str, *, types: bool = False) -> list[Hit]:
        """What a bare name means in a scope; with `types`, as a type."""
        at, _ = self.place(path, scope, name)
        key = ("name", path, at, name, types)
        return self.view.once(key, lambda: self._lookup(path, at, name, types))

    def _lookup(self, path: bytes, scope: int, name: str, types: bool) -> list[Hit]:
        model = self.view.model(path)
        if model is None:
            return []
        rules = model.spec
        at, first = scope, True
        while at >= 0:
            one = model.scopes[at]
            entry = model.names[at].get(name)
            if entry is not None and one.kind == "class":
                entry = self._in_class(entry, rules, first)
            if one.kind != "block":
                first = False
            if entry is not None:
                if any(row.how == "global" for row in entry.rows):
                    at = 0
                    continue
                found = None
                if at == 0 and rules.ordered and model.stars:
                    found = self._later(path, model, name, entry, 0, set())
                if not found:
                    found = self._meaning(path, model, at, name, entry, types and rules.spaces)
                if found is not None:
                    return found
            at = one.parent
        return self._starred(path, model, name, 0, set(), types)

    def _in_class(self, entry: Entry, rules: LanguageSpec, first: bool) -> Entry | None:
        if rules.class_names:
            return entry if first else None
        rows = tuple(row for row in entry.rows if row.how in {"type", "own"})
        return Entry((), (), rows) if rows else None

    def _meaning(
        self, path: bytes, model: FileModel, scope: int, name: str, entry: Entry, types: bool
    ) -> list[Hit] | None:
        """Hits of an entry; None if it has none in the space that is asked for."""
        symbols = self.in_space(model, entry.symbols, types)
        found: list[Hit] = []
        for number in entry.imports:
            if symbols and _is_own(path, model.imports[number]):
                continue
            further = self.imported(path, model.imports[number], 0, types)
            if not further and not types:
                # It may be what is not of the view.
                return []
            found += further
        found += [Hit(path, at, scope, name) for at in symbols]
        if found:
            return found
        rows = entry.rows
        if types and not entry.imports:
            rows = tuple(row for row in rows if row.how in {"type", "own"})
        if rows and rows[0].how == "own" and model.scopes[scope].symbol >= 0:
            return [Hit(path, model.scopes[scope].symbol, scope, name)] if len(rows) == 1 else []
        if rows:
            return [Hit(path, LOCAL, scope, name)]
        return [] if entry.imports else None

    def in_space(self, model: FileModel, symbols: tuple[int, ...], types: bool) -> tuple[int, ...]:
        """Of definitions of one name those that are types, or those that are values."""
        if not model.spec.spaces:
            return latest(model, symbols)
        if types:
            return tuple(
                at
                for at in symbols
                if model.symbols[at].kind in TYPES or model.symbols[at].kind == "module"
            )
        return tuple(at for at in symbols if model.symbols[at].kind not in {"interface", "type"})

    def imported(self, path: bytes, one: Import, depth: int = 0, types: bool = False) -> list[Hit]:
        """What an import binds."""
        if depth > _FAR:
            return []
        model = self.view.model(path)
        if model is None:
            return []
        if not one.name:
            if model.spec.submodules and not one.alias and "." in one.module.lstrip("."):
                head = one.module.partition(".")[0]
                return [Hit(file, MODULE) for file in self.view.modules(path, head)]
            return [Hit(file, MODULE) for file in self.view.modules(path, one.module)]
        found: list[Hit] = []
        for file in self.view.modules(path, one.module):
            found += self.exported(file, one.name, depth + 1, types=types)
        if not found and model.spec.submodules:
            found = [
                Hit(file, MODULE)
                for file in self.view.modules(path, one.module, one.name)
                if file not in self.view.modules(path, one.module)
            ]
        return found

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Hit]:
        """What a module gives under a name."""
        model = self.view.model(path)
        seen = seen if seen is not None else set()
        if model is None or path in seen or depth > _FAR:
            return []
        apart = types and model.spec.spaces
        for row in model.exports.get(name, ()):
            found = self._exported_as(path, model, row, depth, seen, apart)
            if found:
                return found
        entry = model.names[0].get(name)
        if entry is not None:
            found = None
            if model.stars and model.spec.ordered:
                found = self._later(path, model, name, entry, depth, seen)
            if not found:
                found = self._meaning_far(path, model, name, entry, depth, apart)
            if found is not None:
                return found
        if name == "default":
            return []
        return self._starred(path, model, name, depth, seen, types)

    def _exported_as(
        self,
        path: bytes,
        model: FileModel,
        row: Binding,
        depth: int,
        seen: set[bytes],
        types: bool,
    ) -> list[Hit] | None:
        """What a statement exports."""
        if row.text == "require()":
            for one in model.imports:
                if one.line == row.line and not one.name and not one.alias:
                    return self._required(path, one, depth, seen)
        entry = model.names[0].get(row.text)
        if entry is None:
            return None
        return self._meaning_far(path, model, row.text, entry, depth, types)

    def _required(self, path: bytes, one: Import, depth: int, seen: set[bytes]) -> list[Hit]:
        """What a module of CommonJS hands on."""
        seen.add(path)
        for file in self.view.modules(path, one.module):
            return self.exported(file, "default", depth + 1, seen) or [Hit(file, MODULE)]
        return []

    def _meaning_far(
        self, path: bytes, model: FileModel, name: str, entry: Entry, depth: int, types: bool
    ) -> list[Hit] | None:
        symbols = self.in_space(model, entry.symbols, types)
        if not symbols and not entry.imports and entry.symbols and not types:
            symbols = entry.symbols
        found: list[Hit] = []
        for number in entry.imports:
            if symbols and _is_own(path, model.imports[number]):
                continue
            further = self.imported(path, model.imports[number], depth + 1, types)
            if not further and symbols and not types:
                return []
            found += further
        found += [Hit(path, at, 0, name) for at in symbols]
        if found:
            return found
        rows = tuple(row for row in entry.rows if row.how != "type")
        return [Hit(path, LOCAL, 0, name)] if rows and not entry.imports else None

    def _starred(
        self, path: bytes, model: FileModel, name: str, depth: int, seen: set[bytes], types: bool
    ) -> list[Hit]:
        """What modules give that all is imported from; the last import counts."""
        seen.add(path)
        for one in reversed(model.stars):
            for file in self.view.modules(path, one.module):
                if not self._handed_on(file, name):
                    continue
                found = self.exported(file, name, depth + 1, seen, types=types)
                if found:
                    return found
        return []

    def _later(
        self,
        path: bytes,
        model: FileModel,
        name: str,
        entry: Entry,
        depth: int,
        seen: set[bytes],
    ) -> list[Hit]:
        """What a star import gives that stands behind all else that binds a name."""
        last = max(
            (
                *(model.symbols[at].name_line for at in entry.symbols),
                *(model.imports[at].line for at in entry.imports),
                *(row.line for row in entry.rows),
            )
        )
        for one in reversed(model.stars):
            if one.line <= last:
                break
            for file in self.view.modules(path, one.module):
                if file not in seen and self._handed_on(file, name):
                    found = self.exported(file, name, depth + 1, {*seen, path})
                    if found:
                        return found
        return []

    def _handed_on(self, path: bytes, name: str) -> bool:
        """A star import takes a name: of those without underscore, or those in `__all__`."""
        model = self.view.model(path)
        if model is None or not model.spec.ordered:
            return True
        if "__all__" not in model.names[0]:
            return not name.startswith("_")
        listed = model.listed
        return listed is None or name in listed

    def submodule(self, path: bytes, name: str) -> list[Hit]:
        """The module of that name in a package."""
        model = self.view.model(path)
        if model is None or not model.spec.submodules:
            return []
        if not path.rpartition(b"/")[2].startswith(b"__init__."):
            return []
        return [Hit(file, MODULE) for file in self.view.modules(path, "." + name) if file != path]

    def rows(self, hit: Hit) -> tuple[Binding, ...]:
        """What is said of the value of a variable."""
        model = self.view.model(hit.path)
        if model is None:
            return ()
        if hit.symbol >= 0 and model.symbols[hit.symbol].kind not in VARIABLES:
            return ()
        entry = model.names[hit.scope].get(hit.name)
        return entry.rows if entry is not None else ()
