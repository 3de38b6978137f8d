"""Names as typed: any convention, qualified, declared, called, with signs, misspelled."""

from __future__ import annotations

from pathlib import Path

import pytest
from ranking_index import Store, paths, places

from codelens.rank.pasted.pasted_declarations import declared
from codelens.rank.query import near_matches
from codelens.store.facts import vocabulary

FILES = {
    "src/shop/session.py": (
        "class Session:\n    def validate(self, token):\n        return token == self.token\n\n\n"
        "def validate_session(session, token):\n    return session.validate(token)\n"
    ),
    "src/shop/cart.py": "class Cart:\n    def validate(self):\n        return bool(self.items)\n",
    "src/shop/__init__.py": "def open_shop():\n    return 1\n",
    "src/main/java/com/foo/Bar.java": (
        "package com.foo;\n\npublic class Bar {\n  public int method(int x) {\n    return x;\n  }\n"
        "}\n"
    ),
    "lib/valid.rb": (
        "class Form\n  def valid?\n    true\n  end\n\n  def valid\n    1\n  end\n\n"
        "  def save!\n    2\n  end\nend\n"
    ),
    "include/ops.h": (
        "#define MAX_SIZE 10\n\nstruct P { int x; P& operator=(const P& o); };\n\n"
        "bool operator==(const P& a, const P& b) { return a.x == b.x; }\n"
    ),
    "server/server.go": (
        "package server\n\ntype Server struct{ n int }\n\n"
        "func (s *Server) Handle(n int) int {\n\treturn n\n}\n\n"
        "type Client struct{}\n\nfunc (c *Client) Handle(n int) int {\n\treturn n\n}\n"
    ),
    "tests/test_session.py": "def validate_session(x):\n    return x\n",
    "web/all.js": "export function all(items) {\n  return items;\n}\n",
    "docs/guide.md": "# Guide\n\nHow to validate a session: call validate_session.\n",
}


@pytest.mark.parametrize(
    "query",
    [
        "validateSession", "validate_session", "validate-session", "ValidateSession",
        "VALIDATE_SESSION", "validate session", "validate_session(", "validate_session()",
        "def validate_session", "def validate_session(session, token):", "`validate_session`",
        "session.validate_session", "shop.session.validate_session(s, t)", "@validate_session",
        "self.validate_session(x)",
    ],
)  # fmt: skip
def test_a_name_is_found_however_it_is_written(asked, query: str) -> None:
    store, view = asked
    outcome = store.search(view, query)
    assert places(outcome)[0] == ("src/shop/session.py", 6, 7)
    assert outcome.results[0].symbol >= 0


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("Session.validate", ("src/shop/session.py", 2, 3)),
        ("Session::validate", ("src/shop/session.py", 2, 3)),
        ("Session#validate", ("src/shop/session.py", 2, 3)),
        ("Session->validate", ("src/shop/session.py", 2, 3)),
        ("Session.validate()", ("src/shop/session.py", 2, 3)),
        ("shop.cart.Cart.validate", ("src/shop/cart.py", 2, 3)),
        ("shop.Cart.validate", ("src/shop/cart.py", 2, 3)),
        ("shop.open_shop", ("src/shop/__init__.py", 1, 2)),
        ("com.foo.Bar.method", ("src/main/java/com/foo/Bar.java", 4, 6)),
        ("func (s *Server) Handle", ("server/server.go", 5, 7)),
        ("func (c *Client) Handle(n int) int {", ("server/server.go", 11, 13)),
        ("Server.Handle", ("server/server.go", 5, 7)),
        ("class Cart", ("src/shop/cart.py", 1, 3)),
        ("class Cart:", ("src/shop/cart.py", 1, 3)),
        ("public class Bar {", ("src/main/java/com/foo/Bar.java", 3, 7)),
        ("type Server struct {", ("server/server.go", 3, 3)),
        ("valid?", ("lib/valid.rb", 2, 4)),
        ("valid", ("lib/valid.rb", 6, 8)),
        ("Form#save!", ("lib/valid.rb", 10, 12)),
        ("operator==", ("include/ops.h", 5, 5)),
        ("operator ==", ("include/ops.h", 5, 5)),
        ("bool operator==(const P& a, const P& b)", ("include/ops.h", 5, 5)),
        ("#define MAX_SIZE", ("include/ops.h", 1, 1)),
        ("all", ("web/all.js", 1, 3)),
    ],
)
def test_the_intended_definition_comes_first(asked, query: str, place) -> None:
    store, view = asked
    assert places(store.search(view, query))[0] == place


def test_other_operators_do_not_answer_if_the_requested_one_exists(asked) -> None:
    store, view = asked
    shown = [
        one.line for one in store.search(view, "operator==").results if one.why == "defines it"
    ]
    assert all("operator==" in one for one in shown) and shown


