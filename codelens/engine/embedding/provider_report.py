"""The provider of a repository, how far its vectors are, and what was sent to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from codelens.answers.meaning_answers import EnabledRepository, ProviderStatus, SentTexts
from codelens.config import Settings
from codelens.engine.current_view import CurrentView
from codelens.engine.embedding import chosen_store, sendable_texts
from codelens.engine.embedding.sendable_texts import NO_TEXT
from codelens.errors import StoreError
from codelens.meaning.stores.store_errors import VectorStoreError
from codelens.paths import VECTORS_FOLDER, vectors_file
from codelens.store.database.database import Database
from codelens.store.vectors import provider_choice, text_vectors_table
from codelens.store.vectors.provider_choice import Consent
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


def enabled_repositories(settings: Settings) -> list[EnabledRepository]:
    """See `Engine.meaning_list`; no provider and no store is asked."""
    folder = settings.home / VECTORS_FOLDER
    files = sorted(folder.glob("vectors-*.db")) if folder.is_dir() else []
    listed: list[EnabledRepository] = []
    for path in files:
        try:
            with open_vectors(path) as db:
                consent = provider_choice.consent_of(db)
                known = provider_choice.fingerprint_of(db, consent) if consent else None
        except StoreError as error:
            listed.append(EnabledRepository(str(path), "", "", "", "unreadable", str(error)))
            continue
        if consent is not None:
            state, failure = (known.state, known.failure) if known else ("requires_reindex", "")
            root = consent.root or str(path)
            listed.append(
                EnabledRepository(
                    root, consent.provider, consent.model, consent.store, state, failure
                )
            )
    return sorted(listed, key=lambda repository: (repository.state, repository.root))


def _status(view: CurrentView, db: Database) -> ProviderStatus:
    sent = tuple(SentTexts(*total) for total in text_vectors_table.sent_totals(db))
    consent = provider_choice.consent_of(db)
    if consent is None:
        return ProviderStatus("", "", "", 0, "", "", 0, 0, 0, 0, 0, sent)
    known = provider_choice.fingerprint_of(db, consent)
    chosen = sendable_texts.sendable(view)
    rows = text_vectors_table.texts_of(db, chosen.contents.values())
    with_keys = sum(1 for row in rows.values() if not row.texts)
    texts, size, ready, failure = 0, 0, 0, ""
    if known is not None:
        texts, size = text_vectors_table.counted(db, known.id)
        every = {text for row in rows.values() for text in row.hashes()} - {NO_TEXT}
        have, failure = _known(db, consent, known.id, every)
        ready = _ready(chosen, rows, have)
    return ProviderStatus(
        consent.provider, consent.model, consent.endpoint, consent.dimension,
        known.state if known else "requires_reindex", known.failure if known else "",
        texts, size, len(chosen.contents), ready, chosen.left_out + with_keys, sent,
        consent.store, consent.hybrid, consent.collection, failure,
    )  # fmt: skip


def _known(
    db: Database, consent: Consent, fingerprint: int, texts: Collection[bytes]
) -> tuple[set[bytes], str]:
    """Which texts have a vector where they are searched, and why that cannot be told."""
    here = text_vectors_table.known_texts(db, fingerprint, texts)
    if not consent.store:
        return here, ""
    try:
        with chosen_store.milvus(consent, chosen_store.FOR_A_QUESTION_S) as store:
            return store.known(texts), ""
    except VectorStoreError as error:
        return here, str(error)


def _ready(
    chosen: sendable_texts.Sendable,
    rows: Mapping[ContentKey, ContentTexts],
    known: Collection[bytes],
) -> int:
    """How many contents have all their vectors, or nothing to be sent in them."""
    by_key = {key: set(row.hashes()) - {NO_TEXT} for key, row in rows.items()}
    return sum(
        1 for key in chosen.contents.values() if key in by_key and by_key[key].issubset(known)
    )
