"""Looks up names: in scopes outward, then in imports."""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

from codelens.resolve.file_model import CALLABLE, NO_FACTS, TYPES, VARIABLES, Entry, FileModel
from codelens.resolve.languages.registry import LanguageSpec
from codelens.resolve.path_tree import folder_of, name_of, stem_of
from codelens.resolve.view_files import View
from codelens.types import Binding, Import, Symbol

_FAR = 30
"""The longest chain of re-exports."""
_DEFINED_HERE = "?"
"""Stands for an exported expression that names nothing (`extract.flow.expressions`)."""


_GIVING = frozenset({"GlobalComponents", "GlobalDirectives", "ComponentCustomProperties"})
"""The interfaces whose members every component may use by their bare names."""
_ORIGIN = re.compile(r"typeof import\(['\"]([^'\"]+)['\"]\)\[['\"]([\w$]+)['\"]\]")
_APART = frozenset({b"types", b"typings", b"@types", b"src", b"app", b"generated"})
"""Declarations in folders with these names also apply to the folder around them."""


class Referent(NamedTuple):
    """What a name refers to: a definition, a module (symbol -1) or a local variable (-2)."""

    path: bytes
    symbol: int
    scope: int = 0
    name: str = ""


MODULE, LOCAL = -1, -2


def latest(model: FileModel, symbols: tuple[int, ...]) -> tuple[int, ...]:
    """Return the effective one of several definitions of a name in one place: the last.

    For a property it is the first one, the getter. `Factory = with_repr(Factory)` decorates the
    definition before it and does not replace it.
    """
    last = len(symbols) - 1
    while last > 0 and _decorates(model.symbols[symbols[last]], model.symbols[symbols[last - 1]]):
        last -= 1
    if last < 1:
        return symbols[:1]
    first = symbols[0]
    return (first,) if model.symbols[first].kind == "property" else symbols[last : last + 1]


def _decorates(symbol: Symbol, before: Symbol) -> bool:
    """Whether a variable holds a decorated function or type of the same name: `f = wrap(f)`."""
    if symbol.kind not in VARIABLES or before.kind not in CALLABLE | TYPES | VARIABLES:
        return False
    _, sign, value = symbol.signature.partition("=")
    return bool(sign) and re.search(rf"\(.*\b{re.escape(symbol.name)}\b", value) is not None


def _is_own(path: bytes, import_: Import) -> bool:
    """Whether a file imports from itself, as a script that is also imported may do."""
    folder, _, name = path.rpartition(b"/")
    stem = name.partition(b".")[0]
    if stem in {b"__init__", b"index"}:
        stem = folder.rpartition(b"/")[2]
    return import_.module.replace("/", ".").rpartition(".")[2].encode() == stem


