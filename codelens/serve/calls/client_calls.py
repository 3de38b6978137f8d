"""What answers the calls of the one client that started the server, with the SDK or without it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from codelens.engine.engine import Engine
from codelens.serve.calls.call_answers import CallAnswers
from codelens.serve.calls.call_session import SessionOfProcess
from codelens.serve.calls.call_slots import CallSlots
from codelens.serve.calls.call_worktree import Worktrees

_NAMED = 8


@dataclass(frozen=True)
class ClientCalls:
    """The parts that both ways share, so that a call is answered alike in either.

    Attributes:
        answers: asks the engine.
        worktrees: says which worktree a call is about.
        sessions: says which session a call belongs to that does not say so itself.
        slots: the room for calls.
    """

    answers: CallAnswers
    worktrees: Worktrees
    sessions: SessionOfProcess
    slots: CallSlots

    @staticmethod
    def of_process(engine: Engine, root: str | None, budget_ms: float) -> ClientCalls:
        """Of a server that this process is.

        Args:
            engine: what answers.
            root: the server's `--root`.
            budget_ms: how long a look at the files may take.
        """
        return ClientCalls(
            CallAnswers(engine, budget_ms),
            Worktrees(root, os.environ, lambda: known_worktrees(engine)),
            SessionOfProcess(os.environ),
            CallSlots(),
        )


def known_worktrees(engine: Engine) -> list[str]:
    """The worktrees that were asked about and are still there, the latest first."""
    views = [
        view
        for repository in engine.overview()
        for view in repository.views
        if view.standing == "active"
    ]
    views.sort(key=lambda view: -view.accessed_s)
    return list(dict.fromkeys(view.worktree for view in views))[:_NAMED]
