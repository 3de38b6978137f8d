"""SCIP symbols are parsed and written by the grammar of the schema."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelens.scip.symbol_grammar import (
    MACRO,
    META,
    METHOD,
    NAMESPACE,
    PARAMETER,
    TERM,
    TYPE,
    TYPE_PARAMETER,
    Descriptor,
    GlobalSymbol,
    InvalidSymbol,
    last_descriptor,
    parse_symbol,
)

SUFFIXES = (NAMESPACE, TYPE, TERM, META, MACRO, TYPE_PARAMETER, PARAMETER, METHOD)
SIMPLE = "abcXYZ019_+-$"
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
PARTS = st.text(st.sampled_from("ab .`/#:é "), max_size=6).filter(
    lambda text: text != "." and not text.startswith(" ") and not text.endswith(" ")
)
DESCRIPTORS = st.builds(
    lambda name, suffix, which: Descriptor(name, suffix, which if suffix == METHOD else ""),
    NAMES, st.sampled_from(SUFFIXES), st.text(SIMPLE, max_size=3),
)  # fmt: skip


@given(PARTS, PARTS, PARTS, st.lists(DESCRIPTORS, min_size=1, max_size=4))
def test_a_symbol_is_read_as_it_was_written(manager, package, version, descriptors) -> None:
    symbol = GlobalSymbol("a scheme", manager, package, version, tuple(descriptors))
    assert parse_symbol(symbol.written()) == symbol


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("scip-python python requests 1.0 `src.requests.auth`/A#__init__().(self)",
         Descriptor("self", PARAMETER)),
        ("scip-typescript npm zod 4.4.3 src/v3/`types.ts`/ZodType#`<get>x`().",
         Descriptor("<get>x", METHOD)),
        ("rust-analyzer cargo std v1 macros/println!", Descriptor("println", MACRO)),
        ("semanticdb maven . . a/B#[T]", Descriptor("T", TYPE_PARAMETER)),
        ("scip-java  x maven a  b 1 a/B#f(+2).", Descriptor("f", METHOD, "+2")),
    ],
)  # fmt: skip
def test_symbols_of_known_indexers(text: str, last: Descriptor) -> None:
    assert parse_symbol(text).descriptors[-1] == last
    assert parse_symbol(text).written() == text


@pytest.mark.parametrize(
    "text",
    ["", "local 3", "a b c", "a b c d ", " . . . a/", "a . . . f(", "a . . . `f/", "a . . . é#"],
)
def test_what_is_no_symbol_is_refused(text: str) -> None:
    with pytest.raises(InvalidSymbol):
        parse_symbol(text)
    assert last_descriptor(text) is None
