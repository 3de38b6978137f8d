"""From ranked places to what a caller gets: handles, signatures, printed paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from codelens.answers.search_answers import Hit
from codelens.engine.current_view import CurrentView
from codelens.handles.handle_grammar import file_handle, symbol_handle
from codelens.handles.handle_naming import handle_of_lines
from codelens.paths import printed
from codelens.rank.search_request import Outcome, Ranked
from codelens.render.text_pieces import first_doc_line
from codelens.scope.repository import Scope
from codelens.store.facts import ranking_reads
from codelens.store.facts.ranking_reads import Shown

if TYPE_CHECKING:
    from codelens.answers.reading_answers import SymbolLine

_LINE_SHOWN = 200


def hits(view: CurrentView, outcome: Outcome, scope: Scope, *, explain: bool) -> tuple[Hit, ...]:
    """The results as a caller sees them, in order."""
    snapshot = view.snapshot
    ids = {result.file.content for result in outcome.results if result.file.content is not None}
    about = snapshot.about(ids)
    ref = scope.ref if scope.kind == "ref" else ""
    best: list[Hit] = []
    for result in outcome.results:
        content = result.file.content
        known = about.get(content) if content is not None else None
        symbol = _shown(view, result)
        best.append(
            Hit(
                handle=_handle(result, symbol, ref),
                path=printed(result.file.path),
                start_line=result.start_line,
                end_line=result.end_line,
                symbol=symbol.qualified if symbol else "",
                kind=symbol.kind if symbol else result.kind,
                language=known.language if known else "",
                score=round(result.score, 4),
                signature=(symbol.signature if symbol else "") or result.line[:_LINE_SHOWN],
                why=result.why,
                stale=result.file.path in snapshot.stale,
                alike=tuple(_handle(place, _shown(view, place), ref) for place in result.alike),
                also=tuple(_handle(place, _shown(view, place), ref) for place in result.also),
                explain=dict(result.explain) if explain else None,
                doc=first_doc_line(symbol.doc) if symbol else "",
            )
        )
    return tuple(best)


def _shown(view: CurrentView, ranked: Ranked) -> Shown | None:
    if ranked.symbol < 0 or ranked.file.content is None:
        return None
    return ranking_reads.shown(view.snapshot.db, ranked.file.content, ranked.symbol)


def _handle(ranked: Ranked, symbol: Shown | None, ref: str) -> str:
    if symbol is not None:
        return symbol_handle(ranked.file.path, symbol.qualified, symbol.number, ref)
    if ranked.kind == "file":
        # An empty or binary file has no line 1 that could be read.
        return file_handle(ranked.file.path, ref)
    return handle_of_lines(ranked.file.path, ranked.start_line, ranked.end_line, ref)


def symbol_lines(view: CurrentView) -> Iterator[SymbolLine]:
    """Every definition of the view, by path, line and order in the text."""
    from codelens.answers.reading_answers import SymbolLine

    snapshot = view.snapshot
    files = sorted(
        (file for file in snapshot.files if file.content is not None), key=lambda file: file.path
    )
    for start in range(0, len(files), 500):
        group = files[start : start + 500]
        ids = {file.content for file in group if file.content is not None}
        symbols = snapshot.symbols(ids)
        about = snapshot.about(ids)
        for file in group:
            assert file.content is not None
            for symbol in sorted(
                symbols.get(file.content, ()),
                key=lambda symbol: (symbol.start_line, symbol.start_byte),
            ):
                yield SymbolLine(
                    path=printed(file.path),
                    name=symbol.name,
                    qualified_name=symbol.qualified,
                    kind=symbol.kind,
                    start_line=symbol.start_line,
                    end_line=symbol.end_line,
                    line=symbol.name_line,
                    exported=symbol.exported,
                    language=about[file.content].language,
                )
