"""Go: packages of several files, methods by their receiver, embedded fields.

Types are declared nearly everywhere in Go, so a receiver is mostly known from a parameter, a
field, or the result of a function of the view.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.facts.path_tree import folder_of, name_of
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.expression_values import Types
from codelens.resolve.inference.name_lookup import MODULE, Hit, Names
from codelens.resolve.inference.values import Container, Definition, Instance, Value, each, together
from codelens.resolve.languages.go.go_type_text import STRUCT, TUPLE, go_type, is_built
from codelens.types import Binding, Import

_TEST = b"_test.go"
_VERSION = re.compile(r"v\d+")
_ELSEWHERE = re.compile(
    rb"_(?:windows|darwin|freebsd|netbsd|openbsd|plan9|solaris|js|wasm|wasip1|aix|android|ios|"
    rb"arm|arm64|386|s390x|ppc64|ppc64le|riscv64|mips\w*|dragonfly|illumos|nacl|appengine)"
    rb"(?:_test)?\.go$"
)
"""Files that are built for other machines than most code is read for."""


class _Package(NamedTuple):
    """Names of one package over its files."""

    names: dict[str, list[Hit]]
    methods: dict[str, dict[str, list[Hit]]]
    """Type -> name -> its methods, by receiver."""


class GoNames(Names):
    """Scopes, then the imports of the file, then the package."""

    def clause(self, path: bytes) -> str:
        """The package that a file says to belong to."""
        return next((row.text for row in self._rows_of(path) if row.how == "package"), "")

    def package(self, path: bytes) -> _Package:
        """The package of a file; tests are part of it for tests alone."""
        key = (folder_of(path), self.clause(path), path.endswith(_TEST))
        return self.view.once(("package", *key), lambda: self._read(*key))

    def _read(self, folder: bytes, clause: str, tests: bool) -> _Package:
        package = _Package({}, {})
        for path in self.view.folder(folder):
            if self.view.languages[path] != "go" or (path.endswith(_TEST) and not tests):
                continue
            model = self.view.model(path)
            if model is None or self.clause(path) != clause:
                continue
            for at, symbol in enumerate(model.symbols):
                if symbol.parent < 0:
                    owner, _, name = symbol.qualified.rpartition(".")
                    places = package.methods.setdefault(owner, {}) if owner else package.names
                    places.setdefault(name, []).append(Hit(path, at, 0, name))
        return package

    def methods(self, path: bytes, symbol: int, name: str) -> list[Hit]:
        """Methods of a type, wherever in its package."""
        model = self.view.model(path)
        if model is None or model.symbols[symbol].parent >= 0:
            return []
        found = self.package(path).methods.get(model.symbols[symbol].name, {}).get(name, [])
        return self.chosen(path, found)

    def chosen(self, path: bytes, found: list[Hit]) -> list[Hit]:
        """Of definitions for several machines those for the one that most code is read for."""
        if len(found) < 2:
            return found
        here = [hit for hit in found if hit.path == path]
        return here or [hit for hit in found if self._is_built(hit.path)] or found[:1]

    def _is_built(self, path: bytes) -> bool:
        said = [row.text for row in self._rows_of(path) if row.how == "built"]
        return all(map(is_built, said)) and not _ELSEWHERE.search(name_of(path))

    def _rows_of(self, path: bytes) -> tuple[Binding, ...]:
        model = self.view.model(path)
        return tuple(model.bindings[:4]) if model is not None else ()

    def _starred(
        self,
        path: bytes,
        model: FileModel,
        name: str,
        depth: int,
        seen: set[bytes],
        types: bool,
    ) -> list[Hit]:
        heads = self.view.once(("heads", path), lambda: self._heads(path, model))
        if name in heads:
            file = heads[name]
            return [Hit(file, MODULE)] if file is not None else []
        found = self.package(path).names.get(name)
        if found:
            return self.chosen(path, found)
        for one in model.imports:
            file = self._main_file(path, one) if one.name == "*" else None
            found = self.exported(file, name) if file is not None else []
            if found:
                return found
        return []

    def _heads(self, path: bytes, model: FileModel) -> dict[str, bytes | None]:
        """Name -> a file of the package that an import without a name of its own binds to it."""
        found: dict[str, bytes | None] = {}
        for one in model.imports:
            if not one.alias and not one.name:
                file = self._main_file(path, one)
                local = self.clause(file) if file is not None else _guessed(one.module)
                found.setdefault(local, file)
        return found

    def _main_file(self, path: bytes, one: Import) -> bytes | None:
        """A file of the package that an import names."""
        return next(iter(self.view.modules(path, one.module)), None)

    def imported(self, path: bytes, one: Import, depth: int = 0, types: bool = False) -> list[Hit]:
        """An import binds a package."""
        file = self._main_file(path, one)
        return [Hit(file, MODULE)] if file is not None else []

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Hit]:
        """What a package gives under a name."""
        if not name[:1].isupper():
            return []
        return self.chosen(path, self.package(path).names.get(name, []))

    def submodule(self, path: bytes, name: str) -> list[Hit]:
        """Packages are no members of packages."""
        return []


class GoTypes(Types):
    """Values in Go."""

    by_place = True

    names: GoNames

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.names = GoNames(view)

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of a type in Go's own writing."""
        return super().of_type(path, scope, go_type(text), me)

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        """What a function gives back; what stands for its type parameters only a call says."""
        model = self.view.model(path)
        scope = model.own_scope.get(symbol) if model is not None else None
        if model is None or scope is None or scope not in model.parameters:
            return super()._result(path, symbol, me)
        said = [row.text for row in model.of_scope.get(scope, ()) if row.how == "->"]
        own = "|".join(map(re.escape, model.parameters[scope]))
        return (
            self.of_type(path, scope, re.sub(rf"\b(?:{own})\b", "any", said[0]), me)
            if said
            else None
        )

    def _step(self, value: Value, step: str) -> Value:
        if step == "#key":
            # Of a range with one name: keys tell nothing, and what a channel gives is its type.
            return together([one for one in each(value) if isinstance(one, Instance)])
        if step[:1] == "#":
            return together([_part(one, int(step[1:])) for one in each(value)])
        if isinstance(value, Container) and value.name == STRUCT:
            fields = (one for one in value.args if isinstance(one, Container))
            return next((one.args[0] for one in fields if one.name == f"#{step}"), None)
        return super()._step(value, step)

    def _from_rows(self, hit: Hit, line: int) -> Value:
        """A variable has the type of its declaration."""
        del line
        for row in self.names.rows(hit):
            if row.how == ":":
                return self.of_type(hit.path, hit.scope, row.text)
            if row.how == "=":
                value = self.value(hit.path, row.scope, row.text, row.line)
                if value is not None:
                    return value
        return None

    def _typed(self, hit: Hit, args: tuple[Value, ...], me: Value) -> Value:
        model = self.view.model(hit.path)
        if model is None or hit.symbol < 0 or model.symbols[hit.symbol].kind != "type":
            return super()._typed(hit, args, me)
        if " = " in model.symbols[hit.symbol].signature:
            return super()._typed(hit, args, me)
        return Instance(hit.path, hit.symbol, args)

    def _underlying(self, value: Value) -> Value:
        """What a type is made of that is no struct or interface."""
        if not isinstance(value, Instance):
            return None
        model = self.view.model(value.path)
        scope = model.own_scope.get(value.symbol) if model is not None else None
        if model is None or scope is None or model.symbols[value.symbol].kind != "type":
            return None
        row = next((row for row in model.of_scope.get(scope, ()) if row.how == "alias"), None)
        return self.of_type(value.path, scope, row.text) if row is not None else None

    def _element(self, value: Value, step: str) -> Value:
        if isinstance(value, Definition):
            # `f[int]`, `T[int]`: the same with its type arguments.
            return value
        under = self._underlying(value)
        return super()._element(under if under is not None else value, step)

    def called(self, value: Value) -> Value:
        """What a call gives: of a type, a value of it."""
        under = self._underlying(value)
        return super().called(under if under is not None else value)

    def _of_types(self, line: list[Instance], name: str, value: Value) -> list[tuple[Hit, Value]]:
        for one in line:
            found = super()._of_types([one], name, value)
            if not found:
                hits = self.names.methods(one.path, one.symbol, name)
                found = [(hit, value) for hit in hits] or self._of_underlying(one, name, value)
            if found:
                return found
        return []

    def _of_underlying(self, one: Instance, name: str, value: Value) -> list[tuple[Hit, Value]]:
        """Of `type A B` the fields of B; its methods only if it is an interface."""
        under = self._underlying(one)
        if not isinstance(under, Instance) or under[:2] == one[:2]:
            return []
        kept: list[tuple[Hit, Value]] = []
        for hit, _ in self.members(under, name):
            model = self.view.model(hit.path)
            if model is not None and model.symbols[hit.symbol].parent >= 0:
                kept.append((hit, value))
        return kept

    def _taken(self, hit: Hit, me: Value) -> Value:
        found = super()._taken(hit, me)
        if found is not None:
            return found
        model = self.view.model(hit.path)
        if model is None or model.symbols[hit.symbol].kind != "field":
            return None
        symbol = model.symbols[hit.symbol]
        scope = model.own_scope.get(symbol.parent)
        for row in model.of_scope.get(scope, ()) if scope is not None else ():
            if row.how == "base" and _base_name(row) == symbol.name:
                return self.of_type(hit.path, scope or 0, row.text, me)
        return None


def _base_name(row: Binding) -> str:
    return row.text.partition("[")[0].lstrip("*").rpartition(".")[2]


def _part(value: Value, at: int) -> Value:
    """One of several results; the first of `value, ok` is the value."""
    if isinstance(value, Container) and value.name == TUPLE:
        return value.args[at] if at < len(value.args) else None
    return value if at == 0 else None


def _guessed(module: str) -> str:
    """The local name of a package outside of the view, as it is by convention."""
    parts = module.split("/")
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1].partition(".")[0]
