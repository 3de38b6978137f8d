"""Puts the facts of the class that a Razor component is translated to at their places."""

from __future__ import annotations

from codelens.extract.embedded_code import EmbeddedPart, PartFacts
from codelens.extract.markup.component_facts import DEFAULT, Scripts
from codelens.extract.markup.razor_template import CLASS, METHOD
from codelens.extract.source_text import Source
from codelens.extract.symbols.comments import Comments
from codelens.types import Binding, Reference, Scope, Symbol

_CLASS, _METHOD = CLASS.decode(), METHOD.decode()
_INDEXED = frozenset({"def", "io", "member", "prop"})


def class_facts(
    facts: PartFacts, scripts: Scripts, source: Source
) -> tuple[EmbeddedPart, PartFacts]:
    """Returns the facts of a component: the class is the whole file, and its method the markup.

    Args:
        facts: those of the class.
        scripts: what they were extracted from.
        source: the component.
    """
    placed = _PlacedClass(facts, scripts, source)
    part = EmbeddedPart(scripts.part.language, [(0, source.size)], 0)
    return part, PartFacts(
        [],
        Comments(source, []),
        placed.symbols,
        placed.references(),
        [row._replace(line=placed.line(row.line)) for row in facts.imports],
        [
            Scope(row.parent, placed.places[row.symbol] if row.symbol >= 0 else -1, row.kind)
            for row in facts.scopes
        ],
        placed.bindings(),
    )


class _PlacedClass:
    def __init__(self, facts: PartFacts, scripts: Scripts, source: Source) -> None:
        self._facts = facts
        self._virtual = scripts.virtual
        self._virtual_source = scripts.source
        self._source = source
        self.symbols: list[Symbol] = []
        self.places: list[int] = []
        """The new place of each symbol; -1 for what exists only in the translation."""
        self._place_symbols()

    def line(self, line: int) -> int:
        """Returns the line in the component of a line of the translation."""
        return self._virtual.line_of(line, self._virtual_source, self._source)

    def _place_symbols(self) -> None:
        source = self._source
        last = max(1, len(source.line_starts) - source.text.endswith(b"\n"))
        self.symbols.append(
            Symbol(DEFAULT, DEFAULT, "class", "component", "", True, 1, last, 1, 0, source.size, -1)
        )
        for symbol in self._facts.symbols:
            # Broken code may end the class, or the namespace around it, too early.
            parent = self.places[symbol.parent] if symbol.parent >= 0 else 0
            is_own = symbol.name not in {_CLASS, _METHOD} and symbol.kind != "module"
            moved = self._moved(symbol) if is_own else None
            self.places.append(parent if moved is None else len(self.symbols))
            if moved is not None:
                while not self._contains(parent, moved):
                    parent = self.symbols[parent].parent
                self.symbols.append(moved._replace(parent=parent))

    def _contains(self, place: int, inner: Symbol) -> bool:
        outer = self.symbols[place]
        is_inside = outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
        return not place or is_inside

    def _moved(self, symbol: Symbol) -> Symbol | None:
        """Returns a definition of the component's code at its place; None for any other."""
        virtual, source = self._virtual, self._source
        start, first = virtual.source_of(symbol.start_byte)
        end, last = virtual.source_of(symbol.end_byte - 1)
        if first != "exact":
            return None
        if last != "exact":
            # Of an injected property, the source has no accessors.
            end = source.text.find(b"\n", start)
            end = end - 1 if end > start else source.size - 1
        if start > end:
            return None
        line = source.line(start)
        return symbol._replace(
            qualified=symbol.qualified.replace(_CLASS, DEFAULT),
            start_line=line,
            end_line=source.line(end),
            name_line=min(max(self.line(symbol.name_line), line), source.line(end)),
            start_byte=start,
            end_byte=end + 1,
        )

    def references(self) -> list[Reference]:
        """Returns the uses in the component's own text."""
        starts = self._virtual_source.line_starts
        references: list[Reference] = []
        for use in self._facts.references:
            byte, piece = self._virtual.source_of(starts[use.line - 1] + use.column)
            if piece != "exact":
                continue
            line = self._source.line(byte)
            column = byte - self._source.line_starts[line - 1]
            symbol = self.places[use.symbol] if use.symbol >= 0 else 0
            while symbol and not self._around(symbol, line):
                symbol = self.symbols[symbol].parent
            references.append(use._replace(line=line, column=column, symbol=symbol))
        return references

    def _around(self, symbol: int, line: int) -> bool:
        return self.symbols[symbol].start_line <= line <= self.symbols[symbol].end_line

    def bindings(self) -> list[Binding]:
        """Returns the bindings at their lines."""
        rows: list[Binding] = []
        for row in self._facts.bindings:
            text = row.text
            if row.name in {_CLASS, _METHOD}:
                continue
            if row.how in _INDEXED:
                if not self.places[int(text)]:
                    continue
                text = str(self.places[int(text)])
            rows.append(row._replace(text=text, line=self.line(row.line)))
        return rows
