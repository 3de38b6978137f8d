"""From ranked places to what a caller gets: handles, signatures, printed paths."""

from __future__ import annotations

from collections.abc import Iterator

from codelens.answers.reading_answers import Hit, SymbolLine
from codelens.engine.current_view import CurrentView
from codelens.handles.handle_grammar import file_handle, symbol_handle
from codelens.handles.handle_naming import handle_of_lines
from codelens.paths import printed
from codelens.rank.search_pipeline import Outcome, Ranked
from codelens.scope.repository import Scope
from codelens.store.facts import ranking_reads
from codelens.store.facts.ranking_reads import Shown

_LINE_SHOWN = 200


def hits(view: CurrentView, outcome: Outcome, scope: Scope, *, explain: bool) -> tuple[Hit, ...]:
    """The results as a caller sees them, in order."""
    snapshot = view.snapshot
    ids = {one.file.content for one in outcome.results if one.file.content is not None}
    about = snapshot.about(ids)
    ref = scope.ref if scope.kind == "ref" else ""
    found: list[Hit] = []
    for one in outcome.results:
        content = one.file.content
        known = about.get(content) if content is not None else None
        symbol = _shown(view, one)
        found.append(
            Hit(
                handle=_handle(one, symbol, ref),
                path=printed(one.file.path),
                start_line=one.start_line,
                end_line=one.end_line,
                symbol=symbol.qualified if symbol else "",
                kind=symbol.kind if symbol else one.kind,
                language=known.language if known else "",
                score=round(one.score, 4),
                signature=(symbol.signature if symbol else "") or one.line[:_LINE_SHOWN],
                why=one.why,
                stale=one.file.path in snapshot.stale,
                alike=tuple(_handle(place, _shown(view, place), ref) for place in one.alike),
                also=tuple(_handle(place, _shown(view, place), ref) for place in one.also),
                explain=dict(one.explain) if explain else None,
            )
        )
    return tuple(found)


def _shown(view: CurrentView, one: Ranked) -> Shown | None:
    if one.symbol < 0 or one.file.content is None:
        return None
    return ranking_reads.shown(view.snapshot.db, one.file.content, one.symbol)


def _handle(one: Ranked, symbol: Shown | None, ref: str) -> str:
    if symbol is not None:
        return symbol_handle(one.file.path, symbol.qualified, symbol.number, ref)
    if one.kind == "file":
        # An empty or binary file has no line 1 that could be read.
        return file_handle(one.file.path, ref)
    return handle_of_lines(one.file.path, one.start_line, one.end_line, ref)


def symbol_lines(view: CurrentView) -> Iterator[SymbolLine]:
    """Every definition of the view, by path, line and order in the text."""
    snapshot = view.snapshot
    files = sorted(
        (file for file in snapshot.files if file.content is not None), key=lambda one: one.path
    )
    for start in range(0, len(files), 500):
        group = files[start : start + 500]
        ids = {file.content for file in group if file.content is not None}
        symbols = snapshot.symbols(ids)
        about = snapshot.about(ids)
        for file in group:
            assert file.content is not None
            for symbol in sorted(
                symbols.get(file.content, ()), key=lambda one: (one.start_line, one.start_byte)
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
