"""Determines whether an unexpected error comes from a damaged index or is a bug in codelens.

Each such error is recorded with its origin and outcome in `index-ID.db.unexplained`, so that a bug
in codelens does not cause the index to be rebuilt, or decoded, again and again.
"""

from __future__ import annotations

import json
import os
import struct
import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import randrange

from codelens import __version__
from codelens.errors import StoreError
from codelens.home_files import read_small, replace_file, unique_draft
from codelens.meaning.word_table import WordTableDamaged, shipped
from codelens.resolve import graph_state
from codelens.resolve.resolver_version import RESOLVER_VERSION
from codelens.store.database.database import Database
from codelens.store.database.database_recovery import KEPT_S
from codelens.store.facts import contents, postings, precise_facts
from codelens.store.facts.postings import Posting, PostingBlock
from codelens.store.views import views

_SOUND, _DAMAGED = "sound", "damaged"
_KEPT_S = {_SOUND: 86_400, _DAMAGED: KEPT_S}
_MOST_ERROR_BYTES = 20_000
_MOST_RECORDED = 50


def fault_behind(db: Database, error: Exception) -> str:
    """The fault of an index that caused an error; empty if the error is a bug in codelens.

    Raises:
        StoreError: the error recurred after a rebuild; or the index could not be checked.
    """
    if not isinstance(error, IMPOSSIBLE):
        return ""
    if not db.is_sound():
        return "its data is invalid"
    origin = _origin(error)
    _, before = _recorded(db.path).get(origin, (0, ""))
    if before == _SOUND:
        return ""
    if before == _DAMAGED:
        raise StoreError(
            f"the index {str(db.path)!r} was rebuilt because of an error that occurs again "
            f"({type(error).__name__}: {error}): it is damaged again, or this is a bug in codelens",
            typed="run `codelens doctor --fix --thorough`, which decodes all of it",
            called="`codelens doctor --fix --thorough` decodes all of it",
        ) from error
    fault = undecodable(db)
    try:
        _record(db.path, origin, _DAMAGED if fault else _SOUND)
    except OSError:
        # Without the record, the index might be rebuilt again and again.
        return ""
    return fault


# Unexpected errors, and the state in which they left the index: `index-ID.db.unexplained`.
#
# After such an error the index is decoded: it is found sound, or damaged and set aside. The result
# is recorded for a day or a week. During that time another error from the same place is only
# reported, without decoding or rebuilding the index.


def unexplained_file(path: Path) -> Path:
    """The file of unexpected errors of an index."""
    return path.with_name(f"{path.name}.unexplained")


def _record(path: Path, origin: str, outcome: str) -> None:
    """Record the origin of an error and the state of the index.

    Raises:
        OSError: it cannot be written.
    """
    recorded = _recorded(path) | {origin: (int(time.time()), outcome)}
    latest = list(recorded.items())[-_MOST_RECORDED:]
    text = "".join(f"{when_s} {state} {place}\n" for place, (when_s, state) in latest)
    file = str(unexplained_file(path))
    replace_file(file, text.encode(), temporary=unique_draft(file))


