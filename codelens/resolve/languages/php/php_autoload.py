"""PHP: classes by the autoload rules of `composer.json`, and files by their path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

from codelens.resolve.facts.path_tree import (
    Tree,
    ancestors,
    below,
    encoded,
    folder_of,
    joined,
    name_of,
)
from codelens.resolve.languages.language_spec import ModuleResolver
from codelens.types import Import

MANIFEST = b"composer.json"


class Autoload(ModuleResolver):
    """`use` clauses, and includes."""

    named = True

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._prefixes: dict[bytes, list[tuple[bytes, bool]]] = {}
        """Namespace as folders -> where it lies, and whether the prefix is cut (PSR-4)."""
        for path in sorted(settings):
            if name_of(path) == MANIFEST:
                self._add(folder_of(path), settings[path])

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """The file of the class, or the file included."""
        del language
        module = import_.module
        if is_include(module):
            return self._included(folder_of(path), module)
        inner = encoded(module.strip("\\")).replace(b"\\", b"/")
        if import_.name and import_.name != "*":
            inner = below(inner, encoded(import_.name).replace(b"\\", b"/"))
        for prefix in ancestors(inner):
            files_here = self._tree.first(self._below(prefix, inner))
            if files_here:
                return files_here
        files = self._tree.ending(inner + b".php") if b"/" in inner else []
        return (files[0],) if len(files) == 1 else ()

    def _below(self, prefix: bytes, inner: bytes) -> Iterator[bytes]:
        for folder, cut in self._prefixes.get(prefix, ()):
            rest = inner[len(prefix) :].lstrip(b"/") if cut else inner
            yield below(folder, rest) + b".php"

    def _included(self, folder: bytes, module: str) -> tuple[bytes, ...]:
        """Beside the file, where `__DIR__ . '/x'` points as well, else from a folder above."""
        if "$" in module or "://" in module:
            return ()
        written = encoded(module.lstrip("/"))
        for place in ancestors(folder):
            at = joined(place, written)
            if at is not None and at in self._tree:
                return (at,)
            if module.startswith(("/", ".")):
                return ()
        return ()

    def _add(self, root: bytes, manifest: bytes) -> None:
        try:
            data = json.loads(manifest)
        except (ValueError, RecursionError):
            return
        for section in ("autoload", "autoload-dev"):
            rules = _mapping(_mapping(data).get(section))
            for kind in ("psr-4", "psr-0"):
                for prefix, places in _mapping(rules.get(kind)).items():
                    inner = encoded(prefix.strip("\\")).replace(b"\\", b"/")
                    roots = self._prefixes.setdefault(inner, [])
                    listed = cast("list[object]", places) if isinstance(places, list) else [places]
                    for place in listed:
                        at = joined(root, encoded(place)) if isinstance(place, str) else None
                        if at is not None:
                            roots.append((at, kind == "psr-4"))


def is_include(module: str) -> bool:
    """Whether what a file imports is a file, and no class or namespace."""
    return module.endswith((".php", ".inc")) or "/" in module


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
