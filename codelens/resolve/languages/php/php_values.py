"""Values in PHP: what a class takes from traits, its parent and interfaces, in this order."""

from __future__ import annotations

import re

from codelens.resolve.facts.view_files import View
from codelens.resolve.inference.name_lookup import Referent
from codelens.resolve.inference.resolver import Resolver
from codelens.resolve.inference.values import (
    Container,
    Definition,
    Instance,
    Value,
    each,
    together,
)
from codelens.resolve.languages.classes.class_members import ClassMembers
from codelens.resolve.languages.classes.class_values import (
    ClassAnnotations,
    ClassCalls,
    ClassExpressions,
)
from codelens.resolve.languages.php.php_names import PhpNames
from codelens.types import Reference

_ORDER = {"trait": 0, "class": 1, "enum": 1}
_CONSTRUCTOR = "__construct"
_QUALIFIED = re.compile(r"[A-Z]\w*(?:\.\w+)+")


class PhpAnnotations(ClassAnnotations):
    """Types as PHP writes them."""

    def __init__(self, resolver: Resolver, names: PhpNames) -> None:
        super().__init__(resolver)
        self._php = names

    def named_type(self, path: bytes, scope: int, name: str) -> list[Referent]:
        """What a type's name means, by the file's `use` and its namespace."""
        referents = super().named_type(path, scope, name)
        if referents or "." not in name:
            return referents
        return self.names.of_space(self._php.qualified(path, name), "type")


class PhpMembers(ClassMembers):
    """Members of classes."""

    def bases(self, own: Instance) -> list[Instance]:
        """Traits before the parent, as their methods override, and interfaces at last."""
        return sorted(super().bases(own), key=self._rank)

    def _rank(self, own: Instance) -> int:
        model = self.view.model(own.path)
        return _ORDER.get(model.symbols[own.symbol].kind, 2) if model is not None else 2

    def _in_part(self, path: bytes, symbol: int, name: str) -> list[Referent]:
        """As elsewhere, but that a constructor can be called: `parent::__construct()`."""
        if name != _CONSTRUCTOR:
            return super()._in_part(path, symbol, name)
        model = self.view.model(path)
        places = model.children.get(symbol, {}).get(name, ()) if model is not None else ()
        return [Referent(path, at, 0, name) for at in places]


class PhpCalls(ClassCalls):
    """What calls and elements give."""

    def element(self, value: Value, step: str) -> Value:
        """An element of an array, an `Iterator`, an `IteratorAggregate` or an `ArrayAccess`."""
        if isinstance(value, Container) and len(value.args) > 1:
            # Of keys and values these come out.
            return value.args[1]
        if not isinstance(value, Instance):
            return super().element(value, step)
        for name in ("offsetGet",) if step == "[]" else ("current", "getIterator"):
            for referent, _ in self.resolver.members(value, name)[:1]:
                item = self.result(referent.path, referent.symbol, value)
                if name != "getIterator":
                    return item
                inner = [part for part in each(item) if part != value]
                return together([self.element(part, step) for part in inner])
        return None


class PhpExpressions(ClassExpressions):
    """Values of expressions, and what is called on them."""

    def __init__(self, resolver: Resolver, members: PhpMembers, names: PhpNames) -> None:
        super().__init__(resolver, members)
        self._php = names

    def member_of(self, path: bytes, reference: Reference) -> list[Referent]:
        """What a name behind a receiver means, by the type that it is asserted to have."""
        value = self._asserted(path, reference) if reference.kind == "call" else None
        if value is not None:
            methods = self.taking(value, reference.name, reference.arguments)
            if methods:
                return methods
        return super().member_of(path, reference)

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """The value of an expression; of a name with a namespace before it, the class."""
        found_value = super().value(path, scope, text, line)
        if found_value is None and _QUALIFIED.fullmatch(text):
            referents = self.names.of_space(self._php.qualified(path, text), "type")
            return Definition(*referents[0][:2]) if referents else None
        return found_value

    def called_on(
        self, path: bytes, scope: int, receiver: str, name: str, *, line: int, arguments: int
    ) -> list[Referent]:
        """Targets of a call on something, or of a name with a namespace before it."""
        hits_on_type = super().called_on(
            path, scope, receiver, name, line=line, arguments=arguments
        )
        if hits_on_type or not _QUALIFIED.fullmatch(f"{receiver}.{name}"):
            return hits_on_type
        referents = self.names.of_space(self._php.qualified(path, f"{receiver}.{name}"), "call")
        return self.names.fitting(referents, arguments)


def resolver(view: View) -> Resolver:
    """A resolver for the PHP files of a view."""
    names = PhpNames(view)
    php = Resolver(view, names)
    members = names.types = PhpMembers(php)
    expressions = PhpExpressions(php, members, names)
    return php.join(PhpAnnotations(php, names), members, PhpCalls(php), expressions)