class Names:
    """Looks up names in one view."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._exporting: set[tuple[bytes, str, bool]] = set()
        """The `exported` queries in progress."""

    def place(self, path: bytes, scope: int, name: str) -> tuple[int, bool]:
        """Return the scope that decides what a name means, and whether that varies by line.

        Most scopes bind few names, so this merges many queries into one.
        """
        model = self.view.model(path)
        if type(self).lookup is not Names.lookup:
            return scope, True
        scopes, names = model.scopes, model.names
        at, first = scope, True
        while at >= 0:
            here = scopes[at]
            entry = names[at].get(name)
            if entry is not None and here.kind == "class":
                entry = self._in_class(entry, model.spec, first)
            if entry is not None:
                return at, len(entry.rows) > 1
            if here.kind != "block":
                first = False
            at = here.parent
        return 0, False

    def lookup(self, path: bytes, scope: int, name: str, *, types: bool = False) -> list[Referent]:
        """Return the referents of a bare name in a scope; with `types`, in the type namespace."""
        at, _ = self.place(path, scope, name)
        key = ("name", path, at, name, types)
        return self.view.once(key, lambda: self._lookup(path, at, name, types))

    def _lookup(  # noqa: C901 - the order of the places is the rule
        self, path: bytes, scope: int, name: str, types: bool
    ) -> list[Referent]:
        model = self.view.model(path)
        rules = model.spec
        at, first = scope, True
        while at >= 0:
            here = model.scopes[at]
            entry = model.names[at].get(name)
            if entry is not None and here.kind == "class":
                entry = self._in_class(entry, rules, first)
            if here.kind != "block":
                first = False
            if entry is not None:
                if at and any(row.how == "global" for row in entry.rows):
                    at = 0
                    continue
                referents = None
                if at == 0 and rules.ordered and model.stars:
                    referents = self._later(path, model, name, entry, depth=0, seen=set())
                if not referents:
                    referents = self._meaning(
                        path, model, at, name, entry=entry, types=types and rules.spaces
                    )
                if referents is not None:
                    return referents
            at = here.parent
        if rules.is_component and not types and name.encode() == stem_of(path):
            return self.exported(path, "default")
        starred = self._starred(path, model, name, 0, seen=set(), types=types)
        if starred or not rules.stub_language:
            return starred
        if types:
            return self._ambient(name, rules)
        return self.given_to_all(path, name) if rules.is_component else []

    def given_to_all(self, path: bytes, name: str) -> list[Referent]:
        """Return what the declarations in a folder provide to its components.

        Auto-import plugins write such declarations: `Card: typeof import("./Card.vue")["default"]`
        in `GlobalComponents`, `const useCart: ...` in `declare global`.
        """
        language = self.view.model(path).spec.stub_language
        for file in self.view.defined_in(name, language) if language else ():
            if not file.endswith(b".d.ts") or not path.startswith(_reach(file)):
                continue
            declared = self.view.once(("given", file), partial(self._given_by, file)).get(name)
            if declared is None:
                continue
            origin = _ORIGIN.fullmatch(declared[1])
            if origin is None:
                return [declared[0]]
            return self.imported(file, Import(origin[1], origin[2], "", 0))
        return []

    def _given_by(self, file: bytes) -> dict[str, tuple[Referent, str]]:
        """Return the global names that a declaration file declares, each with its type."""
        declared: dict[str, tuple[Referent, str]] = {}
        model = self.view.model(file)
        for at, symbol in enumerate(model.symbols):
            scope = model.home[at]
            if symbol.parent >= 0 and model.symbols[symbol.parent].name in _GIVING:
                scope = model.own_scope.get(symbol.parent, -1)
            elif symbol.parent >= 0 or symbol.kind not in VARIABLES:
                continue
            if not scope and not model.is_ambient:
                continue
            entry = model.names[scope].get(symbol.name) if scope >= 0 else None
            texts = [row.text for row in entry.rows if row.how == ":"] if entry is not None else []
            declared.setdefault(
                symbol.name, (Referent(file, at, max(scope, 0), symbol.name), "".join(texts[:1]))
            )
        return declared

    def _ambient(self, name: str, rules: LanguageSpec) -> list[Referent]:
        """Return the global types of declaration files without imports and exports."""
        referents: list[Referent] = []
        for file in self.view.defined_in(name, rules.stub_language):
            model = self.view.model(file) if file.endswith(b".d.ts") else NO_FACTS
            if not model.is_ambient:
                continue
            entry = model.names[0].get(name)
            for at in self.in_space(model, entry.symbols, types=True) if entry is not None else ():
                if not model.symbols[at].exported:
                    referents.append(Referent(file, at, 0, name))
        return referents

    def _in_class(self, entry: Entry, rules: LanguageSpec, first: bool) -> Entry | None:
        if rules.class_names:
            return entry if first else None
        rows = tuple(row for row in entry.rows if row.how in {"type", "own"})
        return Entry((), (), rows) if rows else None

    def _meaning(
        self, path: bytes, model: FileModel, scope: int, name: str, *, entry: Entry, types: bool
    ) -> list[Referent] | None:
        """Return the referents of an entry; None if it has none in the requested namespace."""
        symbols = self.in_space(model, entry.symbols, types)
        referents: list[Referent] = []
        for number in entry.imports:
            if symbols and _is_own(path, model.imports[number]):
                continue
            further = self.imported(path, model.imports[number], 0, types)
            if not further and not types:
                # The target may be outside of the view.
                return []
            referents += further
        referents += [Referent(path, at, scope, name) for at in symbols]
        if referents:
            return referents
        rows = entry.rows
        if types and not entry.imports:
            rows = tuple(row for row in rows if row.how in {"type", "own"})
        if rows and rows[0].how == "own" and model.scopes[scope].symbol >= 0:
            return (
                [Referent(path, model.scopes[scope].symbol, scope, name)] if len(rows) == 1 else []
            )
        if rows:
            return [Referent(path, LOCAL, scope, name)]
        return [] if entry.imports else None

    def in_space(self, model: FileModel, symbols: tuple[int, ...], types: bool) -> tuple[int, ...]:
        """Return the definitions in the type namespace or in the value namespace."""
        if not model.spec.spaces:
            return latest(model, symbols)
        if types:
            return tuple(
                at
                for at in symbols
                if model.symbols[at].kind in TYPES or model.symbols[at].kind == "module"
            )
        return tuple(at for at in symbols if model.symbols[at].kind not in {"interface", "type"})

    def on_import_path(self, path: bytes, import_: Import) -> list[Referent]:
        """Return the definitions that an import names before the name that it binds."""
        del path, import_
        return []

    def imported(
        self, path: bytes, import_: Import, depth: int = 0, types: bool = False
    ) -> list[Referent]:
        """Return what an import binds."""
        if depth > _FAR:
            return []
        model = self.view.model(path)
        if not import_.name:
            if model.spec.submodules and not import_.alias and "." in import_.module.lstrip("."):
                head = import_.module.partition(".")[0]
                return [Referent(file, MODULE) for file in self.view.modules(path, head)]
            return [Referent(file, MODULE) for file in self.view.modules(path, import_.module)]
        referents: list[Referent] = []
        files = self.view.modules(path, import_.module)
        for file in files:
            referents += self.exported(file, import_.name, depth + 1, types=types)
            if not referents and import_.name == "default" and self._is_without_default(file):
                referents = [Referent(file, MODULE)]
        if not files and model.spec.stub_language:
            return self._of_declared_module(import_, model.spec, types)
        if not referents and model.spec.submodules:
            referents = [
                Referent(file, MODULE)
                for file in self.view.modules(path, import_.module, import_.name)
                if file not in self.view.modules(path, import_.module)
            ]
        return referents

    def _is_without_default(self, path: bytes) -> bool:
        """Whether a default import yields the module itself: one of CommonJS, without a default."""
        model = self.view.model(path)
        return (
            model.spec.spaces and "default" not in model.exports and "default" not in model.names[0]
        )

    def _of_declared_module(
        self, import_: Import, rules: LanguageSpec, types: bool
    ) -> list[Referent]:
        """Return what `declare module "virtual:config" {}` declares under the imported name."""
        for file in self.view.defined_in(import_.module, rules.stub_language):
            model = self.view.model(file) if file.endswith(b".d.ts") else NO_FACTS
            for at, symbol in enumerate(model.symbols):
                if symbol.kind != "module" or symbol.name != import_.module:
                    continue
                own = model.own_scope.get(at, 0)
                for scope, around in enumerate(model.functions):
                    rows = (
                        row for row in model.exports.get(import_.name, ()) if row.scope == scope
                    )
                    entry = model.names[scope].get(next((row.text for row in rows), import_.name))
                    if own and around == own and entry is not None:
                        symbols = self.in_space(model, entry.symbols, types)
                        return [Referent(file, at, scope, import_.name) for at in symbols]
        return []

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Referent]:
        """Return what a module exports under a name.

        A query already in progress adds nothing. Without this check, a file that re-exports many
        modules which import from it would be walked repeatedly: minutes for a hundred imports
        through one such file.
        """
        question = (path, name, types)
        if question in self._exporting:
            return []
        self._exporting.add(question)
        try:
            return self._exported(path, name, depth, seen, types=types)
        finally:
            self._exporting.discard(question)

    def _exported(
        self, path: bytes, name: str, depth: int, seen: set[bytes] | None, *, types: bool
    ) -> list[Referent]:
        model = self.view.model(path)
        seen = seen if seen is not None else set()
        if path in seen or depth > _FAR:
            return []
        apart = types and model.spec.spaces
        for row in model.exports.get(name, ()):
            referents = self._exported_as(path, model, row, depth, seen=seen, types=apart)
            if referents:
                return referents
        entry = model.names[0].get(name)
        if entry is not None:
            referents = None
            if model.stars and model.spec.ordered:
                referents = self._later(path, model, name, entry, depth=depth, seen=seen)
            if not referents:
                referents = self._meaning_far(path, model, name, entry, depth=depth, types=apart)
            if referents is not None:
                return referents
        if name == "default":
            return []
        return self._starred(path, model, name, depth, seen=seen, types=types)

    def _exported_as(
        self,
        path: bytes,
        model: FileModel,
        row: Binding,
        depth: int,
        *,
        seen: set[bytes],
        types: bool,
    ) -> list[Referent] | None:
        """Return what an export statement exports."""
        if row.text[:1] == row.text[-1:] == "'":
            return self._required(path, row.text[1:-1], depth, seen)
        entry = model.names[0].get(row.text)
        if entry is None:
            # `module.exports = class A {}` binds no name: the statement itself defines the export.
            return [
                Referent(path, at, 0, row.name)
                for at in model.tops
                if row.text == _DEFINED_HERE and model.symbols[at].start_line == row.line
                and model.symbols[at].exported and model.symbols[at].kind in CALLABLE | TYPES
            ][:1] or None  # fmt: skip
        return self._meaning_far(path, model, row.text, entry, depth=depth, types=types)

    def _required(self, path: bytes, module: str, depth: int, seen: set[bytes]) -> list[Referent]:
        """Return what a CommonJS module re-exports."""
        seen.add(path)
        for file in self.view.modules(path, module):
            return self.exported(file, "default", depth + 1, seen) or [Referent(file, MODULE)]
        return []

    def _meaning_far(
        self, path: bytes, model: FileModel, name: str, entry: Entry, *, depth: int, types: bool
    ) -> list[Referent] | None:
        symbols = self.in_space(model, entry.symbols, types)
        if not symbols and not entry.imports and entry.symbols and not types:
            symbols = entry.symbols
        referents: list[Referent] = []
        for number in entry.imports:
            if symbols and _is_own(path, model.imports[number]):
                continue
            further = self.imported(path, model.imports[number], depth + 1, types)
            if not further and symbols and not types:
                return []
            referents += further
        referents += [Referent(path, at, 0, name) for at in symbols]
        if referents:
            return referents
        rows = tuple(row for row in entry.rows if row.how != "type")
        return [Referent(path, LOCAL, 0, name)] if rows and not entry.imports else None

    def _starred(
        self, path: bytes, model: FileModel, name: str, depth: int, *, seen: set[bytes], types: bool
    ) -> list[Referent]:
        """Return what the wildcard-imported modules export; the last import wins."""
        seen.add(path)
        for star in reversed(model.stars):
            for file in self.view.modules(path, star.module):
                if not self._is_star_exported(file, name):
                    continue
                referents = self.exported(file, name, depth + 1, seen, types=types)
                if referents:
                    return referents
        return []

    def _later(
        self,
        path: bytes,
        model: FileModel,
        name: str,
        entry: Entry,
        *,
        depth: int,
        seen: set[bytes],
    ) -> list[Referent]:
        """Return what a wildcard import provides after all other bindings of a name."""
        last = max(
            (
                *(model.symbols[at].name_line for at in entry.symbols),
                *(model.imports[at].line for at in entry.imports),
                *(row.line for row in entry.rows),
            )
        )
        for star in reversed(model.stars):
            if star.line <= last:
                break
            for file in self.view.modules(path, star.module):
                if file not in seen and self._is_star_exported(file, name):
                    referents = self.exported(file, name, depth + 1, {*seen, path})
                    if referents:
                        return referents
        return []

    def _is_star_exported(self, path: bytes, name: str) -> bool:
        """Whether a wildcard import includes a name: one in `__all__`, or without underscore."""
        model = self.view.model(path)
        if not model.spec.ordered:
            return True
        if "__all__" not in model.names[0]:
            return not name.startswith("_")
        listed = model.listed
        return listed is None or name in listed

    def submodule(self, path: bytes, name: str) -> list[Referent]:
        """Return the module of that name in a package."""
        if not self.view.model(path).spec.submodules:
            return []
        if not path.rpartition(b"/")[2].startswith(b"__init__."):
            return []
        return [
            Referent(file, MODULE) for file in self.view.modules(path, "." + name) if file != path
        ]

    def rows(self, referent: Referent) -> tuple[Binding, ...]:
        """Return the bindings that assign a value to a variable."""
        model = self.view.model(referent.path)
        if referent.symbol >= 0 and model.symbols[referent.symbol].kind not in VARIABLES:
            return ()
        entry = model.names[referent.scope].get(referent.name)
        return entry.rows if entry is not None else ()


def _reach(file: bytes) -> bytes:
    """Return the path prefix of the files that a declaration file applies to."""
    folder = folder_of(file)
    while folder and name_of(folder) in _APART:
        folder = folder_of(folder)
    return folder + b"/" if folder else b""
