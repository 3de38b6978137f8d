"""What the engine answers with: frozen values, ready to be printed, sent or used from Python.

`path` is always the printed form (`codelens.paths.printed`), relative to the worktree's root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codelens.answers.tied_notes import TiedNote
from codelens.types import Receipt


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
