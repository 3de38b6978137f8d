"""Arguments that a tool cannot take, in plain sentences: which, and what is allowed instead."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from codelens.render.text_pieces import one_line
from codelens.serve.tools.tool_row import ToolRow

_VALUE_SHOWN = 60
_SHOWN = 3


def refusal(row: ToolRow, schema: Mapping[str, Any], error: ValidationError) -> str:
    """Why a call was refused.

    Args:
        row: the tool.
        schema: of its arguments, as clients see it.
        error: what was found.
    """
    sentences = list(dict.fromkeys(_sentence(row, schema, problem) for problem in error.errors()))
    more = (
        [f"{len(sentences) - _SHOWN} more arguments are wrong."] if len(sentences) > _SHOWN else []
    )
    return " ".join([*sentences[:_SHOWN], *more])


def _sentence(row: ToolRow, schema: Mapping[str, Any], error: ErrorDetails) -> str:
    name = str(error["loc"][0]) if error["loc"] else ""
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    if name not in properties:
        near = difflib.get_close_matches(name, properties, 1)
        hint = f"did you mean {near[0]}? It" if near else "it"
        return f"{row.name} has no argument {_shown(name)}; {hint} takes {', '.join(properties)}."
    about = properties[name]
    example = row.argument(name).example
    expected = _accepted(about, example)
    if error["type"] == "missing" or (
        error["input"] is None and len(error["loc"]) == 1 and name in schema.get("required", ())
    ):
        return f"{row.name} needs {name}, {expected}: {_plain(str(about.get('description', '')))}"
    if error["type"] in {"too_long", "too_short"}:
        return _counted(name, about, error, example)
    within = "with " if len(error["loc"]) > 1 else ""
    return f"{name} must be {expected}, not {within}{_shown(error['input'])}."


def _counted(name: str, about: Mapping[str, Any], error: ErrorDetails, example: str) -> str:
    value = error["input"]
    count = len(value) if isinstance(value, Sequence) else 0  # type: ignore[reportUnknownArgumentType]
    if error["type"] == "too_short":
        return f"{name} is empty; give at least {about['minItems']}, such as {example}."
    return (
        f"{name} takes at most {about['maxItems']} per call, not {count}; split them "
        "over several calls."
    )


def _accepted(about: Mapping[str, Any], example: str) -> str:
    """What an argument takes, with an example."""
    if "enum" in about:
        return f"one of {', '.join(filter(None, about['enum']))}"
    match about["type"]:
        case "integer":
            bounds = f"from {about['minimum']} to {about['maximum']}"
            return f"a whole number {bounds}, such as {about['default']}"
        case "boolean":
            return "true or false"
        case "array":
            choices = ", ".join(about["items"].get("enum", ()))
            return f"a list of {choices or f'strings such as {example}'}"
        case _:
            return f"a string such as {example}"


def _plain(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _shown(value: object) -> str:
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    text = "null" if value is None else one_line(text)
    return text if len(text) <= _VALUE_SHOWN else f"{text[:_VALUE_SHOWN]}..."
