"""Builds the block for a prompt; keeps the guide: first sentences of answers, to boost topics."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, Node, touch
from codelens.focus.prompt_terms import cosine, counted, stem, terms_of, words_of
from codelens.secret_masking import MASK, masked

_LONGEST = 160
_READ = 2_000
_SENTENCE_END = r"[.!?](?=\s|$)|[。！？]"
_MARKUP = r"^(?:[#>*\-\s`]|\d{1,3}[.)]\s)+|[*`]{1,3}"
_FENCE = r"\s*(?:```+(?=[^`]*$)|~~~+)"
_SHORT_FORMS = frozenset(
    "al approx bzw ca cf dr ed eds ev evtl fig figs ggf incl inkl mr mrs ms nr p pp prof resp st "
    "usw vgl viz vol vs".split()
)
_HIDDEN = "\ue000"
"""Replaces `MASK`, which consists of asterisks, while Markdown is removed; a noncharacter."""


class GuideEntry:
    """An answer of the model.

    Attributes:
        text: its first sentence.
        at: its time, in seconds since the epoch.
        is_new: whether it has not been compared with the topics yet.
        tree: the root that it strengthened; 0 if none.
    """

    __slots__ = ("at", "is_new", "text", "tree")

    def __init__(self, text: str, at: float, *, is_new: bool = True, tree: int = 0) -> None:
        self.text = text
        self.at = at
        self.is_new = is_new
        self.tree = tree


def first_sentence(answer: str) -> str:
    """The first sentence of an answer on one line, with secrets masked; empty if it has none."""
    # Asterisks of bold and italic text are not a mask.
    text = masked(answer[: 2 * _READ].replace(MASK, "**"))[:_READ].replace(MASK, _HIDDEN)
    fence = ""
    for line in text.splitlines():
        mark = re.match(_FENCE, line)
        if mark and not fence:
            fence = mark[0].strip()
            continue
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        plain = " ".join(re.sub(_MARKUP, "", line).replace(_HIDDEN, MASK).split())
        if not any(character.isalnum() for character in plain) or line.lstrip().startswith(
            ("#", "|")
        ):
            continue
        ends = (match.end() for match in re.finditer(_SENTENCE_END, plain))
        end = next((end for end in ends if not _goes_on(plain, end)), len(plain))
        sentence = plain[:end].rstrip(".:")
        return sentence if len(sentence) <= _LONGEST else sentence[: _LONGEST - 1].rstrip() + "…"
    return ""


def _goes_on(text: str, end: int) -> bool:
    """Whether a sentence continues after the full stop before `end`: `e.g.`, `vs.`, `z. B.`."""
    if text[end - 1] != ".":
        return False
    word = text[: end - 1].rpartition(" ")[2].lstrip("([\"'")
    following = text[end:].lstrip()
    if len(word) == 1 and word.islower():
        is_short = following[1:2] == "."
    else:
        letters = word.split(".")
        is_short = all(len(letter) == 1 and letter.isalpha() for letter in letters)
    return is_short or word.lower() in _SHORT_FORMS or following[:1].islower()


def listen(guide: list[GuideEntry], text: str, settings: FocusSettings, now: float) -> bool:
    """Add the first sentence of an answer and drop the oldest; return whether it was added."""
    if not text or not settings.guide_size or (guide and guide[-1].text == text):
        return False
    guide.append(GuideEntry(text, now))
    shorten(guide, settings)
    return True


def shorten(guide: list[GuideEntry], settings: FocusSettings) -> None:
    """Drop the oldest answers beyond the limit of the setting."""
    del guide[: max(0, len(guide) - settings.guide_size)]


def reinforce(forest: Forest, guide: list[GuideEntry]) -> None:
    """Let each new answer touch the most similar root once."""
    for entry in guide:
        if not entry.is_new:
            continue
        entry.is_new = False
        vector = forest.counts.vector(counted(terms_of(entry.text)))
        likes = [(cosine(vector, forest.vector(root)), -root.id, root) for root in forest.roots()]
        best = max(likes, key=lambda entry: entry[:2], default=None)
        if best is not None and best[0] > 0:
            touch(best[2], entry.at)
            entry.tree = best[2].id


# Builds the block for a prompt: the user's recent topics, in a few hundred characters.

_TREES = 5
_LEAVES = 3
_LEAVES_NAMED = 12
_LIKELY = 0.3
_LONGEST_LEAF = 90
_LONGEST_TOPIC = 60
_LONGEST_BRANCH = 60
_COLUMN = 42
BEGIN, END = "[Focus | ", "[/Focus]"
_MARKS = r"(?i)\[(\s{0,9}/?\s{0,9}focus\b[^\[\]\n]{0,40})\]?"
"""Text that could be read as the begin or the end of the block."""
# Lines are added within the limit by rank: first topics, then prompts, then answers.
_TOPIC, _FIRST_LEAF, _NEXT, _FIRST_ANSWER, _LEAF, _ANSWER = range(6)


class Ranked(NamedTuple):
    """A topic in the block: its root, its score, and whether it belongs to another branch."""

    root: Node
    score: float
    is_elsewhere: bool


class _Line(NamedTuple):
    place: int
    rank: int
    text: str


def ranked(forest: Forest, branch: str, settings: FocusSettings, now: float) -> list[Ranked]:
    """The topics by score, those of the current branch before those of others."""
    topic = [
        Ranked(root, forest.score(root, now, settings), is_elsewhere=root.branch != branch)
        for root in forest.roots()
    ]
    return sorted(topic, key=lambda topic: (topic.is_elsewhere, -topic.score, topic.root.id))


def block(
    forest: Forest,
    guide: list[GuideEntry],
    settings: FocusSettings,
    *,
    now: float,
    branch: str,
    newest: int = 0,
    handles: Callable[[Node], list[str]] = lambda _: [],
) -> str:
    """The block; empty if there are no topics, or no room for them.

    Args:
        forest: the topics.
        guide: the model's answers.
        settings: the settings, with the limit and the decay.
        now: seconds since the epoch.
        branch: the current branch.
        newest: the prompt of the block, which is not repeated in it; 0 if none.
        handles: returns the code of a topic.
    """
    leaves = {root: [node for node in nodes if node.id != newest]
              for root, nodes in forest.leaves().items()}  # fmt: skip
    shown = [topic for topic in ranked(forest, branch, settings, now) if leaves[topic.root.id]][
        :_TREES
    ]
    if not shown:
        return ""
    lines: list[_Line] = []

    def put(rank: int, text: str) -> None:
        lines.append(_Line(len(lines), rank, _tamed(text)))

    for shown_topic in shown:
        put(_TOPIC, _topic(forest, shown_topic, handles(shown_topic.root)))
        latest = _latest(forest, leaves[shown_topic.root.id], now)[:_LEAVES]
        for place, leaf in enumerate(latest):
            put(_LEAF if place else _FIRST_LEAF, f"    - {_cut(leaf.text, _LONGEST_LEAF)}")
        if shown_topic.root.id == forest.last:
            following, probability = forest.transitions.likeliest(forest.last)
            if probability > _LIKELY:
                next_topic = _short_name(forest, forest.nodes[following], now)
                put(_NEXT, f"  -> next: {next_topic} ({probability:.0%})")
    for place, entry in enumerate(reversed(guide)):
        put(_ANSWER if place else _FIRST_ANSWER, f"  - {entry.text}")
    counts = (
        f"{forest.prompts} prompt{'s' if forest.prompts != 1 else ''}"
        f" | {len(forest.nodes)}/{settings.memory_size} mem"
        f" | {len(forest.roots())} tree{'s' if len(forest.roots()) != 1 else ''}"
    )
    head = f"{BEGIN}{counts}{f' | {_tamed(_cut(branch, _LONGEST_BRANCH))}' if branch else ''}]"
    return _fitted(head, lines, settings.context_limit)


def topic_words(forest: Forest, topic: Node) -> list[str]:
    """A topic's terms as the user wrote them: for each stem, the most frequent word."""
    counts: dict[str, dict[str, int]] = {term: {} for term in topic.terms}
    # A stem starts with the letters of its words; this avoids stemming, which is slow.
    heads = {term[:2] for term in counts}
    for leaf in forest.leaves()[forest.root_of(topic).id][-_LEAVES_NAMED:]:
        for word in words_of(leaf.text):
            of_stem = counts.get(stem(word)) if word[:2] in heads else None
            if of_stem is not None:
                of_stem[word] = of_stem.get(word, 0) + 1
    return [
        min(weight, key=lambda word: (-weight[word], word)) if weight else term
        for term, weight in counts.items()
    ]


