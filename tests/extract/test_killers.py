"""The corpus of texts that crashed, hung or slowed an extraction: none does so again."""

from __future__ import annotations

import pytest
from corpus.texts import TEXTS
from extract.apart import Child
from extract.rendering import fixture_sources
from harness_sizes import FULL

from codelens.extract.facts import facts_of
from codelens.extract.language_settings import languages
from codelens.extract.parse import captures


def fixture_of(language: str) -> bytes:
    return next(
        (one.read_bytes() for one in fixture_sources() if one.parent.name == language), b"a\n"
    )


KILLED_S = 15
SCALE = 1 if FULL else 4
ENDED_BY_THE_LIMIT = {
    "svelte: a brace that is never closed, before many lines",
    "svelte: an attribute that is never closed, with NULs",
    "cmake: separators, and half a character at the end",
    "c: functions in functions, looked for a type back to the line's start",
    "cpp: the same",
    "csharp: classes in classes, parsed five times",
    "ocaml: separators, over which the lexer goes back and forth within one step",
}
"""Texts that take all the CPU that they may. They get a quarter of it, except in a full run."""


def _shorten_the_limit() -> None:
    captures._BASE_S /= SCALE
    captures._PER_BYTE_S /= SCALE


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_killed_is_survived(name: str) -> None:
    language, text = TEXTS[name]
    if name in ENDED_BY_THE_LIMIT:
        with Child(language, KILLED_S // SCALE + 1, _shorten_the_limit) as child:
            assert child.extract(text)[0] == "timeout"
    else:
        with Child(language, KILLED_S) as child:
            assert child.extract(text)[0] in {"parsed", "timeout"}


@pytest.mark.parametrize("language", sorted(info.name for info in languages()))
def test_no_scanner_meets_a_nul(language: str) -> None:
    # After the first bytes, which decide whether a file is binary.
    head, source = b"\n" * 8000, fixture_of(language)
    with_nuls = source.replace(b"\n", b"\0\n")
    facts = facts_of(head + with_nuls, language)
    blank = facts_of(head + with_nuls.replace(b"\0", b" "), language)
    assert facts.outcome == blank.outcome
    assert facts.structure.symbols == blank.structure.symbols
    assert facts.structure.references == blank.structure.references
