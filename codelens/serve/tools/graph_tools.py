"""The tools of the graph: the map, who uses what, who is hit by a change."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field

from codelens.engine.graph.relation_choice import Relation
from codelens.serve.tools import graph_shape, tool_descriptions
from codelens.serve.tools.tool_arguments import AsHandles, Form, MaxTokens, NoTruth, Path, Ref
from codelens.serve.tools.tool_call import Frame, Said, tool

_WALK_BUDGETS = 4
"""Budgets that a question about the graph may take: it looks at the files, and then it walks."""


class GraphTools:
    """cl_map, cl_related, cl_impact."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._walk_ms = frame.budget_ms * _WALK_BUDGETS

    async def map(
        self,
        ctx: Context,
        *,
        focus: Annotated[
            list[str],
            AsHandles,
            Field(description="Files, folders or handles to center on."),
        ] = [],  # noqa: B006
        query: Annotated[str, Field(description="Words to center on.")] = "",
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 2000,
    ) -> CallToolResult:
        """See `descriptions.MAP`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.map(
                focus,
                query=query,
                path=where,
                ref=ref or None,
                max_tokens=graph_shape.of_map(max_tokens),
                budget_ms=self._walk_ms,
            )
            return Said(graph_shape.map_(answer, format, max_tokens))

        return await self._frame.answer(ctx, path, work)

    async def related(  # noqa: PLR0913 - each is an argument of the tool
        self,
        ctx: Context,
        *,
        target: Annotated[
            str,
            Field(
                description="src/auth.py#Session.validate, src/auth.py, src/auth, or a unique name."
            ),
        ],
        to: Annotated[str, Field(description="Show paths to this definition.")] = "",
        kinds: Annotated[
            list[Relation],
            Field(description="Only these relations."),
        ] = [],  # noqa: B006
        paths: Annotated[
            int, Field(ge=1, le=20, description="Maximum paths, with to."), NoTruth
        ] = 3,
        direction: Annotated[
            Literal["both", "in", "out"],
            Field(description="in: its users; out: what it uses."),
        ] = "both",
        depth: Annotated[int, Field(ge=1, le=3, description="Maximum steps."), NoTruth] = 1,
        limit: Annotated[int, Field(ge=1, le=500, description="Maximum results."), NoTruth] = 40,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `descriptions.RELATED`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.related(
                target,
                to=to or None,
                path=where,
                ref=ref or None,
                kinds=kinds,
                direction=direction,
                depth=depth,
                paths=paths,
                limit=limit,
                budget_ms=self._walk_ms,
            )
            return Said(graph_shape.related(answer, format, max_tokens))

        return await self._frame.answer(ctx, path, work)

    async def impact(
        self,
        ctx: Context,
        *,
        targets: Annotated[
            list[str],
            AsHandles,
            Field(max_length=100, description="Handles, files, folders or names."),
        ] = [],  # noqa: B006
        diff: Annotated[
            str,
            Field(
                description="Instead of targets: what differs from this commit (HEAD: "
                "uncommitted work; main: all of a branch)."
            ),
        ] = "",
        depth: Annotated[int, Field(ge=1, le=5, description="Maximum steps."), NoTruth] = 3,
        limit: Annotated[int, Field(ge=1, le=500, description="Maximum results."), NoTruth] = 60,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `descriptions.IMPACT`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.impact(
                targets,
                diff=diff or None,
                path=where,
                ref=ref or None,
                depth=depth,
                limit=limit,
                budget_ms=self._walk_ms,
            )
            return Said(graph_shape.impact(answer, format, max_tokens))

        return await self._frame.answer(ctx, path, work)

    def listed(self) -> list[Tool]:
        """These tools as the SDK takes them."""
        return [
            tool("cl_map", tool_descriptions.MAP, self.map),
            tool("cl_related", tool_descriptions.RELATED, self.related),
            tool("cl_impact", tool_descriptions.IMPACT, self.impact),
        ]
