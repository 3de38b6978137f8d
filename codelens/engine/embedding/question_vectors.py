"""Embeds a query with the enabled provider and compares it with the vectors of a view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from codelens.config import Settings
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.embedding import provider_consent, sendable_texts, vector_sync
from codelens.engine.index_pool import IndexPool
from codelens.errors import SettingError, StoreError
from codelens.meaning.providers.embedder import (
    FOR_A_QUESTION,
    Patience,
    connected,
    length_squared,
    packed,
)
from codelens.meaning.providers.embedding_client import ProviderError
from codelens.meaning.providers.provider_registry import (
    LOCAL_SLOW,
    CapabilityProfile,
    provider_called,
)
from codelens.meaning.question_likeness import QuestionLikeness
from codelens.meaning.vector_store import VectorStoreError
from codelens.paths import vectors_file
from codelens.store import vector_tables
from codelens.store.database.database import Database
from codelens.store.vector_tables import Consent, open_vectors
from codelens.wording import count_of


class AskedProvider(NamedTuple):
    """The provider's vector of a query."""

    provider: str
    profile: CapabilityProfile
    fingerprint: int
    vector: bytes
    """Empty without one; `note` then has the reason."""
    note: str = ""
    elsewhere: Mapping[bytes, float] | None = None
    """Similarity of the view's texts to the query, from a remote store."""


def ask(
    settings: Settings, repo_id: str, question: str, patience: Patience = FOR_A_QUESTION
) -> AskedProvider | None:
    """The vector of a query; None if no provider is enabled, and nothing is sent.

    A repeated query is not sent again.
    """
    path = vectors_file(settings.home, repo_id)
    if not path.exists():
        return None
    try:
        with open_vectors(path) as db:
            consent = vector_tables.consent_of(db)
            if consent is None:
                return None
            provider_consent.refuse_damaged(settings)
            return _embedded_question(db, consent, question, patience)
    except SettingError as error:
        return _without_vector("the provider", str(error))
    except StoreError as error:
        return _without_vector("the provider", f"its vectors cannot be used: {error}")


def _embedded_question(
    db: Database, consent: Consent, question: str, patience: Patience
) -> AskedProvider:
    spec = provider_called(consent.provider)
    fingerprint = vector_tables.fingerprint_of(db, consent)
    if fingerprint is None or not (consent.store or vector_tables.counted(db, fingerprint.id)[0]):
        return _without_vector(spec.name, "it has no vectors yet: run `codelens meaning sync`")
    without = AskedProvider(spec.name, spec.profile, fingerprint.id, b"")
    name = vector_tables.text_hash(question, "query")
    before = vector_tables.vectors_of(db, fingerprint.id, [name])
    if before:
        return without._replace(vector=before[name])
    try:
        with connected(
            spec, consent.model, consent.endpoint, patience=patience, dimension=consent.dimension
        ) as embedder:
            try:
                vector = packed(embedder.embed([question], "query").vectors[0])
            finally:
                with db.write(None):
                    provider_consent.count(db, consent, embedder.take_sent())
    except ProviderError as error:
        return _without_vector(spec.name, str(error))
    with db.write(None):
        vector_tables.put_question(db, fingerprint.id, name, vector)
    return without._replace(vector=vector)


def _without_vector(provider: str, why: str) -> AskedProvider:
    note = f"ranked without {provider}: {why}"
    return AskedProvider(provider, LOCAL_SLOW, 0, b"", note)


def ask_store(
    pool: IndexPool, request: ViewRequest, provider: AskedProvider, question: str, *, alone: bool
) -> AskedProvider:
    """Add the similarities of the view's texts from a remote store, if one is used.

    Runs before the index is locked for the answer, so that no other call waits for the store.

    Args:
        pool: opens the repository.
        request: which view.
        provider: with the vector of the query.
        question: the words of the query.
        alone: the store alone ranks; a hybrid one then ranks by words, too.
    """
    path = vectors_file(pool.settings.home, pool.open(request.path, request.ref).scope.repo_id)
    try:
        with open_vectors(path) as db:
            consent = vector_tables.consent_of(db)
            if consent is None or not consent.store or not provider.vector:
                return provider
            texts = vector_sync.texts_of_view(pool, request, db)
        with provider_consent.milvus(consent, provider_consent.FOR_A_QUESTION_S) as store:
            if alone and consent.hybrid:
                terms = provider_consent.terms_of(question)
                most = len(texts)
                return provider._replace(
                    elsewhere=store.ranked(provider.vector, terms, texts, most)
                )
            full = length_squared(len(provider.vector))
            products = store.products(provider.vector, texts)
            likenesses = {text: product / full for text, product in products.items()}
            return provider._replace(elsewhere=likenesses)
    except (StoreError, VectorStoreError) as error:
        return _without_vector(provider.provider, str(error))


def likeness(view: CurrentView, provider: AskedProvider) -> tuple[QuestionLikeness | None, str]:
    """The similarity of a view's contents to the query, and a note on missing vectors."""
    if not provider.vector:
        return None, provider.note
    try:
        with open_vectors(vectors_file(view.settings.home, view.scope.repo_id)) as db:
            chosen = sendable_texts.sendable(view)
            texts = sendable_texts.texts_by_content(db, chosen.contents)
            by_text = provider.elsewhere
            if by_text is None:
                by_text = _likenesses(db, provider, texts.values())
    except StoreError as error:
        return None, f"ranked without {provider.provider}: its vectors cannot be used: {error}"
    texts_with_vector = {*by_text, sendable_texts.NO_TEXT}
    contents = {
        content: [by_text.get(text, 0.0) for text in row]
        for content, row in texts.items()
        if texts_with_vector.issuperset(row)
    }
    note = ""
    missing = len(chosen.contents) - len(contents)
    if missing:
        note = (
            f"{missing:,} of {count_of(len(chosen.contents), 'text')} have no vectors by "
            f"{provider.provider} yet: `codelens meaning sync` sends them"
        )
    if not contents:
        return None, note
    return QuestionLikeness(provider.provider, contents), note


def _likenesses(
    db: Database, provider: AskedProvider, rows: Iterable[Sequence[bytes]]
) -> dict[bytes, float]:
    """Similarity of texts to the query, by the vectors on this machine."""
    texts = {text for row in rows for text in row} - {sendable_texts.NO_TEXT}
    products = provider_consent.embedded(db, provider.fingerprint).products(provider.vector, texts)
    full = length_squared(len(provider.vector))
    return {text: product / full for text, product in products.items()}
