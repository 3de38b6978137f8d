"""The words of a task reveal what it wants done."""

from __future__ import annotations

import pytest

from codelens import capsule


@pytest.mark.parametrize(
    ("task", "intent", "words"),
    [
        ("fix the crash in Session.close", "debug", ("fix", "crash")),
        ("rename Session to Visit", "refactor", ("rename",)),
        ("add a timeout to the client", "modify", ("add",)),
        ("how are sessions closed", "explore", ()),
        ("fix it: rename Session", "debug", ("fix",)),
        ("add and split, then extract", "refactor", ("split", "extract")),
        ("prefixes of failover", "explore", ()),
    ],
)
def test_the_intent_with_the_most_words_wins(
    task: str, intent: str, words: tuple[str, ...]
) -> None:
    assert capsule.intent_of(task) == (intent, words)
