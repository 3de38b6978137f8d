"""Variables that C and C++ declare in one file and define in another: `extern int limit;`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codelens.resolve.facts.path_tree import folder_of
from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.name_lookup import Referent
from codelens.types import Symbol

_VARIABLES = frozenset({"variable", "constant"})
_DECLARED = re.compile(r"extern\b(?!\s*\")[^=]*\Z")
"""With a value it is a definition; `extern "C"` says how a name is linked."""


def variables_meant(
    view: View, path: bytes, referents: list[Referent], named: Iterable[Referent]
) -> list[Referent]:
    """Definitions of variables in place of their declarations, where a file of the view has one.

    Args:
        view: the files.
        path: the file that uses the name.
        referents: what the name means by what the file sees.
        named: all outer symbols of that name.
    """
    symbols = {referent: _symbol(view, referent) for referent in referents}
    declared = [referent for referent, symbol in symbols.items() if _is_declared(symbol)]
    if not declared:
        return referents
    defined = [referent for referent in referents if referent not in declared]
    if defined:
        return defined
    spaces = {symbol.qualified for symbol in symbols.values() if symbol is not None}
    definitions = [
        referent
        for referent in named
        if (symbol := _symbol(view, referent)) is not None
        and symbol.kind in _VARIABLES
        and symbol.exported
        and symbol.qualified in spaces
        and not _is_declared(symbol)
    ]
    return nearest_of(definitions, declared, path) or referents


def nearest_of(
    definitions: list[Referent], declared: Sequence[Referent], path: bytes
) -> list[Referent]:
    """Of several definitions those beside the declarations, else those beside the user."""
    if len(definitions) < 2:
        return definitions
    for near in ({folder_of(referent.path) for referent in declared}, {folder_of(path)}):
        beside = [referent for referent in definitions if folder_of(referent.path) in near]
        if beside:
            return beside
    return definitions


def _symbol(view: View, referent: Referent) -> Symbol | None:
    model = view.model(referent.path)
    return model.symbols[referent.symbol] if model is not None and referent.symbol >= 0 else None


def _is_declared(symbol: Symbol | None) -> bool:
    return (
        symbol is not None
        and symbol.kind in _VARIABLES
        and _DECLARED.match(symbol.signature) is not None
    )
