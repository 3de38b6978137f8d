"""Statistics of a view for scoring, and the positions of its texts in the postings.

All statistics cover only the view's own files: documents of other views in a shared segment get
norms of zero, so they add nothing and need no test in the loops. They are built once per generation
of a view, from those of the previous generation, and cached with the connection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, repeat
from typing import NamedTuple

from codelens.rank import ranking_weights
from codelens.store.facts import postings
from codelens.store.facts.postings import SegmentDocs
from codelens.store.views.snapshot import Snapshot, StateCache
from codelens.store.views.views import FileRow

_KEPT_VIEWS = 4
_STALE = 2
"""Places are rebuilt once there are this many times as many as contents."""
# Each value grows with a new segment or shows that one was removed, so together they identify a set
# of segments.
_SEGMENTS_MARK = "SELECT MAX(id), COUNT(*), SUM(doc_count) FROM segments"


class Segment(NamedTuple):
    """One segment as the view sees it; lists are indexed by document number."""

    contents: Sequence[int]
    files: list[int] | None
    """How many files of the view have the content; None if each has exactly one."""
    odd: list[int]
    """Numbers of the documents with another count than one file."""
    body: list[float]
    """1 / BM25's length norm of the body, 0 if the content is not in the view."""
    names: list[float]
    docs: list[float]


class Corpus:
    """A view, ready to be scored."""

    def __init__(self, view: Snapshot, before: Corpus | None = None) -> None:
        row = view.row
        self.files_of: Mapping[int, list[FileRow]] = view.by_content
        """Content -> files of the view."""
        self.by_path_id = view.by_path_id
        self.file_count = max(row.files, 1)
        self.chunk_count = max(row.chunk_count, 1)
        self._docs = postings.segment_docs(view.db)
        self.place = self._places(before)
        """Content -> segment and number in it; includes contents of other views."""
        self._norms = (
            _Norms(row.body_terms / self.file_count, ranking_weights.BODY_B),
            _Norms(row.name_terms / self.file_count, ranking_weights.NAME_B),
            _Norms(row.doc_terms / self.file_count, ranking_weights.DOC_B),
        )
        self.segments: dict[int, Segment] = {}
        for number, docs in self._docs.items():
            segment = self._segment(docs)
            if segment is not None:
                self.segments[number] = segment
        per_chunk = 1.0 / self.chunk_count
        self.chunk_body = max(row.body_terms * per_chunk, 1e-9)
        """Mean number of body terms per chunk of the view; likewise for the other fields."""
        self.chunk_names = max(row.name_terms * per_chunk, 1e-9)
        self.chunk_docs = max(row.doc_terms * per_chunk, 1e-9)

    def _places(self, before: Corpus | None) -> dict[int, tuple[int, int]]:
        """Update the places of `before` with the segments written since; an edit writes one."""
        old_segments: Mapping[int, SegmentDocs] = {}
        places: dict[int, tuple[int, int]] = {}
        every = sum(len(docs.contents) for docs in self._docs.values())
        # Places may still contain removed contents; nothing looks these up.
        if before is not None and len(before.place) <= _STALE * every:
            old_segments, places = before._docs, before.place.copy()
        for number, docs in self._docs.items():
            # A segment's number may be reused; its blob identifies it.
            if number not in old_segments or old_segments[number].contents.obj != docs.contents.obj:
                places.update(zip(docs.contents.tolist(), zip(repeat(number), count())))  # noqa: B905
        return places

    def _segment(self, docs: SegmentDocs) -> Segment | None:
        contents = docs.contents.tolist()
        files = list(map(len, map(self.files_of.get, contents, repeat(()))))
        if not any(files):
            return None
        odd = [at for at, number in enumerate(files) if number != 1]
        absent = [at for at in odd if not files[at]]
        body, names, notes = self._norms
        return Segment(
            contents,
            files if odd else None,
            odd,
            body.of(docs.body_terms, absent),
            names.of(docs.name_terms, absent),
            notes.of(docs.doc_terms, absent),
        )


class _Norms(dict[int, float]):
    """Document length -> 1 / BM25's norm; many documents share a length."""

    def __init__(self, mean: float, b: float) -> None:
        super().__init__()
        self._slope = b / mean if mean > 0 else 0.0
        self._flat = 1.0 - b

    def __missing__(self, length: int) -> float:
        norm = self[length] = 1.0 / (self._flat + self._slope * length)
        return norm

    def of(self, lengths: memoryview[int], absent: Sequence[int]) -> list[float]:
        """Return the norms of some documents, 0 for absent ones."""
        norms = list(map(self.__getitem__, lengths.tolist()))
        for at in absent:
            norms[at] = 0.0
        return norms


_corpora = StateCache[Corpus](_KEPT_VIEWS)


def corpus_of(view: Snapshot) -> Corpus:
    """Return the corpus of a view, cached until the view or the segments change."""
    segments = view.db.row(_SEGMENTS_MARK) or ()
    return _corpora.value_of(view, lambda before: Corpus(view, before), *segments)
