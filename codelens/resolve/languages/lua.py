"""Resolves Lua: locals by scope, modules by their return value, globals across the view."""

from __future__ import annotations

import re
from typing import Protocol

from codelens.resolve.file_model import CALLABLE, FileModel
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.expression_values import Expressions
from codelens.resolve.inference.members import Members, parts
from codelens.resolve.inference.name_lookup import MODULE, Names, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import (
    Definition,
    Instance,
    Module,
    Record,
    Several,
    Value,
    each,
    together,
)
from codelens.resolve.languages.registry import LanguageSpec
from codelens.resolve.view_files import View
from codelens.types import Binding, Import

_STANDARD = frozenset(
    "assert collectgarbage dofile error getmetatable ipairs load loadfile loadstring next pairs "
    "pcall print rawequal rawget rawlen rawset require select setfenv getfenv setmetatable "
    "tonumber tostring type unpack xpcall module warn coroutine debug io math os package string "
    "table utf8 bit32 bit jit arg _G _ENV _VERSION".split()
)


class LuaOwners(Protocol):
    """The member queries that name lookup needs."""

    def members(self, value: Value, name: str) -> list[tuple[Referent, Value]]:
        """Return the members of that name, each with the value that owns it."""
        ...


class LuaNames(Names):
    """Looks up names; the return value of a file is its default export."""

    belonging: LuaOwners

    def imported(
        self, path: bytes, import_: Import, depth: int = 0, types: bool = False
    ) -> list[Referent]:
        """Return a module, or a field of it: `local run = require("app").run`."""
        files = self.view.modules(path, import_.module)
        if not import_.name:
            return [Referent(file, MODULE) for file in files]
        return [
            referent
            for file in files
            for referent, _ in self.belonging.members(Module(file), import_.name)
        ]

    def exported(
        self,
        path: bytes,
        name: str,
        depth: int = 0,
        seen: set[bytes] | None = None,
        *,
        types: bool = False,
    ) -> list[Referent]:
        """Return the return value of a file as `default`; a file exports no other names."""
        return super().exported(path, name, depth, seen) if name == "default" else []

    def _starred(
        self, path: bytes, model: FileModel, name: str, depth: int, *, seen: set[bytes], types: bool
    ) -> list[Referent]:
        """Return the global of that name if only one of the required files defines it."""
        if name in _STANDARD:
            return []
        referents = self.view.index("lua globals", self._globals).get(name, [])
        if referents:
            reach = self.view.once(("reach", path), lambda: self._reach(path))
            referents = [referent for referent in referents if referent.path in reach]
        return referents[:1] if len({referent.path for referent in referents}) == 1 else []

    def _reach(self, path: bytes) -> frozenset[bytes]:
        """Return a file with everything that it requires, directly or indirectly."""
        seen, pending = {path}, [path]
        for here in pending:
            for import_ in self.view.model(here).imports:
                new = [file for file in self.view.modules(here, import_.module) if file not in seen]
                seen.update(new)
                pending += new
        return frozenset(seen)

    def _globals(self) -> dict[str, list[Referent]]:
        by_name: dict[str, list[Referent]] = {}
        for path, model in self.view.of_languages({"lua"}):
            for at, symbol in enumerate(model.symbols):
                if symbol.parent >= 0 or at in model.unbound:
                    continue
                plain = symbol.qualified == symbol.name
                if plain and symbol.exported and not symbol.signature.startswith("local "):
                    by_name.setdefault(symbol.name, []).append(Referent(path, at, 0, symbol.name))
        return by_name


# Values in Lua: tables with functions, and their metatables (`__index`).
#
# A class table and its instances have the same members. The variable that first holds the table
# represents both.

_INDEX = "__index"
_DEEPEST = 12
_INDEXED = re.compile(r"\.__index\s*=\s*(\w[\w.]*)$")
_DERIVING = frozenset({"extend", "subclass", "derive", "inherit", "new"})
"""Methods of class libraries that return a table which inherits from their receiver."""


