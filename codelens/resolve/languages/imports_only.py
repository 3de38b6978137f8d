"""Resolves imports in languages whose names are not followed across files.

In Haskell, Lua, Perl, Clojure, Elixir, Erlang, OCaml and Julia, modules are dotted names of files
below a few usual roots. A name of one part is only looked up in folders above the importing file
and in the usual roots. A longer name is looked up in the whole view and must be unique or nearer
than all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from codelens.resolve.languages.registry import LanguageSpec, ModuleResolver
from codelens.resolve.path_tree import (
    Tree,
    ancestors,
    below,
    encoded,
    folder_of,
    joined,
    name_of,
    nearest,
    stem_of,
)
from codelens.types import Import

_HUMPS = re.compile(r"([A-Z]+)([A-Z][a-z])|([a-z\d])([A-Z])")


@dataclass(frozen=True, slots=True)
class _Rules:
    forms: tuple[bytes, ...]
    """File suffixes after the name, best first."""
    roots: tuple[bytes, ...]
    """The usual roots, in any folder above."""
    separator: str = "."
    spelled: Callable[[str], str] = str
    """Converts a part of a name to its file name."""


def _underscored(name: str) -> str:
    """`HTTPClient` -> `http_client`, as Elixir's `Macro.underscore`."""
    return _HUMPS.sub(lambda m: f"{m[1] or m[3]}_{m[2] or m[4]}", name).lower()


def _hyphens(name: str) -> str:
    return name.replace("-", "_")


_RULES = {
    "haskell": _Rules((b".hs", b".hsc", b".lhs", b".chs"), (b"src", b"lib", b"")),
    "lua": _Rules((b".lua", b"/init.lua"), (b"lua", b"", b"src", b"lib")),
    "perl": _Rules((b".pm",), (b"lib", b"t/lib", b""), "::"),
    "clojure": _Rules((b".cljc", b".clj", b".cljs"), (b"src", b"test", b""), spelled=_hyphens),
    "elixir": _Rules((b".ex", b".exs"), (b"lib", b"test/support", b"test"), spelled=_underscored),
}


