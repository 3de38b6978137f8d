"""What scoring needs of a view as a whole: its statistics, and where its texts lie in the postings.

Everything here comes from the view's own files: documents of other views in a shared segment get
norms of zero, so they add nothing and need no test in the loops. Built once a generation of a
view and kept with the connection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from weakref import WeakKeyDictionary

from codelens.light_library import NamedTuple
from codelens.rank import ranking_weights
from codelens.store.database.database import Database
from codelens.store.facts import postings
from codelens.store.facts.postings import SegmentDocs
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

_KEPT_VIEWS = 4
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

    def __init__(self, view: Snapshot) -> None:
        row = view.row
        self.files_of: Mapping[int, list[FileRow]] = view.by_content
        """Content -> files of the view."""
        self.by_path_id = view.by_path_id
        self.file_count = max(row.files, 1)
        self.chunk_count = max(row.chunk_count, 1)
        self._row = row
        self.segments: dict[int, Segment] = {}
        self.place: dict[int, tuple[int, int]] = {}
        """Content -> segment, number in it."""
        for number, docs in postings.segment_docs(view.db).items():
            segment = self._segment(number, docs)
            if segment is not None:
                self.segments[number] = segment
        per_chunk = 1.0 / self.chunk_count
        self.chunk_body = max(row.body_terms * per_chunk, 1e-9)
        """Mean number of body terms in a chunk of the view; so on for the other fields."""
        self.chunk_names = max(row.name_terms * per_chunk, 1e-9)
        self.chunk_docs = max(row.doc_terms * per_chunk, 1e-9)

    def _segment(self, number: int, docs: SegmentDocs) -> Segment | None:
        contents = docs.contents.tolist()
        files = list(map(len, map(self.files_of.get, contents, repeat(()))))
        if not any(files):
            return None
        # Contents of other views too: nobody asks for them.
        self.place.update({content: (number, at) for at, content in enumerate(contents)})
        odd = [at for at, count in enumerate(files) if count != 1]
        absent = [at for at in odd if not files[at]]
        row, total = self._row, self.file_count
        return Segment(
            contents,
            files if odd else None,
            odd,
            _norms(absent, docs.body_terms, row.body_terms / total, ranking_weights.BODY_B),
            _norms(absent, docs.name_terms, row.name_terms / total, ranking_weights.NAME_B),
            _norms(absent, docs.doc_terms, row.doc_terms / total, ranking_weights.DOC_B),
        )


def _norms(absent: Sequence[int], lengths: Sequence[int], mean: float, b: float) -> list[float]:
    slope = b / mean if mean > 0 else 0.0
    flat = 1.0 - b
    norms = [1.0 / (flat + slope * length) for length in lengths]
    for at in absent:
        norms[at] = 0.0
    return norms


_Mark = tuple[object, ...]
_corpora: WeakKeyDictionary[Database, dict[int, tuple[_Mark, Corpus]]] = WeakKeyDictionary()


def corpus_of(view: Snapshot) -> Corpus:
    """The corpus of a view, from memory where neither the view nor the segments changed."""
    mark: _Mark = (view.row.generation, len(view.files), *(view.db.row(_SEGMENTS_MARK) or ()))
    known = _corpora.setdefault(view.db, {})
    cached = known.pop(view.row.id, None)
    if cached is None or cached[0] != mark:
        cached = (mark, Corpus(view))
    known[view.row.id] = cached
    while len(known) > _KEPT_VIEWS:
        del known[next(iter(known))]
    return cached[1]
