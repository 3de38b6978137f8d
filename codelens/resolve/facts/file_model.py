"""The facts of one content, laid out for looking names up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from codelens.resolve.facts.scope_names import ScopeNames
from codelens.resolve.languages.registry import spec_of
from codelens.store.facts.resolution_facts import references_in
from codelens.types import Binding, Import, Reference, Scope, Symbol

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
