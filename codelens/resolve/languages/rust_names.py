"""Resolves Rust paths: modules to files through crates, and names through `use`.

An import fact does not say whether it is in an inline module, as in `mod tests { use super::*; }`.
So `super` counts only if it leads to a file named after the imported item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol, cast

from codelens.resolve.file_model import CALLABLE, TYPES, FileModel
from codelens.resolve.inference.name_lookup import LOCAL, MODULE, Names, Referent
from codelens.resolve.inference.values import Definition, Value
from codelens.resolve.languages.registry import ModuleResolver
from codelens.resolve.languages.rust_types import POINTER, rust_type
from codelens.resolve.path_tree import Tree, ancestors, below, encoded, folder_of, name_of, stem_of
from codelens.resolve.view_files import View
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
    """Resolves the imports of Rust files."""

    per_file = True
    named = True

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._roots: set[bytes] = set()
        """The root files of crates."""
        self._crates: dict[bytes, list[bytes]] = {}
        """Name of a library in code -> its root files."""
        self._mains: dict[bytes, bytes | None] = {}
        """Folder of a package -> its library, or else its program."""
        self._packages: dict[bytes, bytes] = {}
        """Name of a package -> the root of its library."""
        manifests = [path for path in sorted(settings) if name_of(path) == MANIFEST]
        for path in manifests:
            self._add(folder_of(path), settings[path])
        for path in manifests:
            self._rename(settings[path])

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the file of the innermost module that has one."""
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
        """Read the renamed dependencies of a manifest: `core = { package = "acme-core", ... }`."""
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
        """Return the root file of the crate that contains a file; None if it is unclear."""
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
        """Return the folder of the modules that `file` declares."""
        if name_of(file) in _INDEXES or self._is_root(file):
            return folder_of(file)
        return below(folder_of(file), stem_of(file))

    def _child(self, file: bytes, name: bytes) -> bytes | None:
        folder = self._inside(file)
        inner = below(folder, name)
        return next((p for p in (inner + b".rs", inner + b"/mod.rs") if p in self._tree), None)

    def _walk(self, file: bytes, parts: list[bytes], *, itself: bool = True) -> tuple[bytes, ...]:
        """Follow a path as far as there are files; the last file defines or re-exports the rest."""
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


# Names in modules, which are files or symbols of kind `module` in a file.
#
# Paths are followed through `use`, including re-exports (`pub use`) and globs.

_FAR = 16
ANY = "*"
"""The name for blocks that apply to all types within a bound: `impl<T: Read> Ext for T`."""
_STANDARD_MACROS = frozenset(
    "assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert debug_assert_eq "
    "debug_assert_ne env eprint eprintln file format format_args include include_bytes include_str "
    "line matches module_path option_env panic print println stringify thread_local todo try "
    "unimplemented unreachable vec write writeln".split()
)


class RustTypes(Protocol):
    """The type queries that following a path needs."""

    def members(self, value: Value, name: str) -> list[tuple[Referent, Value]]:
        """Return the members of that name, each with the value that owns it."""
        ...


class Impl(NamedTuple):
    """An `impl` block."""

    path: bytes
    scope: int
    of_trait: bool
    members: dict[str, list[Referent]]


class _Survey(NamedTuple):
    """The indexes over all files of a view."""

    impls: dict[str, list[Impl]]
    aliases: dict[str, list[str]]
    macros: dict[str, list[Referent]]


_ImplSurvey = tuple[str, int, bool, list[tuple[str, int]]]
"""The name of the block's type, its scope, whether it implements a trait, and its members."""
_FileSurvey = tuple[list[_ImplSurvey], list[tuple[str, str]], list[tuple[str, int]]]
"""The survey of one file: `impl` blocks, type aliases, macros."""


