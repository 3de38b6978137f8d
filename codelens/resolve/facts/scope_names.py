"""What the names of one text mean, scope by scope: worked out of a scope when that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from codelens.types import Binding, Import, Scope, Symbol


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
