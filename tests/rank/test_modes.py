"""Definitions, literal text, regular expressions and paths; and the filters."""

from __future__ import annotations

import pytest
from ranking_index import Store, paths, places

from codelens.errors import QueryError
from codelens.rank.modes import regex_analysis, regex_search

FILES = {
    "src/client.py": (
        "class HttpClient:\n    timeout = 3\n\n    def fetch(self, url):\n        return url\n"
    ),
    "src/server.py": "def fetch_all(urls):\n    return [fetch(url) for url in urls]  # Fetch!\n",
    "src/deep/er/util.go": "package er\n\nfunc Fetch(url string) string { return url }\n",
    "docs/guide.md": "# Guide\n\nCall fetch to fetch.\n",
    "tests/test_client.py": "def test_fetch():\n    HttpClient().fetch('x')\n",
}


def test_symbol_mode_returns_only_definitions(store: Store) -> None:
    outcome = store.search(store.view(FILES), "fetch", mode="symbol")
    assert all(one.symbol >= 0 for one in outcome.results)
    assert places(outcome)[:2] == [("src/client.py", 4, 5), ("src/deep/er/util.go", 3, 3)]
    assert "src/server.py" in paths(outcome)


def test_symbol_mode_without_a_match_offers_the_nearest_name(store: Store) -> None:
    outcome = store.search(store.view(FILES), "fetsh", mode="symbol")
    assert places(outcome) == [("src/client.py", 4, 5), ("src/deep/er/util.go", 3, 3)]
    assert {one.why for one in outcome.results} == {"near match: fetch"}
    assert outcome.notes == ["no symbol `fetsh`; nearest: `Fetch`, `fetch`"]


def test_text_is_found_in_any_case_unless_it_has_capitals(store: Store) -> None:
    view = store.view(FILES)
    assert len(set(paths(store.search(view, "fetch", mode="text")))) == 5
    assert set(paths(store.search(view, "Fetch", mode="text"))) == {
        "src/server.py",
        "src/deep/er/util.go",
    }


def test_text_gives_lines_with_their_text(store: Store) -> None:
    outcome = store.search(store.view(FILES), "return [fetch(url)", mode="text")
    assert places(outcome) == [("src/server.py", 2, 2)]
    assert outcome.results[0].line == "return [fetch(url) for url in urls]  # Fetch!"
    assert outcome.results[0].kind == "line"


def test_text_is_found_inside_words_and_over_lines(store: Store) -> None:
    view = store.view(FILES)
    assert paths(store.search(view, "ttpClie", mode="text")) == [
        "src/client.py",
        "tests/test_client.py",
    ]
    assert places(store.search(view, "url):\n        return", mode="text")) == [
        ("src/client.py", 4, 5)
    ]


def test_text_of_other_scripts_is_found(store: Store) -> None:
    view = store.view({"a.md": "# 检索代码\n", "b.md": "ÜBER alles\n", "c.md": "naïve\n"})
    assert paths(store.search(view, "索代", mode="text")) == ["a.md"]
    assert paths(store.search(view, "über", mode="text")) == ["b.md"]


def test_files_that_hold_the_words_are_enough_where_there_are_enough(store: Store) -> None:
    view = store.view({f"{n}.py": f"alpha{'' if n < 4 else 'bet'}\n{n}\n" for n in range(9)})
    few = store.search(view, "alpha", mode="text", limit=3)
    assert paths(few) == ["0.py", "1.py", "2.py"]
    assert few.notes == ["not looked at: 5 files that may contain it only inside longer words"]
    assert len(store.search(view, "alpha", mode="text", limit=20).results) == 9


def test_a_regular_expression_matches_line_by_line(store: Store) -> None:
    view = store.view(FILES)
    assert places(store.search(view, r"def \w+\(urls\)", mode="regex")) == [("src/server.py", 1, 1)]
    assert paths(store.search(view, r"^func\s+Fetch\b", mode="regex")) == ["src/deep/er/util.go"]
    assert store.search(view, r"nothing\d+here", mode="regex").results == []


def test_a_bad_pattern_is_refused(store: Store) -> None:
    view = store.view(FILES)
    for pattern in ("(", "[a", "*", "(?P<x", "a" * 2000, "(" * 900):
        with pytest.raises(QueryError, match="pattern"):
            store.search(view, pattern, mode="regex")


def test_a_pattern_without_end_ends_and_says_that_it_is_partial(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regex_search, "_GRACE_S", 0.2)
    view = store.view({"a.py": "x = 1\naab\n", "b.py": "a" * 60 + "!b\n", "c.py": "aab\n"})
    for seconds in (0.4, 4.0, 40.0):  # the longer ones for a busy machine
        outcome = store.search(view, "(a|aa)+b$", mode="regex", seconds=seconds)
        if outcome.results:
            break
    assert paths(outcome) == ["a.py"]
    assert outcome.notes == ["partial: time ran out with 2 files not looked at"]


