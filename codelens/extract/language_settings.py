"""Loads the settings of the supported languages.

A language is data only: `languages/<name>.toml` (its settings) and the queries that it names; both
are discovered automatically. `docs/languages.md` has the vocabulary. This module loads no grammar
and reads the settings on first use, so importing it is cheap.
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
"""The language of every file whose language is unknown."""

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
"""The roles of a form, in addition to kinds of definitions."""


class Unparsable(NamedTuple):
    """Texts that must not be parsed: with `run` consecutive `characters` that match the `regex`.

    Also texts with the `marker` more than `most` times and as many braces open at once.
    """

    characters: str = ""
    run: int = 0
    regex: str = ""
    marker: str = ""
    most: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LanguageInfo:
    """The settings of one language, as in `languages/<name>.toml`.

    There is one instance per language, so instances compare by identity. Comparing so many fields
    would cost a millisecond at each start, and hashing them would slow each cache lookup.
    """

    name: str
    title: str
    """The display name."""
    version: int
    """Raised with every change of the query or settings that changes facts; below 1,000."""
    grammar: str
    """The name in tree-sitter-language-pack. Without a grammar files are plain text."""
    queries: tuple[str, ...]
    """Stems of the `.scm` files that make up the query."""
    extensions: tuple[str, ...] = ()
    """File name extensions with their `.`, compared in lower case."""
    filenames: tuple[str, ...] = ()
    """Whole file names."""
    stems: tuple[str, ...] = ()
    """File names up to the first dot, if no language has the extension: `Dockerfile.dev`."""
    aliases: tuple[str, ...] = ()
    """Other names of the language in embedded code (`sh`, `golang`)."""
    interpreters: tuple[str, ...] = ()
    """Program names in a `#!` line, without version digits."""
    contested: tuple[tuple[str, str], ...] = ()
    """Extensions of other languages that select this one if the regex matches in the head."""
    names: tuple[str, ...] = ("name",)
    """Field paths from a definition to its name if the query has no `@name` for it: `a.b` is field
    b of field a, `a*` follows every field a down to the leaf. The first match wins.
    """
    name_noise: str = ""
    """Regex of text to remove from a name."""
    name_separators: tuple[str, ...] = ()
    """Separators in a name: the part after the last one is the name, the rest is its owner."""
    whole_modules: bool = False
    """Whether module names are not split at the separators."""
    modules_qualify: bool = True
    """Whether members of a module are qualified by the module's name."""
    absolute_names: bool = False
    """Whether modules and names with an owner are not qualified by their surroundings."""
    merged: bool = False
    """Whether adjacent symbols of equal name, kind and parent are clauses of one definition."""
    sections: str = "heading"
    """The symbol kind of a `@section`."""
    owned: Literal["function", "method"] = "method"
    """The kind of a function that has an owner but is not inside a type."""
    parts: tuple[tuple[str, str], ...] = ()
    """The same for a `@form.part`, by the keyword of the enclosing form."""
    open_bodies: bool = False
    """Whether a `@body` reaches to the end of its definition."""
    words: bool = False
    """Whether a name or imported name with blanks is several names: `qw(a b)` in Perl."""
    confined: frozenset[str] = frozenset()
    """Kinds that are definitions only inside types: an R6 method looks like any named argument."""
    once: frozenset[str] = frozenset()
    """Kinds of which only the first occurrence of a name in each scope is its definition: variables
    in Bash.
    """
    private_names: str = ""
    """Regex of names that are visible nowhere else."""
    signature_noise: str = ""
    """Regex of text to leave out of signatures, such as preprocessor lines."""
    selves: str = ".*"
    """Regex of the `@self` that members are assigned to."""
    forms: tuple[tuple[str, str], ...] = ()
    """Role -> regex: a `@form` whose keyword matches has that role
    (`codelens.extract.symbols.capture_events`).
    """
    placeholder_names: frozenset[str] = frozenset()
    """Names that count only if no later path in `names` leads to a name."""
    destructured: frozenset[str] = frozenset()
    """Types of the nodes that are names within a pattern."""
    bodies: tuple[str, ...] = ("body",)
    """Field paths to the body, if the query has no `@body`."""
    owners: tuple[str, ...] = ()
    """Field paths from a definition outside of its type to that type, if there is no `@owner`.
    """
    scope_owners: tuple[str, ...] = ()
    """Field paths from a `@scope` to the type that it belongs to."""
    owner_noise: str = ""
    """Regex of text to remove from an owner's name."""
    exporting: str = ""
    """Regex: a definition or `@scope` that starts with a match is visible outside the file."""
    hints: tuple[tuple[str, str], ...] = ()
    """Kind -> regex: a definition with a matching `@hint` in its head is of that kind."""
    import_calls: frozenset[str] = frozenset()
    """Functions, captured as `@import.call`, whose calls are imports."""
    loads: tuple[tuple[str, str], ...] = ()
    """Function whose call returns the module that its first argument names -> the step to its
    result: `.#promise`, or `top` for the first package of the module; `type` if it returns an
    instance of a class.
    """
    late_takers: str = ""
    """Regex of functions and keys that use the default export of a module that a `@reference.late`
    loads for them: `lazy(() => import("./x"))`.
    """
    sending_calls: tuple[tuple[str, str], ...] = ()
    """Function that takes another by its name, a `@reference.sent` -> `call` or `name`, and the
    number of the argument unless it is the first, `*` if each. `.new` after it: the name is one of
    an instance. Then the number of the argument that has the member, `?` if none does: `name 1 0`
    for `getattr(a, "b")`.
    """
    sending_paths: bool = False
    """Whether a name in a string includes its namespace and class: `call_user_func('N\\A::m')`."""
    import_keys: tuple[tuple[str, str], ...] = ()
    """Role, or `none` -> regex on an `@import.key`: the role of the following `@import.value`s."""
    imports_split: bool = False
    """Whether the last part of a module that is bound itself is the imported name: `a.b.C`."""
    import_separator: str = "."
    """The text between an `@import.prefix` and the following name."""
    import_noise: str = ""
    """Regex of text to remove from the texts in an import."""
    docs: tuple[DocStyle, ...] = ("leading",)
    """The places to look for the doc of a definition. The first one with a doc wins."""
    exported: ExportRule = "always"
    members: MemberRule = "unmarked"
    """Whether a member of a type is visible with the type unless it is private, or only if it is
    marked itself. It has an effect only with `exported = "marked"`.
    """
    open_kinds: frozenset[str] = frozenset()
    """Kinds whose members are visible with them, regardless of `members`."""
    modules_marked: bool = False
    """Whether a module must be marked to be visible, like its members."""
    access: tuple[tuple[str, str], ...] = ()
    """`private` or `public` -> regex on an `@access`, which applies to all that follows it."""
    private_first: frozenset[str] = frozenset()
    """Kinds whose members are private until an `@access` says otherwise."""
    constants: ConstantRule = "marked"
    """Which variables are constants: those captured as such, those with an upper-case name too, or
    those declared with the keyword `const`.
    """
    prose: bool = False
    """Whether embedded code is quoted: nothing in it is exported, and its keys are left out."""
    cells: bool = False
    """Whether `@embedded.cell` captures are notebook cells (`codelens.extract.source_text`)."""
    template: str = ""
    """The framework whose template is code: a module `codelens.extract.markup.<name>_template`."""
    scip_name: str = ""
    """Its name in SCIP's schema; empty: its own name with a capital."""
    scripts: tuple[str, ...] = ()
    """The languages of a component's scripts; the last one in this list that occurs is used for all
    scripts."""
    least_script: str = ""
    """The language of a component's template if no script determines it."""
    template_script: str = ""
    """The language of the script that a template in a separate file is translated to."""
    components: str = ""
    """The language of templates in the decorators of its classes."""
    embedded_hint: str = ""
    """Regex on `@embedded.language` whose first group is the language; no match means no language.
    The default takes the first word.
    """
    signature: SignatureRule = "body"
    """Where a signature ends: at the `@body`, or with its first line."""
    restarts: str = ""
    """Regex of text at the start of a line, after blanks, that always begins a definition. If
    broken text before it has swallowed the definition, the parse is repaired
    (`codelens.extract.parse.parse_repair`).
    """
    steps: int = 25
    """Parser steps per 1,000 bytes of the most demanding valid texts."""
    doc_noise: str = ""
    """Regex of text to leave out of docs, such as the tags of C#."""
    masked: str = ""
    """Regex of text, or of groups in it, to blank out before parsing: macros that are not syntax.
    """
    suspected: tuple[str, ...] = ()
    """Regexes whose groups are blanked out if the parse fails around them and succeeds better
    without them: places of macros that are not syntax (`codelens.extract.parse.macro_repair`).
    """
    keywords: frozenset[str] = frozenset()
    """Words that are not a `<name>` in `suspected`."""
    type_beginnings: str = ""
    """Regex of what begins a type: `<type>` in `suspected`."""
    spaced_names: str = ""
    """Regex of names that may contain blanks, written as `_`. Other names contain none."""
    conditionals: bool = False
    """Whether preprocessor sections may split a pair of braces. One branch of them is read."""
    macro_names: str = ""
    """Regex of macro names: a definition without a type that matches is a macro call."""
    no_programs: bool = False
    """Whether the language is for data, documents or styles. Overviews list it after programs."""
    comment_style: CommentStyle = "slashes"
    """What begins a comment (`codelens.branches.code_tokens`)."""
    lifetimes: bool = False
    """Whether a lone quote may begin a lifetime as well as a character (Rust)."""
    indented: bool = False
    """Whether indentation determines the enclosing block of a line."""
    text_opening: str = ""
    """The line that a text must begin with to be code: `<?php`."""
    type_wrapper: tuple[str, ...] = ()
    """Lines before and after members that make them a complete text; `{}` is the name of their
    type.
    """
    declared_apart: bool = False
    """Whether a function may be declared and defined in different places, as one symbol."""
    unparsable: Unparsable | None = None
    """Texts that must not be parsed, because they would crash the grammar's scanner."""
    leaks: bool = False
    """Whether the scanner can leak up to 300 MB on one bad text, so that the worker must end after
    it.
    """
    bound_names: str = ""
    """Regex: a matching `@reference.bound` counts even if the file does not bind the name."""
    free_names: bool = False
    """Whether a `@reference.bound` counts, as a global name, if no variable in scope binds it."""
    name_characters: str = ""
    """Punctuation that is part of a name: `.` in R."""
    joins_texts: bool = False
    """Whether a dot joins two texts, so that what follows it is no member: PHP."""
    reference_names: str = ""
    """Regex whose one group is the name in the text of a reference that is not a plain word."""
    known_members: bool = False
    """Whether members are used by their bare names, as the methods of Ruby are."""
    bare_fields: bool = False
    """Whether code in a type uses its fields by their bare names."""
    joined: str = ""
    """The field of a `@reference.call.joined` whose texts make up the name: Objective-C selectors.
    """
    bindings: tuple[tuple[str, str], ...] = ()
    """Type of a `@bind` node -> field paths of name, value and type
    (`codelens.extract.flow.scopes`).
    """
    expressions: tuple[tuple[str, str], ...] = ()
    """Node type -> how to write it as an expression (`codelens.extract.flow.expressions`)."""
    observed: tuple[tuple[str, str], ...] = ()
    """Function -> the module that it comes from, and the key under which its result holds its
    argument (`codelens.extract.flow.expressions`)."""
    keys: tuple[tuple[str, str], ...] = ()
    """Type of a node around a `@reference.key` -> how it leads to the type of the literal
    (`codelens.extract.flow.literal_keys`)."""
    literals: tuple[tuple[str, str], ...] = ()
    """Node type -> kind of an argument (`codelens.extract.flow.expressions`)."""
    operators: tuple[tuple[str, str], ...] = ()
    """Type of a `@protocol` node -> the methods it calls (`codelens.extract.flow.operators`)."""
    operator_names: tuple[tuple[str, str], ...] = ()
    """Operator -> its method."""
    plain_types: str = ""
    """Regex of types, as bindings write them, that have no methods of their own."""
    pointing: frozenset[str] = frozenset()
    """Types of nodes that are pointers to their expression. With this setting, the expression of a
    pointer is its target, which is not an operand.
    """
    ignored_calls: frozenset[str] = frozenset()
    """Names that look like calls but are not: `if` in Elixir."""
    ignored_types: frozenset[str] = frozenset()
    """Names of built-in types that the grammar does not distinguish from others."""


