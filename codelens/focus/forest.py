"""Which topic follows which: a Markov chain of first order over the trees of a forest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

from codelens.focus.focus_settings import FocusSettings
from codelens.focus.prompt_terms import DIGITS, Counts, DocumentCounts, Vector, cosine


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


# The forest: a tree for each topic, its prompts as leaves; how a prompt finds its place.
#
# A tree is a root, which names the topic, sub-topics under it, and prompts under both. `classify`
# decides and changes nothing; `grow` adds a prompt where it was classified.

Kind = Literal["root", "topic", "prompt"]
Action = Literal["extend", "branch", "new", "none"]

_HOUR_S = 3600.0
_NODES_OF_A_PROMPT = 2
"""A prompt and its root: what a memory must hold to keep any."""
_NODES_OF_A_BRANCH = 3
"""With a sub-topic between them; a smaller memory has none."""


class Node:
    """A topic, a sub-topic or a prompt.

    Attributes:
        id: its number, never given again in this forest.
        parent: the number of its parent; 0 for a root.
        kind: what it is.
        text: of a prompt, what the person wrote; of a topic its terms, `|` between.
        terms: the counted terms that its vector is made of.
        frequency: how often it was made or touched.
        touched: when last, in seconds since the epoch.
        branch: where it was last worked on.
        worktree: the root of the worktree where; empty where that is not known.
        handles: of a root: code that was looked at or edited while it was the topic, latest first,
            with the size and time of its file.
    """

    __slots__ = (
        "branch", "frequency", "handles", "id", "kind", "parent", "terms", "text", "touched",
        "worktree",
    )  # fmt: skip

    def __init__(
        self, number: int, parent: int, kind: Kind, text: str, *, terms: Counts, touched: float,
        branch: str = "", worktree: str = "", frequency: int = 1,
    ) -> None:  # fmt: skip
        self.id = number
        self.parent = parent
        self.kind: Kind = kind
        self.text = text
        self.terms = terms
        self.frequency = frequency
        self.touched = touched
        self.branch = branch
        self.worktree = worktree
        self.handles: list[tuple[str, int, int]] = []

    @property
    def is_indexed(self) -> bool:
        """Whether the document counts hold it."""
        return self.kind == "prompt"


class LastTurn(NamedTuple):
    """The last prompt of a session."""

    topic: int
    """The root of its tree; 0 where there was none."""
    at: float
    """Seconds since the epoch."""


class TreeScore(NamedTuple):
    """How a prompt fits one tree: `score` = `cosine` * `boost`."""

    tree: int
    nearest: int
    """The root or the leaf that the cosine is with."""
    cosine: float
    boost: float
    score: float


class Classification(NamedTuple):
    """Where a prompt belongs."""

    action: Action
    best: TreeScore | None
    trees: tuple[TreeScore, ...]
    """All trees, in the order in which they were made."""


class Forest:
    """The topics of one worktree, repository or session.

    Attributes:
        nodes: by number, in the order in which they were made.
        counts: the document counts over all indexed prompts.
        transitions: which topic followed which.
        prompts: how many prompts came so far, those without terms among them.
        last: the tree of the last prompt; 0 where there is none.
        seen: when the last prompt came, in seconds since the epoch.
        turns: the last prompt of each session, by `session_key`, the latest last.
    """

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.counts = DocumentCounts()
        self.transitions = Transitions()
        self.prompts = 0
        self.last = 0
        self.seen = 0.0
        self.turns: dict[str, LastTurn] = {}
        self.next_id = 1
        self._vectors: dict[int, Vector] = {}

    def roots(self) -> list[Node]:
        """The root of each tree, in the order of making."""
        return [node for node in self.nodes.values() if node.kind == "root"]

    def children(self, number: int) -> list[Node]:
        """The nodes right below one."""
        return [node for node in self.nodes.values() if node.parent == number]

    def root_of(self, node: Node) -> Node:
        """The root of a node's tree."""
        while node.parent:
            node = self.nodes[node.parent]
        return node

    def depth(self, node: Node) -> int:
        """How far below its root a node is: 0 to 2."""
        return sum(1 for _ in self.above(node))

    def above(self, node: Node) -> Iterator[Node]:
        """The parents of a node, up to its root."""
        while node.parent:
            node = self.nodes[node.parent]
            yield node

    def leaves(self) -> dict[int, list[Node]]:
        """The prompts by the root of their tree."""
        leaves_by_root: dict[int, list[Node]] = {node.id: [] for node in self.roots()}
        for node in self.nodes.values():
            if node.kind == "prompt":
                leaves_by_root[self.root_of(node).id].append(node)
        return leaves_by_root

    def vector(self, node: Node) -> Vector:
        """The vector of a node; kept until its content or the document counts change."""
        weights = self._vectors.get(node.id)
        if weights is None:
            weights = self._vectors[node.id] = self.counts.vector(node.terms)
        return weights

    def score(self, node: Node, now: float, settings: FocusSettings) -> float:
        """log2(frequency + 1) * e^(-decay * age in hours) / (1 + .15 * depth)."""
        age_hours = (now - self.touched(node, now)) / _HOUR_S
        faded = math.exp(-settings.decay_rate * age_hours)
        return weight(node) * faded / (1 + 0.15 * self.depth(node))

    def touched(self, node: Node, now: float) -> float:
        """When a node was touched, at the latest now.

        A time ahead of `now` is of a clock that was ahead, or the clock has gone back. Which of
        them cannot be told, so what is kept stays; it counts as touched when the first prompt came
        after all that are ahead, or the latest prompt below it that is not.
        """
        if node.touched <= now:
            return node.touched
        prompts = [leaf for leaf in self.nodes.values() if leaf.kind == "prompt"]
        ahead = max((leaf.id for leaf in prompts if leaf.touched > now), default=0)
        after = [leaf.touched for leaf in prompts if leaf.id > ahead] if ahead else []
        below = [
            leaf.touched for leaf in prompts if leaf.touched <= now and node in self.above(leaf)
        ]
        return max([*after[:1], *below], default=now)

    def add(self, node: Node) -> Node:
        """Take a node in; its parent is here."""
        self.nodes[node.id] = node
        self.next_id = max(self.next_id, node.id + 1)
        if node.is_indexed:
            self.counts.add(node.terms)
            self._vectors.clear()
        return node

    def remove(self, node: Node) -> None:
        """Take a node without children out; parents that are left without children go with it."""
        del self.nodes[node.id]
        self._vectors.pop(node.id, None)
        if node.is_indexed:
            self.counts.remove(node.terms)
            self._vectors.clear()
        if node.kind == "root":
            self.transitions.forget(node.id)
            self.last = 0 if self.last == node.id else self.last
        elif not self.children(node.parent):
            self.remove(self.nodes[node.parent])

    def rename(self, node: Node, settings: FocusSettings) -> None:
        """Give a topic the heaviest terms of its latest children."""
        latest = sorted(self.children(node.id), key=lambda node: (node.touched, node.id))
        weights: dict[str, list[float]] = {}
        for child in latest[max(0, len(latest) - settings.max_sources) :]:
            for term, weight in self.vector(child).parts:
                weights.setdefault(term, []).append(weight)
        sums = {
            term: round(math.fsum(term_weights), DIGITS) for term, term_weights in weights.items()
        }
        order = sorted(sums, key=lambda term: (-sums[term], term))
        chosen = order[: settings.bubble_up_terms]
        node.text, node.terms = " | ".join(chosen), dict.fromkeys(chosen, 1)
        self._vectors.pop(node.id, None)


