"""The provider of a repository, how far its vectors are, and what was sent to it."""

from __future__ import annotations

from collections.abc import Mapping

from codelens.answers.meaning_answers import ProviderStatus, SentTexts
from codelens.engine.current_view import CurrentView
from codelens.engine.embedding import sendable_texts
from codelens.paths import vectors_file
from codelens.store.database.database import Database
from codelens.store.vectors import provider_choice, text_vectors_table
from codelens.store.vectors.text_vectors_table import ContentKey, ContentTexts
from codelens.store.vectors.vectors_file import open_vectors

NO_PROVIDER = ProviderStatus("", "", "", 0, "", "", 0, 0, 0, 0, 0, ())


def provider_status(view: CurrentView) -> ProviderStatus:
    """What `Engine.meaning_status` tells of the provider; no file is made or read for it."""
    path = vectors_file(view.settings.home, view.scope.repo_id)
    if not path.exists():
        return NO_PROVIDER
    with open_vectors(path) as db:
        return _status(view, db)


def _status(view: CurrentView, db: Database) -> ProviderStatus:
    sent = tuple(SentTexts(*total) for total in text_vectors_table.sent_totals(db))
    consent = provider_choice.consent_of(db)
    if consent is None:
        return ProviderStatus("", "", "", 0, "", "", 0, 0, 0, 0, 0, sent)
    known = provider_choice.fingerprint_of(db, consent)
    chosen = sendable_texts.sendable(view)
    rows = text_vectors_table.texts_of(db, chosen.contents.values())
    with_keys = sum(1 for row in rows.values() if not row.texts)
    texts, size, ready = 0, 0, 0
    if known is not None:
        texts, size = text_vectors_table.counted(db, known.id)
        ready = _ready(db, known.id, chosen, rows)
    return ProviderStatus(
        consent.provider, consent.model, consent.endpoint, consent.dimension,
        known.state if known else "requires_reindex", known.failure if known else "",
        texts, size, len(chosen.contents), ready, chosen.left_out + with_keys, sent,
    )  # fmt: skip


def _ready(
    db: Database,
    fingerprint: int,
    chosen: sendable_texts.Sendable,
    rows: Mapping[ContentKey, ContentTexts],
) -> int:
    """How many contents have all their vectors, or nothing to be sent in them."""
    by_key = {key: set(row.hashes()) - {sendable_texts.NO_TEXT} for key, row in rows.items()}
    every = {text for texts in by_key.values() for text in texts}
    known = text_vectors_table.known_texts(db, fingerprint, every)
    return sum(1 for key in chosen.contents.values() if key in by_key and by_key[key] <= known)
