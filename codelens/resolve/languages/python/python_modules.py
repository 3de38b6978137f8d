"""Python: which file a module is, by packages, roots and relative dots.

The order is that of the interpreter as far as a tree tells it: the folders above the importing
file, nearest first, then the roots of the projects in the view. The standard library is never
shadowed by a file that merely has its name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from codelens.resolve.facts.path_tree import Tree, ancestors, below, encoded, folder_of
from codelens.resolve.languages.language_spec import ModuleResolver
from codelens.types import Import

_FORMS = (b".py", b"/__init__.py", b".pyi", b"/__init__.pyi", b".pyx")
_PACKAGE = (b"/__init__.py", b"/__init__.pyi")
_PROJECT = (b"pyproject.toml", b"setup.py", b"setup.cfg")
_USUAL = frozenset({b"", b"src", b"lib", b"python"})
_STANDARD = sys.stdlib_module_names


class PythonModules(ModuleResolver):
    """Imports of Python files."""

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
        """The submodule of that name, else the module itself."""
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
        """`__init__` files of the packages that the name goes through, and that are run by it."""
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
        """Folders from which `inner` can be imported, the likeliest first."""
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
        known = self._packages.get(folder)
        if known is None:
            known = any(folder + form in self._tree for form in _PACKAGE)
            self._packages[folder] = known
        return known

    def _is_root(self, root: bytes) -> bool:
        if root in _USUAL:
            return True
        places = (root, folder_of(root))
        return any(below(place, name) in self._tree for place in places for name in _PROJECT)