class DottedModules(ModuleResolver):
    """Resolves imports by dotted names."""

    named = True

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the file of the module."""
        if language == "erlang":
            return self._erlang(path, import_)
        if language.startswith("ocaml"):
            return self._ocaml(path, import_)
        if language == "julia":
            return self._julia(path, import_)
        if language in {"lua", "perl"} and "/" in import_.module:
            return self._written(path, import_.module)
        rules = _RULES[language]
        if language == "elixir" and import_.name[:1].isupper():
            return self._find(path, f"{import_.module}.{import_.name}", rules)
        if (
            language == "perl"
            and import_.name
            and ("::" in import_.name or _is_base(import_.module))
        ):
            files = self._find(path, import_.name, rules)
            if files or _is_base(import_.module):
                return files
        if language == "clojure":
            rules = _for_dialect(path, rules)
        return self._find(path, import_.module, rules)

    def _find(self, path: bytes, module: str, rules: _Rules) -> tuple[bytes, ...]:
        parts = [rules.spelled(part) for part in module.split(rules.separator) if part]
        inner = encoded("/".join(parts))
        if not inner or inner.startswith((b"/", b".")):
            return ()
        first = self._tree.first(_places(path, inner, rules))
        if first:
            return first
        for form in rules.forms:
            files = self._tree.ending(inner + form)
            if len(parts) == 1:
                root = rules.roots[0]
                files = [file for file in files if name_of(folder_of(file)) == root]
            if rules.spelled is _underscored:
                files = [file for file in files if _is_conventional(file, inner + form)]
            if files:
                return nearest(path, files)
        return ()

    def _written(self, path: bytes, written: str) -> tuple[bytes, ...]:
        """Resolve an import that is a path: `require "a/b.pl"`, `dofile("a/b.lua")`."""
        for place in ancestors(folder_of(path)):
            at = joined(place, encoded(written))
            files = self._tree.first(at + form for form in (b"", b".lua", b".pm")) if at else ()
            if files:
                return files
        return ()

    def _erlang(self, path: bytes, import_: Import) -> tuple[bytes, ...]:
        """Resolve Erlang: module names are unique; headers are relative or in `include`."""
        written = encoded(import_.module)
        if not written.endswith((b".hrl", b".erl")):
            files = self._tree.called(written + b".erl")
            sources = [file for file in files if b"/src/" in b"/" + file]
            return nearest(path, sources or files)
        for place in ancestors(folder_of(path)):
            for root in (b"", b"include", b"src"):
                at = joined(below(place, root), written)
                if at is not None and at in self._tree:
                    return (at,)
        return nearest(path, self._tree.ending(written))

    def _ocaml(self, path: bytes, import_: Import) -> tuple[bytes, ...]:
        """Resolve OCaml: `Foo.Bar` is a sibling `foo.ml`, or `bar.ml` next to some `foo.ml`."""
        parts = [part for part in import_.module.split(".") if part]
        if not parts:
            return ()
        folder = folder_of(path)
        head = encoded(parts[0][:1].lower() + parts[0][1:]) + b".ml"
        sibling = below(folder, head)
        if sibling in self._tree:
            return (sibling,)
        files = [file for file in self._tree.called(head) if _is_library(file)]
        if len(files) != 1:
            return ()
        if len(parts) > 1:
            inner = encoded(parts[1][:1].lower() + parts[1][1:]) + b".ml"
            deeper = below(folder_of(files[0]), inner)
            if deeper in self._tree:
                return (deeper,)
        return (files[0],)

    def _julia(self, path: bytes, import_: Import) -> tuple[bytes, ...]:
        """Resolve Julia: `include("x.jl")`, and packages by the name of their main file."""
        if import_.module.endswith(".jl"):
            at = joined(folder_of(path), encoded(import_.module))
            return (at,) if at is not None and at in self._tree else ()
        head = import_.module.partition(".")[0]
        files = self._tree.ending(b"src/" + encoded(head) + b".jl") if head else []
        return (files[0],) if len(files) == 1 else ()


def _places(path: bytes, inner: bytes, rules: _Rules) -> Iterator[bytes]:
    for place in ancestors(folder_of(path)):
        for root in rules.roots:
            for form in rules.forms:
                yield below(place, below(root, inner)) + form


def _is_base(module: str) -> bool:
    return module in {"parent", "base"}


def _is_library(file: bytes) -> bool:
    """Whether the file is the main module of its folder's library, as dune names it."""
    return stem_of(file).replace(b"_", b"-") in file[: -len(name_of(file))].replace(b"_", b"-")


def _is_conventional(file: bytes, inner: bytes) -> bool:
    """Whether the path before a module's own path ends in a usual source root."""
    root = b"/" + file[: -len(inner)]
    return root.endswith((b"/lib/", b"/support/"))


def _for_dialect(path: bytes, rules: _Rules) -> _Rules:
    own = path[path.rfind(b".") :]
    forms = sorted(rules.forms, key=lambda form: (form != own, form != b".cljc"))
    return _Rules(tuple(forms), rules.roots, rules.separator, rules.spelled)


# Languages that import files by path: the syntax of the path and the lookup folders.
#
# Protocol Buffers, Dart, Zig, R, shell, Make, CMake, reStructuredText, CSS, SCSS and HCL.

PUBSPEC = b"pubspec.yaml"
_PUBSPEC_NAME = re.compile(rb"^name:[ \t]*[\"']?([\w.]+)", re.MULTILINE)
_VARIABLES = re.compile(
    r"(?:[\"']?\$(?:\{[^{}]*\}|\([^()]*(?:\([^()]*\)[^()]*)*\)|\w+)[\"']?/)+(?=[^$]*$)"
)


