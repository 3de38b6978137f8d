"""The tools of the index itself: bring it up to date with progress, prune it, drop from it."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from typing import Annotated, Literal

import anyio.from_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field

from codelens.render import token_budget, upkeep_text
from codelens.serve.tools import reading_shape, tool_descriptions
from codelens.serve.tools.tool_arguments import Form, MaxTokens, Path, Ref
from codelens.serve.tools.tool_call import REMOVES, WRITES, Frame, Said, tool

logger = logging.getLogger(__name__)

_TELL_EVERY_S = 0.25
_LEAST_STEP = 0.001
_WHICH_VIEW = (
    "pass view (a branch, ref, worktree folder, or an id of cl_index with action status), or "
    "repository: true for the whole index; not both"
)


class UpkeepTools:
    """cl_index, cl_prune, cl_drop."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def index(
        self,
        ctx: Context,
        *,
        action: Annotated[
            Literal["sync", "create", "rebuild", "status"],
            Field(
                description="sync: update it completely; create: the same, for a first "
                "index; rebuild: delete the repository's index and build it again; status: every "
                "index and view, its size, age, last use, and why it would go or not."
            ),
        ] = "sync",
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `descriptions.INDEX`."""

        def work(where: str) -> Said:
            if action == "status":
                found = self._frame.engine.overview(only=where or None)
                if format == "json":
                    return Said(
                        token_budget.fitted_json(
                            upkeep_text.overview_json(found), "results", max_tokens
                        )
                    )
                return Said(_fitted(upkeep_text.overview_lines(found), max_tokens))
            answer = self._frame.engine.bring(
                path=where, ref=ref or None, rebuild=action == "rebuild", progress=_told(ctx)
            )
            return Said(reading_shape.current(answer, format))

        return await self._frame.answer(ctx, path, work, everywhere=action == "status")

    async def prune(
        self,
        ctx: Context,
        *,
        dry_run: Annotated[bool, Field(description="Only show what would be removed.")] = True,
        path: Path = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `descriptions.PRUNE`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.prune(dry_run=dry_run, only=where or None)
            if format == "json":
                return Said(json.dumps(upkeep_text.prune_json(answer), ensure_ascii=False))
            text = _fitted(upkeep_text.prune_lines(answer), max_tokens)
            return Said(text.replace("--yes removes them", "dry_run false removes them"))

        return await self._frame.answer(ctx, path, work, everywhere=True)

    async def drop(
        self,
        ctx: Context,
        *,
        view: Annotated[
            str,
            Field(description="A branch, ref, worktree folder, or an id of cl_index status."),
        ] = "",
        repository: Annotated[
            bool, Field(description="Instead of a view, the repository's whole index.")
        ] = False,
        force: Annotated[bool, Field(description="Also active or pinned views.")] = False,
        path: Path = "",
        format: Form = "concise",
    ) -> CallToolResult:
        """See `descriptions.DROP`."""

        def work(where: str) -> Said:
            if bool(view) == repository:
                return Said(_WHICH_VIEW, True)
            engine = self._frame.engine
            if view:
                done = engine.drop(view, path=where, force=force)
            else:
                done = engine.drop_repository(path=where, force=force)
            if format == "json":
                return Said(json.dumps(upkeep_text.dropped_json(done), ensure_ascii=False))
            return Said("\n".join(upkeep_text.dropped_lines(done)))

        return await self._frame.answer(ctx, path, work)

    def listed(self) -> list[Tool]:
        """These tools as the SDK takes them."""
        return [
            tool("cl_index", tool_descriptions.INDEX, self.index, WRITES),
            tool("cl_prune", tool_descriptions.PRUNE, self.prune, REMOVES),
            tool("cl_drop", tool_descriptions.DROP, self.drop, REMOVES),
        ]


def _fitted(lines: list[str], max_tokens: int) -> str:
    def more(left: int) -> str:
        return f"{left} more lines: call it with a higher max_tokens" if left else ""

    return token_budget.fitted((), lines, more, max_tokens).text


def _told(ctx: Context) -> Callable[[str, int, int], None]:
    """Progress for a client that asked for it, a few times a second; from the thread that works."""
    last = 0.0
    lowest = 0.0

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last, lowest
        now = time.monotonic()
        if now - last < _TELL_EVERY_S:
            return
        last = now
        # Every value must be more than the one before (MCP), and a stage may begin anew: what is
        # said of it stands in the message then.
        lowest = done if done > lowest else lowest + _LEAST_STEP
        said = f"{stage}: {done:,} of {total:,} files"
        try:
            anyio.from_thread.run(ctx.report_progress, lowest, max(total, lowest), said)
        except Exception as error:
            # A client that went away: the index is brought up to date all the same.
            logger.debug("progress was not told: %s", error)

    return tell
