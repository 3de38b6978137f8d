"""Decorators of Python: which stand before a definition, and which hand it back as it is."""

from __future__ import annotations

from codelens.resolve.facts.file_model import FileModel
from codelens.types import PROTOCOL, Reference

HANDING = frozenset(
    "abstractmethod abstractproperty asynccontextmanager cache cached_property classmethod "
    "contextmanager coroutine deleter deprecated final fixture getter lru_cache no_type_check "
    "overload override property runtime_checkable setter singledispatch singledispatchmethod "
    "staticmethod wraps".split()
)
"""Of the standard library and pytest: a call of what they decorate gives what its function does."""


def decorators(model: FileModel, symbol: int) -> list[Reference]:
    """The decorators of a definition, each as the name that stands for it."""
    definition = model.symbols[symbol]
    if definition.start_line >= definition.name_line:
        return []
    by_line: dict[int, Reference] = {}
    first = -1
    for at in model.references:
        if definition.start_line <= at.line < definition.name_line and at.arguments != PROTOCOL:
            begin = at.column - (len(at.receiver) + 1 if at.receiver else 0)
            first = begin if first < 0 else first
            # Arguments on lines of their own stand further in.
            if begin == first and (at.line not in by_line or at.column > by_line[at.line].column):
                by_line[at.line] = at
    return list(by_line.values())
