"""Rust: paths of modules through crates, as far as they are files.

An import does not say whether it stands in a module inside its file, as in
`mod tests { use super::*; }`, so `super` counts only where it leads to a file named after what
is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from codelens.resolve.facts.path_tree import (
    Tree,
    ancestors,
    below,
    encoded,
    folder_of,
    name_of,
    stem_of,
)
from codelens.resolve.languages.language_spec import ModuleResolver
from codelens.types import Import

MANIFEST = b"Cargo.toml"
_SECTION = re.compile(rb"^\s*\[+\s*([\w.\-]+)\s*\]+", re.MULTILINE)
_NAME = re.compile(rb'^\s*name\s*=\s*"([^"]+)"', re.MULTILINE)
_PATH = re.compile(rb'^\s*path\s*=\s*"([^"]+)"', re.MULTILINE)
_RENAMED = re.compile(
    rb"""^[ \t]*["']?([\w-]+)["']?\s*=\s*\{[^{}]{0,500}?\bpackage\s*=\s*["']([\w-]+)["']""",
    re.MULTILINE,
)
_DEPENDENCY = re.compile(rb"dependencies\.([\w-]+)$")
_PACKAGE = re.compile(rb"""^\s*package\s*=\s*["']([\w-]+)["']""", re.MULTILINE)
_OWN_ROOTS = frozenset({b"tests", b"examples", b"benches", b"bin"})
_INDEXES = frozenset({b"mod.rs", b"lib.rs", b"main.rs", b"build.rs"})


class Crates(ModuleResolver):
    """Imports of Rust files."""

    per_file = True
    named = True

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._roots: set[bytes] = set()
        """Files that are the root of a crate."""
        self._crates: dict[bytes, list[bytes]] = {}
        """Name of a library as code writes it -> its root files."""
        self._mains: dict[bytes, bytes | None] = {}
        """Folder of a package -> its library, or its program if it has no library."""
        self._packages: dict[bytes, bytes] = {}
        """Name of a package -> the root of its library."""
        manifests = [path for path in sorted(settings) if name_of(path) == MANIFEST]
        for path in manifests:
            self._add(folder_of(path), settings[path])
        for path in manifests:
            self._rename(settings[path])

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """The file of the innermost module that has one."""
        del language
        if not import_.module:
            return ()
        parts = [encoded(part) for part in import_.module.split("::") if part]
        name = [encoded(import_.name)] if import_.name and import_.name != "*" else []
        if not parts:
            return ()
        head, rest = parts[0], [*parts[1:], *name]
        if head == b"crate":
            root = self._root_of(path)
            return self._walk(root, rest) if root is not None else ()
        if head == b"self":
            return _others(path, self._walk(path, rest, itself=False))
        if head == b"super":
            return self._upwards(path, parts, name)
        if not import_.module.startswith("::"):
            inner = self._child(path, head)
            if inner is not None:
                return self._walk(inner, rest)
        owners = self._crates.get(head, ())
        return self._walk(owners[0], rest) if len(owners) == 1 else ()

    def _add(self, folder: bytes, manifest: bytes) -> None:
        sections = list(_sections(manifest))
        package = next((text for title, text in sections if title == b"package"), None)
        name = _NAME.search(package) if package is not None else None
        if name is None:
            return
        library = next((text for title, text in sections if title == b"lib"), b"")
        root = _PATH.search(library)
        renamed = _NAME.search(library)
        file = below(folder, root[1] if root else b"src/lib.rs")
        if file in self._tree:
            self._roots.add(file)
            called = (renamed or name)[1].replace(b"-", b"_")
            self._crates.setdefault(called, []).append(file)
            self._packages[name[1]] = file
        program = below(folder, b"src/main.rs")
        for title, text in sections:
            match = _PATH.search(text) if title in {b"bin", b"test", b"example", b"bench"} else None
            if match:
                self._roots.add(below(folder, match[1]))
                if title == b"bin" and program not in self._tree:
                    program = below(folder, match[1])
        candidates = self._tree.first((file, program))
        self._mains[folder] = candidates[0] if candidates else None

    def _rename(self, manifest: bytes) -> None:
        """Dependencies that code calls otherwise: `core = { package = "acme-core", ... }`."""
        renamed = _RENAMED.findall(manifest)
        for title, text in _sections(manifest):
            named, package = _DEPENDENCY.search(title), _PACKAGE.search(text)
            if named is not None and package is not None:
                renamed.append((named[1], package[1]))
        for alias, package in renamed:
            roots = self._crates.setdefault(alias.replace(b"-", b"_"), [])
            root = self._packages.get(package)
            if root is not None and root not in roots:
                roots.append(root)

    def _root_of(self, path: bytes) -> bytes | None:
        """The root file of the crate that a file belongs to, if it can be told."""
        if self._is_root(path):
            return path
        for place in ancestors(folder_of(path)):
            if place in self._mains:
                return self._mains[place]
            if name_of(place) in _OWN_ROOTS and folder_of(place) in self._mains:
                roots = [root for root in self._roots if folder_of(root) == place]
                return roots[0] if len(roots) == 1 else None
            for name in (b"lib.rs", b"main.rs"):
                if below(place, name) in self._tree:
                    return below(place, name)
        return None

    def _is_root(self, path: bytes) -> bool:
        if path in self._roots:
            return True
        folder, name = folder_of(path), name_of(path)
        if name in {b"lib.rs", b"main.rs"} and name_of(folder) == b"src":
            return True
        if name == b"build.rs" and folder in self._mains:
            return True
        holder = folder_of(folder)
        if name_of(folder) not in _OWN_ROOTS:
            return name == b"main.rs" and name_of(holder) in _OWN_ROOTS
        return holder in self._mains or folder_of(holder) in self._mains

    def _inside(self, file: bytes) -> bytes:
        """The folder that holds the modules declared in `file`."""
        if name_of(file) in _INDEXES or self._is_root(file):
            return folder_of(file)
        return below(folder_of(file), stem_of(file))

    def _child(self, file: bytes, name: bytes) -> bytes | None:
        folder = self._inside(file)
        inner = below(folder, name)
        return next((p for p in (inner + b".rs", inner + b"/mod.rs") if p in self._tree), None)

    def _walk(self, file: bytes, parts: list[bytes], *, itself: bool = True) -> tuple[bytes, ...]:
        """As deep as there are files; what is left is defined in the last, or re-exported."""
        at = file
        for part in parts:
            inner = self._child(at, part)
            if inner is None:
                break
            at = inner
        return (at,) if itself or at != file else ()

    def _upwards(self, path: bytes, parts: list[bytes], name: list[bytes]) -> tuple[bytes, ...]:
        ups = sum(part == b"super" for part in parts)
        rest = [*parts[ups:], *name]
        folder = self._inside(path)
        if self._is_root(path) or not rest:
            return ()
        for _ in range(ups):
            folder = folder_of(folder)
        first = below(folder, rest[0])
        file = next((p for p in (first + b".rs", first + b"/mod.rs") if p in self._tree), None)
        return _others(path, self._walk(file, rest[1:])) if file is not None else ()


def _others(path: bytes, files: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return tuple(file for file in files if file != path)


def _sections(manifest: bytes) -> Iterator[tuple[bytes, bytes]]:
    edges = [*_SECTION.finditer(manifest)]
    for at, edge in enumerate(edges):
        end = edges[at + 1].start() if at + 1 < len(edges) else len(manifest)
        yield edge[1], manifest[edge.end() : end]
