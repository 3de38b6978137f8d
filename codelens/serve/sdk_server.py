"""The MCP server on the SDK: prompts, tools and their calls.

Users select a prompt by name, in most clients as a slash command. Each prompt says which tool to
call with which arguments; the model does the rest.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import IO, Annotated, Any, cast, get_args

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolResult,
    InputRequiredResult,
    ListRootsRequest,
    TextContent,
    ToolAnnotations,
)
from pydantic import ConfigDict, Field, ValidationError

from codelens import __version__
from codelens.cancellation import Call
from codelens.engine.contexts.asking_session import Session, asked_by
from codelens.errors import CodelensError
from codelens.serve.call_answers import (
    CallAnswers,
    CallSlots,
    ClientCalls,
    Reply,
    failed,
    is_about_all,
    path_named,
    repositories_named,
    session_named,
)
from codelens.serve.call_worktree import WorktreeChoice
from codelens.serve.client_streams import Lines, Replies
from codelens.serve.client_workspaces import ROOTS, RootsWanted
from codelens.serve.first_turn import ALL
from codelens.serve.tool_arguments import annotation_of, normalized_arguments, refusal
from codelens.serve.tool_row import CallArguments, Hints, ToolRow
from codelens.serve.tool_table import ROWS, instructions


def search(
    query: Annotated[str, Field(description="Words, an identifier, a path or a sentence.")],
) -> str:
    """Find the code that does something."""
    return (
        f"Call cl_search with this query: {query}\n"
        "Read the best results with cl_expand, several handles at once, and answer with the "
        "handles that matter and why."
    )


def map_(
    focus: Annotated[
        str, Field(description="A file, a folder or words to center the map on; optional.")
    ] = "",
) -> str:
    """See what this repository is, where it starts and what matters in it."""
    near = (
        f"centered on: {focus}\nPass it as focus if it is a path or a handle, else as query."
        if focus
        else "of the whole repository."
    )
    return f"Call cl_map {near}\nThen say in a few lines how the code is laid out."


def impact(
    target: Annotated[
        str,
        Field(description="A handle, file or name; default: the uncommitted changes."),
    ] = "",
) -> str:
    """See what a change affects, and which tests to run."""
    arguments = f"targets [{target!r}]" if target else 'diff "HEAD"'
    return (
        f"Call cl_impact with {arguments}. Say what can break, nearest first, where the answer "
        "says "
        '"at least", and which tests to run.'
    )


def status() -> str:
    """See which worktree and branch answers come from, and how fresh the index is."""
    return (
        "Call cl_current and say in a few lines which worktree and branch answers come "
        "from and what was left out."
    )


def listed_prompts() -> list[Prompt]:
    """The prompts, for the SDK."""
    registered = [
        ("codelens-search", search),
        ("codelens-map", map_),
        ("codelens-impact", impact),
        ("codelens-status", status),
    ]
    return [
        Prompt.from_function(function, name=name, description=function.__doc__)
        for name, function in registered
    ]


# Progress of a long call.

logger = logging.getLogger(__name__)

_TELL_EVERY_S = 0.25
_LEAST_STEP = 0.001


def progress_of(ctx: Context[Any, Any]) -> Callable[[str, int, int], None]:
    """A callback that reports progress to the client a few times a second, from any thread."""
    last = 0.0
    lowest = 0.0

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last, lowest
        now = time.monotonic()
        if now - last < _TELL_EVERY_S:
            return
        last = now
        # MCP requires increasing values, but a new stage starts from 0: the message has its values.
        lowest = done if done > lowest else lowest + _LEAST_STEP
        progress_text = f"{stage}: {done:,} of {total:,} files"
        try:
            anyio.from_thread.run(ctx.report_progress, lowest, max(total, lowest), progress_text)
        except Exception as error:
            # The client is gone; the index is still updated.
            logger.debug("progress was not reported: %s", error)

    return tell


# Tools of the SDK, and their calls.


class ToolCalls:
    """Answers the calls that the SDK receives.

    Args:
        answers: asks the engine.
        worktrees: chooses the worktree of a call.
        sessions: finds the session of a call that names none.
        slots: limits the number of running calls.
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
        # One thread per call; the lock of the index decides which one runs.
        self._threads = anyio.CapacityLimiter(slots.most)

    async def answer(
        self, row: ToolRow, ctx: Context[Any, Any], given_arguments: CallArguments
    ) -> CallToolResult | InputRequiredResult:
        """Answer a call in its worktree; a failure becomes the text of the answer.

        If the client must first send its roots, the answer asks it to call again with them.

        Args:
            row: the tool.
            ctx: the context of the client's request.
            given_arguments: the arguments, as the row declares them.
        """
        try:
            engine_arguments = await self._engine_arguments(row, ctx, given_arguments)
            with asked_by(session_named(given_arguments) or self._sessions(ctx)):
                reply = await self._in_thread(
                    lambda: self._answers.counted(row, given_arguments, engine_arguments)
                )
                if reply.sent is not None:
                    # Recorded only now, because a cancelled call sends no answer.
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
        """The worktree or worktrees of a call, and the reasons for rejected ones."""
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
        """The arguments for the engine's method."""
        where = await self._where(row, ctx, arguments)
        engine_arguments = self._answers.engine_arguments(row, arguments, where)
        if row.tells_progress:
            engine_arguments["progress"] = progress_of(ctx)
        return engine_arguments

    async def _in_thread(self, work: Callable[[], Reply]) -> Reply:
        slot = self._slots.take()
        try:
            # The thread may be abandoned, since a client that leaves must not wait for running
            # work.
            reply = await anyio.to_thread.run_sync(
                slot.run, work, abandon_on_cancel=True, limiter=self._threads
            )
        finally:
            slot.close()
        assert reply is not None, "the slot is closed only after the work"
        return reply


