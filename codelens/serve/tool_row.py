"""The types of tools and arguments: plain data, so that the first turn needs no SDK."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

CallArguments = Mapping[str, Any]
"""The arguments of a call by name, with the types that the tool's row declares."""


Takes = Literal["text", "truth", "number", "list", "words", "globs", "handles"]
"""`list` to `handles` are lists of strings; they differ in how one text is split into several."""


FOR_THE_RENDERER = ("format", "max_tokens")
"""Arguments for the renderer; the engine does not get them."""


FOR_THE_CALL = (*FOR_THE_RENDERER, "session")
"""Those, and the session of a call; the engine does not get them."""


Hints = Literal["reads", "writes", "removes"]


@dataclass(frozen=True)
class Argument:
    """An argument of a tool.

    Attributes:
        name: the name for clients.
        about: its description for the model; each word costs tokens at every turn.
        takes: the type of its value.
        default: its value if it is omitted; None: it is required.
        choices: the only values of a text, or of an entry of a list.
        least: the lowest number, or the fewest entries of a list.
        most: the highest number, or the most entries of a list.
        example: a value in JSON, for messages about invalid values.
        parameter: the engine's name for it, if it differs.
    """

    name: str
    about: str = ""
    takes: Takes = "text"
    default: object = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    example: str = ""
    parameter: str = ""


def _nothing(_: CallArguments) -> dict[str, object]:
    return {}


def _never(_: object) -> bool:
    return False


@dataclass(frozen=True)
class ToolRow:
    """A tool.

    Attributes:
        name: starts with `cl_`.
        profile: the profile that lists it; `all` lists every tool.
        question: the first sentence of its description, the question that it answers.
        details: the rest of its description.
        purpose: its purpose in a few words, for the server's instructions; empty: not mentioned.
        arguments: in the order of the documentation.
        asks: the engine's method that answers, or a function whose first argument is the engine.
        renderer: a function of `answer_shapes`; its arguments are the answer, then `format` and
            `max_tokens` if the tool has them.
        hints: whether it only reads, or also writes or removes data.
        budgets: how many freshness budgets the answer may take; 0: its method takes none.
        asks_with: arguments for the engine that are added to the call's, or replace them.
        renders_with: keyword arguments for the renderer.
        fails: whether clients should treat an answer as an error.
        is_everywhere: whether a call without `path` is about all worktrees.
        delivers: a function of `answer_shapes` with the renderer's arguments; it returns the part
            of the answer in the text. Empty: nothing is remembered as sent.
        tells_progress: whether the method gets a `progress` that reports to the client.
    """

    name: str
    profile: Literal["core", "branches", "contexts", "upkeep"]
    question: str
    details: str
    purpose: str
    arguments: tuple[Argument, ...]
    asks: str | Callable[..., object]
    renderer: str
    hints: Hints = "reads"
    budgets: int = 1
    asks_with: Callable[[CallArguments], Mapping[str, object]] = _nothing
    renders_with: Callable[[CallArguments], Mapping[str, object]] = _nothing
    fails: Callable[[Any], bool] = _never
    is_everywhere: Callable[[CallArguments], bool] = _never
    delivers: str = ""
    tells_progress: bool = False

    @property
    def description(self) -> str:
        """Its description for the model."""
        return f"{self.question} {self.details}"

    def argument(self, name: str) -> Argument:
        """Its argument of this name.

        Raises:
            KeyError: it has no such argument.
        """
        return {argument.name: argument for argument in self.arguments}[name]


HANDLE = '"src/auth.py#Session.validate"'


HANDLES = f"[{HANDLE}]"


CATEGORIES = ("decision", "pattern", "bug_fix", "architecture", "convention", "auto", "note")
"""The categories of saved contexts; the same as in `codelens.memory.context_fields`."""


STATUSES = ("current", "moved", "changed", "gone", "unknown", "stale", "valid")
"""The states of saved handles; the same as in `codelens.engine.contexts.context_items`."""


PATH = Argument("path", default="", example='"/home/me/project"')
"""An absolute path inside the worktree. The server's instructions describe it once, because a
description here would cost tokens in every tool."""


REF = Argument("ref", default="", example='"main"')
"""A branch, tag or commit; described like `PATH`."""


REPOSITORIES = Argument(
    "repositories", "Absolute paths: search these instead, ranked together.", "list", [],
    most=20, example='["/home/me/project"]',
)  # fmt: skip
"""Repositories to search; the worktree of each is chosen like that of `path`."""


FORMAT = Argument("format", default="concise", choices=("concise", "detailed", "json"))


SESSION = Argument("session", default="", example='"a1b2c3"')
"""The session of a call, if the host does not name it; described like `PATH`."""


AGAIN = Argument("again", "Resend sent code.", "truth", False)


TAGS = Argument("tags", "Words to filter by.", "words", [], most=50, example='["auth"]')


def size_argument(default: int) -> Argument:
    """`max_tokens`."""
    return Argument("max_tokens", "", "number", default, least=200, most=100_000)


def limit_argument(default: int, most: int, about: str = "") -> Argument:
    """`limit`."""
    return Argument("limit", about, "number", default, least=1, most=most)


def depth_argument(default: int, most: int) -> Argument:
    """`depth`."""
    return Argument("depth", "", "number", default, least=1, most=most)


def filter_arguments(
    languages: str = "", globs: str = "", kinds: str = ""
) -> tuple[Argument, Argument, Argument]:
    """`languages`, `globs` and `kinds`, with their descriptions."""
    return (
        Argument("languages", languages, "words", [], example='["python"]'),
        Argument("globs", globs, "globs", [], example='["src/**/*.py"]'),
        Argument("kinds", kinds, "words", [], example='["function"]'),
    )
