"""A resolver: the parts that tell what names and expressions of one view mean, for one language.

Annotations, members, calls and expressions need one another: the type of a member is an
annotation, that of a call is the result of a member. Each part asks the others through the
resolver, which also remembers what was answered, with what the answer stands on.
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
"""Questions open at once; what needs more stays unknown."""


class ExtraEdge(NamedTuple):
    """An edge that no reference says: a method overrides, a type satisfies an interface."""

    symbol: int
    name: str
    line: int
    of: Referent
    kind: str


class OfType(Protocol):
    """A value of the type that a text says, in a scope."""

    def __call__(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """With `me`, as it is said of a member of that value."""
        ...


class Resolver:
    """What the parts ask of one another; each declares here what it answers."""

    of_type: OfType
    in_shape: Callable[[Shape, str], Value]
    """A member of an object of a type without a name."""
    named_type: Callable[[bytes, int, str], list[Referent]]
    """What a type's name means in a scope of a file, dots in it included."""
    typed: Callable[[Referent, tuple[Value, ...], Value], Value]
    """A value of a type, with arguments, as it is said of a value."""
    ancestry: Callable[[Instance], list[Instance]]
    """A type and its bases, nearest first, each with its arguments."""
    bases: Callable[[Instance], list[Instance]]
    members: Callable[[Value, str], list[tuple[Referent, Value]]]
    """Members of that name, each with what it was found in."""
    member_value: Callable[[Value, str], Value]
    taken: Callable[[Referent, Value], Value]
    """The value of one member of something."""
    called: Callable[[Value], Value]
    """What a call of a value gives."""
    called_with: Callable[[Value, str], Value]
    """As `called`, by marks of its arguments."""
    result: Callable[[bytes, int, Value], Value]
    """What a function, a symbol of a file, gives back when it is called on a value."""
    handed: Callable[[Module], Value]
    """What a module is as a whole."""
    element: Callable[[Value, str], Value]
    """An element of a value, by `[]` or by a loop (`[*]`)."""
    awaited: Callable[[Value], Value]
    entered: Callable[[Value], Value]
    """What a context manager gives."""
    value: Callable[[bytes, int, str, int], Value]
    """The value of an expression in a scope of a file, at a line."""
    value_of: Callable[[Referent, bytes, int, int], Value]
    """The value of what a name means, where it is used: file, scope and line."""
    agreed: Callable[[bytes, list[Binding]], Value]
    """The value of all rows of a file together; None if one of them is not known."""
    chosen: Callable[[list[Referent]], list[Referent]]
    instance_around: Callable[[bytes, int], Value]
    """An instance of the class that a scope of a file is in."""
    place: Callable[[bytes, int, str], tuple[int, bool]]
    """A scope from which a name means the same, and whether the line matters."""
    meant: Callable[[bytes, Reference], list[Referent]]
    """What a name without a receiver means."""
    member_of: Callable[[bytes, Reference], list[Referent]]
    """What a name behind a receiver means."""

    def __init__(self, view: View, names: Names) -> None:
        self.view = view
        self.names = names
        self.by_place = True
        """What a name means is the same all over the scope that `place` tells."""
        self.overloads: Callable[[bytes, Reference, list[Referent]], list[Referent]] | None = None
        """Those of several overloads that a call may mean, by its arguments."""
        self.others: Callable[[bytes, list[Referent]], int] | None = None
        """How many things that no view has a name may mean besides."""
        self.possible: Callable[[bytes, Reference], list[Referent]] | None = None
        """What a use may mean of which nothing leads to a certain target."""
        self.overriding: Callable[[bytes, Reference, Referent], list[Referent]] | None = None
        """What may run instead of a method that a use leads to."""
        self.deriving: Callable[[bytes, FileModel, int], int] | None = None
        """The type that derives by what a scope says, where it is not around it; -1 for none."""
        self.extra_edges: Callable[[bytes, FileModel], Iterable[ExtraEdge]] | None = None
        self._known: dict[tuple[object, ...], tuple[object, Notes]] = {}
        self._open: dict[tuple[object, ...], int] = {}
        self._low = 1 << 30

    def join(self, *parts: object) -> Resolver:
        """Take in parts, each for what it answers."""
        for name in Resolver.__annotations__:
            for part in parts:
                if hasattr(part, name):
                    setattr(self, name, getattr(part, name))
        return self

    def is_type(self, value: Definition) -> bool:
        """Whether a definition is that of a type."""
        model = self.view.model(value.path)
        return model is not None and model.symbols[value.symbol].kind in TYPES

    @property
    def answers(self) -> int:
        """How much is remembered."""
        return len(self._known)

    def forget(self) -> None:
        """Let go what is remembered: resolver and parts hold each other, so nothing else does."""
        self._known.clear()

    def once(self, key: tuple[object, ...], make: Callable[[], _T], cut: _T) -> _T:
        """The remembered answer to a question; `cut` if it is being asked already."""
        known = self._known.get(key)
        if known is not None:
            self.view.notes |= known[1]
            return cast("_T", known[0])
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
            mine, view.notes = view.grouped(view.notes), notes
            notes |= mine
        if self._low >= level:
            # Nothing in it waits for a question further out.
            self._known[key] = (value, mine)
            self._low = outer
        else:
            self._low = min(self._low, outer)
        return value
