"""How much each term of a question tells of the definition that is meant, as against the file.

A file answers by holding many of the words; which of its definitions is meant, those say that are
said again, and those of the first line: of a message the rest explains.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from codelens.extract.tokenizer import terms_of_text, terms_of_word
from codelens.rank import ranking_weights
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring.candidates import Weighed


def emphasised(query: Query, terms: Sequence[Weighed]) -> list[Weighed]:
    """The terms, in their order, weighed for the bodies of definitions.

    The logarithm of how often a term is said is the usual damping of its frequency (Salton and
    Buckley, "Term-weighting approaches in automatic text retrieval", 1988).
    """
    times = Counter(term for word in query.words for term in terms_of_word(word))
    first_line, _, rest = query.text.partition("\n")
    leading = frozenset(terms_of_text(first_line if rest else ""))

    def emphasis(term: str) -> float:
        damped = 1.0 + math.log(max(times[term], 1))
        return damped * (ranking_weights.LEADING_LINE if term in leading else 1.0)

    return [term._replace(weight=term.weight * emphasis(term.text)) for term in terms]