def weight(node: Node) -> float:
    """What a node's frequency counts for, before it fades."""
    return math.log2(node.frequency + 1)


def classify(forest: Forest, terms: Counts, settings: FocusSettings) -> Classification:
    """Where a prompt with these terms belongs; the forest stays as it is.

    Each tree is compared by its root, then by its leaves; of equal scores the older tree counts.
    """
    if not terms:
        return Classification("none", None, ())
    vector = forest.counts.vector(terms)
    scores: list[TreeScore] = []
    for root, leaves in forest.leaves().items():
        nearest, best = root, cosine(vector, forest.vector(forest.nodes[root]))
        for leaf in leaves:
            here = cosine(vector, forest.vector(leaf))
            if here > best:
                nearest, best = leaf.id, here
        probability = forest.transitions.probability(root, forest.last) if forest.last else 0.0
        boost = 1 + settings.transition_boost * probability
        scores.append(TreeScore(root, nearest, best, boost, round(best * boost, DIGITS)))
    top = max(scores, key=lambda tree_score: (tree_score.score, -tree_score.tree), default=None)
    action: Action = "new"
    if top is not None and top.score >= settings.extend:
        action = "extend"
    elif top is not None and top.score >= settings.branch:
        action = "branch" if settings.memory_size >= _NODES_OF_A_BRANCH else "extend"
    return Classification(action, top, tuple(scores))


