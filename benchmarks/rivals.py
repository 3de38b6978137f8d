"""The baselines: files by ripgrep's matches, and files by BM25.

Both get what a careful agent would give them: the query's words without English function words and
words of fewer than three letters. Ties break by path, so that runs can be compared.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.extract.tokenizer import STOPWORDS, WORD, count_terms, terms_of_text

K1, B = 1.2, 0.75
LARGEST_FILE = 1_000_000
_LEAST_LETTERS = 3
_WORDS = re.compile(r"\w+")


class Text(NamedTuple):
    """One file's text, counted once."""

    lower: str
    words: Mapping[str, int]
    """Lower-case runs of word characters, for plain BM25."""
    terms: Mapping[str, int]
    """Parts of identifiers, stemmed, as codelens splits them."""
    words_total: int
    terms_total: int


File = tuple[str, Text]
"""Path and text."""


def text_of(data: bytes) -> Text | None:
    """The text as the baselines see it; None for binary and huge files."""
    if len(data) > LARGEST_FILE or b"\0" in data[:8000]:
        return None
    plain = data.decode("utf-8", "replace")
    lower = plain.lower()
    words = Counter(_WORDS.findall(lower))
    terms = count_terms(WORD.findall(plain))
    return Text(lower, words, terms, words.total(), sum(terms.values()))


def words_of(query: str) -> list[str]:
    """The words to search for, lower-case, in order."""
    words = dict.fromkeys(word.lower() for word in _WORDS.findall(query))
    return [word for word in words if len(word) >= _LEAST_LETTERS and word not in STOPWORDS]


def by_matches(counts: Mapping[str, Sequence[int]]) -> list[str]:
    """Paths by the number of distinct words they hold, then by the number of matches.

    Args:
        counts: path -> how often each word matches, ignoring case, also inside longer words:
            what `rg -i --count-matches WORD` prints for each word.
    """
    rows = [(-sum(map(bool, row)), -sum(row), path) for path, row in counts.items() if any(row)]
    return [path for _, _, path in sorted(rows)]


def by_ripgrep(files: Sequence[File], query: str) -> list[str]:
    """`by_matches` of texts in memory, without hidden files, as ripgrep does."""
    words = words_of(query)
    return by_matches(
        {
            path: [text.lower.count(word) for word in words]
            for path, text in files
            if not path.startswith(".") and "/." not in path
        }
    )


def by_bm25(files: Sequence[File], query: str) -> list[str]:
    """Files as bags of lower-case words."""
    bags = [(path, text.words, text.words_total) for path, text in files]
    return _bm25(bags, words_of(query))


def by_bm25_parts(files: Sequence[File], query: str) -> list[str]:
    """Files as bags of stemmed parts of identifiers: the same with codelens' own tokens."""
    bags = [(path, text.terms, text.terms_total) for path, text in files]
    return _bm25(bags, list(dict.fromkeys(terms_of_text(query))))


def _bm25(bags: Sequence[tuple[str, Mapping[str, int], int]], asked: Sequence[str]) -> list[str]:
    mean = sum(size for _, _, size in bags) / max(1, len(bags)) or 1
    scores: dict[str, float] = {}
    for word in asked:
        holding = [(path, bag[word], size) for path, bag, size in bags if word in bag]
        idf = math.log(1 + (len(bags) - len(holding) + 0.5) / (len(holding) + 0.5))
        for path, count, size in holding:
            share = count * (K1 + 1) / (count + K1 * (1 - B + B * size / mean))
            scores[path] = scores.get(path, 0.0) + idf * share
    return sorted(scores, key=lambda path: (-scores[path], path))
