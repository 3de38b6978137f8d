"""Symbols, references, imports and chunks of one text, from one parse."""

from __future__ import annotations

from codelens.extract.captures import ParseTimeout
from codelens.extract.chunks import chunks_of, text_chunks
from codelens.extract.comments import Comments
from codelens.extract.definitions import definitions
from codelens.extract.grammars import grammar
from codelens.extract.imports import import_spans, imports_of
from codelens.extract.languages import language_info
from codelens.extract.references import references_of
from codelens.extract.repair import parsed
from codelens.extract.source import Source
from codelens.extract.symbols import symbols_of
from codelens.types import Structure

__all__ = ["ParseTimeout", "structure", "text_structure"]


def structure(text: bytes, language: str) -> Structure:
    """What one parse of a UTF-8 text gives; the same text always gives the same.

    A text with syntax errors gives what of it is whole.

    Raises:
        ParseTimeout: the text took more work than any text of its size should.
        SettingError: there is no such language.
    """
    if not language_info(language).grammar:
        return text_structure(text)
    rules = grammar(language)
    roots, captures = parsed(text, rules)
    source = Source(text)
    comments = Comments(source, captures.get("comment", []))
    spans = import_spans(captures, rules.info, source)
    found = symbols_of(definitions(captures, rules, text), rules.info, source, comments, spans)
    imports = imports_of(captures, rules.info, spans, source)
    references = references_of(captures, found, imports, rules.info, source)
    chunks = chunks_of(roots, source, comments, found.symbols)
    return Structure(tuple(found.symbols), tuple(references), tuple(imports), tuple(chunks))


def text_structure(text: bytes) -> Structure:
    """Chunks alone, cut between paragraphs: no parse, about 10 ms a MB."""
    return Structure((), (), (), tuple(text_chunks(Source(text))))
