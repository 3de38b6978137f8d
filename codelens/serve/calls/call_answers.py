"""A call of a tool, whoever brings it: what the engine is asked, and what became of it as a text.

Needs no SDK: calls of a plain form are answered before it is imported, see `plain_calls.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from codelens.engine.engine import Engine
from codelens.engine.sessions.asking_session import LONGEST_ID, Session
from codelens.engine.usage import usage_counter
from codelens.engine.worktree_paths import common_worktree
from codelens.errors import CodelensError
from codelens.serve.tools.tool_row import (
    FOR_THE_CALL,
    FOR_THE_RENDERER,
    CallArguments,
    ToolRow,
)

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
    """`module:function` in `codelens.serve.tools`."""
    module, _, function = name.partition(":")
    return getattr(import_module(f"codelens.serve.tools.{module}"), function)


def _handles_of(arguments: CallArguments) -> list[str]:
    """The handles that a call is about, if it names any."""
    handles: list[str] = []
    for name in _HANDLE_ARGUMENTS:
        value: str | list[str] = arguments.get(name) or []
        handles += [value] if isinstance(value, str) else value
    return handles