class Paths(ModuleResolver):
    """Resolves imports by path."""

    per_file = True

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._packages: dict[str, list[bytes]] = {}
        for path in sorted(settings):
            match = _PUBSPEC_NAME.search(settings[path]) if name_of(path) == PUBSPEC else None
            if match:
                self._packages.setdefault(match[1].decode(), []).append(folder_of(path))
        self._ways: dict[str, Callable[[bytes, str], tuple[bytes, ...]]] = {
            "protobuf": self._protobuf,
            "dart": self._dart,
            "zig": self._zig,
            "r": self._above,
            "bash": self._shell,
            "make": self._above,
            "automake": self._above,
            "cmake": self._cmake,
            "rst": self._in_same_folder,
            "css": self._in_same_folder,
            "scss": self._scss,
            "hcl": self._hcl,
        }

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the file at the path, or for HCL the files of the folder."""
        module = import_.module.strip()
        return self._ways[language](folder_of(path), module) if module else ()

    def _at(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        at = joined(folder, encoded(written))
        return (at,) if at is not None and at in self._tree else ()

    def _in_same_folder(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        if ":" in written or written.startswith("/"):
            return ()
        return self._at(folder, written)

    def _above(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        """Look in the file's folder, then in the folders above, where the program may run."""
        if "." not in name_of(encoded(written)).decode("utf-8", "replace"):
            return ()
        for place in ancestors(folder):
            files = self._in_same_folder(place, written)
            if files or written.startswith("."):
                return files
        return ()

    def _protobuf(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        for place in ancestors(folder):
            files_here = self._at(place, written)
            if files_here:
                return files_here
        files = self._tree.ending(encoded(written))
        return (files[0],) if len(files) == 1 else ()

    def _dart(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        scheme, colon, rest = written.partition(":")
        if not colon:
            return self._at(folder, written) if written.endswith(".dart") else ()
        package, _, inner = rest.partition("/")
        roots = self._packages.get(package, []) if scheme == "package" else []
        own = [root for root in roots if root in set(ancestors(folder))]
        chosen = own[:1] or (roots if len(roots) == 1 else [])
        return self._at(below(chosen[0], b"lib"), inner) if chosen else ()

    def _zig(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        if written.endswith((".zig", ".zon")):
            return self._at(folder, written)
        if "." in written or written in {"std", "builtin", "root"}:
            return ()
        for place in ancestors(folder):
            if below(place, b"build.zig") in self._tree:
                names = (f"src/{written}.zig", f"{written}.zig")
                return next((name for files in names if (name := self._at(place, files))), ())
        return ()

    def _shell(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        """Resolve `source "$DIR/x.sh"` by the part after the variable, if that file exists."""
        variable = _VARIABLES.search(written)
        plain = (written[variable.end() :] if variable else written).strip("\"'")
        if "$" in plain or plain.startswith(("/", "~")):
            return ()
        if variable is None:
            return self._above(folder, plain) or self._in_same_folder(folder, plain)
        files = {file for place in ancestors(folder) for file in self._in_same_folder(place, plain)}
        if not files and "/" in plain and ".." not in plain:
            files = {*self._tree.ending(encoded(plain))}
        return tuple(files) if len(files) == 1 else ()

    def _cmake(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        if "$" in written:
            return ()
        inner = self._at(folder, f"{written}/CMakeLists.txt") or self._in_same_folder(
            folder, written
        )
        if inner or "/" in written:
            return inner
        files = self._tree.called(encoded(f"{written}.cmake"))
        return (files[0],) if len(files) == 1 else ()

    def _scss(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        """Try the path with and without extension, as a `_` partial, and as a folder's index."""
        if ":" in written or written.startswith("~"):
            return ()
        base = joined(folder, encoded(written))
        if base is None:
            return ()
        partial = below(folder_of(base), b"_" + name_of(base))
        endings = (b"", b".scss", b".sass", b".css")
        return self._tree.first(
            stem + ending
            for stem in (base, partial, below(base, b"_index"), below(base, b"index"))
            for ending in endings
        )

    def _hcl(self, folder: bytes, written: str) -> tuple[bytes, ...]:
        at = joined(folder, encoded(written)) if written.startswith(".") else None
        files = self._tree.files(at) if at is not None else []
        return tuple(sorted(file for file in files if file.endswith((b".tf", b".tofu"))))


# The descriptions of languages of which only imports are followed into other files.

_PLAIN = LanguageSpec(spaces=True, instance=frozenset({"this"}))
_DOTTED = replace(_PLAIN, modules="imports_only:DottedModules")
_PATHS = replace(_PLAIN, modules="imports_only:Paths")
SPECS = {
    **dict.fromkeys(
        "haskell perl clojure elixir erlang ocaml ocaml_interface julia".split(), _DOTTED
    ),
    **dict.fromkeys("protobuf zig r bash make automake cmake rst css scss".split(), _PATHS),
    "dart": replace(_PATHS, settings=(b"pubspec.yaml",), constructor_is_named_as_type=True),
    "hcl": replace(_PATHS, imports_folders=True),
    "swift": replace(
        _PLAIN,
        imports_folders=True,
        folder_is_package=True,
        has_main=True,
        overloads=True,
        members_apart=True,
    ),
}
