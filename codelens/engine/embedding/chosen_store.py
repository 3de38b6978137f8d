"""The store that a repository's vectors are searched in: which one, and how it is reached."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

from codelens.engine.current_view import OpenRepository
from codelens.errors import SettingError
from codelens.extract.tokenizer import WORD, count_terms
from codelens.meaning.stores.embedded_store import EmbeddedStore
from codelens.meaning.stores.milvus_calls import TOKEN_VARIABLE, Place
from codelens.meaning.stores.milvus_store import PREFIX, MilvusStore
from codelens.scope.commits.root_commit import root_commit
from codelens.store.database.database import Database
from codelens.store.vectors.provider_choice import PACKING, Consent

FOR_INDEXING_S, FOR_A_QUESTION_S = 60.0, 5.0
"""How long one request of a store is waited for."""
_SCHEMES = frozenset({"http", "https", "rest+http", "rest+https"})
_NAMED_CHARS = 16


def checked_store(url: str, *, hybrid: bool) -> str:
    """The URL of a store; empty: the repository's own file.

    Raises:
        SettingError: it is no URL of Milvus; or there is none, which `hybrid` needs.
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

    A repository without commits, or with a part of its history, has one for itself.
    """
    known_by = root_commit(opened.repository, opened.scope.head) or opened.scope.repo_id
    kind = (
        consent.provider, consent.model, str(consent.dimension), str(PACKING), str(consent.hybrid)
    )  # fmt: skip
    digest = hashlib.sha256("\0".join(kind).encode("utf-8", "replace")).hexdigest()
    return f"{PREFIX}{known_by[:_NAMED_CHARS]}_{digest[:_NAMED_CHARS]}"


@contextmanager
def milvus(consent: Consent, timeout_s: float) -> Generator[MilvusStore]:
    """The store on another machine that was agreed to, connected in the block.

    Raises:
        StoreClientMissing: the extra is not installed.
    """
    place = Place(
        consent.store, os.environ.get(TOKEN_VARIABLE, "").strip(), consent.collection,
        consent.dimension, consent.hybrid, timeout_s,
    )  # fmt: skip
    if urlsplit(consent.store).scheme.startswith("rest+"):
        from codelens.meaning.stores.milvus_rest import RestCalls

        store = MilvusStore(place, RestCalls(place))
    else:
        from codelens.meaning.stores.milvus_grpc import GrpcCalls

        store = MilvusStore(place, GrpcCalls(place))
    try:
        yield store
    finally:
        store.close()


def embedded(db: Database, fingerprint: int) -> EmbeddedStore:
    """The repository's own file, which keeps what this machine had made, whatever the store."""
    return EmbeddedStore(db, fingerprint)


def terms_of(text: str) -> str:
    """What a store ranks a text by, beside its vector: stemmed words, as often as they occur."""
    counts = count_terms(WORD.findall(text))
    return " ".join(term for term, count in counts.items() for _ in range(count))
