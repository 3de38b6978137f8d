"""Decorators of Python: which stand before a definition, and which hand it back as it is."""

from __future__ import annotations

from codelens.resolve.facts.file_model import FileModel
from codelens.types import Reference

HANDING = frozenset(
    "abstractmethod abstractproperty asynccontextmanager cache cached_property classmethod "
    "contextmanager coroutine deleter deprecated final getter lru_cache no_type_check overload "
    "override property runtime_checkable setter singledispatch singledispatchmethod staticmethod "
    "wraps".split()
)
"""Of the standard library: a call of what they decorate gives what the function gives."""


def decorators(model: FileModel, symbol: int) -> list[Reference]:
    """The decorators of a definition, each as the name that stands for it."""
    one = model.symbols[symbol]
    if one.start_line >= one.name_line:
        return []
    found: dict[int, Reference] = {}
    first = -1
    for at in model.references:
        if one.start_line <= at.line < one.name_line:
            begin = at.column - (len(at.receiver) + 1 if at.receiver else 0)
            first = begin if first < 0 else first
            # Arguments on lines of their own stand further in.
            if begin == first and (at.line not in found or at.column > found[at.line].column):
                found[at.line] = at
    return list(found.values())
