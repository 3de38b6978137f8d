"""Resolves Go names and imports, and translates Go's type syntax and build constraints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from codelens.resolve.file_model import FileModel
from codelens.resolve.inference.name_lookup import MODULE, Names, Referent
from codelens.resolve.inference.type_text import closing, split
from codelens.resolve.languages.registry import ModuleResolver
from codelens.resolve.path_tree import Tree, ancestors, below, encoded, folder_of, name_of
from codelens.types import Binding, Import

TUPLE = "#tuple"
"""The name of the generic type that represents several results."""
STRUCT = "#struct"
"""The generic type that represents an anonymous struct, with its fields as arguments,
`#name<type>`."""
_WORD = re.compile(r"[^\W\d]\w*")
_POINTED = re.compile(r"^(?:[*&~]|chan<-|<-chan|chan )\s*")
_KEYWORDS = frozenset({"chan", "map", "func", "struct", "interface"})
_FIELD = re.compile(r"(\w+(?:, ?\w+)*) ((?:[\[\]*.\w])+)(?= |;|$)")
_CONSTRAINT = re.compile(r"\|\||&&|[!()]|[\w.]+")
_TAGS = frozenset({"linux", "unix", "amd64", "gc", "cgo"})


@lru_cache(maxsize=20_000)
def go_type(text: str) -> str:
    """Translate a Go type to the syntax that `codelens.resolve.inference.type_text` parses.

    Pointers and channels become their element types, because those have the members.
    """
    text = text.strip()
    while (bare := _POINTED.sub("", text)) != text:
        text = bare
    if text.startswith("..."):
        return go_type(text[3:]) + "[]"
    if text[:1] == "[":
        return go_type(text[_closing(text, 0) + 1 :]) + "[]"
    if text.startswith(("map[", "() => ", "func(", "struct", "interface")):
        return _spelled(text)
    if text[:1] == "(":
        parts = _listed(text[1 : _closing(text, 0)])
        return parts[0] if len(parts) == 1 else f"{TUPLE}<{', '.join(parts)}>"
    opened = text.find("[")
    if opened > 0:
        parts = [go_type(part) or "any" for part in _split(text[opened + 1 : -1])]
        return f"{text[:opened]}<{', '.join(parts)}>"
    return text


def _spelled(text: str) -> str:
    """Translate types that begin with a keyword."""
    if text.startswith("map["):
        end = _closing(text, 3)
        return f"Map<{go_type(text[4:end])}, {go_type(text[end + 1 :])}>"
    if text.startswith("() => "):
        return f"() => {go_type(text[6:])}"
    if text.startswith("func("):
        return f"() => {go_type(text[_closing(text, 4) + 1 :]) or 'void'}"
    if text.startswith("struct") and "{" in text:
        return _struct(text[text.index("{") + 1 : -1])
    return ""


def _struct(text: str) -> str:
    fields: list[str] = []
    for names, kind in _FIELD.findall(text):
        fields += [f"#{name.strip()}<{go_type(kind) or 'any'}>" for name in names.split(",")]
    return f"{STRUCT}<{', '.join(fields)}>" if fields else ""


def _listed(text: str) -> list[str]:
    """Return the types of a result list, with names (`a, b int`) or without."""
    parts = _split(text)
    named = any(_is_named(part) for part in parts)
    types: list[str] = []
    for part in reversed(parts):
        if not named:
            types.append(go_type(part) or "any")
        elif _is_named(part):
            types.append(go_type(part.partition(" ")[2]) or "any")
        else:
            types.append(types[-1] if types else "any")
    return types[::-1]


def _is_named(part: str) -> bool:
    word = _WORD.match(part)
    return word is not None and part[word.end() :][:1] == " " and word[0] not in _KEYWORDS


_split = partial(split, angles=False)
_closing = partial(closing, angles=False)


@lru_cache(maxsize=1_000)
def is_built(constraint: str) -> bool:
    """Whether a build constraint holds on Linux without custom tags."""
    tokens = _CONSTRAINT.findall(constraint)

    def alternatives(at: int) -> tuple[bool, int]:
        holds, at = conjunction(at)
        while tokens[at : at + 1] == ["||"]:
            more, at = conjunction(at + 1)
            holds = holds or more
        return holds, at

    def conjunction(at: int) -> tuple[bool, int]:
        holds, at = negation(at)
        while tokens[at : at + 1] == ["&&"]:
            more, at = negation(at + 1)
            holds = holds and more
        return holds, at

    def negation(at: int) -> tuple[bool, int]:
        word = tokens[at] if at < len(tokens) else ""
        if word == "!":
            holds, at = negation(at + 1)
            return not holds, at
        if word == "(":
            holds, at = alternatives(at + 1)
            return holds, at + 1
        return word in _TAGS or word.startswith("go1."), at + 1

    return alternatives(0)[0]


def signature_types(signature: str, name: str) -> tuple[str, ...] | None:
    """Return a method's parameter types, `->`, and result types; None for a truncated signature."""
    text = signature
    if text.startswith("func ("):
        text = text[_closing(text, 5) + 1 :].strip()
    if not text.startswith(f"{name}("):
        return None
    end = _closing(text, len(name))
    if end >= len(text):
        return None
    result = text[end + 1 :].strip()
    if result.startswith("(") and _closing(result, 0) == len(result) - 1:
        result = result[1:-1]
    return (*_written(text[len(name) + 1 : end]), "->", *_written(result))