def _latest(forest: Forest, leaves: list[Node], now: float) -> list[Node]:
    return sorted(leaves, key=lambda leaf: (-forest.touched(leaf, now), -leaf.id))


def _short_name(forest: Forest, topic: Node, now: float) -> str:
    """Three words of a topic, or of its latest prompt if the settings give topics no terms."""
    words = topic_words(forest, topic)
    if not words:
        words = _latest(forest, forest.leaves()[topic.id], now)[0].text.split()
    return _cut(" ".join(words[:3]), _LONGEST_TOPIC)


def _topic(forest: Forest, topic: Ranked, handles: list[str]) -> str:
    words = _cut(" | ".join(topic_words(forest, topic.root)), _LONGEST_TOPIC)
    branch = _cut(topic.root.branch or "another commit", _LONGEST_BRANCH)
    where = f" (on {branch})" if topic.is_elsewhere else ""
    text = f"  [{topic.score:.2f}] {words}{where}"
    return f"{text:<{_COLUMN}}{' ' if len(text) >= _COLUMN else ''}{'  '.join(handles)}".rstrip()


def _fitted(head: str, lines: list[_Line], limit: int) -> str:
    """As many lines as the limit allows, in their order."""
    size = len(head) + len(END) + 1
    if size > limit:
        return ""
    taken: list[_Line] = []
    for line in sorted(lines, key=lambda line: (line.rank, line.place)):
        heading = "Guide:\n" if line.rank in {_FIRST_ANSWER} else ""
        cost = len(line.text) + 1 + len(heading)
        if size + cost <= limit:
            size += cost
            taken.append(line)
    texts = [head]
    for line in sorted(taken, key=lambda line: line.place):
        if line.rank == _FIRST_ANSWER:
            texts.append("Guide:")
        texts.append(line.text)
    return "\n".join([*texts, END]) if taken else ""


def _tamed(text: str) -> str:
    """A text that cannot begin or end a block, which text of users and models may do."""
    if "[" not in text or "ocus" not in text.lower():
        return text
    return re.sub(_MARKS, r"(\1)", text)


def _cut(text: str, most: int) -> str:
    """A text on one line, with at most this many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
