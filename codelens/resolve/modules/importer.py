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

from collections.abc import Mapping
from fnmatch import fnmatchcase

from codelens.resolve.facts.path_tree import Tree, folder_of, name_of
from codelens.resolve.languages.language_spec import ModuleResolver
from codelens.resolve.languages.registry import loaded, spec_of
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
