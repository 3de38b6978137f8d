"""Compares the wording of a definition with a question: its summary, and words that stand together.

BM25 counts the words of a body wherever they are. The first sentence of a doc says what the
definition is for, and two neighbouring words of the question that are neighbours here too
(*hash the password*: `hash_password`) are rarely so by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise

from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring.body_terms import TermNumbers, terms_by_word
from codelens.rank.scoring.candidates import Weighed

_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n\s*\n")
_WINDOW = 2
"""Neighbours are at most this many words apart, so that one stopword may be between them."""
_LINES = 300
"""Maximum number of lines of a definition that are read for neighbours."""


class Wording:
    """The wording of one question.

    Args:
        query: the question.
        terms: its weighed terms.
        numbers: the numbers of these terms in words.
    """

    def __init__(self, query: Query, terms: Sequence[Weighed], numbers: TermNumbers) -> None:
        self._numbers = numbers
        typed = {at: term.weight for at, term in enumerate(terms) if term.text in query.typed}
        self._weights = typed or {at: term.weight for at, term in enumerate(terms)}
        self._total = self._weight(self._weights) or 1.0
        sequence = [term for word in terms_by_word(" ".join(query.words), numbers) for term in word]
        self._pairs = {(a, b) for a, b in pairwise(sequence) if a != b}

    def summary(self, doc: str, name: str) -> float:
        """Return the share of the question's words in the first sentence of a doc or in a name."""
        sentence = _SENTENCE_END.split(doc.strip(), 1)[0]
        words = terms_by_word(f"{name} {' '.join(sentence.split())}", self._numbers)
        return self._weight({term for terms in words for term in terms}) / self._total

    def neighbours(
        self, lines: Sequence[str], by_line: Mapping[int, Set[int]], start: int, end: int
    ) -> float:
        """Return the share of the question's neighbouring words that are neighbours in a line.

        Args:
            lines: all lines of the file.
            by_line: line -> its terms, for lines with terms.
            start: the first line of the definition.
            end: its last line.
        """
        missing = set(self._pairs)
        for number in range(start, min(end, start + _LINES) + 1):
            terms = by_line.get(number, ())
            if len(terms) > 1 and any(a in terms and b in terms for a, b in missing):
                missing.difference_update(self._neighbours_in(lines[number - 1]))
        return 1.0 - len(missing) / len(self._pairs) if self._pairs else 0.0

    def _neighbours_in(self, line: str) -> set[tuple[int, int]]:
        places = [
            (at, term)
            for at, terms in enumerate(terms_by_word(line, self._numbers))
            for term in terms
        ]
        return {
            (term, other)
            for number, (at, term) in enumerate(places)
            for place, other in places[number + 1 :]
            if place - at <= _WINDOW
        }

    def _weight(self, terms: Iterable[int]) -> float:
        # In the order of the terms, since a sum of floats depends on the order.
        return sum(self._weights.get(term, 0.0) for term in sorted(terms))
