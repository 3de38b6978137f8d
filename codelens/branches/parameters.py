"""The parameters of a signature, as far as its text tells them: whether old calls still fit."""

from __future__ import annotations

import re
from typing import NamedTuple

_OPEN, _CLOSE = "([{<", ")]}>"
_SELF = re.compile(r"(?:&(?:'\w+ )?)?(?:mut )?(?:self|cls|this)\b")
_VARIADIC = re.compile(r"\A\*{1,2}\w|\A&\w+\Z|\.\.\.|\bparams\b|\bvararg\b")

_NAME = re.compile(r"\w+")


class Parameter(NamedTuple):
    """One parameter."""

    text: str
    required: bool

    @property
    def is_variadic(self) -> bool:
        """It takes any number of arguments."""
        return bool(_VARIADIC.search(self.text))


def parameters(signature: str, name: str) -> list[Parameter] | None:
    """The parameters between the brackets behind a name; None where there are none to be read."""
    match = re.search(rf"(?<!\w){re.escape(name)}\s*(?:<[^()]*>)?\s*\(", signature)
    if match is None:
        return None
    texts, depth, start = list[str](), 0, match.end()
    for at in range(match.end(), len(signature)):
        char = signature[at]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE and signature[at - 1 : at + 1] not in {"->", "=>"}:
            if depth == 0:
                texts.append(signature[start:at])
                break
            depth -= 1
        elif char == "," and depth == 0:
            texts.append(signature[start:at])
            start = at + 1
    else:
        return None
    bare = [" ".join(text.split()) for text in texts]
    return [_parameter(text) for text in bare if text and text not in {"*", "/", "void"}
            and not _SELF.match(text)]  # fmt: skip


def _parameter(text: str) -> Parameter:
    optional = "=" in text.replace("=>", "").replace("==", "") or bool(_VARIADIC.search(text))
    optional = optional or bool(re.match(r"[\w$]+\?\s*(?::|\Z)", text))
    return Parameter(text, not optional)


def breaks_calls(old: str, new: str, old_name: str, new_name: str) -> bool | None:
    """Whether calls that fitted an old signature cannot fit the new one; None if it cannot be told.

    By number alone: more required parameters, or fewer in all.
    """
    before, after = parameters(old, old_name), parameters(new, new_name)
    if before is None or after is None:
        return None
    required = sum(parameter.required for parameter in after) > sum(
        parameter.required for parameter in before
    )
    variadic = any(parameter.is_variadic for parameter in after)
    fewer = len(after) < len(before) and not variadic
    return required or fewer


def default_changed(old: str, new: str, old_name: str, new_name: str) -> bool:
    """Whether the same parameters have other defaults."""
    before, after = parameters(old, old_name), parameters(new, new_name)
    if before is None or after is None or len(before) != len(after):
        return False
    pairs = list(zip(before, after, strict=True))
    return any(
        parameter.text != other.text
        and not parameter.required
        and not other.required
        and parameter.text.split("=")[0].strip() == other.text.split("=")[0].strip()
        for parameter, other in pairs
    )


def parameter_name(parameter: Parameter) -> str:
    """What an argument may call a parameter by, in the languages that have named arguments."""
    bare = parameter.text.split("=")[0].strip()
    head, colon, _ = bare.partition(":")
    words = _NAME.findall(head if colon else bare)
    return words[-1] if words else ""
