"""Frozen values that packages exchange; this module imports nothing from codelens.

Conventions throughout codelens: lines are 1-based and inclusive, columns 0-based in UTF-8 bytes,
byte spans half-open. A path inside a worktree is `RelPath`: bytes, `/` between its parts, no
leading slash, exactly as git stores it. Git allows any bytes but NUL, so paths become text only for
input and output (`codelens.paths.printed`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, NewType

RelPath = NewType("RelPath", bytes)
ContentHash = NewType("ContentHash", bytes)
"""xxh3_128 of a file's raw bytes: 16 bytes."""
CommitId = NewType("CommitId", str)
"""A commit's object id in hex."""
ContentId = NewType("ContentId", int)
"""Row id of one extraction of one content; internal to a process, never used for ranking."""

SymbolKind = Literal[
    "function",
    "method",
    "class",
    "struct",
    "union",
    "interface",
    "trait",
    "enum",
    "member",
    "type",
    "module",
    "constant",
    "variable",
    "property",
    "field",
    "macro",
    "heading",
    "key",
]
"""Kind of a definition: `member` is an enum member, `heading` a Markdown section, `key` a data
key."""


class Symbol(NamedTuple):
    """One definition in a text."""

    name: str
    qualified: str
    """The names of the enclosing definitions and the symbol, joined with `.`."""
    kind: str
    signature: str
    """The declaration without the body, in one line."""
    doc: str
    """Doc comment or docstring without markers, at most 600 characters."""
    exported: bool
    """Whether the language makes it visible outside its file."""
    start_line: int
    """First line of the definition, including decorators but not leading comments."""
    end_line: int
    name_line: int
    """Line of the name token."""
    start_byte: int
    end_byte: int
    parent: int
    """Position of the enclosing symbol in the same tuple of symbols, -1 at top level."""


PROTOCOL = 126
"""Replaces the argument count of a protocol call: Python calls `__len__` for `len(a)`."""

# Marks in `Reference.argument_lines`, in place of arguments.
INITIAL = ":"
"""The call starts a constructor of C++: it names a type, or a field in an initializer."""
SETTER = "="
"""A call by assignment: `a.b = c` calls `b=`; `a.b += c` calls `b`, then `b=`."""
NAMED = ":="
"""The name is that of an argument, and of a field if a constructor takes it."""
CASE = "case"
"""The name is a constant of the value's type, or one that is in scope there."""
VARIABLE = "@"
"""The name is a variable of the instance, never a method."""

ROOT = "\\"
"""The receiver of a name that is qualified as global: `\\strlen()` in PHP."""


class Reference(NamedTuple):
    """A use of a name; resolved per view, never per content."""

    name: str
    kind: str
    """`call`, `type`, `name`, or `export`: a name in a list of exports."""
    line: int
    column: int
    symbol: int
    """Position of the innermost enclosing symbol, -1 at module level."""
    receiver: str = ""
    """The expression before the dot, in the form of `codelens.extract.flow.expressions`; empty for
    a bare name, `?` if unknown."""
    scope: int = 0
    """Position of the innermost scope."""
    arguments: int = -1
    """Number of arguments of a call; -1 if unknown or irrelevant, -2 for a macro, `PROTOCOL` if the
    language makes the call, and not by name."""
    argument_lines: str = ""
    """One line per argument, for overload resolution; see `codelens.extract.flow.expressions`."""


ScopeKind = Literal["module", "function", "class", "block"]


class Scope(NamedTuple):
    """A span of text with its own names; the first scope of a text is the whole text."""

    parent: int
    """Position of the enclosing scope, -1 for the first."""
    symbol: int
    """Position of the symbol whose body it is, -1 for an anonymous function or a block."""
    kind: str
    """A `ScopeKind`."""


class Binding(NamedTuple):
    """A name bound in a scope, or what a scope's own symbol returns, derives from or aliases."""

    scope: int
    name: str
    """`self.x`, as written, for an instance attribute; empty for a binding of the scope itself."""
    how: str
    """See `codelens.extract.flow.scopes`."""
    text: str
    """An expression, type or number, depending on `how`."""
    line: int


class Import(NamedTuple):
    """A name or module that the text imports."""

    module: str
    """As written: `os.path`, `./util`, `stdio.h`."""
    name: str
    """Imported name, `*` for all, empty when the module itself is bound."""
    alias: str
    """Local name when it differs, else empty."""
    line: int


class Chunk(NamedTuple):
    """A span of text that is scored and shown as a unit: whole symbols if they fit."""

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    symbol: int
    """Position of the main symbol of the chunk, -1 if none."""


Outcome = Literal["parsed", "text", "minified", "binary", "oversized", "timeout", "broken"]
"""Result of the extraction: `parsed` has symbols; `text` and `minified` are searchable as text;
`binary` and `oversized` are indexed by path alone; `timeout` and `broken` fell back to text."""


class Structure(NamedTuple):
    """The result of parsing one text."""

    symbols: tuple[Symbol, ...]
    references: tuple[Reference, ...]
    imports: tuple[Import, ...]
    chunks: tuple[Chunk, ...]
    scopes: tuple[Scope, ...] = ()
    bindings: tuple[Binding, ...] = ()


class ChunkVectors(NamedTuple):
    """Vectors of the chunks of a text, by one version of the word table."""

    version: int
    data: bytes
    """One vector per chunk, concatenated (see `codelens.meaning.text_vectors`)."""


class Facts(NamedTuple):
    """All facts derived from one text in one language; independent of its path."""

    outcome: Outcome
    structure: Structure
    lines: int
    generated: bool
    """The text contains a mark that it was generated."""
    terms: dict[str, bytes]
    """Term -> its occurrences, 4 bytes per chunk (see `codelens.extract.tokenizer`)."""
    lengths: tuple[tuple[int, int, int], ...]
    """Number of terms per chunk, in body, names and docs."""
    vectors: ChunkVectors | None = None
    """None without a word table."""


Tier = Literal["text", "symbols", "full"]


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, inclusive."""

    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """The state that an answer is based on; part of every answer."""

    index_id: str
    worktree: str
    branch: str
    head: str
    status: Literal["fresh", "partial", "unknown"]
    files: int
    checked: int
    indexed: int
    elapsed_ms: float
    pending: int = 0
    """Files whose current text is not indexed."""
    unread: int = 0
    """Pending files that may contain matches: neither searched nor indexed in time."""
    pending_names: tuple[str, ...] = field(default=())
    note: str = ""
    precise: int = 0
    """Files whose edges come from a compiler; counted for questions about the graph."""
