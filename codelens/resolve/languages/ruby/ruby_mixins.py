"""What classes of Ruby take from modules: `include`, `extend`, and modules that extend includers.

`include` passes on methods of instances, `prepend` puts them before the class's own, `extend` makes
them methods of the class itself. A module
that calls `base.extend(M)` in `self.included(base)` gives `M` to who includes it, and so does a
`ActiveSupport::Concern` its `ClassMethods` and what stands in `class_methods do`.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from codelens.resolve.facts.file_model import FileModel
from codelens.types import Binding

_HOOKS = frozenset({"included", "prepended"})
_INCLUDING = frozenset({"include", "send", "__send__", "public_send"})


class Mixed(NamedTuple):
    """What one file says of one class or module."""

    included: tuple[Binding, ...]
    prepended: tuple[Binding, ...]
    extended: tuple[Binding, ...]
    handed: tuple[tuple[int, str], ...]
    """Scope and name of modules that includers are extended with."""
    passed: tuple[tuple[int, str], ...]
    """The same of modules that includers are made to include."""
    is_concern: bool


NOTHING_MIXED = Mixed((), (), (), (), (), is_concern=False)


def mixed(model: FileModel, symbol: int) -> Mixed:
    """What a class or module mixes in."""
    scope = model.own_scope.get(symbol)
    if scope is None:
        return NOTHING_MIXED
    rows = [row for row in model.of_scope.get(scope, ()) if row.how == "implements"]
    calls = {
        (reference.line, bool(reference.receiver))
        for reference in model.references
        if reference.name == "extend" and reference.kind == "call"
    }
    extended = tuple(row for row in rows if (row.line, False) in calls)
    handed = _in_hooks(model, symbol, scope, {line for line, owned in calls if owned})
    # `include` was private until Ruby 2.1: `base.send :include, M`; `extend` never was.
    including = {
        reference.line
        for reference in model.references
        if reference.name in _INCLUDING and reference.kind == "call" and reference.receiver
    }
    passed = _in_hooks(model, symbol, scope, including)
    concern = any(row.text.rpartition("::")[2] == "Concern" for row in extended)
    before = {
        reference.line
        for reference in model.references
        if reference.name == "prepend" and reference.kind == "call" and not reference.receiver
    }
    prepended = tuple(row for row in rows if row.line in before)
    others = (row for row in rows if row.line not in before)
    included = tuple(row for row in others if (row.line, False) not in calls)
    return Mixed(included, prepended, extended, handed, passed, concern)


def _in_hooks(
    model: FileModel, symbol: int, scope: int, lines: Set[int]
) -> tuple[tuple[int, str], ...]:
    """Modules that are named on those lines of what runs when a module is taken in."""
    return tuple(
        (scope, f"{reference.receiver}.{reference.name}".strip("."))
        for reference in model.references
        if reference.kind == "type"
        and reference.line in lines
        and reference.symbol >= 0
        and model.symbols[reference.symbol].parent == symbol
        and model.symbols[reference.symbol].name in _HOOKS
    )


def singletons(model: FileModel) -> frozenset[int]:
    """Methods of a class or module itself: `def self.f`, and those in `class << self`."""
    methods = {
        at
        for at, symbol in enumerate(model.symbols)
        if symbol.signature.startswith("def ")
        and f".{symbol.name}" in symbol.signature[:200]
        and symbol.signature[4:].lstrip().partition(".")[2].startswith(symbol.name)
    }
    for row in model.bindings:
        scope = model.scopes[row.scope]
        if row.how == "def" and scope.kind == "class" and scope.symbol < 0:
            methods.add(int(row.text))
    for at, own in model.own_scope.items():
        around = model.scopes[own].parent
        if around >= 0 and model.scopes[around].kind == "class" and model.scopes[around].symbol < 0:
            methods.add(at)
    return frozenset(methods)


def class_methods(model: FileModel, symbol: int) -> frozenset[int]:
    """Methods in a `class_methods do` of a concern."""
    lines = {
        reference.line
        for reference in model.references
        if reference.name == "class_methods"
        and reference.kind == "call"
        and reference.symbol == symbol
    }
    if not lines:
        return frozenset()
    return frozenset(
        int(row.text)
        for row in model.bindings
        if row.how == "def"
        and model.scopes[row.scope].kind == "block"
        and model.symbols[int(row.text)].parent == symbol
        and model.symbols[int(row.text)].name_line > min(lines)
    )
