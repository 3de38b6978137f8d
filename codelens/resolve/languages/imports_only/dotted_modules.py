"""Languages whose modules are dotted names that lie as files below a few usual roots.

Haskell, Lua, Perl, Clojure, Elixir, Erlang, OCaml, Julia. A name of one part is looked for only
above the importing file and in the usual roots, a longer one in the whole view, if it is there
once or nearer than all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codelens.resolve.facts.path_tree import (
    ancestors,
    below,
    encoded,
    folder_of,
    joined,
    name_of,
    nearest,
    stem_of,
)
from codelens.resolve.languages.language_spec import ModuleResolver
from codelens.types import Import

_HUMPS = re.compile(r"([A-Z]+)([A-Z][a-z])|([a-z\d])([A-Z])")


@dataclass(frozen=True, slots=True)
class _Rules:
    forms: tuple[bytes, ...]
    """What follows the name, best first."""
    roots: tuple[bytes, ...]
    """Usual roots, in any folder above."""
    separator: str = "."
    spelled: Callable[[str], str] = str
    """A part of a name as the files are called."""


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
    """Imports by dotted names."""

    named = True

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """The file of the module."""
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
        """`require "a/b.pl"`, `dofile("a/b.lua")`: a path after all."""
        for place in ancestors(folder_of(path)):
            at = joined(place, encoded(written))
            files = self._tree.first(at + form for form in (b"", b".lua", b".pm")) if at else ()
            if files:
                return files
        return ()

    def _erlang(self, path: bytes, import_: Import) -> tuple[bytes, ...]:
        """Modules have one name in a system; headers are relative, or in `include`."""
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
        """`Foo.Bar` is `foo.ml` beside the file, else `bar.ml` beside the `foo.ml` there is."""
        parts = [part for part in import_.module.split(".") if part]
        if not parts:
            return ()
        folder = folder_of(path)
        head = encoded(parts[0][:1].lower() + parts[0][1:]) + b".ml"
        beside = below(folder, head)
        if beside in self._tree:
            return (beside,)
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
        """`include("x.jl")`, and packages by the name of their main file."""
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
    """Whether the file is the main module of its folder's library, as dune names them."""
    return stem_of(file).replace(b"_", b"-") in file[: -len(name_of(file))].replace(b"_", b"-")


def _is_conventional(file: bytes, inner: bytes) -> bool:
    """Whether what is before a module's own path ends in a root of compiled files."""
    root = b"/" + file[: -len(inner)]
    return root.endswith((b"/lib/", b"/support/"))


def _for_dialect(path: bytes, rules: _Rules) -> _Rules:
    own = path[path.rfind(b".") :]
    forms = sorted(rules.forms, key=lambda form: (form != own, form != b".cljc"))
    return _Rules(tuple(forms), rules.roots, rules.separator, rules.spelled)
