"""The ranking by meaning as text and as values for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from codelens.answers.meaning_answers import MeaningStatus, MeaningTest
from codelens.plurals import count_of
from codelens.render.meaning import provider_text
from codelens.render.reading_json import Json, receipt

_SHORT_DIGEST = 12


def status_json(answer: MeaningStatus) -> Json:
    """The same as plain values."""
    fields = asdict(answer)
    del fields["receipt"]
    return {"receipt": receipt(answer.receipt), "meaning": fields}


def status_lines(answer: MeaningStatus) -> list[str]:
    """The table, the view, then the provider."""
    lines = [f"ranking by meaning: {'on' if answer.on else 'off (the setting `meaning`)'}"]
    by_provider = provider_text.status_lines(answer.provider)
    if answer.damage:
        return [*lines, answer.damage, *by_provider]
    return [
        *lines,
        f"table: version {answer.version}, {answer.words:,} words of {answer.dimension} numbers, "
        f"SHA-256 {answer.digest[:_SHORT_DIGEST]}",
        f"vectors: {answer.with_vectors:,} of {count_of(answer.contents, 'text')}, "
        f"{count_of(answer.vector_bytes, 'byte')}",
        *by_provider,
    ]


def test_json(answer: MeaningTest) -> Json:
    """The same as plain values."""
    return asdict(answer)


def test_lines(answer: MeaningTest) -> list[str]:
    """Each word with its neighbours, then those of the whole question."""
    lines = [
        f"{word.term}: {_near(word.near) if word.known else 'not in the table'}"
        for word in answer.words
    ]
    return [*lines, f"together: {_near(answer.near) or 'nothing'}"]


def _near(words: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{term} {cosine:.2f}" for term, cosine in words)
