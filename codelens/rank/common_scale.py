"""One scale for a question that is put to several repositories.

Scores are made of numbers of the view: how rare a word is, and each feature as a share of the best
candidate's. By itself the best file of every repository has about the same score, whether it
answers or not. With a common scale each view is visited three times: the first counts in how many
files each term is, the second measures the candidates with the sums of these counts, the third
ranks them as shares of the best of all. A score is then about what it would be if all the
repositories were one.

What stays of the view itself, since it says what is usual there: the mean lengths of texts, and
the uppermost folder that files are counted from.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from codelens.store.views.snapshot import Snapshot

_View = tuple[int, int]
_Rows = Sequence[Mapping[str, float]]


class Visit(enum.Enum):
    """What a view is asked for now."""

    COUNT = 1
    MEASURE = 2
    RANK = 3


class CommonScale:
    """The numbers of all views of one question; `visit` says what is done with them."""

    def __init__(self) -> None:
        self.visit = Visit.COUNT
        self.lacks_meaning = False
        """A view cannot be ranked by what words mean; then none is, or it would stand below."""
        self._files: dict[_View, int] = {}
        self._having: dict[_View, dict[str, int]] = {}
        self._tops: dict[str, dict[str, float]] = {}
        self._chunks: dict[str, list[list[float]]] = {}
        self._cosines: dict[str, list[float]] = {}

    def pooled(
        self, view: Snapshot, files: int, having: Mapping[str, int]
    ) -> tuple[int, Mapping[str, int]]:
        """Files of all views, and how many of them have each of some terms.

        Args:
            view: that is looked at.
            files: it has.
            having: term -> how many of them have it; 0 for none.
        """
        place = _place(view)
        if self.visit is Visit.COUNT:
            self._files[place] = files
            self._having.setdefault(place, {}).update(having)
            return files, having
        total: Counter[str] = Counter()
        for other, counts in self._having.items():
            known = {**counts, **having} if other == place else counts
            total.update({term: known.get(term, 0) for term in having})
        return sum(self._files.values()), total

    def knows(self, term: str) -> bool:
        """Whether any view has a term."""
        return any(counts.get(term) for counts in self._having.values())

    def tops(self, stage: str, rows: _Rows, features: Sequence[str]) -> Mapping[str, float]:
        """The highest value of each feature: of `rows`, and once measured of those of all views.

        Args:
            stage: of the ranking of which question.
            rows: features of the candidates that set the scale.
            features: the names.
        """
        own = {name: max((row[name] for row in rows), default=0.0) for name in features}
        if self.visit is Visit.COUNT:
            return own
        known = self._tops.setdefault(stage, {})
        if self.visit is Visit.MEASURE:
            for name, top in own.items():
                known[name] = max(top, known.get(name, 0.0))
            return own
        return {name: max(top, known.get(name, 0.0)) for name, top in own.items()}

    def masses(
        self,
        stage: str,
        chunks: Sequence[Sequence[float]],
        mass: Callable[[Sequence[float]], float],
    ) -> float:
        """The highest mass of the chunks of any candidate that sets the scale."""
        if self.visit is Visit.MEASURE:
            self._chunks.setdefault(stage, []).extend(map(list, chunks))
        every = self._chunks.get(stage, ()) if self.visit is Visit.RANK else chunks
        return max(map(mass, every), default=0.0)

    def cosines(self, stage: str, measured: Sequence[float]) -> list[float]:
        """How much candidates that set the scale mean what the question says."""
        if self.visit is Visit.MEASURE:
            self._cosines.setdefault(stage, []).extend(measured)
        return list(self._cosines.get(stage, ()) if self.visit is Visit.RANK else measured)


def _place(view: Snapshot) -> _View:
    return (id(view.db), view.row.id)
