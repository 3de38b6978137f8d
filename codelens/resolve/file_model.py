"""Indexes the facts of one text for name lookup, lazily by scope."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from codelens.resolve.languages.registry import spec_of
from codelens.resolve.path_tree import stem_of
from codelens.store.facts.resolution_facts import references_in
from codelens.types import Binding, Import, Reference, Scope, Symbol


class Entry(NamedTuple):
    """What a name is bound to in a scope."""

    symbols: tuple[int, ...]
    imports: tuple[int, ...]
    rows: tuple[Binding, ...]


class ScopeNames(dict[int, dict[str, Entry]]):
    """Scope -> name -> entry, computed lazily.

    Most files are only queried about the module and a few types. The names of all functions would
    take as much memory as the bindings themselves.
    """

    __slots__ = ("_bound", "_imports", "_rows", "_scopes", "_symbols")

    def __init__(self, scopes: Sequence[Scope]) -> None:
        super().__init__()
        self._scopes = scopes
        self._symbols: dict[int, list[tuple[str, int]]] = {}
        self._imports: dict[int, list[tuple[str, int]]] = {}
        self._rows: dict[int, list[Binding]] = {}
        self._bound: dict[int, set[str]] | None = None
        """Scope -> names bound so far; only used while rows are added."""

    def __missing__(self, scope: int) -> dict[str, Entry]:
        if scope < 0:
            return self[len(self._scopes) + scope]
        if scope >= len(self._scopes):
            raise IndexError(scope)
        entries = self[scope] = self._entries(scope)
        return entries

    def take_symbols(self, placed: Iterable[tuple[int, Symbol, int]]) -> None:
        """Add symbols as (index, symbol, binding scope)."""
        for at, symbol, scope in placed:
            self._symbols.setdefault(scope, []).append((symbol.name, at))

    def take_imports(self, imports: Sequence[Import], scope_of: Mapping[int, int]) -> None:
        """Add imports; those missing from `scope_of` belong to the module."""
        for number, import_ in enumerate(imports):
            scope = scope_of.get(number, 0)
            for name in _names_of(import_):
                self._imports.setdefault(scope, []).append((name, number))

    def take_rows(self, rows: Iterable[Binding]) -> None:
        """Add bindings; call this after `take_symbols`."""
        for row in rows:
            scope = self._declaring(row) if row.how == "+" else row.scope
            self._rows.setdefault(scope, []).append(row)
            if self._bound is not None:
                self._bound.setdefault(scope, set()).add(row.name)
        self._bound = None

    def _declaring(self, row: Binding) -> int:
        """Return the nearest enclosing scope that already binds the name of a binding."""
        if self._bound is None:
            self._bound = {}
            for scope, symbols in self._symbols.items():
                self._bound.setdefault(scope, set()).update(name for name, _ in symbols)
            for scope, rows in self._rows.items():
                self._bound.setdefault(scope, set()).update(binding.name for binding in rows)
        scope = row.scope
        while scope >= 0:
            if row.name in self._bound.get(scope, ()):
                return scope
            scope = self._scopes[scope].parent
        return 0

    def _entries(self, scope: int) -> dict[str, Entry]:
        rows: dict[str, list[Binding]] = {}
        for row in self._rows.pop(scope, ()):
            rows.setdefault(row.name, []).append(row)
        if scope not in self._symbols and scope not in self._imports:
            # Shortcut: many scopes bind only variables, or nothing.
            return {name: Entry((), (), tuple(bindings)) for name, bindings in rows.items()}
        symbols = _by_name(self._symbols.pop(scope, ()))
        imports = _by_name(self._imports.pop(scope, ()))
        return {
            name: Entry(
                tuple(symbols.get(name, ())),
                tuple(imports.get(name, ())),
                tuple(rows.get(name, ())),
            )
            for name in dict.fromkeys((*symbols, *imports, *rows))
        }


def _by_name(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    by_name: dict[str, list[int]] = {}
    for name, number in pairs:
        by_name.setdefault(name, []).append(number)
    return by_name


def _names_of(import_: Import) -> tuple[str, ...]:
    """Return the names that an import binds: `import a.b` binds `a` too."""
    name = import_.alias or import_.name or import_.module
    if name == "*":
        return ()
    head = name.partition(".")[0] if not import_.alias and not import_.name else name
    if "::" in name:
        # Rust: `use a::{b::{self, C}}` binds `b`.
        head = name.rpartition("::")[2]
    return (name, head) if head and head != name else (name,)


# The model of one content.

TYPES = frozenset({"class", "struct", "union", "interface", "trait", "enum", "type"})
CALLABLE = frozenset({"function", "method", "macro"})
_GIVEN = frozenset({"=", "+", "?"})
_ROWS_OF_VARIABLES = _GIVEN | {":", "let"}
"""Values of `Binding.how` for assignments."""
VARIABLES = frozenset({"variable", "constant", "field", "property", "member", "key"})
_ENCLOSING = frozenset(
    {"function", "method", "macro", "class", "struct", "union", "interface", "trait", "enum"}
)
"""Kinds of symbols that can be the source of an edge; other symbols pass on to their parent."""
_DECORATED = _ENCLOSING | {"property"}
_HIDDEN = frozenset({"heading", "key"})
_NUMBERS = frozenset({"def", "import", "io", "member", "prop"})
_ROWS_OF_SCOPE = frozenset(
    "return yield -> base implements alias export package built angular asserted called".split()
)
_NO_NAMES = _ROWS_OF_SCOPE | _NUMBERS | {"forward"}
_LISTED = re.compile(r"__all__(?:\s*:[^=]+)?\s*=\s*[\[(]((?:\s*[\"'][^\"']*[\"']\s*,?)*)\s*[\])]")
_GENERIC = re.compile(r"(?:\w+\.)?(?:Generic|Protocol)\[")
_ARGUMENT = re.compile(r"\w+")
_CLOSED_ENUM = re.compile(r"\benum\s+(?:class|struct)\b")
_HEAD = re.compile(r"`?[\[\]*&]*(\w+)")
_QUOTED = re.compile(r"[\"']([^\"']*)[\"']")

_COMPONENT = "default"
"""The name of a component's class in its facts; a keyword where classes have names."""


