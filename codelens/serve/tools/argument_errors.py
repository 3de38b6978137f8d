"""Arguments that a tool cannot take, in plain sentences: which, and what is allowed instead."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from codelens.render.text_pieces import one_line

_VALUE_SHOWN = 60
_TOLD = 3
_HANDLES = '["src/auth.py#Session.validate"]'
_EXAMPLES = {
    "query": '"parse cookies"',
    "languages": '["python"]',
    "globs": '["src/**/*.py"]',
    "kinds": '["function"]',
    "handles": _HANDLES,
    "focus": _HANDLES,
    "targets": _HANDLES,
    "target": '"src/auth.py#Session.validate"',
    "to": '"src/auth.py#Session.validate"',
    "diff": '"HEAD"',
    "name": '"auth-flow"',
    "names": '["auth-flow"]',
    "note": '"sessions are checked twice"',
    "tags": '["auth"]',
    "ttl": '"30d"',
    "view": '"main"',
    "ref": '"main"',
    "path": '"/home/me/project"',
    "paths": '["src/auth.py"]',
    "spec": '"main...HEAD"',
    "other": '"feature-b"',
    "others": '["feature-b"]',
    "base": '"main"',
    "since": '"v2.1"',
    "task": '"retry failed uploads"',
}
"""Of what is neither a choice, a number nor a truth value, by the argument's name."""


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
        near = difflib.get_close_matches(name, properties, 1)
        hint = f"did you mean {near[0]}? It" if near else "it"
        return f"{tool} has no argument {_shown(name)}; {hint} takes {', '.join(properties)}."
    about = properties[name]
    wanted = _wanted(name, about)
    if error["type"] == "missing" or (
        error["input"] is None and len(error["loc"]) == 1 and name in schema.get("required", ())
    ):
        return f"{tool} needs {name}, {wanted}: {_plain(str(about.get('description', '')))}"
    if error["type"] in {"too_long", "too_short"}:
        return _counted(name, about, error)
    within = "with " if len(error["loc"]) > 1 else ""
    return f"{name} must be {wanted}, not {within}{_shown(error['input'])}."


def _counted(name: str, about: Mapping[str, Any], error: ErrorDetails) -> str:
    given = error["input"]
    count = len(given) if isinstance(given, Sequence) else 0  # type: ignore[reportUnknownArgumentType]
    if error["type"] == "too_short":
        return f"{name} is empty; give at least {about['minItems']}, such as {_EXAMPLES[name]}."
    return f"{name} takes at most {about['maxItems']} a call, not {count}; split them over calls."


def _wanted(name: str, about: Mapping[str, Any]) -> str:
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
            return f"a list of {choices or f'strings such as {_EXAMPLES[name]}'}"
        case _:
            return f"a string such as {_EXAMPLES[name]}"


def _plain(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _shown(value: object) -> str:
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    text = "null" if value is None else one_line(text)
    return text if len(text) <= _VALUE_SHOWN else f"{text[:_VALUE_SHOWN]}..."
