"""Chunk scores of the candidates: BM25F over body, docs, names, file stem and folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.rank import weights
from codelens.rank.candidates import Weighed
from codelens.rank.corpus import Corpus
from codelens.rank.weights import K1
from codelens.store.rankreads import ChunkTable
from codelens.store.views import FileRow, PathFacts

_NO_CHUNKS = ChunkTable()
_Norms = tuple[float, float, float]


class Scored(NamedTuple):
    """What the chunks of one candidate are worth."""

    chunks: list[tuple[float, int]]
    """Score and position of each chunk that holds a term, best first."""
    whole: float
    """Of the whole file as one text."""
    held: int
    """Bit i is set when the text, a name or the path has term i."""
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
        self._chunks = chunks
        self._body = weights.BODY_B / corpus.chunk_body
        self._names = weights.NAME_B / corpus.chunk_names
        self._docs = weights.DOC_B / corpus.chunk_docs

    def score(self, file: FileRow, facts: PathFacts) -> Scored:
        """What the chunks of a file are worth."""
        place = self._corpus.place.get(file.content or 0)
        chunks = self._chunks.get(file.content or 0, _NO_CHUNKS)
        norms: dict[int, _Norms] = {}
        added: dict[int, float] = {}
        held = 0
        base = whole = 0.0
        named = False
        for number, (term, in_path) in enumerate(
            zip(self._terms, path_counts(facts, self._terms), strict=True)
        ):
            plain = term.weight * _saturated(in_path)
            base += plain
            row = term.hits.rows.get(place[0]) if term.hits and place else None
            entries = row.entries(place[1]) if row and place else ()
            if in_path or entries:
                held |= 1 << number
            if not entries or place is None:
                whole += plain
                continue
            named = named or bool(entries[0] & 0xFF)
            whole += term.weight * _saturated(self._whole_count(entries[0], place) + in_path)
            self._add(added, entries, chunks, norms, (term.weight, in_path, plain))
        found = [(base + more, chunk) for chunk, more in added.items()]
        if base and not found and len(chunks):
            found = [(base, 0)]
        found.sort(key=lambda one: (-one[0], one[1]))
        return Scored(found, whole, held, named)

    def _add(
        self,
        added: dict[int, float],
        entries: Sequence[int],
        chunks: ChunkTable,
        norms: dict[int, _Norms],
        term: tuple[float, float, float],
    ) -> None:
        """Add one term's share to each chunk that has it; what the path gives all is left out."""
        weight, in_path, plain = term
        top = weight * (K1 + 1.0)
        for entry in entries[1:]:
            chunk = entry >> 16
            known = norms.get(chunk)
            if known is None:
                known = norms[chunk] = self._chunk_norms(*chunks.lengths(chunk))
            count = (entry >> 8 & 0xFF) * known[0] + in_path
            if entry & 0xFF:
                count += (entry & 0xF) * known[1] + (entry >> 4 & 0xF) * known[2]
            added[chunk] = added.get(chunk, 0.0) + top * count / (count + K1) - plain

    def _chunk_norms(self, body: int, names: int, docs: int) -> _Norms:
        """What one occurrence in body, names and docs of such a chunk counts."""
        return (
            weights.BODY_WEIGHT / (1.0 - weights.BODY_B + self._body * body),
            weights.NAME_WEIGHT / (1.0 - weights.NAME_B + self._names * names),
            weights.DOC_WEIGHT / (1.0 - weights.DOC_B + self._docs * docs),
        )

    def _whole_count(self, total: int, place: tuple[int, int]) -> float:
        segment, at = self._corpus.segments[place[0]], place[1]
        return (
            (total >> 16) * weights.BODY_WEIGHT * segment.body[at]
            + (total & 0xFF) * weights.NAME_WEIGHT * segment.names[at]
            + (total >> 8 & 0xFF) * weights.DOC_WEIGHT * segment.docs[at]
        )


def path_counts(facts: PathFacts, terms: Sequence[Weighed]) -> list[float]:
    """The normed occurrences of each term in stem and folders."""
    stem, folders = facts.stem.split(), facts.folders.split()
    in_stem = weights.STEM_WEIGHT / (
        1.0 - weights.STEM_B + weights.STEM_B * len(stem) / weights.TYPICAL_STEM_TERMS
    )
    in_folders = weights.FOLDER_WEIGHT / (
        1.0 - weights.FOLDER_B + weights.FOLDER_B * len(folders) / weights.TYPICAL_FOLDER_TERMS
    )
    return [stem.count(one.text) * in_stem + folders.count(one.text) * in_folders for one in terms]


def _saturated(count: float) -> float:
    return (K1 + 1.0) * count / (count + K1)
