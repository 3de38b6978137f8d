"""What a row of the table of tools holds; plain data, so that the first turn needs no SDK."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

CallArguments = Mapping[str, Any]
"""The arguments of a call by name, each as its row declares it."""


Takes = Literal["text", "truth", "number", "list", "words", "globs", "handles"]
"""`list` to `handles` are lists of strings; they differ in how one text is split into several."""


FOR_THE_RENDERER = ("format", "max_tokens")
"""Arguments that say how an answer is written; the engine is not given them."""


FOR_THE_CALL = (*FOR_THE_RENDERER, "session")
"""Those, and which session a call belongs to."""


Hints = Literal["reads", "writes", "removes"]


@dataclass(frozen=True)
class Argument:
    """An argument of a tool.

    Attributes:
        name: as clients give it.
        about: what a model reads of it; each word costs tokens at every turn.
        takes: what its value is.
        default: where it is left out; None: it must be given.
        choices: the only values that a text, or an entry of a list, may have.
        least: the lowest number, or the fewest entries of a list.
        most: the highest number, or the most entries of a list.
        example: of a value, in JSON, for a message that refuses another one.
        parameter: the engine's name for it, where that is another one.
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
        name: begins with `cl_`.
        profile: the profile that lists it; `all` lists every tool.
        question: the first sentence of its description, which says what it answers.
        details: the rest of its description.
        purpose: what it is for, in a few words of the server's instructions; empty: not named.
        arguments: in the order of the documentation.
        asks: the method of the engine that answers, or a function that is given the engine first.
        renderer: a function of `answer_shapes`; it is given the answer, then the
            arguments `format` and `max_tokens` if the tool has them.
        hints: whether it only reads, writes, or removes what was kept.
        budgets: how many freshness budgets the answer may take; 0: its method takes none.
        asks_with: what the engine is given beside the arguments, or in place of them.
        renders_with: what the renderer is given by name.
        fails: whether an answer is one that clients should take for an error.
        is_everywhere: whether a call without `path` is about all worktrees.
        delivers: a function of `answer_shapes`, of the renderer's arguments: what of
            the answer is in the text; empty: nothing that is remembered as sent.
        tells_progress: the method is given a `progress` that reaches the client.
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
        """What a model reads of it."""
        return f"{self.question} {self.details}"

    def argument(self, name: str) -> Argument:
        """Its argument of this name.

        Raises:
            KeyError: it has none.
        """
        return {argument.name: argument for argument in self.arguments}[name]


HANDLE = '"src/auth.py#Session.validate"'


HANDLES = f"[{HANDLE}]"


CATEGORIES = ("decision", "pattern", "bug_fix", "architecture", "convention", "auto", "note")
"""Of saved contexts; `codelens.memory.context_fields` has the same."""


STATUSES = ("current", "moved", "changed", "gone", "unknown", "stale", "valid")
"""Of handles of saved contexts; `codelens.engine.contexts.context_items` has the same."""


PATH = Argument("path", default="", example='"/home/me/project"')
"""An absolute path inside the worktree that is meant. The server's instructions say so once: each
description here would cost tokens in every tool."""


REF = Argument("ref", default="", example='"main"')
"""A branch, tag or commit; described like `PATH`."""


REPOSITORIES = Argument(
    "repositories", "Absolute paths: search these instead, ranked together.", "list", [],
    most=20, example='["/home/me/project"]',
)  # fmt: skip
"""Of a search; the worktree of each is chosen as that of `path` is."""


FORMAT = Argument("format", default="concise", choices=("concise", "detailed", "json"))


SESSION = Argument("session", default="", example='"a1b2c3"')
"""The session of a call, where the host does not tell it; described like `PATH`."""


AGAIN = Argument("again", "Send what was sent before, too.", "truth", False)


TAGS = Argument("tags", "Words to filter by.", "words", [], most=50, example='["auth"]')


def size_argument(default: int) -> Argument:
    """`max_tokens`."""
    return Argument("max_tokens", "", "number", default, least=200, most=100_000)


def limit_argument(default: int, most: int, about: str = "Maximum results.") -> Argument:
    """`limit`."""
    return Argument("limit", about, "number", default, least=1, most=most)


def depth_argument(default: int, most: int) -> Argument:
    """`depth`."""
    return Argument("depth", "Maximum steps.", "number", default, least=1, most=most)


def filter_arguments(
    languages: str = "", globs: str = "", kinds: str = ""
) -> tuple[Argument, Argument, Argument]:
    """`languages`, `globs` and `kinds`, with what is said of each."""
    return (
        Argument("languages", languages, "words", [], example='["python"]'),
        Argument("globs", globs, "globs", [], example='["src/**/*.py"]'),
        Argument("kinds", kinds, "words", [], example='["function"]'),
    )
