"""Inspects forests: all their values, where a prompt would go, and a search of prompts."""

from __future__ import annotations

from typing import NamedTuple

from codelens.focus import forest_file
from codelens.focus.checkout import Checkout
from codelens.focus.context_block import topic_words
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, Node, classify, weight
from codelens.focus.prompt_terms import cosine, counted, terms_of
from codelens.secret_masking import masked

_TOP_TERMS = 20

Fields = dict[str, object]


class FocusMatch(NamedTuple):
    """A topic or a prompt that matches a search."""

    score: float
    kind: str
    text: str
    topic: str
    branch: str
    """The branch of the prompt, or the latest one of the topic; empty when detached."""
    root: str
    """The worktree of that branch; empty if unknown."""
    touched: float
    elsewhere: list[dict[str, str]]
    """The other branches and worktrees of a topic's prompts, the latest first."""


def inspected(state: forest_file.State, settings: FocusSettings, now: float) -> Fields:
    """All values of a forest, for JSON."""
    forest = state.forest
    holding = sorted(forest.counts.holding.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "prompts": forest.prompts,
        "nodes": len(forest.nodes),
        "memory_size": settings.memory_size,
        "last": forest.last,
        "trees": [_tree(forest, root, settings, now) for root in forest.roots()],
        "documents": {
            "indexed": forest.counts.documents,
            "terms": len(holding),
            "top": [{"term": term, "prompts": times} for term, times in holding[:_TOP_TERMS]],
        },
        "guide": [
            {"text": entry.text, "at": entry.at, "new": entry.is_new, "reinforced": entry.tree}
            for entry in state.guide
        ],
        "transitions": [
            {
                "from": earlier, "to": later, "count": times,
                "probability": forest.transitions.probability(later, earlier),
            }
            for earlier, row in forest.transitions.rows.items()
            for later, times in row.items()
        ],
    }  # fmt: skip


def _tree(forest: Forest, root: Node, settings: FocusSettings, now: float) -> Fields:
    return {
        "id": root.id,
        "topic": " | ".join(topic_words(forest, root)),
        "score": forest.score(root, now, settings),
        "branch": root.branch,
        "handles": [handle for handle, _, _ in root.handles],
        "nodes": [
            {
                "id": node.id, "parent": node.parent, "kind": node.kind,
                "depth": forest.depth(node), "weight": weight(node),
                "frequency": node.frequency, "indexed": node.is_indexed,
                "score": forest.score(node, now, settings), "touched": node.touched,
                "branch": node.branch, "text": node.text,
            }
            for node in forest.nodes.values()
            if forest.root_of(node) is root
        ],
    }  # fmt: skip


def rehearsed(forest: Forest, prompt: str, settings: FocusSettings) -> Fields:
    """Where a prompt would go; the forest does not change."""
    tokens = terms_of(masked(prompt))
    classification = classify(forest, counted(tokens), settings)
    best = classification.best if classification.action in {"extend", "branch"} else None
    return {
        "tokens": tokens,
        "action": classification.action,
        "tree": best.tree if best else 0,
        "nearest": best.nearest if best else 0,
        "score": classification.best.score if classification.best else 0.0,
        "last": forest.last,
        "trees": [
            {
                "tree": tree.tree,
                "topic": " | ".join(topic_words(forest, forest.nodes[tree.tree])),
                "nearest": tree.nearest,
                "cosine": tree.cosine,
                "boost": tree.boost,
                "score": tree.score,
            }
            for tree in classification.trees
        ],
    }


def searched(
    home: str, place: Checkout, words: str, limit: int
) -> tuple[list[FocusMatch], list[str]]:
    """Topics and prompts of a repository's forests that match the words, best first; and notes.

    Raises:
        OSError: a forest cannot be read.
    """
    focus_matches: list[FocusMatch] = []
    notes: list[str] = []
    counts, literal = counted(terms_of(words)), words.lower()
    for path in forest_file.forests_of(home, place.repository):
        state = forest_file.load(path)
        notes += [state.note] if state.note else []
        forest = state.forest
        vector = forest.counts.vector(counts)
        own_root = _only_root(home, path, state, place)
        for node in forest.nodes.values():
            like = cosine(vector, forest.vector(node))
            if literal in node.text.lower():
                like += 1
            if like > 0:
                topic = " | ".join(topic_words(forest, forest.root_of(node)))
                text = node.text if node.kind == "prompt" else topic_text(forest, node)
                kind = "prompt" if node.kind == "prompt" else "topic"
                (branch, root), *others = _places(forest, node, own_root)
                elsewhere = [{"branch": branch, "root": root} for branch, root in others]
                focus_matches.append(
                    FocusMatch(like, kind, text, topic, branch, root, node.touched, elsewhere)
                )
    focus_matches.sort(
        key=lambda pair: (-pair.score, pair.root != place.root, -pair.touched, pair.text)
    )
    return focus_matches[:limit], notes


def _only_root(home: str, path: str, state: forest_file.State, place: Checkout) -> str:
    """The worktree of a forest that belongs to a single worktree; empty for other forests."""
    own = Checkout(state.root, place.common_dir, "")
    only = forest_file.forest_path(home, f"{own.repository}-{own.worktree}")
    return state.root if path == only else ""


def _places(forest: Forest, node: Node, own_root: str) -> list[tuple[str, str]]:
    """The branches and worktrees of a node's prompts, the latest first."""
    below = [
        leaf for leaf in forest.leaves()[forest.root_of(node).id] if node in forest.above(leaf)
    ]
    latest = sorted(below or [node], key=lambda leaf: (leaf.touched, leaf.id), reverse=True)
    return list(dict.fromkeys((leaf.branch, leaf.worktree or own_root) for leaf in latest))


def topic_text(forest: Forest, node: Node) -> str:
    """A topic's name for people."""
    return " | ".join(topic_words(forest, node))
