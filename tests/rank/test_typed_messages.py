"""Error messages and log lines; quoted words; queries without a word to look up."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpu_growth import assert_linear
from ranking_index import Store, paths, places

from codelens.rank.pasted import message_origins

FILES = {
    "src/pool.py": (
        "import logging\n\n\ndef connect(host, tries):\n"
        "    logging.error('Connection to %s failed after %d retries: timeout=%s', host, tries, 1)"
        "\n"
    ),
    "src/split.py": (
        "def check(name):\n    raise ValueError(\n        f'The setting {name} must be a list '\n"
        "        f'and not a {type(name)}'\n    )\n"
    ),
    "src/other.py": (
        "# connection retries, failed timeouts: a connection that failed is retried\n"
        "def retries(connection, failed, timeout):\n    return connection\n"
    ),
    "src/ready.py": 'def ready():\n    raise RuntimeError("Apps aren\'t loaded yet.")\n',
    "tests/test_pool.py": (
        "def test_it():\n    assert 'Connection to db-1 failed after 3 retries: timeout=2.0'\n"
    ),
    "locale/de/x.po": 'msgid "Apps aren\'t loaded yet."\nmsgstr ""\n',
}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Connection to db-7 failed after 30 retries: timeout=5.0", "src/pool.py"),
        (
            "2024-01-02 03:04:05,123 ERROR [main] app.db: Connection to 10.0.0.1:5432 failed "
            "after 7 retries: timeout=0.5",
            "src/pool.py",
        ),
        ("ValueError: The setting 'hosts' must be a list and not a <class 'str'>", "src/split.py"),
        ("Connection to https://x/y failed after 7 retries: again?", "src/pool.py"),
        ("RuntimeError: Apps aren't loaded yet.", "src/ready.py"),
        ("Apps aren't loaded yet.", "src/ready.py"),
    ],
)
def test_a_message_is_found_where_it_is_written(asked, query: str, path: str) -> None:
    store, view = asked
    outcome = store.search(view, query)
    assert paths(outcome)[0] == path
    assert "message, line" in outcome.results[0].why


def test_values_are_left_out_and_named(asked) -> None:
    store, view = asked
    outcome = store.search(view, "Connection to db-7 failed after 30 retries: timeout=5.0")
    assert outcome.notes == ["read as a program's message; values not ranked: db-7, 30, 5.0"]


def test_tests_and_translations_come_after_the_source_of_a_message(asked) -> None:
    store, view = asked
    found = paths(store.search(view, "Connection to db-1 failed after 3 retries: timeout=2.0"))
    assert found[:2] == ["src/pool.py", "tests/test_pool.py"]
    shown = store.search(view, "Apps aren't loaded yet.").results
    assert [one.why for one in shown if one.file.path.endswith(b".po")] != [shown[0].why]
    assert shown[0].file.path == b"src/ready.py"


def test_a_message_that_is_written_nowhere_is_said(asked) -> None:
    store, view = asked
    outcome = store.search(view, "ERROR: the flux capacitor 12 overheated in connection 7")
    assert outcome.notes[1] == "the message was not found verbatim; its words were ranked"


@pytest.mark.parametrize(
    ("text", "runs", "values"),
    [
        ("user 'bob' not found", ("user", "not found"), ("'bob'",)),
        (
            "request 8f14e45f-ceea-467f-a8f2-8a1b2c3d4e5f took 12ms from 10.0.0.1:80",
            ("request", "took", "from"),
            ("8f14e45f-ceea-467f-a8f2-8a1b2c3d4e5f", "12ms", "10.0.0.1:80"),
        ),
        ("cannot open /etc/x.conf at 0x7fff", ("cannot open", "at"), ("/etc/x.conf", "0x7fff")),
    ],
)
def test_constant_words_are_distinguished_from_values(text: str, runs, values) -> None:
    found = message_origins.parse_message(text)
    assert found is not None
    assert (found.runs, found.values) == (runs, values)


@pytest.mark.parametrize(
    "text",
    [
        "how does HTTP 404 handling work", "validate session", "parse HTTP2 frames",
        "UTF-8 decoding of base64 strings", "where is the retry count set to 30?",
        "JSON schema generation from models", "add a timeout of 30 seconds", "ISO 8601 dates",
    ],
)  # fmt: skip
def test_questions_are_not_messages(text: str) -> None:
    assert message_origins.parse_message(text) is None


def test_quoted_words_among_others_are_shown_where_they_stand(asked) -> None:
    store, view = asked
    outcome = store.search(view, 'connection "failed after"')
    assert places(outcome)[0] == ("src/pool.py", 4, 5)
    assert outcome.results[0].why == "the quoted words, line 5"


def test_a_pattern_is_not_run_unasked_but_the_mode_is_named(asked) -> None:
    store, view = asked
    note = "this looks like a regular expression; mode=regex matches it as one"
    for query in ("conn.*failed", "/conn.*failed/", r"\bfailed\b", r"def \w+\(", "time[a-z]+"):
        assert note in store.search(view, query).notes
    for query in ("what is a.b?", "session.validate", "a[0]", "c++", "foo(bar)", "x.y.*", "*.py"):
        assert note not in store.search(view, query).notes


@pytest.mark.slow
@pytest.mark.parametrize("query", ["the", "how to do this", "!=", "-> ::", "...", "of the"])
def test_a_query_without_a_word_is_read_for_in_few_files_and_said(
    tmp_path: Path, query: str
) -> None:
    store = Store(tmp_path / "index.db")
    view = store.view({f"a/b{n % 7}/{n}.py": f"x = {n} != {n}\n" for n in range(350)})
    outcome = store.search(view, query)
    assert outcome.mode == "text"
    what = "common words and signs" if query[0].isalpha() else "signs"
    assert outcome.notes[0] == f"nothing but {what}: looked for as literal text"
    assert outcome.notes[1] == (
        "only 300 of 350 files were read, those in the uppermost folders; mode=text reads all"
    )


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"globs": ("!src", "!tests", "!locale")}, "the globs exclude every path here"),
        ({"globs": ("nowhere/**",)}, "no path here matches the globs"),
        (
            {"globs": ("locale/**",), "languages": ("python",)},
            "each filter matches files here, but none passes all of them",
        ),
        ({"globs": ("src/ready.py",)}, "1 file passes the filters; none matches the query"),
        ({"kinds": ("enum",)}, "no definition of kind enum matches the query"),
    ],
)
def test_filters_that_leave_nothing_are_named(asked, options: dict, note: str) -> None:
    store, view = asked
    outcome = store.search(view, "connection", **options)
    assert outcome.results == []
    assert note in outcome.notes


def test_a_word_that_nothing_has_is_an_empty_answer_with_a_note(asked) -> None:
    store, view = asked
    outcome = store.search(view, "zyxwvuts")
    assert (outcome.results, outcome.notes) == ([], ["nothing was found; try other words"])


@pytest.mark.parametrize("query", ["🚀 retries", "retries 🚀🚀", "повтор retries", "再试 retries"])
def test_the_known_part_of_a_mixed_query_is_found(asked, query: str) -> None:
    store, view = asked
    assert "src/other.py" in paths(store.search(view, query))[:3]


@pytest.mark.parametrize("pattern", ["'", "[", "1:", "a.", "ERROR ", "<"])
def test_time_for_a_hostile_message_grows_with_its_length(pattern: str) -> None:
    assert_linear(lambda text: message_origins.parse_message(text + " failed 12"), pattern, 3_000)
