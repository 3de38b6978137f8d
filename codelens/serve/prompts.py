"""Prompts: what a person picks by name, as a slash command in most clients.

Each says in a few words which tool to call with what; the model does the rest.
"""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver.prompts import Prompt
from pydantic import Field


def search(
    query: Annotated[str, Field(description="Words, an identifier, a path or a sentence.")],
) -> str:
    """Find the code that does something."""
    return (
        f"Call cl_search with this query: {query}\n"
        "Read the best results with cl_expand, several handles at once, and answer with the "
        "handles that matter and why."
    )


def map_(
    focus: Annotated[
        str, Field(description="A file, a folder or words to center the map on; optional.")
    ] = "",
) -> str:
    """See what this repository is, where it begins and what matters in it."""
    near = (
        f"centered on: {focus}\nPass it as focus if it is a path or a handle, else as query."
        if focus
        else "of the whole repository."
    )
    return f"Call cl_map {near}\nThen say in a few lines how the code is laid out."


def impact(
    target: Annotated[
        str,
        Field(description="A handle, file or name; default: the uncommitted changes."),
    ] = "",
) -> str:
    """See who is hit by a change, and which tests to run."""
    arguments = f"targets [{target!r}]" if target else 'diff "HEAD"'
    return (
        f"Call cl_impact with {arguments}. Say what can break, nearest first, where the answer "
        "says "
        '"at least", and which tests to run.'
    )


def status() -> str:
    """See which worktree and branch is answered for, and how fresh the index is."""
    return (
        "Call cl_current and say in a few lines which worktree and branch answers come "
        "from and what was left out."
    )


def listed() -> list[Prompt]:
    """The prompts as the SDK takes them."""
    registered = [
        ("codelens-search", search),
        ("codelens-map", map_),
        ("codelens-impact", impact),
        ("codelens-status", status),
    ]
    return [
        Prompt.from_function(function, name=name, description=function.__doc__)
        for name, function in registered
    ]
