"""Imports of a view, file to file: the one entry for all languages.

A family of languages is a module of this package, `modules_<family>`. Its rules go by paths and
a few settings files alone, so its answers hold as long as these do. What a change can touch:

- A path added or removed touches imports whose last segment, or last but one, is the path's stem
  or one of its folders (packages: Go, `__init__`, `index`, wildcards). Every rule looks files up
  by such names.
- A settings file (`settings_paths`) touches all imports of its family.
- `os.py` beside `io.py` (Python's own library) and a `.csproj` touch their language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Protocol

from codelens.resolve.facts.path_tree import Tree, folder_of, name_of
from codelens.resolve.modules import (
    c_includes,
    csharp_namespaces,
    dotted_modules,
    go_packages,
    jvm_packages,
    path_imports,
    php_autoload,
    python_modules,
    ruby_requires,
    rust_crates,
    script_modules,
)
from codelens.types import Import

_Found = tuple[bytes, ...]


class _One(Protocol):
    """A family of one language, or of several that need not be told apart."""

    def targets(self, path: bytes, one: Import) -> _Found: ...


class _Several(Protocol):
    """A family whose languages differ."""

    def targets(self, path: bytes, language: str, one: Import) -> _Found: ...


_ONE = (
    python_modules,
    script_modules,
    go_packages,
    rust_crates,
    jvm_packages,
    csharp_namespaces,
    c_includes,
    ruby_requires,
    php_autoload,
)
_SEVERAL = (dotted_modules, path_imports)
_SETTINGS = (script_modules, go_packages, rust_crates, php_autoload, path_imports)
_FAMILIES = {name: family for family in (*_ONE, *_SEVERAL) for name in family.LANGUAGES}
LANGUAGES = frozenset(_FAMILIES)
"""Languages whose imports are resolved."""


def settings_paths(paths: Iterable[bytes]) -> list[bytes]:
    """Files whose contents `Importer` needs: manifests, and settings of compilers."""
    found: list[bytes] = []
    for path in paths:
        # Nearly all paths of a large view end otherwise; this keeps the rest off them.
        if path.endswith((b".json", b".mod", b".toml", b".yaml")):
            name = name_of(path)
            if any(family.settings_names(name) for family in _SETTINGS):
                found.append(path)
    return sorted(found)


class Importer:
    """Resolves imports of one view."""

    def __init__(self, paths: Mapping[bytes, str], settings: Mapping[bytes, bytes]) -> None:
        """Index the view.

        Args:
            paths: All files of the view -> their language.
            settings: Contents of `settings_paths(paths)`; what is left out says nothing.
        """
        self._tree = Tree(paths)
        self._settings = settings
        self._ones: dict[str, _One] = {}
        self._several: dict[str, _Several] = {}
        self._known: dict[tuple[bytes, str, str, str], _Found] = {}

    def targets(self, path: bytes, language: str, one: Import) -> _Found:
        """Files of the view that `one` in `path` imports, in order of their paths.

        Empty if it names nothing in the view, or several things it cannot choose from. Several
        files are one package (Go, a wildcard, the source sets of one Kotlin class). Never the
        importing file itself.
        """
        family = _FAMILIES.get(language)
        if family is None:
            return ()
        place = path if family.PER_FILE else folder_of(path) + path[path.rfind(b".") :]
        key = (place, language, one.module, one.name if family.NAMED else "")
        found = self._known.get(key)
        if found is None:
            found = self._resolve(path, language, one)
            self._known[key] = found
        return tuple(target for target in found if target != path) if path in found else found

    def module(self, path: bytes, language: str, one: Import) -> bytes | None:
        """The file of the module itself, whatever is imported from it; None outside of the view.

        For languages whose modules are files: Python (a package is its `__init__`), scripts.
        """
        found = self.targets(path, language, one._replace(name=""))
        return found[0] if len(found) == 1 else None

    def submodule(self, path: bytes, name: str) -> bytes | None:
        """The module called `name` in the Python package whose `__init__` is at `path`."""
        found = self.targets(path, "python", Import(".", name, "", 0))
        return found[0] if found and self.is_package(path) else None

    @staticmethod
    def is_package(path: bytes) -> bool:
        """Whether a file is what a Python package is made by."""
        return name_of(path) in {b"__init__.py", b"__init__.pyi"}

    def through(self, path: bytes, language: str, one: Import) -> _Found:
        """Files that the import runs or names on its way, beside its targets.

        `import a.b.c` goes through `a/__init__.py` and `a/b/__init__.py`; other languages than
        Python have no such files.
        """
        if language not in python_modules.LANGUAGES:
            return ()
        return tuple(file for file in self._python.through(path, one) if file != path)

    @cached_property
    def _python(self) -> python_modules.Modules:
        return python_modules.Modules(self._tree, self._settings)

    def _resolve(self, path: bytes, language: str, one: Import) -> _Found:
        family = _FAMILIES[language]
        key = family.__name__
        if family is dotted_modules or family is path_imports:
            several = self._several.get(key)
            if several is None:
                several = self._several[key] = family.Modules(self._tree, self._settings)
            return several.targets(path, language, one)
        single = self._ones.get(key)
        if single is None:
            single = self._ones[key] = family.Modules(self._tree, self._settings)
        return single.targets(path, one)
