"""Finds the property around another one in a nested object type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelens.types import Symbol


def holders(symbols: Sequence[Symbol], *, nested: bool) -> Iterator[int]:
    """Yield the parent of each symbol; inside the type of a property, that property.

    In `interface Row { by: { name: string }; name: string }`, the first `name` belongs to `by`.

    Args:
        symbols: in source order.
        nested: whether the language has such types; otherwise each has its own parent.
    """
    around: list[int] = []
    for at, symbol in enumerate(symbols):
        if not nested or symbol.kind != "property":
            yield symbol.parent
            continue
        while around and symbols[around[-1]].end_byte <= symbol.start_byte:
            around.pop()
        outer = symbols[around[-1]] if around else symbol
        inside = symbol.end_byte <= outer.end_byte and symbol.parent in {outer.parent, -1}
        yield around[-1] if around and inside else symbol.parent
        around.append(at)
