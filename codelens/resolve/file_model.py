"""What the names of one text mean, scope by scope: worked out of a scope when that is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from codelens.resolve.languages.registry import spec_of
from codelens.store.facts.resolution_facts import references_in
from codelens.types import Binding, Import, Reference, Scope, Symbol


class Entry(NamedTuple):
    """One meaning of a name in a scope."""

    symbols: tuple[int, ...]
    imports: tuple[int, ...]
    rows: tuple[Binding, ...]


class ScopeNames(dict[int, dict[str, Entry]]):
    """Scope -> name -> what it means there.

    Of a file that others lead to only the module and a few types are asked about: the names of
    all its functions would take as much as its bindings.
    """

    __slots__ = ("_bound", "_imports", "_rows", "_scopes", "_symbols")

    def __init__(self, scopes: Sequence[Scope]) -> None:
        super().__init__()
        self._scopes = scopes
        self._symbols: dict[int, list[tuple[str, int]]] = {}
        self._imports: dict[int, list[tuple[str, int]]] = {}
        self._rows: dict[int, list[Binding]] = {}
        self._bound: dict[int, set[str]] | None = None
        """Names that symbols and bindings gave each scope so far, while they are taken in."""

    def __missing__(self, scope: int) -> dict[str, Entry]:
        if scope < 0:
            return self[len(self._scopes) + scope]
        if scope >= len(self._scopes):
            raise IndexError(scope)
        entries = self[scope] = self._entries(scope)
        return entries

    def take_symbols(self, placed: Iterable[tuple[int, Symbol, int]]) -> None:
        """Take in numbers of symbols, with the scopes that they are bound in."""
        for at, symbol, scope in placed:
            self._symbols.setdefault(scope, []).append((symbol.name, at))

    def take_imports(self, imports: Sequence[Import], scope_of: Mapping[int, int]) -> None:
        """Take in imports, with the scopes of those that stand in no module."""
        for number, import_ in enumerate(imports):
            scope = scope_of.get(number, 0)
            for name in _names_of(import_):
                self._imports.setdefault(scope, []).append((name, number))

    def take_rows(self, rows: Iterable[Binding]) -> None:
        """Take in bindings, after the symbols."""
        for row in rows:
            scope = self._declaring(row) if row.how == "+" else row.scope
            self._rows.setdefault(scope, []).append(row)
            if self._bound is not None:
                self._bound.setdefault(scope, set()).add(row.name)
        self._bound = None

    def _declaring(self, row: Binding) -> int:
        """The scope around a binding that binds its name already, by what stands before it."""
        if self._bound is None:
            self._bound = {}
            for scope, symbols in self._symbols.items():
                self._bound.setdefault(scope, set()).update(name for name, _ in symbols)
            for scope, rows in self._rows.items():
                self._bound.setdefault(scope, set()).update(known.name for known in rows)
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
            # Many scopes bind variables alone, or nothing.
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
    """What an import binds: `import a.b` binds `a` too."""
    name = import_.alias or import_.name or import_.module
    if name == "*":
        return ()
    head = name.partition(".")[0] if not import_.alias and not import_.name else name
    if "::" in name:
        # Rust: `use a::{b::{self, C}}` binds `b`.
        head = name.rpartition("::")[2]
    return (name, head) if head and head != name else (name,)


# The facts of one content, laid out for looking names up.

TYPES = frozenset({"class", "struct", "union", "interface", "trait", "enum", "type"})
CALLABLE = frozenset({"function", "method", "macro"})
_GIVEN = frozenset({"=", "+", "?"})
"""How a name is given a value, by `Binding.how`."""
VARIABLES = frozenset({"variable", "constant", "field", "property", "member", "key"})
_ENCLOSING = frozenset(
    {"function", "method", "macro", "class", "struct", "union", "interface", "trait", "enum"}
)
"""Kinds that an edge can come from; what stands in others comes from what is around them."""
_DECORATED = _ENCLOSING | {"property"}
_HIDDEN = frozenset({"heading", "key"})
_NUMBERS = frozenset({"def", "import", "member"})
_ROWS_OF_SCOPE = frozenset(
    {
        *("return", "yield", "->", "base", "implements", "alias", "export", "package", "built"),
        "asserted",
    }
)


_NO_NAMES = _ROWS_OF_SCOPE | _NUMBERS | {"forward"}
_LISTED = re.compile(r"__all__(?:\s*:[^=]+)?\s*=\s*[\[(]((?:\s*[\"'][^\"']*[\"']\s*,?)*)\s*[\])]")
_GENERIC = re.compile(r"(?:\w+\.)?(?:Generic|Protocol)\[")
_ARGUMENT = re.compile(r"\w+")
_QUOTED = re.compile(r"[\"']([^\"']*)[\"']")


class FileModel:
    """Names of one text by scope, members by type."""

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
        self.references = references
        self.imports = imports
        self.scopes = scopes or (Scope(-1, -1, "module"),)
        self.bindings = bindings
        self._sources: dict[tuple[int, bool], int] = {}

    @cached_property
    def package(self) -> str:
        """The package or namespace that the text says to belong to, dots between its parts."""
        text = next((row.text for row in self.bindings[:3] if row.how == "package"), "")
        return text.replace("\\", ".")

    @cached_property
    def tops(self) -> list[int]:
        """Symbols that stand in no other, but in the package."""
        top_symbols: list[int] = []
        for at, symbol in enumerate(self.symbols):
            parent = symbol.parent
            while parent >= 0 and self.symbols[parent].kind == "module":
                parent = self.symbols[parent].parent
            if parent < 0 and symbol.kind != "module":
                top_symbols.append(at)
        return top_symbols

    @cached_property
    def own_scope(self) -> dict[int, int]:
        """Symbol -> the scope that is its inside."""
        scope_of_symbol: dict[int, int] = {}
        for at, scope in enumerate(self.scopes):
            if scope.symbol >= 0:
                scope_of_symbol.setdefault(scope.symbol, at)
        return scope_of_symbol

    @cached_property
    def functions(self) -> list[int]:
        """The innermost scope that is no block, of each scope."""
        function_scopes: list[int] = []
        for at, scope in enumerate(self.scopes):
            function_scopes.append(function_scopes[scope.parent] if scope.kind == "block" else at)
        return function_scopes

    @cached_property
    def of_scope(self) -> dict[int, list[Binding]]:
        """What is said of a scope's own symbol, by scope; blocks count for what is around."""
        by_scope: dict[int, list[Binding]] = {}
        for row in self.bindings:
            if row.how in _ROWS_OF_SCOPE and row.how != "export":
                by_scope.setdefault(self.functions[row.scope], []).append(row)
        return by_scope

    @cached_property
    def exports(self) -> dict[str, list[Binding]]:
        """Names exported under another name or by a statement of its own."""
        by_name: dict[str, list[Binding]] = {}
        for row in self.bindings:
            if row.how == "export":
                by_name.setdefault(row.name, []).append(row)
        return by_name

    @cached_property
    def home(self) -> list[int]:
        """The scope in which each symbol's name is bound."""
        placed = {int(row.text): row.scope for row in self.bindings if row.how == "def"}
        home_scopes: list[int] = []
        for at, symbol in enumerate(self.symbols):
            scope = placed.get(at)
            parent = symbol.parent
            if scope is None and parent >= 0 and self.symbols[parent].kind in TYPES:
                # What a type holds has no bare name, where the type is no scope.
                scope = self.own_scope.get(parent, -1)
            while scope is None:
                scope = 0 if parent < 0 else self.own_scope.get(parent)
                parent = self.symbols[parent].parent if parent >= 0 else -1
            home_scopes.append(scope)
        return home_scopes

    @cached_property
    def names(self) -> ScopeNames:
        """Scope -> name -> what it means there."""
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
    def globs(self) -> dict[int, list[Import]]:
        """Scope -> what is imported there as a whole: `use x::*`."""
        by_scope: dict[int, list[Import]] = {}
        for number, import_ in enumerate(self.imports):
            if import_.name == "*" and import_.module:
                by_scope.setdefault(self._scope_of_import.get(number, 0), []).append(import_)
        return by_scope

    @cached_property
    def stars(self) -> tuple[Import, ...]:
        """Imports of all that a module gives."""
        return tuple(
            import_ for import_ in self.imports if import_.name == "*" and not import_.alias
        )

    @cached_property
    def listed(self) -> frozenset[str] | None:
        """What Python's `__all__` names, None where it cannot be told to be all."""
        entry = self.names[0].get("__all__")
        if entry is None or len(entry.symbols) != 1 or entry.imports or len(entry.rows) > 1:
            return None
        match = _LISTED.fullmatch(self.symbols[entry.symbols[0]].signature)
        return frozenset(_QUOTED.findall(match[1])) if match is not None else None

    @cached_property
    def forward(self) -> frozenset[str]:
        """Types that are declared to be defined elsewhere: `class Foo;`."""
        return frozenset(row.name for row in self.bindings if row.how == "forward")

    @cached_property
    def unbound(self) -> set[int]:
        """Symbols that bind no name: they are part of an object written out."""
        return {int(row.text) for row in self.bindings if row.how == "member"}

    @cached_property
    def assigned(self) -> dict[str, dict[str, list[int]]]:
        """Qualified name -> what is assigned to it by name: `app.use = function () {}`."""
        by_owner: dict[str, dict[str, list[int]]] = {}
        for at, symbol in enumerate(self.symbols):
            if symbol.kind not in _HIDDEN and self.is_outside_member(symbol):
                owner = symbol.qualified.removesuffix(f".{symbol.name}")
                by_owner.setdefault(owner, {}).setdefault(symbol.name, []).append(at)
        return by_owner

    def is_outside_member(self, symbol: Symbol) -> bool:
        """It belongs to what is named before it, so its bare name means nothing."""
        around = self.symbols[symbol.parent].qualified if symbol.parent >= 0 else ""
        plain = f"{around}.{symbol.name}" if around else symbol.name
        return symbol.qualified != plain and symbol.kind not in TYPES

    @cached_property
    def children(self) -> dict[int, dict[str, list[int]]]:
        """Symbol -> its members by name."""
        by_parent: dict[int, dict[str, list[int]]] = {}
        for at, symbol in enumerate(self.symbols):
            if symbol.parent >= 0 and symbol.kind not in _HIDDEN:
                by_parent.setdefault(symbol.parent, {}).setdefault(symbol.name, []).append(at)
        return by_parent

    @cached_property
    def attributes(self) -> dict[int, dict[str, list[Binding]]]:
        """Type -> its attributes by name -> values given to them through the instance."""
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
        """Expression -> function, line and type of each assertion that it is of a type."""
        by_receiver: dict[str, list[tuple[int, int, str]]] = {}
        for row in self.bindings:
            if row.how == "asserted":
                text, _, type_text = row.text.rpartition(":")
                by_receiver.setdefault(text, []).append(
                    (self.functions[row.scope], row.line, type_text)
                )
        return by_receiver

    @cached_property
    def stores(self) -> set[tuple[int, str]]:
        """Lines in which attributes of the instance get a value."""
        return {(row.line, row.name) for row in self.bindings if "." in row.name}

    @cached_property
    def parameters(self) -> dict[int, list[str]]:
        """Scope -> its type parameters in order."""
        by_scope: dict[int, list[str]] = {}
        for row in self.bindings:
            if row.how == "type":
                names = by_scope.setdefault(row.scope, [])
                if row.name not in names:
                    # Rust's `where T: Bound` says more of one that is there.
                    names.append(row.name)
        return by_scope

    def variables(self, symbol: int) -> tuple[str, ...]:
        """Names in the arguments of a class's `Generic[...]`, else of all its bases, in order."""
        scope = self.own_scope.get(symbol, -1)
        rows = [row for row in self.of_scope.get(scope, ()) if row.how == "base"]
        generic = [row for row in rows if _GENERIC.match(row.text)] or rows
        names = (name for row in generic for name in _ARGUMENT.findall(row.text.partition("[")[2]))
        return tuple(dict.fromkeys(names))

    def enclosing(self, reference: Reference, *, values: bool) -> int:
        """The definition that an edge from a reference comes from, -1 for the module.

        With `values`, variables of a module and aliases of types count, and members of an
        interface are part of it.
        """
        return self.source(self._decorated(reference), values=values)

    def alias_at(self, line: int, name: str) -> int:
        """The variable of the module that a line makes another name of `name`; -1 for none.

        One that is given nothing else: `g = f`.
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
        """As `enclosing`, of what stands inside a symbol."""
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
    def _heads(self) -> dict[tuple[int, int], int]:
        """Parent and line -> what is in it and has its decorators, and not its name, there."""
        heads: dict[tuple[int, int], int] = {}
        for at, symbol in enumerate(self.symbols):
            if symbol.start_line < symbol.name_line and symbol.kind in _DECORATED:
                for line in range(symbol.start_line, symbol.name_line):
                    heads.setdefault((symbol.parent, line), at)
        return heads

    def _decorated(self, reference: Reference) -> int:
        """The symbol that a reference is in, decorators counted to what they decorate."""
        return self._heads.get((reference.symbol, reference.line), reference.symbol)

    def decorators(self, symbol: int) -> frozenset[str]:
        """Names in the decorators of a definition."""
        definition = self.symbols[symbol]
        if definition.start_line >= definition.name_line:
            return frozenset()
        lines = range(definition.start_line, definition.name_line)
        return frozenset(name for line in lines for name in self._decorating.get(line, ()))

    @cached_property
    def _decorating(self) -> dict[int, set[str]]:
        """Names used in the lines of definitions above their names, by line."""
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
        """The scope from which a name means the same, and whether the line matters.

        Outward to the one that binds it, or to a class or another scope that `is_end`.
        """
        at = scope
        while at > 0:
            here = self.scopes[at]
            entry = self.names[at].get(name)
            if entry is not None and here.kind != "class":
                return at, len(entry.rows) > 1
            if here.kind == "class" or is_end(here):
                break
            at = here.parent
        return at, False

    def type_around(self, scope: int) -> int:
        """The type whose method a scope is in, -1 if none."""
        while scope >= 0:
            here = self.scopes[scope]
            if here.kind == "class" and here.symbol >= 0:
                return here.symbol
            scope = here.parent
        return -1


# The models of files that were looked into last, bounded by how much there is in them.

LEAST_ROWS = 100_000
"""References, bindings and symbols of all that is held at first; half of it between questions."""
MOST_ROWS = 400_000
"""The same for a question that comes back to files again and again; 60 MiB more."""


class ModelCache:
    """Models by path, None for a file without facts.

    In two generations: when the younger has half of what may be held, it becomes the older, whose
    models go, but for those asked for meanwhile. So what every file is resolved by stays, as in a
    cache that evicts what was used least recently, at the cost of one look into a dictionary.

    When as much was loaded again as may be held, twice as much may be: to have too little would
    cost `impact` of a class that a thousand files use half its time. But small objects that are
    freed seldom leave a page empty, so a server keeps what it once took for them, and most
    questions do with the least.
    """

    def __init__(self, least_rows: int = LEAST_ROWS, most_rows: int = MOST_ROWS) -> None:
        self.young: dict[bytes, FileModel | None] = {}
        """To be looked into before `take` is called."""
        self._old: dict[bytes, FileModel | None] = {}
        self._rows = 0
        self._least_rows, self._most_rows = least_rows, most_rows
        self._bound = least_rows
        self._gone: set[bytes] = set()
        """Files whose models went during this question."""
        self._again = 0
        """Rows of those of them that were loaded again since more was last allowed."""

    def __len__(self) -> int:
        return len(self.young) + len(self._old)

    def take(self, path: bytes, load: Callable[[bytes], FileModel | None]) -> FileModel | None:
        """The model of a file that is not among the young: of the older ones, or loaded."""
        if path in self._old:
            model = self._old.pop(path)
            rows = _rows_of(model)
        else:
            model = load(path)
            rows = _rows_of(model)
            if path in self._gone:
                self._note_again(rows)
        if self._rows + rows > self._bound // 2:
            self._gone.update(self._old)
            self._old, self.young, self._rows = self.young, {}, 0
        self._rows += rows
        self.young[path] = model
        return model

    def _note_again(self, rows: int) -> None:
        self._again += rows
        if self._again > self._bound:
            self._bound = min(2 * self._bound, self._most_rows)
            self._again = 0

    def rest(self) -> None:
        """A question is over: half of the least is held until the next one, of what was last."""
        self._old = {}
        if self._rows > self._least_rows // 2:
            self.young, self._rows = {}, 0
        self._bound, self._again = self._least_rows, 0
        self._gone.clear()

    def keep(self, holds: Callable[[bytes], bool]) -> None:
        """Forget the models of all other files."""
        for models in (self.young, self._old):
            for path in [path for path in models if not holds(path)]:
                del models[path]

    def clear(self) -> None:
        """Forget all."""
        self.young, self._old, self._rows = {}, {}, 0


def _rows_of(model: FileModel | None) -> int:
    if model is None:
        return 1
    return len(model.symbols) + len(model.references) + len(model.bindings)
