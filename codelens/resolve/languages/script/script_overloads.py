"""Which of several signatures of TypeScript a call means, by its arguments.

Arguments come as marks, one letter each: `s` text, `n` number, `b` truth value, `z` nothing, `r`
an object and `a` a list written out, `f` a function written out, `u` anything else. A `<` before
them says that type arguments are given, a `*` that there are more of which nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.languages.classes.class_type_text import bracketed

_OPEN, _CLOSE = frozenset("([{<"), frozenset(")]}")
_PLAIN = {"s": {"string"}, "n": {"number"}, "b": {"boolean"}, "z": {"null", "undefined", "void"}}
_BUILTIN = frozenset("string number boolean symbol null undefined void never object".split())
_FORMS = (
    (re.compile(r"(?:[(<]|new\b).*=>"), "f"),
    (re.compile("['\"`]"), "s"),
    (re.compile(r"[-\d]"), "n"),
    (re.compile(r"(?:true|false)$"), "b"),
    (re.compile(r"\[|.*\[\]$"), "a"),
)
"""How types are written that arguments of one mark alone may have."""
_ANYTHING = frozenset({"any", "unknown"})
_WORD = re.compile(r"[^\W\d][\w$]*")


class _Signature(NamedTuple):
    """What a call has to fit."""

    types: tuple[str, ...]
    least: int
    many: bool
    free: frozenset[str]
    """Type parameters that stand for anything."""
    generics: int
    varies: bool
    """A parameter has a type parameter in its type."""


def meant(model: FileModel, symbols: Sequence[int], arguments: str) -> list[int]:
    """Of overloads in their order those that a call may mean: the first that fits is taken."""
    fitting: list[int] = []
    seen: set[tuple[tuple[str, ...], int, bool]] = set()
    marks = arguments[1:-1]
    for at in symbols:
        function = model.symbols[at]
        signature = _read(function.signature, function.name)
        fits = None if signature is None else _fits(signature, marks)
        if fits is False:
            continue
        if signature is not None and marks[:1] != "<" and not signature.varies:
            # What takes the same as one before it is never reached.
            if signature[:3] in seen:
                continue
            seen.add(signature[:3])
        fitting.append(at)
        if fits:
            break
    return fitting or list(symbols)


def _fits(signature: _Signature, marks: str) -> bool | None:
    """Whether a call fits; None if it may."""
    if marks[:1] == "<":
        return None if signature.generics else False
    arguments, _, _ = marks.partition("*")
    if len(arguments) > len(signature.types) and not signature.many:
        return False
    if marks != arguments:
        return None
    if len(arguments) < signature.least:
        return False
    if signature.many:
        return None
    answers = [
        _takes(text, mark, signature.free)
        for text, mark in zip(signature.types, arguments, strict=False)
    ]
    return False if False in answers else None if None in answers else True


def _takes(text: str, mark: str, free: frozenset[str]) -> bool | None:
    """Whether a parameter of a type takes an argument; None if it may."""
    if "?" in text:
        return None
    answers = [_is(part, mark, free) for part in _split(text, "|")]
    return True if True in answers else None if None in answers else False


def _is(part: str, mark: str, free: frozenset[str]) -> bool | None:
    if part in _ANYTHING or part in free:
        return True
    if mark == "u":
        return None
    if part in _BUILTIN:
        return part in _PLAIN.get(mark, {"object"})
    needed = next((expected for form, expected in _FORMS if form.match(part)), mark)
    return None if mark == needed else False


@lru_cache(maxsize=20_000)
def _read(signature: str, name: str) -> _Signature | None:
    """A signature's parameters; None if they cannot be read."""
    at = signature.find(name) + len(name)
    generics: list[str] | None = []
    if signature[at : at + 1] == "?":
        at += 1
    if signature[at : at + 1] == "<":
        generics = bracketed(signature, at)
        at = _end(signature, at)
    if generics is None or signature[at : at + 1] != "(":
        return None
    parts = bracketed(signature, at)
    if parts is None:
        return None
    types: list[str] = []
    least, is_variadic = 0, False
    for part in parts:
        head, _, text = _cut(part)
        if head == "this":
            continue
        is_variadic |= head.startswith("...")
        types.append(text)
        if not head.endswith("?") and not is_variadic:
            least = len(types)
    free = frozenset(generic for generic in generics if _WORD.fullmatch(generic))
    names = {
        word for generic in generics for word in _WORD.findall(generic.partition(" extends ")[0])
    }
    varies = any(names.intersection(_WORD.findall(text)) for text in types)
    return _Signature(tuple(types), least, is_variadic, free, len(generics), varies)


def _end(text: str, at: int) -> int:
    """Behind the bracket that opens at a position."""
    depth = 0
    for end in range(at, len(text)):
        sign = text[end]
        depth += (sign in _OPEN) - (sign in _CLOSE or (sign == ">" and text[end - 1] not in "-="))
        if not depth:
            return end + 1
    return len(text)


def _cut(part: str) -> tuple[str, str, str]:
    """Name, colon and type of a parameter."""
    depth = 0
    for at, sign in enumerate(part):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if sign == ":" and not depth:
            return part[:at].strip(), ":", part[at + 1 :].strip()
    return part.strip(), "", "any"


def _split(text: str, sign: str) -> list[str]:
    """At a sign that stands in no bracket."""
    depth, start = 0, 0
    parts: list[str] = []
    for at, character in enumerate(text):
        depth += (character in _OPEN) - (
            character in _CLOSE or (character == ">" and text[at - 1] not in "-=")
        )
        if not depth and text.startswith(sign, at):
            parts.append(text[start:at].strip())
            start = at + len(sign)
    return [part for part in (*parts, text[start:].strip()) if part] or [""]
