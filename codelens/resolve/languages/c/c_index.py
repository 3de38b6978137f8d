"""All names that the C and C++ files of a view define and declare."""

from __future__ import annotations

from typing import NamedTuple

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.languages.c.c_type_text import aliased_namespace

LANGUAGES = frozenset({"c", "cpp"})


class CIndex(NamedTuple):
    """What the C and C++ files of a view define and declare."""

    names: dict[str, list[Referent]]
    """Top-level names, those in namespaces as well."""
    methods: dict[str, dict[str, list[Referent]]]
    """Last name of a class -> its methods that are defined outside of it."""
    spaces: dict[bytes, dict[str, str]]
    """File -> the other names that it gives to namespaces -> their own."""


def c_index(view: View) -> CIndex:
    """What the C and C++ files of a view define and declare outside of functions."""
    index = CIndex({}, {}, {})
    for path, language in sorted(view.languages.items()):
        model = view.model(path) if language in LANGUAGES else None
        spaces = _aliases(model) if model is not None else {}
        if spaces:
            index.spaces[path] = spaces
        for at, symbol in enumerate(model.symbols if model is not None else ()):
            if model is None or not is_outer_symbol(model, at):
                continue
            if model.is_outside_member(symbol):
                owner = symbol.qualified.split(".")[-2] if "." in symbol.qualified else ""
                places = index.methods.setdefault(owner, {})
                places.setdefault(symbol.name, []).append(Referent(path, at, 0, symbol.name))
            else:
                index.names.setdefault(symbol.name, []).append(Referent(path, at, 0, symbol.name))
    return index


def _aliases(model: FileModel) -> dict[str, str]:
    modules = (symbol for symbol in model.symbols if symbol.kind == "module")
    pairs = (aliased_namespace(symbol.signature) for symbol in modules)
    return dict(pair for pair in pairs if pair is not None)


def is_outer_symbol(model: FileModel, at: int) -> bool:
    """Whether a symbol stands in nothing but namespaces, or in types."""
    parent = model.symbols[at].parent
    while parent >= 0 and model.symbols[parent].kind == "module":
        parent = model.symbols[parent].parent
    return parent < 0 and model.symbols[at].kind not in {"module"}
