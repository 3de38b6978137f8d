"""Reads files of a view from disk or git's object database, and provides facts of any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from typing import NamedTuple, Protocol

from codelens.errors import ReadError, StoreError
from codelens.extract.file_kinds import classify
from codelens.extract.language_detection import extractor_version, language_of
from codelens.index.worker_pool import InProcess, WorkerPool
from codelens.index.worker_process import Task
from codelens.scan.content_hash import blob_oid, hash_of
from codelens.scan.files_below import FilesBelow
from codelens.scan.stat_check import signature, signature_to_store
from codelens.scope.repository import Repository
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.facts import contents, postings
from codelens.store.facts.contents import TIER_FULL, ContentKey, outline_key
from codelens.store.facts.resolution_facts import PackedFacts
from codelens.store.views.views import OVERSIZED, UNREADABLE
from codelens.types import RelPath, Symbol, Tier

ANY_SIZE = -1
"""Size of a work item that its object id alone identifies (a file of a commit)."""

STORED_UNREAD = b"(unread)"
"""Signature of a file of a commit: it never changes."""


class Work(NamedTuple):
    """A file of the view whose content must be determined."""

    path: bytes
    size_bytes: int
    oid: bytes = b""
    """The git object that has its bytes; empty if the file must be read to know them.

    For a file on disk, the object counts only if its size is the file's: git may have converted
    line ends or `ident` when it wrote the file (`codelens.scope.untouched_blobs`).
    """
    signature: bytes = b""
    """Signature to store with `oid` if the bytes need not be read."""


class Fetched(NamedTuple):
    """Bytes of a file, and the signature to store."""

    data: bytes
    signature: bytes


class Unavailable(Exception):
    """A file that belongs to the view but has no text to index."""

    def __init__(self, state: int, signature: bytes) -> None:
        self.state = state
        self.signature = signature
        super().__init__(state)


class Source(Protocol):
    """Reads the bytes of works."""

    limit: int
    """Larger files, in bytes, are not read."""

    def fetch(self, work: Work) -> Fetched:
        """Read one file.

        Raises:
            FileNotFoundError: it was removed since the look.
            Unavailable: it cannot be read, or is too large.
        """
        ...

    def glance(self, work: Work) -> bytes:
        """The bytes of one file for a scan; empty if there is no text."""
        ...


class DiskSource:
    """Files of a worktree or folder."""

    def __init__(self, root: bytes, limit: int, look_ns: int) -> None:
        self._files = FilesBelow(root)
        self.limit = limit
        self._look_ns = look_ns

    def fetch(self, work: Work) -> Fetched:
        """See `Source.fetch`."""
        before = self._files.status(work.path)
        if before.st_size > self.limit:
            raise Unavailable(OVERSIZED, signature(before))
        try:
            read = self._files.read(work.path, self.limit)
        except ReadError as error:
            raise Unavailable(UNREADABLE, signature(before)) from error
        return Fetched(read.data, signature_to_store(read.stat, self._look_ns))

    def glance(self, work: Work) -> bytes:
        """See `Source.glance`."""
        return self._files.glance(work.path, self.limit)

    def bytes_of(self, path: bytes) -> bytes | None:
        """The bytes of one file; None if `fetch` would raise."""
        return self._files.bytes_of(path, self.limit)


class BlobSource:
    """Files of a commit."""

    def __init__(self, repository: Repository, limit: int) -> None:
        self._repository = repository
        self.limit = limit

    def fetch(self, work: Work) -> Fetched:
        """See `Source.fetch`."""
        if self._repository.object_size(work.oid) > self.limit:
            raise Unavailable(OVERSIZED, STORED_UNREAD)
        try:
            data = self._repository.read_blob(work.oid)
        except ReadError as error:
            raise Unavailable(UNREADABLE, STORED_UNREAD) from error
        # git's checksums find changed bytes, but not an object under the name of another.
        if blob_oid(data) != work.oid:
            raise Unavailable(UNREADABLE, STORED_UNREAD)
        return Fetched(data, STORED_UNREAD)

    def glance(self, work: Work) -> bytes:
        """See `Source.glance`."""
        try:
            return self.fetch(work).data
        except Unavailable:
            return b""


# Provides facts of texts that need not be in any view: reads them from the store, or extracts and
# stores them.
#
# Facts belong to a content, so a later question reuses them for the same text in any branch,
# worktree or commit.

_HANG_S = 5.0
_POOL_BYTES = 1_500_000
"""Worker processes pay off from this size on (`codelens.index.view_update`)."""


class Text(NamedTuple):
    """A text under the name of its file."""

    path: bytes
    data: bytes
    """The raw bytes."""
    language: str = ""
    """Its language; empty: detect it from path and text."""


Unstored = dict[ContentKey, tuple[bytes, PackedFacts]]
"""Extracted facts that are not stored yet, with their bytes; outlines by outline key."""


class TextFacts(NamedTuple):
    """The facts of a text."""

    language: str
    outcome: str
    generated: bool
    symbols: Sequence[Symbol]
    """Their `doc` is empty if they come from the store."""


def text_facts(
    db: Database,
    texts: Sequence[Text],
    *,
    languages: Mapping[str, str],
    max_bytes: int,
    workers: int = 1,
    unstored: Unstored | None = None,
    tier: Tier = "full",
) -> list[TextFacts]:
    """Return the facts of each text, in order; call it outside of any transaction.

    Extracts missing facts and stores them, unless another process is writing.

    Args:
        db: the index.
        texts: any number of them.
        languages: path glob -> language, as in the settings.
        max_bytes: larger texts are not parsed.
        workers: processes for large jobs.
        unstored: collects extracted facts for `store_facts`, so that a caller with many texts
            stores them all in one write.
        tier: `symbols` if the caller needs no other facts of these texts; that costs less than
            half.
    """
    states = [_identified(text, languages, max_bytes) for text in texts]
    keys = {key for key, outcome, _ in states if outcome == "parsed"}
    symbols = _stored_symbols(db, keys, unstored or {}, tier)
    missing: dict[ContentKey, bytes] = {}
    for (key, outcome, _), text_ in zip(states, texts, strict=True):
        if outcome == "parsed" and key not in symbols:
            missing[key] = text_.data
    if missing:
        extracted = _extracted(db, missing, workers, tier)
        symbols |= {key: facts.symbols for key, (_, facts) in extracted.items()}
        if tier == "symbols":
            extracted = {outline_key(key): row for key, row in extracted.items()}
        if unstored is None:
            store_facts(db, extracted)
        else:
            unstored |= extracted
    return [
        TextFacts(key[1], outcome, generated, symbols.get(key, ()))
        for key, outcome, generated in states
    ]


def _stored_symbols(
    db: Database, keys: Set[ContentKey], unstored: Unstored, tier: Tier
) -> dict[ContentKey, Sequence[Symbol]]:
    """The symbols of those contents whose symbols are stored."""
    names = {key: key for key in keys}
    if tier == "symbols":
        names |= {outline_key(key): key for key in keys}
    rows = {
        name: row.id
        for name, row in contents.find(db, names).items()
        if row.tier == TIER_FULL and row.version >= _version(name)
    }
    stored = contents.symbols_of(db, rows.values(), docs=False)
    symbols: dict[ContentKey, Sequence[Symbol]] = {}
    for name, content in rows.items():
        symbols[names[name]] = stored.get(content, ())
    for name in names.keys() & unstored.keys():
        symbols[names[name]] = unstored[name][1].symbols
    return symbols


def _identified(
    text: Text, languages: Mapping[str, str], max_bytes: int
) -> tuple[ContentKey, str, bool]:
    outcome, generated = classify(text.data)
    if len(text.data) > max_bytes:
        outcome = "oversized"
    language = text.language or language_of(RelPath(text.path), text.data, languages)
    return (hash_of(text.data), language), str(outcome), generated


def _extracted(
    db: Database, missing: Mapping[ContentKey, bytes], workers: int, tier: Tier
) -> Unstored:
    tasks = [(key, Task(data, key[1], tier)) for key, data in missing.items()]
    large = sum(map(len, missing.values())) > _POOL_BYTES and workers > 1
    with WorkerPool(workers) if large else InProcess(db.path, _HANG_S) as extractor:
        return {key: (missing[key], facts) for key, facts in extractor.run(tasks)}


def store_facts(db: Database, unstored: Unstored) -> None:
    """Store extracted facts, unless another process is writing.

    If they cannot be stored, the answer is still valid.
    """
    if not unstored:
        return
    rows = list(unstored.items())
    with suppress(StoreError), writer_lease.held(db, 0.0) as lease:
        for start in range(0, len(rows), postings.SEGMENT_DOCS):
            batch = rows[start : start + postings.SEGMENT_DOCS]
            with db.write(lease):
                docs = [
                    contents.insert(
                        db, key, _version(key), TIER_FULL, size_bytes=len(data), facts=facts
                    )
                    for key, (data, facts) in batch
                ]
                searched = [
                    doc
                    for doc, (key, _) in zip(docs, batch, strict=True)
                    if not contents.is_outline(key)
                ]
                postings.write_segment(db, searched)
                contents.insert_blobs(
                    db, [(blob_oid(data), key[0], len(data)) for key, (data, _) in batch]
                )


def _version(key: ContentKey) -> int:
    return extractor_version(contents.language_of_key(key))
