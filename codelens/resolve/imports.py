"""Resolves the imports of a view to files; the single entry point for all languages.

The rules of a language depend only on paths and a few settings files, so answers stay valid while
these do not change. What a change can affect:

- An added or removed path affects imports whose last or last but one segment is the path's stem or
  one of its folders (packages: Go, `__init__`, `index`, wildcards). All rules look up files by such
  names.
- A settings file (`settings_paths`) affects all imports of its language.
- An `os.py` next to an `io.py` (Python's own library) and a `.csproj` affect their language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from codelens.resolve.languages.registry import ModuleResolver, loaded, spec_of
from codelens.resolve.path_tree import Tree, folder_of, name_of
from codelens.types import Import


def settings_paths(languages: Mapping[bytes, str]) -> list[bytes]:
    """Return the files whose contents `Importer` needs: manifests and compiler settings."""
    specs = {spec_of(language) for language in set(languages.values())}
    names = {name for spec in specs for name in spec.settings}
    # Nearly all paths of a large view have other extensions; this check skips them cheaply.
    endings = tuple(name[name.rfind(b".") :] for name in names)
    return sorted(
        path
        for path in languages
        if path.endswith(endings) and any(fnmatchcase(name_of(path), name) for name in names)
    )


class Importer:
    """Resolves the imports of one view."""

    def __init__(self, languages: Mapping[bytes, str], settings: Mapping[bytes, bytes]) -> None:
        """Index the view.

        Args:
            languages: All files of the view -> their language.
            settings: Contents of `settings_paths(languages)`; a missing file has no effect.
        """
        self._tree = Tree(languages)
        self._settings = settings
        self._languages = frozenset(languages.values())
        self._resolvers: dict[str, ModuleResolver] = {}
        self._cache: dict[tuple[bytes, str, str, str], tuple[bytes, ...]] = {}

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the files of the view that an import in `path` refers to, in order of their paths.

        Empty if it refers to nothing in the view or is ambiguous. Several files form one package
        (Go, a wildcard, the source sets of one Kotlin class). Never includes the importing file.
        """
        resolver = self._resolver(language)
        place = path if resolver.per_file else folder_of(path) + path[path.rfind(b".") :]
        key = (place, language, import_.module, import_.name if resolver.named else "")
        targets = self._cache.get(key)
        if targets is None:
            targets = self._cache[key] = resolver.targets(path, language, import_)
        return tuple(target for target in targets if target != path) if path in targets else targets

    def through(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the files that an import also runs or names, in addition to its targets.

        `import a.b.c` goes through `a/__init__.py` and `a/b/__init__.py`. Only Python has such
        files.
        """
        targets = self._resolver(language).through(path, language, import_)
        return tuple(file for file in targets if file != path)

    @cached_property
    def declared(self) -> Mapping[bytes, bytes]:
        """Files that only declare what others define (`types` of a package), with that file."""
        resolvers = (self._resolver(language) for language in self._languages)
        return {path: code for resolver in resolvers for path, code in resolver.declared().items()}

    def _resolver(self, language: str) -> ModuleResolver:
        place = spec_of(language).modules
        resolver = self._resolvers.get(place)
        if resolver is None:
            make = loaded(place) if place else ModuleResolver
            resolver = self._resolvers[place] = make(self._tree, self._settings)
        return resolver


# Finding the file that defines an imported name, behind files that only re-export it.
#
# `index.ts` and `__init__.py` often only re-export. If a file imports a name and others import that
# name from it, the name counts as re-exported: otherwise the code would not run.

_DEEPEST = 12
"""The most files to follow a name through; barrels of barrels are rarely over four deep."""


class Surface(NamedTuple):
    """What a file defines and imports, as visible to other files."""

    language: str
    defined: frozenset[str]
    """The names of its top-level symbols."""
    imports: tuple[Import, ...]


class Definers:
    """Follows imported names through the files of one view."""

    def __init__(self, importer: Importer, surface: Callable[[bytes], Surface | None]) -> None:
        """`surface` returns the surface of a file of the view; None for a file without facts."""
        self._importer = importer
        self._surface = surface
        self._cache: dict[tuple[bytes, str], bytes | None] = {}

    def definer(self, path: bytes, language: str, import_: Import) -> bytes | None:
        """Return the file that defines an imported name; falls back to the module's file.

        None for targets outside of the view and for imports of several files.
        """
        targets = self._importer.targets(path, language, import_)
        if len(targets) != 1:
            return None
        return self._follow(targets[0], import_.name, 0) or targets[0]

    def _follow(self, path: bytes, name: str, depth: int) -> bytes | None:
        if not name or name == "*" or depth > _DEEPEST:
            return None
        key = (path, name)
        if key not in self._cache:
            # A cycle of wildcard imports finds this entry and stops.
            self._cache[key] = None
            self._cache[key] = self._search(path, name, depth)
        return self._cache[key]

    def _search(self, path: bytes, name: str, depth: int) -> bytes | None:
        surface = self._surface(path)
        if surface is None:
            return None
        if name in surface.defined:
            return path
        for import_ in surface.imports:
            if (import_.alias or import_.name) == name and import_.name != "*":
                target = self._only(path, surface.language, import_)
                definer = self._follow(target, import_.name, depth + 1) if target else None
                return definer or target
        stars = (
            import_ for import_ in surface.imports if import_.name == "*" and not import_.alias
        )
        return self._behind_stars(path, surface.language, stars, name, depth)

    def _behind_stars(
        self, path: bytes, language: str, stars: Iterable[Import], name: str, depth: int
    ) -> bytes | None:
        for star in stars:
            target = self._only(path, language, star)
            definer = self._follow(target, name, depth + 1) if target else None
            if definer:
                return definer
        return None

    def _only(self, path: bytes, language: str, import_: Import) -> bytes | None:
        targets = self._importer.targets(path, language, import_)
        return targets[0] if len(targets) == 1 else None
