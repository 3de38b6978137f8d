"""Resolves Python modules to files, and the values of decorators and pytest fixtures.

Modules are found in the interpreter's order as far as the file tree shows it: in the folders above
the importing file, nearest first, then in the roots of the view's projects. A file with the name of
a standard library module never shadows it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping

from codelens.resolve.file_model import CALLABLE, FileModel
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Instance, Value, each, together
from codelens.resolve.languages.registry import ModuleResolver
from codelens.resolve.path_tree import Tree, ancestors, below, encoded, folder_of
from codelens.types import PROTOCOL, Import, Reference

_FORMS = (b".py", b"/__init__.py", b".pyi", b"/__init__.pyi", b".pyx")
_PACKAGE = (b"/__init__.py", b"/__init__.pyi")
_PROJECT = (b"pyproject.toml", b"setup.py", b"setup.cfg")
_USUAL = frozenset({b"", b"src", b"lib", b"python"})
_STANDARD = sys.stdlib_module_names


class PythonModules(ModuleResolver):
    """Resolves the imports of Python files."""

    named = True

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        holds_library = {folder_of(path) for path in tree.called(b"os.py")} & {
            folder_of(path) for path in tree.called(b"io.py")
        }
        self._standard: frozenset[str] = frozenset() if holds_library else _STANDARD
        self._packages: dict[bytes, bool] = {}
        self._above: dict[bytes, tuple[bytes, ...]] = {}
        self._whole: dict[tuple[bytes, str], tuple[bytes, ...]] = {}

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the submodule of that name, or else the module itself."""
        del language
        module = import_.module
        rest = module.lstrip(".")
        level = len(module) - len(rest)
        inner = encoded(rest).replace(b".", b"/")
        if level:
            folder = folder_of(path)
            for _ in range(level - 1):
                if not folder:
                    return ()
                folder = folder_of(folder)
            return self._module(below(folder, inner), import_.name)
        if rest.partition(".")[0] in self._standard:
            return ()
        for root in self._roots(path, inner, import_.name):
            files = self._module(below(root, inner), import_.name)
            if files:
                return files
        return ()

    def through(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the `__init__` files that an import runs on the way to its target."""
        packages: list[bytes] = []
        parts = import_.module.lstrip(".").split(".")
        dots = import_.module[: len(import_.module) - len(import_.module.lstrip("."))]
        last = len(parts) if import_.name and import_.name != "*" else len(parts) - 1
        for size in range(1, last + 1):
            packages += self._module_itself(path, dots + ".".join(parts[:size])) if parts[0] else ()
        if not packages:
            return ()
        targets = self.targets(path, language, import_)
        return tuple(file for file in packages if file not in targets)

    def _module_itself(self, path: bytes, module: str) -> tuple[bytes, ...]:
        key = (folder_of(path), module)
        files = self._whole.get(key)
        if files is None:
            files = self._whole[key] = self.targets(path, "", Import(module, "", "", 0))
        return files

    def _module(self, base: bytes, name: str) -> tuple[bytes, ...]:
        languages = self._tree.languages
        if name and name != "*" and (base + b".py") not in languages:
            inner = below(base, encoded(name))
            file = next((inner + form for form in _FORMS if inner + form in languages), None)
            if file is not None:
                return (file,)
        forms = _FORMS if base else (b"__init__.py", b"__init__.pyi")
        return self._tree.first(base + form for form in forms)

    def _roots(self, path: bytes, inner: bytes, name: str) -> Iterator[bytes]:
        """Yield the folders from which `inner` can be imported, most likely first."""
        here = folder_of(path)
        above = self._above.get(here)
        if above is None:
            outside = [root for root in ancestors(here) if not self._is_package(root)]
            above = tuple(place for root in outside for place in (root, below(root, b"src")))
            self._above[here] = above
        yield from above
        others = sorted(self._others(inner, name))
        if len(others) == 1:
            yield others[0]
        elif not others and self._is_package(here):
            yield here

    def _others(self, inner: bytes, name: str) -> set[bytes]:
        tree = self._tree
        roots: set[bytes] = set()
        tails = [inner + form for form in _FORMS]
        if name and name != "*":
            tails += [below(inner, encoded(name)) + form for form in _FORMS]
        for tail in tails:
            for file in tree.ending(tail):
                root = file[: max(len(file) - len(tail) - 1, 0)]
                whole = b"/" in inner or (tail.endswith(_PACKAGE) and b"/" not in root)
                if not self._is_package(root) and (whole or self._is_root(root)):
                    roots.add(root)
        return roots

    def _is_package(self, folder: bytes) -> bool:
        is_package = self._packages.get(folder)
        if is_package is None:
            is_package = any(folder + form in self._tree for form in _PACKAGE)
            self._packages[folder] = is_package
        return is_package

    def _is_root(self, root: bytes) -> bool:
        if root in _USUAL:
            return True
        places = (root, folder_of(root))
        return any(below(place, name) in self._tree for place in places for name in _PROJECT)


# Decorators: finding those of a definition, and knowing those that do not change it.

HANDING = frozenset(
    "abstractmethod abstractproperty asynccontextmanager cache cached_property classmethod "
    "contextmanager coroutine deleter deprecated final fixture getter lru_cache no_type_check "
    "overload override property runtime_checkable setter singledispatch singledispatchmethod "
    "staticmethod wraps".split()
)
"""Decorators of the standard library and pytest that keep the result of the function."""


def decorators(model: FileModel, symbol: int) -> list[Reference]:
    """Return the decorators of a definition, each as the reference to its name."""
    definition = model.symbols[symbol]
    if definition.start_line >= definition.name_line:
        return []
    by_line: dict[int, Reference] = {}
    first = -1
    for at in model.references:
        if definition.start_line <= at.line < definition.name_line and at.arguments != PROTOCOL:
            begin = at.column - (len(at.receiver) + 1 if at.receiver else 0)
            first = begin if first < 0 else first
            # Arguments on separate lines are indented further.
            if begin == first and (at.line not in by_line or at.column > by_line[at.line].column):
                by_line[at.line] = at
    return list(by_line.values())


# The fixtures of pytest: a test parameter has the value of the fixture of its name.
#
# A fixture is defined in the class or module of the test, or in a `conftest.py` of a folder above;
# the nearest one wins.

_FIXTURE = "fixture"


class Fixtures:
    """Evaluates the parameters of tests and fixtures."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver, self.view = resolver, resolver.view

    def given(self, parameter: Referent) -> Value:
        """Return the value of a variable if it is a parameter of a test or fixture."""
        path, name = parameter.path, parameter.name
        model = self.view.model(path)
        if not model.spec.submodules:
            return None
        scope = model.scopes[parameter.scope]
        rows = self.resolver.names.rows(parameter)
        if scope.kind != "function" or scope.symbol < 0 or len(rows) != 1 or rows[0].how != "?":
            return None
        function = model.symbols[scope.symbol]
        if not function.name.startswith("test") and _FIXTURE not in model.decorators(scope.symbol):
            return None
        if not re.search(
            rf"[(,]\s*{re.escape(name)}\s*(?=[,)])", "(" + function.signature.partition("(")[2]
        ):
            return None
        key = ("fixture", path, scope.symbol, name)
        return self.resolver.once(key, lambda: self._of(path, model, scope.symbol, name), None)

    def _of(self, path: bytes, model: FileModel, asking: int, name: str) -> Value:
        for fixture in self._named(path, model, asking, name):
            fixture_model = self.view.model(fixture.path)
            if fixture.symbol < 0 or fixture[:2] == (path, asking):
                continue
            is_function = fixture_model.symbols[fixture.symbol].kind in CALLABLE
            if is_function and _FIXTURE in fixture_model.decorators(fixture.symbol):
                return self._value(fixture_model, fixture)
        return None

    def _named(self, path: bytes, model: FileModel, asking: int, name: str) -> Iterator[Referent]:
        """Yield the candidates for a fixture, nearest first."""
        parent = model.symbols[asking].parent
        if parent >= 0:
            own = Instance(path, parent)
            yield from (referent for referent, _ in self.resolver.members(own, name))
        yield from self.resolver.names.lookup(path, 0, name)
        for level in range(1, path.count(b"/") + 2):
            for file in self.view.modules(path, f"{'.' * level}conftest"):
                if file != path:
                    yield from self.resolver.names.exported(file, name)

    def _value(self, model: FileModel, fixture: Referent) -> Value:
        value = self.resolver.result(fixture.path, fixture.symbol, None)
        scope = model.own_scope.get(fixture.symbol, -1)
        rows = model.of_scope.get(scope, ())
        if not any(row.how == "yield" for row in rows):
            awaited = [
                self.resolver.awaited(part) if isinstance(part, Container) else part
                for part in each(value)
            ]
            return together(awaited)
        items = [part.args[0] for part in each(value) if isinstance(part, Container) and part.args]
        return together(items)
