"""Parses parameters of signatures and arguments of calls from text alone."""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.branches.code_tokens import code_of
from codelens.extract.language_settings import TEXT, language_info
from codelens.resolve.inference.type_text import bracketed
from codelens.resolve.languages.registry import spec_of

_SELF = re.compile(r"(?:&(?:'\w+ )?)?(?:mut )?(?:self|cls|this)\b")
_VARIADIC = re.compile(r"\A\*{1,2}\w|\A&\w+\Z|\.\.\.|\bparams\b|\bvararg\b")

_NAME = re.compile(r"\w+")


class Parameter(NamedTuple):
    """One parameter."""

    text: str
    required: bool

    @property
    def is_variadic(self) -> bool:
        """Whether it takes any number of arguments."""
        return bool(_VARIADIC.search(self.text))


def parameters(signature: str, name: str) -> list[Parameter] | None:
    """Return the parameters in brackets after a name; None if there are none to parse."""
    match = re.search(rf"(?<!\w){re.escape(name)}\s*(?:<[^()]*>)?\s*\(", signature)
    if match is None:
        return None
    texts = bracketed(signature, match.end() - 1)
    if texts is None:
        return None
    bare = [" ".join(text.split()) for text in texts]
    return [_parameter(text) for text in bare if text not in {"*", "/", "void"}
            and not _SELF.match(text)]  # fmt: skip


def _parameter(text: str) -> Parameter:
    optional = "=" in text.replace("=>", "").replace("==", "") or bool(_VARIADIC.search(text))
    optional = optional or bool(re.match(r"[\w$]+\?\s*(?::|\Z)", text))
    return Parameter(text, not optional)


def breaks_calls(old: str, new: str, old_name: str, new_name: str) -> bool | None:
    """Whether calls of an old signature cannot fit the new one; None if unknown.

    Compares only numbers: more required parameters, or fewer in total.
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
    """Return the name of a parameter for named arguments, in languages that have them."""
    bare = parameter.text.split("=")[0].strip()
    head, colon, _ = bare.partition(":")
    words = _NAME.findall(head if colon else bare)
    return words[-1] if words else ""


# Parses the arguments of a call from the text after its name.
#
# This uses no grammar: it counts brackets, quotes and commas. Arguments without brackets (`puts x`)
# or spread from a list (`f(*all)`) are unknown.

_OPENING, _CLOSING = b"([{", b")]}"
_QUOTES = b"\"'`"
_MOST_BYTES = 4_000
_GENERICS = re.compile(rb"(?:::)?<[\w\s.,:?&*'<>\[\]]{0,200}>\s*(?=\()")
_NAMED = re.compile(rb"(\w+)\s*(?:=(?![=>])|:(?!:))")
_SPREAD = re.compile(rb"\A\.\.\.|\.\.\.\Z")
_STARRED = re.compile(rb"\A(?:\*|&\w)")
_TYPES = re.compile(rb"\w<(?![=<\s])")
_LIFETIME = re.compile(rb"'\w+\b(?!')")


class PassedArguments(NamedTuple):
    """The arguments of one call."""

    number: int
    names: tuple[str, ...]
    """Names of named arguments; a word before a colon may be the key of a map."""


def passed_arguments(text: bytes, start: int, language: str) -> PassedArguments | None:
    """Parse the arguments in brackets after a name; None if the text is not sufficient.

    Args:
        text: a whole file.
        start: the byte after the name of the callee.
        language: the language, for skipping comments.
    """
    text = code_of(text[start : start + _MOST_BYTES], language)
    at = 0
    while text[at : at + 1] in {b" ", b"!", b"?"}:
        at += 1
    generics = _GENERICS.match(text, at)
    at = generics.end() if generics is not None else at
    if text[at : at + 1] != b"(":
        return None
    parts = _parts(text, at, has_lifetimes=language_info(language or TEXT).lifetimes)
    if parts is None or any(_SPREAD.search(part) or _is_cut(part) for part in parts):
        return None
    if spec_of(language).star_spreads and any(_STARRED.match(part) for part in parts):
        return None
    named = [match for part in parts if (match := _NAMED.match(part)) is not None]
    return PassedArguments(len(parts), tuple(str(match[1], "utf-8", "replace") for match in named))


def _is_cut(part: bytes) -> bool:
    """Whether it starts or ends inside type arguments: `new Map<string, number>()`."""
    return len(_TYPES.findall(part)) > part.count(b">")


def _parts(text: bytes, opening: int, *, has_lifetimes: bool) -> list[bytes] | None:
    """Split the text of a bracket at commas; None if the bracket is not closed."""
    depth, at, begin = 0, opening, opening + 1
    parts: list[bytes] = []
    limit = len(text)
    while at < limit:
        sign = text[at]
        if sign in _QUOTES and not (has_lifetimes and _LIFETIME.match(text, at)):
            at = _behind_quote(text, at, limit)
            continue
        if sign in _OPENING:
            depth += 1
        elif sign in _CLOSING:
            depth -= 1
            if not depth:
                parts.append(text[begin:at])
                return [part.strip() for part in parts if part.strip()]
        elif sign == 44 and depth == 1:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return None


def _behind_quote(text: bytes, at: int, limit: int) -> int:
    mark = text[at : at + 1]
    if text.startswith(mark * 3, at):
        end = text.find(mark * 3, at + 3, limit)
        return end + 3 if end >= 0 else limit
    at += 1
    while at < limit:
        if text[at : at + 1] == b"\\":
            at += 2
            continue
        if text[at : at + 1] == mark:
            return at + 1
        at += 1
    return limit