def grow(
    forest: Forest, text: str, terms: Counts, settings: FocusSettings, *, now: float, branch: str,
    worktree: str = "",
) -> Classification:  # fmt: skip
    """Add a prompt where it belongs, and let go of what is too much; what was decided.

    A prompt without terms ("yes", "go on") stays with the last topic and is counted alone.
    """
    forest.prompts += 1
    forest.seen = now
    classification = classify(forest, terms, settings)
    is_kept = settings.memory_size >= _NODES_OF_A_PROMPT
    if not is_kept:
        _shrink(forest, None, settings, now)
    if classification.action == "none" or not is_kept:
        return classification
    parent = _parent(forest, classification, now)
    if settings.memory_size < _NODES_OF_A_BRANCH:
        parent = forest.root_of(parent)
    leaf = forest.add(Node(
        forest.next_id, parent.id, "prompt", text, terms=terms, touched=now, branch=branch,
        worktree=worktree,
    ))  # fmt: skip
    for node in forest.above(leaf):
        forest.rename(node, settings)
        node.branch, node.worktree = branch, worktree
    root = forest.root_of(leaf)
    if forest.last:
        forest.transitions.count(forest.last, root.id)
    forest.last = root.id
    _shrink(forest, leaf, settings, now)
    return classification


def touch(node: Node, now: float) -> None:
    """Note that a node was meant once more; a clock that has gone back makes it no older."""
    node.frequency += 1
    node.touched = max(node.touched, now)


def _parent(forest: Forest, classification: Classification, now: float) -> Node:
    """The node that the prompt goes under, made or touched with all above it."""
    if classification.best is None or classification.action == "new":
        return forest.add(Node(forest.next_id, 0, "root", "", terms={}, touched=now))
    nearest = forest.nodes[classification.best.nearest]
    if classification.action == "branch":
        root = forest.root_of(nearest)
        touch(root, now)
        return forest.add(Node(forest.next_id, root.id, "topic", "", terms={}, touched=now))
    parent = nearest if nearest.kind == "root" else forest.nodes[nearest.parent]
    for node in (parent, *forest.above(parent)):
        touch(node, now)
    return parent


def _shrink(forest: Forest, newest: Node | None, settings: FocusSettings, now: float) -> None:
    """Let the lowest leaves go, the older of equals first; never the one that just came."""
    if len(forest.nodes) <= settings.memory_size:
        return
    # What goes changes no score of what stays, so one order is enough.
    leaves = [
        node for node in forest.nodes.values() if node.kind == "prompt" and node is not newest
    ]
    leaves.sort(key=lambda node: (forest.score(node, now, settings), node.id))
    for lowest in leaves:
        if len(forest.nodes) <= settings.memory_size:
            return
        left = list(forest.above(lowest))
        forest.remove(lowest)
        for node in left:
            if node.id in forest.nodes:
                forest.rename(node, settings)
