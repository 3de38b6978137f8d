"""How a query's text is analysed."""

from __future__ import annotations

import pytest

from codelens.rank import ranking_weights
from codelens.rank.query.query_analysis import analyse


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("validate_session", [("validate_session",)]),
        ("Session.validate", [("Session", "validate")]),
        ("Sinatra::Base", [("Sinatra", "Base")]),
        ("how does withObject work", [("withObject",)]),
        ("where is HTTPServer used in a_b", [("HTTPServer",), ("a_b",)]),
        ("plain words only", []),
    ],
)
def test_names_are_distinguished_from_words(text: str, parts: list[tuple[str, ...]]) -> None:
    assert [name.parts for name in analyse(text).names] == parts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("src/auth.py", [("src/auth.py", 0)]),
        ("src\\auth.py:12", [("src/auth.py", 12)]),
        ("see auth.py:12-30, please", [("auth.py", 12)]),
        ("auth.py#L7", [("auth.py", 7)]),
        ("and or", []),
    ],
)
def test_paths_and_lines_are_seen(text: str, found: list[tuple[str, int]]) -> None:
    assert [(one.path, one.line) for one in analyse(text).places] == found


def test_adjacent_words_are_also_one_identifier_at_half_weight() -> None:
    terms = {term.text: term.weight for term in analyse("parse the config file").terms}
    assert terms == {"pars": 1.0, "config": 1.0, "file": 1.0, "configfil": 0.5}


@pytest.mark.parametrize(
    ("text", "single"),
    [("validate", True), ("`Session.validate()`", True), ("Foo::bar?", True), ("a.b.c", True),
     ("error-handling", False), ("foo(bar)", False), ("src/auth.py", False), ("a word", False)],
)  # fmt: skip
def test_one_name_is_distinguished_from_several_words(text: str, single: bool) -> None:
    assert analyse(text).single is single


def test_double_quotes_make_phrases() -> None:
    query = analyse('find "exact words" and "more of them" here')
    assert query.phrases == ("exact words", "more of them")


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("run only tests that failed last time", False),
        ("unit tests of the parser", False),
        ("parser tests", False),
        ("where is the parser tested", False),
        ("test that names are unique", False),
        ("add tests", False),
        ("parser", False),
        ("test", False),
        ("print the slowest tests", False),
        ("a client that sends requests in a test", True),
        ("how are test databases created", True),
        ("how plugin specs are parsed", True),
        ("temporary directory for a test", True),
    ],
)
def test_a_query_may_mention_tests_without_asking_for_them(text: str, mentions: bool) -> None:
    assert analyse(text).about_tests is mentions


def test_roles_are_those_the_words_ask_for() -> None:
    assert analyse("unit tests of the parser").roles == {"test"}
    assert analyse("README of the examples").roles == {"prose", "example"}
    assert analyse("parser").roles == frozenset()


def test_words_without_a_term_in_the_view_are_named_once() -> None:
    query = analyse("the frobnicate session frobnicate")
    assert query.unknown(frozenset({"session"})) == ["frobnicate"]


def test_fenced_code_weighs_less_and_names_nothing() -> None:
    query = analyse(
        'The lamp of `dark_room` is off\n```\nmy_lamp.light("at once")\n```\n"so it is"'
    )
    weights = {term.text: term.weight for term in query.terms}
    assert weights["lamp"] == weights["dark"] == 1.0
    assert weights["light"] == ranking_weights.CODE_TERM
    assert [name.parts for name in query.names] == [("dark_room",)]
    assert query.phrases == ("so it is",)
