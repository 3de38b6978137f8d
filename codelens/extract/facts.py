"""All facts of one text: the function that worker processes run.

Pure: bytes and a language in, `Facts` out; the same text gives the same facts wherever it lies.
"""

from __future__ import annotations

import logging

from codelens.extract.file_kinds import classify, decode
from codelens.extract.structure import ParseTimeout, structure, text_structure
from codelens.extract.term_packing import pack_terms
from codelens.types import Facts, Outcome, Structure, Tier

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
