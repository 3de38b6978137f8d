"""Symbols, references, imports and chunks of one text, from one parse."""

from __future__ import annotations

from contextlib import suppress

from codelens.extract.chunking import Root, chunks_of, text_chunks
from codelens.extract.embedded_code import (
    DEEPEST,
    EmbeddedPart,
    PartFacts,
    bindings,
    joined,
    parts_of,
)
from codelens.extract.flow.references import references_of
from codelens.extract.flow.scopes import Flow
from codelens.extract.language_settings import language_info
from codelens.extract.parse.grammars import grammar
from codelens.extract.parse.parse_repair import parsed
from codelens.extract.parse.work_limit import ParseTimeout, check_work, limited
from codelens.extract.source_text import Source
from codelens.extract.symbols.comments import Comments
from codelens.extract.symbols.definitions import definitions
from codelens.extract.symbols.imports import import_spans, imports_of
from codelens.extract.symbols.symbols import symbols_of
from codelens.types import Structure

__all__ = ["ParseTimeout", "structure", "text_structure"]


def structure(text: bytes, language: str, *, symbols_only: bool = False) -> Structure:
    """What one parse of a UTF-8 text gives; the same text always gives the same.

    A text with syntax errors gives what of it is whole.

    Args:
        text: the text.
        language: what it is read as.
        symbols_only: leave out references, imports and chunks; the symbols are the same.

    Raises:
        ParseTimeout: the text took more work than any text of its size should.
        SettingError: there is no such language.
    """
    if not language_info(language).grammar:
        return Structure((), (), (), ()) if symbols_only else text_structure(text)
    source = Source(text, check_work)
    with limited(source.size):
        captures_found = _found(source, language, symbols_only=symbols_only)
        if symbols_only:
            return Structure(tuple(captures_found.symbols), (), (), ())
        chunks = chunks_of(
            captures_found.roots, source, captures_found.comments, captures_found.symbols
        )
    return Structure(
        tuple(captures_found.symbols),
        tuple(captures_found.references),
        tuple(captures_found.imports),
        tuple(chunks),
        tuple(captures_found.scopes)
        if len(captures_found.scopes) > 1 or captures_found.bindings
        else (),
        tuple(captures_found.bindings),
    )


def _found(
    source: Source,
    language: str,
    part: EmbeddedPart | None = None,
    level: int = 0,
    *,
    symbols_only: bool,
) -> PartFacts:
    """What there is in a text or a part of it, parts in other languages included."""
    rules = grammar(language)
    spans = part.spans if part is not None else []
    roots, captures = parsed(source.text, rules, spans)
    comments = Comments(source, captures.get("comment", []))
    statements = import_spans(captures, rules.info, source)
    defined = definitions(captures, rules, source.text, spans)
    symbols = symbols_of(defined, rules.info, source, comments, statements)
    inner: list[tuple[EmbeddedPart, PartFacts]] = []
    for inner_part in parts_of(captures, rules.info, source, spans) if level < DEEPEST else ():
        # A part that is hopeless stays text.
        with suppress(ParseTimeout):
            facts = _found(
                source, inner_part.language, inner_part, level + 1, symbols_only=symbols_only
            )
            inner.append((inner_part, facts))
    if symbols_only:
        own = PartFacts([], comments, symbols.symbols, [], [], [], [])
        return joined(own, inner, rules.info, source) if inner else own
    imports = imports_of(captures, rules.info, statements, source)
    bound = [*imports, *bindings(inner)]
    flow = Flow(captures, symbols, imports, rules.info, source)
    references = references_of(captures, symbols, bound, rules.info, source=source, flow=flow)
    depth = part.depth if part is not None else 0
    end = spans[-1][1] if spans else source.size
    trees = [Root(root, end, depth) for root in roots]
    own = PartFacts(
        trees, comments, symbols.symbols, references, imports, flow.scopes, flow.bindings
    )
    return joined(own, inner, rules.info, source) if inner else own


def text_structure(text: bytes) -> Structure:
    """Chunks alone, cut between paragraphs: no parse, about 10 ms a MB."""
    return Structure((), (), (), tuple(text_chunks(Source(text))))
