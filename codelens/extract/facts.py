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

_EMPTY = Structure((), (), (), ())


def facts_of(data: bytes, language: str, tier: Tier = "full") -> Facts:
    """Facts of a file's raw bytes; a text that cannot be parsed is still searchable as text.

    `tier="text"` skips the parse: chunks and terms only.
    """
    outcome, generated = classify(data)
    if outcome in {"binary", "oversized"}:
        return Facts(outcome, _EMPTY, 0, generated, {}, ())
    text = decode(data)
    structure = _EMPTY
    if outcome == "parsed" and tier == "full" and language != "text":
        outcome, structure = _parsed(text, language)
    if outcome != "parsed" or tier == "text" or language == "text":
        outcome = "text" if outcome == "parsed" else outcome
        structure = text_structure(text)
    terms, lengths = pack_terms(text, structure.chunks, structure.symbols)
    lines = text.count(b"\n") + (not text.endswith(b"\n") and bool(text))
    return Facts(outcome, structure, lines, generated, terms, lengths)


def _parsed(text: bytes, language: str) -> tuple[Outcome, Structure]:
    # To every scanner a NUL is the end of the text, which it then meets in the midst: Perl's goes
    # on beyond the text and ends the process, Svelte's begins anew at each.
    text = text.replace(b"\0", b" ")
    try:
        return "parsed", structure(text, language)
    except ParseTimeout:
        return "timeout", _EMPTY
    except RecursionError:
        logger.warning("a %s text nests too deep to be read; kept as text", language)
        return "broken", _EMPTY
