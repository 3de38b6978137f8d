"""Words, names and sentences find the right results in the right order."""

from __future__ import annotations

import pytest
from ranking_index import Store, paths, places

from codelens.errors import QueryError, SettingError
from codelens.rank.search_request import MODES
from codelens.store.views.snapshot import Snapshot

SESSION = '''"""Sessions of users."""


class Session:
    """A user's session."""

    def validate(self, token):
        """Check the token of this session."""
        return token == self.token


def validate_session(session, token):
    """Validate a session against its token."""
    return session.validate(token)
'''
CART = '''"""The shopping cart."""


class Cart:
    def add(self, item):
        self.items.append(item)

    def validate(self):
        return bool(self.items)
'''
FILES = {
    "src/auth/session.py": SESSION,
    "src/shop/cart.py": CART,
    "src/shop/prices.py": "def price_of(item):\n    return item.price * 2\n",
    "tests/test_session.py": "def test_validate_session():\n    assert validate_session(s, t)\n",
    "README.md": "# Shop\n\nHow to validate a session: call validate_session.\n",
    "src/empty.py": "",
}


@pytest.mark.parametrize("query", ["validate_session", "validateSession", "ValidateSession"])
def test_a_name_is_found_in_any_convention_and_answers_with_its_definition(
    store: Store, query: str
) -> None:
    outcome = store.search(store.view(FILES), query)
    assert places(outcome)[0] == ("src/auth/session.py", 12, 14)
    assert outcome.results[0].kind == "symbol"
    assert outcome.results[0].line.startswith("def validate_session(")
    assert outcome.mode == "symbol"


def test_a_name_as_typed_comes_before_other_conventions(store: Store) -> None:
    view = store.view(
        {
            "a.py": "def load_user():\n    pass\n",
            "b.py": "def loadUser():\n    pass\n",
            "c.py": "def LoadUser():\n    pass\n",
        }
    )
    assert paths(store.search(view, "loadUser"))[0] == "b.py"
    assert paths(store.search(view, "LoadUser"))[0] == "c.py"
    assert len(store.search(view, "loadUser").results) == 3


def test_namesakes_come_by_score_and_then_by_path(store: Store) -> None:
    files = ("c.py", "a.py", "b/load_user.py", "tests/a.py")
    view = store.view({path: f"def load_user():\n    go({at})\n" for at, path in enumerate(files)})
    found = paths(store.search(view, "load_user"))
    assert found == ["b/load_user.py", "a.py", "c.py", "tests/a.py"]


@pytest.mark.parametrize("query", ["Session.validate", "Session::validate", "Session#validate"])
def test_a_qualified_name_leaves_out_its_namesakes(store: Store, query: str) -> None:
    outcome = store.search(store.view(FILES), query)
    assert places(outcome)[0] == ("src/auth/session.py", 7, 9)
    assert "src/shop/cart.py" not in paths(store.search(store.view(FILES, name="2"), query))[:1]


def test_a_module_may_stand_before_a_name(store: Store) -> None:
    outcome = store.search(store.view(FILES), "prices.price_of")
    assert places(outcome)[0] == ("src/shop/prices.py", 1, 2)


def test_an_owner_that_does_not_exist_is_reported(store: Store) -> None:
    outcome = store.search(store.view(FILES), "Basket.price_of")
    assert outcome.notes == ["no symbol `Basket.price_of`; there is `price_of` elsewhere"]


def test_a_slip_of_the_pen_is_offered_in_a_note_and_never_as_found(store: Store) -> None:
    outcome = store.search(store.view(FILES), "valdate_session")
    assert outcome.notes == ["no symbol `valdate_session`; nearest: `validate_session`"]
    assert all("defines" not in one.why for one in outcome.results)


def test_a_sentence_finds_the_file_that_is_about_it(store: Store) -> None:
    outcome = store.search(store.view(FILES), "how is the session of a user validated?")
    assert paths(outcome)[0] == "src/auth/session.py"
    assert outcome.mode == "auto"


def test_tests_and_prose_come_later_unless_they_are_asked_for(store: Store) -> None:
    view = store.view(FILES)
    plain = paths(store.search(view, "validate session token"))
    assert plain[0] == "src/auth/session.py"
    assert paths(store.search(view, "tests that validate session"))[0] == "tests/test_session.py"


