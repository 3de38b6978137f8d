"""Keeps the vectors of views up to date: sends new texts, fills the store, removes old vectors."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from codelens.answers.upkeep_answers import PrunedVectors, Synced
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.embedding import provider_consent, sendable_texts
from codelens.engine.embedding.provider_consent import ProviderNotEnabled, refuse_damaged
from codelens.engine.embedding.sendable_texts import NO_TEXT, Lacking
from codelens.engine.index_pool import IndexPool
from codelens.errors import CodelensError, IndexLocked, StoreError
from codelens.meaning.providers.embedder import (
    FOR_INDEXING,
    Embedder,
    Patience,
    Sent,
    connected,
    packed,
)
from codelens.meaning.providers.provider_registry import provider_called
from codelens.meaning.vector_store import StoredText, VectorStore
from codelens.paths import vectors_file
from codelens.store import vector_tables
from codelens.store.database.database import Database
from codelens.store.facts.contents import hashes_in_views
from codelens.store.vector_tables import (
    Consent,
    Fingerprint,
    alone_writing,
    giving_back,
    open_vectors,
)
from codelens.types import Receipt


def prune(pool: IndexPool, request: ViewRequest) -> PrunedVectors:
    """See `Engine.meaning_prune`."""
    path = vectors_file(pool.settings.home, pool.open(request.path, request.ref).scope.repo_id)
    if not path.exists():
        return PrunedVectors(0, 0, 0)
    with alone_writing(path), open_vectors(path) as db:
        # First brings the view up to date, so that new texts keep their vectors.
        with pool.view(request) as view, view.reading():
            in_views = hashes_in_views(view.snapshot.db)
        with giving_back(db) as freed, db.write(None):
            removed = vector_tables.keep_only(db, in_views)
        return PrunedVectors(removed, vector_tables.counted_all(db), freed())


# Copies vectors from this machine to a remote store that lacks them.

_AT_ONCE = 500
_FILL_STAGE = "filling the store"


def texts_of_view(pool: IndexPool, request: ViewRequest, db: Database) -> set[bytes]:
    """The texts of a view that may be sent; locks the index only meanwhile."""
    with pool.view(request) as view, view.reading():
        chosen = sendable_texts.sendable(view)
        sendable_texts.note_texts(view, db, chosen.contents)
        by_content = sendable_texts.texts_by_content(db, chosen.contents)
    return {text for row in by_content.values() for text in row} - {NO_TEXT}


def fill(
    pool: IndexPool,
    request: ViewRequest,
    db: Database,
    store: VectorStore,
    *,
    fingerprint: int,
    hybrid: bool,
) -> int:
    """Store vectors that exist here and are missing there; returns the number of rows.

    Raises:
        VectorStoreError: the store failed; rows stored so far remain.
    """
    texts = texts_of_view(pool, request, db)
    here = vector_tables.known_texts(db, fingerprint, texts)
    lacking = sorted(here - store.known(here))
    stored = 0
    for at in range(0, len(lacking), _AT_ONCE):
        batch = lacking[at : at + _AT_ONCE]
        terms = _terms(pool, request, db, batch) if hybrid else None
        vectors = vector_tables.vectors_of(db, fingerprint, batch)
        rows = [
            StoredText(text, vector, terms[text] if terms is not None else "")
            for text, vector in vectors.items()
            if terms is None or text in terms
        ]
        store.put(rows)
        stored += len(rows)
        request.progress(_FILL_STAGE, at + len(batch), len(lacking))
    return stored


def _terms(
    pool: IndexPool, request: ViewRequest, db: Database, texts: list[bytes]
) -> dict[bytes, str]:
    """The terms by which the store ranks texts, in addition to vectors; skips changed files."""
    with pool.view(request) as view, view.reading():
        contents = sendable_texts.sendable(view).contents
        words = sendable_texts.read_texts(view, db, contents, frozenset(texts))
    return {text: provider_consent.terms_of(text_words) for text, text_words in words.items()}


# Embeds the texts of a view that have no vector: in batches, each stored as it arrives.
#
# Stored vectors remain, so an interrupted run resumes where it stopped, and no text is sent twice,
# from any branch or worktree. Vectors go first into the repository's own file; a remote store is
# filled from there, so nothing is lost while it is down.

_HELD_TEXTS = 2_000
"""Texts in memory at once; between these batches, other calls are answered."""
_STAGE = "sending texts"


class _Lot(NamedTuple):
    """The next texts to send, from one state of a view."""

    lacking: Lacking
    left_out: int
    receipt: Receipt
    place: str
    files: Mapping[bytes, bytes]
    """Path -> hash of the files that may be sent."""


def sync(
    pool: IndexPool,
    request: ViewRequest,
    most_texts: int | None = None,
    patience: Patience = FOR_INDEXING,
) -> Synced:
    """See `Engine.meaning_sync`."""
    refuse_damaged(pool.settings)
    opened = pool.open(request.path, request.ref)
    path = vectors_file(pool.settings.home, opened.scope.repo_id)
    if not path.exists():
        raise ProviderNotEnabled
    with alone_writing(path), open_vectors(path) as db:
        consent = vector_tables.consent_of(db)
        if consent is None:
            raise ProviderNotEnabled
        with db.write(None):
            fingerprint = vector_tables.ensure_fingerprint(db, consent)
        run = _Run(pool, request, db, consent, fingerprint, patience)
        try:
            return run.synced(most_texts)
        except CodelensError as error:
            # If the state cannot be recorded, the error itself still reports the reason.
            with suppress(StoreError), db.write(None):
                vector_tables.set_state(db, consent, fingerprint.id, "failed", str(error))
            raise


class _Run(NamedTuple):
    """One sync of one view."""

    pool: IndexPool
    request: ViewRequest
    db: Database
    consent: Consent
    fingerprint: Fingerprint
    patience: Patience

    def synced(self, most_texts: int | None) -> Synced:
        """Send texts that have no vector anywhere, then fill the store."""
        if most_texts is None:
            most_texts = self.pool.settings.most_texts or None
        elsewhere = self._in_store()
        lot = self._next_lot(_room(most_texts, 0), elsewhere)
        changes = vector_tables.changes_since(self.db, lot.place, lot.files)
        total, done = Sent(), 0
        if lot.lacking.texts:
            total, done, lot = self._send(lot, most_texts, elsewhere)
        stored = self._fill()
        state = self._ended(lot, done)
        return Synced(
            lot.receipt, self.consent.provider, self.consent.model, state, total.requests,
            total.failed, done, total.bytes, total.tokens, lot.lacking.total, lot.left_out,
            *changes, stored,
        )  # fmt: skip

    def _send(
        self, lot: _Lot, most_texts: int | None, elsewhere: set[bytes]
    ) -> tuple[Sent, int, _Lot]:
        """Send lot after lot; returns what was sent, the number of texts, and the last lot."""
        db, consent, total, done = self.db, self.consent, Sent(), 0
        with db.write(None):
            vector_tables.set_state(db, consent, self.fingerprint.id, "indexing")
        expected = min(lot.lacking.total, lot.lacking.total if most_texts is None else most_texts)
        with connected(
            provider_called(consent.provider), consent.model, consent.endpoint,
            patience=self.patience, dimension=consent.dimension,
        ) as embedder:  # fmt: skip
            while lot.lacking.texts:
                sender = _Sender(db, consent, self.fingerprint.id, embedder)
                base = done
                total = sender.send(
                    lot.lacking, total,
                    lambda sent, base=base: self.request.progress(_STAGE, base + sent, expected),
                )  # fmt: skip
                done += len(lot.lacking.texts)
                lot = self._next_lot(_room(most_texts, done), elsewhere)
        return total, done, lot

    def _in_store(self) -> set[bytes]:
        """Texts of the view with a vector in the remote store, if one is configured."""
        if not self.consent.store:
            return set()
        texts = texts_of_view(self.pool, self.request, self.db)
        with provider_consent.milvus(self.consent, provider_consent.FOR_INDEXING_S) as store:
            return store.known(texts)

    def _fill(self) -> int:
        """Fill the remote store from this machine; returns the number of vectors, 0 without one."""
        if not self.consent.store:
            return 0
        with provider_consent.milvus(self.consent, provider_consent.FOR_INDEXING_S) as store:
            return fill(
                self.pool, self.request, self.db, store,
                fingerprint=self.fingerprint.id, hybrid=self.consent.hybrid,
            )  # fmt: skip

    def _next_lot(self, room: int, elsewhere: set[bytes]) -> _Lot:
        """The next texts without a vector; locks the index only while it collects them."""
        with self.pool.view(self.request) as view, view.reading():
            chosen = sendable_texts.sendable(view)
            sendable_texts.note_texts(view, self.db, chosen.contents)
            lacking = sendable_texts.lacking(
                view,
                self.db,
                self.fingerprint.id,
                chosen.contents,
                most_texts=room,
                elsewhere=elsewhere,
            )
            files = {
                file.path: content_hash
                for content, (content_hash, _) in chosen.contents.items()
                for file in view.snapshot.by_content[content]
            }
            left_out = chosen.left_out + lacking.left_out
            return _Lot(lacking, left_out, view.receipt(), _place_of(view), files)

    def _ended(self, lot: _Lot, done: int) -> str:
        """The final state of a run."""
        before = self.fingerprint.state
        if lot.lacking.total:
            return "indexing" if done else before
        state = "synced" if before in {"indexed", "synced"} else "indexed"
        with self.db.write(None):
            vector_tables.set_state(self.db, self.consent, self.fingerprint.id, state)
            vector_tables.note_files(self.db, lot.place, lot.files)
        return state


def _place_of(view: CurrentView) -> str:
    scope = view.scope
    place = scope.key if scope.kind == "ref" else scope.root
    return os.fsencode(place).decode("utf-8", "backslashreplace")


def _room(most_texts: int | None, done: int) -> int:
    return _HELD_TEXTS if most_texts is None else min(_HELD_TEXTS, most_texts - done)


class _Sender(NamedTuple):
    """Sends a lot of texts and stores the vectors, request by request."""

    db: Database
    consent: Consent
    fingerprint: int
    embedder: Embedder

    def send(self, lacking: Lacking, total: Sent, progress: Callable[[int], None]) -> Sent:
        """Send the texts; returns the sum of `total` and what was sent."""
        keys, texts = list(lacking.texts), list(lacking.texts.values())
        try:
            for batch in self.embedder.batches(texts, "document"):
                end = batch.start + len(batch.texts)
                rows = zip(
                    keys[batch.start : end], map(packed, batch.embedded.vectors), strict=True
                )
                sent = self.embedder.take_sent()
                total = Sent(*map(sum, zip(total, sent, strict=True)))
                with self.db.write(None):
                    vector_tables.put_vectors(self.db, self.fingerprint, rows)
                    provider_consent.count(self.db, self.consent, sent)
                progress(end)
        finally:
            # Texts of a failed request were sent, too.
            with self.db.write(None):
                provider_consent.count(self.db, self.consent, self.embedder.take_sent())
        return total


# Background sync in a server: worktrees in use are synced soon after a call, and periodically.
#
# One thread, one worktree at a time; several calls on one worktree cause one sync. Does nothing if
# no provider is enabled; a server does not wait for it on exit.

logger = logging.getLogger(__name__)


class Pauses(NamedTuple):
    """When a worktree is synced, in seconds."""

    first_s: float = 5.0
    """Delay after the first call about it."""
    between_s: float = 180.0
    """Interval between syncs of a worktree, if it was used since."""


USUAL = Pauses()


class BackgroundSync:
    """Syncs worktrees that are in use.

    Args:
        sync: brings the vectors of a worktree up to date, by its root; raises `CodelensError`.
        pauses: the schedule.
    """

    def __init__(self, sync: Callable[[str], object], pauses: Pauses = USUAL) -> None:
        self._sync = sync
        self._pauses = pauses
        self._due: dict[str, float] = {}
        """Root -> time of the next sync."""
        self._earliest: dict[str, float] = {}
        """Root -> earliest time of the next sync."""
        self._wake = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def note(self, root: str) -> None:
        """Record a call about a worktree with an enabled provider."""
        with self._wake:
            soon = time.monotonic() + self._pauses.first_s
            self._due.setdefault(root, max(soon, self._earliest.get(root, 0.0)))
            if self._thread is None and not self._stopping:
                # A daemon: the process ends with its client, and each response is stored.
                self._thread = threading.Thread(
                    target=self._run, name="codelens-vectors", daemon=True
                )
                self._thread.start()
            self._wake.notify()

    def stop(self) -> None:
        """Start no more syncs."""
        with self._wake:
            self._stopping = True
            self._wake.notify()

    def _run(self) -> None:
        while (root := self._next()) is not None:
            try:
                self._sync(root)
            except IndexLocked as error:
                logger.debug("vectors of %s: %s", root, error)
            except CodelensError as error:
                logger.warning("syncing the vectors of %s failed: %s", root, error)
            except Exception:
                logger.exception("syncing the vectors of %s failed", root)

    def _next(self) -> str | None:
        """The root to sync now; None when the server ends."""
        with self._wake:
            while not self._stopping:
                now = time.monotonic()
                root = min(self._due, key=lambda root: self._due[root], default=None)
                if root is not None and self._due[root] <= now:
                    del self._due[root]
                    self._earliest[root] = now + self._pauses.between_s
                    return root
                self._wake.wait(None if root is None else self._due[root] - now)
            return None
