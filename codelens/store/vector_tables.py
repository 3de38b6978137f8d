"""The database of a repository's embedding vectors: consent, sync state, vectors, request counts.

A damaged or foreign file is set aside together with its consent: nothing is sent until the user
consents again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from codelens import home_files
from codelens.errors import HomeNotWritable, IndexCorrupt, IndexLocked
from codelens.paths import make_private
from codelens.store.database.database import Database
from codelens.store.database.database_opening import open_database
from codelens.store.database.database_recovery import alone_in, identity_of, set_aside
from codelens.store.facts.contents import ScoredChunk, rows_among

logger = logging.getLogger(__name__)


@contextmanager
def open_vectors(path: Path) -> Generator[Database]:
    """Open the vectors at `path`; create the file if it is missing.

    Raises:
        StoreError: the file cannot be used.
    """
    identity = identity_of(path)
    try:
        with closing(open_database(path, "vectors")) as db:
            if stranger := foreign_consent(db):
                raise IndexCorrupt(path, stranger, foreign=True)
            yield db
    except IndexCorrupt as error:
        logger.warning("%s: enable the provider again", error)
        set_aside(path, identity)
        raise


@contextmanager
def alone_writing(path: Path) -> Generator[None]:
    """Let only one process at a time send texts of a repository: two would send the same texts.

    Raises:
        IndexLocked: another process holds the lock.
        HomeNotWritable: the lock cannot be made.
    """
    make_private(path.parent)
    try:
        with alone_in(path.parent, f".{path.stem}.lock", wait_s=0.0):
            yield
    except TimeoutError as error:
        raise IndexLocked(path, "another process that syncs vectors") from error
    except OSError as error:
        raise HomeNotWritable(path.parent, error.strerror or str(error)) from error


@contextmanager
def giving_back(db: Database) -> Generator[Callable[[], int]]:
    """Return the space that the block frees to the file system.

    Yields a function that returns how many bytes the file has shrunk by.
    """
    file = Path(db.path)
    db.truncate_log()
    before = file.stat().st_size
    yield lambda: max(0, before - file.stat().st_size)
    # SQLite frees one page for each row that is fetched.
    db.rows("PRAGMA incremental_vacuum")
    db.truncate_log()


def remove_file(path: Path) -> None:
    """Remove the database of a repository; nobody may have it open."""
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


# Stores to which provider a repository's texts may be sent, and the sync state of its vectors.

PACKING = 1
"""Version of how a text is sent and its vector stored; part of the fingerprint."""

State = Literal["indexing", "indexed", "failed", "synced", "requires_reindex"]

_CONSENT = """
SELECT provider, model, endpoint, dimension, given_s, store, hybrid, collection, root FROM consent
"""
_CONSENTING = """
INSERT OR REPLACE INTO consent
    (id, provider, model, endpoint, dimension, given_s, store, hybrid, collection, root, file)
VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_GIVEN_IN = "SELECT file FROM consent"
_WITHDRAW = "DELETE FROM consent"
_FINGERPRINT = """
SELECT id, state, failure, changed_s FROM fingerprints
WHERE provider = ? AND model = ? AND dimension = ? AND packing = ?
"""
_IN_STORE = """
SELECT state, failure, changed_s FROM store_states
WHERE fingerprint = ? AND store = ? AND hybrid = ?
"""
_SET_IN_STORE = "INSERT OR REPLACE INTO store_states VALUES (?, ?, ?, ?, ?, ?)"
_ADD = "INSERT INTO fingerprints VALUES (NULL, ?, ?, ?, ?, 'requires_reindex', '', ?)"
_SET_STATE = "UPDATE fingerprints SET state = ?, failure = ?, changed_s = ? WHERE id = ?"


class Consent(NamedTuple):
    """Where texts may be sent."""

    provider: str
    model: str
    endpoint: str
    dimension: int
    given_s: float
    store: str = ""
    """URL of the vector store; empty: vectors are searched in this database."""
    hybrid: bool = False
    """The store has the terms of texts as well."""
    collection: str = ""
    """Name of the collection in that store."""
    root: str = ""
    """The worktree in which the consent was given; people know the repository by it."""


