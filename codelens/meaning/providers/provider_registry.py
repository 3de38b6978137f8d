"""The supported providers: their defaults, limits and connections; and files never sent to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from codelens.errors import SettingError
from codelens.meaning.cross_encoder import RerankingClient
from codelens.meaning.providers.client_providers import (
    GeminiClient,
    OllamaClient,
    OpenAIClient,
    VoyageClient,
    VoyageReranker,
)
from codelens.meaning.providers.embedding_client import (
    Connection,
    EmbeddingClient,
    ProviderKeyMissing,
)
from codelens.meaning.providers.local_provider import LocalClient


class CapabilityProfile(NamedTuple):
    """Limits of a class of providers."""

    name: str
    default_limit: int
    """Results if no limit is given."""
    largest_limit: int
    """The most results for any limit."""
    reranks: bool
    """Whether to rerank by default, if the provider has a reranker."""


LOCAL_SLOW = CapabilityProfile("local slow", 10, 15, reranks=False)
CLOUD_FAST = CapabilityProfile("cloud fast", 50, 50, reranks=True)
CLOUD_STANDARD = CapabilityProfile("cloud standard", 25, 30, reranks=True)


# The supported providers, their limits, and connections to them.

BATCH_VARIABLE = "EMBEDDING_BATCH_SIZE"
DEFAULT_BATCH = 100


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """A provider: its defaults, and its limits per request."""

    name: str
    """The name for users, which is also the extra that installs its client."""
    client: Callable[[Connection], EmbeddingClient]
    key_variable: str
    """The environment variable of its key; empty if none is needed."""
    model: str
    endpoint: str
    """Its URL; empty if it runs on this machine."""
    profile: CapabilityProfile
    most_texts: int
    """Per request."""
    most_text_tokens: int
    """A longer text is cut."""
    most_request_tokens: int
    reranker: Callable[[Connection], RerankingClient] | None = None
    """None if the provider has no reranker."""
    rerank_model: str = ""


PROVIDERS: Mapping[str, ProviderSpec] = {
    spec.name: spec
    for spec in (
        ProviderSpec(
            "openai", OpenAIClient, "OPENAI_API_KEY", "text-embedding-3-small",
            "https://api.openai.com/v1", CLOUD_FAST, 2_048, 8_000, 300_000,
        ),
        ProviderSpec(
            "voyage", VoyageClient, "VOYAGE_API_KEY", "voyage-code-3",
            "https://api.voyageai.com/v1", CLOUD_STANDARD, 1_000, 16_000, 120_000,
            VoyageReranker, "rerank-2.5",
        ),
        ProviderSpec(
            "gemini", GeminiClient, "GEMINI_API_KEY", "gemini-embedding-001",
            "https://generativelanguage.googleapis.com", CLOUD_STANDARD, 100, 2_000, 100_000,
        ),
        ProviderSpec(
            "ollama", OllamaClient, "", "nomic-embed-text",
            "http://127.0.0.1:11434", LOCAL_SLOW, 2_048, 2_000, 100_000,
        ),
        ProviderSpec(
            # The model's own tokenizer cuts texts where the model ends.
            "local", LocalClient, "", "BAAI/bge-small-en-v1.5", "", LOCAL_SLOW, 16, 4_096, 65_536,
        ),
    )
}  # fmt: skip


def provider_called(name: str) -> ProviderSpec:
    """The provider with this name.

    Raises:
        SettingError: there is no such provider.
    """
    if name not in PROVIDERS:
        names = ", ".join(PROVIDERS)
        raise SettingError(f"unknown provider {name[:50]!r}; the providers are {names}")
    return PROVIDERS[name]


def checked_endpoint(spec: ProviderSpec, endpoint: str) -> str:
    """The URL that texts are sent to: the given one, or else the provider's default.

    Empty for a provider that runs on this machine.

    Raises:
        SettingError: it is not an HTTP URL, or contains a password.
    """
    if not spec.endpoint:
        if endpoint:
            raise SettingError(f"the provider {spec.name} runs on this machine: omit the endpoint")
        return ""
    url = (endpoint or spec.endpoint).rstrip("/")
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        has_user = parts.username is not None
    except ValueError:
        is_usable = has_user = False
    if not is_usable or has_user:
        raise SettingError(
            "the endpoint must be a URL that begins with http:// or https://, without a user name "
            "or password"
        )
    return url


def connect(spec: ProviderSpec, model: str, endpoint: str, *, timeout_s: float) -> EmbeddingClient:
    """Make the provider's client; sends nothing yet.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        ProviderKeyMissing: the environment has no key.
    """
    return spec.client(_connection(spec, model, endpoint, timeout_s))


def connect_reranker(spec: ProviderSpec, endpoint: str, *, timeout_s: float) -> RerankingClient:
    """Make the client of a provider's reranker; sends nothing yet.

    Raises:
        ProviderNotInstalled: the extra is not installed.
        ProviderKeyMissing: the environment has no key.
    """
    assert spec.reranker is not None, "the provider has no reranker"
    connection = _connection(spec, spec.rerank_model, endpoint, timeout_s)
    remedy = "its endpoint may have no reranker: search without it (`--rerank off`)"
    return spec.reranker(connection._replace(remedy=remedy))


def _connection(spec: ProviderSpec, model: str, endpoint: str, timeout_s: float) -> Connection:
    key = os.environ.get(spec.key_variable, "").strip() if spec.key_variable else ""
    if spec.key_variable and not key:
        raise ProviderKeyMissing(spec.name, spec.key_variable)
    return Connection(spec.name, model, endpoint, key, spec.key_variable, timeout_s)


def batch_size(spec: ProviderSpec) -> int:
    """Texts per request: `EMBEDDING_BATCH_SIZE`, up to the provider's limit.

    Raises:
        SettingError: the variable is not a whole number of at least 1.
    """
    text = os.environ.get(BATCH_VARIABLE, "")
    if not text:
        return min(DEFAULT_BATCH, spec.most_texts)
    if not text.isdecimal() or int(text) < 1:
        raise SettingError(
            f"{BATCH_VARIABLE} must be a whole number of at least 1, not {text[:50]!r}"
        )
    return min(int(text), spec.most_texts)