def _recorded(path: Path) -> dict[str, tuple[int, str]]:
    """Origin of an error -> when, and `_SOUND` or `_DAMAGED`; empty if the file is unreadable."""
    try:
        text = read_small(unexplained_file(path), _MOST_ERROR_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    now = time.time()
    recorded: dict[str, tuple[int, str]] = {}
    for line in text.splitlines():
        when, _, rest = line.partition(" ")
        outcome, _, origin = rest.partition(" ")
        if when.isdecimal() and abs(now - int(when)) < _KEPT_S.get(outcome, 0):
            recorded[origin] = int(when), outcome
    return recorded


def _origin(error: Exception) -> str:
    """The origin of an error in this version; its message may vary."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}:{last.name}"
    return " ".join((__version__, type(error).__name__, place))


# Decodes all packed data of an index: it may be damaged although its checksums are right.
#
# Such damage comes from a program that writes to the file itself, or from a hardware fault before a
# page was written. `fault_behind` decodes when an error may come from it, the doctor always.

IMPOSSIBLE = (
    LookupError, ValueError, TypeError, AssertionError, ArithmeticError, zlib.error, struct.error,
)  # fmt: skip
"""Errors that impossible data causes; bugs in codelens cause them, too."""

_BYTES_DECODED = 64_000_000
"""Amount decoded if a share is requested; takes some 6 s of CPU."""

# One row in `share[0]`.
_BLOCKS = "SELECT segment, marks, data FROM postings WHERE id % ? = ?"
_CONTENTS = "SELECT id, chunk_count FROM contents WHERE id % ? = ?"
_VECTORS = """
SELECT length(v.data), c.chunk_count FROM chunk_vectors v JOIN contents c ON c.id = v.content
WHERE c.id % ? = ? AND v.version = ?
"""
_ROWS = "SELECT content, data FROM file_edges WHERE content % ? = ? AND version = ?"
_PARTS = "SELECT content, data FROM edge_parts WHERE content % ? = ? AND version = ?"

_SURVEYS = "SELECT data FROM surveys WHERE content % ? = ? AND version = ?"

_PRECISE = "SELECT data FROM precise_documents WHERE id % ? = ?"

Share = tuple[int, int]
"""Interval of the selected rows, and the remainder of their ids."""


def undecodable(db: Database, *, whole: bool = True) -> str:
    """Which data of an index cannot be decoded; empty if all can.

    Args:
        db: the index.
        whole: decode everything, not just some 64 MB, different ones each time.

    Raises:
        StoreError: the index cannot be read.
    """
    every = 1 if whole else 1 + db.size_bytes() // _BYTES_DECODED
    share = every, randrange(every)  # noqa: S311 - no secret
    for facts, decode in _CHECKS:
        try:
            with db.read():
                decode(db, share)
        except IMPOSSIBLE as error:
            return f"{facts} cannot be decoded: {type(error).__name__}: {error}"
    return ""


def _decode_postings(db: Database, share: Share) -> None:
    chunks: dict[int, list[int]] = {}
    for segment, docs in postings.segment_docs(db).items():
        _demand(len({len(column) for column in docs}) == 1, "a segment's columns differ in length")
        chunks[segment] = docs.chunks.tolist()
    for segment, marks, data in db.each(_BLOCKS, share):
        for posting in [data] if marks is None else _postings_of(marks, data):
            _decode_posting(Posting(posting), chunks[segment])


def _postings_of(marks: bytes, data: bytes) -> Iterator[bytes]:
    return (posting for _, posting in PostingBlock(marks, data).rows())


def _decode_posting(posting: Posting, chunks: Sequence[int]) -> None:
    """Check that every document is in the segment, and its last chunk in the document."""
    docs = posting.docs
    _demand(len(docs) == posting.doc_count > 0, "a posting has too few or many documents")
    for doc in docs:
        last = posting.entries(doc)[-1] >> 16
        _demand(last < chunks[doc], "a posting has a chunk that its document does not have")


def _decode_contents(db: Database, share: Share) -> None:
    counts: dict[int, int] = dict(db.rows(_CONTENTS, share))
    for batch in contents.batched(counts):
        content_facts = contents.flowing(db, batch)
        chunks = contents.chunks_of(db, batch)
        for content in batch:
            symbols = len(content_facts[content].symbols)
            _demand(len(chunks[content]) == counts[content], "a content has too few or many chunks")
            _demand(
                all(-1 <= chunk.symbol < symbols for chunk in chunks[content]),
                "a chunk refers to a definition that does not exist",
            )


def _decode_vectors(db: Database, share: Share) -> None:
    try:
        head = shipped().head
    except WordTableDamaged:
        # Without the current version, nothing reads the vectors.
        return
    for size, count in db.each(_VECTORS, (*share, head.version)):
        _demand(size == count * head.dimension, "a content has too few or many vectors")


def _decode_edges(db: Database, share: Share) -> None:
    for sql in (_ROWS, _PARTS):
        for content, data in db.each(sql, (*share, RESOLVER_VERSION)):
            graph_state.unpacked_rows(b"", graph_state.loaded_rows(content, data).edges)
    for (text,) in db.each(_SURVEYS, (*share, RESOLVER_VERSION)):
        json.loads(text)


def _decode_precise(db: Database, share: Share) -> None:
    for (data,) in db.each(_PRECISE, share):
        precise_facts.unpacked(data)


def _decode_views(db: Database, _share: Share) -> None:
    for view in views.all_views(db):
        for text in (view.sources, view.notes):
            json.loads(text)


def _demand(holds: bool, fault: str) -> None:
    if not holds:
        raise ValueError(fault)


_CHECKS: tuple[tuple[str, Callable[[Database, Share], None]], ...] = (
    ("views", _decode_views),
    ("postings", _decode_postings),
    ("facts of contents", _decode_contents),
    ("vectors", _decode_vectors),
    ("edges", _decode_edges),
    ("facts of compilers", _decode_precise),
)
