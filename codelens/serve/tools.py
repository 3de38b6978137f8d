"""The tools: each works out the worktree, asks the engine in a thread, and shapes the answer.

The descriptions are written for a model: the first sentence is the question that a tool answers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from codelens.engine.engine import Engine
from codelens.errors import BareRepository, CodelensError, RefusedFolder
from codelens.serve import graph_shape, shape
from codelens.serve.refusal import refusal
from codelens.serve.worktree import Worktrees

logger = logging.getLogger(__name__)


def _no_truth(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a truth value is no number")  # noqa: TRY004 - pydantic takes no other
    return value


# Python takes true for 1. Last in its line: before a `Field` it hides the bounds in the schema.
_NoTruth = BeforeValidator(_no_truth)

Path = Annotated[
    str,
    Field(
        description="Any absolute path inside the worktree you mean; give it when you work in "
        "another worktree than the server was started in. It does not narrow a search: use globs."
    ),
]
Ref = Annotated[
    str,
    Field(description="Branch, tag or commit to read instead of the files on disk; no checkout."),
]
Form = Annotated[
    Literal["concise", "detailed", "json"],
    Field(description="concise text, detailed text, or one JSON object"),
]
MaxTokens = Annotated[
    int,
    Field(ge=200, le=100_000, description="Length of the answer at most, in tokens."),
    _NoTruth,
]

# Models pass one name where a list is meant; there is only one thing they can mean.
_AsList = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)

SEARCH = """Where is the code that does X? Ranked places for words, an identifier, a path or a \
sentence, true for the files of this worktree as they are now, uncommitted edits included. Each \
line is a handle (path#Symbol or path:lines; give it to cl_expand), lines, kind, signature or best \
line, and why it is there; `+3 alike` are near-copies left out, `also` are more places of that \
file. Use it before grep or reading whole files."""
EXPAND = """What does the code at these handles say right now? Reads one or many handles at once, \
always from the disk (or the git object for a ref): path#Symbol, path:10-42, path, a bare symbol \
name, or ref:handle. A symbol that moved is followed and the answer says so; one that is gone \
gives the nearest candidates."""
OUTLINE = """What is in this file or folder, without reading it? Every definition with its lines, \
signature and first line of doc, and the cost in tokens of reading the whole file. A folder gives \
its files folded and its sub-folders with counts."""
CURRENT = """Which repository, worktree and branch do answers come from, and how fresh is the \
index? Also uncommitted changes, languages, files left out and why, submodules, nested and other \
worktrees."""

RELATED = """Who calls this, what does it call, who imports, derives from, overrides or tests it? \
Certain edges only, resolved by scopes, imports and types; uses that could not be resolved are \
counted, so "at least" is said where it is meant. With to: the paths along which target uses \
another definition. Use it before a rename, and instead of grepping for a name."""
IMPACT = """What can break if I change this, and which tests should I run? Who uses the targets, \
through others or not, by distance. With diff (a commit, HEAD for uncommitted work) the targets \
are the definitions that differ from it in the files as they are now."""
MAP = """What is this repository, where does it begin and what matters in it? Files ranked by how \
much others use them, with their main definitions folded, entry points, languages and the most \
used definitions, within max_tokens. focus (files, folders, handles) or query draws it near a \
part."""

INSTRUCTIONS = """codelens searches the code of the worktree you stand in, true for its files as \
they are now. There is nothing to set up and nothing to re-index.
cl_search finds places and gives handles; cl_expand reads handles, several at once; cl_outline \
folds a file or folder; cl_map is the repository at a glance; cl_related tells who uses what, \
cl_impact who is hit by a change and which tests to run; cl_current tells which worktree and \
branch is answered for.
Every answer starts with a receipt: fresh, or partial with the files not looked at yet (ask again \
a moment later). In another worktree pass path, an absolute path inside it; for code that is not \
checked out pass ref."""


_SHOWN = 10


class _Said(NamedTuple):
    text: str
    failed: bool = False


class Tools:
    """The tools of one server.

    Args:
        engine: its methods may be called from any thread.
        worktrees: says which worktree a call is about.
        budget_ms: how long a look at the files may take.
    """

    def __init__(self, engine: Engine, worktrees: Worktrees, budget_ms: float) -> None:
        self._engine = engine
        self._worktrees = worktrees
        self._budget_ms = budget_ms

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
            list[str], _AsList, Field(description="Only these languages, such as python, go.")
        ] = [],  # noqa: B006 - never changed
        globs: Annotated[
            list[str],
            _AsList,
            Field(description="Only paths like these (src/**/*.py); !glob leaves out."),
        ] = [],  # noqa: B006
        kinds: Annotated[
            list[str],
            _AsList,
            Field(description="Only these kinds of definition, such as function, class."),
        ] = [],  # noqa: B006
        content: Annotated[
            Literal["all", "code", "prose"], Field(description="Code, prose (docs) or both.")
        ] = "all",
        limit: Annotated[
            int, Field(ge=1, le=100, description="Results at most."), _NoTruth
        ] = _SHOWN,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 4000,
    ) -> CallToolResult:
        """See `SEARCH`."""

        def work(where: str) -> _Said:
            answer = self._engine.search(
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
                budget_ms=self._budget_ms,
            )
            brief = mode == "auto" and limit <= _SHOWN
            return _Said(shape.search(answer, format, max_tokens, brief=brief))

        return await self._answer(ctx, path, work)

    async def expand(
        self,
        ctx: Context,
        *,
        handles: Annotated[
            list[str],
            _AsList,
            Field(
                min_length=1,
                max_length=100,
                description="Handles from cl_search or cl_outline: src/auth.py#Session.validate, "
                "src/auth.py:10-42, src/auth.py, validate, feature-b:src/auth.py#Session",
            ),
        ],
        context: Annotated[
            int, Field(ge=0, le=1000, description="Lines to add before and after."), _NoTruth
        ] = 0,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 8000,
    ) -> CallToolResult:
        """See `EXPAND`."""

        def work(where: str) -> _Said:
            answer = self._engine.expand(
                handles,
                path=where,
                ref=ref or None,
                context=context,
                # A line costs a token at the least.
                max_lines=max_tokens,
                budget_ms=self._budget_ms,
            )
            failed = all(one.error for one in answer.items)
            return _Said(shape.expand(answer, format, max_tokens), failed)

        return await self._answer(ctx, path, work)

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
        """See `OUTLINE`."""

        def work(where: str) -> _Said:
            answer = self._engine.outline(
                target, path=where, ref=ref or None, budget_ms=self._budget_ms
            )
            return _Said(shape.outline(answer, format, max_tokens))

        return await self._answer(ctx, path, work)

    async def map(
        self,
        ctx: Context,
        *,
        focus: Annotated[
            list[str],
            _AsList,
            Field(description="Files, folders or handles near which to draw the map."),
        ] = [],  # noqa: B006
        query: Annotated[str, Field(description="Words: draw it near what they find.")] = "",
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 2000,
    ) -> CallToolResult:
        """See `MAP`."""

        def work(where: str) -> _Said:
            answer = self._engine.map(
                focus,
                query=query,
                path=where,
                ref=ref or None,
                max_tokens=max_tokens,
                budget_ms=self._budget_ms,
            )
            return _Said(graph_shape.map_(answer, format, max_tokens))

        return await self._answer(ctx, path, work)

    async def related(  # noqa: PLR0913 - each is an argument of the tool
        self,
        ctx: Context,
        *,
        target: Annotated[
            str,
            Field(
                description="src/auth.py#Session.validate, src/auth.py, or a name that one "
                "definition alone has."
            ),
        ],
        to: Annotated[str, Field(description="Paths from target to this definition.")] = "",
        kinds: Annotated[
            list[
                Literal[
                    "callers",
                    "callees",
                    "users",
                    "uses",
                    "importers",
                    "imports",
                    "bases",
                    "subtypes",
                    "overrides",
                    "overridden",
                    "tests",
                ]
            ],
            _AsList,
            Field(description="Only these relations."),
        ] = [],  # noqa: B006
        direction: Annotated[
            Literal["both", "in", "out"],
            Field(description="in: who uses it; out: what it uses."),
        ] = "both",
        depth: Annotated[int, Field(ge=1, le=3, description="Steps at most."), _NoTruth] = 1,
        limit: Annotated[int, Field(ge=1, le=500, description="Results at most."), _NoTruth] = 40,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `RELATED`."""

        def work(where: str) -> _Said:
            answer = self._engine.related(
                target,
                to=to or None,
                path=where,
                ref=ref or None,
                kinds=kinds,
                direction=direction,
                depth=depth,
                limit=limit,
                budget_ms=self._budget_ms,
            )
            return _Said(graph_shape.related(answer, format, max_tokens))

        return await self._answer(ctx, path, work)

    async def impact(
        self,
        ctx: Context,
        *,
        targets: Annotated[
            list[str],
            _AsList,
            Field(max_length=100, description="Handles, files or names; none with diff."),
        ] = [],  # noqa: B006
        diff: Annotated[
            str,
            Field(
                description="Instead of targets: what differs from this commit now (HEAD: "
                "uncommitted work, untracked files too; main: all of a branch)."
            ),
        ] = "",
        depth: Annotated[int, Field(ge=1, le=5, description="Steps at most."), _NoTruth] = 3,
        limit: Annotated[int, Field(ge=1, le=500, description="Results at most."), _NoTruth] = 60,
        path: Path = "",
        ref: Ref = "",
        format: Form = "concise",
        max_tokens: MaxTokens = 3000,
    ) -> CallToolResult:
        """See `IMPACT`."""

        def work(where: str) -> _Said:
            answer = self._engine.impact(
                targets,
                diff=diff or None,
                path=where,
                ref=ref or None,
                depth=depth,
                limit=limit,
                budget_ms=self._budget_ms,
            )
            return _Said(graph_shape.impact(answer, format, max_tokens))

        return await self._answer(ctx, path, work)

    async def current(
        self,
        ctx: Context,
        *,
        path: Path = "",
        format: Form = "concise",
    ) -> CallToolResult:
        """See `CURRENT`."""

        def work(where: str) -> _Said:
            answer = self._engine.status(path=where, budget_ms=self._budget_ms)
            return _Said(shape.current(answer, format))

        return await self._answer(ctx, path, work)

    async def _answer(
        self, ctx: Context, path: str, work: Callable[[str], _Said]
    ) -> CallToolResult:
        """Run `work` in a thread, on the worktree that is meant; any failure becomes its text."""
        try:
            where = await self._worktrees.chosen(path, ctx)
            # Abandoned: a client that leaves must not be kept waiting by a look under way.
            said = await anyio.to_thread.run_sync(work, where, abandon_on_cancel=True)
        except RefusedFolder as error:
            remedy = "pass path, an absolute path inside your project"
            said = _Said(f"refusing to index {error.path!r}: it is {error.why}; {remedy}", True)
        except BareRepository as error:
            remedy = "pass ref, a branch, tag or commit"
            said = _Said(f"{error.path!r} is a bare repository and has no files; {remedy}", True)
        except CodelensError as error:
            said = _Said(str(error), True)
        except Exception as error:
            logger.exception("a tool failed")
            what = f"unexpected {type(error).__name__}: {error}"
            said = _Said(f"{what}; this is a fault of codelens", True)
        content = TextContent(type="text", text=said.text)
        return CallToolResult(content=[content], is_error=said.failed)


class _Tool(Tool):
    """A tool that tells in plain sentences which arguments it cannot take."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> object:
        """As the SDK's; `null` for an argument that may be left out counts as left out."""
        required: list[str] = self.parameters.get("required", [])
        given = {
            name: value
            for name, value in arguments.items()
            if value is not None or name in required or name not in self.parameters["properties"]
        }
        try:
            return await super().run(given, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                said = refusal(self.name, self.parameters, error.__cause__)
                raise ToolError(said) from error.__cause__
            raise


def listed(tools: Tools) -> list[Tool]:
    """The tools as the SDK takes them."""
    return [
        _tool("cl_search", SEARCH, tools.search),
        _tool("cl_expand", EXPAND, tools.expand),
        _tool("cl_outline", OUTLINE, tools.outline),
        _tool("cl_map", MAP, tools.map),
        _tool("cl_related", RELATED, tools.related),
        _tool("cl_impact", IMPACT, tools.impact),
        _tool("cl_current", CURRENT, tools.current),
    ]


def _tool(name: str, description: str, function: Callable[..., Any]) -> Tool:
    tool = _Tool.from_function(
        function,
        name=name,
        description=description,
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        # A declared output schema broke clients of a peer.
        structured_output=False,
    )
    loose = tool.fn_metadata.arg_model

    class Strict(loose):
        """The SDK drops arguments that a tool does not have in silence; this refuses them."""

        model_config = ConfigDict(extra="forbid", title=name)

    tool.fn_metadata.arg_model = Strict
    tool.parameters = _without_titles(tool.parameters)
    return tool


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the titles that only repeat names: every client pays for their tokens."""
    properties: dict[str, dict[str, Any]] = schema["properties"]
    bare = {
        name: {key: value for key, value in one.items() if key != "title"}
        for name, one in properties.items()
    }
    kept = {key: value for key, value in schema.items() if key != "title"}
    return {**kept, "properties": bare}
