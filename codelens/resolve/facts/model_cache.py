"""The models of files that were looked into last, bounded by how much there is in them."""

from __future__ import annotations

from collections.abc import Callable

from codelens.resolve.facts.file_model import FileModel

MOST_ROWS = 400_000
"""References, bindings and symbols of all that is held."""


class ModelCache:
    """Models by path, None for a file without facts.

    In two generations: when the younger has half of what may be held, it becomes the older, whose
    models go, but for those asked for meanwhile. So what every file is resolved by stays, as in a
    cache that evicts what was used least recently, at the cost of one look into a dictionary.
    """

    def __init__(self, most_rows: int = MOST_ROWS) -> None:
        self.young: dict[bytes, FileModel | None] = {}
        """To be looked into before `take` is called."""
        self._old: dict[bytes, FileModel | None] = {}
        self._rows = 0
        self._most_rows = most_rows

    def __len__(self) -> int:
        return len(self.young) + len(self._old)

    def take(self, path: bytes, load: Callable[[bytes], FileModel | None]) -> FileModel | None:
        """The model of a file that is not among the young: of the older ones, or loaded."""
        model = self._old.pop(path) if path in self._old else load(path)
        rows = _rows_of(model)
        if self._rows + rows > self._most_rows // 2:
            self._old, self.young, self._rows = self.young, {}, 0
        self._rows += rows
        self.young[path] = model
        return model

    def keep(self, holds: Callable[[bytes], bool]) -> None:
        """Forget the models of all other files."""
        for models in (self.young, self._old):
            for path in [path for path in models if not holds(path)]:
                del models[path]

    def clear(self) -> None:
        """Forget all."""
        self.young, self._old, self._rows = {}, {}, 0


def _rows_of(model: FileModel | None) -> int:
    if model is None:
        return 1
    return len(model.symbols) + len(model.references) + len(model.bindings)