class Fingerprint(NamedTuple):
    """A set of vectors that may be compared with each other."""

    id: int
    state: State
    failure: str
    changed_s: float


def consent_of(db: Database) -> Consent | None:
    """Where texts may be sent, or None if nowhere."""
    row = db.row(_CONSENT)
    return Consent(*row)._replace(hybrid=bool(row[6])) if row else None


def give_consent(db: Database, consent: Consent) -> None:
    """Allow sending texts there and nowhere else; in the caller's transaction."""
    db.execute(_CONSENTING, (*consent, _name_of(db)))


def foreign_consent(db: Database) -> str:
    """Why the stored consent belongs to another repository; empty if it does not.

    A repository's id is in the name of its file, which reveals a file that was copied or swapped.
    """
    row = db.row(_GIVEN_IN)
    if row is None or row[0] == _name_of(db):
        return ""
    return f"its consent {home_files.written_for(str(row[0]))}"


def _name_of(db: Database) -> str:
    return os.path.basename(db.path)


def withdraw(db: Database) -> None:
    """Withdraw the consent; in the caller's transaction."""
    db.execute(_WITHDRAW)


def fingerprint_of(db: Database, consent: Consent) -> Fingerprint | None:
    """The vectors by the provider of the consent, with their state in its store.

    None if there never were any.
    """
    row = db.row(_FINGERPRINT, (consent.provider, consent.model, consent.dimension, PACKING))
    if row is None or not consent.store:
        return Fingerprint(*row) if row else None
    in_store = db.row(_IN_STORE, (row[0], consent.store, int(consent.hybrid)))
    if in_store is None:
        return Fingerprint(row[0], "requires_reindex", "", row[3])
    return Fingerprint(row[0], *in_store)


def ensure_fingerprint(db: Database, consent: Consent) -> Fingerprint:
    """Return the fingerprint of the consent, created if missing; in the caller's transaction."""
    fingerprint = fingerprint_of(db, consent)
    if fingerprint is None:
        key = (consent.provider, consent.model, consent.dimension, PACKING)
        db.execute(_ADD, (*key, time.time()))
        fingerprint = fingerprint_of(db, consent)
    assert fingerprint is not None
    return fingerprint


def set_state(
    db: Database, consent: Consent, fingerprint: int, state: State, failure: str = ""
) -> None:
    """Record the state of the vectors in their store; in the caller's transaction."""
    if consent.store:
        where = (fingerprint, consent.store, int(consent.hybrid))
        db.execute(_SET_IN_STORE, (*where, state, failure, time.time()))
    else:
        db.execute(_SET_STATE, (state, failure, time.time(), fingerprint))


# The files of a worktree or ref at its last vector sync, and the changes since.

_FILES = "SELECT files FROM synced_files WHERE place = ?"
_PUT = "INSERT OR REPLACE INTO synced_files VALUES (?, ?)"
_HASH_BYTES = 16


class FileChanges(NamedTuple):
    """Files that were added, changed or removed between two syncs."""

    added: int
    removed: int
    modified: int


def changes_since(db: Database, place: str, files: Mapping[bytes, bytes]) -> FileChanges:
    """What changed since the last completed sync.

    Args:
        db: the repository's vectors.
        place: the worktree, or the ref.
        files: path -> hash of its bytes, of all files that may be sent.
    """
    row = db.row(_FILES, (place,))
    before = _unpacked(row[0]) if row else {}
    return FileChanges(
        len(files.keys() - before.keys()),
        len(before.keys() - files.keys()),
        sum(1 for path, digest in files.items() if before.get(path, digest) != digest),
    )


def note_files(db: Database, place: str, files: Mapping[bytes, bytes]) -> None:
    """Record the files of a completed sync; in the caller's transaction."""
    packed = b"".join(digest + path + b"\0" for path, digest in sorted(files.items()))
    db.execute(_PUT, (place, zlib.compress(packed, 1)))


