"""What the model answered: first sentences, which strengthen the topics that they speak of."""

from __future__ import annotations

import re

from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, touch
from codelens.focus.prompt_terms import terms_of
from codelens.focus.term_vectors import cosine, counted
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
"""Stands for `MASK` while markup goes, which is of asterisks too; of no meaning in Unicode."""


class GuideEntry:
    """One answer.

    Attributes:
        text: its first sentence.
        at: when it came, in seconds since the epoch.
        is_new: whether it has not been compared with the topics yet.
        tree: the root that it strengthened; 0 for none.
    """

    __slots__ = ("at", "is_new", "text", "tree")

    def __init__(self, text: str, at: float, *, is_new: bool = True, tree: int = 0) -> None:
        self.text = text
        self.at = at
        self.is_new = is_new
        self.tree = tree


def first_sentence(answer: str) -> str:
    """The first sentence of an answer on one line, secrets masked; empty where it has none."""
    # What is bold and italic in an answer is no mask.
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
    """Whether a sentence goes on after the full stop before `end`: `e.g.`, `vs.`, `z. B.`."""
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
    """Add the first sentence of an answer to the ring, the oldest goes; whether it was added."""
    if not text or not settings.guide_size or (guide and guide[-1].text == text):
        return False
    guide.append(GuideEntry(text, now))
    shorten(guide, settings)
    return True


def shorten(guide: list[GuideEntry], settings: FocusSettings) -> None:
    """Let the oldest answers go that are more than the setting allows."""
    del guide[: max(0, len(guide) - settings.guide_size)]


def reinforce(forest: Forest, guide: list[GuideEntry]) -> None:
    """Let each new answer touch the root that it is most like, once."""
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
