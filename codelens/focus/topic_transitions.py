"""Which topic follows which: a Markov chain of first order over the trees of a forest."""

from __future__ import annotations


class Transitions:
    """How often a prompt of one tree was followed by one of another, or of the same."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: dict[int, dict[int, int]] = {}

    def count(self, earlier: int, later: int) -> None:
        """Note one step."""
        row = self.rows.setdefault(earlier, {})
        row[later] = row.get(later, 0) + 1

    def probability(self, later: int, given: int) -> float:
        """P(later | given); 0 where nothing followed `given` yet."""
        row = self.rows.get(given)
        return row.get(later, 0) / sum(row.values()) if row else 0.0

    def likeliest(self, given: int) -> tuple[int, float]:
        """The other topic that follows most often, and how often; (0, 0.0) where none does."""
        others = {tree: times for tree, times in self.rows.get(given, {}).items() if tree != given}
        if not others:
            return 0, 0.0
        best = min(others, key=lambda tree: (-others[tree], tree))
        return best, self.probability(best, given)

    def forget(self, tree: int) -> None:
        """Drop a tree that left the forest."""
        self.rows.pop(tree, None)
        for earlier in list(self.rows):
            self.rows[earlier].pop(tree, None)
            if not self.rows[earlier]:
                del self.rows[earlier]