def test_each_file_gives_one_place_before_any_gives_two(store: Store) -> None:
    long = "".join(f"def alpha_{n}():\n    return 'alpha {'x' * 1400}'\n\n\n" for n in range(8))
    view = store.view({"a.py": long, "b.py": "alpha = 1\n"})
    found = paths(store.search(view, "alpha beta", limit=6))
    assert sorted(found[:2]) == ["a.py", "b.py"]
    assert found[2:] == ["a.py"] * 4
    assert len(set(places(store.search(view, "alpha beta", limit=6)))) == 6


def test_the_path_alone_can_answer(store: Store) -> None:
    view = store.view(
        {"src/scheduler/queue.py": "x = 1\n", "src/other.py": "# a queue\n" * 3, "z.py": "y = 2\n"}
    )
    assert paths(store.search(view, "scheduler queue"))[0] == "src/scheduler/queue.py"


def test_no_word_known_is_an_empty_answer_that_says_so(store: Store) -> None:
    outcome = store.search(store.view(FILES), "quantum entanglement")
    assert outcome.results == []
    assert outcome.notes == ["no file here has `quantum`, `entanglement`"]


def test_quoted_words_must_stand_together(store: Store) -> None:
    view = store.view(
        {
            "a.py": "# rate limit rate limit rate limit\nlimit_rate = rate = limit = 1\n",
            "b.py": "x = 1\n# the limit of the rate is here\n",
        }
    )
    assert paths(store.search(view, 'rate "limit of the rate"'))[0] == "b.py"
    alone = store.search(view, '"limit of the rate"')
    assert (alone.mode, places(alone)) == ("text", [("b.py", 2, 2)])
    none = store.search(view, 'rate "limit is the rate"')
    assert none.notes == ["none of the best files contains the quoted words verbatim"]


def test_only_signs_or_stopwords_are_searched_for_as_text(store: Store) -> None:
    view = store.view({"a.py": "a != b\n", "b.py": "the end\n"})
    assert (store.search(view, "!=").mode, paths(store.search(view, "!="))) == ("text", ["a.py"])
    assert paths(store.search(view, "the")) == ["b.py"]


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\0", " \0 "])
def test_an_empty_query_is_refused(store: Store, query: str) -> None:
    with pytest.raises(QueryError, match="empty"):
        store.search(store.view(FILES), query)


@pytest.mark.parametrize(
    "query",
    [
        "a\0b", "🚀", '"', '""', '"unclosed', "a AND (b OR NOT c*", "NEAR(a b)", "%s%s%n",
        "../../etc", "\ud800", "a\ud800b", "x" * 10_000, "word " * 2_000, "C:\\src\\a.py:12",
        "a.b.c.d.e", "-", "::", "#", "Session.", ".validate", "naïve café", "检索 代码", "\u202e",
        "a:b:c", " ".join(f"word{n}" for n in range(1_500)), "'; DROP TABLE views; --", "(?P<x",
        "[", "**",
    ],
)  # fmt: skip
def test_any_text_is_answered(asked: tuple[Store, Snapshot], query: str) -> None:
    store, view = asked
    for mode in ("auto", "symbol", "text", "path"):
        found = store.search(view, query, mode=mode).mode
        assert found == mode if mode != "auto" else found in MODES


def test_a_long_query_counts_its_rarest_terms_and_says_so(store: Store) -> None:
    text = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(120))
    view = store.view({"a.py": text, "b.py": "wordaa"})
    outcome = store.search(view, f"{text} wordaa")
    assert paths(outcome)[0] == "a.py"
    assert "64 rarest terms" in outcome.notes[0]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"mode": "fuzzy"}, "mode must be one of .*not 'fuzzy'"),
        ({"content": "pictures"}, "content must be one of .*not 'pictures'"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"kinds": ("klass",)}, "kind must be one of .*not 'klass'"),
        ({"globs": ("",)}, "bad glob"),
    ],
)
def test_missing_targets_are_refused(store: Store, options: dict, problem: str) -> None:
    with pytest.raises((QueryError, SettingError), match=problem):
        store.search(store.view(FILES), "session", **options)


def test_the_shares_of_a_score_add_up_to_it(store: Store) -> None:
    view = store.view(FILES)
    for query in ("validate session", "validate", "Session.validate"):
        for one in store.search(view, query, explain=True).results:
            assert one.score == pytest.approx(sum(one.explain.values()))
    assert store.search(view, "validate").results[0].explain == {}


def test_a_file_and_line_answers_with_the_definition_there(store: Store) -> None:
    outcome = store.search(store.view(FILES), "src/auth/session.py:8")
    assert places(outcome) == [("src/auth/session.py", 7, 9)]
    assert outcome.mode == "path"
