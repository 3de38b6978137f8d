"""Answers about indexes, packs, and the ranking by meaning: frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class ViewLife:
    """A view, and whether a prune would remove it."""

    index_id: str
    """Short id for `drop`, `pin` and `unpin`."""
    kind: str
    """`worktree`, `folder` or `ref`."""
    standing: str
    """`active`, `inactive`, `detached`, `ref`, `gone` or `unreachable`."""
    worktree: str
    branch: str
    """Branch; empty for a detached HEAD, a folder and a ref."""
    head: str
    files: int
    source_bytes: int
    """Bytes of its texts."""
    own_bytes: int
    """Bytes of the texts that no other view has."""
    created_s: int
    accessed_s: int
    """Wall clock, seconds since 1970."""
    unused_s: float
    """Seconds since its last use, by the index's clock."""
    pinned: bool
    complete: bool
    goes: bool
    why: str

    @property
    def title(self) -> str:
        """Return a readable name of the view."""
        if self.kind == "ref":
            return f"ref {self.head[:12]}"
        checkout = self.branch or (f"detached {self.head[:7]}" if self.head else "")
        return f"{checkout} in {self.worktree}" if checkout else self.worktree


@dataclass(frozen=True, slots=True)
class UnbuiltPin:
    """A pin whose view is not in the index; the next question about it builds the view."""

    kind: str
    """`worktree`, `folder` or `ref`."""
    worktree: str
    """Empty for a ref."""
    branch: str
    """Branch; empty for a detached HEAD, a folder and a ref."""
    head: str
    """The commit of a ref; empty otherwise."""

    @property
    def title(self) -> str:
        """Return a readable name of the view."""
        if self.kind == "ref":
            return f"ref {self.head[:12]}"
        checkout = self.branch or ("a detached HEAD" if self.kind == "worktree" else "")
        return f"{checkout} in {self.worktree}" if checkout else self.worktree


@dataclass(frozen=True, slots=True)
class RepositoryLife:
    """An index and its views."""

    repo_id: str
    repository: str
    """The folder that all worktrees share; empty if unknown."""
    state: str
    """`there`, `gone`, `unreachable` or `unknown`."""
    index_path: str
    index_bytes: int
    views: tuple[ViewLife, ...] = ()
    unbuilt_pins: tuple[UnbuiltPin, ...] = ()
    waiting: int = 0
    """Number of texts that no view needs and that can be collected."""
    goes: bool = False
    """Whether the whole index is a leftover of a removed repository."""
    why: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Pruned:
    """The result of a prune, or of a dry run, for one index."""

    repo_id: str
    repository: str
    views: tuple[ViewLife, ...] = ()
    """Removed views."""
    kept: int = 0
    contents: int = 0
    """Number of collected texts."""
    waiting: int = 0
    """Number of texts to collect once no reader uses them."""
    freed_bytes: int = 0
    removed: bool = False
    """Whether the whole index was removed."""
    why: str = ""
    skipped: str = ""
    """Why nothing was done, such as another process writing."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class PruneAnswer:
    """The result of a prune by index; unaffected indexes are only counted."""

    dry_run: bool
    indexes: int
    results: tuple[Pruned, ...]
    disposed_bytes: int = 0
    """Bytes freed by removing damaged files that were set aside, since the disk was full."""
    advice: str = ""
    """Advice to free space on a disk that was full and still has little."""

    @property
    def failed(self) -> bool:
        """Whether an index could not be pruned for a lasting reason."""
        return any(result.error for result in self.results)


@dataclass(frozen=True, slots=True)
class Dropped:
    """The result of a drop."""

    repo_id: str
    repository: str
    views: tuple[ViewLife, ...]
    whole: bool
    """Whether the repository's whole index was removed."""
    freed_bytes: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Pinned:
    """A view that was pinned or unpinned."""

    view: ViewLife
    changed: bool


# Answers about packs: frozen values.


@dataclass(frozen=True, slots=True)
class PackAnswer:
    """A pack that was written."""

    file: str
    commits: tuple[str, ...]
    """The commit whose files' facts it contains."""
    since: str
    """The commit whose facts were left out; empty if none."""
    contents: int
    """Number of distinct texts."""
    left_out: int
    """Number of texts too large for a record."""
    size_bytes: int
    secret: int = 0
    """Number of texts that were left out because they may contain secrets."""


@dataclass(frozen=True, slots=True)
class UnpackAnswer:
    """A pack that was merged into an index."""

    file: str
    contents: int
    """Number of distinct texts in it."""
    merged: int
    """Number of these that were new to the index."""
    outdated: int
    """Number of these that another extractor version made; left out."""
    compared: int
    """Number of texts of this clone that were extracted again with equal facts."""


# Answers about the ranking by meaning: frozen values.


@dataclass(frozen=True, slots=True)
class SentTexts:
    """The data sent to one model of a provider, since it was first used here."""

    provider: str
    model: str
    endpoint: str
    since: str
    """Local date."""
    requests: int
    failed: int
    """Size of the requests."""
    texts: int
    bytes: int
    tokens: int
    """Tokens by the provider's count; 0 if not reported."""


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """The provider of a repository, and the state of its vectors."""

    provider: str
    """Empty if none is enabled, and nothing is sent."""
    model: str
    endpoint: str
    dimension: int
    state: str
    """`indexing`, `indexed`, `failed`, `synced` or `requires_reindex`."""
    failure: str
    """Why the last sync failed; else empty."""
    texts: int
    """Number of texts and questions with a vector."""
    vector_bytes: int
    contents: int
    """Number of distinct texts of the view that may be sent."""
    contents_ready: int
    """Number of these whose chunks all have vectors."""
    left_out: int
    """Number of files of the view that are never sent."""
    sent: tuple[SentTexts, ...]
    store: str = ""
    """URL of the store in which vectors are searched; empty: a file on this machine."""
    hybrid: bool = False
    """Whether the store ranks by terms, too."""
    collection: str = ""
    """Collection in that store."""
    store_failure: str = ""
    """Why the store did not answer; `contents_ready` then counts vectors on this machine."""


