"""Finds the C++ operators that `a + b`, `a[i]`, `a(x)` and `a->m()` call.

Values do not distinguish pointers (`c_containers`), but the operators of a class do not apply to a
pointer to it. So an operand counts only if its declaration shows that it is not a pointer.
"""

from __future__ import annotations

import re

from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.inference.expression_values import steps
from codelens.resolve.inference.name_lookup import LOCAL, Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Instance, Value
from codelens.resolve.languages.c.c_names import CNames
from codelens.resolve.languages.c.c_overloads import CMembers, COverloads
from codelens.resolve.languages.c.c_types import OPERATOR, c_type, result_type
from codelens.types import Reference

_MEMBERS_ALONE = frozenset({"operator[]", "operator()", "operator->", "begin", "end"})
_POINTING = re.compile(r"[*\[]|_ptr\b|\boptional\b|\w*[iI]terator\b|\bpointer\b|\batomic\b")
_OUTPUT = Container("ostream", ())
_STREAMS = {
    **{f"{space}{name}": _OUTPUT for space in ("std.", "") for name in ("cout", "cerr", "clog")},
    **{f"{space}cin": Container("istream", ()) for space in ("std.", "")},
}
_DEEPEST = 6
_Operand = tuple[str, Value]
"""The kind of a literal and the value; the value is None if it is unknown or a pointer."""


