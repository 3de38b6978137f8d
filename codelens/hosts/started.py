"""What an entry starts, in the shape of any host."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PureWindowsPath

from codelens.hosts.values import Value

NAME = "codelens"


def command_of(entry: Value) -> list[str]:
    """The program of an entry and its arguments; empty where it starts none."""
    holder = _holder(entry)
    program, arguments = holder.get("command", holder.get("cmd")), holder.get("args")
    found = [*(program if isinstance(program, list) else [program])]
    found += arguments if isinstance(arguments, list) else []
    return [one for one in found if isinstance(one, str)]


def variables_of(entry: Value) -> dict[str, str]:
    """The environment variables that an entry sets."""
    holder = _holder(entry)
    for key in ("env", "envs", "environment"):
        said = holder.get(key)
        if isinstance(said, dict):
            return {name: str(one) for name, one in said.items()}
    return {}


def _holder(entry: Value) -> dict[str, Value]:
    if not isinstance(entry, dict):
        return {}
    inner = entry.get("transport")
    return inner if isinstance(inner, dict) else entry


def starts_codelens(entry: Value) -> bool:
    """Whether an entry starts a codelens server, by whatever means."""
    said = command_of(entry)
    return "serve" in said and is_codelens(said)


def is_codelens(said: Sequence[str]) -> bool:
    """Whether one of these words of a command is the program codelens."""
    # A Windows path splits at both slashes, so it reads a POSIX one as well.
    return any(PureWindowsPath(word).stem.lower() == NAME for word in said)
