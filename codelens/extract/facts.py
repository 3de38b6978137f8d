"""Symbols, references, imports and chunks of one text, from one parse."""

from __future__ import annotations

import logging
from contextlib import suppress

from codelens.extract.embedded_code import (
    DEEPEST,
    EmbeddedPart,
    PartFacts,
    Root,
    bindings,
    chunks_of,
    joined,
    parts_of,
    text_chunks,
)
from codelens.extract.file_kinds import classify, decode
from codelens.extract.flow.references import references_of
from codelens.extract.flow.scopes import Flow
from codelens.extract.language_settings import language_info
from codelens.extract.parse.captures import ParseTimeout, check_work, limited
from codelens.extract.parse.grammars import grammar
from codelens.extract.parse.parse_repair import parsed
from codelens.extract.source_text import Source
from codelens.extract.symbols.comments import Comments
from codelens.extract.symbols.definitions import definitions
from codelens.extract.symbols.imports import import_spans, imports_of
from codelens.extract.symbols.symbols import symbols_of
from codelens.extract.tokenizer import pack_terms
from codelens.types import Facts, Outcome, Structure, Tier

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


# All facts of one text: the function that worker processes run.
#
# Pure: bytes and a language in, `Facts` out; the same text gives the same facts wherever it lies.

logger = logging.getLogger(__name__)

_NOT_ASCII, _LEAD = 0x80, 0xC0
_LOOKED_AT = 3
"""Bytes: fewer than the longest character has."""
_EMPTY = Structure((), (), (), ())


def facts_of(data: bytes, language: str, tier: Tier = "full") -> Facts:
    """Facts of a file's raw bytes; a text that cannot be parsed is still searchable as text.

    `tier="text"` skips the parse: chunks and terms only. `tier="symbols"` gives the symbols alone,
    at half the price.
    """
    outcome, generated = classify(data)
    if outcome in {"binary", "oversized"}:
        return Facts(outcome, _EMPTY, 0, generated, {}, ())
    text = decode(data)
    structure = _EMPTY
    if outcome == "parsed" and tier != "text" and language != "text":
        outcome, structure = _parsed(text, language, tier)
    if tier == "symbols":
        return Facts(outcome, structure, _line_count(text), generated, {}, ())
    if outcome != "parsed" or tier == "text" or language == "text":
        outcome = "text" if outcome == "parsed" else outcome
        structure = text_structure(text)
    terms, lengths = pack_terms(text, structure.chunks, structure.symbols)
    return Facts(outcome, structure, _line_count(text), generated, terms, lengths)


def _line_count(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text))


def _without_cut_character(text: bytes) -> bytes:
    """The text with blanks for a character that its end cuts off.

    tree-sitter (0.26.1) asks for more of the text there, and where the parse is to end it is given
    nothing, reads it all the same, and ends the process.
    """
    tail = text[-2 * _LOOKED_AT :]
    if tail.isascii():
        return text
    start = 0
    while start < min(_LOOKED_AT, len(tail)) and _NOT_ASCII <= tail[start] < _LEAD:
        # Of a character that begins before.
        start += 1
    try:
        tail[start:].decode()
    except UnicodeDecodeError:
        end = text[-_LOOKED_AT:]
        return text[:-_LOOKED_AT] + bytes(byte if byte < _NOT_ASCII else 0x20 for byte in end)
    return text


def _parsed(text: bytes, language: str, tier: Tier) -> tuple[Outcome, Structure]:
    # To every scanner a NUL is the end of the text, which it then meets in the midst: Perl's goes
    # on beyond the text and ends the process, Svelte's begins anew at each.
    text = _without_cut_character(text.replace(b"\0", b" "))
    try:
        return "parsed", structure(text, language, symbols_only=tier == "symbols")
    except ParseTimeout:
        return "timeout", _EMPTY
    except RecursionError:
        logger.warning("a %s text nests too deep to be read; kept as text", language)
        return "broken", _EMPTY
