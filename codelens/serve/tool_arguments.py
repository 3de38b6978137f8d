"""Normalizes the arguments of tool calls, and explains which ones are invalid."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import ErrorDetails

from codelens.render.text_pieces import one_line
from codelens.serve.tool_row import Argument, ToolRow

# Builds messages about invalid arguments: which one is wrong, and what is allowed instead.

_VALUE_SHOWN = 60
_SHOWN = 3


def refusal(row: ToolRow, schema: Mapping[str, Any], error: ValidationError) -> str:
    """The message for a call with invalid arguments.

    Args:
        row: the tool.
        schema: the schema of its arguments, as clients see it.
        error: the error of the validation.
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
    """The values that an argument accepts, with an example."""
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


# Normalizes arguments: models send numbers and booleans as text, lists as one text, and `null` or
# `""` for omitted arguments. A value with only one possible meaning is converted; pydantic rejects
# the rest, see `refusal`.

_NOTHING = {"", "null"}
_BETWEEN = re.compile(r"[\s-]+")
# Not inside braces: {a,b} is one pattern.
_BETWEEN_GLOBS = re.compile(r"[,\n](?![^{]*\})")
_BETWEEN_HANDLES = re.compile(r"\n|,\s+")
_BRACKETS = ("()", "[]", "{}", "<>")


def _reject_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are not numbers")  # noqa: TRY004 - pydantic takes no other
    return value


# Python treats true as 1. It must come last in an annotation: before a `Field` it hides the bounds
# in the schema.
_NO_TRUTH = BeforeValidator(_reject_boolean)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _globs(text: str) -> list[str]:
    return [glob.strip() for glob in _BETWEEN_GLOBS.split(text)]


def _handles(text: str) -> list[str]:
    parts = [part.strip() for part in _BETWEEN_HANDLES.split(text.strip())]
    # A path may contain a comma, and `Map<K, V>` is one name.
    return parts if all(map(_stands_alone, parts)) else [text]


def _stands_alone(part: str) -> bool:
    balanced = all(part.count(opening) == part.count(closing) for opening, closing in _BRACKETS)
    return bool(part) and balanced and not any(map(str.isspace, part))


def _listed(read: Callable[[str], list[str]]) -> BeforeValidator:
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


_READ_AS: dict[str, Callable[[str], list[str]]] = {
    "list": lambda text: [text],
    "words": _words,
    "globs": _globs,
    "handles": _handles,
}
"""How a single text becomes a list: as its only entry, or split at commas."""


def annotation_of(argument: Argument) -> Any:  # noqa: ANN401 - no type names one of these
    """The type of an argument for pydantic, with its bounds and description."""
    # A `Literal` of choices that are only known at run time.
    choice: Any = cast("Any", Literal)[argument.choices] if argument.choices else str
    about = argument.about or None
    match argument.takes:
        case "number":
            bounds = Field(ge=argument.least, le=argument.most, description=about)
            return Annotated[int, bounds, _NO_TRUTH]
        case "truth":
            return Annotated[bool, Field(description=about)]
        case "text":
            return Annotated[choice, Field(description=about)]
        case _:
            lengths = Field(min_length=argument.least, max_length=argument.most, description=about)
            if argument.choices:
                return Annotated[list[choice], lengths]
            return Annotated[list[str], _listed(_READ_AS[argument.takes]), lengths]


def normalized_arguments(
    schema: Mapping[str, Any], given_arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Normalize the arguments of a call: drop omitted ones and convert values to their types.

    Args:
        schema: the schema of the tool's arguments, as clients see it.
        given_arguments: the arguments that the client sent; unknown ones stay unchanged.
    """
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    required: list[str] = schema.get("required", [])
    arguments_meant: dict[str, Any] = {}
    for name, value in given_arguments.items():
        about = properties.get(name)
        if about is not None and name not in required and _is_left_out(about, value):
            continue
        arguments_meant[name] = value if about is None else _converted_value(about, value)
    return arguments_meant


def _is_left_out(about: Mapping[str, Any], value: object) -> bool:
    if value is None:
        return True
    is_text = about.get("type") == "string" and "enum" not in about
    return isinstance(value, str) and not is_text and value.strip().lower() in _NOTHING


def _converted_value(about: Mapping[str, Any], value: object) -> object:
    if about.get("type") == "array":
        return _choices(about["items"]["enum"], value) if "enum" in about["items"] else value
    match value:
        case str(text) | [str(text)]:
            pass
        case _:
            return value
    if "enum" in about:
        return _choice(about["enum"], text)
    return text.strip() if about.get("type") == "boolean" else text


def _choices(choices: list[str], value: object) -> object:
    """Normalize a list of choices; the SDK parses a list in JSON text."""
    if isinstance(value, list):
        listed = cast("list[object]", value)
        return [
            _choice(choices, choice) if isinstance(choice, str) else choice for choice in listed
        ]
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return _choices(choices, _words(value))
    return value


def _choice(choices: list[str], text: str) -> str:
    """The choice that `text` names, ignoring case and separators; else `text` itself."""
    plain = _BETWEEN.sub("_", text.strip().lower())
    return plain if plain in choices else text
