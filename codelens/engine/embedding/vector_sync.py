"""Vectors for the texts of a view that have none: sent in batches, each stored when it is there.

What is stored stays, so a run that was broken off goes on where it stopped, and no text is sent
twice, whichever branch or worktree brings it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from codelens.answers.meaning_answers import Synced
from codelens.engine.current_view import CurrentView
from codelens.engine.embedding import provider_consent, sendable_texts
from codelens.engine.embedding.provider_consent import ProviderNotEnabled
from codelens.engine.embedding.sendable_texts import Lacking
from codelens.engine.index_pool import IndexPool
from codelens.engine.view_request import ViewRequest
from codelens.errors import CodelensError, StoreError
from codelens.meaning.providers.embedder import Embedder, Sent, connected
from codelens.meaning.providers.patient_requests import FOR_INDEXING, Patience
from codelens.meaning.providers.provider_registry import provider_called
from codelens.meaning.providers.quantized_vectors import packed
from codelens.paths import vectors_file
from codelens.store.database.database import Database
from codelens.store.vectors import provider_choice, text_vectors_table
from codelens.store.vectors.provider_choice import Consent
from codelens.store.vectors.vectors_file import alone_writing, open_vectors
from codelens.types import Receipt

_HELD_TEXTS = 2_000
"""Texts that are in memory at once; between such lots other questions are answered."""
_STAGE = "sending texts"


class _Lot(NamedTuple):
    """Texts to be sent next."""

    lacking: Lacking
    left_out: int
    receipt: Receipt


def sync(
    pool: IndexPool,
    request: ViewRequest,
    most_texts: int | None = None,
    patience: Patience = FOR_INDEXING,
) -> Synced:
    """See `Engine.meaning_sync`."""
    opened = pool.open(request.path, request.ref)
    path = vectors_file(pool.settings.home, opened.scope.repo_id)
    if not path.exists():
        raise ProviderNotEnabled
    with alone_writing(path), open_vectors(path) as db:
        consent = provider_choice.consent_of(db)
        if consent is None:
            raise ProviderNotEnabled
        with db.write(None):
            fingerprint = provider_choice.ensure_fingerprint(db, consent)
        try:
            return _sync(pool, request, db, consent, most_texts=most_texts, patience=patience)
        except CodelensError as error:
            # Where not even that can be written, the error says why.
            with suppress(StoreError), db.write(None):
                provider_choice.set_state(db, fingerprint.id, "failed", str(error))
            raise


def _sync(
    pool: IndexPool,
    request: ViewRequest,
    db: Database,
    consent: Consent,
    *,
    most_texts: int | None,
    patience: Patience,
) -> Synced:
    spec = provider_called(consent.provider)
    fingerprint = provider_choice.fingerprint_of(db, consent)
    assert fingerprint is not None
    is_first = fingerprint.state not in {"indexed", "synced"}
    total, done = Sent(), 0
    lot = _next_lot(pool, request, db, fingerprint.id, _room(most_texts, done))
    if lot.lacking.texts:
        with db.write(None):
            provider_choice.set_state(db, fingerprint.id, "indexing")
        expected = min(lot.lacking.total, lot.lacking.total if most_texts is None else most_texts)
        with connected(
            spec, consent.model, consent.endpoint, patience=patience, dimension=consent.dimension
        ) as embedder:
            while lot.lacking.texts:
                sender = _Sender(db, consent, fingerprint.id, embedder)
                base = done
                total = sender.send(
                    lot.lacking, total,
                    lambda sent, base=base: request.progress(_STAGE, base + sent, expected),
                )  # fmt: skip
                done += len(lot.lacking.texts)
                lot = _next_lot(pool, request, db, fingerprint.id, _room(most_texts, done))
    state = fingerprint.state
    if not lot.lacking.total:
        state = "indexed" if is_first else "synced"
        with db.write(None):
            provider_choice.set_state(db, fingerprint.id, state)
    elif done:
        state = "indexing"
    return Synced(
        lot.receipt, consent.provider, consent.model, state, total.requests, total.failed, done,
        total.bytes, total.tokens, lot.lacking.total, lot.left_out,
    )  # fmt: skip


def _room(most_texts: int | None, done: int) -> int:
    return _HELD_TEXTS if most_texts is None else min(_HELD_TEXTS, most_texts - done)


def _next_lot(
    pool: IndexPool, request: ViewRequest, db: Database, fingerprint: int, room: int
) -> _Lot:
    """The next texts without a vector; the index is held while they are gathered, no longer."""
    with pool.view(request) as view, view.reading():
        return _gathered(view, db, fingerprint, room)


def _gathered(view: CurrentView, db: Database, fingerprint: int, room: int) -> _Lot:
    chosen = sendable_texts.sendable(view)
    sendable_texts.note_texts(view, db, chosen.contents)
    lacking = sendable_texts.lacking(view, db, fingerprint, chosen.contents, room)
    return _Lot(lacking, chosen.left_out + lacking.left_out, view.receipt())


class _Sender(NamedTuple):
    """Sends a lot of texts and stores what comes back, request by request."""

    db: Database
    consent: Consent
    fingerprint: int
    embedder: Embedder

    def send(self, lacking: Lacking, total: Sent, progress: Callable[[int], None]) -> Sent:
        """What was sent in all, `total` included."""
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
                    text_vectors_table.put_vectors(self.db, self.fingerprint, rows)
                    provider_consent.count(self.db, self.consent, sent)
                progress(end)
        finally:
            # What failed left this machine all the same.
            with self.db.write(None):
                provider_consent.count(self.db, self.consent, self.embedder.take_sent())
        return total
