"""Names used, not defined: calls, types, and such other names as the text defines or imports.

Thousands of them stand in a large file, so they are worked on by column, not one by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import cast

from tree_sitter import Node

from codelens.extract.captures import Captures
from codelens.extract.languages import LanguageInfo
from codelens.extract.source import Source
from codelens.extract.symbols import Symbols
from codelens.types import Import, Reference

_MODULE_PARTS = re.compile(r"[./\\:]+")
_LAST_NAME = re.compile(r"(?:^|[.:>\\\s])([^\s.:>\\()\[\]{}\"'`,;]+)\Z")
_LONGEST_NAME = 200

_new_reference = cast(
    "Callable[[tuple[str, str, int, int, int]], Reference]", partial(tuple.__new__, Reference)
)
"""`Reference._make` without its check of the length, which would cost twice the rest."""


def references_of(
    captures: Captures,
    found: Symbols,
    imports: Iterable[Import],
    info: LanguageInfo,
    source: Source,
) -> list[Reference]:
    """References of a text, in its order; of two kinds for one name a call beats a type.

    A `@reference.bound` counts only if the text defines or imports a thing of that name: so
    local variables, which only a scope analysis could tell from others, mostly stay away.
    """
    names: list[str] = []
    kinds: list[str] = []
    starts: list[int] = []
    for kind in ("call", "type", "name"):
        nodes = captures.get(f"reference.{kind}")
        if nodes:
            _add(names, starts, nodes, source)
            kinds += repeat(kind, len(names) - len(kinds))
    seen = set(starts)
    for capture, kind in (("reference.bound.call", "call"), ("reference.bound", "name")):
        nodes = captures.get(capture)
        if nodes:
            known = _known_names(found, imports)
