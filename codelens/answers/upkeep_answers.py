"""What the engine answers about the indexes themselves: frozen values, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass


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
