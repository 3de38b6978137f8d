"""The vector of a question by the provider that is enabled, and those of the view beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from codelens.config import Settings
from codelens.engine.current_view import CurrentView
from codelens.engine.embedding import provider_consent, sendable_texts
from codelens.errors import StoreError
from codelens.meaning.providers.capability_profiles import LOCAL_SLOW, CapabilityProfile
from codelens.meaning.providers.embedder import connected
from codelens.meaning.providers.patient_requests import FOR_A_QUESTION, Patience
from codelens.meaning.providers.provider_errors import ProviderError
from codelens.meaning.providers.provider_registry import provider_called
from codelens.meaning.providers.quantized_vectors import length_squared, packed, unpacked
from codelens.meaning.question_likeness import QuestionLikeness
from codelens.meaning.text_vectors import ZERO
from codelens.paths import vectors_file
from codelens.plurals import count_of
from codelens.store.database.database import Database
from codelens.store.vectors import provider_choice, text_vectors_table
from codelens.store.vectors.provider_choice import Consent
from codelens.store.vectors.text_vectors_table import ContentKey
from codelens.store.vectors.vectors_file import open_vectors


class AskedProvider(NamedTuple):
    """What an enabled provider made of a question."""

    provider: str
    profile: CapabilityProfile
    fingerprint: int
    vector: bytes
    """Empty: it made none, and `note` says why."""
    note: str = ""


def ask(
    settings: Settings, repo_id: str, question: str, patience: Patience = FOR_A_QUESTION
) -> AskedProvider | None:
    """The vector of a question; None where no provider is enabled, and nothing is sent.

    A question that was asked before is not sent again.
    """
    path = vectors_file(settings.home, repo_id)
    if not path.exists():
        return None
    try:
        with open_vectors(path) as db:
            consent = provider_choice.consent_of(db)
            return None if consent is None else _asked(db, consent, question, patience)
    except StoreError as error:
        return _nothing("the provider", f"its vectors cannot be used: {error}")


def _asked(db: Database, consent: Consent, question: str, patience: Patience) -> AskedProvider:
    spec = provider_called(consent.provider)
    known = provider_choice.fingerprint_of(db, consent)
    if known is None or not text_vectors_table.counted(db, known.id)[0]:
        return _nothing(spec.name, "it has no vectors yet: run `codelens meaning sync`")
    without = AskedProvider(spec.name, spec.profile, known.id, b"")
    name = text_vectors_table.text_hash(question, "query")
    before = text_vectors_table.vectors_of(db, known.id, [name])
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
        return _nothing(spec.name, str(error))
    with db.write(None):
        text_vectors_table.put_vectors(db, known.id, [(name, vector)])
    return without._replace(vector=vector)


def _nothing(provider: str, why: str) -> AskedProvider:
    note = f"ranked without {provider}: {why}"
    return AskedProvider(provider, LOCAL_SLOW, 0, b"", note)


def likeness(view: CurrentView, provider: AskedProvider) -> tuple[QuestionLikeness | None, str]:
    """The contents of a view beside the question, and a note on what is missing."""
    if not provider.vector:
        return None, provider.note
    try:
        with open_vectors(vectors_file(view.settings.home, view.scope.repo_id)) as db:
            chosen = sendable_texts.sendable(view)
            contents = _vectors_of(db, provider.fingerprint, chosen.contents, len(provider.vector))
    except StoreError as error:
        return None, f"ranked without {provider.provider}: its vectors cannot be used: {error}"
    note = ""
    missing = len(chosen.contents) - len(contents)
    if missing:
        note = (
            f"{missing:,} of {count_of(len(chosen.contents), 'text')} have no vectors by "
            f"{provider.provider} yet: `codelens meaning sync` sends them"
        )
    if not contents:
        return None, note
    dimension = len(provider.vector)
    return QuestionLikeness(
        provider.provider, unpacked(provider.vector), contents, length_squared(dimension)
    ), note


def _vectors_of(
    db: Database, fingerprint: int, contents: Mapping[int, ContentKey], dimension: int
) -> dict[int, bytes]:
    """Content -> vectors of its chunks, zeros for a chunk of blanks, of those that have all."""
    rows = text_vectors_table.texts_of(db, contents.values())
    texts = {content: rows[key].hashes() for content, key in contents.items() if key in rows}
    every = {text for row in texts.values() for text in row}
    vectors = text_vectors_table.vectors_of(db, fingerprint, every)
    vectors[sendable_texts.NO_TEXT] = bytes([ZERO]) * dimension
    return {
        content: b"".join(vectors[text] for text in row)
        for content, row in texts.items()
        if all(text in vectors for text in row)
    }
