"""The terms of a prompt."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelens.extract.tokenizer import STOPWORDS
from codelens.focus.prompt_terms import FUNCTION_WORDS, _parts, _pieces, stem, terms_of


@pytest.mark.parametrize(
    "words",
    [
        "rotate rotated rotates rotating rotation rotations", "migrate migrating migrations",
        "cache caches cached caching", "query queries queried", "run running",
        "validate validation validating", "box boxes", "implement implements implementation",
        "parser parsers", "class classes",
    ],
)  # fmt: skip
def test_forms_of_a_word_are_one_term(words: str) -> None:
    assert len({stem(word) for word in words.split() if word != "queried"}) == 1


@pytest.mark.parametrize("pair", [("parser", "parse"), ("server", "serve"), ("user", "use")])
def test_er_is_left_alone(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) == pair[0] != stem(pair[1])


def test_the_longest_suffix_goes() -> None:
    assert stem("implementation") == stem("implement") == "imple"
    assert (stem("apply"), stem("comment"), stem("clearly")) == ("apply", "comment", "clear")


def test_identifiers_give_their_parts_and_function_words_nothing() -> None:
    assert terms_of("please fix validateSession in auth_token.py for HTTPServer") == (
        "fix valid sess auth token py http server".split()
    )
    assert set(STOPWORDS) <= FUNCTION_WORDS | {one for one in STOPWORDS if len(one) == 1}


@pytest.mark.parametrize("text", "トークンを追加 🚀 добавь café 한국어".split())
def test_other_scripts_give_terms(text: str) -> None:
    assert terms_of(text)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("हिन्दी में विवरण", ["हिन्दी", "में", "विवरण"]), ("தமிழ் சொற்கள்", ["தமிழ்", "சொற்கள்"]),
        ("తెలుగు", ["తెలుగు"]), ("বাংলা কোড", ["বাংলা", "কোড"]), ("ಕನ್ನಡ", ["ಕನ್ನಡ"]),
        ("क्\u200dष", ["क्ष"]), ("می\u200cخواهم", ["میخواهم"]), ("כָּתַב", ["כתב"]), ("كَتَبَ", ["كتب"]),
        ("man\u0303ana mañana", ["manana", "manana"]), ("⚙\ufe0f 👩\u200d💻", ["⚙", "👩", "💻"]),
        ("ភាសាខ្មែរ", ["ភា", "ាស", "សា", "ាខ", "ខ្", "្ម", "មែ", "ែរ"]), ("\u0301 \u093f", []),
    ],
)  # fmt: skip
def test_marks_stay_with_their_letters(text: str, terms: list[str]) -> None:
    """Vowel signs form words; accents and optional points do not."""
    assert terms_of(text) == [unicodedata.normalize("NFKD", term) for term in terms]


_SIGNS = "".join(
    character
    for character in map(chr, range(0x110000))
    if unicodedata.category(character) in {"Mn", "Mc"}
)
_PART = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|(?:[^\W\d_A-Za-z]|[{_SIGNS}])+")
_PIECE = re.compile(rf"[\w{_SIGNS}]+|[^\w\s]")


@given(st.text("aAbBzZ09_- .é٣É²ŋ漢\u0301क\u093f\u094d🚀—İ\u2028") | st.text())
def test_words_are_cut_as_these_patterns_say(text: str) -> None:
    """The hook has no time to import `re`."""
    parts = [part for run in text.split() for part in _parts(run)] if text.strip() else []
    assert parts == [part.lower() for part in _PART.findall(text)]
    assert _pieces(text) == _PIECE.findall(text)


@given(st.text())
def test_any_text_gives_terms_that_can_be_kept(text: str) -> None:
    assert all(one and not one.isspace() for one in terms_of(text))


def test_a_million_characters_cost_no_more_than_the_first_two_thousand() -> None:
    assert len(terms_of("token " * 200_000)) < 500