@dataclass(frozen=True, slots=True)
class EnabledRepository:
    """A repository with an enabled provider, or with unreadable vectors."""

    root: str
    """The worktree it was enabled in; the vectors' file if unknown."""
    provider: str
    model: str
    store: str
    """URL; empty: a file on this machine."""
    state: str
    """As in `ProviderStatus`, or `unreadable`."""
    failure: str


@dataclass(frozen=True, slots=True)
class SendingPlan:
    """The data that a sync would send, shown before anything is sent."""

    receipt: Receipt
    provider: str
    model: str
    endpoint: str
    key_variable: str
    files: int
    """Number of files of the view that may be sent."""
    left_out: int
    """Number of files that may contain secrets and are never sent."""
    texts: int
    """Number of chunks without a vector; equal ones count once."""
    bytes: int
    tokens: int
    """Estimate: bytes / 3."""
    reranks: bool
    """Whether each search sends lines of its first results, too; it can be switched off."""
    store: str
    """URL of the store that gets the vectors; empty: a file on this machine."""
    hybrid: bool
    """Whether it gets the terms of texts, too."""
    seconds: float = 0.0
    """Estimated time of the sync, for a model on this machine; else 0."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What the download of a model fetches."""

    model: str
    server: str
    folder: str
    """Where the files go: Hugging Face's cache on this machine."""
    files: tuple[str, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Enabled:
    """A provider that may get a repository's texts from now on."""

    provider: str
    model: str
    endpoint: str
    dimension: int
    state: str
    store: str
    """URL of the store in which vectors are searched; empty: a file on this machine."""
    hybrid: bool
    """Whether the store gets the terms of texts, too."""


@dataclass(frozen=True, slots=True)
class Synced:
    """The result of a sync."""

    receipt: Receipt
    provider: str
    model: str
    state: str
    requests: int
    failed: int
    """Number of failed requests; they were repeated."""
    texts: int
    """Number of texts with a new vector."""
    bytes: int
    tokens: int
    lacking: int
    """Number of texts that still have no vector."""
    left_out: int
    added: int
    """Number of sendable files added since the last sync of this worktree or ref."""
    removed: int
    modified: int
    stored: int
    """Number of vectors sent to a store on another machine; 0 without one."""


@dataclass(frozen=True, slots=True)
class PrunedVectors:
    """The provider's vectors that were removed because no view has their texts."""

    removed: int
    """Number of removed vectors."""
    kept: int
    """Number of these that belong to questions."""
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class MeaningStatus:
    """The word table, and how many texts of a view have vectors by it."""

    receipt: Receipt
    on: bool
    """The setting `meaning`."""
    damage: str
    """Why the table cannot be read; else empty."""
    version: int
    digest: str
    """SHA-256 of the table."""
    words: int
    dimension: int
    contents: int
    """Number of distinct texts of the view."""
    with_vectors: int
    """Number of these that have vectors by this table."""
    vector_bytes: int
    """Size of these vectors."""
    provider: ProviderStatus


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """A term of a question, and the nearest terms of the table."""

    term: str
    known: bool
    near: tuple[tuple[str, float], ...]
    """Terms and cosines, best first."""


@dataclass(frozen=True, slots=True)
class MeaningTest:
    """How the word table interprets a question."""

    query: str
    words: tuple[QuestionTerm, ...]
    near: tuple[tuple[str, float], ...]
    """The terms nearest to the whole question, without its own."""


@dataclass(frozen=True, slots=True)
class OmittedDocuments:
    """Documents of a SCIP index that were not imported."""

    why: str
    count: int
    paths: tuple[str, ...]
    """Some of them, as the index names them."""


@dataclass(frozen=True, slots=True)
class ImportedIndex:
    """The result of importing a SCIP index."""

    receipt: Receipt
    tool: str
    """Name and version of the indexer."""
    at: str
    """The commit whose files gave the texts."""
    root: str
    """Folder of the repository that the paths of the index start from; empty for its top."""
    documents: int
    stored: int
    uses: int
    """Number of occurrences of symbols in the stored documents."""
    left_out: tuple[OmittedDocuments, ...]
    differing: int
    """Files that have another text in the worktree than was indexed."""
    differing_paths: tuple[str, ...]
    """Some of them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A name in a line for which a compiler and our resolver give different definitions."""

    verdict: str
    """`other target`, `only compiler`, `only codelens` (to the compiler, the definition is outside
    of this repository), or `unexplained` (the compiler does not resolve the name)."""
    site: str
    """`path:line`."""
    name: str
    compiler: tuple[str, ...]
    """Handles of the definitions that the compiler means."""
    own: tuple[str, ...]
    """Handles of the definitions that codelens alone finds."""
    language: str


@dataclass(frozen=True, slots=True)
class CheckedEdges:
    """Our edges compared with those of compilers, in files that are answered precisely."""

    receipt: Receipt
    agreed: int
    """Names in lines with the same definition."""
    counts: tuple[tuple[str, str, int], ...]
    """Language, verdict (`agreed`, too), number."""
    differences: tuple[Difference, ...]
    left: int
    """Differences beyond the limit."""


@dataclass(frozen=True, slots=True)
class ExportedIndex:
    """The result of exporting a SCIP index."""

    receipt: Receipt
    file: str
    documents: int
    definitions: int
    references: int
    relations: int
    size_bytes: int
