"""Go: types that have all methods of an interface (Go spec, "Implementing an interface").

Told where it is certain: every method of the interface is one of the type, with the same types in
the same order once the names of packages are resolved. An interface of the package or of a package
that it imports counts; one with type parameters, or that embeds what the view has not, does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from codelens.resolve.facts.file_model import CALLABLE, FileModel
from codelens.resolve.facts.path_tree import folder_of
from codelens.resolve.inference.name_lookup import Hit
from codelens.resolve.inference.resolver import ExtraEdge
from codelens.resolve.inference.values import Instance
from codelens.resolve.languages.go.go_members import GoMembers
from codelens.resolve.languages.go.go_type_text import signature_types

_NAME = re.compile(r"(?<!\w)(?<!\w\.)(?:([^\W\d]\w*)\.)?([^\W\d]\w*)")
_BUILT_IN = frozenset(
    "any bool byte chan comparable complex64 complex128 error float32 float64 func int int8 int16 "
    "int32 int64 interface map rune string struct uint uint8 uint16 uint32 uint64 uintptr".split()
)
_SAME = {"interface{}": "any", "byte": "uint8", "rune": "int32"}
_MOST_METHODS = 60

Signature = tuple[str, ...]


class _Interface(NamedTuple):
    hit: Hit
    methods: dict[str, tuple[Hit, Signature]]


def satisfied(path: bytes, model: FileModel, types: GoMembers) -> Iterator[ExtraEdge]:
    """What the types and methods of a file satisfy."""
    owners = {one.qualified.rpartition(".")[0] for one in model.symbols if one.parent < 0}
    own = {one.name for one in model.symbols if one.parent < 0 and one.kind in {"struct", "type"}}
    names = sorted((owners - {""}) | own)
    if not names:
        return
    interfaces = types.view.once(
        ("go interfaces", folder_of(path), types.names.clause(path), path.endswith(b"_test.go")),
        lambda: list(_visible(path, types)),
    )
    package = types.names.package(path)
    for name in names if interfaces else ():
        for hit in types.names.chosen(path, package.names.get(name, []))[:1]:
            yield from _of_type(path, hit, types, interfaces)


def _of_type(
    path: bytes, hit: Hit, types: GoMembers, interfaces: list[_Interface]
) -> Iterator[ExtraEdge]:
    model = types.view.model(hit.path)
    if model is None or model.symbols[hit.symbol].kind not in {"struct", "type"}:
        return
    symbol = model.symbols[hit.symbol]
    if symbol.signature.startswith(f"type {symbol.name}[") or " = " in symbol.signature:
        return
    own = Instance(hit.path, hit.symbol)
    for one in interfaces:
        found = _methods(own, one, types)
        if not found:
            continue
        if hit.path == path:
            yield ExtraEdge(hit.symbol, symbol.name, symbol.name_line, one.hit, "satisfy")
        for method, (of, _) in zip(found, one.methods.values(), strict=True):
            if method.path == path:
                there = types.view.model(path)
                line = there.symbols[method.symbol].name_line if there is not None else 0
                yield ExtraEdge(method.symbol, of.name, line, of, "override")


def _methods(own: Instance, one: _Interface, types: GoMembers) -> list[Hit]:
    """The methods of a type that an interface asks for, in its order; none if one is missing."""
    found: list[Hit] = []
    for name, (_, asked) in one.methods.items():
        hits = [hit for hit, _ in types.members(own, name)]
        if len(hits) != 1 or signature(hits[0], types) != asked:
            return []
        found.append(hits[0])
    return found


def _visible(path: bytes, types: GoMembers) -> Iterator[_Interface]:
    """The interfaces of a file's package, and of those that its files import."""
    package = types.names.package(path)
    chosen = types.names.chosen
    places = dict.fromkeys(hit for hits in package.names.values() for hit in chosen(b"", hits))
    files = dict.fromkeys(hit.path for hits in package.names.values() for hit in hits)
    for methods in package.methods.values():
        files |= dict.fromkeys(hit.path for hits in methods.values() for hit in hits)
    for file in files:
        model = types.view.model(file)
        for one in model.imports if model is not None else ():
            for main in types.view.modules(file, one.module)[:1]:
                for name, hits in types.names.package(main).names.items():
                    if name[:1].isupper():
                        places |= dict.fromkeys(chosen(b"", hits))
    for hit in places:
        found = _asked(hit, types, 0)
        if folder_of(hit.path) != folder_of(path) and not all(name[0].isupper() for name in found):
            # Only types of its own package can have them (Go spec, "Uniqueness of identifiers").
            continue
        if found and len(found) <= _MOST_METHODS:
            yield _Interface(hit, found)


def _asked(hit: Hit, types: GoMembers, depth: int) -> dict[str, tuple[Hit, Signature]]:
    """The methods of an interface, those that it embeds included; none if not all are known."""
    model = types.view.model(hit.path)
    if model is None or model.symbols[hit.symbol].kind != "interface" or depth > _MOST_METHODS:
        return {}
    if "[" in model.symbols[hit.symbol].signature:
        return {}
    found: dict[str, tuple[Hit, Signature]] = {}
    rows = model.of_scope.get(model.own_scope.get(hit.symbol, -1), ())
    embedded = types.bases(Instance(hit.path, hit.symbol))
    if len(embedded) != sum(row.how == "base" for row in rows):
        return {}
    for base in embedded:
        inner = _asked(Hit(*base[:2]), types, depth + 1)
        if not inner:
            return {}
        found |= inner
    for name, places in model.children.get(hit.symbol, {}).items():
        for at in places:
            mine = Hit(hit.path, at, 0, name)
            told = signature(mine, types) if model.symbols[at].kind in CALLABLE else None
            if told is None:
                return {}
            found[name] = (mine, told)
    return found


def signature(hit: Hit, types: GoMembers) -> Signature | None:
    """The types that a method takes and gives, packages by where they are; None if unknown."""
    model = types.view.model(hit.path)
    if model is None or hit.symbol < 0 or model.symbols[hit.symbol].kind not in CALLABLE:
        return None
    symbol = model.symbols[hit.symbol]
    told = signature_types(symbol.signature, symbol.name)
    if told is None:
        return None
    return tuple(_resolved(text, hit.path, model, types) for text in told)


def _resolved(text: str, path: bytes, model: FileModel, types: GoMembers) -> str:
    """A type with the package of each name in it written out."""

    def whole(match: re.Match[str]) -> str:
        package, name = match[1], match[2]
        if package:
            return f"{_package(package, path, model, types)}.{name}"
        return _SAME.get(name, name) if name in _BUILT_IN else f"{_folder(path)}.{name}"

    text = " ".join(text.split()).replace("interface {}", "any").replace("interface{}", "any")
    return _NAME.sub(whole, text)


def _package(name: str, path: bytes, model: FileModel, types: GoMembers) -> str:
    """Where a package is: its folder in the view, else what is imported under the name."""
    for hit in types.names.lookup(path, 0, name):
        if hit.symbol < 0:
            return _folder(hit.path)
    for one in model.imports:
        if one.alias == name or (not one.alias and one.module.endswith(name)):
            return one.module
    return f"?{name}"


def _folder(path: bytes) -> str:
    return folder_of(path).decode("utf-8", "surrogateescape") or "."
