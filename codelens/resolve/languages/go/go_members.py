"""Members in Go: fields, methods by their receiver, and those of embedded types.

Types are declared nearly everywhere in Go, so a receiver is mostly known from a parameter, a
field, or the result of a function of the view.
"""

from __future__ import annotations

import re

from codelens.resolve.inference.members import Members
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import Instance, Value
from codelens.resolve.languages.go.go_names import GoNames
from codelens.types import Binding

_TEST = b"_test.go"
_VERSION = re.compile(r"v\d+")
_ELSEWHERE = re.compile(
    rb"_(?:windows|darwin|freebsd|netbsd|openbsd|plan9|solaris|js|wasm|wasip1|aix|android|ios|"
    rb"arm|arm64|386|s390x|ppc64|ppc64le|riscv64|mips\w*|dragonfly|illumos|nacl|appengine)"
    rb"(?:_test)?\.go$"
)
"""Files that are built for other machines than most code is read for."""


class GoMembers(Members):
    """Members: fields, methods by their receiver, and those of embedded types."""

    names: GoNames

    def _of_types(
        self, line: list[Instance], name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        for type_ in line:
            pairs = super()._of_types([type_], name, value)
            if not pairs:
                referents = self.names.methods(type_.path, type_.symbol, name)
                pairs = [(referent, value) for referent in referents] or self._of_underlying(
                    type_, name, value
                )
            if pairs:
                return pairs
        return []

    def _of_underlying(
        self, own: Instance, name: str, value: Value
    ) -> list[tuple[Referent, Value]]:
        """Of `type A B` the fields of B; its methods only if it is an interface."""
        under = underlying(self.resolver, own)
        if not isinstance(under, Instance) or under[:2] == own[:2]:
            return []
        pairs: list[tuple[Referent, Value]] = []
        for referent, _ in self.members(under, name):
            model = self.view.model(referent.path)
            if model is not None and model.symbols[referent.symbol].parent >= 0:
                pairs.append((referent, value))
        return pairs

    def taken(self, referent: Referent, me: Value) -> Value:
        """The value of one member of something."""
        value = super().taken(referent, me)
        if value is not None:
            return value
        model = self.view.model(referent.path)
        if model is None or model.symbols[referent.symbol].kind != "field":
            return None
        symbol = model.symbols[referent.symbol]
        scope = model.own_scope.get(symbol.parent)
        for row in model.of_scope.get(scope, ()) if scope is not None else ():
            if row.how == "base" and _base_name(row) == symbol.name:
                return self.resolver.of_type(referent.path, scope or 0, row.text, me)
        return None


def underlying(resolver: Resolver, value: Value) -> Value:
    """What a type is made of that is no struct or interface."""
    if not isinstance(value, Instance):
        return None
    model = resolver.view.model(value.path)
    scope = model.own_scope.get(value.symbol) if model is not None else None
    if model is None or scope is None or model.symbols[value.symbol].kind != "type":
        return None
    row = next((row for row in model.of_scope.get(scope, ()) if row.how == "alias"), None)
    return resolver.of_type(value.path, scope, row.text) if row is not None else None


def _base_name(row: Binding) -> str:
    return row.text.partition("[")[0].lstrip("*").rpartition(".")[2]
