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
_WALK_BUDGETS = 4
"""Budgets that a task may take: it looks at the files, ranks, and follows edges."""


class ReadingTools:
    """cl_search, cl_explore, cl_expand, cl_outline, cl_current."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    async def search(  # noqa: PLR0913 - each is an argument of the tool
        self,
        ctx: Context,
        *,
        query: Annotated[
            str,
            Field(description="Words, an identifier, a path, a sentence."),
        ],
        mode: Annotated[
            Literal["auto", "symbol", "text", "regex", "path"],
            Field(
                description="symbol: definitions by name; text, regex: lines; path: files by name"
            ),
        ] = "auto",
        languages: Annotated[list[str], AsWords, Field(description="Such as python, go.")] = [],  # noqa: B006 - never changed
        globs: Annotated[
            list[str],
            AsGlobs,
            Field(description="Only these paths: src/**/*.py; !glob excludes."),
        ] = [],  # noqa: B006
        kinds: Annotated[
            list[str],
            AsWords,
            Field(description="Kinds of definition, such as function, class."),
        ] = [],  # noqa: B006
        content: Annotated[
            Literal["all", "code", "prose"], Field(description="Code, docs or both.")
        ] = "all",
        limit: Annotated[
            int, Field(ge=1, le=100, description="Maximum results."), NoTruth
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

    async def explore(  # noqa: PLR0913 - each is an argument of the tool
        self,
        ctx: Context,
        *,
        task: Annotated[
            str,
            Field(description="The whole task; names, paths, traces in it count."),
        ],
        intent: Annotated[
            Literal["auto", "debug", "refactor", "modify", "explore"],
            Field(description="Which neighbours to add."),
        ] = "auto",
        languages: Annotated[list[str], AsWords] = [],  # noqa: B006
        globs: Annotated[list[str], AsGlobs] = [],  # noqa: B006
        kinds: Annotated[list[str], AsWords] = [],  # noqa: B006
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 8000,
    ) -> CallToolResult:
        """See `descriptions.EXPLORE`."""

        def work(where: str) -> Said:
            answer = self._frame.engine.explore(
                task,
                max_tokens=max_tokens,
                intent=None if intent == "auto" else intent,
                path=where,
                ref=ref or None,
                languages=languages,
                globs=globs,
                kinds=kinds,
                budget_ms=self._frame.budget_ms * _WALK_BUDGETS,
            )
            return Said(reading_shape.explore(answer, format, max_tokens))

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
                description="src/auth.py#Session.validate, src/auth.py:10-42, src/auth.py, "
                "validate, feature-b:src/auth.py#Session",
            ),
        ],
        context: Annotated[
            int, Field(ge=0, le=1000, description="Lines before and after."), NoTruth
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
            Field(description="File, folder or handle; . is the whole worktree."),
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
            tool("cl_explore", tool_descriptions.EXPLORE, self.explore),
            tool("cl_expand", tool_descriptions.EXPAND, self.expand),
            tool("cl_outline", tool_descriptions.OUTLINE, self.outline),
            tool("cl_current", tool_descriptions.CURRENT, self.current),
        ]
