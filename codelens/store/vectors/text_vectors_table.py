"""Vectors of texts, which texts the chunks of a content are, and what was sent."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from codelens.store.database.database import Database
from codelens.store.facts.contents import ScoredChunk, batched

HASH_BYTES = 16

_VECTORS = "SELECT text, data FROM text_vectors WHERE fingerprint = {id} AND text IN ({marks})"
_KNOWN = "SELECT text FROM text_vectors WHERE fingerprint = {id} AND text IN ({marks})"
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
    """Which texts the chunks of a content are."""

    spans: int
    """See `spans_of`."""
    texts: bytes
    """`HASH_BYTES` a chunk."""

    def hashes(self) -> list[bytes]:
        """One a chunk, in order."""
        size = HASH_BYTES
        return [self.texts[at : at + size] for at in range(0, len(self.texts), size)]


class SentTotal(NamedTuple):
    """What was sent to one model of a provider, all days together."""

    provider: str
    model: str
    endpoint: str
    since: str
    requests: int
    failed: int
    texts: int
    bytes: int
    tokens: int


ContentKey = tuple[bytes, str]
"""Hash of a content's bytes, and its language."""


def text_hash(text: str, kind: str) -> bytes:
    """What a text is known by; the same words as a question are another text."""
    data = f"{kind}\0{text}".encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=HASH_BYTES).digest()


def spans_of(chunks: Sequence[ScoredChunk]) -> int:
    """Changes when a content is cut into other chunks."""
    places = ",".join(f"{chunk.start_byte}-{chunk.end_byte}" for chunk in chunks)
    return zlib.crc32(places.encode())


def vectors_of(db: Database, fingerprint: int, texts: Iterable[bytes]) -> dict[bytes, bytes]:
    """The vectors of those texts that have one."""
    by_text: dict[bytes, bytes] = {}
    for batch in batched(texts):
        marks = ",".join("?" * len(batch))
        by_text.update(db.rows(_VECTORS.format(id=int(fingerprint), marks=marks), batch))  # type: ignore[arg-type]
    return by_text


def known_texts(db: Database, fingerprint: int, texts: Iterable[bytes]) -> set[bytes]:
    """Those of the texts that have a vector."""
    known: set[bytes] = set()
    for batch in batched(texts):
        sql = _KNOWN.format(id=int(fingerprint), marks=",".join("?" * len(batch)))
        known.update(row[0] for row in db.rows(sql, batch))
    return known


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
    """Remove the vectors of texts that are in none of some contents, in the caller's transaction.

    Those of questions stay.

    Args:
        db: the repository's vectors, of all fingerprints.
        contents: hashes of them.

    Returns:
        How many vectors that were.
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
    """Vectors of all fingerprints, those of questions among them."""
    row = db.row(_COUNT_ALL)
    assert row is not None
    return row[0]


def texts_of(db: Database, contents: Iterable[ContentKey]) -> dict[ContentKey, ContentTexts]:
    """Which texts the chunks of contents are, as far as that is known."""
    keys = set(contents)
    by_content: dict[ContentKey, ContentTexts] = {}
    for batch in batched(sorted({content_hash for content_hash, _ in keys})):
        for row in db.rows(_TEXTS.format(marks=",".join("?" * len(batch))), batch):
            if (row[0], row[1]) in keys:
                by_content[row[0], row[1]] = ContentTexts(row[2], row[3])
    return by_content


def put_texts(db: Database, rows: Mapping[ContentKey, ContentTexts]) -> None:
    """Store which texts contents are; in the caller's transaction."""
    db.execute_many(_PUT_TEXTS, [(*key, *texts) for key, texts in rows.items()])


def counted(db: Database, fingerprint: int) -> tuple[int, int]:
    """How many texts have a vector, questions among them, and the bytes of all."""
    row = db.row(_COUNT, (fingerprint,))
    assert row is not None
    return row[0], row[1]


def add_sent(db: Database, where: tuple[str, str, str], counts: Sequence[int]) -> None:
    """Count requests; in the caller's transaction.

    Args:
        db: of the repository.
        where: provider, model and endpoint.
        counts: requests, those of them that failed, texts, bytes, and tokens as the provider
            counts them.
    """
    db.execute(_ADD_SENT, (time.strftime("%Y-%m-%d"), *where, *counts))


def sent_totals(db: Database) -> list[SentTotal]:
    """What left this machine, by where it went."""
    return [SentTotal(*row) for row in db.rows(_SENT)]


def clear(db: Database) -> None:
    """Remove all vectors; what was sent stays counted. In the caller's transaction."""
    for statement in _CLEAR:
        db.execute(statement)