class RustNames(Names):
    """Looks up names in modules and through `use`."""

    types: RustTypes

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._asking: set[tuple[bytes, int, str]] = set()

    def lookup(self, path: bytes, scope: int, name: str, *, types: bool = False) -> list[Referent]:
        """Return the referents of a bare name in a scope."""
        model = self.view.model(path)
        at = scope
        while at >= 0:
            here = model.scopes[at]
            module = (
                here.symbol
                if here.symbol >= 0 and model.symbols[here.symbol].kind == "module"
                else -1
            )
            if at == 0 or module >= 0:
                return self.item(path, module, name, types=types)
            referents = self._in_scope(path, model, at, name, types=types)
            if referents:
                return referents
            at = here.parent
        return []

    def _in_scope(
        self, path: bytes, model: FileModel, at: int, name: str, *, types: bool
    ) -> list[Referent]:
        """Return what a scope within a module binds under a name."""
        entry = model.names[at].get(name)
        if entry is None:
            module = self.module_of(model, at) if at in model.globs else -1
            return self._by_globs(path, model, module, at, name=name, depth=0, types=types)
        if model.scopes[at].kind == "class":
            is_type = types and any(row.how == "type" for row in entry.rows)
            return [Referent(path, LOCAL, at, name)] if is_type else []
        referents = [Referent(path, symbol, at, name) for symbol in entry.symbols]
        for number in () if referents else entry.imports:
            module = self.module_of(model, at)
            referents += self._bound(path, module, model.imports[number], 0)
        if not referents and any((row.how == "type") == types for row in entry.rows):
            return [Referent(path, LOCAL, at, name)]
        return referents

    def module_of(self, model: FileModel, scope: int) -> int:
        """Return the symbol of the inline module around a scope, or -1 for the file."""
        while scope > 0:
            symbol = model.scopes[scope].symbol
            if symbol >= 0 and model.symbols[symbol].kind == "module":
                return symbol
            scope = model.scopes[scope].parent
        return -1

    def item(
        self, path: bytes, module: int, name: str, depth: int = 0, *, types: bool = False
    ) -> list[Referent]:
        """Return the items of a module under a name."""
        key = (path, module, name)
        if depth > _FAR:
            return []
        if key in self._asking:
            # `mod db; pub use self::db::db;` refers to the module.
            files = self.view.modules(path, name) if module < 0 else ()
            return [Referent(file, MODULE) for file in files if file != path]
        self._asking.add(key)
        try:
            return self._item(path, module, name, depth, types)
        finally:
            self._asking.discard(key)

    def _item(self, path: bytes, module: int, name: str, depth: int, types: bool) -> list[Referent]:
        model = self.view.model(path)
        scope = model.own_scope.get(module, -1) if module >= 0 else 0
        if scope < 0:
            return []
        entry = model.names[scope].get(name)
        if entry is not None:
            referents: list[Referent] = []
            for at in entry.symbols:
                referents += self._declared(path, model, module, scope, at)
            referents = _of_kind(model, referents, types)
            # A function and a module may share a name: `mod db; pub use self::db::db;`.
            is_open = all(self._is_module(referent) != types for referent in referents)
            for number in entry.imports if is_open or not referents else ():
                bound = self._bound(path, module, model.imports[number], depth + 1)
                referents += [other for other in bound if other not in referents]
            if referents or entry.imports:
                return referents
        return self._by_globs(path, model, module, scope, name=name, depth=depth, types=types)

    def _is_module(self, referent: Referent) -> bool:
        """Whether a referent is in the namespace of types and modules, not of values."""
        if referent.symbol < 0:
            return referent.symbol == MODULE
        return self.view.symbol(referent).kind not in CALLABLE

    def _by_globs(
        self,
        path: bytes,
        model: FileModel,
        module: int,
        scope: int,
        *,
        name: str,
        depth: int,
        types: bool,
    ) -> list[Referent]:
        """Return the names that `use x::*` in a module imports."""
        for import_ in model.globs.get(scope, ()):
            for referent in self.follow(path, module, import_.module.split("::"), depth + 1):
                referents = self.inside(referent, name, depth + 1, types=types)
                if referents:
                    return referents
        return []

    def _declared(
        self, path: bytes, model: FileModel, module: int, scope: int, at: int
    ) -> list[Referent]:
        """Return a symbol of a module; for `mod x;` the file that it includes."""
        symbol = model.symbols[at]
        if symbol.kind != "module" or at in model.own_scope:
            return [Referent(path, at, scope, symbol.name)]
        files = self.view.modules(path, symbol.name) if module < 0 else ()
        return [Referent(file, MODULE) for file in files if file != path]

    def _bound(self, path: bytes, module: int, import_: Import, depth: int) -> list[Referent]:
        """Return what a `use`, `mod` or `extern crate` binds."""
        parts = [part for part in import_.module.split("::") if part]
        if import_.name:
            return self.follow(path, module, [*parts, import_.name], depth)
        if len(parts) == 1:
            files = self.view.modules(path, import_.module) if module < 0 else ()
            return [Referent(file, MODULE) for file in files if file != path]
        return self.follow(path, module, parts, depth)

    def imported(
        self, path: bytes, import_: Import, depth: int = 0, types: bool = False
    ) -> list[Referent]:
        """Return what an import binds, whose path begins in the module around it."""
        if import_.name == "*":
            return []
        return self._bound(path, self._module_around(path, import_), import_, depth)

    def _module_around(self, path: bytes, import_: Import) -> int:
        model = self.view.model(path)
        scope = model.scope_of_import.get(import_, 0)
        return self.module_of(model, scope)

    def on_import_path(self, path: bytes, import_: Import) -> list[Referent]:
        """Return the types and inline modules of `use crate::module::Type::{self, Variant}`."""
        parts = [part for part in import_.module.split("::") if part]
        module = self._module_around(path, import_)
        steps = [self.follow(path, module, parts[:end]) for end in range(1, len(parts) + 1)]
        return [referent for step in steps for referent in step if referent.symbol >= 0]

    def follow(self, path: bytes, module: int, parts: list[str], depth: int = 0) -> list[Referent]:
        """Return the referents of a path, starting from a module."""
        if depth > _FAR or not parts:
            return []
        referents = self._start(path, module, parts[0], depth)
        at = 1
        while at < len(parts) and parts[at] == "super":
            referents = [up for referent in referents for up in self._parent(referent)]
            at += 1
        for part in parts[at:]:
            referents = [
                inner for referent in referents for inner in self.inside(referent, part, depth + 1)
            ]
        return list(dict.fromkeys(referents))

    def _start(self, path: bytes, module: int, head: str, depth: int) -> list[Referent]:
        here = Referent(path, module if module >= 0 else MODULE)
        if head == "crate":
            return [Referent(file, MODULE) for file in self.view.modules(path, "crate") or ()] or (
                [Referent(path, MODULE)] if name_of(path) in _INDEXES else []
            )
        if head == "self":
            return [here]
        if head == "super":
            return self._parent(here)
        referents = self.item(path, module, head, depth + 1, types=True)
        if referents:
            return referents
        files = self.view.modules(path, head)
        return [Referent(file, MODULE) for file in files if file != path]

    def _parent(self, referent: Referent) -> list[Referent]:
        """Return the parent of a module."""
        if referent.symbol >= 0:
            around = self.view.symbol(referent).parent
            return [Referent(referent.path, around if around >= 0 else MODULE)]
        folder = folder_of(referent.path)
        if name_of(referent.path) == b"mod.rs":
            folder = folder_of(folder)
        for index in (b"mod.rs", b"lib.rs", b"main.rs"):
            file = below(folder, index)
            if file in self.view.folder(folder):
                return [Referent(file, MODULE)] if file != referent.path else []
        file = folder + b".rs"
        return [Referent(file, MODULE)] if file in self.view.folder(folder_of(folder)) else []

    def inside(
        self, referent: Referent, name: str, depth: int = 0, *, types: bool = False
    ) -> list[Referent]:
        """Resolve the name after `::`: an item of a module, or a member of a type."""
        if depth > _FAR:
            return []
        if referent.symbol == MODULE:
            return self.item(referent.path, -1, name, depth, types=types)
        if referent.symbol < 0:
            return []
        if self.view.symbol(referent).kind == "module":
            return self.item(referent.path, referent.symbol, name, depth, types=types)
        return [
            member
            for member, _ in self.types.members(Definition(referent.path, referent.symbol), name)
        ]

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Referent]:
        """Return the items of a file's module under a name."""
        return self.item(path, -1, name, depth, types=types)

    def submodule(self, path: bytes, name: str) -> list[Referent]:
        """Return nothing: `item` already finds modules."""
        return []

    def impls(self, name: str) -> list[Impl]:
        """Return the blocks for a type that is called `name` where the block is."""
        return self.view.index("impls", lambda: self._surveyed().impls).get(name, [])

    def other_names(self, name: str) -> list[str]:
        """Return the aliases of a type name: `type Owned = Dfa<Vec<u8>>`."""
        return self.view.index("aliases", lambda: self._surveyed().aliases).get(name, [])

    def _surveyed(self) -> _Survey:
        """Build all indexes in one pass: reading every file takes most of the time."""
        return self.view.index("rust", self._survey)

    def _survey(self) -> _Survey:
        survey = _Survey({}, {}, {})
        for path, taken in self.view.survey("rust", _survey_of):
            impls, aliases, macros = cast("_FileSurvey", taken)
            for head, scope, of_trait, symbols in impls:
                members: dict[str, list[Referent]] = {}
                for name, at in symbols:
                    members.setdefault(name, []).append(Referent(path, at, scope, name))
                survey.impls.setdefault(head, []).append(Impl(path, scope, of_trait, members))
            for head, own in aliases:
                if own not in survey.aliases.setdefault(head, []):
                    survey.aliases[head].append(own)
            for name, at in macros:
                survey.macros.setdefault(name, []).append(Referent(path, at, 0, name))
        return survey

    def macros(self, path: bytes, name: str) -> list[Referent]:
        """Return the macros of that name: from the file, or else the only one in the view."""
        every = self.view.index("macros", lambda: self._surveyed().macros).get(name, [])
        here = [referent for referent in every if referent.path == path]
        if here or name in _STANDARD_MACROS:
            return here[-1:]
        root = self.view.modules(path, "crate")
        crate = [
            referent for referent in every if self.view.modules(referent.path, "crate") == root
        ]
        return crate if len(crate) == 1 else every if len(every) == 1 else []


