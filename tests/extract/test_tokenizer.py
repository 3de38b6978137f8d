"""Words and their terms: fast paths give the same result as slow ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.extract.tokenizer import WORD, terms_of_word, words_of


@settings(max_examples=500)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_words_of_bytes_are_the_words_of_their_text(text: bytes) -> None:
    assert words_of(text) == WORD.findall(text.decode("utf-8", "replace"))


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("validateSession", ("valid", "session", "validatesess")),
        ("validate_session", ("valid", "session", "validatesess")),
        ("VALIDATE_SESSION", ("valid", "session", "validatesess")),
        ("_validate__session_", ("valid", "session", "validatesess")),
        ("session", ("session",)),
        ("__session", ("session",)),
        ("the_session", ("session", "thesess")),
        ("HTTPServer2", ("http", "server", "2", "httpserver2")),
        ("URLs", ("url",)),
        ("café", ("cafe",)),
        ("_", ()),
        ("the", ()),
        ("123456789", ()),
        ("deadbeef12345678", ("deadbeef12345678",)),
        ("x" * 65, ()),
        ("日本語", ("日本", "本語")),
    ],
)
def test_a_word_has_the_terms_of_its_parts_and_their_compound(
    word: str, terms: tuple[str, ...]
) -> None:
    assert terms_of_word(word) == terms


@settings(max_examples=500)
@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8), min_size=2))
def test_the_conventions_of_one_name_have_the_same_terms(parts: list[str]) -> None:
    snake = terms_of_word("_".join(parts))
    assert terms_of_word("_".join(parts).upper()) == snake
    assert terms_of_word("_" + "__".join(parts)) == snake or len("__".join(parts)) >= 64
