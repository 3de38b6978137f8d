"""The tools that keep what was learned: save, load, forget."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field

from codelens.serve.tools import context_shape, tool_descriptions
from codelens.serve.tools.tool_arguments import (
    AsHandles,
    AsList,
    AsWords,
    Form,
    MaxTokens,
    NoTruth,
    Path,
    Ref,
)
from codelens.serve.tools.tool_call import REMOVES, WRITES, Frame, Said, tool

Category = Literal["decision", "pattern", "bug_fix", "architecture", "convention", "note"]
Tags = Annotated[list[str], AsWords, Field(max_length=50, description="Words to filter by.")]


class MemoryTools:
    """cl_save, cl_load, cl_forget."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def save(  # noqa: PLR0913 - each is an argument of the tool
        self,
        ctx: Context,
        *,
        name: Annotated[str, Field(description="One line, such as auth-flow.")],
        note: Annotated[str, Field(description="What is worth knowing; no code.")] = "",
        handles: Annotated[
            list[str],
            AsHandles,
            Field(
                max_length=200,
                description="What the note is about, as cl_search gives them.",
            ),
        ] = [],  # noqa: B006 - never changed
        category: Category = "note",
        tags: Tags = [],  # noqa: B006
        pin: Annotated[bool, Field(description="Never expires and is listed first.")] = False,
        ttl: Annotated[
            str, Field(description="How long it is shown: 12h, 30d, 2w; empty: forever.")
        ] = "",
        replace: Annotated[bool, Field(description="Replace the note of this name.")] = False,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
    ) -> CallToolResult:
        """See `descriptions.SAVE`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.save(
                name,
                note,
                handles,
                category=category,
                tags=tags,
                pinned=pin,
                ttl=ttl,
                replace=replace,
                path=where,
                ref=ref or None,
                budget_ms=self._frame.budget_ms,
            )
            return Said(context_shape.save(answer, format))

        return await self._frame.answer(ctx, path, work)

    async def load(
        self,
        ctx: Context,
        *,
        query: Annotated[str, Field(description="A name, or words; empty lists all.")] = "",
        category: Literal[Category, ""] = "",
        tags: Tags = [],  # noqa: B006
        limit: Annotated[int, Field(ge=1, le=200, description="Maximum results."), NoTruth] = 20,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 4000,
    ) -> CallToolResult:
        """See `descriptions.LOAD`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.load(
                query,
                category=category,
                tags=tags,
                limit=limit,
                path=where,
                ref=ref or None,
                budget_ms=self._frame.budget_ms,
            )
            lost = bool(answer.former) and not answer.results
            narrowed = bool(category or tags)
            return Said(context_shape.load(answer, format, max_tokens, narrowed=narrowed), lost)

        return await self._frame.answer(ctx, path, work)

    async def forget(
        self,
        ctx: Context,
        *,
        names: Annotated[
            list[str], AsList, Field(max_length=200, description="Names of saved notes.")
        ] = [],  # noqa: B006
        expired: Annotated[bool, Field(description="Instead of names: all expired ones.")] = False,
        path: Path = "",
    ) -> CallToolResult:
        """See `descriptions.FORGET`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.forget(names, expired=expired, path=where)
            return Said(context_shape.forget(answer))

        return await self._frame.answer(ctx, path, work)

    def listed(self) -> list[Tool]:
        """These tools as the SDK takes them."""
        return [
            tool("cl_save", tool_descriptions.SAVE, self.save, WRITES),
            tool("cl_load", tool_descriptions.LOAD, self.load),
            tool("cl_forget", tool_descriptions.FORGET, self.forget, REMOVES),
        ]
