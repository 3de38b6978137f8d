"""What the model answered: first sentences, which strengthen the topics that they speak of."""

from __future__ import annotations

from codelens.focus.focus_settings import FocusSettings
from codelens.focus.forest import Forest, touch
from codelens.focus.prompt_terms import terms_of
from codelens.focus.term_vectors import cosine, counted
from codelens.secret_masking import masked

_LONGEST = 160
_READ = 2_000
_SENTENCE = r"(?s)(.+?(?:[.!?](?=\s|$)|[。！？]))"
_MARKUP = r"^[#>*\-\s`]+|[*`]{1,3}"


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
    import re  # here, since a prompt only reads what answers left

    for line in masked(answer[: 2 * _READ])[:_READ].splitlines():
        plain = " ".join(re.sub(_MARKUP, "", line).split())
        if not any(character.isalnum() for character in plain) or line.lstrip().startswith(
            ("#", "|")
        ):
            continue
        match = re.match(_SENTENCE, plain)
        text = (match.group(1) if match else plain).rstrip(".:")
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
    return ""


def listen(guide: list[GuideEntry], answer: str, settings: FocusSettings, now: float) -> bool:
    """Add an answer to the ring, the oldest goes; whether it was added."""
    text = first_sentence(answer)
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
            touch(best[2], max(entry.at, best[2].touched))
            entry.tree = best[2].id
