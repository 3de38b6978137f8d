"""What the engine answers about the indexes themselves: frozen values, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class ViewLife:
    """One view, and whether it would be removed."""

    index_id: str
    """Short; names it for `drop`, `pin` and `unpin`."""
    kind: str
    """`worktree`, `folder` or `ref`."""
    standing: str
    """`active`, `inactive`, `detached`, `ref`, `gone` or `unreachable`."""
    worktree: str
    branch: str
    """Empty for a detached HEAD, a folder and a ref."""
    head: str
    files: int
    source_bytes: int
    """Of its texts."""
    own_bytes: int
    """Of the texts that no other view has."""
    created_s: int
    accessed_s: int
    """Wall clock, seconds since 1970."""
    unused_s: float
    """Seconds since its last use, by the index's own clock."""
    pinned: bool
    complete: bool
    goes: bool
    why: str

    @property
    def title(self) -> str:
        """The view as people call it."""
        if self.kind == "ref":
            return f"ref {self.head[:12]}"
        checkout = self.branch or (f"detached {self.head[:7]}" if self.head else "")
        return f"{checkout} in {self.worktree}" if checkout else self.worktree


@dataclass(frozen=True, slots=True)
class RepositoryLife:
    """One index, and what is in it."""

    repo_id: str
    repository: str
    """The folder that all worktrees share; empty where it was never written down."""
    state: str
    """`there`, `gone`, `unreachable` or `unknown`."""
    index_path: str
    index_bytes: int
    views: tuple[ViewLife, ...] = ()
    waiting: int = 0
    """Texts that no view needs, to be collected."""
    goes: bool = False
    """The whole index is a left-over."""
    why: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a prune did, or would do, to one index."""

    repo_id: str
    repository: str
    views: tuple[ViewLife, ...] = ()
    """That went."""
    kept: int = 0
    contents: int = 0
    """Texts that were collected."""
    waiting: int = 0
    """Texts that are collected when no reader uses them any more."""
    freed_bytes: int = 0
    removed: bool = False
    """The whole index went."""
    why: str = ""
    skipped: str = ""
    """Why nothing was done: another process writes, ..."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class PruneAnswer:
    """What a prune did, by index; those with nothing to do are counted alone."""

    dry_run: bool
    indexes: int
    results: tuple[Pruned, ...]
    disposed_bytes: int = 0
    """Given back by damaged indexes that were set aside, as the disk was full."""
    advice: str = ""
    """What would make room on a disk that was full, and still has little."""

    @property
    def failed(self) -> bool:
        """Whether an index could not be pruned for a reason that will not pass by itself."""
        return any(result.error for result in self.results)


@dataclass(frozen=True, slots=True)
class Dropped:
    """What a drop removed."""

    repo_id: str
    repository: str
    views: tuple[ViewLife, ...]
    whole: bool
    """The repository's whole index."""
    freed_bytes: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Pinned:
    """A view that was pinned or unpinned."""

    view: ViewLife
    changed: bool


# What the engine answers about packs: frozen values, ready to be shown.


@dataclass(frozen=True, slots=True)
class PackAnswer:
    """A pack that was written."""

    file: str
    commits: tuple[str, ...]
    """Whose files' facts are in it."""
    since: str
    """The commit whose facts were left out; empty if none."""
    contents: int
    """Distinct texts."""
    left_out: int
    """Texts that were too much for a record."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class UnpackAnswer:
    """A pack that was merged into an index."""

    file: str
    contents: int
    """Distinct texts in it."""
    merged: int
    """Of these, those that the index did not have."""
    outdated: int
    """Of these, those that another version of the extractor made; left out."""
    compared: int
    """Texts of this clone that were extracted again and had the same facts."""


# What the engine answers about the ranking by meaning: frozen values, ready to be shown.


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