class COperators:
    """Finds the operators of one view."""

    def __init__(
        self, resolver: Resolver, names: CNames, members: CMembers, overloads: COverloads
    ) -> None:
        self._resolver, self._names, self._members = resolver, names, members
        self._overloads, self._view = overloads, resolver.view

    def meant(self, path: bytes, reference: Reference) -> list[Referent]:
        """Return the operators that a place may call; one if the operands decide."""
        lines = reference.argument_lines.split("\n") if reference.argument_lines else []
        operands = [self._operand(path, reference, line) for line in lines]
        if reference.name in _MEMBERS_ALONE:
            owner = self._operand(path, reference, reference.receiver)[1]
            return self._of_class(path, reference, owner, operands)
        if not operands or operands[0] == ("", None):
            return []
        referents = self._of_class(path, reference, operands[0][1], operands[1:])
        return referents or self.free(path, reference.name, operands)

    def _operand(self, path: bytes, reference: Reference, text: str) -> _Operand:
        if text[:1] == "'":
            return text[1:], None
        if text in _STREAMS:
            return "", _STREAMS[text]
        scope, line = reference.scope, reference.line
        if text == "?" or not self._is_object(path, scope, text, line, 0):
            return "", None
        return "", self._resolver.value(path, scope, text, line)

    def _of_class(
        self, path: bytes, reference: Reference, owner: Value, operands: list[_Operand]
    ) -> list[Referent]:
        if not isinstance(owner, Instance):
            return []
        name = reference.name
        methods = self._members.line_members(owner, name, "call", -1)
        exactly = name not in _MEMBERS_ALONE
        fitting = self._overloads.taking(methods, operands, exactly=exactly)
        return self._overloads.by_const(path, reference, fitting) if len(fitting) > 1 else fitting

    def free(self, path: bytes, name: str, operands: list[_Operand]) -> list[Referent]:
        """Return the free operator functions with a parameter of an operand's class."""
        if not any(isinstance(value, Instance) for _, value in operands):
            return []
        functions = [
            referent
            for referent in self._names.in_package(path, "", name)
            if self._symbol_kind(referent) in CALLABLE
        ]
        return self._overloads.taking(functions, operands, exactly=len(operands) > 1, anchored=True)

    def _symbol_kind(self, referent: Referent) -> str:
        is_known = referent.symbol >= 0
        return self._view.symbol(referent).kind if is_known else ""

    def _is_object(self, path: bytes, scope: int, text: str, line: int, depth: int) -> bool:
        """Whether an expression is declared as neither a pointer nor a smart pointer."""
        taken = steps(text.replace("::", "."))
        if taken is None or depth > _DEEPEST:
            return False
        head, rest = taken
        if head[0] == "`":
            return not rest and self._is_plain(path, scope, head[1:-1])
        if not rest:
            return head == "this" or self._is_object_named(path, scope, head, line, depth)
        last, before = rest[-1], head + _joined(rest[:-1])
        if last in {"[]", "[*]"}:
            return self._is_element(path, scope, before, line, by_key=last == "[]", depth=depth)
        if last == "()":
            if len(rest) == 1:
                return self._gives_object(self._names.find(path, scope, head, "call"))
            last, before = rest[-2], head + _joined(rest[:-2])
        is_operator = last.startswith(OPERATOR)
        if is_operator and not self._is_object(path, scope, before, line, depth + 1):
            return False
        value = self._resolver.value(path, scope, before, line)
        members = [referent for referent, _ in self._resolver.members(value, last)]
        if is_operator and not members:
            members = self.free(path, last, [("", value)])
        elif not members and rest[-1] == "()":
            members = self._names.in_package(path, before, last)
        return self._gives_object(members)

    def _is_object_named(self, path: bytes, scope: int, name: str, line: int, depth: int) -> bool:
        referents = self._names.lookup(path, scope, name)
        if not referents or referents[0].symbol != LOCAL:
            return self._gives_object(referents)
        rows = [row for row in self._names.rows(referents[0]) if row.how in {":", "=", "?"}]
        return bool(rows) and all(
            self._is_plain(path, row.scope, row.text)
            if row.how == ":"
            else row.how == "=" and self._is_object(path, row.scope, row.text, row.line, depth + 1)
            for row in rows
        )

    def _is_element(
        self, path: bytes, scope: int, of: str, line: int, *, by_key: bool, depth: int
    ) -> bool:
        value = self._resolver.value(path, scope, of, line)
        if not self._is_object(path, scope, of, line, depth + 1):
            return False
        if not isinstance(value, Instance):
            return True
        name = "operator[]" if by_key else "begin"
        members = [referent for referent, _ in self._resolver.members(value, name)]
        if by_key:
            return self._gives_object(members)
        results = [self._declared(referent) for referent in members]
        return bool(results) and all(result.count("*") == 1 for result in results)

    def _gives_object(self, referents: list[Referent]) -> bool:
        """Whether all referents are, or return, something other than a pointer."""
        for referent in referents:
            if self._symbol_kind(referent) in TYPES:
                continue
            scope = max(referent.scope, 0)
            declared = self._declared(referent)
            if not declared or not self._is_plain(referent.path, scope, declared):
                return False
        return bool(referents)

    def _declared(self, referent: Referent) -> str:
        """Return the declared type of a definition with pointers and brackets; may be empty."""
        if referent.symbol < 0:
            return ""
        symbol = self._view.symbol(referent)
        if symbol.kind in CALLABLE:
            return result_type(symbol.signature, symbol.name)
        before, name, behind = symbol.signature.partition(symbol.name)
        return before + behind[:1].replace(";", "") if name else ""

    def _is_plain(self, path: bytes, scope: int, text: str, depth: int = 0) -> bool:
        """Whether a type is neither a pointer nor an alias of one."""
        if _POINTING.search(text) is not None or depth > _DEEPEST:
            return False
        name = c_type(text).partition("<")[0]
        for referent in self._resolver.named_type(path, scope, name) if name else ():
            model = self._view.model(referent.path)
            own = model.own_scope.get(referent.symbol)
            if own is None or model.symbols[referent.symbol].kind != "type":
                continue
            aliases = [row for row in model.of_scope.get(own, ()) if row.how == "alias"]
            around = model.scopes[own].parent
            if not all(
                self._is_plain(referent.path, around, row.text, depth + 1) for row in aliases
            ):
                return False
        return bool(name)


def _joined(rest: tuple[str, ...]) -> str:
    return "".join(step if step[0] in "([`" else f".{step}" for step in rest)
