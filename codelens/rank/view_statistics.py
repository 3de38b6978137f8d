"""What scoring needs of a view as a whole: its statistics, and where its texts lie in the postings.

Everything here comes from the view's own files: documents of other views in a shared segment get
norms of zero, so they add nothing and need no test in the loops. Built once a generation of a
view, from that of the generation before, and kept with the connection.
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
"""So many times as many places as there are contents are too many."""
# Both only grow or show a removal: together they tell any two sets of segments apart.
_SEGMENTS_MARK = "SELECT MAX(id), COUNT(*), SUM(doc_count) FROM segments"


class Segment(NamedTuple):
    """One segment as the view sees it; lists are by the document's number in it."""

    contents: Sequence[int]
    files: list[int] | None
    """How many files of the view have the content; None where each has exactly one."""
    odd: list[int]
    """Numbers of the documents that have not exactly one file."""
    body: list[float]
    """1 / BM25's length norm of the body, 0 where the content is not in the view."""
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
        """Content -> segment, number in it; of contents of other views too."""
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
        """Mean number of body terms in a chunk of the view; so on for the other fields."""
        self.chunk_names = max(row.name_terms * per_chunk, 1e-9)
        self.chunk_docs = max(row.doc_terms * per_chunk, 1e-9)

    def _places(self, before: Corpus | None) -> dict[int, tuple[int, int]]:
        """As they were before but for segments that were written since: an edit writes one."""
        known: Mapping[int, SegmentDocs] = {}
        places: dict[int, tuple[int, int]] = {}
        every = sum(len(docs.contents) for docs in self._docs.values())
        # Contents that were removed stay among the places, and are not asked for.
        if before is not None and len(before.place) <= _STALE * every:
            known, places = before._docs, before.place.copy()
        for number, docs in self._docs.items():
            # A number may be given to another segment; all that is known of one is in one blob.
            if number not in known or known[number].contents.obj != docs.contents.obj:
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
    """Length of a document -> 1 / BM25's norm of it: many have the same."""

    def __init__(self, mean: float, b: float) -> None:
        super().__init__()
        self._slope = b / mean if mean > 0 else 0.0
        self._flat = 1.0 - b

    def __missing__(self, length: int) -> float:
        norm = self[length] = 1.0 / (self._flat + self._slope * length)
        return norm

    def of(self, lengths: memoryview[int], absent: Sequence[int]) -> list[float]:
        """Those of some documents, 0 for the absent."""
        norms = list(map(self.__getitem__, lengths.tolist()))
        for at in absent:
            norms[at] = 0.0
        return norms


_corpora = StateCache[Corpus](_KEPT_VIEWS)


def corpus_of(view: Snapshot) -> Corpus:
    """The corpus of a view, from memory where neither the view nor the segments changed."""
    segments = view.db.row(_SEGMENTS_MARK) or ()
    return _corpora.value_of(view, lambda before: Corpus(view, before), *segments)
