"""Arguments that a tool cannot take, in plain sentences: which, and what is allowed instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from codelens.engine.as_text import one_line

_VALUE_SHOWN = 60
_TOLD = 3


def refusal(tool: str, schema: Mapping[str, Any], error: ValidationError) -> str:
    """Why a call was refused.

    Args:
        tool: its name.
        schema: of its arguments, as clients see it.
        error: what was found.
    """
    found = list(dict.fromkeys(_sentence(tool, schema, one) for one in error.errors()))
    more = [f"{len(found) - _TOLD} more arguments are wrong."] if len(found) > _TOLD else []
    return " ".join([*found[:_TOLD], *more])


def _sentence(tool: str, schema: Mapping[str, Any], error: ErrorDetails) -> str:
    name = str(error["loc"][0]) if error["loc"] else ""
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    if name not in properties:
        return f"{tool} has no argument {_shown(name)}; it takes {', '.join(properties)}."
    about = properties[name]
    if error["type"] == "missing" or (
        error["input"] is None and len(error["loc"]) == 1 and name in schema.get("required", ())
    ):
        return f"{tool} needs {name}: {_plain(str(about.get('description', '')))}"
    if error["type"] in {"too_long", "too_short"}:
        return _counted(name, about, error)
    given = error["input"]
    return f"{name} must be {_wanted(about, len(error['loc']) > 1)}, not {_shown(given)}."


def _counted(name: str, about: Mapping[str, Any], error: ErrorDetails) -> str:
    given = error["input"]
    count = len(given) if isinstance(given, Sequence) else 0  # type: ignore[reportUnknownArgumentType]
    if error["type"] == "too_short":
        return f"{name} is empty; give at least {about['minItems']}."
    return f"{name} takes at most {about['maxItems']} a call, not {count}; split them over calls."


def _wanted(about: Mapping[str, Any], inside: bool) -> str:
    if "enum" in about:
        return f"one of {', '.join(about['enum'])}"
    if about.get("type") == "integer":
        return f"a whole number from {about['minimum']} to {about['maximum']}"
    if about.get("type") == "array":
        if "enum" in about.get("items", {}):
            return f"a list of {', '.join(about['items']['enum'])}"
        return f"a list of strings{' only' if inside else ''}"
    return "a string"


def _plain(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _shown(value: object) -> str:
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    text = "null" if value is None else one_line(text)
    return text if len(text) <= _VALUE_SHOWN else f"{text[:_VALUE_SHOWN]}..."