class FileModel:
    """The names of one text by scope, and the members by type."""

    def __init__(
        self,
        language: str,
        symbols: Sequence[Symbol],
        references: Sequence[Reference],
        imports: Sequence[Import],
        *,
        scopes: Sequence[Scope],
        bindings: Sequence[Binding],
    ) -> None:
        self.language = language
        self.spec = spec_of(language)
        self.symbols = symbols
        self._references = references
        self.imports = imports
        self.scopes = scopes or (Scope(-1, -1, "module"),)
        self.bindings = bindings
        self._sources: dict[tuple[int, bool], int] = {}

    def named_by(self, path: bytes) -> FileModel:
        """Return the model with the file's name for a component, whose class has no name."""
        name, first = stem_of(path).decode("utf-8", "replace"), f"{_COMPONENT}."
        symbols = [
            symbol._replace(name=name, qualified=name)
            if symbol.name == _COMPONENT
            else symbol._replace(qualified=f"{name}.{symbol.qualified.removeprefix(first)}")
            if symbol.qualified.startswith(first)
            else symbol
            for symbol in self.symbols
        ]
        return FileModel(
            self.language, symbols, self._references, self.imports,
            scopes=self.scopes, bindings=self.bindings,
        )  # fmt: skip

    @cached_property
    def references(self) -> Sequence[Reference]:
        """The references; one in the first value of a variable of its name is outside of it."""
        if not self.named_like_their_value:
            return self._references
        return [
            reference._replace(scope=self.scopes[reference.scope].parent)
            if reference.kind in {"call", "type"}
            and not reference.receiver
            and (reference.scope, reference.line, reference.name) in self.named_like_their_value
            else reference
            for reference in self._references
        ]

    @cached_property
    def named_like_their_value(self) -> dict[tuple[int, int, str], str]:
        """Scope, line and name of variables -> their first value, if it begins with that name."""
        first: dict[tuple[int, str], Binding] = {}
        for row in self.bindings if self.spec.declares_late else ():
            if row.scope and row.how in _ROWS_OF_VARIABLES:
                first.setdefault((row.scope, row.name), row)
        return {
            (row.scope, row.line, row.name): row.text
            for row in first.values()
            if row.how == "=" and row.name == head_of(row.text)
            if not (entry := self.names[row.scope][row.name]).symbols and not entry.imports
        }

    @cached_property
    def package(self) -> str:
        """The package or namespace that the text declares, with dots between its parts."""
        text = next((row.text for row in self.bindings[:3] if row.how == "package"), "")
        return text.replace("\\", ".")

    @cached_property
    def tops(self) -> list[int]:
        """Top-level symbols: those without a parent other than the package."""
        top_symbols: list[int] = []
        for at, symbol in enumerate(self.symbols):
            parent = symbol.parent
            while parent >= 0 and self.symbols[parent].kind == "module":
                parent = self.symbols[parent].parent
            if parent < 0 and symbol.kind != "module":
                top_symbols.append(at)
        return top_symbols

    @cached_property
    def named_at(self) -> dict[tuple[int, str], int]:
        """Line and name -> the first symbol of that name there."""
        symbols = reversed(list(enumerate(self.symbols)))
        return {(symbol.name_line, symbol.name): at for at, symbol in symbols}

    @cached_property
    def own_scope(self) -> dict[int, int]:
        """Symbol -> the scope of its body."""
        scope_of_symbol: dict[int, int] = {}
        for at, scope in enumerate(self.scopes):
            if scope.symbol >= 0:
                scope_of_symbol.setdefault(scope.symbol, at)
        return scope_of_symbol

    @cached_property
    def functions(self) -> list[int]:
        """Scope -> the innermost enclosing scope that is not a block."""
        function_scopes: list[int] = []
        for at, scope in enumerate(self.scopes):
            function_scopes.append(function_scopes[scope.parent] if scope.kind == "block" else at)
        return function_scopes

    @cached_property
    def of_scope(self) -> dict[int, list[Binding]]:
        """Scope -> bindings that describe its own symbol, including those in nested blocks."""
        by_scope: dict[int, list[Binding]] = {}
        for row in self.bindings:
            if row.how in _ROWS_OF_SCOPE and row.how != "export":
                by_scope.setdefault(self.functions[row.scope], []).append(row)
        return by_scope

    @cached_property
    def exports(self) -> dict[str, list[Binding]]:
        """Names that are exported under another name or by a separate statement."""
        by_name: dict[str, list[Binding]] = {}
        for row in self.bindings:
            if row.how == "export":
                by_name.setdefault(row.name, []).append(row)
        return by_name

    @cached_property
    def home(self) -> list[int]:
        """Symbol -> the scope that binds its name."""
        placed = {int(row.text): row.scope for row in self.bindings if row.how == "def"}
        home_scopes: list[int] = []
        for at, symbol in enumerate(self.symbols):
            scope = placed.get(at)
            parent = symbol.parent
            if self.is_open_enum(parent):
                home_scopes.append(home_scopes[parent])
                continue
            if scope is None and parent >= 0 and self.symbols[parent].kind in TYPES:
                # If a type has no scope, its members cannot be used by their bare names.
                scope = self.own_scope.get(parent, -1)
            while scope is None:
                scope = 0 if parent < 0 else self.own_scope.get(parent)
                parent = self.symbols[parent].parent if parent >= 0 else -1
            home_scopes.append(scope)
        return home_scopes

    @cached_property
    def names(self) -> ScopeNames:
        """Scope -> name -> entry."""
        names = ScopeNames(self.scopes)
        names.take_symbols(
            (at, symbol, self.home[at])
            for at, symbol in enumerate(self.symbols)
            if symbol.kind not in _HIDDEN
            and at not in self.unbound
            and not self.is_outside_member(symbol)
            and self.home[at] >= 0
        )
        names.take_imports(self.imports, self._scope_of_import)
        names.take_rows(
            row for row in self.bindings if row.how not in _NO_NAMES and "." not in row.name
        )
        return names

    @cached_property
    def _scope_of_import(self) -> dict[int, int]:
        return {int(row.text): row.scope for row in self.bindings if row.how == "import"}

    @cached_property
    def scope_of_import(self) -> dict[Import, int]:
        """Import -> its scope, for those that are not at the top of the file."""
        return {self.imports[at]: scope for at, scope in self._scope_of_import.items() if scope}

    @cached_property
    def is_ambient(self) -> bool:
        """Whether the file has no top-level import or export: its names are global (TypeScript)."""
        exported = any(row.scope == 0 for rows in self.exports.values() for row in rows)
        return not exported and all(
            number in self._scope_of_import for number in range(len(self.imports))
        )

    @cached_property
    def globs(self) -> dict[int, list[Import]]:
        """Scope -> its wildcard imports: `use x::*`."""
        by_scope: dict[int, list[Import]] = {}
        for number, import_ in enumerate(self.imports):
            if import_.name == "*" and import_.module:
                by_scope.setdefault(self._scope_of_import.get(number, 0), []).append(import_)
        return by_scope

    @cached_property
    def stars(self) -> tuple[Import, ...]:
        """Wildcard imports without an alias."""
        return tuple(
            import_ for import_ in self.imports if import_.name == "*" and not import_.alias
        )

    @cached_property
    def listed(self) -> frozenset[str] | None:
        """The names in Python's `__all__`; None if the list may be incomplete."""
        entry = self.names[0].get("__all__")
        if entry is None or len(entry.symbols) != 1 or entry.imports or len(entry.rows) > 1:
            return None
        match = _LISTED.fullmatch(self.symbols[entry.symbols[0]].signature)
        return frozenset(_QUOTED.findall(match[1])) if match is not None else None

    @cached_property
    def forward(self) -> frozenset[str]:
        """Types with a forward declaration: `class Foo;`."""
        return frozenset(row.name for row in self.bindings if row.how == "forward")

    @cached_property
    def unbound(self) -> set[int]:
        """Symbols that bind no name because they are part of an object literal."""
        return {int(row.text) for row in self.bindings if row.how == "member"}

    @cached_property
    def assigned(self) -> dict[str, dict[str, list[int]]]:
        """Qualified name -> members assigned to it by name: `app.use = function () {}`."""
        by_owner: dict[str, dict[str, list[int]]] = {}
        for at, symbol in enumerate(self.symbols):
            if symbol.kind not in _HIDDEN and self.is_outside_member(symbol):
                owner = symbol.qualified.removesuffix(f".{symbol.name}")
                by_owner.setdefault(owner, {}).setdefault(symbol.name, []).append(at)
        return by_owner

    def is_outside_member(self, symbol: Symbol) -> bool:
        """Whether a symbol is defined as a member of another name, which binds no bare name."""
        outer = self.symbols[symbol.parent] if symbol.parent >= 0 else None
        # The parts of a page or a component do not qualify what is in them.
        around = outer.qualified if outer is not None and outer.kind not in _HIDDEN else ""
        plain = f"{around}.{symbol.name}" if around else symbol.name
        return symbol.qualified != plain and symbol.kind not in TYPES

    def is_open_enum(self, symbol: int) -> bool:
        """Whether a symbol is an enum whose members are names of the scope around it."""
        if symbol < 0 or not self.spec.enums_are_open or self.symbols[symbol].kind != "enum":
            return False
        return _CLOSED_ENUM.search(self.symbols[symbol].signature) is None

    @cached_property
    def children(self) -> dict[int, dict[str, list[int]]]:
        """Symbol -> its members by name."""
        by_parent: dict[int, dict[str, list[int]]] = {}
        parents = list(_holders(self.symbols, nested=self.spec.spaces))
        for at, (symbol, parent) in enumerate(zip(self.symbols, parents, strict=True)):
            if parent >= 0 and symbol.kind not in _HIDDEN:
                by_parent.setdefault(parent, {}).setdefault(symbol.name, []).append(at)
                if self.is_open_enum(parent) and parents[parent] >= 0:
                    around = by_parent.setdefault(parents[parent], {})
                    around.setdefault(symbol.name, []).append(at)
        for row in self.bindings:
            if row.how == "prop":
                owner = by_parent.setdefault(self.scopes[row.scope].symbol, {})
                owner.setdefault(row.name, []).append(int(row.text))
        return by_parent

    @cached_property
    def attributes(self) -> dict[int, dict[str, list[Binding]]]:
        """Type -> attribute name -> values assigned through the instance."""
        by_type: dict[int, dict[str, list[Binding]]] = {}
        for row in self.bindings:
            owner, dot, name = row.name.partition(".")
            if dot and owner:
                scope = row.scope
                while scope > 0 and self.scopes[scope].kind != "class":
                    scope = self.scopes[scope].parent
                symbol = self.scopes[scope].symbol if scope > 0 else -1
                if symbol >= 0:
                    by_type.setdefault(symbol, {}).setdefault(name, []).append(row)
        return by_type

    @cached_property
    def asserted(self) -> dict[str, list[tuple[int, int, str]]]:
        """Expression -> function, line and type of each type assertion about it."""
        by_receiver: dict[str, list[tuple[int, int, str]]] = {}
        for row in self.bindings:
            if row.how == "asserted":
                text, _, type_text = row.text.rpartition(":")
                by_receiver.setdefault(text, []).append(
                    (self.functions[row.scope], row.line, type_text)
                )
        return by_receiver

    @cached_property
    def parameters(self) -> dict[int, list[str]]:
        """Scope -> its type parameters in order."""
        by_scope: dict[int, list[str]] = {}
        for row in self.bindings:
            if row.how == "type":
                names = by_scope.setdefault(row.scope, [])
                if row.name not in names:
                    # Rust's `where T: Bound` repeats an existing parameter.
                    names.append(row.name)
        return by_scope

    def variables(self, symbol: int) -> tuple[str, ...]:
        """Return the type variables in `Generic[...]`, or in all bases if there is no `Generic`."""
        scope = self.own_scope.get(symbol, -1)
        rows = [row for row in self.of_scope.get(scope, ()) if row.how == "base"]
        generic = [row for row in rows if _GENERIC.match(row.text)] or rows
        names = (name for row in generic for name in _ARGUMENT.findall(row.text.partition("[")[2]))
        return tuple(dict.fromkeys(names))

    def enclosing(self, reference: Reference, *, values: bool) -> int:
        """Return the definition that an edge from a reference starts from, -1 for the module.

        With `values`, module variables and type aliases count as definitions, and the members of an
        interface count as part of it.
        """
        return self.source(self._decorated(reference), values=values)

    def alias_at(self, line: int, name: str) -> int:
        """Return the module variable that a line defines as an alias of `name`, or -1.

        Only a variable with a single assignment counts: `g = f`.
        """
        for at in self.tops:
            symbol = self.symbols[at]
            if symbol.name_line != line or symbol.kind not in {"variable", "constant"}:
                continue
            entry = self.names[self.home[at]].get(symbol.name)
            values = [row.text for row in entry.rows if row.how in _GIVEN] if entry else []
            if len(values) == 1 and values[0].rpartition(".")[2].lstrip("&:") == name:
                return at
        return -1

    def source(self, at: int, *, values: bool) -> int:
        """As `enclosing`, for code inside the symbol `at`."""
        source = self._sources.get((at, values))
        if source is None:
            source = self._sources[at, values] = self._source(at, values)
        return source

    def _source(self, at: int, values: bool) -> int:
        while at >= 0:
            symbol = self.symbols[at]
            parent = symbol.parent
            nested = parent >= 0 and self.symbols[parent].kind != "module"
            if at in self.unbound or (nested and self.is_outside_member(symbol)):
                at = parent
                continue
            if symbol.kind == "property" or symbol.kind in _ENCLOSING:
                own = self.own_scope.get(at)
                inside = nested and self.symbols[parent].kind in {"interface", "type"}
                real = symbol.kind != "property" or own is not None
                if real and not (values and inside):
                    return at
            elif values and (
                symbol.kind == "type" or (symbol.kind in {"variable", "constant"} and not nested)
            ):
                return at
            at = parent
        return -1

    @cached_property
    def _decorated_lines(self) -> dict[tuple[int, int], int]:
        """(Parent, line) -> the symbol whose decorators cover that line above its name."""
        heads: dict[tuple[int, int], int] = {}
        for at, symbol in enumerate(self.symbols):
            if symbol.start_line < symbol.name_line and symbol.kind in _DECORATED:
                for line in range(symbol.start_line, symbol.name_line):
                    heads.setdefault((symbol.parent, line), at)
        return heads

    def _decorated(self, reference: Reference) -> int:
        """Return the symbol of a reference; a decorator belongs to the definition it decorates."""
        return self._decorated_lines.get((reference.symbol, reference.line), reference.symbol)

    def decorators(self, symbol: int) -> frozenset[str]:
        """Return the names in the decorators of a definition."""
        definition = self.symbols[symbol]
        if definition.start_line >= definition.name_line:
            return frozenset()
        lines = range(definition.start_line, definition.name_line)
        return frozenset(name for line in lines for name in self._decorating.get(line, ()))

    @cached_property
    def _decorating(self) -> dict[int, set[str]]:
        """Line -> names used there, for the lines of definitions above their names."""
        above = {
            line
            for symbol in self.symbols
            if symbol.start_line < symbol.name_line
            for line in range(symbol.start_line, symbol.name_line)
        }
        by_line: dict[int, set[str]] = {}
        for reference in references_in(self.references, above) if above else ():
            by_line.setdefault(reference.line, set()).add(reference.name)
        return by_line

    def bound_at(self, scope: int, name: str, is_end: Callable[[Scope], bool]) -> tuple[int, bool]:
        """Return the scope that decides what a name means, and whether that varies by line.

        The search goes outward and stops at the scope that binds the name, at a class, at wildcard
        imports, or where `is_end` is true.
        """
        at = scope
        while at > 0:
            here = self.scopes[at]
            entry = self.names[at].get(name)
            if entry is not None and here.kind != "class":
                return at, len(entry.rows) > 1
            if here.kind == "class" or at in self.globs or is_end(here):
                break
            at = here.parent
        return at, False

    def type_around(self, scope: int) -> int:
        """Return the type whose method contains a scope, or -1."""
        while scope >= 0:
            here = self.scopes[scope]
            if here.kind == "class" and here.symbol >= 0:
                return here.symbol
            scope = here.parent
        return -1


NO_FACTS = FileModel("", (), (), (), scopes=(), bindings=())
"""The model of a file without facts, as of an empty text to which no rule of a language applies."""


def head_of(text: str) -> str:
    """Return the first name of an expression as facts write it: `load` of `load().a`."""
    match = _HEAD.match(text)
    return match[1] if match is not None else ""


def _holders(symbols: Sequence[Symbol], *, nested: bool) -> Iterator[int]:
    """Yield the parent of each symbol; inside the type of a property, that property.

    In `interface Row { by: { name: string }; name: string }`, the first `name` belongs to `by`.

    Args:
        symbols: in source order.
        nested: whether the language has such types; otherwise each has its own parent.
    """
    around: list[int] = []
    for at, symbol in enumerate(symbols):
        if not nested or symbol.kind != "property":
            yield symbol.parent
            continue
        while around and symbols[around[-1]].end_byte <= symbol.start_byte:
            around.pop()
        outer = symbols[around[-1]] if around else symbol
        inside = symbol.end_byte <= outer.end_byte and symbol.parent in {outer.parent, -1}
        yield around[-1] if around and inside else symbol.parent
        around.append(at)
