"""How many calls may be under way in a server; what comes on top of that is refused at once.

A call is under way until its thread has ended, also where its client has cancelled it: else
cancelled calls would pile up behind the one that holds the index.
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
"""A client waits a minute for an answer at most; that is time for some thirty slow ones."""


class ServerBusy(CodelensError):
    """A server has as many calls under way as it takes.

    Args:
        most: how many it takes.
    """

    def __init__(self, most: int) -> None:
        super().__init__(
            f"this server has {most} calls under way already and takes no more; ask again when "
            "some of them are answered, or cancel those that are not needed"
        )


class CallSlots:
    """The room for calls of one server.

    Args:
        most: how many there is room for.
    """

    def __init__(self, most: int = MOST_CALLS) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._taken = 0

    @property
    def taken(self) -> int:
        """How many calls are under way."""
        with self._lock:
            return self._taken

    def take(self) -> CallSlot:
        """Room for one more.

        Raises:
            ServerBusy: there is none.
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
    """Room for one call: given back when its work ends, or when it never began.

    Args:
        give_back: called once.
    """

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back = give_back
        # Whoever acquires it has the slot to give back.
        self._claim = threading.Lock()

    def run(self, work: Callable[[], T]) -> T | None:
        """Do the work, from the thread that was started for it; None where it is too late."""
        if not self._claim.acquire(blocking=False):
            return None
        try:
            return work()
        finally:
            self._give_back()

    def close(self) -> None:
        """Nobody waits any more: work that has not begun never will."""
        if self._claim.acquire(blocking=False):
            self._give_back()


# A call of a tool, whoever brings it: what the engine is asked, and what became of it as a text.
#
# Needs no SDK: calls of a plain form are answered before it is imported, see `plain_calls.py`.

logger = logging.getLogger(__name__)

_HANDLE_ARGUMENTS = ("handles", "target", "targets")
"""Arguments that name code; a handle with an absolute path names its worktree as well."""


class Reply(NamedTuple):
    """The text of an answer, and whether it tells of a failure."""

    text: str
    failed: bool = False
    sent: Any = None
    """What of the answer is in the text, where that is remembered."""


class CallAnswers:
    """Asks an engine for the calls of one server.

    Args:
        engine: its methods may be called from any thread.
        budget_ms: how long a look at the files may take.
    """

    def __init__(self, engine: Engine, budget_ms: float) -> None:
        self.engine = engine
        self._budget_ms = budget_ms

    def engine_arguments(
        self, row: ToolRow, arguments: CallArguments, where: Mapping[str, object]
    ) -> dict[str, object]:
        """What the engine is asked with.

        Args:
            row: the tool.
            arguments: as the row declares them.
            where: the worktree or worktrees that are meant, as the engine takes them.
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
        """The answer of the engine; the call is counted, whatever becomes of it."""
        size = 0
        try:
            ask = row.asks
            if isinstance(ask, str):
                answer = getattr(self.engine, ask)(**engine_arguments)
            else:
                answer = ask(self.engine, **engine_arguments)
            shown = [arguments[name] for name in FOR_THE_RENDERER if name in arguments]
            text = renderer_of(row)(answer, *shown, **row.renders_with(arguments))
            size = len(text.encode("utf-8", "replace"))
            sent = _of_tools(row.delivers)(answer, *shown) if row.delivers else None
            return Reply(text, row.fails(answer), sent)
        finally:
            usage_counter.served(size)


def failed(error: Exception) -> Reply:
    """What a client is told of a failure; called where it is caught."""
    if isinstance(error, CodelensError):
        # Late: of the shapes of answers a server that never fails needs none here.
        from codelens.render.text_pieces import head_line

        rows = [head_line(error.receipt)] if error.receipt is not None else []
        return Reply("\n".join([*rows, error.in_call]), True)
    logger.error("a tool failed", exc_info=error)
    return Reply(f"unexpected {type(error).__name__}: {error}; this is a bug in codelens", True)


def session_named(arguments: CallArguments) -> Session | None:
    """Which session a call belongs to as it says itself."""
    session_id = str(arguments.get("session", "")).strip()
    return Session(session_id[:LONGEST_ID], "call", remembers=True) if session_id else None


def is_about_all(row: ToolRow, arguments: CallArguments) -> bool:
    """Whether a call is about all repositories that codelens knows, if its server allows that."""
    return not arguments["path"] and row.is_everywhere(arguments)


def repositories_named(arguments: CallArguments) -> list[str]:
    """The several worktrees that a call is about, if it names any."""
    return [each for each in arguments.get("repositories", ()) if each.strip()]


def path_named(arguments: CallArguments) -> str:
    """What a call says of the one worktree that it is about; empty: nothing."""
    return str(arguments["path"]) or common_worktree(_handles_of(arguments))


def renderer_of(row: ToolRow) -> Callable[..., str]:
    """The function that makes the text of a tool's answer."""
    return _of_tools(row.renderer)


def _of_tools(name: str) -> Callable[..., Any]:
    """A function of `answer_shapes`, which is imported when a call needs it."""
    return getattr(import_module("codelens.serve.answer_shapes"), name)


def _handles_of(arguments: CallArguments) -> list[str]:
    """The handles that a call is about, if it names any."""
    handles: list[str] = []
    for name in _HANDLE_ARGUMENTS:
        value: str | list[str] = arguments.get(name) or []
        handles += [value] if isinstance(value, str) else value
    return handles


# What answers the calls of the one client that started the server, with the SDK or without it.

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
