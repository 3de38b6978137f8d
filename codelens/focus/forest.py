"""The forest of topics and its transitions, and how a prompt is classified and added."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

from codelens.focus.focus_settings import FocusSettings
from codelens.focus.prompt_terms import DIGITS, Counts, DocumentCounts, Vector, cosine


class Transitions:
    """Counts how often a prompt of one tree followed a prompt of another: a Markov chain."""

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows: dict[int, dict[int, int]] = {}

    def count(self, earlier: int, later: int) -> None:
        """Count one transition."""
        row = self.rows.setdefault(earlier, {})
        row[later] = row.get(later, 0) + 1

    def probability(self, later: int, topic: int) -> float:
        """P(later | topic); 0 if nothing has followed `topic` yet."""
        row = self.rows.get(topic)
        return row.get(later, 0) / sum(row.values()) if row else 0.0

    def likeliest(self, last_topic: int) -> tuple[int, float]:
        """The most frequent next topic and its probability, or (0, 0.0)."""
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
        """Drop a tree that was removed from the forest."""
        self.rows.pop(tree, None)
        for earlier in list(self.rows):
            self.rows[earlier].pop(tree, None)
            if not self.rows[earlier]:
                del self.rows[earlier]


# The forest has a tree for each topic: its root names the topic, below it are sub-topics, and
# prompts are below both. `classify` finds the place of a prompt without a change; `grow` adds it.

Kind = Literal["root", "topic", "prompt"]
Action = Literal["extend", "branch", "new", "none"]

_HOUR_S = 3600.0
_NODES_OF_A_PROMPT = 2
"""A prompt and its root: the smallest memory that can keep a prompt."""
_NODES_OF_A_BRANCH = 3
"""The same with a sub-topic between them; a smaller memory has no sub-topics."""


class Node:
    """A topic, a sub-topic or a prompt.

    Attributes:
        id: its number, never reused in this forest.
        parent: the number of its parent; 0 for a root.
        kind: root, sub-topic or prompt.
        text: the user's text of a prompt; the terms of a topic, separated by `|`.
        terms: the counted terms of its vector.
        frequency: how often it was created or touched.
        touched: the time of the last touch, in seconds since the epoch.
        branch: the branch of the last touch.
        worktree: the root of the worktree of the last touch; empty if unknown.
        handles: for a root: code that was read or edited during the topic, the latest first, with
            the size and time of its file.
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
        """Whether the document counts include it."""
        return self.kind == "prompt"


class LastTurn(NamedTuple):
    """The last prompt of a session."""

    topic: int
    """The root of its tree; 0 if it had none."""
    at: float
    """Seconds since the epoch."""


class TreeScore(NamedTuple):
    """How a prompt fits one tree: `score` = `cosine` * `boost`."""

    tree: int
    nearest: int
    """The root or leaf with this cosine."""
    cosine: float
    boost: float
    score: float


class Classification(NamedTuple):
    """The place of a prompt."""

    action: Action
    best: TreeScore | None
    trees: tuple[TreeScore, ...]
    """All trees, in the order of creation."""


class Forest:
    """The topics of one worktree, repository or session.

    Attributes:
        nodes: by number, in the order of creation.
        counts: the document counts of all indexed prompts.
        transitions: which topic followed which.
        prompts: the number of prompts so far, including those without terms.
        last: the tree of the last prompt, or 0.
        seen: the time of the last prompt, in seconds since the epoch.
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
        """The root of each tree, in the order of creation."""
        return [node for node in self.nodes.values() if node.kind == "root"]

    def children(self, number: int) -> list[Node]:
        """The nodes directly below a node."""
        return [node for node in self.nodes.values() if node.parent == number]

    def root_of(self, node: Node) -> Node:
        """The root of a node's tree."""
        while node.parent:
            node = self.nodes[node.parent]
        return node

    def depth(self, node: Node) -> int:
        """The depth of a node below its root: 0 to 2."""
        return sum(1 for _ in self.above(node))

    def above(self, node: Node) -> Iterator[Node]:
        """The parents of a node, up to its root."""
        while node.parent:
            node = self.nodes[node.parent]
            yield node

    def leaves(self) -> dict[int, list[Node]]:
        """The prompts, by the root of their tree."""
        leaves_by_root: dict[int, list[Node]] = {node.id: [] for node in self.roots()}
        for node in self.nodes.values():
            if node.kind == "prompt":
                leaves_by_root[self.root_of(node).id].append(node)
        return leaves_by_root

    def vector(self, node: Node) -> Vector:
        """The vector of a node; cached until its content or the document counts change."""
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
        """The time of a node's last touch, but not later than `now`.

        A time after `now` means that the clock was ahead then, or was set back since. These cannot
        be distinguished, so the stored time stays. The node counts as touched at the time of the
        first prompt after all those touches, or else of its latest prompt that is not after `now`.
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
        """Add a node; its parent must exist."""
        self.nodes[node.id] = node
        self.next_id = max(self.next_id, node.id + 1)
        if node.is_indexed:
            self.counts.add(node.terms)
            self._vectors.clear()
        return node

    def remove(self, node: Node) -> None:
        """Remove a node without children, and its parents that then have no children."""
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
    """The weight of a node's frequency, before it decays."""
    return math.log2(node.frequency + 1)


def classify(forest: Forest, terms: Counts, settings: FocusSettings) -> Classification:
    """Find the place of a prompt with these terms; the forest does not change.

    Each tree is compared by its root, then by its leaves; among equal scores the older tree wins.
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
    """Add a prompt at its place, remove surplus nodes, and return the classification.

    A prompt without terms ("yes", "go on") belongs to the last topic and is only counted.
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
    """Count another touch of a node; a clock that was set back does not make it older."""
    node.frequency += 1
    node.touched = max(node.touched, now)


def _parent(forest: Forest, classification: Classification, now: float) -> Node:
    """The parent for the prompt; it is created or, with all above it, touched."""
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
    """Remove the leaves with the lowest scores, the older of equals first, but not the newest."""
    if len(forest.nodes) <= settings.memory_size:
        return
    # A removal does not change the other scores, so one sort is enough.
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
