"""Answers tool calls for both the SDK and the server without it, and limits how many run at once.

A call counts until its thread has ended, even if its client has cancelled it. Otherwise cancelled
calls would pile up behind the call that has locked the index.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from codelens.engine.contexts.asking_session import LONGEST_ID, Session
from codelens.engine.engine import Engine
from codelens.engine.upkeep import usage_counter
from codelens.engine.worktree_paths import common_worktree
from codelens.errors import CodelensError
from codelens.serve.call_worktree import SessionOfProcess, Worktrees
from codelens.serve.tool_row import FOR_THE_CALL, FOR_THE_RENDERER, CallArguments, ToolRow

T = TypeVar("T")

MOST_CALLS = 128
"""A client waits for an answer for up to a minute; about thirty slow calls finish in that time."""


class ServerBusy(CodelensError):
    """The server already runs the maximum number of calls.

    Args:
        most: that number.
    """

    def __init__(self, most: int) -> None:
        super().__init__(
            f"this server already runs {most} calls, its maximum; call again when some of them "
            "are answered, or cancel those that are not needed"
        )


class CallSlots:
    """The call slots of one server.

    Args:
        most: how many calls may run at once.
    """

    def __init__(self, most: int = MOST_CALLS) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._taken = 0

    @property
    def taken(self) -> int:
        """The number of running calls."""
        with self._lock:
            return self._taken

    def take(self) -> CallSlot:
        """Take a slot.

        Raises:
            ServerBusy: all slots are taken.
        """
        with self._lock:
            if self._taken >= self.most:
                raise ServerBusy(self.most)
            self._taken += 1
        return CallSlot(self._give_back)

    def _give_back(self) -> None:
        with self._lock:
            self._taken -= 1


class CallSlot:
    """The slot of one call: released when its work ends, or if it never starts.

    Args:
        give_back: releases the slot; called once.
    """

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back = give_back
        # The thread that acquires it must release the slot.
        self._claim = threading.Lock()

    def run(self, work: Callable[[], T]) -> T | None:
        """Do the work, in the thread that was started for it; None if the slot is closed."""
        if not self._claim.acquire(blocking=False):
            return None
        try:
            return work()
        finally:
            self._give_back()

    def close(self) -> None:
        """Give up the call: work that has not started will not start."""
        if self._claim.acquire(blocking=False):
            self._give_back()


# Handles tool calls: prepares arguments for the engine, and renders the answer or failure.
#
# This must not need the SDK: simple calls are answered before it is imported (`plain_calls.py`).

logger = logging.getLogger(__name__)

_HANDLE_ARGUMENTS = ("handles", "target", "targets")
"""Arguments that name code; a handle with an absolute path also names its worktree."""


class Reply(NamedTuple):
    """The text of an answer, and whether it reports a failure."""

    text: str
    failed: bool = False
    sent: Any = None
    """The part of the answer that the text contains, to be recorded as sent; None if nothing is
    recorded."""


class CallAnswers:
    """Asks an engine for the calls of one server.

    Args:
        engine: its methods may be called from any thread.
        budget_ms: how long checking the files may take.
    """

    def __init__(self, engine: Engine, budget_ms: float) -> None:
        self.engine = engine
        self._budget_ms = budget_ms

    def engine_arguments(
        self, row: ToolRow, arguments: CallArguments, where: Mapping[str, object]
    ) -> dict[str, object]:
        """The arguments for the engine's method.

        Args:
            row: the tool.
            arguments: the arguments of the call, as the row declares them.
            where: the engine's arguments for the worktree or worktrees.
        """
        engine_arguments: dict[str, object] = {
            argument.parameter or argument.name: arguments[argument.name]
            for argument in row.arguments
            if argument.name not in FOR_THE_CALL
        }
        engine_arguments.update(where)
        if "ref" in engine_arguments:
            engine_arguments["ref"] = arguments["ref"] or None
        if row.budgets:
            engine_arguments["budget_ms"] = self._budget_ms * row.budgets
        return {**engine_arguments, **row.asks_with(arguments)}

    def counted(
        self, row: ToolRow, arguments: CallArguments, engine_arguments: Mapping[str, object]
    ) -> Reply:
        """The answer of the engine; the call is counted even if it fails."""
        size = 0
        try:
            ask = row.asks
            if isinstance(ask, str):
                answer = getattr(self.engine, ask)(**engine_arguments)
            else:
                answer = ask(self.engine, **engine_arguments)
            shown = [arguments[name] for name in FOR_THE_RENDERER if name in arguments]
            text = renderer_named(row.renderer)(answer, *shown, **row.renders_with(arguments))
            size = len(text.encode("utf-8", "replace"))
            sent = renderer_named(row.delivers)(answer, *shown) if row.delivers else None
            return Reply(text, row.fails(answer), sent)
        finally:
            usage_counter.served(size)


def failed(error: Exception) -> Reply:
    """The reply that reports a failure; call it in the `except` block."""
    if isinstance(error, CodelensError):
        # Imported late: a server without failures does not need it.
        from codelens.render.text_pieces import head_line, safe

        rows = [head_line(error.receipt)] if error.receipt is not None else []
        # An error may quote a note or a name of the repository.
        return Reply("\n".join([*rows, safe(error.in_call)]), True)
    logger.error("a tool failed", exc_info=error)
    return Reply(f"unexpected {type(error).__name__}: {error}; this is a bug in codelens", True)


def session_named(arguments: CallArguments) -> Session | None:
    """The session that a call names, if any."""
    session_id = str(arguments.get("session", "")).strip()
    return Session(session_id[:LONGEST_ID], "call", remembers=True) if session_id else None


def is_about_all(row: ToolRow, arguments: CallArguments) -> bool:
    """Whether a call is about all repositories in codelens's home, if its server allows that."""
    return not arguments["path"] and row.is_everywhere(arguments)