def parameter_count(signature: str, name: str) -> int:
    """Return the number of parameters of a method, or -1 for a truncated signature."""
    types = signature_types(signature, name)
    return types.index("->") if types is not None else -1


def _written(text: str) -> list[str]:
    """Return the types of a parameter or result list as written, one for each entry."""
    parts = _split(text)
    if not any(_is_named(part) for part in parts):
        return parts
    types: list[str] = []
    for part in reversed(parts):
        # `a, b int`: a parameter without a type has that of the next one.
        own = part.partition(" ")[2] if _is_named(part) else types[-1] if types else part
        types.append(own.strip())
    return types[::-1]


# An import names a folder; all its files except for tests form the package.

MANIFEST = b"go.mod"
_MODULE = re.compile(rb'^module\s+"?([^\s"]+)', re.MULTILINE)


class GoPackages(ModuleResolver):
    """Resolves the imports of Go files."""

    def __init__(self, tree: Tree, settings: Mapping[bytes, bytes]) -> None:
        super().__init__(tree, settings)
        self._modules: dict[bytes, list[bytes]] = {}
        for path in sorted(settings):
            match = _MODULE.search(settings[path]) if name_of(path) == MANIFEST else None
            if match:
                self._modules.setdefault(match[1], []).append(folder_of(path))

    def targets(self, path: bytes, language: str, import_: Import) -> tuple[bytes, ...]:
        """Return the package's files, from the view's module that contains it or from `vendor`."""
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


# Names in packages of several files, and in imports.

_TEST = b"_test.go"
_VERSION = re.compile(r"v\d+")
_ELSEWHERE = re.compile(
    rb"_(?:windows|darwin|freebsd|netbsd|openbsd|plan9|solaris|js|wasm|wasip1|aix|android|ios|"
    rb"arm|arm64|386|s390x|ppc64|ppc64le|riscv64|mips\w*|dragonfly|illumos|nacl|appengine)"
    rb"(?:_test)?\.go$"
)
"""Suffixes of files that are built only for platforms other than the usual one."""


class _Package(NamedTuple):
    """The names of one package across its files."""

    names: dict[str, list[Referent]]
    methods: dict[str, dict[str, list[Referent]]]
    """Type -> name -> its methods, by receiver."""