def test_both_ways_of_running_a_pattern_agree(store: Store) -> None:
    view = store.view(FILES)
    tame, wild = r"f\w+", r"f\w+\w*"
    assert regex_analysis.is_tame(regex_analysis.compiled(tame)[1])
    assert not regex_analysis.is_tame(regex_analysis.compiled(wild)[1])
    one = store.search(view, tame, mode="regex", limit=50)
    other = store.search(view, wild, mode="regex", limit=50)
    assert places(one) == places(other) != []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"\bfoo\b", ("foo",)),
        (r"a foo b", ("foo",)),
        (r"def\s+foo\s*\(", ("foo",)),
        (r"(foo) \(bar\)", ("bar",)),
        (r"foo\w* bar.", ()),
        (r"\b(foo|bar)\b", ()),
        (r"\bfoo?\b", ()),
        (r"x (?i:Foo) y", ()),
        (r"^foo$", ("foo",)),
        (r"(?a)\bfoo\b", ()),
        (r"(?a:\bfoo\b) bar.", ()),
        (r"a(?:-?)+foo\b", ()),
        (r"a(\s*-?){2,}foo\b", ()),
        (r"\bfoo(.-)+", ()),
        (r"\bfoo(- )+", ("foo",)),
        (r"\bfoo(?:-?)+\s", ("foo",)),
    ],
)
def test_words_that_every_match_must_have(pattern: str, words: tuple[str, ...]) -> None:
    assert regex_analysis.sure_words(*regex_analysis.compiled(pattern)) == words


def test_ends_of_ascii_words_are_found_next_to_other_letters(store: Store) -> None:
    view = store.view({"a.py": "def éfoo():\n", "b.py": "foo\n", "c.py": "foofoo\n"})
    assert set(paths(store.search(view, r"(?a)\bfoo\b", mode="regex"))) == {"a.py", "b.py"}
    assert paths(store.search(view, r"\bfoo\b", mode="regex")) == ["b.py"]


@pytest.mark.parametrize(
    ("pattern", "is_found"),
    [
        ("needle_min", True),
        (r"(?i)\bNEEDLE_\w{3}\b", True),
        (r"needle_min=1;end$", True),
        (r"needle_min=\d;\w+$", True),
        (r"needle_min=\d+\w*;\w+$", True),
        (r"v7999.*needle_min", True),
        (r"^var v0=.*needle_min", True),
        (r"^needle_min", False),
        (r"v0=.*v3999=.*needle_min$", False),
        (r"v3999=[^;]*$", False),
        (r"v39\d+=\w*[^;]*$", False),
        (r"function alpha(?!.*needle_min)", False),
        (r"(?<=;)v3999=0;(?=v4000)", True),
        (r"v3999=0;\Bv4000", False),
        (r"(?i)kissed_\w+r\w*;", True),
        (r"(x|needle)+_min", True),
        (r"(x|needle)+_max", False),
    ],
)
def test_a_long_line_is_searched_to_its_end(store: Store, pattern: str, is_found: bool) -> None:
    parts, kissed = [f"v{number}=0" for number in range(8000)], "\u212a\u0131\u017f\u017fed"
    text = f"var {';'.join(parts)};function alpha(){{}};{kissed}_her;needle_min=1;end"
    outcome = store.search(
        store.view({"min.js": f"// short\n{text}\nlast\n"}), pattern, mode="regex"
    )
    assert places(outcome) == ([("min.js", 2, 2)] if is_found else [])
    if is_found:
        assert outcome.notes == []


def test_the_match_in_a_long_line_is_shown(store: Store) -> None:
    view = store.view({"min.js": f"{'var v=0;' * 4000}needle_min=1;{'var w=0;' * 900}\n"})
    for pattern in (r"needle_\w+", r"(n|need)+le_\w+"):
        (result,) = store.search(view, pattern, mode="regex").results
        assert "needle_min=1;var w=0;" in result.line
        assert len(result.line) <= 300


@pytest.mark.parametrize("pattern", ["v1=.*v9=", r"\d+;(v1)+=.*v9="])
def test_a_possible_match_in_a_long_line_is_reported(store: Store, pattern: str) -> None:
    text = f"x;v1=0;{'v2=0;' * 900}v9=0;" * 2
    view = store.view({"min.js": f"y{text}", "short.js": "0;v1=0;v9=0\n", "b.py": "v9\n"})
    outcome = store.search(view, pattern, mode="regex")
    assert paths(outcome) == ["short.js"]
    assert outcome.notes == ["not searched to the end: lines of over 2,000 characters in 1 file"]


@pytest.mark.parametrize(
    "pattern",
    [
        "[a-z]{30,}",
        r"\w+\?\w+",
        r"(?i)v\w*NEEDLE",
        r"^v1\w*=.*v9=",
        r"v1\w*=.*w3\w*=",
        r"v1==.{,900}v9",
    ],
)
def test_a_long_line_that_cannot_match_is_not_mentioned(store: Store, pattern: str) -> None:
    view = store.view(
        {"min.js": f"é\u0130\u0131\u017f\u212a;v1=0;{'v2=0;' * 900}w4=0;", "b.py": "v9\n"}
    )
    (note,) = store.search(view, pattern, mode="regex").notes
    assert note == "nothing was found; try other words"


