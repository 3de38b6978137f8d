"""Looks up names in class-based languages: scopes, classes, bases, imports and packages.

The order is: blocks, the enclosing class and its bases, the outer classes, the file's imports, its
package, wildcard imports. Overloads count only if they accept the number of arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Protocol

from codelens.paths import printed
from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.name_lookup import LOCAL, Names, Referent
from codelens.resolve.inference.values import Instance
from codelens.resolve.languages.classes.class_types import Arity, arity, generics
from codelens.resolve.languages.registry import NAMED_BY_FILE
from codelens.resolve.path_tree import ancestors, below, folder_of
from codelens.resolve.view_files import View
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
"""Languages in which a local variable hides methods of its name, because it may be callable."""


_CODE_BEHIND, _SHARED = b".cs", b"_Imports.razor"
_BEFORE_EXPECT = re.compile(r"^(?:@[\w.:]+(?:\([^()]*\))?\s+|public\s+|internal\s+)*")


class Inheriting(Protocol):
    """The type queries that name lookup needs."""

    def once(
        self, key: tuple[object, ...], make: Callable[[], list[Referent]], cut: list[Referent]
    ) -> list[Referent]:
        """Return cached referents, recorded with their dependencies."""
        ...

    def instance_of_scope(self, path: bytes, scope: int) -> Instance | None:
        """Return an instance of the class of a scope."""
        ...

    def inherited(
        self, value: Instance, name: str, space: Space | None, arguments: int = -1
    ) -> list[Referent]:
        """Return the members of a type and its bases."""
        ...


class ClassNames(Names):
    """Looks up names in class-based languages with packages."""

    types: Inheriting

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.busy: set[tuple[bytes, int]] = set()
        """Types whose bases are being resolved, so that their inherited members are still
        unknown."""

    def package(self, path: bytes) -> str:
        """Return the package that a file declares; a component may leave that to its code."""
        model = self.view.model(path)
        if not model.package and path.endswith(NAMED_BY_FILE):
            model = self.view.model(path + _CODE_BEHIND)
            if not model.package:
                # The build tools give it a namespace for its folder, which no text names.
                return f"/{printed(folder_of(path))}"
        return model.package

    def in_package(self, path: bytes, package: str, name: str) -> list[Referent]:
        """Return the top-level definitions of a package, as a file sees them."""
        model = self.view.model(path)
        group = _GROUPS.get(model.language)
        if group is None:
            return []
        if group == "net":
            # A namespace may be in any folder.
            referents = self.parts(package, name)
            return self._main_parts(referents) if len(referents) > 1 else referents
        if model.package == package:
            referents = self._package_members(
                self.view.folder(folder_of(path)), package, group
            ).get(name)
            if referents:
                return referents
        if group == "php":
            files = self.view.modules(path, f"{package}.{name}".strip(".").replace(".", "\\"))
            return self._package_members(files, package, group).get(name, [])
        for imported in (name, "*"):
            files = self.view.modules(path, package, imported)
            referents = self._package_members(files, package, group).get(name)
            if referents:
                return referents
        return []

    def _main_parts(self, referents: list[Referent]) -> list[Referent]:
        """Among the parts of a class, prefer the file with the shortest name, its main file."""
        by_generics: dict[int, list[Referent]] = {}
        for referent in referents:
            by_generics.setdefault(self.generics(referent), []).append(referent)
        return [
            min(by_generics[count], key=lambda referent: (len(referent.path), referent.path))
            for count in sorted(by_generics)
        ]

    def generics(self, referent: Referent) -> int:
        """Return the number of type parameters of a C# type, or -1 for anything else."""
        model = self.view.model(referent.path)
        if model.language != "csharp" or referent.symbol < 0:
            return -1
        symbol = model.symbols[referent.symbol]
        return generics(symbol.signature, symbol.name) if symbol.kind in TYPES else -1

    def parts(self, package: str, name: str) -> list[Referent]:
        """Return all declarations of that name in a C# namespace; a class may have several."""
        return self._namespaces().get(package, {}).get(name, [])

    def _package_members(
        self, files: tuple[bytes, ...], package: str, group: str
    ) -> dict[str, list[Referent]]:
        """Return the names of a package in those files, in one group of interoperable languages."""
        key = ("tops", files, package, group)
        return self.view.once(key, lambda: self._read(files, package, group))

    def _read(self, files: Iterable[bytes], package: str, group: str) -> dict[str, list[Referent]]:
        names: dict[str, list[Referent]] = {}
        for path in files:
            # A folder may contain files of languages that do not link with each other.
            is_one = _GROUPS.get(self.view.languages.get(path, "")) == group
            if is_one and self.package(path) == package:
                self._add(names, path)
        return {
            name: self._without_expected(referents) if len(referents) > 1 else referents
            for name, referents in names.items()
        }

    def _without_expected(self, referents: list[Referent]) -> list[Referent]:
        """Drop Kotlin's `expect` declarations if an actual one exists."""
        implemented = [
            referent
            for referent in referents
            if not self._signature(referent).startswith("expect ")
        ]
        return implemented or referents

    def _signature(self, referent: Referent) -> str:
        model = self.view.model(referent.path)
        if model.language != "kotlin":
            return ""
        signature = model.symbols[referent.symbol].signature
        return _BEFORE_EXPECT.sub("", signature)

    def _add(self, names: dict[str, list[Referent]], path: bytes) -> None:
        model = self.view.model(path)
        for at in model.tops:
            name = model.symbols[at].name
            names.setdefault(name, []).append(Referent(path, at, 0, name))

    def _namespaces(self) -> dict[str, dict[str, list[Referent]]]:
        return self.view.index("namespaces", lambda: self.by_package("csharp"))

    def by_package(self, language: str) -> dict[str, dict[str, list[Referent]]]:
        """Return package -> name -> its top-level definitions in files of a language."""
        index: dict[str, dict[str, list[Referent]]] = {}
        for path, own in sorted(self.view.languages.items()):
            if own == language:
                self._add(index.setdefault(self.package(path), {}), path)
        return index

    def lookup(self, path: bytes, scope: int, name: str, *, types: bool = False) -> list[Referent]:
        """Return the referents of a bare name in a scope; with `types`, in the type namespace."""
        if types:
            return self.find(path, scope, name, "type")
        return self.find(path, scope, name, "value") or self.find(path, scope, name, "type")

    def find(
        self, path: bytes, scope: int, name: str, space: Space, arguments: int = -1
    ) -> list[Referent]:
        """Return the referents of a bare name as a value, a type or a call."""
        model = self.view.model(path)
        at = scope
        while at >= 0:
            here = model.scopes[at]
            if here.kind == "class":
                referents = self._in_type(path, model, at, name, space=space, arguments=arguments)
            elif at > 0:
                referents = self._in_scope(path, model, at, name, space=space, arguments=arguments)
            else:
                referents = []
            if referents:
                return referents
            at = here.parent
        return self.types.once(
            ("file", path, name, space, arguments),
            lambda: self._in_file(path, model, name, space, arguments),
            [],
        )

    def _in_scope(
        self, path: bytes, model: FileModel, at: int, name: str, *, space: Space, arguments: int
    ) -> list[Referent]:
        """Return the referents of a bare name in a scope that is not a type."""
        return self._in_block(path, model, at, name, space)

    def _in_block(
        self, path: bytes, model: FileModel, at: int, name: str, space: Space
    ) -> list[Referent]:
        entry = model.names[at].get(name)
        if entry is None:
            return []
        referents = self.of_space(
            [Referent(path, symbol, at, name) for symbol in entry.symbols], space
        )
        if referents:
            return referents
        if space == "type":
            rows = any(row.how == "type" for row in entry.rows)
        else:
            rows = bool(entry.rows) and (space == "value" or model.language in ONE_SPACE)
        return [Referent(path, LOCAL, at, name)] if rows else []

    def _in_type(
        self, path: bytes, model: FileModel, at: int, name: str, *, space: Space, arguments: int
    ) -> list[Referent]:
        if (path, model.scopes[at].symbol) in self.busy:
            return self._in_class_scope(path, model, at, name, space=space, arguments=arguments)
        return self.types.once(
            ("class", path, at, name, space, arguments),
            lambda: self._in_class_scope(path, model, at, name, space=space, arguments=arguments),
            [],
        )

    def _in_class_scope(
        self, path: bytes, model: FileModel, at: int, name: str, *, space: Space, arguments: int
    ) -> list[Referent]:
        entry = model.names[at].get(name)
        if entry is not None:
            if space == "type" and any(row.how == "type" for row in entry.rows):
                return [Referent(path, LOCAL, at, name)]
            own = [
                Referent(path, symbol, at, name)
                for symbol in entry.symbols
                if not builds(model, symbol)
            ]
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

    def of_space(self, referents: list[Referent], space: Space) -> list[Referent]:
        """Return the referents that are types, callables or values."""
        fitting: list[Referent] = []
        for referent in referents:
            kind = self.view.symbol(referent).kind if referent.symbol >= 0 else ""
            if space == "type":
                fits = kind in TYPES
            elif space == "call":
                fits = kind in CALLABLE or kind in TYPES
            else:
                fits = kind not in TYPES and kind not in CALLABLE
            if fits:
                fitting.append(referent)
        return fitting

    def fitting(self, referents: list[Referent], arguments: int) -> list[Referent]:
        """Return those that accept the number of arguments; all, if it is unknown."""
        if arguments < 0:
            return referents
        return [referent for referent in referents if self.arity(referent).takes(arguments)]

    def arity(self, referent: Referent) -> Arity:
        """Return the number of arguments that a definition accepts."""
        model = self.view.model(referent.path)
        if referent.symbol < 0 or model.symbols[referent.symbol].kind not in CALLABLE:
            return Arity(0, 1 << 30)
        symbol = model.symbols[referent.symbol]
        counts = arity(symbol.signature, symbol.name)
        if model.language == "kotlin" and "override" in symbol.signature.partition("(")[0].split():
            # An override inherits the default values and must not repeat them.
            return Arity(0, counts.most)
        return counts

    def _in_file(
        self, path: bytes, model: FileModel, name: str, space: Space, arguments: int
    ) -> list[Referent]:
        group, package = _GROUPS[model.language], self.package(path)
        entry = model.names[0].get(name)
        numbers = self.imports_of(model, name)
        referents = (
            [Referent(path, at, 0, name) for at in entry.symbols] if entry is not None else []
        )
        referents = self.fitting(self.of_space(referents, space), arguments)
        for number in () if referents else numbers:
            referents += self.imported(path, model.imports[number])
            referents = self.fitting(self.of_space(referents, space), arguments)
        if referents or numbers:
            return referents
        if package or group != "net":
            in_package = self.of_space(self.in_package(path, package, name), space)
            referents = self.fitting(in_package, arguments)
        while not referents and group == "net" and package:
            package = package.rpartition(".")[0]
            referents = self.of_space(self.in_package(path, package, name), space)
        referents = referents or self._from_all(path, name, space, arguments)
        if not referents and group == "net":
            referents = self.of_space(self._component(path, name), space)
        return referents

    def _component(self, path: bytes, name: str) -> list[Referent]:
        """Return the components of a name that are nearest to a file."""
        components = self.view.index("components", self._components).get(name, ())
        around = set(ancestors(folder_of(path)))
        shared = {
            component: len(around.intersection(ancestors(folder_of(component.path))))
            for component in components
        }
        most = max(shared.values(), default=0)
        return [component for component, size in shared.items() if size == most]

    def _components(self) -> dict[str, list[Referent]]:
        index: dict[str, list[Referent]] = {}
        for path in sorted(self.view.languages):
            if path.endswith(NAMED_BY_FILE):
                self._add(index, path)
        return index

    def imports_of(self, model: FileModel, name: str) -> list[int]:
        """Return the indexes of the imports that may provide a name."""
        entry = model.names[0].get(name)
        return list(entry.imports) if entry is not None else []

    def _from_all(self, path: bytes, name: str, space: Space, arguments: int) -> list[Referent]:
        """Return the referents of a name through wildcard imports."""
        for module, owners in self.view.once(
            ("wholes", path), lambda: self._wildcard_imports(path)
        ):
            referents = list(self.in_package(path, module, name))
            for owner in owners:
                referents += self.types.inherited(Instance(owner.path, owner.symbol), name, space)
            fitting = self.fitting(self.of_space(referents, space), arguments)
            if fitting:
                return fitting
        return []

    def _wildcard_imports(self, path: bytes) -> list[tuple[str, list[Referent]]]:
        """Return the wildcard imports of a file: the name, and the classes of that name.

        Skips C# namespaces that the view does not define, which are most of them.
        """
        wholes: list[tuple[str, list[Referent]]] = []
        for import_ in self._imports(path):
            if import_.name == "*":
                owners = self._types_called(path, import_.module)
                if owners or not self._is_foreign(path, import_.module):
                    wholes.append((import_.module, owners))
        return wholes

    def _imports(self, path: bytes) -> Iterator[Import]:
        """Yield the imports of a file; those of a component are also in the folders around it."""
        places = [path]
        if path.endswith(NAMED_BY_FILE):
            places += [below(folder, _SHARED) for folder in ancestors(folder_of(path))]
        for place in dict.fromkeys(places):
            yield from self.view.model(place).imports

    def _is_foreign(self, path: bytes, namespace: str) -> bool:
        if self.view.languages.get(path) != "csharp":
            return False
        return namespace not in self._namespaces()

    def _types_called(self, path: bytes, qualified: str) -> list[Referent]:
        package, _, name = qualified.rpartition(".")
        types = self.of_space(list(self.in_package(path, package, name)), "type")
        if types or not package:
            return types
        return [
            inner
            for owner in self._types_called(path, package)
            for inner in self._inherited(owner, name)
        ]

    def _inherited(self, owner: Referent, name: str) -> list[Referent]:
        return list(self.types.inherited(Instance(owner.path, owner.symbol), name, None))

    def on_import_path(self, path: bytes, import_: Import) -> list[Referent]:
        """Return the types of `import static a.Type.Inner.member`, `import a.Type.*`."""
        module, name = import_.module.replace("\\", ".").strip("."), import_.name
        if not name:
            module, _, name = module.rpartition(".")
        types: list[Referent] = []
        while module and (name == "*" or not self.in_package(path, module, name)):
            owners = self._types_called(path, module)
            if not owners:
                break
            types += owners
            module, _, name = module.rpartition(".")
        return types

    def imported(
        self, path: bytes, import_: Import, depth: int = 0, types: bool = False
    ) -> list[Referent]:
        """Return what an import binds: a definition of a package, or a member of a class."""
        if import_.name == "*":
            return []
        module, name = import_.module, import_.name
        if not name:
            module, _, name = module.replace("\\", ".").strip(".").rpartition(".")
        referents = list(self.in_package(path, module.replace("\\", "."), name))
        if referents:
            return referents
        return [
            referent
            for owner in self._types_called(path, module)
            for referent in self._inherited(owner, name)
        ]


def builds(model: FileModel, at: int) -> bool:
    """Whether a symbol is a constructor, so that calls name the type instead."""
    symbol = model.symbols[at]
    if symbol.parent < 0 or symbol.kind not in CALLABLE:
        return False
    return symbol.name in {model.symbols[symbol.parent].name, "constructor", "__construct"}
