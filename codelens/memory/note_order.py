"""In which order notes are shown: by their text, their age, and how near they are to what is shown.

`NoteOrder` is asked for the score of each note. Its weights are chosen, not fitted;
`benchmarks/note_weights.py` measures what each is worth.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from codelens.extract.tokenizer import terms_of_text
from codelens.store.saved.context_rows import Context

HALF_LIFE_S = 7 * 86_400
"""After so many seconds the recency of a note is half of what it was."""
_SATURATION, _LENGTH = 1.2, 0.75
"""k1 and b of BM25."""


class NoteWeights(NamedTuple):
    """What each signal of a note counts."""

    text: float = 0.45
    """BM25 of the question over name, tags, note and places, as a share of the best note's."""
    cosine: float = 0.25
    """Cosine of the term vectors (tf-idf) of question and note."""
    recency: float = 0.10
    """1 for a note of now, half as much for each `HALF_LIFE_S`."""
    nearness: float = 0.20
    """1 for a note on what was looked for, less for one on what stands beside it."""
    stale: float = -0.15
    """1 for a note whose code has changed since."""


class NoteOrder:
    """The scores of notes for one question.

    Args:
        notes: all of a repository: how rare a term is is told by them.
        question: what was asked; empty where it was no text.
        now_s: seconds since 1970.
        weights: what each signal counts.
    """

    def __init__(
        self,
        notes: Sequence[Context],
        question: str,
        now_s: float,
        weights: NoteWeights | None = None,
    ) -> None:
        self._weights = weights or NoteWeights()
        self._now_s = now_s
        self._terms = {note.name: Counter(_terms_of(note)) for note in notes}
        counts = Counter(term for terms in self._terms.values() for term in terms)
        count = len(notes)
        self._rarity = {
            term: math.log(1 + (count - seen + 0.5) / (seen + 0.5)) for term, seen in counts.items()
        }
        lengths = [sum(terms.values()) for terms in self._terms.values()]
        self._mean = sum(lengths) / len(lengths) if lengths else 1.0
        self._asked = Counter(term for term in terms_of_text(question) if term in self._rarity)
        self._text = {name: self._bm25(terms) for name, terms in self._terms.items()}
        self._best = max(self._text.values(), default=0.0)

    def score(self, note: Context, nearness: float, *, stale: bool) -> float:
        """The score of a note; the higher the better.

        Args:
            note: one of those given at first.
            nearness: 0 to 1, how near it is to what is shown.
            stale: its code has changed.
        """
        weights = self._weights
        age_s = max(self._now_s - note.saved_s, 0.0)
        return (
            weights.text * (self._text[note.name] / self._best if self._best else 0.0)
            + weights.cosine * self._cosine(self._terms[note.name])
            + weights.recency * 0.5 ** (age_s / HALF_LIFE_S)
            + weights.nearness * nearness
            + weights.stale * stale
        )

    def _bm25(self, terms: Mapping[str, int]) -> float:
        length = sum(terms.values())
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * length / self._mean)
        return sum(
            self._rarity[term] * terms[term] * (_SATURATION + 1) / (terms[term] + norm)
            for term in sorted(self._asked)
            if term in terms
        )

    def _cosine(self, terms: Mapping[str, int]) -> float:
        shared = sorted(term for term in self._asked if term in terms)
        if not shared:
            return 0.0
        product = sum(self._asked[term] * terms[term] * self._rarity[term] ** 2 for term in shared)
        return product / (self._norm(self._asked) * self._norm(terms))

    def _norm(self, terms: Mapping[str, int]) -> float:
        return math.sqrt(sum((terms[term] * self._rarity[term]) ** 2 for term in sorted(terms)))


def _terms_of(note: Context) -> Iterable[str]:
    # The code that a note is tied to is what brings it here: its places tell nothing more.
    return terms_of_text(" ".join((note.name, note.category, *note.tags, note.note)))
