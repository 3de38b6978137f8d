"""Indexes the names that the C and C++ files of a view define and declare.

The index is lazy by name: of Linux's 55,000 files with 1.2 million definitions, a query needs a few
thousand names, and reading all of them would take a minute.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set

from codelens.resolve.file_model import FileModel
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.languages.c.c_types import aliased_namespace
from codelens.resolve.path_tree import folder_of
from codelens.resolve.view_files import View
from codelens.types import Symbol

LANGUAGES = frozenset({"c", "cpp"})


_END = b"\0"


class _OuterNames:
    """The outer names of one file: name -> symbol indexes.

    The names are joined in one string: dictionaries for 6,000 files took 50 MiB per query instead
    of 5.
    """

    __slots__ = ("_at", "_names", "methods")

    def __init__(
        self, names: Sequence[tuple[str, int]], methods: dict[str, list[tuple[str, int]]]
    ) -> None:
        self._names = _END + b"".join(_encoded(name) + _END for name, _ in names)
        self._at = array("I", (at for _, at in names))
        self.methods = methods
        """The methods defined outside of their class, with the last name of that class."""

    def positions(self, name: str) -> Iterator[int]:
        """Yield the top-level symbols of a name, including those in namespaces, in order."""
        needle = _END + _encoded(name) + _END
        place, number, counted = self._names.find(needle), 0, 0
        while place >= 0:
            number += self._names.count(_END, counted, place)
            counted = place
            yield self._at[number]
            place = self._names.find(needle, place + 1)


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


class CIndex:
    """Finds what C and C++ files define and declare outside of functions."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._defining: dict[str, list[bytes]] = {}
        self._outer: dict[bytes, _OuterNames] = {}
        self._spaces: dict[bytes, dict[str, str]] = {}

    def named(self, name: str, within: Set[bytes] | None = None) -> list[Referent]:
        """Return the top-level symbols of a name, including those in namespaces, in order.

        With `within`, only those in these files; the definitions of other files are not read.
        """
        return [
            Referent(path, at, 0, name)
            for path in self._files(name)
            if within is None or path in within
            for at in self._outer_names(path).positions(name)
        ]

    def methods(self, owner: str, name: str) -> list[Referent]:
        """Return the out-of-class method definitions for a class's last name."""
        return [
            Referent(path, at, 0, name)
            for path in self._files(name)
            for of, at in self._outer_names(path).methods.get(name, ())
            if of == owner
        ]

    def _files(self, name: str) -> list[bytes]:
        files = self._defining.get(name)
        if files is None:
            files = self._defining[name] = self._view.defining(name, LANGUAGES)
        return files

    def spaces(self, path: bytes) -> dict[str, str]:
        """Return the namespace aliases of a file -> the namespaces."""
        if path not in self._spaces:
            model = self._view.aside(lambda: self._view.model(path))
            self._spaces[path] = _aliases(model)
        return self._spaces[path]

    def _outer_names(self, path: bytes) -> _OuterNames:
        outer = self._outer.get(path)
        if outer is None:
            model = self._view.aside(lambda: self._view.model(path))
            outer = self._outer[path] = _outer_names(model)
        return outer


def _outer_names(model: FileModel) -> _OuterNames:
    names: list[tuple[str, int]] = []
    methods: dict[str, list[tuple[str, int]]] = {}
    for at, symbol in enumerate(model.symbols):
        if not is_outer_symbol(model, at):
            continue
        if model.is_outside_member(symbol):
            owner = symbol.qualified.split(".")[-2] if "." in symbol.qualified else ""
            methods.setdefault(symbol.name, []).append((owner, at))
        else:
            names.append((symbol.name, at))
    return _OuterNames(names, methods)


def _aliases(model: FileModel) -> dict[str, str]:
    modules = (symbol for symbol in model.symbols if symbol.kind == "module")
    pairs = (aliased_namespace(symbol.signature) for symbol in modules)
    return dict(pair for pair in pairs if pair is not None)


def is_outer_symbol(model: FileModel, at: int) -> bool:
    """Whether a symbol is only nested in namespaces, or an enumerator there."""
    parent = model.symbols[at].parent
    if model.is_open_enum(parent):
        parent = model.symbols[parent].parent
    while parent >= 0 and model.symbols[parent].kind == "module":
        parent = model.symbols[parent].parent
    return parent < 0 and model.symbols[at].kind not in {"module"}


# Variables declared in one file and defined in another: `extern int limit;`.

_VARIABLES = frozenset({"variable", "constant"})
_DECLARED = re.compile(r"extern\b(?!\s*\")[^=]*\Z")
"""A declaration with a value is a definition; `extern "C"` specifies the linkage."""


def variables_in_scope(
    view: View, path: bytes, referents: list[Referent], named: Iterable[Referent]
) -> list[Referent]:
    """Replace declarations of variables by their definition, if the view has one.

    Args:
        view: the files.
        path: the file that uses the name.
        referents: the referents of the name that the file can see.
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
    """Return the definitions nearest to the declarations, or else nearest to the user."""
    if len(definitions) < 2:
        return definitions
    for near in ({folder_of(referent.path) for referent in declared}, {folder_of(path)}):
        same_folder = [referent for referent in definitions if folder_of(referent.path) in near]
        if same_folder:
            return same_folder
    return definitions


def _symbol(view: View, referent: Referent) -> Symbol | None:
    return view.symbol(referent) if referent.symbol >= 0 else None


def _is_declared(symbol: Symbol | None) -> bool:
    return (
        symbol is not None
        and symbol.kind in _VARIABLES
        and _DECLARED.match(symbol.signature) is not None
    )
