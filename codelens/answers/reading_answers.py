"""Answers about reading and searching code: frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A saved context about code in an answer."""

    name: str
    category: str
    status: str
    """`current`: the code is unchanged since it was saved, maybe elsewhere; or `changed`."""
    note: str
    """First line of the note."""
    handles: tuple[str, ...]
    """Some of its handles in the answer, in their current form."""
    handle_count: int = 0
    """Number of its handles."""


# Answers of the engine: frozen values, ready to be printed, sent or used from Python.
#
# `path` is always the printed form (`codelens.paths.printed`), relative to the worktree's root.


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text of a handle, or an error."""

    handle: str
    """The current handle; the requested one on an error."""
    asked: str
    """The requested handle; for a name with several definitions, the handle of each."""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    language: str = ""
    text: str = ""
    moved: str = ""
    """A sentence if the text is at another place than in the handle."""
    truncated: bool = False
    last_line: int = 0
    """Last line of the place; after `end_line` if the text was truncated."""
    line_cut: bool = False
    """Whether even the first line is truncated."""
    error: str = ""
    near: tuple[str, ...] = ()
    sent: str = ""
    """`unchanged`: it was sent in this session, and `text` is only its signature; `changed`: it was
    sent, and the text differs now."""
    sent_at: int = 0
    """First line of an unchanged excerpt at the time of sending."""
    folded: bool = False
    """Whether `text` has only the declarations, one per line, as in an outline."""


@dataclass(frozen=True, slots=True)
class ExpandAnswer:
    """One excerpt per requested handle, in order; several for a name of a few definitions."""

    receipt: Receipt
    items: tuple[Excerpt, ...]
    contexts: tuple[LinkedNote, ...] = ()
    """Saved notes on the code; the best first."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """A folded definition."""

    handle: str
    name: str
    kind: str
    signature: str
    doc: str
    """First line of its doc."""
    start_line: int
    end_line: int
    depth: int
    exported: bool
    owner: str = ""
    """The type that it belongs to if it is outside of the type's text: Rust's `impl`, Go's
    receiver."""


@dataclass(frozen=True, slots=True)
class OutlineFile:
    """A folded file."""

    path: str
    language: str
    outcome: str
    lines: int
    tokens: int
    """Estimate for the whole file: bytes / 4, rounded up."""
    items: tuple[OutlineItem, ...]
    stale: bool = False
    imports: tuple[str, ...] = ()
    """Imports by module: `os.path (join, split)`; empty for files of a folder."""


@dataclass(frozen=True, slots=True)
class OutlineFolder:
    """A subfolder of an outlined folder."""

    path: str
    files: int
    tokens: int


@dataclass(frozen=True, slots=True)
class OutlineAnswer:
    """A folded file or folder."""

    receipt: Receipt
    target: str
    files: tuple[OutlineFile, ...]
    folders: tuple[OutlineFolder, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """A finding of `doctor`."""

    check: str
    state: str
    """`ok`, `note`, `mended` or `wrong`."""
    about: str
    message: str
    remedy: str
    """The action taken or to take; may be empty."""


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """The current worktree and the state of its index."""

    receipt: Receipt
    kind: str
    root: str
    repository: str
    """The folder that all worktrees share."""
    repo_id: str
    branch: str
    head: str
    detached: bool
    state: str
    """Operation in progress: `rebase`, `merge`, ...; may be empty."""
    dirty: bool | None
    """Whether tracked files have uncommitted changes; None if unknown."""
    files: int
    languages: tuple[tuple[str, int], ...]
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of files by outcome: parsed, text, minified, binary, ..."""
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    """Entries of git's list that are not indexed: links, unreadable files, ..."""
    submodules: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    """Repositories and worktrees inside this one, which are separate scopes."""
    worktrees: tuple[str, ...] = ()
    """The repository's other worktrees."""
    invalid_patterns: tuple[str, ...] = ()
    """Lines of `.codelensignore` and similar files that cannot match."""
    others: tuple[str, ...] = ()
    """A sentence for each other worktree that changes the same code."""
    views: int = 0
    index_path: str = ""
    index_bytes: int = 0
    watch: str = ""
    """Whether the system reports changes to a server, or why not; empty if it checks all files."""
    findings: tuple[HealthFinding, ...] | None = None
    """Problems of codelens on this machine; None: not checked."""


