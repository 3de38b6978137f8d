"""What the engine answers about the ranking by meaning: frozen values, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class SentTexts:
    """What left this machine for one model of a provider, since it was first used here."""

    provider: str
    model: str
    endpoint: str
    since: str
    """Local date."""
    requests: int
    failed: int
    """Of the requests."""
    texts: int
    bytes: int
    tokens: int
    """As the provider counts them; 0 where it does not say."""


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """The provider that is enabled for a repository, and how far its vectors are."""

    provider: str
    """Empty: none is enabled, and nothing is sent."""
    model: str
    endpoint: str
    dimension: int
    state: str
    """`indexing`, `indexed`, `failed`, `synced` or `requires_reindex`."""
    failure: str
    """Why the last sync failed; else empty."""
    texts: int
    """Texts and questions that have a vector."""
    vector_bytes: int
    contents: int
    """Distinct texts of the view that may be sent."""
    contents_ready: int
    """Those of them whose chunks all have vectors."""
    left_out: int
    """Files of the view that are never sent."""
    sent: tuple[SentTexts, ...]
    store: str = ""
    """URL of the store in which vectors are searched; empty: a file on this machine."""
    hybrid: bool = False
    """The store ranks by terms, too."""
    collection: str = ""
    """Of that store."""
    store_failure: str = ""
    """Why the store could not be asked; `contents_ready` then counts what this machine has."""


@dataclass(frozen=True, slots=True)
class EnabledRepository:
    """A repository for which a provider is enabled, or whose vectors cannot be read."""

    root: str
    """The worktree it was enabled in; the vectors' file where that is not known."""
    provider: str
    model: str
    store: str
    """URL; empty: a file on this machine."""
    state: str
    """As in `ProviderStatus`, or `unreadable`."""
    failure: str


@dataclass(frozen=True, slots=True)
class SendingPlan:
    """What a sync would send, told before anything is sent."""

    receipt: Receipt
    provider: str
    model: str
    endpoint: str
    key_variable: str
    files: int
    """Files of the view that may be sent."""
    left_out: int
    """Files that may hold secrets, and are never sent."""
    texts: int
    """Chunks without a vector; equal ones count once."""
    bytes: int
    tokens: int
    """Estimated: bytes / 3."""
    reranks: bool
    """Unless that is switched off, each search sends lines of its first results, too."""
    store: str
    """URL of the store that gets the vectors; empty: a file on this machine."""
    hybrid: bool
    """It gets the terms of texts, too."""


@dataclass(frozen=True, slots=True)
class Enabled:
    """A provider that may be sent a repository's texts from now on."""

    provider: str
    model: str
    endpoint: str
    dimension: int
    state: str
    store: str
    """URL of the store in which vectors are searched; empty: a file on this machine."""
    hybrid: bool
    """The store gets the terms of texts, too."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did."""

    receipt: Receipt
    provider: str
    model: str
    state: str
    requests: int
    failed: int
    """Of the requests; they were sent again."""
    texts: int
    """Texts that have a vector now, and had none before."""
    bytes: int
    tokens: int
    lacking: int
    """Texts that still have none."""
    left_out: int
    added: int
    """Files that may be sent, and were not there at the last sync of this worktree or ref."""
    removed: int
    modified: int
    stored: int
    """Vectors that a store on another machine got; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class PrunedVectors:
    """What was removed of a provider's vectors, since no view has its text any more."""

    removed: int
    """Vectors."""
    kept: int
    """Those of questions among them."""
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class MeaningStatus:
    """The table of words, and what of a view has vectors by it."""

    receipt: Receipt
    on: bool
    """The setting `meaning`."""
    damage: str
    """Why the table cannot be read; empty if it can."""
    version: int
    digest: str
    """SHA-256 of the table."""
    words: int
    dimension: int
    contents: int
    """Distinct texts of the view."""
    with_vectors: int
    """Those of them that have vectors by this table."""
    vector_bytes: int
    """Of these vectors."""
    provider: ProviderStatus


@dataclass(frozen=True, slots=True)
class MeantWord:
    """A term of a question, and the terms of the table that are nearest to it."""

    term: str
    known: bool
    near: tuple[tuple[str, float], ...]
    """Term and cosine, best first."""


@dataclass(frozen=True, slots=True)
class MeaningTest:
    """What the table of words makes of a question."""

    query: str
    words: tuple[MeantWord, ...]
    near: tuple[tuple[str, float], ...]
    """The terms nearest to the whole question, its own left out."""
