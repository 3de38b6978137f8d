"""A row of the table as a tool of the SDK, and a call of it that the SDK brings."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, get_args

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

from codelens.cancellation import Call
from codelens.engine.sessions.asking_session import Session, asked_by
from codelens.errors import CodelensError
from codelens.serve.calls.call_answers import (
    CallAnswers,
    Reply,
    failed,
    is_about_all,
    path_named,
    repositories_named,
    session_named,
)
from codelens.serve.calls.call_slots import CallSlots
from codelens.serve.calls.call_worktree import WorktreeChoice
from codelens.serve.client_workspaces import ROOTS, RootsWanted
from codelens.serve.tools.argument_errors import refusal
from codelens.serve.tools.call_progress import progress_of
from codelens.serve.tools.tool_arguments import annotation_of, as_meant
from codelens.serve.tools.tool_row import CallArguments, Hints, ToolRow
from codelens.serve.tools.tool_table import ROWS


class ToolCalls:
    """Answers the calls that the SDK brings.

    Args:
        answers: asks the engine.
        worktrees: says which worktree a call is about.
        sessions: says which session a call belongs to that does not say so itself.
        slots: the room for calls of this server.
    """

    def __init__(
        self,
        answers: CallAnswers,
        worktrees: WorktreeChoice,
        sessions: Callable[[Context[Any, Any]], Session],
        slots: CallSlots,
    ) -> None:
        self._answers = answers
        self._worktrees = worktrees
        self._sessions = sessions
        self._slots = slots
        # A thread for each call: which of them has its turn is decided at the index.
        self._threads = anyio.CapacityLimiter(slots.most)

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
            with asked_by(session_named(given_arguments) or self._sessions(ctx)):
                reply = await self._in_thread(
                    lambda: self._answers.counted(row, given_arguments, engine_arguments)
                )
                if reply.sent is not None:
                    # Not before: a call that was cancelled is answered to nobody.
                    await anyio.to_thread.run_sync(self._answers.engine.note_sent, reply.sent)
        except RootsWanted:
            return InputRequiredResult(input_requests={ROOTS: ListRootsRequest()})
        except Exception as error:
            reply = failed(error)
        content = TextContent(type="text", text=reply.text)
        return CallToolResult(content=[content], is_error=reply.failed)

    async def _where(
        self, row: ToolRow, ctx: Context[Any, Any], arguments: CallArguments
    ) -> dict[str, object]:
        """Which worktree is meant, or which several; why those that are refused are."""
        if self._worktrees.may_mean_all and is_about_all(row, arguments):
            return {"path": ""}
        named = repositories_named(arguments)
        if not named:
            return {"path": await self._worktrees.chosen(path_named(arguments), ctx)}
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
        where = await self._where(row, ctx, arguments)
        engine_arguments = self._answers.engine_arguments(row, arguments, where)
        if row.tells_progress:
            engine_arguments["progress"] = progress_of(ctx)
        return engine_arguments

    async def _in_thread(self, work: Callable[[], Reply]) -> Reply:
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