class GoNames(Names):
    """Looks names up in scopes, then in the file's imports, then in the package."""

    def clause(self, path: bytes) -> str:
        """Return the package that a file declares."""
        return next((row.text for row in self._rows_of(path) if row.how == "package"), "")

    def package(self, path: bytes) -> _Package:
        """Return the package of a file; only test files see the test files of a package."""
        key = (folder_of(path), self.clause(path), path.endswith(_TEST))
        return self.view.once(("package", *key), lambda: self._read(*key))

    def _read(self, folder: bytes, clause: str, tests: bool) -> _Package:
        package = _Package({}, {})
        for path in self.view.folder(folder):
            if self.view.languages[path] != "go" or (path.endswith(_TEST) and not tests):
                continue
            model = self.view.model(path)
            if self.clause(path) != clause:
                continue
            for at, symbol in enumerate(model.symbols):
                # A field outside of any type belongs to the struct in a function's result.
                if symbol.parent < 0 and symbol.kind != "field":
                    owner, _, name = symbol.qualified.rpartition(".")
                    places = package.methods.setdefault(owner, {}) if owner else package.names
                    places.setdefault(name, []).append(Referent(path, at, 0, name))
        return package

    def methods(self, path: bytes, symbol: int, name: str) -> list[Referent]:
        """Return the methods of a type from all files of its package."""
        model = self.view.model(path)
        if model.symbols[symbol].parent >= 0:
            return []
        referents = self.package(path).methods.get(model.symbols[symbol].name, {}).get(name, [])
        return self.chosen(path, referents)

    def chosen(self, path: bytes, referents: list[Referent]) -> list[Referent]:
        """Prefer the definitions for the most common platform over those for others."""
        if len(referents) < 2:
            return referents
        here = [referent for referent in referents if referent.path == path]
        return (
            here
            or [referent for referent in referents if self._is_built(referent.path)]
            or referents[:1]
        )

    def _is_built(self, path: bytes) -> bool:
        constraints = [row.text for row in self._rows_of(path) if row.how == "built"]
        return all(map(is_built, constraints)) and not _ELSEWHERE.search(name_of(path))

    def _rows_of(self, path: bytes) -> tuple[Binding, ...]:
        return tuple(self.view.model(path).bindings[:4])

    def _starred(
        self,
        path: bytes,
        model: FileModel,
        name: str,
        depth: int,
        *,
        seen: set[bytes],
        types: bool,
    ) -> list[Referent]:
        heads = self.view.once(("heads", path), lambda: self._package_names(path, model))
        if name in heads:
            file = heads[name]
            return [Referent(file, MODULE)] if file is not None else []
        referents = self.package(path).names.get(name)
        if referents:
            return self.chosen(path, referents)
        for import_ in model.imports:
            file = self._main_file(path, import_) if import_.name == "*" else None
            referents = self.exported(file, name) if file is not None else []
            if referents:
                return referents
        return []

    def _package_names(self, path: bytes, model: FileModel) -> dict[str, bytes | None]:
        """Return name -> a file of the package, for imports without an alias."""
        file_of: dict[str, bytes | None] = {}
        for import_ in model.imports:
            if not import_.alias and not import_.name:
                file = self._main_file(path, import_)
                local = self.clause(file) if file is not None else _guessed(import_.module)
                file_of.setdefault(local, file)
        return file_of

    def _main_file(self, path: bytes, import_: Import) -> bytes | None:
        """Return a file of the package that an import names."""
        return next(iter(self.view.modules(path, import_.module)), None)

    def imported(
        self, path: bytes, import_: Import, depth: int = 0, types: bool = False
    ) -> list[Referent]:
        """Return the package that an import binds."""
        file = self._main_file(path, import_)
        return [Referent(file, MODULE)] if file is not None else []

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Referent]:
        """Return what a package exports under a name."""
        if not name[:1].isupper():
            return []
        return self.chosen(path, self.package(path).names.get(name, []))

    def submodule(self, path: bytes, name: str) -> list[Referent]:
        """Return nothing: packages are not members of packages."""
        return []


def _guessed(module: str) -> str:
    """Return the conventional local name of a package outside of the view."""
    parts = module.split("/")
    if len(parts) > 1 and _VERSION.fullmatch(parts[-1]):
        parts.pop()
    return parts[-1].partition(".")[0]
