"""Values in Go.

Types are declared nearly everywhere in Go, so a receiver is mostly known from a parameter, a
field, or the result of a function of the view.
"""

from __future__ import annotations

import re

from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.annotations import Annotations
from codelens.resolve.inference.call_results import Calls
from codelens.resolve.inference.expression_values import Expressions
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Container, Definition, Instance, Value, each, together
from codelens.resolve.languages.go.go_interfaces import satisfied
from codelens.resolve.languages.go.go_members import GoMembers, underlying
from codelens.resolve.languages.go.go_names import GoNames
from codelens.resolve.languages.go.go_type_text import STRUCT, TUPLE, go_type

_TEST = b"_test.go"
_VERSION = re.compile(r"v\d+")
_ELSEWHERE = re.compile(
    rb"_(?:windows|darwin|freebsd|netbsd|openbsd|plan9|solaris|js|wasm|wasip1|aix|android|ios|"
    rb"arm|arm64|386|s390x|ppc64|ppc64le|riscv64|mips\w*|dragonfly|illumos|nacl|appengine)"
    rb"(?:_test)?\.go$"
)
"""Files that are built for other machines than most code is read for."""


class GoAnnotations(Annotations):
    """Types as Go writes them."""

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of a type in Go's own writing."""
        return super().of_type(path, scope, go_type(text), me)

    def typed(self, referent: Referent, args: tuple[Value, ...], me: Value) -> Value:
        """A value of a type, with arguments, as it is said of a value."""
        model = self.view.model(referent.path)
        if model is None or referent.symbol < 0 or model.symbols[referent.symbol].kind != "type":
            return super().typed(referent, args, me)
        if " = " in model.symbols[referent.symbol].signature:
            return super().typed(referent, args, me)
        return Instance(referent.path, referent.symbol, args)


class GoCalls(Calls):
    """What calls give."""

    def _result(self, path: bytes, symbol: int, me: Value) -> Value:
        """What a function gives back; what stands for its type parameters only a call says."""
        model = self.view.model(path)
        scope = model.own_scope.get(symbol) if model is not None else None
        if model is None or scope is None or scope not in model.parameters:
            return super()._result(path, symbol, me)
        results = [row.text for row in model.of_scope.get(scope, ()) if row.how == "->"]
        own = "|".join(map(re.escape, model.parameters[scope]))
        return (
            self.resolver.of_type(path, scope, re.sub(rf"\b(?:{own})\b", "any", results[0]), me)
            if results
            else None
        )

    def element(self, value: Value, step: str) -> Value:
        """An element of a value, by `[]` or by a loop (`[*]`)."""
        if isinstance(value, Definition):
            # `f[int]`, `T[int]`: the same with its type arguments.
            return value
        under = underlying(self.resolver, value)
        return super().element(under if under is not None else value, step)

    def called(self, value: Value) -> Value:
        """What a call gives: of a type, a value of it."""
        under = underlying(self.resolver, value)
        return super().called(under if under is not None else value)


class GoExpressions(Expressions):
    """Values of expressions and variables."""

    def _step(self, value: Value, step: str) -> Value:
        if step == "#key":
            # Of a range with one name: keys tell nothing, and what a channel gives is its type.
            return together([part for part in each(value) if isinstance(part, Instance)])
        if step[:1] == "#":
            return together([_part(part, int(step[1:])) for part in each(value)])
        if isinstance(value, Container) and value.name == STRUCT:
            fields = (field for field in value.args if isinstance(field, Container))
            return next((field.args[0] for field in fields if field.name == f"#{step}"), None)
        return super()._step(value, step)

    def _from_rows(self, referent: Referent, line: int) -> Value:
        """A variable has the type of its declaration."""
        del line
        for row in self.names.rows(referent):
            if row.how == ":":
                return self.resolver.of_type(referent.path, referent.scope, row.text)
            if row.how == "=":
                value = self.value(referent.path, row.scope, row.text, row.line)
                if value is not None:
                    return value
        return None


def _part(value: Value, at: int) -> Value:
    """One of several results; the first of `value, ok` is the value."""
    if isinstance(value, Container) and value.name == TUPLE:
        return value.args[at] if at < len(value.args) else None
    return value if at == 0 else None


def resolver(view: View) -> Resolver:
    """A resolver for the Go files of a view."""
    go = Resolver(view, GoNames(view))
    members = GoMembers(go)
    go.join(GoAnnotations(go), members, GoCalls(go), GoExpressions(go))
    go.extra_edges = lambda path, model: satisfied(path, model, members)
    return go
