"""Symbols of broken text made sound: each inside its parent, all in order of their starts.

While spans grow over decorators and comments, and sections reach to the next one, what an error
left of the tree may overlap. Sound texts pass through unchanged.
"""

from __future__ import annotations

from codelens.extract.symbols.definition_frames import Frame
from codelens.types import Symbol


def tidy(symbols: list[Symbol], frames: list[Frame]) -> None:
    """Clip symbols to their parents, and sort them where they are out of order.

    Args:
        symbols: changed in place.
        frames: the frame of each symbol; sorted along, with their `index`.
    """
    ordered = True
    last = 0
    for at, symbol in enumerate(symbols):
        start = symbol.start_byte
        if symbol.parent >= 0:
            outer = symbols[symbol.parent]
            if start < outer.start_byte or symbol.end_byte > outer.end_byte:
                symbols[at] = _inside(symbols, symbol)
                start = symbols[at].start_byte
        ordered = ordered and start >= last
        last = start
    if not ordered:
        _sort(symbols, frames)


def _inside(symbols: list[Symbol], symbol: Symbol) -> Symbol:
    """The symbol in the closest one around it that it shares some text with."""
    parent = symbol.parent
    while parent >= 0:
        outer = symbols[parent]
        if symbol.start_byte < outer.end_byte and symbol.end_byte > outer.start_byte:
            return _clipped(symbol._replace(parent=parent), outer)
        parent = outer.parent
    return symbol._replace(parent=-1)


def _clipped(symbol: Symbol, outer: Symbol) -> Symbol:
    start = min(max(symbol.start_byte, outer.start_byte), outer.end_byte)
    end = max(start, min(symbol.end_byte, outer.end_byte))
    first = min(max(symbol.start_line, outer.start_line), outer.end_line)
    last = max(first, min(symbol.end_line, outer.end_line))
    return symbol._replace(
        start_byte=start,
        end_byte=end,
        start_line=first,
        end_line=last,
        name_line=min(max(symbol.name_line, first), last),
    )


def _sort(symbols: list[Symbol], frames: list[Frame]) -> None:
    order = sorted(
        range(len(symbols)), key=lambda at: (symbols[at].start_byte, -symbols[at].end_byte, at)
    )
    places = {old: new for new, old in enumerate(order)}
    sorted_frames = [frames[at] for at in order]
    symbols[:] = [symbols[at]._replace(parent=places.get(symbols[at].parent, -1)) for at in order]
    for frame in set(frames):
        frame.index = places.get(frame.index, frame.index)
    frames[:] = sorted_frames