def _unpacked(data: bytes) -> dict[bytes, bytes]:
    """Unpack entries of a hash of `_HASH_BYTES`, a path and a NUL; a hash may contain NULs."""
    packed = zlib.decompress(data)
    files: dict[bytes, bytes] = {}
    at = 0
    while at < len(packed):
        end = packed.index(b"\0", at + _HASH_BYTES)
        files[packed[at + _HASH_BYTES : end]] = packed[at : at + _HASH_BYTES]
        at = end + 1
    return files


# Vectors of texts, the texts of each content's chunks, and counts of what was sent.

HASH_BYTES = 16

_VECTORS = "SELECT text, data FROM text_vectors WHERE text IN ({marks}) AND fingerprint = ?"
_KNOWN = "SELECT text FROM text_vectors WHERE text IN ({marks}) AND fingerprint = ?"
_PUT_VECTOR = "INSERT OR IGNORE INTO text_vectors VALUES (?, ?, ?)"
_TEXTS = "SELECT hash, language, spans, texts FROM content_texts WHERE hash IN ({marks})"
_PUT_TEXTS = "INSERT OR REPLACE INTO content_texts VALUES (?, ?, ?, ?)"
_REMOVE = "DELETE FROM text_vectors WHERE fingerprint = ? AND text = ?"
_REMOVE_ALL = "DELETE FROM text_vectors WHERE fingerprint = ?"
_PUT_QUESTION = "INSERT OR IGNORE INTO questions VALUES (?)"
_QUESTIONS = "SELECT text FROM questions"
_CONTENTS = "SELECT hash, language, texts FROM content_texts"
_REMOVE_TEXTS = "DELETE FROM content_texts WHERE hash = ? AND language = ?"
_VECTOR_NAMES = "SELECT fingerprint, text FROM text_vectors"
_COUNT_ALL = "SELECT COUNT(*) FROM text_vectors"
_COUNT = """
SELECT COUNT(*), COALESCE(SUM(LENGTH(data)), 0) FROM text_vectors WHERE fingerprint = ?
"""
_ADD_SENT = """
INSERT INTO sent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, provider, model, endpoint) DO UPDATE SET
    requests = requests + excluded.requests, failed = failed + excluded.failed,
    texts = texts + excluded.texts, bytes = bytes + excluded.bytes,
    tokens = tokens + excluded.tokens
"""
_SENT = """
SELECT provider, model, endpoint, MIN(day), SUM(requests), SUM(failed), SUM(texts), SUM(bytes),
    SUM(tokens)
FROM sent GROUP BY provider, model, endpoint ORDER BY provider, model, endpoint
"""
_CLEAR = (
    "DELETE FROM text_vectors", "DELETE FROM fingerprints", "DELETE FROM content_texts",
    "DELETE FROM synced_files", "DELETE FROM questions",
)  # fmt: skip


class ContentTexts(NamedTuple):
    """The texts of a content's chunks."""

    spans: int
    """See `spans_of`."""
    texts: bytes
    """`HASH_BYTES` per chunk."""

    def hashes(self) -> list[bytes]:
        """One hash per chunk, in order."""
        size = HASH_BYTES
        return [self.texts[at : at + size] for at in range(0, len(self.texts), size)]


ContentKey = tuple[bytes, str]
"""Hash of a content's bytes, and its language."""


def text_hash(text: str, kind: str) -> bytes:
    """The hash that identifies a text; a question with the same words has another hash."""
    data = f"{kind}\0{text}".encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=HASH_BYTES).digest()


def spans_of(chunks: Sequence[ScoredChunk]) -> int:
    """A digest of the chunk boundaries of a content."""
    places = ",".join(f"{chunk.start_byte}-{chunk.end_byte}" for chunk in chunks)
    return zlib.crc32(places.encode())


def vectors_of(db: Database, fingerprint: int, texts: Iterable[bytes]) -> dict[bytes, bytes]:
    """The vectors of those texts that have one."""
    return dict(rows_among(db, _VECTORS, texts, fingerprint))


