"""Vectors for the texts of a view that have none: sent in batches, each stored when it is there.

What is stored stays, so a run that was broken off goes on where it stopped, and no text is sent
twice, whichever branch or worktree brings it. Vectors come into the repository's own file first;
a store on another machine is filled from there, so nothing is lost while it is down.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from codelens.answers.meaning_answers import Synced
from codelens.engine.current_view import CurrentView
from codelens.engine.embedding import chosen_store, provider_consent, sendable_texts, store_filling
from codelens.engine.embedding.provider_consent import ProviderNotEnabled, refuse_damaged
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
from codelens.store.vectors import provider_choice, synced_files, text_vectors_table
from codelens.store.vectors.provider_choice import Consent, Fingerprint
from codelens.store.vectors.vectors_file import alone_writing, open_vectors
from codelens.types import Receipt

_HELD_TEXTS = 2_000
"""Texts that are in memory at once; between such lots other questions are answered."""
_STAGE = "sending texts"


class _Lot(NamedTuple):
    """Texts to be sent next, of a view as it was then."""

    lacking: Lacking
    left_out: int
    receipt: Receipt
    place: str
    files: Mapping[bytes, bytes]
    """Path -> hash, of what may be sent."""


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
        consent = provider_choice.consent_of(db)
        if consent is None:
            raise ProviderNotEnabled
        with db.write(None):
            fingerprint = provider_choice.ensure_fingerprint(db, consent)
        run = _Run(pool, request, db, consent, fingerprint, patience)
        try:
            return run.synced(most_texts)
        except CodelensError as error:
            # Where not even that can be written, the error says why.
            with suppress(StoreError), db.write(None):
                provider_choice.set_state(db, consent, fingerprint.id, "failed", str(error))
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
        """Send what has no vector anywhere, then fill the store."""
        if most_texts is None:
            most_texts = self.pool.settings.most_texts or None
        elsewhere = self._in_store()
        lot = self._next_lot(_room(most_texts, 0), elsewhere)
        changes = synced_files.changes_since(self.db, lot.place, lot.files)
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
        """Send lot after lot; what was sent, how many texts, and what is left."""
        db, consent, total, done = self.db, self.consent, Sent(), 0
        with db.write(None):
            provider_choice.set_state(db, consent, self.fingerprint.id, "indexing")
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
        """Texts of the view that have a vector on another machine, where such a store is chosen."""
        if not self.consent.store:
            return set()
        texts = store_filling.texts_of_view(self.pool, self.request, self.db)
        with chosen_store.milvus(self.consent, chosen_store.FOR_INDEXING_S) as store:
            return store.known(texts)

    def _fill(self) -> int:
        """How many vectors of this machine the store on another one got; 0 where there is none."""
        if not self.consent.store:
            return 0
        with chosen_store.milvus(self.consent, chosen_store.FOR_INDEXING_S) as store:
            return store_filling.fill(
                self.pool, self.request, self.db, store,
                fingerprint=self.fingerprint.id, hybrid=self.consent.hybrid,
            )  # fmt: skip

    def _next_lot(self, room: int, elsewhere: set[bytes]) -> _Lot:
        """The next texts without a vector; the index is held while they are gathered, no longer."""
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
        """The state after all that could be done."""
        before = self.fingerprint.state
        if lot.lacking.total:
            return "indexing" if done else before
        state = "synced" if before in {"indexed", "synced"} else "indexed"
        with self.db.write(None):
            provider_choice.set_state(self.db, self.consent, self.fingerprint.id, state)
            synced_files.note_files(self.db, lot.place, lot.files)
        return state


def _place_of(view: CurrentView) -> str:
    scope = view.scope
    place = scope.key if scope.kind == "ref" else scope.root
    return os.fsencode(place).decode("utf-8", "backslashreplace")


def _room(most_texts: int | None, done: int) -> int:
    return _HELD_TEXTS if most_texts is None else min(_HELD_TEXTS, most_texts - done)


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
