"""What all tools share: the worktree that is meant, the thread, failures, the schema."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ConfigDict, ValidationError

from codelens.bytecode import damaged_copy
from codelens.engine.engine import Engine
from codelens.engine.usage import usage_counter
from codelens.errors import CodelensError
from codelens.serve.call_worktree import Worktrees
from codelens.serve.tools.argument_errors import refusal
from codelens.serve.tools.tool_arguments import as_meant

logger = logging.getLogger(__name__)


class Said(NamedTuple):
    """The text of an answer, and whether it tells of a failure."""

    text: str
    failed: bool = False


class Frame:
    """What the tools of one server stand on.

    Args:
        engine: its methods may be called from any thread.
        worktrees: says which worktree a call is about.
        budget_ms: how long a look at the files may take.
    """

    def __init__(self, engine: Engine, worktrees: Worktrees, budget_ms: float) -> None:
        self.engine = engine
        self.budget_ms = budget_ms
        self._worktrees = worktrees

    async def answer(
        self, ctx: Context, path: str, work: Callable[[str], Said], *, everywhere: bool = False
    ) -> CallToolResult:
        """Run `work` in a thread, on the worktree that is meant; any failure becomes its text.

        With `everywhere` the question is about all worktrees unless `path` names one.
        """
        try:
            everything = everywhere and not path
            where = "" if everything else await self._worktrees.chosen(path, ctx)

            def counted(where: str) -> Said:
                size = 0
                try:
                    said = work(where)
                    size = len(said.text.encode("utf-8", "replace"))
                    return said
                finally:
                    usage_counter.served(size)

            # Abandoned: a client that leaves must not be kept waiting by a look under way.
            said = await anyio.to_thread.run_sync(counted, where, abandon_on_cancel=True)
        except CodelensError as error:
            # Late: of the shapes of answers a server that never fails needs none here.
            from codelens.serve.tools.reading_shape import head

            rows = [head(error.receipt)] if error.receipt is not None else []
            said = Said("\n".join([*rows, error.in_call]), True)
        except Exception as error:
            logger.exception("a tool failed")
            what = f"unexpected {type(error).__name__}: {error}"
            said = Said(damaged_copy(error) or f"{what}; this is a bug in codelens", True)
        content = TextContent(type="text", text=said.text)
        return CallToolResult(content=[content], is_error=said.failed)


class _Tool(Tool):
    """A tool that tells in plain sentences which arguments it cannot take."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> object:
        """As the SDK's, with the arguments as they are meant."""
        given = as_meant(self.parameters, arguments)
        try:
            return await super().run(given, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                said = refusal(self.name, self.parameters, error.__cause__)
                raise ToolError(said) from error.__cause__
            raise


READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""It only reads; Cursor's Ask mode takes no other tools."""
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""It keeps something; asked twice it does nothing more."""
REMOVES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
"""It takes away something that was kept."""


def tool(
    name: str, description: str, function: Callable[..., Any], hints: ToolAnnotations = READS
) -> Tool:
    """A tool as the SDK takes it."""
    made = _Tool.from_function(
        function,
        name=name,
        description=description,
        annotations=hints,
        # A declared output schema broke clients of a peer.
        structured_output=False,
    )
    loose = made.fn_metadata.arg_model

    class Strict(loose):
        """The SDK drops arguments that a tool does not have in silence; this refuses them.

        A number where a text is meant is its digits: 404 is searched for, 30d is a time.
        """

        model_config = ConfigDict(extra="forbid", title=name, coerce_numbers_to_str=True)

    made.fn_metadata.arg_model = Strict
    made.parameters = _without_titles(made.parameters)
    return made


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the titles that only repeat names: every client pays for their tokens."""
    properties: dict[str, dict[str, Any]] = schema["properties"]
    bare = {
        name: {key: value for key, value in one.items() if key != "title"}
        for name, one in properties.items()
    }
    kept = {key: value for key, value in schema.items() if key != "title"}
    return {**kept, "properties": bare}
