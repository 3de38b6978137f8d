"""The symbols of texts that no view may hold: from the store, or extracted and kept there.

Facts belong to a content, so what one question had extracted the next one finds, whichever branch,
worktree or commit brings the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from codelens.errors import StoreError
from codelens.extract.file_kinds import classify
from codelens.extract.language_detection import extractor_version, language_of
from codelens.index.worker_pool import InProcess, WorkerPool
from codelens.index.worker_process import Task
from codelens.scan.content_hash import blob_oid, hash_of
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.facts import contents, postings
from codelens.store.facts.contents import TIER_FULL, ContentKey
from codelens.types import Facts, RelPath, Symbol

_HANG_S = 5.0
_POOL_BYTES = 1_500_000
"""From here on worker processes pay (`codelens.index.view_refresh`)."""


class Text(NamedTuple):
    """A text as a file of this name has it."""

    path: bytes
    data: bytes
    """The raw bytes."""
    language: str = ""
    """If it is known; empty: by path and text."""


Unstored = dict[ContentKey, tuple[bytes, Facts]]
"""What was extracted and is not in the store yet, with its bytes."""


class TextFacts(NamedTuple):
    """What is known of a text."""

    language: str
    outcome: str
    generated: bool
    symbols: Sequence[Symbol]


def text_facts(
    db: Database,
    texts: Sequence[Text],
    *,
    languages: Mapping[str, str],
    max_bytes: int,
    workers: int = 1,
    unstored: Unstored | None = None,
) -> list[TextFacts]:
    """Facts of each text, in order. Outside of any transaction.

    What the store lacks is extracted and stored, unless another process writes at the moment.

    Args:
        db: the index.
        texts: any number of them.
        languages: path glob -> language, as the settings have it.
        max_bytes: larger texts are not parsed.
        workers: processes for large jobs.
        unstored: takes what is extracted, in place of the store, for `store_facts`: who asks for
            one text after the other writes once.
    """
    states = [_identified(text, languages, max_bytes) for text in texts]
    keys = {key for key, outcome, _ in states if outcome == "parsed"}
    known = {
        key: row.id
        for key, row in contents.find(db, keys).items()
        if row.tier == TIER_FULL and row.version >= extractor_version(key[1])
    }
    symbols: dict[ContentKey, Sequence[Symbol]] = {}
    stored = contents.symbols_of(db, known.values())
    symbols |= {key: stored.get(content, ()) for key, content in known.items()}
    missing: dict[ContentKey, bytes] = {}
    if unstored:
        symbols |= {key: unstored[key][1].structure.symbols for key in keys & unstored.keys()}
    for (key, outcome, _), text_ in zip(states, texts, strict=True):
        if outcome == "parsed" and key not in symbols:
            missing[key] = text_.data
    if missing:
        extracted = _extracted(db, missing, workers)
        symbols |= {key: facts.structure.symbols for key, (_, facts) in extracted.items()}
        if unstored is None:
            store_facts(db, extracted)
        else:
            unstored |= extracted
    return [
        TextFacts(key[1], outcome, generated, symbols.get(key, ()))
        for key, outcome, generated in states
    ]


def _identified(
    text: Text, languages: Mapping[str, str], max_bytes: int
) -> tuple[ContentKey, str, bool]:
    outcome, generated = classify(text.data)
    if len(text.data) > max_bytes:
        outcome = "oversized"
    language = text.language or language_of(RelPath(text.path), text.data, languages)
    return (hash_of(text.data), language), str(outcome), generated


def _extracted(db: Database, missing: Mapping[ContentKey, bytes], workers: int) -> Unstored:
    tasks = [(key, Task(data, key[1], "full")) for key, data in missing.items()]
    large = sum(map(len, missing.values())) > _POOL_BYTES and workers > 1
    with WorkerPool(workers) if large else InProcess(db.path, _HANG_S) as extractor:
        return {key: (missing[key], facts) for key, facts in extractor.run(tasks)}


def store_facts(db: Database, unstored: Unstored) -> None:
    """Store what was extracted, unless another process writes at the moment.

    Where another process writes, or nothing can be written, the answer stands all the same.
    """
    if unstored:
        with suppress(StoreError):
            _store(db, unstored)


def _store(db: Database, unstored: Unstored) -> None:
    rows = list(unstored.items())
    lease = writer_lease.acquire(db, 0.0)
    try:
        for start in range(0, len(rows), postings.SEGMENT_DOCS):
            batch = rows[start : start + postings.SEGMENT_DOCS]
            with db.write(lease):
                docs = [
                    contents.insert(db, key, extractor_version(key[1]), TIER_FULL, len(data), facts)
                    for key, (data, facts) in batch
                ]
                postings.write_segment(db, docs)
                contents.insert_blobs(
                    db, [(blob_oid(data), key[0], len(data)) for key, (data, _) in batch]
                )
    finally:
        lease.release(db)
