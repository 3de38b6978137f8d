"""What an answer says of the saved contexts on the code that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codelens.types import Receipt


@dataclass(frozen=True, slots=True)
class TiedNote:
    """A saved context that is about code which an answer shows."""

    name: str
    category: str
    status: str
    """`current`: that code is as it was when it was saved, if elsewhere; or `changed`."""
    note: str
    """Its first line."""
    handles: tuple[str, ...]
    """Of what is shown, a few of those that it is about, as they are to be written now."""
    handle_count: int = 0
    """How many it is about."""


# What the engine answers with: frozen values, ready to be printed, sent or used from Python.
#
# `path` is always the printed form (`codelens.paths.printed`), relative to the worktree's root.


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text that one handle names, or why there is none."""

    handle: str
    """As it should be written now; the asked one when it failed."""
    asked: str
    """The handle asked for; of a name that several definitions have, the handle of each."""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    language: str = ""
    text: str = ""
    moved: str = ""
    """A sentence, when the text stands elsewhere than the handle said."""
    truncated: bool = False
    last_line: int = 0
    """Where the place ends; beyond `end_line` if the text was cut."""
    line_cut: bool = False
    """Not even its first line is whole."""
    error: str = ""
    near: tuple[str, ...] = ()
    sent: str = ""
    """`unchanged`: all of it was sent in this session, and `text` is its signature alone;
    `changed`: it was sent, and is another text now."""
    sent_at: int = 0
    """The first line that an unchanged one had when it was sent."""
    folded: bool = False
    """`text` has the declarations alone, a line each, as an outline has them."""


@dataclass(frozen=True, slots=True)
class ExpandAnswer:
    """One excerpt for each handle asked, in order; several for a name of a few definitions."""

    receipt: Receipt
    items: tuple[Excerpt, ...]
    contexts: tuple[TiedNote, ...] = ()
    """Saved notes on what was read; the best first."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """One definition, folded."""

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
    """The type that it belongs to where that holds it in no text: Rust's `impl`, Go's receiver."""


@dataclass(frozen=True, slots=True)
class OutlineFile:
    """One file, folded."""

    path: str
    language: str
    outcome: str
    lines: int
    tokens: int
    """Estimate for the whole file: bytes / 4, rounded up."""
    items: tuple[OutlineItem, ...]
    stale: bool = False
    imports: tuple[str, ...] = ()
    """What an outlined file imports, by module: `os.path (join, split)`; none in a folder."""


@dataclass(frozen=True, slots=True)
class OutlineFolder:
    """One sub-folder of an outlined folder."""

    path: str
    files: int
    tokens: int


@dataclass(frozen=True, slots=True)
class OutlineAnswer:
    """A file or folder, folded."""

    receipt: Receipt
    target: str
    files: tuple[OutlineFile, ...]
    folders: tuple[OutlineFolder, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """What `doctor` finds."""

    check: str
    state: str
    """`ok`, `note`, `mended` or `wrong`."""
    about: str
    message: str
    remedy: str
    """What was done, or what to do; empty for nothing."""


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """Where one stands and how the index is."""

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
    """`rebase`, `merge`, ... or empty."""
    dirty: bool | None
    """Uncommitted changes to tracked files; None where it cannot be told."""
    files: int
    languages: tuple[tuple[str, int], ...]
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Files by what became of them: parsed, text, minified, binary, ..."""
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    """What belongs to git's list but is no indexed file: links, unreadable, ..."""
    submodules: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    """Repositories and worktrees inside this one: scopes of their own."""
    worktrees: tuple[str, ...] = ()
    """The repository's other worktrees."""
    invalid_patterns: tuple[str, ...] = ()
    """Lines of `.codelensignore` and its kin that can match nothing."""
    others: tuple[str, ...] = ()
    """A sentence for each other worktree that is changing what is changed here."""
    views: int = 0
    index_path: str = ""
    index_bytes: int = 0
    watch: str = ""
    """In a server: whether it is told of changes, or why not; empty where it looks at all files."""
    findings: tuple[HealthFinding, ...] | None = None
    """What is not as it should be with codelens on this machine; None: not examined."""


@dataclass(frozen=True, slots=True)
class SymbolLine:
    """One definition, for `export symbols`."""

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
    """One definition, or module, uses another."""

    src_file: str
    src_line: int
    """Line of the name of the definition that uses; 0 for the module."""
    dst_file: str
    dst_line: int
    """Line of the name of what is used; 1 for a module."""
    kind: str
    """`call`, `ref`, `inherit` or `import`; `protocol` of a method that is called without its name:
    `__len__` by `len(a)`."""
    name: str
    """As it is written where it is used."""
    line: int
    """Where it is used."""
    confidence: float


@dataclass(frozen=True, slots=True)
class SourceMark:
    """What some characters of a line are; columns are 0-based, half-open, in UTF-8 bytes."""

    line: int
    start_column: int
    end_column: int
    kind: str
    """`comment`, `string`, `number`, `keyword`, `constant`, `type` or `heading`."""


@dataclass(frozen=True, slots=True)
class SourceLink:
    """A name in a text, and the definition that it means for certain; columns as in a mark."""

    line: int
    start_column: int
    end_column: int
    handle: str
    defines: bool
    """The definition's own name stands here."""


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """A file to be read by people: its text, what its words are, and where its names lead."""

    receipt: Receipt
    handle: str
    """What was asked about, as it is to be written now."""
    path: str
    language: str
    place_start: int
    """First line of what the handle names; 0 for a whole file."""
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
class WorktreeLine:
    """A worktree of a repository."""

    root: str
    branch: str
    """Empty where HEAD is detached, or there is no git."""


