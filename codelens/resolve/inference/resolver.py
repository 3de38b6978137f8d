"""Combines the inference parts for one language and caches their answers.

Annotations, members, calls and expressions depend on each other: a member's type is an annotation,
a call's result is that of a member. Each part queries the others through the resolver. It caches
the answers together with what they depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol, TypeVar, cast

from codelens.resolve.file_model import TYPES, FileModel
from codelens.resolve.inference.name_lookup import Names, Referent
from codelens.resolve.inference.values import Definition, Instance, Module, Shape, Value
from codelens.resolve.view_files import Notes, View
from codelens.types import Binding, Reference

_T = TypeVar("_T")
_DEEPEST = 60
"""The most open queries; deeper queries remain unanswered."""


class ExtraEdge(NamedTuple):
    """An edge without a reference: a method overrides, a type satisfies an interface."""

    symbol: int
    name: str
    line: int
    of: Referent
    kind: str


class OfType(Protocol):
    """Returns a value of the type that a text denotes in a scope."""

    def __call__(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """With `me`, as the annotation of a member of that value."""
        ...


class Signature(NamedTuple):
    """A way to call a value: parameters and result as written in a scope of a file."""

    path: bytes
    scope: int
    me: Value
    """The value to whose type the text belongs; its type arguments apply."""
    parameters: tuple[str, ...]
    result: str

    def of(self, text: str) -> tuple[bytes, int, str, Value]:
        """Return the arguments of an `OfType` or `Signatures` query for a type in the signature."""
        return self.path, self.scope, text, self.me


class Signatures(Protocol):
    """Returns the ways to call a value of the type that a text denotes in a scope."""

    def __call__(self, path: bytes, scope: int, text: str, me: Value = None) -> list[Signature]:
        """With `me`, as the annotation of a member of that value."""
        ...


class Resolver:
    """The interface through which the parts query each other; each attribute is one query."""

    of_type: OfType
    signatures: Signatures
    call_signatures: Callable[[Instance], list[Signature]]
    """Returns the ways to call an instance of an interface or of an alias."""
    in_shape: Callable[[Shape, str], Value]
    """Returns a member of an object of an anonymous type."""
    named_type: Callable[[bytes, int, str], list[Referent]]
    """Returns the referents of a type name, which may contain dots, in a scope of a file."""
    typed: Callable[[Referent, tuple[Value, ...], Value], Value]
    """Returns a value of a type with type arguments, as an annotation denotes it."""
    ancestry: Callable[[Instance], list[Instance]]
    """Returns a type and its bases, nearest first, each with its type arguments."""
    bases: Callable[[Instance], list[Instance]]
    members: Callable[[Value, str], list[tuple[Referent, Value]]]
    """Returns the members of a name, each with the value that owns it."""
    member_value: Callable[[Value, str], Value]
    taken: Callable[[Referent, Value], Value]
    """Returns the value of a member that was found on an owner."""
    called: Callable[[Value], Value]
    """Returns the result of calling a value."""
    called_with: Callable[[Value, str], Value]
    """As `called`, by the marks of the arguments."""
    result: Callable[[bytes, int, Value], Value]
    """Returns the result of a function, a symbol of a file, when called on a value."""
    handed: Callable[[Module], Value]
    """Returns the value of a module itself."""
    element: Callable[[Value, str], Value]
    """Returns an element of a value, by `[]` or by iteration (`[*]`)."""
    awaited: Callable[[Value], Value]
    entered: Callable[[Value], Value]
    """Returns what a context manager's `__enter__` returns."""
    value: Callable[[bytes, int, str, int], Value]
    """Returns the value of an expression in a scope of a file, at a line."""
    value_of: Callable[[Referent, bytes, int, int], Value]
    """Returns the value of a referent used at a place: file, scope and line."""
    agreed: Callable[[bytes, list[Binding]], Value]
    """Returns the common value of all rows of a file; None if one of them is unknown."""
    chosen: Callable[[list[Referent]], list[Referent]]
    component: Callable[[bytes], Value]
    """Returns an instance of the component whose template a file is."""
    element_value: Callable[[bytes, int, str], Value]
    """Returns the directive on a template element, or the `transform` method of a pipe."""
    element_uses: Callable[[bytes, Reference], list[Referent]]
    """Returns the directives, inputs, outputs or pipes that a part of an element names."""
    instance_around: Callable[[bytes, int], Value]
    """Returns an instance of the class around a scope of a file."""
    place: Callable[[bytes, int, str], tuple[int, bool]]
    """Returns the scope that decides what a name means, and whether that varies by line."""
    meant: Callable[[bytes, Reference], list[Referent]]
    """Returns the referents of a name without a receiver."""
    member_of: Callable[[bytes, Reference], list[Referent]]
    """Returns the referents of a name after a receiver."""

    def __init__(self, view: View, names: Names) -> None:
        self.view = view
        self.names = names
        self.by_place = True
        """Whether a name means the same throughout the scope that `place` returns."""
        self.overloads: Callable[[bytes, Reference, list[Referent]], list[Referent]] | None = None
        """Selects the overloads that a call may mean, by its arguments."""
        self.others: Callable[[bytes, list[Referent]], int] | None = None
        """Returns how many further targets a name may have that no view contains."""
        self.possible: Callable[[bytes, Reference], list[Referent]] | None = None
        """Returns the possible targets of a use without a certain target."""
        self.overriding: Callable[[bytes, Reference, Referent], list[Referent]] | None = None
        """Returns the methods that may run instead of the resolved method."""
        self.deriving: Callable[[bytes, FileModel, int], int] | None = None
        """Returns the type whose bases a scope outside of it lists (an `impl` block), or -1."""
        self.extra_edges: Callable[[bytes, FileModel], Iterable[ExtraEdge]] | None = None
        self._cache: dict[tuple[object, ...], tuple[object, Notes]] = {}
        self._open: dict[tuple[object, ...], int] = {}
        self._low = 1 << 30

    def join(self, *parts: object) -> Resolver:
        """Register parts, each for the queries that it answers."""
        for name in Resolver.__annotations__:
            for part in parts:
                if hasattr(part, name):
                    setattr(self, name, getattr(part, name))
        return self

    def is_type(self, value: Definition) -> bool:
        """Whether a definition is a type."""
        return self.view.symbol(value).kind in TYPES

    @property
    def answers(self) -> int:
        """The number of cached answers."""
        return len(self._cache)

    def forget(self) -> None:
        """Clear the cache; resolver and parts form a reference cycle, so it would stay alive."""
        self._cache.clear()

    def once(self, key: tuple[object, ...], make: Callable[[], _T], cut: _T) -> _T:
        """Return the cached answer, or compute it; returns `cut` if the query is already open."""
        cached = self._cache.get(key)
        if cached is not None:
            self.view.notes |= cached[1]
            return cast("_T", cached[0])
        depth = self._open.get(key)
        if depth is not None or len(self._open) > _DEEPEST:
            self._low = min(self._low, 0 if depth is None else depth)
            return cut
        level = len(self._open)
        self._open[key] = level
        outer, self._low = self._low, 1 << 30
        view = self.view
        notes, view.notes = view.notes, set()
        try:
            value = make()
        finally:
            del self._open[key]
            used, view.notes = view.grouped(view.notes), notes
            notes |= used
        if self._low >= level:
            # Only an answer that does not depend on an open outer query may be cached.
            self._cache[key] = (value, used)
            self._low = outer
        else:
            self._low = min(self._low, outer)
        return value