def test_long_lines_end_with_their_share_of_the_time(store: Store) -> None:
    slow = "needle" + "a" * 300_000 + "\n"
    view = store.view({"min.js": slow, "z.py": "aab1\n"})
    for pattern in (r"\w+\d", r"(\w|-)+\d"):
        outcome = store.search(view, pattern, mode="regex", seconds=1.6)
        assert paths(outcome) == ["z.py"]
        assert outcome.notes[-1:] == [
            "not searched to the end: lines of over 2,000 characters in 1 file"
        ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("client", ["src/client.py", "tests/test_client.py"]),
        ("src/client.py", ["src/client.py"]),
        ("client.py", ["src/client.py", "tests/test_client.py"]),
        ("src/*.py", ["src/client.py", "src/server.py"]),
        ("**/*.go", ["src/deep/er/util.go"]),
        ("deep util", ["src/deep/er/util.go"]),
        ("CLIENT", []),
    ],
)
def test_path_mode_finds_files(store: Store, query: str, found: list[str]) -> None:
    outcome = store.search(store.view(FILES), query, mode="path")
    assert paths(outcome)[: len(found)] == found
    assert all(one.kind == "file" for one in outcome.results)


@pytest.mark.parametrize(
    "query", ["src/client.py", "client.py", "./src/client.py", "src\\client.py"]
)
def test_a_path_is_seen_without_a_mode(store: Store, query: str) -> None:
    outcome = store.search(store.view(FILES), query)
    assert (outcome.mode, paths(outcome)) == ("path", ["src/client.py"])


def test_a_folder_answers_with_its_files(store: Store) -> None:
    assert paths(store.search(store.view(FILES), "src/deep/")) == ["src/deep/er/util.go"]


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"languages": ("go",)}, {"src/deep/er/util.go"}),
        ({"globs": ("src/*.py",)}, {"src/client.py", "src/server.py"}),
        ({"globs": ("*.py", "!tests/**")}, {"src/client.py", "src/server.py"}),
        ({"globs": ("!src", "!tests")}, {"docs/guide.md"}),
        ({"globs": ("docs/[a-g&&||]*.md",)}, {"docs/guide.md"}),
        ({"globs": ("docs/[!a-f--/]*.md",)}, {"docs/guide.md"}),
        ({"globs": ("{docs,tests}/**",)}, {"docs/guide.md", "tests/test_client.py"}),
        ({"content": "prose"}, {"docs/guide.md"}),
        (
            {"content": "code"},
            {"src/client.py", "src/server.py", "src/deep/er/util.go", "tests/test_client.py"},
        ),
    ],
)
@pytest.mark.parametrize("query", ["fetch", "fetch url"])
@pytest.mark.parametrize("mode", ["auto", "text"])
def test_filters_include_what_they_name(
    store: Store, options: dict, left: set[str], query: str, mode: str
) -> None:
    words = "fetch" if mode == "text" else query
    outcome = store.search(store.view(FILES), words, mode=mode, limit=50, **options)
    assert set(paths(outcome)) == left


def test_kinds_leave_in_definitions_of_these_kinds(store: Store) -> None:
    view = store.view(FILES)
    assert places(store.search(view, "http client", kinds=("class",)))[0] == ("src/client.py", 1, 5)
    methods = store.search(view, "fetch url", kinds=("method",))
    assert places(methods)[0] == ("src/client.py", 4, 5)


def test_a_filter_that_matches_nothing_is_named(store: Store) -> None:
    view = store.view(FILES)
    assert store.search(view, "fetch", languages=("cobol",)).notes == [
        "no file here is in cobol; languages here: go, markdown, python"
    ]
    assert store.search(view, "fetch", globs=("lib/**",)).notes == [
        "no path here matches the globs"
    ]
    assert store.search(view, "fetch", kinds=("enum",)).notes == [
        "no definition of kind enum matches the query"
    ]


@pytest.mark.parametrize("query", ["\0", " \0 ", "\0\0"])
def test_a_query_of_nothing_but_nul_is_refused(store: Store, query: str) -> None:
    view = store.view(FILES)
    for mode in ("auto", "text"):
        with pytest.raises(QueryError, match=r"blank|empty"):
            store.search(view, query, mode=mode)


def test_blanks_before_a_query_do_not_hide_it(store: Store) -> None:
    view = store.view({"a.py": "def kindle_lamp(): pass\n"})
    assert paths(store.search(view, " " * 20_000 + "kindle_lamp")) == ["a.py"]


def test_words_that_spell_a_name_find_its_definition(store: Store) -> None:
    view = store.view(
        {
            "a.py": "def get():\n    return adapter\n\n\nadapter = get()\n" * 3,
            "z/last.py": "def get_adapter(url):\n    return url\n",
        }
    )
    for query in ("get adapter", "get-adapter", "Get Adapter"):
        assert paths(store.search(view, query))[0] == "z/last.py"
