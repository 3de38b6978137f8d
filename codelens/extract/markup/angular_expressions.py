"""Translates the expressions of Angular's templates: pipes, statements and microsyntax."""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.extract.markup.virtual_script import VirtualScript

Span = tuple[int, int]
PIPE = b"$pipe"
"""The owner, in the script, of the pipes that a template uses: `$pipe.date(x)`."""
_ASYNC = frozenset({b"async"})
_SAME = frozenset({b"slice"})
"""Pipes whose result has the type of their input."""
_PART = re.compile(
    rb"\|\||\?\.|\?\?|[|(){}\[\],;:?]|"
    rb'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:[^`\\]|\\.)*`',
    re.DOTALL,
)
_OPEN, _CLOSE = frozenset(b"([{"), frozenset(b")]}")
_NAME = re.compile(rb"\s*([A-Za-z_$][\w$]*)\s*")
_DEEPEST = 12
_RESERVED = re.compile(rb"(?<![\w$.])(?:default|delete|export|import|with)(?=\s*(?:\?\.|[.(]))")
"""Members of a component whose names a script can only use after `this`."""


def code(script: VirtualScript, text: bytes, start: int, end: int) -> None:
    """Adds code of a template."""
    for match in _RESERVED.finditer(text, start, end):
        script.code(start, match.start(), attribute=True)
        script.glue(b"this.")
        start = match.start()
    script.code(start, end, attribute=True)


def divided(text: bytes, start: int, end: int, sign: bytes) -> list[Span]:
    """Divides a span at a sign outside of brackets and strings."""
    spans: list[Span] = []
    depth, begin = 0, start
    for match in _PART.finditer(text, start, end):
        byte = match[0][0] if len(match[0]) == 1 else 0
        depth += (byte in _OPEN) - (byte in _CLOSE)
        if match[0] == sign and depth <= 0:
            spans.append((begin, match.start()))
            begin = match.end()
    spans.append((begin, end))
    return spans


LONGEST_HEAD = 5_000
"""Longest head of a block, in bytes."""


def parted(text: bytes, start: int, limit: int = LONGEST_HEAD) -> int:
    """Returns the position of the bracket that closes the one at a position; -1 without one."""
    depth = 0
    for match in _PART.finditer(text, start, start + limit):
        byte = match[0][0] if len(match[0]) == 1 else 0
        depth += (byte in _OPEN) - (byte in _CLOSE)
        if not depth:
            return match.start()
    return -1


def expression(script: VirtualScript, text: bytes, start: int, end: int, depth: int = 0) -> None:
    """Adds an expression, with its pipes translated to calls."""
    if text.find(b"|", start, end) < 0 or depth > _DEEPEST:
        code(script, text, start, end)
        return
    segments = divided(text, start, end, b"|")
    calls: list[tuple[Span, list[Span]]] = []
    for segment in segments[1:]:
        match = _NAME.match(text, *segment)
        if match is None:
            code(script, text, start, end)
            return
        arguments = _arguments(text, match.end(), segment[1])
        calls.append((match.span(1), arguments))
    for name, _ in reversed(calls):
        word = text[slice(*name)]
        script.glue(b"(" if word in _ASYNC | _SAME else PIPE + b".")
        if word not in _ASYNC | _SAME:
            script.name(word, name[0])
            script.glue(b"(")
    _inner(script, text, *segments[0], depth=depth)
    for name, arguments in calls:
        word = text[slice(*name)]
        if word in _ASYNC:
            script.glue(b"\n).#async")
            continue
        if word in _SAME:
            script.glue(b"\n)")
            continue
        for argument in arguments:
            script.glue(b",")
            expression(script, text, *argument, depth=depth + 1)
        script.glue(b"\n)")


