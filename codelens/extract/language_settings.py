"""Which languages there are, and their settings.

A language is data alone: `languages/<name>.toml` (its settings) and the queries it names, found
by themselves. `docs/languages.md` has the vocabulary. Nothing here loads a grammar, and the
settings are read at the first question, so that importing this module costs next to nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from codelens.errors import SettingError
from codelens.types import SymbolKind

TEXT = "text"
"""Language of every file whose language is not known."""

FOLDER = Path(__file__).parent / "languages"

DocStyle = Literal["leading", "trailing", "following", "docstring"]
ExportRule = Literal["always", "never", "no-underscore", "uppercase", "marked", "unmarked"]
SignatureRule = Literal["body", "line"]
ConstantRule = Literal["marked", "uppercase", "keyword"]
CommentStyle = Literal[
    "slashes", "slashes-or-hash", "hash", "hash-and-docstring", "dashes", "semicolon", "percent"
]
MemberRule = Literal["marked", "unmarked"]

_SURROUNDINGS = frozenset(
    {"scope", "extent", "decorator", "private", "export", "doc", "docstring", "import"}
)
"""What a form can be beside a kind of definition."""


class Unparsable(NamedTuple):
    """Texts that must stay plain: with `run` of the `characters` in a row that match the `regex`.

    Or with the `marker` more than `most` times and as many braces open at once.
    """

    characters: str = ""
    run: int = 0
    regex: str = ""
    marker: str = ""
    most: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LanguageInfo:
    """Settings of one language, as `languages/<name>.toml` has them.

    There is one of each, so it is equal to itself alone: what compares so many fields costs each
    start a millisecond, and each look into a cache a walk through them.
    """

    name: str
    title: str
    """Its name for people."""
    version: int
    """Raised with every change of its query or settings that changes facts; below 1,000."""
    grammar: str
    """Name in tree-sitter-language-pack; empty: its files are plain text."""
    queries: tuple[str, ...]
    """Stems of the `.scm` files that are joined to its query."""
    extensions: tuple[str, ...] = ()
    """Ends of file names, `.` included, compared in lower case."""
    filenames: tuple[str, ...] = ()
    """Whole file names."""
    stems: tuple[str, ...] = ()
    """File names up to their first dot, where the extension is nobody's: `Dockerfile.dev`."""
    aliases: tuple[str, ...] = ()
    """What else it is called where a part of a text says its language (`sh`, `golang`)."""
    interpreters: tuple[str, ...] = ()
    """Names in a `#!` line, version digits left out."""
    contested: tuple[tuple[str, str], ...] = ()
    """Extensions of other languages that are this one's if the regex is found in the head."""
    names: tuple[str, ...] = ("name",)
    """Field paths from a definition to its name where the query has no `@name` for it: `a.b` is
    field b of field a, `a*` follows every field a down to the leaf. The first that leads counts."""
    name_noise: str = ""
    """Regex of what is no part of a name."""
    name_separators: tuple[str, ...] = ()
    """Of a name with one of them in it the last part is the name, the rest its owner."""
    whole_modules: bool = False
    """Names of modules are not taken apart at the separators."""
    modules_qualify: bool = True
    """What is in a module has the module's name before its own."""
    absolute_names: bool = False
    """A module, and what is named with an owner, is not qualified by what is around it."""
    merged: bool = False
    """Neighbours of one name, kind and parent are clauses of one definition."""
    sections: str = "heading"
    """Kind of what is captured as `@section`."""
    owned: Literal["function", "method"] = "method"
    """What a function with an owner is, outside of any type."""
    parts: tuple[tuple[str, str], ...] = ()
    """The same for a `@form.part`, by the keyword of the form around it."""
    open_bodies: bool = False
    """A `@body` reaches to the end of its definition."""
    words: bool = False
    """A name or imported name with blanks in it is several: Perl's `qw(a b)`."""
    confined: frozenset[str] = frozenset()
    """Kinds that are no definitions outside of types: R6's methods look like any argument."""
    once: frozenset[str] = frozenset()
    """Kinds of which the first of a name in one place is the definition: Bash's variables."""
    private_names: str = ""
    """Regex of names that are visible nowhere else."""
    signature_noise: str = ""
    """Regex of what is left out of signatures: lines of a preprocessor."""
    selves: str = ".*"
    """Regex of the `@self` that members are assigned to."""
    forms: tuple[tuple[str, str], ...] = ()
    """Role -> regex: a `@form` whose keyword is such plays that role
    (`codelens.extract.symbols.capture_events`)."""
    placeholder_names: frozenset[str] = frozenset()
    """Names that any later path beats."""
    destructured: frozenset[str] = frozenset()
    """Types of the nodes that are names where a pattern stands in place of one."""
    bodies: tuple[str, ...] = ("body",)
    """Field paths to the body, where the query has no `@body`."""
    owners: tuple[str, ...] = ()
    """Field paths to the type that a definition outside it belongs to, if there is no `@owner`."""
    scope_owners: tuple[str, ...] = ()
    """The same for a `@scope`."""
    owner_noise: str = ""
    """Regex of what is no part of an owner's name."""
    exporting: str = ""
    """Regex: a definition or `@scope` that starts so is visible outside the file."""
    hints: tuple[tuple[str, str], ...] = ()
    """Kind -> regex: a definition with such a `@hint` in its head is of that kind."""
    import_calls: frozenset[str] = frozenset()
    """Names of functions, captured as `@import.call`, whose calls are imports."""
    sending_calls: frozenset[str] = frozenset()
    """Names of methods that call the one whose name is their `@reference.sent`."""
    import_keys: tuple[tuple[str, str], ...] = ()
    """Role, or `none` -> regex on an `@import.key`: what the `@import.value`s behind it are."""
    imports_split: bool = False
    """Of a module that is bound itself, `a.b.C`, the last part is the name imported."""
    import_separator: str = "."
    """Joins an `@import.prefix` with what it stands before."""
    import_noise: str = ""
    """Regex of what is no part of the texts in an import."""
    docs: tuple[DocStyle, ...] = ("leading",)
    """Where the doc of a definition stands; the first that is there counts."""
    exported: ExportRule = "always"
    members: MemberRule = "unmarked"
    """With `exported = "marked"`: what is inside a type is visible with it unless it is private,
    or only if marked itself."""
    open_kinds: frozenset[str] = frozenset()
    """Kinds whose members are visible with them, whatever `members` says."""
    modules_marked: bool = False
    """A module must be marked to be visible, as what is in it."""
    access: tuple[tuple[str, str], ...] = ()
    """`private` or `public` -> regex on an `@access`, which holds for what follows it."""
    private_first: frozenset[str] = frozenset()
    """Kinds whose members are private until an `@access` says otherwise."""
    constants: ConstantRule = "marked"
    """Which variables are constants: those captured as such, those with an upper-case name as
    well, or those declared with a word `const`."""
    prose: bool = False
    """Code in it is quoted: nothing in that is visible outside, and its keys are nobody's."""
    cells: bool = False
    """Its `@embedded.cell`s are those of a notebook (`codelens.extract.source_text`)."""
    embedded_hint: str = ""
    """Regex, its first group the language, on `@embedded.language`; what does not match says
    nothing. By default the first word of it."""
    signature: SignatureRule = "body"
    """Where a signature ends: at the `@body`, or with its first line."""
    restarts: str = ""
    """Regex of what, at the start of a line but for blanks, always begins a definition: where
    broken text before it has swallowed it, the parse is repaired
    (`codelens.extract.parse.parse_repair`)."""
    steps: int = 25
    """Steps of the parser for 1,000 bytes that the most demanding sound texts take."""
    doc_noise: str = ""
    """Regex of what is left out of docs: the tags of C#."""
    masked: str = ""
    """Regex of what is blanked out before parsing, or of its groups: macros that are no syntax."""
    suspected: tuple[str, ...] = ()
    """Regexes whose groups are blanked out where the parse fails around them and is better
    without: places of macros that are no syntax (`codelens.extract.parse.macro_repair`)."""
    keywords: frozenset[str] = frozenset()
    """Words that are no `<name>` in `suspected`."""
    type_beginnings: str = ""
    """Regex of what begins a type: `<type>` in `suspected`."""
    spaced_names: str = ""
    """Regex of names in which blanks may stand, written as `_`; other names have none."""
    conditionals: bool = False
    """Sections of a preprocessor may split a pair of braces: one branch of them is read."""
    macro_names: str = ""
    """Regex of names by which a definition without a type is none: a macro is called there."""
    no_programs: bool = False
    """Data, documents or styles: in an overview it comes after what programs are written in."""
    comment_style: CommentStyle = "slashes"
    """What begins a comment (`codelens.branches.code_tokens`)."""
    lifetimes: bool = False
    """A lone quote begins a lifetime as well as a character (Rust)."""
    indented: bool = False
    """The indentation of a line says what it belongs to."""
    text_opening: str = ""
    """The line that a text begins with, or it is no code: `<?php`."""
    type_wrapper: tuple[str, ...] = ()
    """Lines before and behind members that make a text of them; `{}` is the name of their type."""
    declared_apart: bool = False
    """A function may be declared in one place and defined in another: both are one thing."""
    unparsable: Unparsable | None = None
    """Texts that must not be parsed, as they would crash the grammar's own scanner."""
    leaks: bool = False
    """The grammar's scanner loses up to 300 MB over one hopeless text; a worker ends with it."""
    bound_names: str = ""
    """Regex: a `@reference.bound` so named counts though the file does not bind the name."""
    free_names: bool = False
    """A `@reference.bound` counts where nothing in the file binds the name: it is a global one."""
    name_characters: str = ""
    """Signs that are part of a name: `.` in R."""
    reference_names: str = ""
    """Regex: its one group is the name in the text of a reference that is no plain word."""
    known_members: bool = False
    """Members are used by their bare names: Ruby's methods."""
    joined: str = ""
    """Field of a `@reference.call.joined` whose texts make the name: Objective-C's selectors."""
    bindings: tuple[tuple[str, str], ...] = ()
    """Type of a `@bind` node -> field paths of name, value and type
    (`codelens.extract.flow.scopes`)."""
    expressions: tuple[tuple[str, str], ...] = ()
    """Type of a node -> how it is written down (`codelens.extract.flow.expressions`)."""
    literals: tuple[tuple[str, str], ...] = ()
    """Type of a node -> kind of an argument (`codelens.extract.flow.expressions`)."""
    operators: tuple[tuple[str, str], ...] = ()
    """Type of a `@protocol` node -> the methods it calls (`codelens.extract.flow.operators`)."""
    operator_names: tuple[tuple[str, str], ...] = ()
    """Sign of an operator -> its method."""
    plain_types: str = ""
    """Regex of types, as bindings say them, that have no methods of their own."""
    pointing: frozenset[str] = frozenset()
    """Types of nodes that give a pointer to what is written for them; with it, what is written for
    a pointer is what it leads to, and no operand."""
    ignored_calls: frozenset[str] = frozenset()
    """Names of what looks like a call and is none: `if` in Elixir."""
    ignored_types: frozenset[str] = frozenset()
    """Names of built-in types that the grammar does not tell from others."""


