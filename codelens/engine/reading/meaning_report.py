"""What is known of the table of words, of a view by it, and of a question by it."""

from __future__ import annotations

from codelens.answers.meaning_answers import MeaningStatus, MeaningTest, MeantWord
from codelens.engine.current_view import CurrentView
from codelens.engine.embedding.provider_report import provider_status
from codelens.errors import QueryError
from codelens.extract.tokenizer import WORD, count_terms
from codelens.meaning import word_table
from codelens.meaning.near_words import near_words
from codelens.meaning.word_table import Head, WordTableDamaged
from codelens.store.facts import chunk_vectors

_NEAR_A_WORD, _NEAR_ALL = 6, 12


def status(view: CurrentView) -> MeaningStatus:
    """See `Engine.meaning_status`."""
    head, damage = Head(0, 0, 0, ""), ""
    try:
        head = word_table.shipped().head
    except WordTableDamaged as error:
        damage = str(error)
    snapshot = view.snapshot
    vectors = chunk_vectors.vectors_of(snapshot.db, sorted(snapshot.by_content), head.version)
    return MeaningStatus(
        view.receipt(), view.settings.meaning, damage, head.version, head.digest, head.terms,
        head.dimension, len(snapshot.by_content), len(vectors), sum(map(len, vectors.values())),
        provider_status(view),
    )  # fmt: skip


def test(query: str) -> MeaningTest:
    """See `Engine.meaning_test`."""
    if not query.strip():
        raise QueryError("the query is empty; give words or a sentence")
    table = word_table.shipped()
    counts = count_terms(WORD.findall(query))
    words = tuple(
        MeantWord(
            term, term in table.number, tuple(near_words(table, {term: 1}, _NEAR_A_WORD, {term}))
        )
        for term in counts
    )
    return MeaningTest(query, words, tuple(near_words(table, counts, _NEAR_ALL, counts)))
