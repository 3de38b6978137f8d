"""What an entry starts, in the shape of any host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PureWindowsPath

from codelens.hosts.formats.config_values import Value

NAME = "codelens"
_SERVE = "serve"
_RUNNERS = re.compile(r"uv|uvx|pipx|py|pythonw?[0-9.]*")
"""Programs that run a Python command out of an environment: the installed one does what they do."""


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
    return _SERVE in said and is_codelens(said)


def is_codelens(said: Sequence[str]) -> bool:
    """Whether one of these words of a command is the program codelens."""
    # A Windows path splits at both slashes, so it reads a POSIX one as well.
    return any(PureWindowsPath(word).stem.lower() == NAME for word in said)


def arguments_of(said: Sequence[str]) -> list[str]:
    """What codelens itself is given by a command that `starts_codelens`: `serve` and options."""
    if is_codelens(said[:1]):
        return list(said[1:])
    # `uvx --from git+https://host/codelens codelens serve`: the word before last is no program.
    places = [at for at, word in enumerate(said[: said.index(_SERVE)]) if is_codelens([word])]
    return list(said[places[-1] + 1 :]) if places else [_SERVE]


def is_wrapped(said: Sequence[str]) -> bool:
    """Whether a program of the user's own choice starts codelens: docker, ssh, a script."""
    stem = PureWindowsPath(said[0]).name.lower().removesuffix(".exe")
    return not is_codelens(said[:1]) and _RUNNERS.fullmatch(stem) is None
