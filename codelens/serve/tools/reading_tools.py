"""The tools that find and read code: search, expand, outline, and where one stands."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field

from codelens.serve.tools import reading_shape, tool_descriptions
from codelens.serve.tools.tool_arguments import (
    AsGlobs,
    AsHandles,
    AsWords,
    Form,
    MaxTokens,
    NoTruth,
    Path,
    Ref,
)
from codelens.serve.tools.tool_call import Frame, Said, tool

_SHOWN = 10


class ReadingTools:
    """cl_search, cl_expand, cl_outline, cl_current."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def search(  # noqa: PLR0913 - each is an argument of the tool
        self,
        ctx: Context,
        *,
        query: Annotated[
            str,
            Field(description="Words, an identifier, a path, a sentence; by mode text or regex."),
        ],
        mode: Annotated[
            Literal["auto", "symbol", "text", "regex", "path"],
            Field(
                description="auto ranks words; symbol: definitions by name; text: lines with "
                "exactly this text; regex: lines that match; path: files by name"
            ),
        ] = "auto",
        languages: Annotated[
            list[str], AsWords, Field(description="Only these languages, such as python, go.")
        ] = [],  # noqa: B006 - never changed
        globs: Annotated[
            list[str],
            AsGlobs,
            Field(description="Only paths like these (src/**/*.py); !glob leaves out."),
        ] = [],  # noqa: B006
        kinds: Annotated[
            list[str],
            AsWords,
            Field(description="Only these kinds of definition, such as function, class."),
        ] = [],  # noqa: B006
        content: Annotated[
            Literal["all", "code", "prose"], Field(description="Code, prose (docs) or both.")
        ] = "all",
        limit: Annotated[
            int, Field(ge=1, le=100, description="Results at most."), NoTruth
        ] = _SHOWN,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 4000,
    ) -> CallToolResult:
        """See `descriptions.SEARCH`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.search(
                query,
                path=where,
                ref=ref or None,
                mode=mode,
                languages=languages,
                globs=globs,
                kinds=kinds,
                content=content,
                limit=limit,
                explain=format == "detailed",
                budget_ms=self._frame.budget_ms,
            )
            brief = mode == "auto" and limit <= _SHOWN
            return Said(reading_shape.search(answer, format, max_tokens, brief=brief))

        return await self._frame.answer(ctx, path, work)

    async def expand(
        self,
        ctx: Context,
        *,
        handles: Annotated[
            list[str],
            AsHandles,
            Field(
                min_length=1,
                max_length=100,
                description="Handles from cl_search or cl_outline: src/auth.py#Session.validate, "
                "src/auth.py:10-42, src/auth.py, validate, feature-b:src/auth.py#Session",
            ),
        ],
        context: Annotated[
            int, Field(ge=0, le=1000, description="Lines to add before and after."), NoTruth
        ] = 0,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 8000,
    ) -> CallToolResult:
        """See `descriptions.EXPAND`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.expand(
                handles,
                path=where,
                ref=ref or None,
                context=context,
                # A line costs a token at the least.
                max_lines=max_tokens,
                budget_ms=self._frame.budget_ms,
            )
            failed = all(one.error for one in answer.items)
            return Said(reading_shape.expand(answer, format, max_tokens), failed)

        return await self._frame.answer(ctx, path, work)

    async def outline(
        self,
        ctx: Context,
        *,
        target: Annotated[
            str,
            Field(
                description="A file, folder or handle, relative to the worktree's root; . is all."
            ),
        ] = ".",
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 4000,
    ) -> CallToolResult:
        """See `descriptions.OUTLINE`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.outline(
                target, path=where, ref=ref or None, budget_ms=self._frame.budget_ms
            )
            return Said(reading_shape.outline(answer, format, max_tokens))

        return await self._frame.answer(ctx, path, work)

    async def current(
        self,
        ctx: Context,
        *,
        path: Path = "",
        format: Form = "concise",
    ) -> CallToolResult:
        """See `descriptions.CURRENT`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.status(path=where, budget_ms=self._frame.budget_ms)
            return Said(reading_shape.current(answer, format))

        return await self._frame.answer(ctx, path, work)

    def listed(self) -> list[Tool]:
        """These tools as the SDK takes them."""
        return [
            tool("cl_search", tool_descriptions.SEARCH, self.search),
            tool("cl_expand", tool_descriptions.EXPAND, self.expand),
            tool("cl_outline", tool_descriptions.OUTLINE, self.outline),
            tool("cl_current", tool_descriptions.CURRENT, self.current),
        ]