def form_capture(role: str) -> str:
    """The capture that a form of a role (a kind, or what surrounds definitions) stands for."""
    return role if role.partition(".")[0] in _SURROUNDINGS else f"definition.{role}"


def languages() -> tuple[LanguageInfo, ...]:
    """All languages, by name; the settings are read once a process."""
    return tuple(language_info(path.stem) for path in sorted(FOLDER.glob("*.toml")))


@cache
def language_info(name: str) -> LanguageInfo:
    """Settings of one language; reads its file alone.

    Raises:
        SettingError: there is no such language.
    """
    path = FOLDER / f"{name}.toml"
    if not re.fullmatch(r"[a-z0-9_-]+", name) or not path.is_file():
        raise SettingError(f"no language is called {name!r}; `codelens languages` lists them")
    return _load(path)


_SETS = frozenset(
    "confined destructured ignored_calls ignored_types import_calls keywords once "
    "open_kinds placeholder_names pointing private_first sending_calls".split()
)
_CHOICES = {
    "docs": get_args(DocStyle),
    "exported": get_args(ExportRule),
    "constants": get_args(ConstantRule),
    "signature": get_args(SignatureRule),
    "members": get_args(MemberRule),
    "comment_style": get_args(CommentStyle),
    "owned": ("function", "method"),
    "sections": get_args(SymbolKind),
}