class _Tool(Tool):
    """A tool that explains in plain sentences which arguments are invalid."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> object:
        """Run the tool with normalized arguments."""
        meant_arguments = normalized_arguments(self.parameters, arguments)
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
            # The call was answered or cancelled: stop its work in a thread.
            call.cancel()


_HINTS = {
    hints: ToolAnnotations(
        read_only_hint=hints == "reads",
        destructive_hint=hints == "removes",
        # This hint is redundant for a tool that only reads, and costs tokens in each list.
        idempotent_hint=None if hints == "reads" else True,
        open_world_hint=False,
    )
    for hints in get_args(Hints)
}
"""Cursor's Ask mode only accepts read-only tools."""


def tool(row: ToolRow, calls: ToolCalls) -> Tool:
    """The SDK's tool for a row."""

    async def answer(
        ctx: Context[Any, Any], **arguments: object
    ) -> CallToolResult | InputRequiredResult:
        return await calls.answer(row, ctx, arguments)

    # The SDK derives the schema from a signature.
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
        # A declared output schema broke clients of a similar server.
        structured_output=False,
    )
    loose = registered.fn_metadata.arg_model

    class Strict(loose):
        """Rejects unknown arguments, which the SDK would silently drop.

        A number for a text argument becomes its digits, such as the query 404.
        """

        model_config = ConfigDict(extra="forbid", title=row.name, coerce_numbers_to_str=True)

    registered.fn_metadata.arg_model = Strict
    registered.parameters = _without_titles(registered.parameters)
    return registered


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without titles: they only repeat names and cost every client tokens."""
    properties: dict[str, dict[str, Any]] = schema["properties"]
    bare = {
        name: {key: value for key, value in property_schema.items() if key != "title"}
        for name, property_schema in properties.items()
    }
    without_titles = {key: value for key, value in schema.items() if key != "title"}
    return {**without_titles, "properties": bare}


# The SDK's server with the tools of a profile, on the streams of `client_streams`.


class _Server(MCPServer[Any]):
    """Explains how to enable a tool that this server does not list."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        listed = {list_tool.name for list_tool in await self.list_tools()}
        if name in ALL and name not in listed:
            raise ToolError(
                f"{name} is not a tool of this server; to enable it, set CODELENS_TOOLS=all "
                f'in the env of the MCP entry (or tools = "all" in ~/.codelens/config.toml) and '
                "restart the server; the command line also has it: `codelens help`"
            )
        return await super().call_tool(name, arguments, context)


def sdk_server_for(client_calls: ClientCalls, names: Sequence[str]) -> MCPServer[Any]:
    """Create a server that shares parts and call slots with the calls that need no SDK.

    It does not run yet, and lists the tools with these names.
    """
    sessions = client_calls.sessions
    calls = ToolCalls(
        client_calls.answers,
        client_calls.worktrees,
        lambda context: sessions.of_call(context.request_context.meta or {}),
        client_calls.slots,
    )
    return server_of(calls, names)


def server_of(calls: ToolCalls, names: Sequence[str]) -> MCPServer[Any]:
    """Create a server with these tools and the prompts; it does not run yet."""
    server: MCPServer[Any] = _Server(
        "codelens",
        version=__version__,
        instructions=instructions(names),
        tools=[tool(ROWS[name], calls) for name in names if name in ROWS],
        log_level="WARNING",
    )
    for prompt in listed_prompts():
        server.add_prompt(prompt)
    return server


def run(server: MCPServer[Any], lines: Lines, replies: Replies) -> None:
    """Serve a client until its lines end."""
    anyio.run(_run, server, lines, replies)


async def _run(server: MCPServer[Any], lines: Lines, replies: Replies) -> None:
    # The SDK has no public function that accepts other streams.
    lowlevel = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    options = lowlevel.create_initialization_options()
    source, sink = (
        anyio.wrap_file(cast("IO[str]", lines)),
        anyio.wrap_file(cast("IO[str]", replies)),
    )
    async with stdio_server(source, sink) as (read, write):
        await lowlevel.run(read, write, options)
