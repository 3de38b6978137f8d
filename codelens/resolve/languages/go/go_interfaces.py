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
from codelens.resolve.inference.name_lookup import Referent
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
    referent: Referent
    methods: dict[str, tuple[Referent, Signature]]


def satisfied(path: bytes, model: FileModel, types: GoMembers) -> Iterator[ExtraEdge]:
    """What the types and methods of a file satisfy."""
    owners = {symbol.qualified.rpartition(".")[0] for symbol in model.symbols if symbol.parent < 0}
    own = {
        symbol.name
        for symbol in model.symbols
        if symbol.parent < 0 and symbol.kind in {"struct", "type"}
    }
    names = sorted((owners - {""}) | own)
    if not names:
        return
    interfaces = types.view.once(
        ("go interfaces", folder_of(path), types.names.clause(path), path.endswith(b"_test.go")),
        lambda: list(_visible(path, types)),
    )
    package = types.names.package(path)
    for name in names if interfaces else ():
        for referent in types.names.chosen(path, package.names.get(name, []))[:1]:
            yield from _of_type(path, referent, types, interfaces)


def _of_type(
    path: bytes, referent: Referent, types: GoMembers, interfaces: list[_Interface]
) -> Iterator[ExtraEdge]:
    model = types.view.model(referent.path)
    if model is None or model.symbols[referent.symbol].kind not in {"struct", "type"}:
        return
    symbol = model.symbols[referent.symbol]
    if symbol.signature.startswith(f"type {symbol.name}[") or " = " in symbol.signature:
        return
    own = Instance(referent.path, referent.symbol)
    for interface in interfaces:
        implementing = _methods(own, interface, types)
        if not implementing:
            continue
        if referent.path == path:
            yield ExtraEdge(
                referent.symbol, symbol.name, symbol.name_line, interface.referent, "satisfy"
            )
        for method, (of, _) in zip(implementing, interface.methods.values(), strict=True):
            if method.path == path:
                there = types.view.model(path)
                line = there.symbols[method.symbol].name_line if there is not None else 0
                yield ExtraEdge(method.symbol, of.name, line, of, "override")


def _methods(own: Instance, interface: _Interface, types: GoMembers) -> list[Referent]:
    """The methods of a type that an interface asks for, in its order; none if one is missing."""
    implementing: list[Referent] = []
    for name, (_, expected) in interface.methods.items():
        referents = [referent for referent, _ in types.members(own, name)]
        if len(referents) != 1 or signature(referents[0], types) != expected:
            return []
        implementing.append(referents[0])
    return implementing


def _visible(path: bytes, types: GoMembers) -> Iterator[_Interface]:
    """The interfaces of a file's package, and of those that its files import."""
    package = types.names.package(path)
    chosen = types.names.chosen
    places = dict.fromkeys(
        referent for referents in package.names.values() for referent in chosen(b"", referents)
    )
    files = dict.fromkeys(
        referent.path for referents in package.names.values() for referent in referents
    )
    for methods in package.methods.values():
        files |= dict.fromkeys(
            referent.path for referents in methods.values() for referent in referents
        )
    for file in files:
        model = types.view.model(file)
        for import_ in model.imports if model is not None else ():
            for main in types.view.modules(file, import_.module)[:1]:
                for name, referents in types.names.package(main).names.items():
                    if name[:1].isupper():
                        places |= dict.fromkeys(chosen(b"", referents))
    for referent in places:
        required = _required_methods(referent, types, 0)
        if folder_of(referent.path) != folder_of(path) and not all(
            name[0].isupper() for name in required
        ):
            # Only types of its own package can have them (Go spec, "Uniqueness of identifiers").
            continue
        if required and len(required) <= _MOST_METHODS:
            yield _Interface(referent, required)


def _required_methods(
    referent: Referent, types: GoMembers, depth: int
) -> dict[str, tuple[Referent, Signature]]:
    """The methods of an interface, those that it embeds included; none if not all are known."""
    model = types.view.model(referent.path)
    if model is None or model.symbols[referent.symbol].kind != "interface" or depth > _MOST_METHODS:
        return {}
    if "[" in model.symbols[referent.symbol].signature:
        return {}
    required: dict[str, tuple[Referent, Signature]] = {}
    rows = model.of_scope.get(model.own_scope.get(referent.symbol, -1), ())
    embedded = types.bases(Instance(referent.path, referent.symbol))
    if len(embedded) != sum(row.how == "base" for row in rows):
        return {}
    for base in embedded:
        inner = _required_methods(Referent(*base[:2]), types, depth + 1)
        if not inner:
            return {}
        required |= inner
    for name, places in model.children.get(referent.symbol, {}).items():
        for at in places:
            mine = Referent(referent.path, at, 0, name)
            signature_ = signature(mine, types) if model.symbols[at].kind in CALLABLE else None
            if signature_ is None:
                return {}
            required[name] = (mine, signature_)
    return required


def signature(referent: Referent, types: GoMembers) -> Signature | None:
    """The types that a method takes and gives, packages by where they are; None if unknown."""
    model = types.view.model(referent.path)
    if model is None or referent.symbol < 0 or model.symbols[referent.symbol].kind not in CALLABLE:
        return None
    symbol = model.symbols[referent.symbol]
    types_written = signature_types(symbol.signature, symbol.name)
    if types_written is None:
        return None
    return tuple(_resolved(text, referent.path, model, types) for text in types_written)


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
    for referent in types.names.lookup(path, 0, name):
        if referent.symbol < 0:
            return _folder(referent.path)
    for import_ in model.imports:
        if import_.alias == name or (not import_.alias and import_.module.endswith(name)):
            return import_.module
    return f"?{name}"


def _folder(path: bytes) -> str:
    return folder_of(path).decode("utf-8", "surrogateescape") or "."
