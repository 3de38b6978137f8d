"""Names in Java and its like: scopes, classes and their bases, imports, packages.

A bare name is looked for in blocks, in the class around and its bases, in the classes around that,
in what the file imports, in its package, and in what is imported whole. Of overloads those count
that take as many arguments as there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal, Protocol

from codelens.resolve.facts.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.facts.path_tree import folder_of
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.name_lookup import LOCAL, Hit, Names
from codelens.resolve.inference.values import Instance
from codelens.resolve.languages.classes.class_type_text import Arity, arity, generics
from codelens.types import Import

Space = Literal["value", "type", "call"]
_GROUPS = {
    "c": "c",
    "cpp": "c",
    "java": "jvm",
    "kotlin": "jvm",
    "scala": "jvm",
    "csharp": "net",
    "php": "php",
}
ONE_SPACE = frozenset({"c", "cpp", "kotlin", "scala", "csharp"})
"""Where a local variable hides a method of its name, as it may be called itself."""


_BEFORE_EXPECT = re.compile(r"^(?:@[\w.:]+(?:\([^()]*\))?\s+|public\s+|internal\s+)*")


class Inheriting(Protocol):
    """What looking names up asks of types."""

    def once(
        self, key: tuple[object, ...], make: Callable[[], list[Hit]], cut: list[Hit]
    ) -> list[Hit]:
        """Hits remembered with what they stand on."""
        ...

    def instance_of_scope(self, path: bytes, scope: int) -> Instance | None:
        """An instance of the class that a scope is."""
        ...

    def inherited(
        self, value: Instance, name: str, space: Space | None, arguments: int = -1
    ) -> list[Hit]:
        """Members of a type and its bases."""
        ...


class ClassNames(Names):
    """Names in class-based languages with packages."""

    types: Inheriting

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.busy: set[tuple[bytes, int]] = set()
        """Types whose bases are being looked up: what they inherit is not known yet."""

    def package(self, path: bytes) -> str:
        """The package that a file says to belong to."""
        model = self.view.model(path)
        return model.package if model is not None else ""

    def in_package(self, path: bytes, package: str, name: str) -> list[Hit]:
        """Top-level definitions of a package, as a file sees it."""
        model = self.view.model(path)
        if model is None:
            return []
        if _GROUPS[model.language] == "net":
            # A namespace may lie anywhere.
            found = self.parts(package, name)
            return self._main_parts(found) if len(found) > 1 else found
        if model.package == package:
            found = self._tops(self.view.folder(folder_of(path)), package).get(name)
            if found:
                return found
        if _GROUPS[model.language] == "php":
            files = self.view.modules(path, f"{package}.{name}".strip(".").replace(".", "\\"))
            return self._tops(files, package).get(name, [])
        found = self._tops(self.view.modules(path, package, name), package).get(name)
        return found or self._tops(self.view.modules(path, package, "*"), package).get(name, [])

    def _main_parts(self, hits: list[Hit]) -> list[Hit]:
        """Of the parts of a class the one in the file with the shortest name, which is its own."""
        found: dict[int, list[Hit]] = {}
        for hit in hits:
            found.setdefault(self.generics(hit), []).append(hit)
        return [
            min(found[count], key=lambda hit: (len(hit.path), hit.path)) for count in sorted(found)
        ]

    def generics(self, hit: Hit) -> int:
        """How many type parameters a type of C# has; -1 for all else."""
        model = self.view.model(hit.path)
        if model is None or model.language != "csharp" or hit.symbol < 0:
            return -1
        symbol = model.symbols[hit.symbol]
        return generics(symbol.signature, symbol.name) if symbol.kind in TYPES else -1

    def parts(self, package: str, name: str) -> list[Hit]:
        """All declarations of that name in a namespace of C#; a class may have several."""
        return self._namespaces().get(package, {}).get(name, [])

    def _tops(self, files: tuple[bytes, ...], package: str) -> dict[str, list[Hit]]:
        """Names of those files that belong to a package."""
        return self.view.once(("tops", files, package), lambda: self._read(files, package))

    def _read(self, files: Iterable[bytes], package: str) -> dict[str, list[Hit]]:
        names: dict[str, list[Hit]] = {}
        for path in files:
            if self.view.languages.get(path) in _GROUPS and self.package(path) == package:
                self._add(names, path)
        return {name: self._actual(hits) if len(hits) > 1 else hits for name, hits in names.items()}

    def _actual(self, hits: list[Hit]) -> list[Hit]:
        """Without what Kotlin only expects, where a platform has the thing itself."""
        found = [hit for hit in hits if not self._signature(hit).startswith("expect ")]
        return found or hits

    def _signature(self, hit: Hit) -> str:
        model = self.view.model(hit.path)
        if model is None or model.language != "kotlin":
            return ""
        signature = model.symbols[hit.symbol].signature
        return _BEFORE_EXPECT.sub("", signature)

    def _add(self, names: dict[str, list[Hit]], path: bytes) -> None:
        model = self.view.model(path)
        for at in model.tops if model is not None else ():
            if model is not None:
                name = model.symbols[at].name
                names.setdefault(name, []).append(Hit(path, at, 0, name))

    def _namespaces(self) -> dict[str, dict[str, list[Hit]]]:
        return self.view.index("namespaces", lambda: self.by_package("csharp"))

    def by_package(self, language: str) -> dict[str, dict[str, list[Hit]]]:
        """Package -> name -> where files of a language define it, at top level."""
        index: dict[str, dict[str, list[Hit]]] = {}
        for path, own in sorted(self.view.languages.items()):
            if own == language:
                self._add(index.setdefault(self.package(path), {}), path)
        return index

    def lookup(self, path: bytes, scope: int, name: str, *, types: bool = False) -> list[Hit]:
        """What a bare name means in a scope; with `types`, as a type."""
        if types:
            return self.find(path, scope, name, "type")
        return self.find(path, scope, name, "value") or self.find(path, scope, name, "type")

    def find(
        self, path: bytes, scope: int, name: str, space: Space, arguments: int = -1
    ) -> list[Hit]:
        """What a bare name means, as a value, as a type, or called."""
        model = self.view.model(path)
        if model is None:
            return []
        at = scope
        while at >= 0:
            one = model.scopes[at]
            if one.kind == "class":
                hits = self._in_type(path, model, at, name, space, arguments)
            elif at > 0:
                hits = self._in_scope(path, model, at, name, space, arguments)
            else:
                hits = []
            if hits:
                return hits
            at = one.parent
        return self.types.once(
            ("file", path, name, space, arguments),
            lambda: self._in_file(path, model, name, space, arguments),
            [],
        )

    def _in_scope(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space, arguments: int
    ) -> list[Hit]:
        """What a bare name means in a scope inside a file that is no type."""
        return self._in_block(path, model, at, name, space)

    def _in_block(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space
    ) -> list[Hit]:
        entry = model.names[at].get(name)
        if entry is None:
            return []
        hits = self.of_space([Hit(path, one, at, name) for one in entry.symbols], space)
        if hits:
            return hits
        if space == "type":
            rows = any(row.how == "type" for row in entry.rows)
        else:
            rows = bool(entry.rows) and (space == "value" or model.language in ONE_SPACE)
        return [Hit(path, LOCAL, at, name)] if rows else []

    def _in_type(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space, arguments: int
    ) -> list[Hit]:
        if (path, model.scopes[at].symbol) in self.busy:
            return self._in_class_scope(path, model, at, name, space, arguments)
        return self.types.once(
            ("class", path, at, name, space, arguments),
            lambda: self._in_class_scope(path, model, at, name, space, arguments),
            [],
        )

    def _in_class_scope(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space, arguments: int
    ) -> list[Hit]:
        entry = model.names[at].get(name)
        if entry is not None:
            if space == "type" and any(row.how == "type" for row in entry.rows):
                return [Hit(path, LOCAL, at, name)]
            own = [Hit(path, one, at, name) for one in entry.symbols if not builds(model, one)]
            own = self.fitting(self.of_space(own, space), arguments)
            if own:
                return own
        symbol = model.scopes[at].symbol
        if (path, symbol) in self.busy:
            return []
        value = self.types.instance_of_scope(path, at)
        if value is None:
            return []
        return self.types.inherited(value, name, space, arguments)

    def of_space(self, hits: list[Hit], space: Space) -> list[Hit]:
        """Those that are types, that can be called, or that are values."""
        found: list[Hit] = []
        for hit in hits:
            model = self.view.model(hit.path)
            kind = model.symbols[hit.symbol].kind if model is not None and hit.symbol >= 0 else ""
            if space == "type":
                fits = kind in TYPES
            elif space == "call":
                fits = kind in CALLABLE or kind in TYPES
            else:
                fits = kind not in TYPES and kind not in CALLABLE
            if fits:
                found.append(hit)
        return found

    def fitting(self, hits: list[Hit], arguments: int) -> list[Hit]:
        """Those that take so many arguments; all, where that is not known."""
        if arguments < 0:
            return hits
        return [hit for hit in hits if self.arity(hit).takes(arguments)]

    def arity(self, hit: Hit) -> Arity:
        """How many arguments a definition takes."""
        model = self.view.model(hit.path)
        if model is None or hit.symbol < 0 or model.symbols[hit.symbol].kind not in CALLABLE:
            return Arity(0, 1 << 30)
        symbol = model.symbols[hit.symbol]
        found = arity(symbol.signature, symbol.name)
        if model.language == "kotlin" and "override" in symbol.signature.partition("(")[0].split():
            # It takes over the defaults of what it overrides, and must not repeat them.
            return Arity(0, found.most)
        return found

    def _in_file(
        self, path: bytes, model: FileModel, name: str, space: Space, arguments: int
    ) -> list[Hit]:
        group, package = _GROUPS[model.language], model.package
        entry = model.names[0].get(name)
        numbers = list(entry.imports) if entry is not None else []
        if group == "php":
            numbers += _by_last(model, name)
        found = [Hit(path, at, 0, name) for at in entry.symbols] if entry is not None else []
        found = self.fitting(self.of_space(found, space), arguments)
        for number in () if found else numbers:
            found += self.imported(path, model.imports[number])
            found = self.fitting(self.of_space(found, space), arguments)
        if found or numbers:
            return found
        if package or group != "net":
            hits = self.of_space(self.in_package(path, package, name), space)
            found = self.fitting(hits, arguments)
        while not found and group == "net" and package:
            package = package.rpartition(".")[0]
            found = self.of_space(self.in_package(path, package, name), space)
        return found or self._from_all(path, name, space, arguments)

    def _from_all(self, path: bytes, name: str, space: Space, arguments: int) -> list[Hit]:
        """What is imported with a package or class as a whole."""
        for module, owners in self.view.once(("wholes", path), lambda: self._wholes(path)):
            hits = list(self.in_package(path, module, name))
            for owner in owners:
                hits += self.types.inherited(Instance(owner.path, owner.symbol), name, space)
            found = self.fitting(self.of_space(hits, space), arguments)
            if found:
                return found
        return []

    def _wholes(self, path: bytes) -> list[tuple[str, list[Hit]]]:
        """What a file imports as a whole: its name, and the classes of that name.

        Namespaces of C# that the view has nothing of are left out: that is most of them.
        """
        model = self.view.model(path)
        found: list[tuple[str, list[Hit]]] = []
        for one in model.imports if model is not None else ():
            if one.name == "*":
                owners = self._types_called(path, one.module)
                if owners or not self._is_foreign(path, one.module):
                    found.append((one.module, owners))
        return found

    def _is_foreign(self, path: bytes, namespace: str) -> bool:
        if self.view.languages.get(path) != "csharp":
            return False
        return namespace not in self._namespaces()

    def _types_called(self, path: bytes, qualified: str) -> list[Hit]:
        package, _, name = qualified.rpartition(".")
        return self.of_space(list(self.in_package(path, package, name)), "type")

    def imported(self, path: bytes, one: Import, depth: int = 0, types: bool = False) -> list[Hit]:
        """What an import binds: a definition of a package, or a member of a class."""
        model = self.view.model(path)
        if model is None or one.name == "*":
            return []
        module, name = one.module, one.name
        if not name:
            module, _, name = module.replace("\\", ".").strip(".").rpartition(".")
        found = list(self.in_package(path, module.replace("\\", "."), name))
        if found:
            return found
        return [
            hit
            for owner in self._types_called(path, module)
            for hit in self.types.inherited(Instance(owner.path, owner.symbol), name, None)
        ]


def _by_last(model: FileModel, name: str) -> list[int]:
    """Imports of PHP bind the last part of what they name."""
    tail = "\\" + name
    return [
        at
        for at, one in enumerate(model.imports)
        if not one.alias and not one.name and (one.module == name or one.module.endswith(tail))
    ]


def builds(model: FileModel, at: int) -> bool:
    """Whether a symbol is a constructor: what is called is the type."""
    symbol = model.symbols[at]
    if symbol.parent < 0 or symbol.kind not in CALLABLE:
        return False
    return symbol.name in {model.symbols[symbol.parent].name, "constructor", "__construct"}
