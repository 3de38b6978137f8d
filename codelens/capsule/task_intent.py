"""What a task wants done, told by its words: which way the graph is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

Intent = Literal["debug", "refactor", "modify", "explore"]
INTENTS: Mapping[str, Intent] = {
    "debug": "debug", "refactor": "refactor", "modify": "modify", "explore": "explore",
}  # fmt: skip
"""By name."""

Direction = Literal["both", "in", "out"]
DIRECTIONS: dict[Intent, Direction] = {
    "debug": "both", "refactor": "in", "modify": "out", "explore": "out",
}  # fmt: skip
"""Both ways for a fault; who depends on it for a new shape; what it depends on else."""

WORDS: dict[Intent, frozenset[str]] = {
    "debug": frozenset(
        "fix fixes fixed fixing bug bugs buggy crash crashes crashed crashing fail fails failed "
        "failing failure failures panic panics panicked broken breaks debug debugging bugfix "
        "hotfix regression".split()
    ),
    "refactor": frozenset(
        "refactor refactors refactored refactoring rename renames renamed renaming extract "
        "extracts extracted extracting split splits splitting reorganize reorganizes reorganized "
        "reorganise reorganised".split()
    ),
    "modify": frozenset(
        "add adds added adding implement implements implemented implementing create creates "
        "created creating build builds building built feature features feat".split()
    ),
    "explore": frozenset(),
}
"""In the order that breaks ties."""
_WORD = re.compile(r"[^\W\d_]+")


class ChosenIntent(NamedTuple):
    """An intent and why."""

    intent: Intent
    words: tuple[str, ...]
    """The words of the task that told it, each once; empty if it was given or none did."""


def intent_of(task: str) -> ChosenIntent:
    """The intent with the most words in a task, each word counted as often as it stands there."""
    words = [word.lower() for word in _WORD.findall(task)]
    best = ChosenIntent("explore", ())
    most = 0
    for intent, known in WORDS.items():
        matched = [word for word in words if word in known]
        if len(matched) > most:
            best, most = ChosenIntent(intent, tuple(dict.fromkeys(matched))), len(matched)
    return best
