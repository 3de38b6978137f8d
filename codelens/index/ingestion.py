"""From files to contents: read, hash, look up, extract what was never seen, store.

Only a distinct text in a language is extracted, once. Contents are written a batch at a time, in
transactions of their own: a reader's view does not name them yet, so it does not notice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from codelens.cancellation import check_cancelled
from codelens.extract.language_detection import extractor_version, language_by_path, language_of
from codelens.index.progress import Progress
from codelens.index.text_sources import Source, Unavailable, Work
from codelens.index.workers.worker_pool import Extractor
from codelens.index.workers.worker_process import Task
from codelens.scan.content_hash import blob_oid, hash_of
from codelens.store.database.database import BUSY_S, QUESTION_S, Database
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import contents, postings
from codelens.store.facts.contents import TIER_FULL, TIER_TEXT, ContentKey
from codelens.store.facts.packed_facts import PackedFacts
from codelens.store.facts.postings import Doc
from codelens.store.views.views import CURRENT, PENDING, Change
from codelens.types import ContentHash, Tier

_GROUP_FILES = 128
_GROUP_BYTES = 4_000_000
_FLUSH_BYTES = 64_000_000
_COMMIT_S, _COMMIT_SHARE = 1.0, 1 / 8
"""So much work at most is lost to a process that is killed, beside the texts that are in hand: this
share of what was done, or a second. Each commit writes a segment, and a query seeks in every one;
a term has a row in each. With a sixteenth and 24 MB there were 25 of Django on a busy machine, and
51 of the first sixth of Linux."""


class Ingested(NamedTuple):
    """What became of a list of works."""

    changes: list[Change]
    dropped: list[bytes]
    extracted: int
    left: list[Work]
    """Not reached before the deadline."""


class _Identified(NamedTuple):
    work: Work
    key: ContentKey
    size_bytes: int
    signature: bytes


class _New(NamedTuple):
    key: ContentKey
    size_bytes: int


class Ingest:
    """One run over a list of works; call `run` once."""

    def __init__(
        self,
        db: Database,
        lease: Lease | None,
        source: Source,
        extractor: Extractor,
        *,
        tier: Tier = "full",
        languages: Mapping[str, str] | None = None,
        deadline: float | None = None,
        progress: Progress,
        grown: Callable[[list[Change]], None] | None = None,
    ) -> None:
        self._db = db
        self.wait_s = BUSY_S if lease else QUESTION_S
        """How long another's transaction may be waited for."""
        self._lease = lease
        self._source = source
        self._extractor = extractor
        self._tier: Tier = tier
        self._overrides = languages or {}
        self._deadline = deadline
        self._progress = progress
        self._grown = grown
        """Given what is known so far whenever something was stored; `run` gives the rest."""
        self._ids: dict[ContentKey, int] = {}
        self._partial: set[ContentKey] = set()
        """Known by their text tier alone."""
        self._identified: list[_Identified] = []
        self._changes: list[Change] = []
        self._dropped: list[bytes] = []
        self._left: list[Work] = []
        self._blobs: list[tuple[bytes, ContentHash, int]] = []
        self._extracted = 0

    def run(self, works: list[Work]) -> Ingested:
        """Tell the content of each work; contents are stored, the view is not touched."""
        batch: list[tuple[_New, PackedFacts]] = []
        size, stored = 0, time.monotonic()
        started = stored
        for new, facts in self._extractor.run(self._tasks(works)):
            batch.append((new, facts))
            size += new.size_bytes
            now = time.monotonic()
            late = now - stored >= max(_COMMIT_S, _COMMIT_SHARE * (now - started))
            if late or len(batch) >= postings.SEGMENT_DOCS or size >= _FLUSH_BYTES:
                self._store(batch)
                if self._grown is not None:
                    self._grown(self._settled())
                batch, size, stored = [], 0, time.monotonic()
        self._store(batch)
        return Ingested(
            [*self._changes, *self._settled()], self._dropped, self._extracted, self._left
        )

    def _settled(self) -> list[Change]:
        """What became of the works whose contents are stored, each told once."""
        identified, self._identified = self._identified, []
        changes: list[Change] = []
        for text_state in identified:
            content = self._ids[text_state.key]
            if not content:
                # Promised, and on its way through the extractor.
                self._identified.append(text_state)
                continue
            behind = text_state.key in self._partial
            state, known = (PENDING, b"") if behind else (CURRENT, text_state.signature)
            changes.append(Change(text_state.work.path, content, state, known))
        return changes

    def _tasks(self, works: list[Work]) -> Iterator[tuple[_New, Task]]:
        done = 0
        for group in _groups(works):
            if self._late():
                self._left.extend(works[done:])
                return
            read = self._read(group)
            self._look_up([text_state.key for text_state, _ in read])
            for at, (text_state, data) in enumerate(read):
                new = text_state.key not in self._ids
                if new and at and self._late():
                    self._left.extend(text_state.work for text_state, _ in read[at:])
                    self._left.extend(works[done + len(group) :])
                    return
                self._identified.append(text_state)
                if new:
                    # Of a known content git's name was told with it.
                    self._blobs.append((blob_oid(data), text_state.key[0], len(data)))
                    # Promised: the id comes with the facts, before `run` reads it.
                    self._ids[text_state.key] = 0
                    yield _New(text_state.key, len(data)), Task(data, text_state.key[1], self._tier)
            done += len(group)
            stage = "indexing" if self._tier == "full" else "reading"
            self._progress(stage, done, len(works))

    def _late(self) -> bool:
        check_cancelled()
        return self._deadline is not None and time.monotonic() > self._deadline

    def _read(self, group: list[Work]) -> list[tuple[_Identified, bytes]]:
        """The works of a group with their bytes; those known by object id have none."""
        by_oid = self._by_oid(group)
        texts_read: list[tuple[_Identified, bytes]] = []
        for work in group:
            text_state = by_oid.get(work.path)
            if text_state is not None and text_state.key in self._ids:
                texts_read.append((text_state, b""))
                continue
            try:
                data, signature = self._source.fetch(work)
            except FileNotFoundError:
                self._dropped.append(work.path)
            except Unavailable as reason:
                self._changes.append(Change(work.path, None, reason.state, reason.signature))
            else:
                language = language_of(work.path, data, self._overrides)
                text_state = _Identified(work, (hash_of(data), language), len(data), signature)
                texts_read.append((text_state, data))
        return texts_read

    def _by_oid(self, group: list[Work]) -> dict[bytes, _Identified]:
        """Works whose bytes were seen before under their object id, by path."""
        certain = contents.blobs(self._db, [work.oid for work in group if work.oid])
        by_oid: dict[bytes, _Identified] = {}
        for work in group:
            known = certain.get(work.oid)
            if known is not None and known[1] > self._source.limit:
                continue
            language = language_by_path(work.path, self._overrides) if known else None
            if known and language:
                by_oid[work.path] = _Identified(
                    work, (known[0], language), known[1], work.signature
                )
        self._look_up([text_state.key for text_state in by_oid.values()])
        return by_oid

    def _look_up(self, keys: list[ContentKey]) -> None:
        self._ids.update(self._known([key for key in keys if key not in self._ids]))

    def _store(self, batch: list[tuple[_New, PackedFacts]]) -> None:
        if not batch and not self._blobs:
            return
        tier = TIER_FULL if self._tier == "full" else TIER_TEXT
        with self._db.write(self._lease, self.wait_s):
            docs: list[Doc] = []
            # Another thread or process may have needed the same text and stored it since.
            there = self._known([new.key for new, _ in batch])
            for new, facts in batch:
                if new.key in there:
                    self._ids[new.key] = there[new.key]
                    continue
                version = extractor_version(new.key[1])
                doc = contents.insert(
                    self._db, new.key, version, tier, size_bytes=new.size_bytes, facts=facts
                )
                docs.append(doc)
                self._ids[new.key] = doc.content
                if tier == TIER_TEXT:
                    self._partial.add(new.key)
            postings.write_segment(self._db, docs)
            contents.insert_blobs(self._db, self._blobs)
        self._blobs.clear()
        self._extracted += len(batch)

    def _known(self, keys: list[ContentKey]) -> dict[ContentKey, int]:
        """Contents that need not be extracted, by their id."""
        least_tier = TIER_FULL if self._tier == "full" else TIER_TEXT
        tiers: dict[ContentKey, int] = {}
        for key, known in contents.find(self._db, keys).items():
            # An older extractor never replaces newer facts; newer code replaces older ones.
            if known.tier >= least_tier and known.version >= extractor_version(key[1]):
                tiers[key] = known.id
                if known.tier == TIER_TEXT:
                    self._partial.add(key)
        return tiers


def _groups(works: list[Work]) -> Iterator[list[Work]]:
    group: list[Work] = []
    size = 0
    for work in works:
        group.append(work)
        size += work.size_bytes
        if len(group) >= _GROUP_FILES or size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
