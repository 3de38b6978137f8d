"""Names in Go: packages of several files, and what files import."""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.facts.path_tree import folder_of, name_of
from codelens.resolve.inference.name_lookup import MODULE, Names, Referent
from codelens.resolve.languages.go.go_type_text import is_built
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

    names: dict[str, list[Referent]]
    methods: dict[str, dict[str, list[Referent]]]
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
                    places.setdefault(name, []).append(Referent(path, at, 0, name))
        return package

    def methods(self, path: bytes, symbol: int, name: str) -> list[Referent]:
        """Methods of a type, wherever in its package."""
        model = self.view.model(path)
        if model is None or model.symbols[symbol].parent >= 0:
            return []
        referents = self.package(path).methods.get(model.symbols[symbol].name, {}).get(name, [])
        return self.chosen(path, referents)

    def chosen(self, path: bytes, referents: list[Referent]) -> list[Referent]:
        """Of definitions for several machines those for the one that most code is read for."""
        if len(referents) < 2:
            return referents
        here = [referent for referent in referents if referent.path == path]
        return (
            here
            or [referent for referent in referents if self._is_built(referent.path)]
            or referents[:1]
        )

    def _is_built(self, path: bytes) -> bool:
        constraints = [row.text for row in self._rows_of(path) if row.how == "built"]
        return all(map(is_built, constraints)) and not _ELSEWHERE.search(name_of(path))

    def _rows_of(self, path: bytes) -> tuple[Binding, ...]:
        model = self.view.model(path)
        return tuple(model.bindings[:4]) if model is not None else ()

    def _starred(
        self,
        path: bytes,
        model: FileModel,
        name: str,
        depth: int,
        *,
        seen: set[bytes],
        types: bool,
    ) -> list[Referent]:
        heads = self.view.once(("heads", path), lambda: self._heads(path, model))
        if name in heads:
            file = heads[name]
            return [Referent(file, MODULE)] if file is not None else []
        referents = self.package(path).names.get(name)
        if referents:
            return self.chosen(path, referents)
        for import_ in model.imports:
            file = self._main_file(path, import_) if import_.name == "*" else None
            referents = self.exported(file, name) if file is not None else []
            if referents:
                return referents
        return []

    def _heads(self, path: bytes, model: FileModel) -> dict[str, bytes | None]:
        """Name -> a file of the package that an import without a name of its own binds to it."""
        file_of: dict[str, bytes | None] = {}
        for import_ in model.imports:
            if not import_.alias and not import_.name:
                file = self._main_file(path, import_)
                local = self.clause(file) if file is not None else _guessed(import_.module)
                file_of.setdefault(local, file)
        return file_of

    def _main_file(self, path: bytes, import_: Import) -> bytes | None:
        """A file of the package that an import names."""
        return next(iter(self.view.modules(path, import_.module)), None)

    def imported(
        self, path: bytes, import_: Import, depth: int = 0, types: bool = False
    ) -> list[Referent]:
        """An import binds a package."""
        file = self._main_file(path, import_)
        return [Referent(file, MODULE)] if file is not None else []

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Referent]:
        """What a package gives under a name."""
        if not name[:1].isupper():
            return []
        return self.chosen(path, self.package(path).names.get(name, []))

    def submodule(self, path: bytes, name: str) -> list[Referent]:
        """Packages are no members of packages."""
        return []


def _guessed(module: str) -> str:
    """The local name of a package outside of the view, as it is by convention."""
    parts = module.split("/")
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1].partition(".")[0]
