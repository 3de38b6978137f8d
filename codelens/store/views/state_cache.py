"""What is worked out of a state of a view, kept for as long as the view stays in that state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from codelens.store.database.database import Database
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

T = TypeVar("T")


class _State(NamedTuple):
    mark: tuple[object, ...]
    files: list[FileRow]


class StateCache(Generic[T]):
    """One value for each of the views of a database that were asked about last.

    Args:
        most: views of a database.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: WeakKeyDictionary[Database, dict[int, tuple[_State, T]]] = WeakKeyDictionary()

    def value_of(self, view: Snapshot, make: Callable[[T | None], T], *marks: object) -> T:
        """The value of a state.

        Args:
            view: the state. Its row alone does not tell it: see `Snapshot.has_texts_of`.
            make: makes the value, from that of the state before if there is one.
            marks: what else the value stands on.
        """
        mark = (view.row.generation, *marks)
        known = self._known.setdefault(view.db, {})
        state, value = known.pop(view.row.id, (None, None))
        if state is None or state.mark != mark or not view.has_texts_of(state.files):
            state, value = _State(mark, view.files), make(value)
        assert value is not None
        known[view.row.id] = state, value
        while len(known) > self._most:
            del known[next(iter(known))]
        return value
