"""The values that travel between packages: frozen, small, importing nothing of ours.

Conventions, everywhere in codelens: lines are 1-based and inclusive, columns 0-based and
counted in UTF-8 bytes, byte spans half-open. A path inside a worktree is `RelPath`: bytes,
`/` between its parts, no leading slash, exactly as git holds it; git allows any bytes but NUL,
so text comes only at the edge (`codelens.paths.printed`).
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
"""Row of one extraction of one content; never leaves a process, never ranks."""

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
"""What a definition is; `member` is of an enum, `heading` a Markdown section, `key` of data."""


class Symbol(NamedTuple):
    """One definition in a text."""

    name: str
    qualified: str
    """Names of the enclosing definitions and its own, joined with `.`."""
    kind: str
    signature: str
    """One line, as declared, without the body."""
    doc: str
    """Doc comment or docstring, markers stripped, at most 600 characters."""
    exported: bool
    """Visible outside its file by the language's own rule."""
    start_line: int
    """First line of the definition, decorators included, leading comments not."""
    end_line: int
    name_line: int
    """Line of the name token."""
    start_byte: int
    end_byte: int
    parent: int
    """Position of the enclosing symbol in the same tuple of symbols, -1 at top level."""


PROTOCOL = 126
"""In place of how many arguments there are: Python calls `__len__` for `len(a)`."""


class Reference(NamedTuple):
    """A name used, not defined; resolved per view, never per content."""

    name: str
    kind: str
    """`call`, `type` or `name`."""
    line: int
    column: int
    symbol: int
    """Position of the innermost enclosing symbol, -1 at module level."""
    receiver: str = ""
    """What stands before its dot, as an expression of `codelens.extract.flow.expressions`; empty
    for a bare name, `?` where it is not known."""
    scope: int = 0
    """Position of the innermost scope."""
    arguments: int = -1
    """How many a call has, -1 where it is not known or does not matter, -2 of a macro, `PROTOCOL`
    where the language calls it, and not by its name."""
    argument_lines: str = ""
    """One line an argument, where overloads are told apart by them; see
    `codelens.extract.flow.expressions`."""


ScopeKind = Literal["module", "function", "class", "block"]


class Scope(NamedTuple):
    """A span of text with names of its own; the first of a text is the text itself."""

    parent: int
    """Position of the scope around it, -1 for the first."""
    symbol: int
    """Position of the symbol whose inside it is, -1 for a nameless function or a block."""
    kind: str
    """A `ScopeKind`."""


class Binding(NamedTuple):
    """A name bound in a scope, or what a scope's own symbol returns, derives from, stands for."""

    scope: int
    name: str
    """`self.x` for an attribute of the instance, as written; empty for what is of the scope."""
    how: str
    """See `codelens.extract.flow.scopes`."""
    text: str
    """Expression, type or number, by `how`."""
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
    """A span of text that is scored and shown as one: whole symbols where they fit."""

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    symbol: int
    """Position of the symbol that the chunk is mostly about, -1 if none."""


Outcome = Literal["parsed", "text", "minified", "binary", "oversized", "timeout", "broken"]
"""What became of a content: `parsed` has symbols; `text` and `minified` are searchable as text;
`binary` and `oversized` are known by path alone; `timeout` and `broken` fell back to text."""


class Structure(NamedTuple):
    """What one parse of one text gives."""

    symbols: tuple[Symbol, ...]
    references: tuple[Reference, ...]
    imports: tuple[Import, ...]
    chunks: tuple[Chunk, ...]
    scopes: tuple[Scope, ...] = ()
    bindings: tuple[Binding, ...] = ()


class ChunkVectors(NamedTuple):
    """What the chunks of a text mean, by one version of the table of words."""

    version: int
    data: bytes
    """A vector a chunk, one behind the other (see `codelens.meaning.text_vectors`)."""


class Facts(NamedTuple):
    """All that is derived from one text in one language; nothing in it depends on a path."""

    outcome: Outcome
    structure: Structure
    lines: int
    generated: bool
    """The text says of itself that it was generated."""
    terms: dict[str, bytes]
    """Term -> its occurrences, 4 bytes a chunk (see `codelens.extract.tokenizer`)."""
    lengths: tuple[tuple[int, int, int], ...]
    """Per chunk the number of terms in body, names and docs."""
    vectors: ChunkVectors | None = None
    """None where there is no table of words."""


Tier = Literal["text", "symbols", "full"]


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, inclusive."""

    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an answer stands on: sent with every answer."""

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
    """Files whose text is not indexed as it is now."""
    unread: int = 0
    """Those of them that may hold what was asked: not looked through, or not indexed in time."""
    pending_names: tuple[str, ...] = field(default=())
    note: str = ""