class LuaMembers(Members):
    """Finds fields of tables and of the tables that they inherit from."""

    def members(self, value: Value, name: str) -> list[tuple[Referent, Value]]:
        """Return the members of that name, each with the value that owns it."""
        if isinstance(value, Instance):
            value = Definition(*value[:2])
        return super().members(value, name)

    def _static(self, value: Definition, name: str) -> list[tuple[Referent, Value]]:
        pending, seen = [Definition(*value[:2])], 0
        while seen < len(pending) and seen < _DEEPEST:
            pairs = super()._static(pending[seen], name) or self._written_in(pending[seen], name)
            if pairs:
                return pairs
            above = self._looked_up_in(pending[seen])
            pending += [table for table in above if table not in pending]
            seen += 1
        return []

    def _written_in(self, value: Definition, name: str) -> list[tuple[Referent, Value]]:
        """Return a field of the table literal that a variable is initialized with."""
        model = self.view.model(value.path)
        symbol = model.symbols[value.symbol]
        entry = model.names[model.home[value.symbol]].get(symbol.name)
        for row in entry.rows if entry is not None else ():
            if row.text[:1] == "{":
                record = Record(value.path, row.scope, row.text, row.line)
                return self._of_record(record, name, inherited=False)
        return []

    def _looked_up_in(self, value: Definition) -> list[Definition]:
        """Return the tables that a table inherits from."""
        return self.once(("index", value), lambda: self._indexes(value), [])

    def _indexes(self, value: Definition) -> list[Definition]:
        model = self.view.model(value.path)
        symbol = model.symbols[value.symbol]
        entry = model.names[model.home[value.symbol]].get(symbol.name)
        texts = [row.text for row in entry.rows] if entry is not None else []
        for at in model.assigned.get(symbol.qualified, {}).get(_INDEX, ()):
            match = _INDEXED.search(model.symbols[at].signature)
            texts += [match[1]] if match is not None else []
        texts += [
            row.text for row in model.of_scope.get(0, ()) if self._sets(model, row, symbol.name)
        ]
        tables: list[Definition] = []
        for text in texts:
            inner = dict(parts(text)).get(_INDEX, "") if text[:1] == "{" else text
            for part in each(self.resolver.value(value.path, 0, inner, -1)) if inner else ():
                whole = self.resolver.handed(part) if isinstance(part, Module) else part
                if isinstance(whole, Definition) and whole[:2] != value[:2]:
                    tables.append(Definition(*whole[:2]))
        return tables

    def _sets(self, model: FileModel, row: Binding, name: str) -> bool:
        """Whether a statement sets the metatable of `name`: `setmetatable(name, ...)`."""
        if row.how != "base":
            return False
        here = sorted(
            (reference.column, reference.name)
            for reference in model.references
            if reference.line == row.line
        )
        return [word for _, word in here[:2]] == ["setmetatable", name]

    def _of_record(
        self, value: Record, name: str, *, inherited: bool = True
    ) -> list[tuple[Referent, Value]]:
        """Return a field of a table literal: its value, or the function defined there."""
        model = self.view.model(value.path)
        for key, text in parts(value.text):
            if key == name:
                if text.isidentifier():
                    referents = self.names.lookup(value.path, value.scope, text)
                    return [(referent, value) for referent in referents if referent.symbol >= 0]
                if "." in text and text.replace(".", "").isidentifier():
                    owner, _, last = text.rpartition(".")
                    return self.members(self.resolver.value(value.path, 0, owner, -1), last)
                named = [at for at in model.unbound if model.symbols[at].name == name]
                near = [at for at in named if model.symbols[at].name_line >= value.line]
                return [(Referent(value.path, at, 0, name), value) for at in sorted(near)[:1]]
        inner = dict(parts(value.text)).get(_INDEX, "")
        if inner and inherited:
            return self.members(self.resolver.value(value.path, value.scope, inner, -1), name)
        return []

    def taken(self, referent: Referent, me: Value) -> Value:
        """Return the value of a member that was found on an owner."""
        model = self.view.model(referent.path)
        if model.symbols[referent.symbol].kind in CALLABLE:
            return super().taken(referent, me)
        assigned = self.resolver.agreed(referent.path, _field_rows(model, me, referent.name))
        return assigned if assigned is not None else super().taken(referent, me)

    def _member_value(self, value: Value, name: str) -> Value:
        if isinstance(value, Instance):
            value = Definition(*value[:2])
        value_ = super()._member_value(value, name)
        if value_ is not None or not isinstance(value, Definition):
            return value_
        model = self.view.model(value.path)
        return self.resolver.agreed(value.path, _field_rows(model, value, name))


