"""The types of arguments that several tools take, as pydantic reads them and clients see them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field


def _no_truth(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a truth value is no number")  # noqa: TRY004 - pydantic takes no other
    return value


# Python takes true for 1. Last in its line: before a `Field` it hides the bounds in the schema.
NoTruth = BeforeValidator(_no_truth)

Path = Annotated[
    str,
    Field(
        description="Absolute path inside the worktree you mean, if not the server's own. It does "
        "not narrow a search: use globs."
    ),
]
Ref = Annotated[
    str,
    Field(description="Branch, tag or commit to read instead of the disk."),
]
Form = Literal["concise", "detailed", "json"]
MaxTokens = Annotated[
    int,
    Field(ge=200, le=100_000),
    NoTruth,
]

# Models pass one name where a list is meant; there is only one thing they can mean.
AsList = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
