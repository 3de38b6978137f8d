"""Arguments that several tools have."""

from __future__ import annotations

from codelens.serve.tools.tool_row import Argument

HANDLE = '"src/auth.py#Session.validate"'
HANDLES = f"[{HANDLE}]"
CATEGORIES = ("decision", "pattern", "bug_fix", "architecture", "convention", "auto", "note")
"""Of saved contexts; `codelens.memory.context_fields` has the same."""

STATUSES = ("current", "moved", "changed", "gone", "unknown", "stale", "valid")
"""Of handles of saved contexts; `codelens.engine.contexts.context_filter` has the same."""

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
