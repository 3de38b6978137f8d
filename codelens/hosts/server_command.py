"""What an entry starts, in the shape of any host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PureWindowsPath

from codelens.hosts.formats.config_values import Value

NAME = "codelens"
_SERVE = "serve"
_URL = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}/mcp")
"""Of `codelens serve --http` on this machine."""
_URL_KEYS = ("url", "httpUrl", "serverUrl")
_HEADER_KEYS = ("headers", "http_headers")
_RUNNERS = re.compile(r"uv|uvx|pipx|py|pythonw?[0-9.]*")
"""Programs that run a Python command out of an environment: the installed one does what they do."""


def command_of(entry: Value) -> list[str]:
    """The program of an entry and its arguments; empty where it starts none."""
    holder = _holder(entry)
    program, arguments = holder.get("command", holder.get("cmd")), holder.get("args")
    words = [*(program if isinstance(program, list) else [program])]
    words += arguments if isinstance(arguments, list) else []
    return [value for value in words if isinstance(value, str)]


def variables_of(entry: Value) -> dict[str, str]:
    """The environment variables that an entry sets."""
    holder = _holder(entry)
    for key in ("env", "envs", "environment"):
        value = holder.get(key)
        if isinstance(value, dict):
            return {name: str(setting) for name, setting in value.items()}
    return {}


def _holder(entry: Value) -> dict[str, Value]:
    if not isinstance(entry, dict):
        return {}
    inner = entry.get("transport")
    return inner if isinstance(inner, dict) else entry


def starts_codelens(entry: Value) -> bool:
    """Whether an entry starts a codelens server, by whatever means."""
    words = command_of(entry)
    return _SERVE in words and is_codelens(words)


def url_of(entry: Value) -> str:
    """The URL of a codelens server on this machine that an entry asks; empty where it asks none."""
    holder = _holder(entry)
    urls = (holder.get(key) for key in _URL_KEYS)
    return next((url for url in urls if isinstance(url, str) and _URL.fullmatch(url)), "")


def headers_of(entry: Value) -> dict[str, str]:
    """The headers that an entry sends."""
    holder = _holder(entry)
    for key in _HEADER_KEYS:
        value = holder.get(key)
        if isinstance(value, dict):
            return {name: str(header) for name, header in value.items()}
    return {}


def leads_to_codelens(entry: Value) -> bool:
    """Whether an entry starts a codelens server, or asks one that runs on this machine."""
    return starts_codelens(entry) or bool(url_of(entry))


def is_codelens(command_words: Sequence[str]) -> bool:
    """Whether one of these words of a command is the program codelens."""
    # A Windows path splits at both slashes, so it reads a POSIX one as well.
    return any(PureWindowsPath(word).stem.lower() == NAME for word in command_words)


def arguments_of(words: Sequence[str]) -> list[str]:
    """What codelens itself is given by a command that `starts_codelens`: `serve` and options."""
    if is_codelens(words[:1]):
        return list(words[1:])
    # `uvx --from git+https://host/codelens codelens serve`: the word before last is no program.
    places = [at for at, word in enumerate(words[: words.index(_SERVE)]) if is_codelens([word])]
    return list(words[places[-1] + 1 :]) if places else [_SERVE]


def is_wrapped(words: Sequence[str]) -> bool:
    """Whether a program of the user's own choice starts codelens: docker, ssh, a script."""
    stem = PureWindowsPath(words[0]).name.lower().removesuffix(".exe")
    return not is_codelens(words[:1]) and _RUNNERS.fullmatch(stem) is None