def form_capture(role: str) -> str:
    """Returns the capture for a form of a role (a kind or a surrounding)."""
    return role if role.partition(".")[0] in _SURROUNDINGS else f"definition.{role}"


def languages() -> tuple[LanguageInfo, ...]:
    """Returns all languages by name. The settings are read once per process."""
    return tuple(language_info(path.stem) for path in sorted(FOLDER.glob("*.toml")))


@cache
def language_info(name: str) -> LanguageInfo:
    """Returns the settings of one language. Reads only its file.

    Raises:
        SettingError: there is no such language.
    """
    path = FOLDER / f"{name}.toml"
    if not re.fullmatch(r"[a-z0-9_-]+", name) or not path.is_file():
        raise SettingError(f"unknown language {name!r}; `codelens languages` lists all")
    return _load(path)


ASSIGNED_METHOD = re.compile(r"\{(\S*?)=(\S+)\}")
"""In `[operators]`: a method, and the one that is called if the node is assigned to."""


@cache
def unnamed_methods(name: str) -> frozenset[str]:
    """Returns the methods that operators and other syntax of a language call without their names.

    Such a call is a use of `plus` or `operator+` in a text that has no such word.
    """
    info = language_info(name)
    methods = set(dict(info.operator_names).values())
    for _, uses in info.operators:
        for recipe in uses.split("|"):
            method = recipe.split()[0]
            assigned = ASSIGNED_METHOD.fullmatch(method)
            if assigned is not None:
                methods.update(assigned.groups())
            elif "{#}" in method:
                methods.update(method.replace("{#}", str(number)) for number in range(1, 10))
            elif "{" not in method and method[0] != "=":
                methods.add(method)
    return frozenset(methods)


_SETS = frozenset(
    "confined destructured ignored_calls ignored_types import_calls keywords once "
    "open_kinds placeholder_names pointing private_first".split()
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


# The facts that each language gives, from the captures in its queries. Loads no grammar.

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
    """Returns the facts that a language's files give in addition to chunks and terms.

    Plain text gives none. `docs` are the comments or strings that document definitions; `embedded`
    are the definitions of parts in other languages.
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
