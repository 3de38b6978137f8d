"""Go: an import names a folder; all its files but tests are the package."""

from __future__ import annotations

import re
from collections.abc import Mapping

from codelens.resolve.facts.path_tree import Tree, ancestors, below, encoded, folder_of, name_of
from codelens.resolve.languages.language_spec import ModuleResolver
from codelens.types import Import

MANIFEST = b"go.mod"
_MODULE = re.compile(rb'^module\s+"?([^\s"]+)', re.MULTILINE)


class GoPackages(ModuleResolver):
    """Imports of Go files."""

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._modules: dict[bytes, list[bytes]] = {}
        for path in sorted(settings):
            match = _MODULE.search(settings[path]) if name_of(path) == MANIFEST else None
            if match:
                self._modules.setdefault(match[1], []).append(folder_of(path))

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """The files of the package, by the module of the view that holds it, else vendored."""
        del language
        package = encoded(import_.module)
        for prefix in ancestors(package):
            roots = self._modules.get(prefix, ()) if prefix else ()
            if len(roots) == 1:
                return self._files(below(roots[0], package[len(prefix) + 1 :]))
        for place in ancestors(folder_of(path)):
            files = self._files(below(place, b"vendor/" + package))
            if files:
                return files
        return ()

    def _files(self, folder: bytes) -> tuple[bytes, ...]:
        files = self._tree.files(folder)
        return tuple(sorted(f for f in files if f.endswith(b".go") and not f.endswith(b"_test.go")))
