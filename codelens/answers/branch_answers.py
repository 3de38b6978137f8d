"""Answers about branches, commits and worktrees: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codelens.types import Receipt

Lines = tuple[tuple[int, int], ...]
"""First and last line of each span, 1-based."""


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """A definition that differs."""

    how: tuple[str, ...]
    """One or more of `added`, `removed`, `moved`, `renamed`, `signature`, `body`, `documentation`,
    `formatting`."""
    handle: str
    """Current handle; the old one if it was removed."""
    symbol: str
    kind: str
    signature: str
    start_line: int
    end_line: int
    exported: bool
    old_handle: str
    """Old handle; empty for a new definition."""
    old_signature: str
    old_lines: Lines
    """Lines reported with it: its own, without other inner definitions."""
    new_lines: Lines
    inside: int
    """Number of inner definitions that were added, removed or moved with it."""
    share_new: float
    """Share of its words that is new, if it was moved or renamed and changed."""


@dataclass(frozen=True, slots=True)
class OutsideLines:
    """Differing lines outside of definitions."""

    how: str
    """`imports`, `statements`, `comments`, `text`, `reordered`, `owner renamed`, `line ends`,
    `blank lines` or `encoding`."""
    old_lines: Lines
    new_lines: Lines
    names: tuple[str, ...]
    """Unchanged definitions at another place in the file."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """A file that differs."""

    path: str
    old_path: str
    """Old path, if it was renamed."""
    how: str
    """`added`, `removed`, `renamed`, `changed`, or `mode`."""
    folded: str
    """`generated`, `vendored`, `binary`, `oversized`, `link`, `submodule`: reported as a whole."""
    folded_count: int
    """Number of differing definitions in a file that is listed as a whole."""
    definitions: tuple[DefinitionLine, ...]
    outside: tuple[OutsideLines, ...]
    old_mode: str = ""
    """Mode in git's form (`100644`); both empty if equal, or if there is one side."""
    new_mode: str = ""
    old_commit: str = ""
    """Commit of a submodule; empty if it was not one."""
    new_commit: str = ""
    """Has the suffix `-dirty` for uncommitted changes."""


@dataclass(frozen=True, slots=True)
class BrokenUse:
    """Uses of a definition that still depend on its old form."""

    how: str
    """`removed`, `renamed`, `moved` or `signature`."""
    handle: str
    """The old definition; the current one if its signature changed."""
    now: str
    """Current handle; empty if it was removed."""
    uses: tuple[str, ...]
    """`path:line` of the uses that did not change with it."""
    count: int
    """Number of such uses."""
    certain: bool
    """Whether they are certainly broken; otherwise they need a review."""
    users: int
    """Number of uses on the new side, including changed ones."""


@dataclass(frozen=True, slots=True)
class DiffAnswer:
    """The differences between two sides, as definitions."""

    receipt: Receipt
    old: str
    new: str
    files: tuple[FileDiff, ...]
    totals: tuple[tuple[str, int], ...]
    """Number of differing definitions by kind of change."""
    broken: tuple[BrokenUse, ...]
    added_public: tuple[str, ...]
    """Handles of new definitions that are visible outside of their files."""
    removed_public: tuple[str, ...]
    """Handles of visible definitions that were removed, renamed or redeclared: interface breaks."""
    tests: tuple[str, ...]
    """Files of tests to run."""
    test_count: int
    at_least: bool
    """Whether there may be more broken uses."""
    notes: tuple[str, ...] = ()
    left_out: int = 0
    """Number of differing files outside of the given paths and kinds."""


@dataclass(frozen=True, slots=True)
class TextualConflict:
    """A path that git cannot merge."""

    path: str
    kind: str
    """The words of git: `CONFLICT (contents)`."""
    harmless: bool
    """Whether both sides only added definitions with different names."""


@dataclass(frozen=True, slots=True)
class CollisionLine:
    """A definition that both sides change, or that one changes and the other depends on."""

    rule: str
    """A rule of docs/branches.md: `overlapping`, `removed`, `signature and called`, ..."""
    grade: str
    """`certain`, `likely`, `possible` or `harmless`."""
    message: str
    """The collision as a sentence."""
    mine: str
    """Handle on the side that asks."""
    mine_site: str
    """`path:line`."""
    theirs: str
    theirs_site: str


Merge = Literal["conflicts", "clean", "not tried"]


@dataclass(frozen=True, slots=True)
class Rival:
    """Another worktree or branch, compared with the current one."""

    name: str
    """Path of the worktree, or name of the ref."""
    branch: str
    head: str
    base: str
    """The commit that both sides are compared with."""
    kind: str
    """`worktree` or `ref`."""
    uncommitted: int
    """Number of its files that differ from its HEAD."""
    textual: tuple[TextualConflict, ...]
    collisions: tuple[CollisionLine, ...]
    notes: tuple[str, ...] = ()
    is_merge_base: bool = True
    """Whether `base` is git's merge base, not a given one."""
    merge: Merge = "not tried"
    """What `git merge-tree` says; it is not asked with a given base or without common history."""


@dataclass(frozen=True, slots=True)
class ConflictsAnswer:
    """The collisions of merging the current work with the work of others."""

    receipt: Receipt
    results: tuple[Rival, ...]
    """Rivals with collisions or notes."""
    clean: int
    """Number of rivals that merge cleanly, without overlaps or only with harmless ones."""
    left_out: tuple[str, ...]
    """Worktrees and branches that were not compared."""
    notes: tuple[str, ...] = ()
    harmless: tuple[Rival, ...] = ()
    """Clean rivals with harmless overlaps."""
    old_branches: int = 0
    """Number of branches without a recent commit; they are compared only if named."""


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """A commit that changed a definition."""

    commit: str
    """Empty for an uncommitted change."""
    how: tuple[str, ...]
    """As in a diff; `inside`: an inner definition changed; `merged`: changed by the merge
    itself."""
    handle: str
    """Handle after the commit, with the commit as its ref."""
    old_handle: str
    """Handle before the commit, if different."""
    author: str
    date: str
    """YYYY-MM-DD, in the author's time zone."""
    subject: str
    patch: tuple[str, ...] = ()
    """Lines of the definition's own diff, if requested."""


@dataclass(frozen=True, slots=True)
class LastChanged:
    """A definition of a file, and the commit that last changed its text."""

    handle: str
    kind: str
    start_line: int
    end_line: int
    commit: str
    """Empty for an uncommitted change."""
    author: str
    date: str
    subject: str


@dataclass(frozen=True, slots=True)
class Together:
    """A definition that changed in the same commits."""

    handle: str
    count: int
    """Number of these commits."""


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """The history of a definition, or of the definitions of a file."""

    receipt: Receipt
    handle: str
    """Current handle of the target."""
    results: tuple[HistoryEvent, ...]
    """Events of a definition, newest first."""
    definitions: tuple[LastChanged, ...]
    """Last changes of a file's definitions."""
    together: tuple[Together, ...]
    """Definitions that changed with it, most often first."""
    together_count: int
    """Number of definitions that changed with it."""
    commits: int
    """Number of commits that `together` covers."""
    more: bool
    """Whether there are older changes beyond the limit."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A definition that another worktree changed since the merge base with the current one."""

    handle: str
    """Handle in the merge base."""
    path: str
    symbol: str
    how: tuple[str, ...]
    worktree: str
    branch: str

    @property
    def is_quiet(self) -> bool:
        """Whether only its documentation or its formatting changed."""
        return {*self.how} <= {"documentation", "formatting"}
