"""What a hook asks of the engine, for as long as the host waits for it and no longer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from codelens.hooks import hook_log

T = TypeVar("T")


def answer_within(seconds: float, ask: Callable[[], T], *, home: str, event: str, nothing: T) -> T:
    """What `ask` gives; `nothing` where it fails, which is logged, or takes longer.

    Args:
        seconds: how long the hook waits.
        ask: done by a thread, which goes on until the process ends.
        home: of the log.
        event: the hook, for the log.
        nothing: what is answered then.
    """
    answers: list[T] = []

    def asking() -> None:
        try:
            answers.append(ask())
        except Exception as error:
            # Whatever it is, the agent goes on without it.
            hook_log.note(home, event, f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=asking, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else nothing
