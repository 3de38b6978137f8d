"""Scores the chunks of candidates, and preselects names and lines that can contain a term.

A header may define ten thousand names, and a query matches few. Searching all names at once for the
beginnings of terms leaves few to split and stem (about 5 us each).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress, islice, repeat
from operator import add, contains
from typing import NamedTuple

from codelens.rank import ranking_weights
from codelens.rank.ranking_weights import K1
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.view_statistics import Corpus
from codelens.store.facts.ranking_reads import BODY_WORD, CHUNK_WORDS, ChunkTable
from codelens.store.views.views import FileRow, PathFacts

MOST = 500
"""Maximum number of names of a file to compare: in a header of registers, thousands may share a
word."""
_DENSE = 8
"""If a beginning is in more than one of this many lines, each line is checked: a jump from one
match to the next costs as much as this many checks."""


@lru_cache(maxsize=64)
def beginnings(terms: tuple[str, ...]) -> tuple[str, ...]:
    """Return lower-case beginnings, of which every name with one of `terms` contains one.

    Underscores are ignored. Empty if there is no such beginning. Porter's stem is a prefix of the
    word except at its end: `y` becomes `i`, an `e` may be added, and `bil(ity)` becomes `bl(e)`.
    """
    starts: set[str] = set()
    for term in terms:
        if not term.isascii():
            continue  # occurs only in non-ASCII names, which are all checked
        start = term.replace("_", "")
        if start.endswith("ble"):
            start = start[:-2]
        elif start.endswith(("i", "e", "bl")):
            start = start[:-1]
        if not start:
            return ()
        starts.add(start)
    # A name with the longer one has the shorter, too: a compound starts with its first part.
    return tuple(
        sorted(start for start in starts if not any(o in start for o in starts if o != start))
    )


def holding(names: Sequence[str], starts: Sequence[str]) -> Iterable[int]:
    """Return ascending positions of names with one of `starts`; some may have no term.

    If there are more than `MOST`, return those with the most of `starts`, the first of equals.
    """
    text = "\n".join(names)
    if not starts or not text.isascii() or text.count("\n") != len(names) - 1:
        return range(len(names))  # names with non-ASCII letters or of two lines may match
    counts = _counts(text, starts)
    positions = list(compress(range(len(names)), counts))
    return _with_most(counts) if len(positions) > MOST else positions


def _counts(text: str, starts: Sequence[str]) -> list[int]:
    """Count for each line how many of `starts` it contains."""
    text = text.lower().replace("_", "")
    line_count = text.count("\n") + 1
    counts = [0] * line_count
    lines: list[str] = []
    for start in starts:
        times = text.count(start)
        if times * _DENSE > line_count:
            lines = lines or text.split("\n")
            counts = list(map(add, counts, map(contains, lines, repeat(start))))
        elif times:
            for at in _sparse(text, start):
                counts[at] += 1
    return counts


def _with_most(counts: Sequence[int]) -> list[int]:
    """Return ascending positions of the `MOST` greatest counts, the first of equals."""
    left = MOST
    for least, times in sorted(Counter(counts).items(), reverse=True):
        if times >= left:
            equals = islice((at for at, count in enumerate(counts) if count == least), left)
            return sorted([*(at for at, count in enumerate(counts) if count > least), *equals])
        left -= times
    return list(range(len(counts)))


def lines_holding(lines: Sequence[str], starts: Sequence[str]) -> Iterable[int]:
    """Return ascending positions of lines with one of `starts`; some may have no term."""
    if not starts:
        return range(len(lines))
    text = "\n".join(lines)
    positions = [at for at, count in enumerate(_counts(text, starts)) if count]
    if text.isascii():
        return positions
    # A beginning may contain an accent.
    return sorted({*positions, *(at for at, line in enumerate(lines) if not line.isascii())})


def _sparse(text: str, start: str) -> list[int]:
    """Find the lines with `start` if most lines lack it."""
    numbers: list[int] = []
    find, count = text.find, text.count
    number = counted = 0
    at = find(start)
    while at >= 0:
        number += count("\n", counted, at)
        numbers.append(number)
        counted = find("\n", at)
        if counted < 0:
            break
        at = find(start, counted)
    return numbers


# Scores the chunks of candidates by BM25F over body, docs, names, file stem and folders.

_NO_CHUNKS = ChunkTable()
_NO_PLACE = (-1, -1)
_BODY, _FLAT_BODY = ranking_weights.BODY_WEIGHT, 1.0 - ranking_weights.BODY_B


class Scored(NamedTuple):
    """The scores of one candidate's chunks."""

    chunks: list[tuple[float, int]]
    """Score and position of each chunk with a term, best first."""
    whole: float
    """Score of the whole file as one text."""
    term_bits: int
    """Bit i is set if the text, a name or the path has term i."""
    named: bool
    """Whether a symbol's name has one of the terms."""


