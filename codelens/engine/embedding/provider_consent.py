"""Consent to send a repository's texts to a provider: what it would cost, given, withdrawn."""

from __future__ import annotations

import os
import time

from codelens.answers.meaning_answers import Enabled, SendingPlan
from codelens.config import Settings
from codelens.engine.current_view import CurrentView, OpenRepository
from codelens.engine.embedding import chosen_store, sendable_texts
from codelens.engine.embedding.chosen_store import checked_store
from codelens.errors import IndexCorrupt, SettingError
from codelens.meaning.providers.embedder import BYTES_A_TOKEN, Sent, connected
from codelens.meaning.providers.patient_requests import FOR_INDEXING, Patience
from codelens.meaning.providers.provider_errors import ProviderError
from codelens.meaning.providers.provider_registry import (
    ProviderSpec,
    checked_endpoint,
    provider_called,
)
from codelens.paths import printed, vectors_file
from codelens.store.database.database import Database
from codelens.store.vectors import provider_choice, text_vectors_table
from codelens.store.vectors.provider_choice import Consent
from codelens.store.vectors.vectors_file import (
    alone_writing,
    giving_back,
    open_vectors,
    remove_file,
)


class ProviderNotEnabled(ProviderError):
    """No provider may be sent texts of this repository."""

    def __init__(self) -> None:
        super().__init__(
            "no provider is enabled for this repository, so nothing is sent",
            typed="`codelens meaning enable --provider NAME` enables one",
            called="a person enables one with `codelens meaning enable --provider NAME`",
        )


def refuse_damaged(settings: Settings) -> None:
    """Send nothing by settings that are not the user's: they may say that less is to be sent.

    Raises:
        SettingError: the settings file cannot be understood.
    """
    if settings.damage:
        raise SettingError(
            f"nothing is sent to a provider while the settings are invalid: {settings.damage}"
        )


def plan(
    view: CurrentView, provider: str, model: str, endpoint: str, *, store: str, hybrid: bool
) -> SendingPlan:
    """See `Engine.meaning_plan`."""
    spec = provider_called(provider)
    where = checked_store(store, hybrid=hybrid)
    url = checked_endpoint(spec, endpoint)
    chosen = sendable_texts.sendable(view)
    with open_vectors(vectors_file(view.settings.home, view.scope.repo_id)) as db:
        known = _fingerprint_before(db, spec, model or spec.model)
        sendable_texts.note_texts(view, db, chosen.contents)
        lacking = sendable_texts.lacking(view, db, known, chosen.contents)
    return SendingPlan(
        view.receipt(), spec.name, model or spec.model, url, spec.key_variable, chosen.files,
        chosen.left_out + lacking.left_out, lacking.total, lacking.size_bytes,
        -(-lacking.size_bytes // BYTES_A_TOKEN),
        spec.reranker is not None and spec.profile.reranks and view.settings.rerank, where, hybrid,
    )  # fmt: skip


def _fingerprint_before(db: Database, spec: ProviderSpec, model: str) -> int | None:
    """The vectors that this model made already; None if it was never enabled here."""
    consent = provider_choice.consent_of(db)
    if consent is None or (consent.provider, consent.model) != (spec.name, model):
        return None
    known = provider_choice.fingerprint_of(db, consent)
    return known.id if known else None


def enable(
    opened: OpenRepository,
    *,
    provider: str,
    model: str,
    endpoint: str,
    store: str = "",
    hybrid: bool = False,
    patience: Patience = FOR_INDEXING,
) -> Enabled:
    """See `Engine.meaning_enable`."""
    refuse_damaged(opened.settings)
    spec = provider_called(provider)
    where = checked_store(store, hybrid=hybrid)
    model, url = model or spec.model, checked_endpoint(spec, endpoint)
    with connected(spec, model, url, patience=patience) as embedder:
        dimension = embedder.dimension()
        probe = embedder.take_sent()
    scope, settings = opened.scope, opened.settings
    consent = Consent(
        spec.name, model, url, dimension, time.time(), where, hybrid,
        root=printed(os.fsencode(scope.root)),
    )  # fmt: skip
    consent = consent._replace(collection=chosen_store.collection_of(opened, consent))
    if consent.store:
        # What cannot be reached is told now, and not after the texts were sent.
        with chosen_store.milvus(consent, chosen_store.FOR_A_QUESTION_S) as reached:
            reached.known(())
    with open_vectors(vectors_file(settings.home, scope.repo_id)) as db, db.write(None):
        provider_choice.give_consent(db, consent)
        known = provider_choice.ensure_fingerprint(db, consent)
        count(db, consent, probe)
    return Enabled(spec.name, model, url, dimension, known.state, where, hybrid)


def is_enabled(settings: Settings, repo_id: str) -> bool:
    """Whether texts of a repository may be sent.

    Raises:
        StoreError: the file that says so cannot be used.
    """
    path = vectors_file(settings.home, repo_id)
    if settings.damage or not path.exists():
        return False
    with open_vectors(path) as db:
        return provider_choice.consent_of(db) is not None


def disable(settings: Settings, repo_id: str) -> bool:
    """See `Engine.meaning_disable`."""
    path = vectors_file(settings.home, repo_id)
    if not path.exists():
        return False
    with open_vectors(path) as db, db.write(None):
        was_enabled = provider_choice.consent_of(db) is not None
        provider_choice.withdraw(db)
    return was_enabled


def clear(settings: Settings, repo_id: str) -> int:
    """See `Engine.meaning_clear`."""
    path = vectors_file(settings.home, repo_id)
    if not path.exists():
        return 0
    size = path.stat().st_size
    with alone_writing(path):
        try:
            with open_vectors(path) as db:
                consent = provider_choice.consent_of(db)
                if consent is not None and consent.store:
                    with chosen_store.milvus(consent, chosen_store.FOR_INDEXING_S) as store:
                        store.clear()
                with giving_back(db) as freed, db.write(None):
                    text_vectors_table.clear(db)
                    if consent is not None:
                        provider_choice.ensure_fingerprint(db, consent)
                return freed()
        except IndexCorrupt:
            remove_file(path)
            return size


def count(db: Database, consent: Consent, sent: Sent) -> None:
    """Count what was sent; in the caller's transaction."""
    if sent.requests:
        where = (consent.provider, consent.model, consent.endpoint)
        text_vectors_table.add_sent(db, where, sent)
