"""The models of files that were looked into last, bounded by how much there is in them."""

from __future__ import annotations

from collections.abc import Callable

from codelens.resolve.facts.file_model import FileModel

LEAST_ROWS = 100_000
"""References, bindings and symbols of all that is held at first; half of it between questions."""
MOST_ROWS = 400_000
"""The same for a question that comes back to files again and again; 60 MiB more."""


class ModelCache:
    """Models by path, None for a file without facts.

    In two generations: when the younger has half of what may be held, it becomes the older, whose
    models go, but for those asked for meanwhile. So what every file is resolved by stays, as in a
    cache that evicts what was used least recently, at the cost of one look into a dictionary.

    When as much was loaded again as may be held, twice as much may be: to have too little would
    cost `impact` of a class that a thousand files use half its time. But small objects that are
    freed seldom leave a page empty, so a server keeps what it once took for them, and most
    questions do with the least.
    """

    def __init__(self, least_rows: int = LEAST_ROWS, most_rows: int = MOST_ROWS) -> None:
        self.young: dict[bytes, FileModel | None] = {}
        """To be looked into before `take` is called."""
        self._old: dict[bytes, FileModel | None] = {}
        self._rows = 0
        self._least_rows, self._most_rows = least_rows, most_rows
        self._bound = least_rows
        self._gone: set[bytes] = set()
        """Files whose models went during this question."""
        self._again = 0
        """Rows of those of them that were loaded again since more was last allowed."""

    def __len__(self) -> int:
        return len(self.young) + len(self._old)

    def take(self, path: bytes, load: Callable[[bytes], FileModel | None]) -> FileModel | None:
        """The model of a file that is not among the young: of the older ones, or loaded."""
        if path in self._old:
            model = self._old.pop(path)
            rows = _rows_of(model)
        else:
            model = load(path)
            rows = _rows_of(model)
            if path in self._gone:
                self._note_again(rows)
        if self._rows + rows > self._bound // 2:
            self._gone.update(self._old)
            self._old, self.young, self._rows = self.young, {}, 0
        self._rows += rows
        self.young[path] = model
        return model

    def _note_again(self, rows: int) -> None:
        self._again += rows
        if self._again > self._bound:
            self._bound = min(2 * self._bound, self._most_rows)
            self._again = 0

    def rest(self) -> None:
        """A question is over: half of the least is held until the next one, of what was last."""
        self._old = {}
        if self._rows > self._least_rows // 2:
            self.young, self._rows = {}, 0
        self._bound, self._again = self._least_rows, 0
        self._gone.clear()

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