@dataclass(frozen=True, slots=True)
class SymbolLine:
    """A definition, for `export symbols`."""

    path: str
    name: str
    qualified_name: str
    kind: str
    start_line: int
    end_line: int
    line: int
    """Line of the name."""
    exported: bool
    language: str


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """A use of a definition or module by another."""

    src_file: str
    src_line: int
    """Line of the user's name; 0 for the module."""
    dst_file: str
    dst_line: int
    """Line of the used definition's name; 1 for a module."""
    kind: str
    """`call`, `ref`, `inherit` or `import`; `protocol` for a method called implicitly (`__len__` by
    `len(a)`), `export` for a name in a list of exports."""
    name: str
    """The name as written at the use."""
    line: int
    """Line of the use."""
    confidence: float


@dataclass(frozen=True, slots=True)
class SourceMark:
    """The syntactic role of characters in a line; half-open 0-based columns in UTF-8 bytes."""

    line: int
    start_column: int
    end_column: int
    kind: str
    """`comment`, `string`, `number`, `keyword`, `constant`, `type` or `heading`."""


@dataclass(frozen=True, slots=True)
class SourceLink:
    """A name in a text and the definition it certainly refers to; columns as in a mark."""

    line: int
    start_column: int
    end_column: int
    handle: str
    defines: bool
    """Whether this is the definition's own name."""


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """A file for people to read: its text, marks and links."""

    receipt: Receipt
    handle: str
    """Current handle of the target."""
    path: str
    language: str
    place_start: int
    """First line of the handle's target; 0 for a whole file."""
    place_end: int
    start_line: int
    """First line of `text`."""
    end_line: int
    file_lines: int
    text: str
    marks: tuple[SourceMark, ...]
    links: tuple[SourceLink, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Snippet:
    """The first lines of a place, with their syntax."""

    handle: str
    """The handle that was asked for."""
    path: str
    start_line: int
    text: str
    marks: tuple[SourceMark, ...]


@dataclass(frozen=True, slots=True)
class SnippetsAnswer:
    """The first lines of several places; those that cannot be read are left out."""

    receipt: Receipt
    snippets: tuple[Snippet, ...]


@dataclass(frozen=True, slots=True)
class CommitLine:
    """A commit, for a list of recent work."""

    head: str
    author: str
    time_s: int
    """The author time, in seconds since 1970."""
    subject: str


@dataclass(frozen=True, slots=True)
class RecentAnswer:
    """The latest commits of the current worktree, and the latest one of each other worktree."""

    commits: tuple[CommitLine, ...]
    """The latest first, along first parents."""
    worktrees: tuple[tuple[str, CommitLine], ...]
    """Root and latest commit of each other worktree, the latest first."""


@dataclass(frozen=True, slots=True)
class WorktreeLine:
    """A worktree of a repository."""

    root: str
    branch: str
    """Empty if HEAD is detached, or without git."""


@dataclass(frozen=True, slots=True)
class RefsAnswer:
    """Other views of a repository: worktrees, and branches and tags by name."""

    worktrees: tuple[WorktreeLine, ...]
    """Worktrees, the current one first."""
    refs: tuple[str, ...]
    more: int = 0
    """Number of refs that were left out."""


# Answers of a search.


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of a search."""

    handle: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    """Qualified name; empty if the place is not a definition."""
    kind: str
    """Kind of the symbol, or `chunk`, `file`, `line`."""
    language: str
    score: float
    signature: str
    """The signature of the definition, or the best line of the place."""
    why: str
    """The signals that ranked it, in a few words."""
    stale: bool = False
    """Whether the file has changed since it was indexed; the text is the older one."""
    alike: tuple[str, ...] = ()
    """Handles of near-copies that this place represents."""
    also: tuple[str, ...] = ()
    """Handles of more places in the file that answer better than any other file."""
    explain: Mapping[str, float] | None = None
    """Each feature's part of the score, if requested."""
    doc: str = ""
    """First line of the definition's doc."""
    repository: str = ""
    """Root of its worktree if several repositories were searched."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Ranked places, best first."""

    receipt: Receipt
    results: tuple[Hit, ...]
    query: str
    mode: str
    notes: tuple[str, ...] = ()
    """Sentences on how the query was understood."""
    contexts: tuple[LinkedNote, ...] = ()
    """Saved notes on the places; the best first."""
    context_count: int = 0
    """Number of saved notes on the places."""
    more: int = 0
    """Number of results that were left out because of `max_tokens`."""
    unshown: int = 0
    """Number of results that a short text leaves out in favour of better ones."""
    left: int = 0
    """Minimum number of further definitions or files that answer, beyond the limit."""


# Answers of a search in several repositories.


@dataclass(frozen=True, slots=True)
class RepositoryAnswer:
    """The result of one repository."""

    root: str
    """Root of its worktree; the requested path if unknown."""
    receipt: Receipt | None
    """None if it could not be searched."""
    mode: str = ""
    found: int = 0
    """Number of its results in the answer."""
    notes: tuple[str, ...] = ()
    error: str = ""
    """Why it was not searched; else empty."""
    error_in_call: str = ""
    """The same for an MCP client."""


@dataclass(frozen=True, slots=True)
class JointAnswer:
    """Ranked places of several repositories in one order, best first.

    The handle of a place has an absolute path to identify the repository; its `path` is relative to
    the repository's root.
    """

    query: str
    results: tuple[Hit, ...]
    repositories: tuple[RepositoryAnswer, ...]
    """Repositories in the requested order."""
    notes: tuple[str, ...] = ()
    """Notes on the whole answer."""
    more: int = 0
    """Number of results that were left out because of `max_tokens`."""
    left: int = 0
    """Minimum number of further definitions or files that answer, beyond the limit."""


# Answers of `Engine.explore`: the code that a task needs, within a number of tokens.


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a definition."""

    handle: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    """Qualified name; empty for lines outside of definitions."""
    kind: str
    part: str
    """A `codelens.capsule.Part`: its role for the task."""
    about: str
    """Why it was chosen, in a few words."""
    lines: tuple[tuple[int, str], ...]
    """Number and text of each line shown here; an answer shows no line twice."""
    left_out: tuple[str, ...] = ()
    """Handles of its lines that the answer does not show."""
    stale: bool = False
    sent: str = ""
    """`unchanged`: it was sent in this session, and `lines` is only its signature; `changed`: it
    was sent, and the text differs now."""
    sent_lines: tuple[tuple[int, int], ...] = ()
    """Spans of an unchanged piece that were sent, by their current line numbers."""


@dataclass(frozen=True, slots=True)
class NamedDefinition:
    """A definition that is named but not shown."""

    name: str
    """Qualified name."""
    line: int
    short: str
    """The shortest name that is a handle after `path#`."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file with further answering definitions, or with tests."""

    path: str
    definitions: tuple[NamedDefinition, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The code that a capsule has no room for."""

    definitions: int
    """Number of definitions ranked below those shown, and of callers that were not checked."""
    cut: bool
    """Whether lines of a shown definition were left out."""
    handles: tuple[str, ...]
    """Handles to read next, best first: omitted lines, then definitions."""


@dataclass(frozen=True, slots=True)
class ExploreAnswer:
    """A capsule."""

    receipt: Receipt
    task: str
    intent: str
    intent_words: tuple[str, ...]
    """The words of the task that indicate the intent; empty if it was given or no word matched."""
    pieces: tuple[Piece, ...]
    """Pieces grouped by file, best file first; within a file best first."""
    named: tuple[NamedFile, ...] = ()
    tests: tuple[NamedFile, ...] = ()
    contexts: tuple[LinkedNote, ...] = ()
    """Saved notes on the shown code; those whose code has changed come last."""
    gone_contexts: int = 0
    """Number of saved notes on code of the shown files that no longer exists."""
    notes: tuple[str, ...] = ()
    more: LeftOut | None = None
    """The omitted code, or None."""
    test_count: int = 0
    context_count: int = 0
    note_count: int = 0
    """Total numbers, if not all fit."""
