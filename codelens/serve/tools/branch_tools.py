"""The tools about branches and worktrees: what differs, since when, what will collide."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field

from codelens.serve.tools import branch_shape, tool_descriptions
from codelens.serve.tools.tool_arguments import AsHandles, Form, MaxTokens, NoTruth, Path, Ref
from codelens.serve.tools.tool_call import Frame, Said, tool

_BUDGETS = 4
"""Budgets that such a question may take: it looks at the files, compares, and walks the graph."""


class BranchTools:
    """cl_diff, cl_history, cl_conflicts."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._walk_ms = frame.budget_ms * _BUDGETS

    async def diff(
        self,
        ctx: Context,
        *,
        spec: Annotated[
            str,
            Field(description="REF, A..B or A...B; empty: from HEAD to the files as they are."),
        ] = "",
        other: Annotated[
            str, Field(description="A worktree's path or a ref, in place of these files.")
        ] = "",
        paths: Annotated[
            list[str], AsHandles, Field(description="Only these paths or globs.")
        ] = [],  # noqa: B006
        path: Path = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `tool_descriptions.DIFF`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.diff(
                spec, path=where, other=other, globs=paths, budget_ms=self._walk_ms
            )
            return Said(branch_shape.diff(answer, format, max_tokens))

        return await self._frame.answer(ctx, path, work)

    async def history(  # noqa: PLR0913 - each is an argument of the tool
        self,
        ctx: Context,
        *,
        target: Annotated[
            str, Field(description="A handle: src/auth.py#Session.validate; or a file.")
        ],
        limit: Annotated[int, Field(ge=1, le=500, description="Changes at most."), NoTruth] = 20,
        since: Annotated[str, Field(description="No older ones: 2026-01-31, or 14d.")] = "",
        patch: Annotated[bool, Field(description="With the definition's own diff.")] = False,
        together: Annotated[bool, Field(description="Count what changed with it.")] = False,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `tool_descriptions.HISTORY`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.history(
                target, path=where, ref=ref or None, limit=limit, since=since, patch=patch,
                together=together, budget_ms=self._walk_ms,
            )  # fmt: skip
            return Said(branch_shape.history(answer, format, max_tokens))

        return await self._frame.answer(ctx, path, work)

    async def conflicts(
        self,
        ctx: Context,
        *,
        others: Annotated[
            list[str],
            AsHandles,
            Field(
                description="Worktrees by path, folder name or branch, and refs; none: all "
                "worktrees and recent branches."
            ),
        ] = [],  # noqa: B006
        path: Path = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `tool_descriptions.CONFLICTS`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.conflicts(
                path=where, others=others, budget_ms=self._walk_ms
            )
            return Said(branch_shape.conflicts(answer, format, max_tokens))

        return await self._frame.answer(ctx, path, work)

    def listed(self) -> list[Tool]:
        """These tools as the SDK takes them."""
        return [
            tool("cl_diff", tool_descriptions.DIFF, self.diff),
            tool("cl_history", tool_descriptions.HISTORY, self.history),
            tool("cl_conflicts", tool_descriptions.CONFLICTS, self.conflicts),
        ]