def known_texts(db: Database, fingerprint: int, texts: Iterable[bytes]) -> set[bytes]:
    """The texts that have a vector."""
    return {text for (text,) in rows_among(db, _KNOWN, texts, fingerprint)}


def put_vectors(db: Database, fingerprint: int, rows: Iterable[tuple[bytes, bytes]]) -> None:
    """Store vectors by text; in the caller's transaction."""
    db.execute_many(_PUT_VECTOR, [(fingerprint, *row) for row in rows])


def put_question(db: Database, fingerprint: int, text: bytes, vector: bytes) -> None:
    """Store the vector of a question; in the caller's transaction."""
    put_vectors(db, fingerprint, [(text, vector)])
    db.execute(_PUT_QUESTION, (text,))


def remove_vectors(db: Database, fingerprint: int, texts: Iterable[bytes]) -> None:
    """Remove the vectors of texts; in the caller's transaction."""
    db.execute_many(_REMOVE, [(fingerprint, text) for text in texts])


def remove_all(db: Database, fingerprint: int) -> None:
    """Remove all vectors of a fingerprint; in the caller's transaction."""
    db.execute(_REMOVE_ALL, (fingerprint,))


def keep_only(db: Database, contents: Collection[bytes]) -> int:
    """Remove the vectors of all texts but those of `contents`; in the caller's transaction.

    Vectors of questions stay.

    Args:
        db: the repository's vectors, of all fingerprints.
        contents: hashes of the contents to keep.

    Returns:
        How many vectors were removed.
    """
    staying = {row[0] for row in db.rows(_QUESTIONS)}
    gone: list[ContentKey] = []
    for content_hash, language, texts in db.rows(_CONTENTS):
        if content_hash in contents:
            staying.update(ContentTexts(0, texts).hashes())
        else:
            gone.append((content_hash, language))
    removed = [row for row in db.rows(_VECTOR_NAMES) if row[1] not in staying]
    db.execute_many(_REMOVE_TEXTS, gone)
    db.execute_many(_REMOVE, removed)
    return len(removed)


def counted_all(db: Database) -> int:
    """The number of vectors of all fingerprints, including those of questions."""
    return db.value(_COUNT_ALL)


def texts_of(db: Database, contents: Iterable[ContentKey]) -> dict[ContentKey, ContentTexts]:
    """The texts of each content's chunks, for the contents that have them stored."""
    keys = set(contents)
    hashes = sorted({content_hash for content_hash, _ in keys})
    return {
        (content_hash, language): ContentTexts(spans, texts)
        for content_hash, language, spans, texts in rows_among(db, _TEXTS, hashes)
        if (content_hash, language) in keys
    }


def put_texts(db: Database, rows: Mapping[ContentKey, ContentTexts]) -> None:
    """Store the texts of contents; in the caller's transaction."""
    db.execute_many(_PUT_TEXTS, [(*key, *texts) for key, texts in rows.items()])


def counted(db: Database, fingerprint: int) -> tuple[int, int]:
    """How many texts, including questions, have a vector, and the bytes of all vectors."""
    ((texts, size),) = db.rows(_COUNT, (fingerprint,))
    return texts, size


def add_sent(db: Database, where: tuple[str, str, str], counts: Sequence[int]) -> None:
    """Add to the counts of requests; in the caller's transaction.

    Args:
        db: the repository's vectors.
        where: provider, model and endpoint.
        counts: requests, failed requests, texts, bytes, and tokens as the provider counts them.
    """
    db.execute(_ADD_SENT, (time.strftime("%Y-%m-%d"), *where, *counts))


def sent_totals(db: Database) -> list[tuple[str, str, str, str, int, int, int, int, int]]:
    """What was sent from this machine, by destination.

    Each row has provider, model, endpoint and first day, then the numbers of requests, failed
    requests, texts, bytes and tokens.
    """
    return list(db.rows(_SENT))


def clear(db: Database) -> None:
    """Remove all vectors but keep the counts of what was sent; in the caller's transaction."""
    for statement in _CLEAR:
        db.execute(statement)