class ChunkScorer:
    """Scores candidates of one query over one view."""

    def __init__(
        self,
        corpus: Corpus,
        terms: Sequence[Weighed],
        chunks: Mapping[int, ChunkTable],
    ) -> None:
        self._corpus = corpus
        self._terms = terms
        self._texts = frozenset(term.text for term in terms)
        self._nowhere = [0.0] * len(terms)
        self._chunks = chunks
        self._body = ranking_weights.BODY_B / corpus.chunk_body
        self._names = ranking_weights.NAME_B / corpus.chunk_names
        self._docs = ranking_weights.DOC_B / corpus.chunk_docs

    def score(self, file: FileRow, facts: PathFacts) -> Scored:
        """Score the chunks of a file."""
        segment, doc = self._corpus.place.get(file.content or 0, _NO_PLACE)
        chunks = self._chunks.get(file.content or 0, _NO_CHUNKS)
        body: dict[int, float] = {}
        added: dict[int, float] = {}
        doc_bits = 0
        base = whole = 0.0
        named = False
        for number, (term, in_path) in enumerate(
            zip(self._terms, self._path_counts(facts), strict=True)
        ):
            plain = 0.0
            if in_path:
                plain = term.weight * _saturated(in_path)
                base += plain
                doc_bits |= 1 << number
            row = term.hits.rows.get(segment) if term.hits else None
            total = row.total(doc) if row is not None else 0
            if row is None or not total:
                whole += plain
                continue
            doc_bits |= 1 << number
            named = named or bool(total & 0xFF)
            whole += term.weight * _saturated(self._whole_count(total, segment, doc) + in_path)
            self._add(added, row.entries(doc), chunks, body, (term.weight, in_path, plain))
        # Sorts tuples, since a key costs a call for each; the first chunk of equals wins.
        ordered = sorted([(base + more, -chunk) for chunk, more in added.items()], reverse=True)
        ordered = [(score, -chunk) for score, chunk in ordered]
        if base and not ordered and len(chunks):
            ordered = [(base, 0)]
        return Scored(ordered, whole, doc_bits, named)

    def _path_counts(self, facts: PathFacts) -> list[float]:
        stem, folders = facts.stem.split(), facts.folders.split()
        if self._texts.isdisjoint(stem) and self._texts.isdisjoint(folders):
            return self._nowhere
        return path_counts(facts, self._terms)

    def _add(
        self,
        added: dict[int, float],
        entries: list[int],
        chunks: ChunkTable,
        body: dict[int, float],
        term: tuple[float, float, float],
    ) -> None:
        """Add one term's share to each chunk that has it, without the path's share of all chunks.

        `body` has the value of one occurrence in the body of each chunk.
        """
        weight, in_path, plain = term
        top = weight * (K1 + 1.0)
        lengths = chunks.words
        for entry in entries:
            chunk = entry >> 16
            norm = body.get(chunk)
            if norm is None:
                length = lengths[chunk * CHUNK_WORDS + BODY_WORD]
                norm = body[chunk] = _BODY / (_FLAT_BODY + self._body * length)
            count = (entry >> 8 & 0xFF) * norm + in_path
            if entry & 0xFF:
                count += self._field_counts(entry, chunk * CHUNK_WORDS + BODY_WORD, lengths)
            added[chunk] = added.get(chunk, 0.0) + top * count / (count + K1) - plain

    def _field_counts(self, entry: int, at: int, lengths: Sequence[int]) -> float:
        """Return the value of the occurrences in names and docs of a chunk."""
        count = 0.0
        if entry & 0xF:
            norm = ranking_weights.NAME_WEIGHT / (
                1.0 - ranking_weights.NAME_B + self._names * lengths[at + 1]
            )
            count = (entry & 0xF) * norm
        if entry & 0xF0:
            norm = ranking_weights.DOC_WEIGHT / (
                1.0 - ranking_weights.DOC_B + self._docs * lengths[at + 2]
            )
            count += (entry >> 4 & 0xF) * norm
        return count

    def _whole_count(self, total: int, number: int, at: int) -> float:
        segment = self._corpus.segments[number]
        return (
            (total >> 16) * ranking_weights.BODY_WEIGHT * segment.body[at]
            + (total & 0xFF) * ranking_weights.NAME_WEIGHT * segment.names[at]
            + (total >> 8 & 0xFF) * ranking_weights.DOC_WEIGHT * segment.docs[at]
        )


def path_counts(facts: PathFacts, terms: Sequence[Weighed]) -> list[float]:
    """Return the normalised occurrences of each term in stem and folders."""
    stem, folders = facts.stem.split(), facts.folders.split()
    in_stem = ranking_weights.STEM_WEIGHT / (
        1.0
        - ranking_weights.STEM_B
        + ranking_weights.STEM_B * len(stem) / ranking_weights.TYPICAL_STEM_TERMS
    )
    in_folders = ranking_weights.FOLDER_WEIGHT / (
        1.0
        - ranking_weights.FOLDER_B
        + ranking_weights.FOLDER_B * len(folders) / ranking_weights.TYPICAL_FOLDER_TERMS
    )
    return [
        stem.count(term.text) * in_stem + folders.count(term.text) * in_folders for term in terms
    ]


def _saturated(count: float) -> float:
    return (K1 + 1.0) * count / (count + K1)
