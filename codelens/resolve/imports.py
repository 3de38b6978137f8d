"""Imports of a view, file to file: the one entry for all languages.

The rules of a language go by paths and a few settings files alone, so answers hold as long as
these do. What a change can touch:

- A path added or removed touches imports whose last segment, or last but one, is the path's stem
  or one of its folders (packages: Go, `__init__`, `index`, wildcards). Every rule looks files up
  by such names.
- A settings file (`settings_paths`) touches all imports of its language.
- `os.py` beside `io.py` (Python's own library) and a `.csproj` touch their language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from codelens.resolve.languages.registry import ModuleResolver, loaded, spec_of
from codelens.resolve.path_tree import Tree, folder_of, name_of
from codelens.types import Import


def settings_paths(languages: Mapping[bytes, str]) -> list[bytes]:
    """Files of a view whose contents `Importer` needs: manifests, and settings of compilers."""
    specs = {spec_of(language) for language in set(languages.values())}
    names = {name for spec in specs for name in spec.settings}
    # Nearly all paths of a large view end otherwise; this keeps the rest off them.
    endings = tuple(name[name.rfind(b".") :] for name in names)
    return sorted(
        path
        for path in languages
        if path.endswith(endings) and any(fnmatchcase(name_of(path), name) for name in names)
    )


class Importer:
    """Resolves imports of one view."""

    def __init__(self, languages: Mapping[bytes, str], settings: Mapping[bytes, bytes]) -> None:
        """Index the view.

        Args:
            languages: All files of the view -> their language.
            settings: Contents of `settings_paths(languages)`; what is left out says nothing.
        """
        self._tree = Tree(languages)
        self._settings = settings
        self._resolvers: dict[str, ModuleResolver] = {}
        self._known: dict[tuple[bytes, str, str, str], tuple[bytes, ...]] = {}

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Files of the view that `one` in `path` imports, in order of their paths.

        Empty if it names nothing in the view, or several things it cannot choose from. Several
        files are one package (Go, a wildcard, the source sets of one Kotlin class). Never the
        importing file itself.
        """
        resolver = self._resolver(language)
        place = path if resolver.per_file else folder_of(path) + path[path.rfind(b".") :]
        key = (place, language, import_.module, import_.name if resolver.named else "")
        targets = self._known.get(key)
        if targets is None:
            targets = self._known[key] = resolver.targets(path, language, import_)
        return tuple(target for target in targets if target != path) if path in targets else targets

    def through(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Files that the import runs or names on its way, beside its targets.

        `import a.b.c` goes through `a/__init__.py` and `a/b/__init__.py`; other languages than
        Python have no such files.
        """
        targets = self._resolver(language).through(path, language, import_)
        return tuple(file for file in targets if file != path)

    def _resolver(self, language: str) -> ModuleResolver:
        place = spec_of(language).modules
        resolver = self._resolvers.get(place)
        if resolver is None:
            make = loaded(place) if place else ModuleResolver
            resolver = self._resolvers[place] = make(self._tree, self._settings)
        return resolver


# Where an imported name is defined, behind the files that merely pass it on.
#
# `index.ts` and `__init__.py` mostly do. What a file imports under a name and others import from it
# is taken as passed on: in code that runs it has to be.

_DEEPEST = 12
"""Files that one name is followed through; barrels of barrels are rarely more than four deep."""


class Surface(NamedTuple):
    """What a file defines and imports, as far as others can see it."""

    language: str
    defined: frozenset[str]
    """Names of its top-level symbols."""
    imports: tuple[Import, ...]


class Definers:
    """Follows imported names through the files of one view."""

    def __init__(self, importer: Importer, surface: Callable[[bytes], Surface | None]) -> None:
        """`surface` is asked for files of the view; None for one that has no facts."""
        self._importer = importer
        self._surface = surface
        self._known: dict[tuple[bytes, str], bytes | None] = {}

    def definer(self, path: bytes, language: str, import_: Import) -> bytes | None:
        """The file that defines what `one` imports; the module's file if no other can be told.

        None for what is outside of the view, and for imports of several files.
        """
        targets = self._importer.targets(path, language, import_)
        if len(targets) != 1:
            return None
        return self._follow(targets[0], import_.name, 0) or targets[0]

    def _follow(self, path: bytes, name: str, depth: int) -> bytes | None:
        if not name or name == "*" or depth > _DEEPEST:
            return None
        key = (path, name)
        if key not in self._known:
            # A cycle of star imports finds this, and looks no further here.
            self._known[key] = None
            self._known[key] = self._search(path, name, depth)
        return self._known[key]

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
