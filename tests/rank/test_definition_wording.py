"""Definitions by their wording: the first sentence of the doc, and neighbouring words."""

from __future__ import annotations

import pytest
from ranking_index import Store

from codelens.rank import search_pipeline
from codelens.rank.query.query_analysis import analyse
from codelens.rank.scoring.body_terms import TermNumbers
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.definition_wording import Wording
from codelens.rank.search_request import Request
from codelens.store.views.views import FileRow

QUESTION = "where do we hash the password of a user"


def wording(weights: dict[str, float]) -> Wording:
    terms = [Weighed(term, weight, None, frozenset()) for term, weight in weights.items()]
    return Wording(analyse(QUESTION), terms, TermNumbers(list(weights)))


def test_the_summary_counts_the_weights_of_its_words() -> None:
    words = wording({"hash": 2.0, "password": 1.0, "user": 1.0})
    assert words.summary("Hash and salt.", "make") == 0.5
    assert words.summary("Salt it.", "password_of") == 0.25
    assert words.summary("", "make") == 0.0


@pytest.mark.parametrize("doc", ["Salt it. Then hash the password.", "Salt it\n\nHash it"])
def test_only_the_first_sentence_of_a_doc_is_its_summary(doc: str) -> None:
    assert wording({"hash": 2.0, "password": 1.0}).summary(doc, "make") == 0.0


@pytest.mark.parametrize(
    ("line", "share"),
    [
        ("hash_password(salt)", 0.5),
        ("hash the password", 0.5),
        ("hash(salt, pepper, oil, password)", 0.0),
        ("password.hash()", 0.0),
        ("hashPassword(password, user)", 1.0),
    ],
)
def test_neighbours_of_the_question_stand_together_and_in_its_order(
    line: str, share: float
) -> None:
    words = wording({"hash": 1.0, "password": 1.0, "user": 1.0})
    assert words.neighbours(["user", line], {1: {2}, 2: {0, 1, 2}}, 1, 2) == share


def test_a_file_is_shown_by_the_definition_whose_doc_says_it(store: Store) -> None:
    first = 'def spread(wick, flame, smoke):\n    """Put wick and flame where smoke is."""\n'
    body = "    flame.drop(wick)\n    smoke.drop(wick)\n    wick.drop(smoke)\n    return wick\n"
    second = 'def run(lamp):\n    """Drop the wick when smoke comes."""\n    lamp.go()\n'
    files = {"lamp.py": f"{first}{body}\n\n{second}"}

    def read(file: FileRow) -> bytes:
        return files[file.path.decode()].encode()

    view = store.view(files)
    results = search_pipeline.search(view, Request("drop the wick when smoke comes"), read).results
    assert results[0].start_line == 9


def test_a_file_whose_definition_says_it_rises(store: Store) -> None:
    called = (
        "def put(drop):\n    drop.wick()\n    comes.drop()\n    return smoke(drop.wick, smoke)\n"
    )
    said = 'def run(lamp):\n    """Drop the wick when smoke comes."""\n    return lamp.go()\n'
    files = {"lamp.py": called, "oil.py": said}
    view = store.view(files)

    def first(question: str) -> list[tuple[bytes, float]]:
        request = Request(question, explain=True)
        results = search_pipeline.search(
            view, request, lambda file: files[file.path.decode()].encode()
        ).results
        return [(result.file.path, result.explain.get("wording", 0.0)) for result in results]

    (path, raised), (_, other) = first("drop the wick when smoke comes")
    assert (path, raised > other) == (b"oil.py", True)
    assert first('"drop.wick" when smoke comes')[0] == (b"lamp.py", 0.0)
