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

    def probability(self, later: int, topic: int) -> float:
        """P(later | given); 0 where nothing followed `topic` yet."""
        row = self.rows.get(topic)
        return row.get(later, 0) / sum(row.values()) if row else 0.0

    def likeliest(self, last_topic: int) -> tuple[int, float]:
        """The other topic that follows most often, and how often; (0, 0.0) where none does."""
        others = {
            tree: times
            for tree, times in self.rows.get(last_topic, {}).items()
            if tree != last_topic
        }
        if not others:
            return 0, 0.0
        best = min(others, key=lambda tree: (-others[tree], tree))
        return best, self.probability(best, last_topic)

    def forget(self, tree: int) -> None:
        """Drop a tree that left the forest."""
        self.rows.pop(tree, None)
        for earlier in list(self.rows):
            self.rows[earlier].pop(tree, None)
            if not self.rows[earlier]:
                del self.rows[earlier]
