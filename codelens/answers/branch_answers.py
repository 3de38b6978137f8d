"""Answers about branches, commits and worktrees: frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from codelens.types import Receipt

Lines = tuple[tuple[int, int], ...]
"""First and last line, from 1, of each span."""


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """One definition that differs."""

    how: tuple[str, ...]
    """Of `added`, `removed`, `moved`, `renamed`, `signature`, `body`, `documentation`,
    `formatting`."""
    handle: str
    """As it stands now; as it stood, if it is gone."""
    symbol: str
    kind: str
    signature: str
    start_line: int
    end_line: int
    exported: bool
    old_handle: str
    """As it stood; empty for a new one."""
    old_signature: str
    old_lines: Lines
    """Lines that are told with it: its own, those of other definitions inside it left out."""
    new_lines: Lines
    inside: int
    """Definitions inside it that were added, removed or moved with it."""
    share_new: float
    """Of one that was moved or renamed and changed: the share of its words that is new."""


@dataclass(frozen=True, slots=True)
class OutsideLines:
    """Lines outside of definitions that differ."""

    how: str
    """`imports`, `statements`, `comments`, `text`, `reordered`, `owner renamed`, `line ends`,
    `blank lines` or `encoding`."""
    old_lines: Lines
    new_lines: Lines
    names: tuple[str, ...]
    """Definitions that stand elsewhere in the file and are the same."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file that differs."""

    path: str
    old_path: str
    """Where it was, if it was renamed."""
    how: str
    """`added`, `removed`, `renamed`, `changed`, or `mode`."""
    folded: str
    """`generated`, `vendored`, `binary`, `oversized`, `link`, `submodule`: told as a whole."""
    folded_count: int
    """Definitions that differ in a file that is listed as a whole."""
    definitions: tuple[DefinitionLine, ...]
    outside: tuple[OutsideLines, ...]
    old_mode: str = ""
    """As git writes it (`100644`); both empty where it is the same, or there is one side."""
    new_mode: str = ""
    old_commit: str = ""
    """Of a submodule; empty if it was none."""
    new_commit: str = ""
    """With `-dirty` behind it, if it has uncommitted changes."""


@dataclass(frozen=True, slots=True)
class BrokenUse:
    """What still uses a definition as it was."""

    how: str
    """`removed`, `renamed`, `moved` or `signature`."""
    handle: str
    """The definition as it was; of a changed signature, as it is."""
    now: str
    """What it is now; empty if it is gone."""
    uses: tuple[str, ...]
    """`path:line` of the uses that were not changed with it."""
    count: int
    """How many such uses there are."""
    certain: bool
    """They cannot work any more; else they have to be looked at."""
    users: int
    """How many uses there are on the new side, those that were changed included."""


@dataclass(frozen=True, slots=True)
class DiffAnswer:
    """What differs between two sides, as definitions."""

    receipt: Receipt
    old: str
    new: str
    files: tuple[FileDiff, ...]
    totals: tuple[tuple[str, int], ...]
    """How many definitions differ in each way."""
    broken: tuple[BrokenUse, ...]
    added_public: tuple[str, ...]
    """Handles of new definitions that can be seen from outside of their files."""
    removed_public: tuple[str, ...]
    """Handles of such that are gone, renamed or declared otherwise: a break of the interface."""
    tests: tuple[str, ...]
    """Files of tests to run."""
    test_count: int
    at_least: bool
    """There may be more broken uses than could be told."""
    notes: tuple[str, ...] = ()
    left_out: int = 0
    """Files that differ, and that the asked paths and kinds leave out."""


@dataclass(frozen=True, slots=True)
class TextualConflict:
    """A path that git cannot merge."""

    path: str
    kind: str
    """In git's words: `CONFLICT (contents)`."""
    harmless: bool
    """Both sides only added definitions of other names."""


@dataclass(frozen=True, slots=True)
class CollisionLine:
    """One thing that both sides touch, or one touches and the other relies on."""

    rule: str
    """Of docs/branches.md: `overlapping`, `removed`, `signature and called`, ..."""
    grade: str
    """`certain`, `likely`, `possible` or `harmless`."""
    message: str
    """What collides, as a sentence."""
    mine: str
    """Handle on my side."""
    mine_site: str
    """`path:line`."""
    theirs: str
    theirs_site: str


@dataclass(frozen=True, slots=True)
class Rival:
    """Another worktree or branch, against what is here."""

    name: str
    """Path of the worktree, or name of the ref."""
    branch: str
    head: str
    base: str
    """The commit that both are compared with."""
    kind: str
    """`worktree` or `ref`."""
    uncommitted: int
    """Files of it that differ from its HEAD."""
    textual: tuple[TextualConflict, ...]
    collisions: tuple[CollisionLine, ...]
    notes: tuple[str, ...] = ()
    is_merge_base: bool = True
    """Whether `base` is git's own, and not one that was asked for."""


@dataclass(frozen=True, slots=True)
class ConflictsAnswer:
    """What will collide when what is here is merged with the work of others."""

    receipt: Receipt
    results: tuple[Rival, ...]
    """Those with something to say."""
    clean: int
    """How many merge cleanly, without overlaps or with harmless ones alone."""
    left_out: tuple[str, ...]
    """Worktrees and branches that were not looked at."""
    notes: tuple[str, ...] = ()
    harmless: tuple[Rival, ...] = ()
    """Of those that merge cleanly the ones with harmless overlaps."""
    old_branches: int = 0
    """Branches without a recent commit, which are looked at where they are named."""


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One commit that changed a definition."""

    commit: str
    """Empty for an uncommitted change."""
    how: tuple[str, ...]
    """As of a diff; `inside`: a definition inside it; `merged`: by the merge itself."""
    handle: str
    """As it was called after the commit, with the commit as its ref."""
    old_handle: str
    """Before it, where that was another one."""
    author: str
    date: str
    """YYYY-MM-DD, by the author's clock."""
    subject: str
    patch: tuple[str, ...] = ()
    """Lines of the definition's own diff, where asked for."""


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
    """In how many of them."""


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """Since when something is what it is."""

    receipt: Receipt
    handle: str
    """What was asked about, as it is called now."""
    results: tuple[HistoryEvent, ...]
    """Of a definition, newest first."""
    definitions: tuple[LastChanged, ...]
    """Of a file."""
    together: tuple[Together, ...]
    """What changed with it, most often first."""
    together_count: int
    """How many definitions did."""
    commits: int
    """How many commits `together` is counted over."""
    more: bool
    """There are older changes than the limit let in."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A definition that another worktree changed since its history parted from ours."""

    handle: str
    """As it is in the merge base."""
    path: str
    symbol: str
    how: tuple[str, ...]
    worktree: str
    branch: str

    @property
    def is_quiet(self) -> bool:
        """Whether only its documentation or its formatting changed."""
        return {*self.how} <= {"documentation", "formatting"}