@dataclass(frozen=True, slots=True)
class RefsAnswer:
    """What else can be looked at in a repository: worktrees, and branches and tags by name."""

    worktrees: tuple[WorktreeLine, ...]
    """The one that was asked from first."""
    refs: tuple[str, ...]
    more: int = 0
    """Refs that were left out."""


# What a search answers with; apart from `reading_answers`, for a search is what starts most often.
#
# A frozen dataclass costs about a millisecond of CPU to make, and there are fifteen others.


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that answers a search."""

    handle: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    """Qualified name; empty when the place is no definition."""
    kind: str
    """Kind of the symbol, or `chunk`, `file`, `line`."""
    language: str
    score: float
    signature: str
    """The definition's, or the best line of the place."""
    why: str
    """A few words: which signals put it here."""
    stale: bool = False
    """The file is known to have changed since; its text here is the older one."""
    alike: tuple[str, ...] = ()
    """Handles of places with nearly the same text, that stand behind this one."""
    also: tuple[str, ...] = ()
    """Handles of further places of the same file that answer better than any other file."""
    explain: Mapping[str, float] | None = None
    """Each feature's share of the score, when asked for."""
    doc: str = ""
    """First line of the definition's doc."""
    repository: str = ""
    """Top of the worktree that it is in, where several repositories were asked."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Ranked places, best first."""

    receipt: Receipt
    results: tuple[Hit, ...]
    query: str
    mode: str
    notes: tuple[str, ...] = ()
    """What was understood or not, in sentences."""
    contexts: tuple[TiedNote, ...] = ()
    """Saved notes on the places; the best first."""
    context_count: int = 0
    """How many saved notes there are on the places."""
    more: int = 0
    """Results that were left out to keep to `max_tokens`."""
    unshown: int = 0
    """Results that a short text leaves out, since better ones stand before them."""
    left: int = 0
    """How many more definitions or files answer, at least, beyond the limit."""


# What a search of several repositories answers with.


@dataclass(frozen=True, slots=True)
class RepositoryAnswer:
    """What one of the repositories came to."""

    root: str
    """Top of its worktree; as it was asked for where that is not known."""
    receipt: Receipt | None
    """None where it could not be asked."""
    mode: str = ""
    found: int = 0
    """Results it has among those of the answer."""
    notes: tuple[str, ...] = ()
    error: str = ""
    """Why it has no results; empty if it was asked."""
    error_in_call: str = ""
    """The same for one who calls a tool."""


@dataclass(frozen=True, slots=True)
class JointAnswer:
    """Ranked places of several repositories in one order, best first.

    The handle of a place has its absolute path, so that it says which repository it is in; its
    `path` is relative to the top of that.
    """

    query: str
    results: tuple[Hit, ...]
    repositories: tuple[RepositoryAnswer, ...]
    """In the order asked."""
    notes: tuple[str, ...] = ()
    """What is said of the whole."""
    more: int = 0
    """Results that were left out to keep to `max_tokens`."""
    left: int = 0
    """How many more definitions or files answer, at least, beyond the limit."""


# What `Engine.explore` answers with: the code a task needs, in a number of tokens.


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of a definition."""

    handle: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    """Qualified name; empty for lines that stand in no definition."""
    kind: str
    part: str
    """Of `codelens.capsule.Part`: what it is to the task."""
    about: str
    """Why it is there, in a few words."""
    lines: tuple[tuple[int, str], ...]
    """Number and text of each line that is shown here; none is shown twice in an answer."""
    left_out: tuple[str, ...] = ()
    """Handles of the lines of it that are shown nowhere in the answer."""
    stale: bool = False
    sent: str = ""
    """`unchanged`: it was sent in this session, and `lines` is its signature alone; `changed`: it
    was sent, and is another text now."""
    sent_lines: tuple[tuple[int, int], ...] = ()
    """Of one that is unchanged the spans that were sent, by the numbers that they have now."""


@dataclass(frozen=True, slots=True)
class NamedDefinition:
    """A definition that is named and not shown."""

    name: str
    """Qualified."""
    line: int


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file with definitions that answer as well, or with tests."""

    path: str
    definitions: tuple[NamedDefinition, ...] = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a capsule had no room for."""

    definitions: int
    """Definitions that rank below those shown, and callers that were not looked at."""
    cut: bool
    """Lines of a definition that was looked for were left out."""
    handles: tuple[str, ...]
    """What to read next, best first: lines left out, then definitions."""


@dataclass(frozen=True, slots=True)
class ExploreAnswer:
    """A capsule."""

    receipt: Receipt
    task: str
    intent: str
    intent_words: tuple[str, ...]
    """The words of the task that told the intent; empty if it was given, or none did."""
    pieces: tuple[Piece, ...]
    """By file, in the order of what answers best; in a file by line."""
    named: tuple[NamedFile, ...] = ()
    tests: tuple[NamedFile, ...] = ()
    contexts: tuple[TiedNote, ...] = ()
    """Saved notes on what is shown; those whose code has changed come last."""
    gone_contexts: int = 0
    """Saved notes on code of the shown files that is there no more."""
    notes: tuple[str, ...] = ()
    more: LeftOut | None = None
    """What was left out; None if nothing was."""
    test_count: int = 0
    context_count: int = 0
    note_count: int = 0
    """How many of each there are, where not all have room."""