def repositories_named(arguments: CallArguments) -> list[str]:
    """The worktrees in a call's `repositories`."""
    return [each for each in arguments.get("repositories", ()) if each.strip()]


def path_named(arguments: CallArguments) -> str:
    """The path with which a call names its worktree; empty if it names none."""
    return str(arguments["path"]) or common_worktree(_handles_of(arguments))


def renderer_named(name: str) -> Callable[..., Any]:
    """A function of `answer_shapes`; the module is imported when the first call needs it."""
    return getattr(import_module("codelens.serve.answer_shapes"), name)


def _handles_of(arguments: CallArguments) -> list[str]:
    """The handles in a call's arguments."""
    handles: list[str] = []
    for name in _HANDLE_ARGUMENTS:
        value: str | list[str] = arguments.get(name) or []
        handles += [value] if isinstance(value, str) else value
    return handles


# The parts that answer calls of the client that started the server, with and without the SDK.

_NAMED = 8


@dataclass(frozen=True)
class ClientCalls:
    """The parts that both ways share, so that both answer a call in the same way.

    Attributes:
        answers: asks the engine.
        worktrees: chooses the worktree of a call.
        sessions: finds the session of a call that names none.
        slots: limits the number of running calls.
    """

    answers: CallAnswers
    worktrees: Worktrees
    sessions: SessionOfProcess
    slots: CallSlots

    @staticmethod
    def of_process(engine: Engine, root: str | None, budget_ms: float) -> ClientCalls:
        """Create the parts for the server in this process.

        Args:
            engine: answers the calls.
            root: the server's `--root`.
            budget_ms: how long checking the files may take.
        """
        return ClientCalls(
            CallAnswers(engine, budget_ms),
            Worktrees(root, os.environ, lambda: known_worktrees(engine)),
            SessionOfProcess(os.environ),
            CallSlots(),
        )


def known_worktrees(engine: Engine) -> list[str]:
    """The worktrees in the index that still exist, the last used first."""
    views = [
        view
        for repository in engine.overview()
        for view in repository.views
        if view.standing == "active"
    ]
    views.sort(key=lambda view: -view.accessed_s)
    return list(dict.fromkeys(view.worktree for view in views))[:_NAMED]
