"""A row of the table as a tool of the SDK, and a call of it: arguments, worktree, failures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, NamedTuple, get_args

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import (
    CallToolResult,
    InputRequiredResult,
    ListRootsRequest,
    TextContent,
    ToolAnnotations,
)
from pydantic import ConfigDict, ValidationError

from codelens.bytecode import damaged_copy
from codelens.cancellation import Call
from codelens.engine.engine import Engine
from codelens.engine.sessions.asking_session import LONGEST_ID, Session, asked_by
from codelens.engine.usage import usage_counter
from codelens.engine.worktree_paths import common_worktree
from codelens.errors import CodelensError
from codelens.serve.call_slots import CallSlots
from codelens.serve.call_worktree import WorktreeChoice
from codelens.serve.client_workspaces import ROOTS, RootsWanted
from codelens.serve.tools.argument_errors import refusal
from codelens.serve.tools.call_progress import progress_of
from codelens.serve.tools.tool_arguments import annotation_of, as_meant
from codelens.serve.tools.tool_row import (
    FOR_THE_CALL,
    FOR_THE_RENDERER,
    CallArguments,
    Hints,
    ToolRow,
)
from codelens.serve.tools.tool_table import ROWS

logger = logging.getLogger(__name__)

_HANDLE_ARGUMENTS = ("handles", "target", "targets")
"""Arguments that name code; a handle with an absolute path names its worktree as well."""


class _Reply(NamedTuple):
    """The text of an answer, and whether it tells of a failure."""

    text: str
    failed: bool = False
    sent: Any = None
    """What of the answer is in the text, where that is remembered."""


class ToolCalls:
    """Answers the calls of one server.

    Args:
        engine: its methods may be called from any thread.
        worktrees: says which worktree a call is about.
        sessions: says which session a call belongs to that does not say so itself.
        budget_ms: how long a look at the files may take.
    """

    def __init__(
        self,
        engine: Engine,
        worktrees: WorktreeChoice,
        sessions: Callable[[Context[Any, Any]], Session],
        budget_ms: float,
    ) -> None:
        self._engine = engine
        self._budget_ms = budget_ms
        self._worktrees = worktrees
        self._sessions = sessions
        self._slots = CallSlots()
        # A thread for each call: which of them has its turn is decided at the index.
        self._threads = anyio.CapacityLimiter(self._slots.most)

    async def answer(
        self, row: ToolRow, ctx: Context[Any, Any], given_arguments: CallArguments
    ) -> CallToolResult | InputRequiredResult:
        """Answer one call, on the worktree that is meant; any failure becomes its text.

        Where the client has to say first in which folders it works, it is told to ask again.

        Args:
            row: the tool.
            ctx: of the client's request.
            given_arguments: the arguments, as the row declares them.
        """
        try:
            engine_arguments = await self._engine_arguments(row, ctx, given_arguments)
            with asked_by(self._session(ctx, given_arguments)):
                reply = await self._in_thread(
                    lambda: self._counted(row, given_arguments, engine_arguments)
                )
                if reply.sent is not None:
                    # Not before: a call that was cancelled is answered to nobody.
                    await anyio.to_thread.run_sync(self._engine.note_sent, reply.sent)
        except RootsWanted:
            return InputRequiredResult(input_requests={ROOTS: ListRootsRequest()})
        except CodelensError as error:
            # Late: of the shapes of answers a server that never fails needs none here.
            from codelens.render.text_pieces import head_line

            rows = [head_line(error.receipt)] if error.receipt is not None else []
            reply = _Reply("\n".join([*rows, error.in_call]), True)
        except Exception as error:
            logger.exception("a tool failed")
            problem = f"unexpected {type(error).__name__}: {error}"
            reply = _Reply(damaged_copy(error) or f"{problem}; this is a bug in codelens", True)
        content = TextContent(type="text", text=reply.text)
        return CallToolResult(content=[content], is_error=reply.failed)

    def _session(self, ctx: Context[Any, Any], arguments: CallArguments) -> Session:
        """Which session a call belongs to: as it says, else as its client is known."""
        session_id = str(arguments.get("session", "")).strip()
        if session_id:
            return Session(session_id[:LONGEST_ID], "call", remembers=True)
        return self._sessions(ctx)

    async def _where(
        self, row: ToolRow, ctx: Context[Any, Any], arguments: CallArguments
    ) -> dict[str, object]:
        """Which worktree is meant, or which several; why those that are refused are."""
        path = str(arguments["path"])
        if not path and self._worktrees.may_mean_all and row.is_everywhere(arguments):
            return {"path": ""}
        named: list[str] = [each for each in arguments.get("repositories", ()) if each.strip()]
        if not named:
            path = path or common_worktree(_handles_of(arguments))
            return {"path": await self._worktrees.chosen(path, ctx)}
        chosen: list[str] = []
        refused: dict[str, CodelensError] = {}
        for each in named:
            try:
                chosen.append(await self._worktrees.chosen(each, ctx))
            except CodelensError as error:
                refused[each] = error
        return {"path": "", "repositories": chosen, "refused": refused}

    async def _engine_arguments(
        self, row: ToolRow, ctx: Context[Any, Any], arguments: CallArguments
    ) -> dict[str, object]:
        """What the engine is asked with."""
        engine_arguments: dict[str, object] = {
            argument.parameter or argument.name: arguments[argument.name]
            for argument in row.arguments
            if argument.name not in FOR_THE_CALL
        }
        engine_arguments.update(await self._where(row, ctx, arguments))
        if "ref" in engine_arguments:
            engine_arguments["ref"] = arguments["ref"] or None
        if row.budgets:
            engine_arguments["budget_ms"] = self._budget_ms * row.budgets
        if row.tells_progress:
            engine_arguments["progress"] = progress_of(ctx)
        return {**engine_arguments, **row.asks_with(arguments)}

    async def _in_thread(self, work: Callable[[], _Reply]) -> _Reply:
        slot = self._slots.take()
        try:
            # Abandoned: a client that leaves must not be kept waiting by a look under way.
            reply = await anyio.to_thread.run_sync(
                slot.run, work, abandon_on_cancel=True, limiter=self._threads
            )
        finally:
            slot.close()
        assert reply is not None, "the slot is closed after the work alone"
        return reply

    def _counted(
        self, row: ToolRow, arguments: CallArguments, engine_arguments: Mapping[str, object]
    ) -> _Reply:
        size = 0
        try:
            ask = row.asks
            if isinstance(ask, str):
                answer = getattr(self._engine, ask)(**engine_arguments)
            else:
                answer = ask(self._engine, **engine_arguments)
            shown = [arguments[name] for name in FOR_THE_RENDERER if name in arguments]
            text = renderer_of(row)(answer, *shown, **row.renders_with(arguments))
            size = len(text.encode("utf-8", "replace"))
            sent = _of_tools(row.delivers)(answer, *shown) if row.delivers else None
            return _Reply(text, row.fails(answer), sent)
        finally:
            usage_counter.served(size)


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


class _Tool(Tool):
    """A tool that tells in plain sentences which arguments it cannot take."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> object:
        """As the SDK's, with the arguments as they are meant."""
        meant_arguments = as_meant(self.parameters, arguments)
        call = Call(f"{self.name} {meant_arguments.get('mode', '')}")
        try:
            with call.under_way():
                return await super().run(meant_arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                why = refusal(ROWS[self.name], self.parameters, error.__cause__)
                raise ToolError(why) from error.__cause__
            raise
        finally:
            # Answered, or given up by the client: what still works for it in a thread stops.
            call.cancel()


_HINTS = {
    hints: ToolAnnotations(
        read_only_hint=hints == "reads",
        destructive_hint=hints == "removes",
        idempotent_hint=True,
        open_world_hint=False,
    )
    for hints in get_args(Hints)
}
"""Cursor's Ask mode takes no other tools than those that only read."""


def tool(row: ToolRow, calls: ToolCalls) -> Tool:
    """A tool as the SDK takes it."""

    async def answer(
        ctx: Context[Any, Any], **arguments: object
    ) -> CallToolResult | InputRequiredResult:
        return await calls.answer(row, ctx, arguments)

    # The SDK reads the schema from a signature.
    parameters = [
        Parameter(
            argument.name,
            Parameter.KEYWORD_ONLY,
            annotation=annotation_of(argument),
            default=Parameter.empty if argument.default is None else argument.default,
        )
        for argument in row.arguments
    ]
    context = Parameter("ctx", Parameter.POSITIONAL_OR_KEYWORD, annotation=Context)
    answer.__signature__ = Signature([context, *parameters])  # type: ignore[attr-defined]
    registered = _Tool.from_function(
        answer,
        name=row.name,
        description=row.description,
        annotations=_HINTS[row.hints],
        # A declared output schema broke clients of a peer.
        structured_output=False,
    )
    loose = registered.fn_metadata.arg_model

    class Strict(loose):
        """The SDK drops arguments that a tool does not have in silence; this refuses them.

        A number where a text is meant is its digits: 404 is searched for, 30d is a time.
        """

        model_config = ConfigDict(extra="forbid", title=row.name, coerce_numbers_to_str=True)

    registered.fn_metadata.arg_model = Strict
    registered.parameters = _without_titles(registered.parameters)
    return registered


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the titles that only repeat names: every client pays for their tokens."""
    properties: dict[str, dict[str, Any]] = schema["properties"]
    bare = {
        name: {key: value for key, value in property_schema.items() if key != "title"}
        for name, property_schema in properties.items()
    }
    without_titles = {key: value for key, value in schema.items() if key != "title"}
    return {**without_titles, "properties": bare}
