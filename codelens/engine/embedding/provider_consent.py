"""Consent to send a repository's texts to a provider, the store of its vectors, and its status."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from codelens.answers.upkeep_answers import (
    Enabled,
    EnabledRepository,
    ProviderStatus,
    SendingPlan,
    SentTexts,
)
from codelens.config import Settings
from codelens.engine.current_view import CurrentView, OpenRepository
from codelens.engine.embedding import sendable_texts
from codelens.engine.embedding.sendable_texts import NO_TEXT
from codelens.errors import IndexCorrupt, SettingError, StoreError
from codelens.extract.tokenizer import WORD, count_terms
from codelens.meaning.milvus_store import PREFIX, TOKEN_VARIABLE, MilvusStore, Place
from codelens.meaning.providers.embedder import (
    BYTES_A_TOKEN,
    FOR_INDEXING,
    Patience,
    Sent,
    connected,
    seconds_a_text,
)
from codelens.meaning.providers.embedding_client import ProviderError
from codelens.meaning.providers.provider_registry import (
    ProviderSpec,
    checked_endpoint,
    provider_called,
)
from codelens.meaning.vector_store import EmbeddedStore, VectorStoreError
from codelens.paths import VECTORS_FOLDER, printed, vectors_file
from codelens.scope.repository import root_commit
from codelens.store import vector_tables
from codelens.store.database.database import Database
from codelens.store.vector_tables import (
    PACKING,
    Consent,
    ContentKey,
    ContentTexts,
    alone_writing,
    giving_back,
    open_vectors,
    remove_file,
)

FOR_INDEXING_S, FOR_A_QUESTION_S = 60.0, 5.0
"""Timeout of one request to a store."""
_SCHEMES = frozenset({"http", "https", "rest+http", "rest+https"})
_NAMED_CHARS = 16


def checked_store(url: str, *, hybrid: bool) -> str:
    """Validate the URL of a store; empty: the repository's own file.

    Raises:
        SettingError: it is not a URL of Milvus; or it is empty, and `hybrid` needs a store.
    """
    if hybrid and not url:
        raise SettingError("hybrid search needs a store, such as http://127.0.0.1:19530")
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
        has_more = bool(parts.username is not None or parts.query or parts.path.strip("/"))
    except ValueError:
        is_usable = has_more = False
    if url and (not is_usable or has_more):
        raise SettingError(
            "the store must be a URL of Milvus or Zilliz: http://HOST:19530 or https://HOST for "
            "gRPC, rest+http://HOST:19530 or rest+https://HOST for REST, without user name, "
            f"password or path; a token comes from {TOKEN_VARIABLE}"
        )
    return url.rstrip("/")


def collection_of(opened: OpenRepository, consent: Consent) -> str:
    """The collection of a repository with these vectors: the same for each of its clones.

    A repository without commits, or a shallow one, has its own collection.
    """
    known_by = root_commit(opened.repository, opened.scope.head) or opened.scope.repo_id
    kind = (
        consent.provider, consent.model, str(consent.dimension), str(PACKING), str(consent.hybrid)
    )  # fmt: skip
    digest = hashlib.sha256("\0".join(kind).encode("utf-8", "replace")).hexdigest()
    return f"{PREFIX}{known_by[:_NAMED_CHARS]}_{digest[:_NAMED_CHARS]}"


@contextmanager
def milvus(consent: Consent, timeout_s: float) -> Generator[MilvusStore]:
    """The remote store of a consent, connected in the block.

    Raises:
        StoreClientMissing: the extra is not installed.
    """
    place = Place(
        consent.store, os.environ.get(TOKEN_VARIABLE, "").strip(), consent.collection,
        consent.dimension, consent.hybrid, timeout_s,
    )  # fmt: skip
    if urlsplit(consent.store).scheme.startswith("rest+"):
        from codelens.meaning.milvus_rest import RestCalls

        store = MilvusStore(place, RestCalls(place))
    else:
        from codelens.meaning.milvus_grpc import GrpcCalls

        store = MilvusStore(place, GrpcCalls(place))
    try:
        yield store
    finally:
        store.close()


def embedded(db: Database, fingerprint: int) -> EmbeddedStore:
    """Open the repository's file, which keeps this machine's vectors, with any store."""
    return EmbeddedStore(db, fingerprint)


def terms_of(text: str) -> str:
    """The stemmed words by which a hybrid store ranks a text, repeated as often as they occur."""
    counts = count_terms(WORD.findall(text))
    return " ".join(term for term, count in counts.items() for _ in range(count))


# Estimates what consent costs, and records or withdraws it.


class ProviderNotEnabled(ProviderError):
    """No provider is enabled for this repository."""

    def __init__(self) -> None:
        super().__init__(
            "no provider is enabled for this repository, so nothing is sent",
            typed="`codelens meaning enable --provider NAME` enables one",
            called="a person enables one with `codelens meaning enable --provider NAME`",
        )


def refuse_damaged(settings: Settings) -> None:
    """Reject invalid settings: they may restrict what is sent.

    Raises:
        SettingError: the settings file is invalid.
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
    text_s = 0.0 if url else seconds_a_text(spec, model or spec.model)
    chosen = sendable_texts.sendable(view)
    with open_vectors(vectors_file(view.settings.home, view.scope.repo_id)) as db:
        fingerprint = _fingerprint_before(db, spec, model or spec.model)
        sendable_texts.note_texts(view, db, chosen.contents)
        lacking = sendable_texts.lacking(view, db, fingerprint, chosen.contents)
    return SendingPlan(
        view.receipt(), spec.name, model or spec.model, url, spec.key_variable, chosen.files,
        chosen.left_out + lacking.left_out, lacking.total, lacking.size_bytes,
        -(-lacking.size_bytes // BYTES_A_TOKEN),
        spec.reranker is not None and spec.profile.reranks and view.settings.rerank, where, hybrid,
        round(text_s * lacking.total, 1),
    )  # fmt: skip


def _fingerprint_before(db: Database, spec: ProviderSpec, model: str) -> int | None:
    """The fingerprint of this model's existing vectors; None if it was never enabled here."""
    consent = vector_tables.consent_of(db)
    if consent is None or (consent.provider, consent.model) != (spec.name, model):
        return None
    fingerprint = vector_tables.fingerprint_of(db, consent)
    return fingerprint.id if fingerprint else None


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
    consent = consent._replace(collection=collection_of(opened, consent))
    if consent.store:
        # Reports an unreachable store now, and not after the texts were sent.
        with milvus(consent, FOR_A_QUESTION_S) as reached:
            reached.known(())
    with open_vectors(vectors_file(settings.home, scope.repo_id)) as db, db.write(None):
        vector_tables.give_consent(db, consent)
        fingerprint = vector_tables.ensure_fingerprint(db, consent)
        count(db, consent, probe)
    return Enabled(spec.name, model, url, dimension, fingerprint.state, where, hybrid)


def is_enabled(settings: Settings, repo_id: str) -> bool:
    """Whether texts of a repository may be sent.

    Raises:
        StoreError: the file with the consent cannot be used.
    """
    path = vectors_file(settings.home, repo_id)
    if settings.damage or not path.exists():
        return False
    with open_vectors(path) as db:
        return vector_tables.consent_of(db) is not None


def disable(settings: Settings, repo_id: str) -> bool:
    """See `Engine.meaning_disable`."""
    path = vectors_file(settings.home, repo_id)
    if not path.exists():
        return False
    with open_vectors(path) as db, db.write(None):
        was_enabled = vector_tables.consent_of(db) is not None
        vector_tables.withdraw(db)
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
                consent = vector_tables.consent_of(db)
                if consent is not None and consent.store:
                    with milvus(consent, FOR_INDEXING_S) as store:
                        store.clear()
                with giving_back(db) as freed, db.write(None):
                    vector_tables.clear(db)
                    if consent is not None:
                        vector_tables.ensure_fingerprint(db, consent)
                return freed()
        except IndexCorrupt:
            remove_file(path)
            return size


def count(db: Database, consent: Consent, sent: Sent) -> None:
    """Count what was sent, within the caller's transaction."""
    if sent.requests:
        where = (consent.provider, consent.model, consent.endpoint)
        vector_tables.add_sent(db, where, sent)


# The status of a repository's provider: vectors and texts sent.

NO_PROVIDER = ProviderStatus("", "", "", 0, "", "", 0, 0, 0, 0, 0, ())


def provider_status(view: CurrentView) -> ProviderStatus:
    """The provider part of `Engine.meaning_status`; creates no file."""
    path = vectors_file(view.settings.home, view.scope.repo_id)
    if not path.exists():
        return NO_PROVIDER
    with open_vectors(path) as db:
        return _status(view, db)


def enabled_repositories(settings: Settings) -> list[EnabledRepository]:
    """See `Engine.meaning_list`; contacts no provider and no store."""
    folder = settings.home / VECTORS_FOLDER
    files = sorted(folder.glob("vectors-*.db")) if folder.is_dir() else []
    listed: list[EnabledRepository] = []
    for path in files:
        try:
            with open_vectors(path) as db:
                consent = vector_tables.consent_of(db)
                fingerprint = vector_tables.fingerprint_of(db, consent) if consent else None
        except StoreError as error:
            listed.append(EnabledRepository(str(path), "", "", "", "unreadable", str(error)))
            continue
        if consent is not None:
            state, failure = (
                (fingerprint.state, fingerprint.failure)
                if fingerprint
                else ("requires_reindex", "")
            )
            root = consent.root or str(path)
            listed.append(
                EnabledRepository(
                    root, consent.provider, consent.model, consent.store, state, failure
                )
            )
    return sorted(listed, key=lambda repository: (repository.state, repository.root))


def _status(view: CurrentView, db: Database) -> ProviderStatus:
    sent = tuple(SentTexts(*total) for total in vector_tables.sent_totals(db))
    consent = vector_tables.consent_of(db)
    if consent is None:
        return ProviderStatus("", "", "", 0, "", "", 0, 0, 0, 0, 0, sent)
    fingerprint = vector_tables.fingerprint_of(db, consent)
    chosen = sendable_texts.sendable(view)
    rows = vector_tables.texts_of(db, chosen.contents.values())
    with_keys = sum(1 for row in rows.values() if not row.texts)
    texts, size, ready, failure = 0, 0, 0, ""
    if fingerprint is not None:
        texts, size = vector_tables.counted(db, fingerprint.id)
        every = {text for row in rows.values() for text in row.hashes()} - {NO_TEXT}
        have, failure = _texts_with_vector(db, consent, fingerprint.id, every)
        ready = _ready(chosen, rows, have)
    return ProviderStatus(
        consent.provider, consent.model, consent.endpoint, consent.dimension,
        fingerprint.state if fingerprint else "requires_reindex",
        fingerprint.failure if fingerprint else "",
        texts, size, len(chosen.contents), ready, chosen.left_out + with_keys, sent,
        consent.store, consent.hybrid, consent.collection, failure,
    )  # fmt: skip


def _texts_with_vector(
    db: Database, consent: Consent, fingerprint: int, texts: Collection[bytes]
) -> tuple[set[bytes], str]:
    """The texts with a vector in the store, and the error if it cannot be asked."""
    here = vector_tables.known_texts(db, fingerprint, texts)
    if not consent.store:
        return here, ""
    try:
        with milvus(consent, FOR_A_QUESTION_S) as store:
            return store.known(texts), ""
    except VectorStoreError as error:
        return here, str(error)


def _ready(
    chosen: sendable_texts.Sendable,
    rows: Mapping[ContentKey, ContentTexts],
    texts_with_vector: Collection[bytes],
) -> int:
    """Number of contents that have all their vectors, or no text to send."""
    by_key = {key: set(row.hashes()) - {NO_TEXT} for key, row in rows.items()}
    return sum(
        1
        for key in chosen.contents.values()
        if key in by_key and by_key[key].issubset(texts_with_vector)
    )