def _field_rows(model: FileModel, value: Value, name: str) -> list[Binding]:
    """Return the assignments to a field of `self` in the methods of a table."""
    if not isinstance(value, Definition) or value.symbol >= len(model.symbols):
        return []
    own = model.symbols[value.symbol].qualified + "."
    rows: list[Binding] = []
    for row in model.bindings:
        if row.name == f"self.{name}":
            symbol = model.scopes[model.functions[row.scope]].symbol
            if symbol >= 0 and model.symbols[symbol].qualified.startswith(own):
                rows.append(row._replace(how="="))
    return rows


class LuaCalls(Calls):
    """Infers the results of calls."""

    def called(self, value: Value) -> Value:
        """Return the result of a call; a call of a callable table returns an instance of it."""
        if isinstance(value, Definition) and self.view.symbol(value).kind not in CALLABLE:
            return value
        return super().called(value)

    def _returned(self, path: bytes, row: Binding, me: Value) -> Value:
        """Return a function's return value; `self` is the receiver of the call."""
        if row.text == "self" and me is not None:
            model = self.view.model(path)
            entry = model.names[model.functions[row.scope]].get("self")
            if entry is None or all(row_.how == "?" for row_ in entry.rows):
                return Definition(*me[:2]) if isinstance(me, Instance) else me
        return self.resolver.value(path, row.scope, row.text, row.line)


class LuaExpressions(Expressions):
    """Evaluates expressions and variables."""

    def place(self, path: bytes, scope: int, head: str) -> tuple[int, bool]:
        """Return the scope that decides what a name means, and whether that varies by line."""
        return (scope, True) if head in {"require", "self"} else super().place(path, scope, head)

    def _value(
        self, path: bytes, scope: int, taken: tuple[str, tuple[str, ...]], line: int
    ) -> Value:
        head, rest = taken
        if head == "require" and rest[:1] == ("()",):
            module_value = self._required(path, line)
            for step in rest[1:]:
                module_value = self._step(module_value, step)
            return module_value
        module_value = super()._value(path, scope, taken, line)
        if module_value is None and len(rest) > 1 and rest[-1] == "()" and rest[-2] in _DERIVING:
            return super()._value(path, scope, (head, rest[:-2]), line)
        return module_value

    def value_of(self, referent: Referent, path: bytes, scope: int, line: int) -> Value:
        """Return the value of a referent; for a table with functions, the variable itself."""
        value = super().value_of(referent, path, scope, line)
        own = Definition(referent.path, referent.symbol)
        return own if isinstance(value, Several) and own in value.values else value

    def _required(self, path: bytes, line: int) -> Value:
        """Return the module required on a line, if there is exactly one."""
        here = [import_ for import_ in self.view.model(path).imports if import_.line == line]
        files = self.view.modules(path, here[0].module) if len(here) == 1 else ()
        return together([Module(file) for file in files])

    def _head(self, path: bytes, scope: int, head: str, rest: tuple[str, ...], line: int) -> Value:
        model = self.view.model(path)
        if head != "self":
            return super()._head(path, scope, head, rest, line)
        at = scope
        while at > 0:
            entry, symbol = model.names[at].get("self"), model.scopes[at].symbol
            if entry is not None and any(row.how != "?" for row in entry.rows):
                return self._named(path, at, head, line)
            if symbol >= 0 and model.is_outside_member(model.symbols[symbol]):
                owner = model.symbols[symbol].qualified.rpartition(".")[0]
                return self.value(path, 0, owner, -1)
            at = model.scopes[at].parent
        return None


def resolver(view: View) -> Resolver:
    """Build a resolver for the Lua files of a view."""
    names = LuaNames(view)
    lua = Resolver(view, names)
    members = names.belonging = LuaMembers(lua)
    return lua.join(Annotations(lua), members, LuaCalls(lua), LuaExpressions(lua))


# The language description of Lua.

SPECS = {
    "lua": LanguageSpec(
        modules="imports_only:DottedModules",
        resolver="lua:resolver",
        follows_names=True,
        declares_late=True,
        needs_receiver=True,
        spaces=True,
        indexes_view=True,
        any_arguments=True,
    )
}