def _survey_of(model: FileModel) -> _FileSurvey:
    """Return the survey of a file."""
    macros = [
        (symbol.name, at) for at, symbol in enumerate(model.symbols) if symbol.kind == "macro"
    ]
    return list(_impls_of(model)), list(_aliases_of(model)), macros


def _impls_of(model: FileModel) -> Iterator[_ImplSurvey]:
    homes: dict[int, list[tuple[str, int]]] | None = None
    for scope, rows in model.of_scope.items():
        if model.scopes[scope].kind != "class" or model.scopes[scope].symbol >= 0:
            continue
        traits = any(row.how == "implements" for row in rows)
        for row in rows:
            if row.how != "alias":
                continue
            head = _head_of(row.text)
            if head in model.parameters.get(scope, ()):
                if row.text == head:
                    head = ANY
                elif row.text.startswith(("*const ", "*mut ")):
                    head = POINTER
                else:
                    # Blocks for references to all types only delegate.
                    continue
            homes = homes if homes is not None else _homes(model)
            yield head, scope, traits, homes.get(scope, [])


def _aliases_of(model: FileModel) -> Iterator[tuple[str, str]]:
    for at, scope in model.own_scope.items():
        if model.symbols[at].kind == "type":
            own = model.symbols[at].name
            heads = [
                _head_of(row.text) for row in model.of_scope.get(scope, ()) if row.how == "alias"
            ]
            yield from ((head, own) for head in heads if head and head != own)


def _head_of(text: str) -> str:
    """Return the name of a type without its arguments and path."""
    return rust_type(text).partition("<")[0].rpartition(".")[2]


def _of_kind(model: FileModel, referents: list[Referent], types: bool) -> list[Referent]:
    """Return either the types or the other items among the referents."""
    if len(referents) < 2:
        return referents
    fitting = [
        referent
        for referent in referents
        if referent.symbol < 0 or (model.symbols[referent.symbol].kind in TYPES) == types
    ]
    return fitting or referents


def _homes(model: FileModel) -> dict[int, list[tuple[str, int]]]:
    """Return scope -> the symbols directly in it, with their names."""
    by_scope: dict[int, list[tuple[str, int]]] = {}
    for at, scope in enumerate(model.home):
        by_scope.setdefault(scope, []).append((model.symbols[at].name, at))
    return by_scope