def test_namesakes_in_tests_come_after_production_code_unless_asked_for(asked) -> None:
    store, view = asked
    found = [path for path in paths(store.search(view, "validate_session")) if path.endswith("py")]
    assert found[:2] == ["src/shop/session.py", "tests/test_session.py"]


def test_words_that_could_be_a_declaration_stay_words_without_such_a_definition(asked) -> None:
    store, view = asked
    assert store.search(view, "class validation").mode == "auto"
    assert store.search(view, "type of session").mode == "auto"


@pytest.mark.parametrize(
    "text", ["validate", "Session.validate", "how to call foo()", "class loading order", "a b"]
)
def test_plain_names_and_sentences_are_not_declarations(text: str) -> None:
    assert declared(text) is None


@pytest.mark.parametrize("query", ["valdate_session", "vaildateSession", "validate_sesion("])
def test_a_misspelled_name_gives_the_near_definition_marked_as_near(asked, query: str) -> None:
    store, view = asked
    outcome = store.search(view, query)
    assert places(outcome)[0] == ("src/shop/session.py", 6, 7)
    assert outcome.results[0].why == "near match: validate_session"
    assert all("defines it" not in one.why for one in outcome.results)
    assert "nearest: `validate_session`" in outcome.notes[0]


def test_a_misspelled_owner_gives_the_near_definition(asked) -> None:
    store, view = asked
    outcome = store.search(view, "Sesion.validate")
    assert places(outcome)[0] == ("src/shop/session.py", 2, 3)
    assert outcome.results[0].why == "near match: Session.validate"
    assert outcome.notes == ["no symbol `Sesion.validate`; nearest: `Session.validate`"]


def test_an_identifier_that_nothing_is_called_is_said(asked) -> None:
    store, view = asked
    assert store.search(view, "frobnicateAll").notes[0] == "no symbol `frobnicateAll`"


def test_a_near_match_stays_below_a_text_that_has_the_name_to_the_letter(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view({"a.py": "def load_users():\n    pass\n", "b.py": "x = call('load_user')\n"})
    outcome = store.search(view, "load_user")
    assert outcome.results[1].why == "name begins with load_user: load_users"
    assert paths(outcome)[:2] == ["b.py", "a.py"]


def test_a_misspelt_name_among_words_is_answered_with_the_near_one(asked) -> None:
    store, view = asked
    outcome = store.search(view, "who calls valdate_session for a cart")
    assert places(outcome)[0] == ("src/shop/session.py", 6, 7)
    assert outcome.results[0].why == "near match: validate_session"


def test_a_misspelt_word_is_ranked_as_the_word_of_the_view_and_said(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view(
        {
            "src/auth.py": "# the authentication of users\ndef middleware():\n    pass\n",
            "src/other.py": "def other_middleware():\n    pass\n",
        }
    )
    for slip in ("authentcation", "atuhentication", "authenticaton"):
        outcome = store.search(view, f"{slip} middleware")
        assert paths(outcome)[0] == "src/auth.py"
        assert outcome.notes == [f"no file here has `{slip}`; ranked with `authentication`"]


def test_a_right_word_that_the_view_lacks_is_not_taken_for_another(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view({"a.py": "# called results connect\ndef middleware():\n    pass\n"})
    outcome = store.search(view, "caller resolved context middleware")
    assert outcome.notes == ["no file here has `caller`, `resolved`, `context`"]


@pytest.mark.parametrize(
    ("one", "other", "steps"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "abxc", 1),
     ("abc", "axc", 1), ("abcd", "badc", 2), ("abc", "xyz", 3), ("", "ab", 2)],
)  # fmt: skip
def test_edits_are_counted(one: str, other: str, steps: int) -> None:
    assert min(near_matches.distance(one, other, 2), 3) == steps
    assert min(near_matches.distance(other, one, 2), 3) == steps


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        (vocabulary.BLOCKS_FROM, "(segment=? AND first_term>? AND first_term<?)"),
        (vocabulary.KEYS_FROM, "PRIMARY KEY (key>? AND key<?)"),
    ],
)
def test_near_matches_are_looked_up_by_an_index(tmp_path: Path, sql: str, index: str) -> None:
    db = Store(tmp_path / "index.db").db
    plan = " ".join(row[3] for row in db.rows("EXPLAIN QUERY PLAN " + sql, ("",) * sql.count("?")))
    assert index in plan


def test_a_name_with_accents_is_found_without_them_and_with(tmp_path: Path) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view({"a.py": "def cafe():\n    pass\n", "b.py": "def naïve():\n    pass\n"})
    assert paths(store.search(view, "café"))[0] == "a.py"
    assert paths(store.search(view, "naive"))[0] == "b.py"
    assert paths(store.search(view, "naïve"))[0] == "b.py"


@pytest.mark.parametrize("name", ["def", "class", "operator", "self", "ArgumentParser", "naïve"])
def test_a_plain_name_declares_nothing(name: str) -> None:
    """So its search reads no form of a declaration."""
    assert name.isidentifier()
    assert declared(name) is None