def _arguments(text: bytes, start: int, end: int) -> list[Span]:
    """Returns the spans of a pipe's arguments: `: a : b ? c : d`."""
    spans: list[Span] = []
    depth = open_choices = 0
    begin = -1
    for match in _PART.finditer(text, start, end):
        sign = match[0]
        byte = sign[0] if len(sign) == 1 else 0
        depth += (byte in _OPEN) - (byte in _CLOSE)
        if depth:
            continue
        if sign == b"?":
            open_choices += 1
        elif sign == b":" and open_choices:
            open_choices -= 1
        elif sign == b":":
            if begin >= 0:
                spans.append((begin, match.start()))
            begin = match.end()
    if begin >= 0:
        spans.append((begin, end))
    return [span for span in spans if text[slice(*span)].strip()]


def _inner(script: VirtualScript, text: bytes, start: int, end: int, *, depth: int) -> None:
    """Adds code that may have pipes inside of brackets."""
    if text.find(b"|", start, end) < 0 or depth > _DEEPEST:
        code(script, text, start, end)
        return
    at = passed = start
    for match in _PART.finditer(text, start, end):
        if match.start() < passed or match[0] not in {b"(", b"[", b"{"}:
            continue
        closing = parted(text, match.start(), end - match.start())
        if closing < 0:
            break
        passed = closing
        if text.find(b"|", match.end(), closing) < 0:
            continue
        code(script, text, at, match.end())
        for number, part in enumerate(divided(text, match.end(), closing, b",")):
            if number:
                script.glue(b",")
            keyed = divided(text, *part, b":") if match[0] == b"{" else []
            value = keyed[1][0] if len(keyed) > 1 else part[0]
            if value > part[0]:
                code(script, text, part[0], value)
            expression(script, text, value, part[1], depth + 1)
        at = closing
    code(script, text, at, end)


def statements(script: VirtualScript, text: bytes, start: int, end: int) -> None:
    """Adds the statements of an event."""
    if script.is_usable(start, end):
        script.glue(b"\n{")
        code(script, text, start, end)
        script.glue(b"\n}")
        script.written(start, end)


class Part(NamedTuple):
    """One part of a structural directive's text: `let item`, `of items`, `items as list`."""

    key: bytes
    place: int
    """Where the key is."""
    variable: Span | None
    value: Span
    """Both -1 without a value."""
    exported: bool = False
    """Whether the variable is one that the directive names: `let i = index`."""


_NO_VALUE = (-1, -1)
_LET = re.compile(rb"\s*let[\s-]+([A-Za-z_$][\w$]*)(?:\s*=\s*([\w$]+))?\s*[;,]?")
_KEY = re.compile(rb"\s*([A-Za-z_$][\w$-]*)(?:\s*:\s*|\s+|\Z)(?!as\s|=)")
_ALIAS = re.compile(rb"\s+as\s+([A-Za-z_$][\w$]*)\s*\Z")
_INDEX_ALIAS = re.compile(rb"\s*([A-Za-z_$][\w$]*)\s+as\s+([A-Za-z_$][\w$]*)\s*\Z")


def microsyntax(text: bytes, start: int, end: int) -> list[Part]:
    """Returns the parts of a structural directive's text; the first value has an empty key."""
    parts: list[Part] = []
    at, first = start, True
    spans = [
        span for outer in divided(text, start, end, b";") for span in divided(text, *outer, b",")
    ]
    for begin, finish in spans:
        at = begin
        while match := _LET.match(text, at, finish):
            parts.append(Part(b"", at, match.span(1), _NO_VALUE, bool(match[2])))
            at, first = match.end(), False
        if not text[at:finish].strip():
            continue
        key, place = b"", at
        renamed = _INDEX_ALIAS.match(text, at, finish) if not first else None
        if renamed is not None:
            # `index as i`
            parts.append(Part(b"", at, renamed.span(2), _NO_VALUE, True))
            continue
        named = None if first else _KEY.match(text, at, finish)
        if named is not None:
            key, place, at = named[1], named.start(1), named.end()
        first = False
        alias = _ALIAS.search(text, at, finish)
        variable = alias.span(1) if alias is not None else None
        value = (at, alias.start() if alias is not None else finish)
        if text[slice(*value)].strip():
            parts.append(Part(key, place, variable, value))
    return parts