def _load(path: Path) -> LanguageInfo:
    import tomllib
    from dataclasses import fields

    values = cast("dict[str, object]", tomllib.loads(path.read_text(encoding="utf-8")))
    unknown = values.keys() - {field.name for field in fields(LanguageInfo)} - {"name"}
    if unknown:
        raise SettingError(f"{path.name} has unknown settings: {', '.join(sorted(unknown))}")
    values.setdefault("grammar", path.stem)
    values.setdefault("queries", [path.stem] if values["grammar"] else [])
    for key, value in values.items():
        choices = _CHOICES.get(key)
        chosen = cast("list[object]", value if isinstance(value, list) else [value])
        if choices and not all(value in choices for value in chosen):
            raise SettingError(f"{path.name}: {key} must be one of {', '.join(choices)}")
    settings = {key: _frozen(key, value) for key, value in values.items()}
    return LanguageInfo(name=path.stem, **settings)  # type: ignore[arg-type]


def _frozen(key: str, value: object) -> object:
    if isinstance(value, list):
        items = cast("list[object]", value)
        return frozenset(items) if key in _SETS else tuple(items)
    if key == "unparsable":
        return Unparsable(**cast("dict[str, Any]", value))
    if isinstance(value, dict):
        return tuple(cast("dict[str, str]", value).items())
    return value


# What is read of each language, told from the captures its queries use; loads no grammar.

Gift = Literal["definitions", "headings", "references", "imports", "docs", "embedded"]

_CAPTURE = re.compile(r"@([a-z]+)")
_COMMENT = re.compile(r"^\s*;.*$", re.MULTILINE)
_BY_CAPTURE: dict[str, Gift] = {
    "definition": "definitions",
    "form": "definitions",
    "section": "headings",
    "reference": "references",
    "import": "imports",
    "comment": "docs",
    "docstring": "docs",
    "doc": "docs",
    "embedded": "embedded",
}


def given_by(info: LanguageInfo) -> tuple[Gift, ...]:
    """Which facts a language's files give beside chunks and words; none for plain text.

    `docs` are the comments or strings that document definitions, `embedded` the definitions of
    parts in other languages.
    """
    gifts: set[Gift] = set()
    for stem in info.queries:
        query = _COMMENT.sub("", (FOLDER / f"{stem}.scm").read_text(encoding="utf-8"))
        gifts.update(_BY_CAPTURE[head] for head in _CAPTURE.findall(query) if head in _BY_CAPTURE)
    if info.sections != "heading":
        gifts.discard("headings")
    if "definitions" not in gifts:
        gifts.discard("docs")
    return tuple(get_arg for get_arg in get_args(Gift) if get_arg in gifts)
