"""What was worked out already, with what it stands on; and what each part asks of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from codelens.resolve.facts.view_files import Notes, View
from codelens.resolve.inference.name_lookup import Hit, Names
from codelens.resolve.inference.values import Definition, Instance, Module, Value
from codelens.types import Binding

_T = TypeVar("_T")
_DEEPEST = 60
"""Questions open at once; what needs more stays unknown."""


class Answers:
    """Remembers, and declares what `typed`, `members` and `types` answer one another."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.names = Names(view)
        self._known: dict[tuple[object, ...], tuple[object, Notes]] = {}
        self._notes: dict[Notes, Notes] = {}
        self._open: dict[tuple[object, ...], int] = {}
        self._low = 1 << 30

    @property
    def answers(self) -> int:
        """How much is remembered."""
        return len(self._known)

    def _once(self, key: tuple[object, ...], make: Callable[[], _T], cut: _T) -> _T:
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
            found = make()
        finally:
            del self._open[key]
            mine, view.notes = view.notes, notes
            notes |= mine
        if self._low >= level:
            # Nothing in it waits for a question further out.
            kept = frozenset(mine)
            self._known[key] = (found, self._notes.setdefault(kept, kept))
            self._low = outer
        else:
            self._low = min(self._low, outer)
        return found

    def value(self, path: bytes, scope: int, text: str, line: int) -> Value:
        """The value of an expression in a scope."""
        raise NotImplementedError

    def of_type(self, path: bytes, scope: int, text: str, me: Value = None) -> Value:
        """A value of the type that a text says, in a scope."""
        raise NotImplementedError

    def ancestry(self, one: Instance) -> list[Instance]:
        """A type and its bases, nearest first, each with its arguments."""
        raise NotImplementedError

    def member_value(self, value: Value, name: str) -> Value:
        """The value of a member."""
        raise NotImplementedError

    def called(self, value: Value) -> Value:
        """What a call of a value gives."""
        raise NotImplementedError

    def result(self, path: bytes, symbol: int, me: Value) -> Value:
        """What a function gives back."""
        raise NotImplementedError

    def value_of(self, hit: Hit, path: bytes, scope: int, line: int) -> Value:
        """The value of what a name means, where it is used at a place."""
        raise NotImplementedError

    def instance_around(self, path: bytes, scope: int) -> Value:
        """An instance of the class that a scope is in."""
        raise NotImplementedError

    def handed(self, module: Module) -> Value:
        """What a module is as a whole."""
        raise NotImplementedError

    def _element(self, value: Value, step: str) -> Value:
        raise NotImplementedError

    def _awaited(self, value: Value) -> Value:
        raise NotImplementedError

    def _agreed(self, path: bytes, rows: list[Binding]) -> Value:
        raise NotImplementedError

    def _chosen(self, hits: list[Hit]) -> list[Hit]:
        raise NotImplementedError

    def _is_type(self, value: Definition) -> bool:
        raise NotImplementedError
