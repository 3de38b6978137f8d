"""How much a file means what the question says, by the vectors of its chunks.

The one feature that sees what no word of the question names. It is computed for candidates alone,
and only where all of them have vectors by the shipped table: otherwise a file would stand lower for
having been indexed later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from codelens.extract.tokenizer import WORD, count_terms
from codelens.meaning import word_table
from codelens.meaning.question_likeness import QuestionLikeness, by_vectors
from codelens.meaning.text_vectors import said_vector
from codelens.meaning.word_table import WordTableDamaged
from codelens.plurals import count_of
from codelens.rank import ranking_weights
from codelens.store.database.database import Database
from codelens.store.facts import chunk_vectors

if TYPE_CHECKING:
    from codelens.rank.common_scale import CommonScale


class Candidate(NamedTuple):
    """A file to be judged."""

    content: int | None
    measured: bool
    """It sets the scale: its role is not pushed down."""


class Meaning(NamedTuple):
    """The feature of each candidate, in their order, or why there is none."""

    features: Sequence[float]
    missing: str = ""
    damaged: bool = False
    """The table of words cannot be read."""


NOT_ASKED = Meaning(())


def meaning(
    db: Database,
    text: str,
    candidates: Sequence[Candidate],
    likeness: QuestionLikeness | None = None,
    common: CommonScale | None = None,
) -> Meaning:
    """How much each candidate means what `text` says: 1 for the best, 0 for one in the middle.

    By `likeness` where there is one, which may lack candidates; else by the table of words, with
    `common` on the scale of all its views.
    """
    if common is not None and common.lacks_meaning:
        return Meaning([0.0] * len(candidates))
    known = _by_vectors(db, text, candidates, likeness, common)
    if common is not None and known.missing:
        common.lacks_meaning = True
    return known


def _by_vectors(
    db: Database,
    text: str,
    candidates: Sequence[Candidate],
    likeness: QuestionLikeness | None,
    common: CommonScale | None,
) -> Meaning:
    if likeness is not None:
        values = [likeness.of_content(candidate.content) for candidate in candidates]
        return Meaning(_scaled(values, candidates, text, common))
    nothing = [0.0] * len(candidates)
    try:
        table = word_table.shipped()
    except WordTableDamaged as error:
        return Meaning(nothing, str(error), damaged=True)
    query_vector = said_vector(table, count_terms(WORD.findall(text)))
    if not query_vector:
        return Meaning(nothing, "the table of words has none of the question")
    contents = {candidate.content for candidate in candidates if candidate.content is not None}
    vectors = chunk_vectors.vectors_of(db, sorted(contents), table.head.version)
    if len(vectors) < len(contents):
        lacking = count_of(len(contents) - len(vectors), "candidate")
        return Meaning(nothing, f"{lacking} of {len(contents)} have no vectors yet")
    likeness = by_vectors("the table of words", query_vector, vectors, 1)
    values = [likeness.of_content(candidate.content) for candidate in candidates]
    return Meaning(_scaled(values, candidates, text, common))


def _scaled(
    values: Sequence[float | None],
    candidates: Sequence[Candidate],
    text: str = "",
    common: CommonScale | None = None,
) -> list[float]:
    known = [
        value
        for value, candidate in zip(values, candidates, strict=True)
        if value is not None and candidate.measured
    ] or [value for value in values if value is not None]
    if common is not None:
        known = common.cosines(text, known)
    if not known:
        return [0.0] * len(values)
    known.sort()
    middle = (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2
    span = known[-1] - middle
    if span <= 0:
        return [0.0] * len(values)
    least = ranking_weights.LEAST_MEANING
    return [
        0.0 if value is None else min(1.0, max(least, (value - middle) / span)) for value in values
    ]
