"""Translates the markup of an Astro component to a script."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from codelens.extract.markup.markup_tokens import (
    TAG,
    VOID,
    Attribute,
    Braces,
    attributes,
    is_name,
)
from codelens.extract.markup.virtual_script import VirtualScript, is_usable

_FENCE = re.compile(rb"\s*---.*?(?:^|\n)---", re.DOTALL)
_RAW = re.compile(rb"<(script|style)\b", re.IGNORECASE)
_MARKUP = re.compile(rb"\{|" + TAG.pattern, re.DOTALL)
_CODE = re.compile(
    rb'[{}]|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`'
    rb"|//[^\n]*|/\*.{0,2000}?\*/|<!--.*?(?:-->|\Z)|<(?=[A-Za-z>])",
    re.DOTALL,
)
_BEFORE_MARKUP = re.compile(rb"(?:[(,>?:&|{}\[;=]|\breturn)\s*\Z|\A\s*\Z")
_MOST_UNCLOSED = 8

_Step = Callable[[], None]


class _Level(NamedTuple):
    """What surrounds a piece of code or markup."""

    kind: str
    """`markup` or `code`."""
    start: int
    depth: int
    """Braces open in the code, or elements open in the markup."""


def translate(text: bytes, script: VirtualScript, names: set[bytes]) -> None:
    """Adds the script of a component's markup.

    Args:
        text: the whole component.
        script: to add to.
        names: unused; names of elements say themselves what they mean.
    """
    del names
    fence = _FENCE.match(text)
    _Markup(text, script).read(fence.end() if fence is not None else 0)


class _Markup:
    def __init__(self, text: bytes, script: VirtualScript) -> None:
        self._text = text
        self._script = script
        self._braces = Braces(text)
        self._unclosed = 0

    def read(self, at: int) -> None:
        """Translates from a position on."""
        text = self._text
        while match := _MARKUP.search(text, at):
            at = match.end()
            if match[0] == b"{":
                if self._unclosed < _MOST_UNCLOSED:
                    at = self._expression(at, b"\n;[", b"\n];")
            elif match["name"] and not match["close"]:
                if raw := _RAW.match(text, match.start()):
                    at = self._raw(raw[1], at)
                else:
                    at, _ = self._tag(match["name"], match.start("name"), at, nested=None)

    def _raw(self, name: bytes, at: int) -> int:
        """Translates the tag of a script or style. Returns where its text ends."""
        at, is_empty = self._tag(name, at - len(name), at, nested=None)
        if is_empty:
            return at
        closing = self._text.find(b"</" + name, at)
        return closing if closing >= 0 else len(self._text)

    def _tag(
        self, name: bytes, place: int, at: int, nested: list[_Step] | None
    ) -> tuple[int, bool]:
        """Translates an opening tag. Returns where it ends, and whether the element is empty."""
        script = self._script
        component = name if name[:1].isupper() or b"." in name else b""
        if component and not all(map(is_name, component.split(b"."))):
            component = b""
        end = len(self._text)
        steps: list[_Step] = [] if nested is None else nested
        opening, closing = (b"\n;", b";") if nested is None else (b"\n", b",")
        if component:
            steps.append(lambda: script.glue(opening))
            steps.append(lambda: script.name(component, place))
            steps.append(lambda: script.glue(b"()" + closing))
        for one in attributes(self._text, at, self._braces):
            if isinstance(one, int):
                end = one
            else:
                self._attribute(one, component, steps, closing=closing)
        if nested is None:
            for step in steps:
                step()
        return abs(end), end < 0 or name.lower() in VOID

    def _attribute(
        self, one: Attribute, component: bytes, steps: list[_Step], *, closing: bytes
    ) -> None:
        text, script = self._text, self._script
        name = text[one.start : one.end]
        start, finish = one.value, one.finish
        place = one.start
        if not name and one.braces:
            code = text[start:finish].strip()
            name = code if is_name(code) else b""
            place = text.find(code, start)
        if component and name and is_name(name):
            steps.append(lambda: script.member(component, name, place, closing))
        if one.braces and text[start:finish].strip():
            if text[start:finish].lstrip().startswith(b"..."):
                start = text.find(b"...", start) + 3
            self._value(start, finish, steps, closing)

    def _value(self, start: int, finish: int, steps: list[_Step], closing: bytes) -> None:
        """Adds the steps of the code between braces, which may contain markup."""
        script = self._script
        inner: list[_Step] = []
        end = self._code(start, inner, finish)
        if end == finish:
            steps.append(lambda: script.glue(b"\n;[" if closing == b";" else b"\n["))
            steps.extend(inner)
            steps.append(lambda: script.glue(b"\n]" + closing))

    def _expression(self, start: int, opening: bytes, closing: bytes) -> int:
        """Translates an expression after its brace. Returns where to go on."""
        steps: list[_Step] = []
        end = self._code(start, steps, -1)
        if end < 0:
            self._unclosed += 1
            return start
        if self._text[start:end].strip():
            self._script.glue(opening)
            for step in steps:
                step()
            self._script.glue(closing)
        return end + 1

    def _code(self, start: int, steps: list[_Step], finish: int) -> int:
        """Collects the steps of code up to the brace that closes it, or to a known end.

        Returns where it ends; -1 if nothing closes it, or if it is not complete.
        """
        text, script = self._text, self._script
        limit = finish if finish >= 0 else len(text)
        levels = [_Level("code", start, 0)]
        pieces: list[bytes] = []
        at = begin = start

        def code(first: int, last: int) -> None:
            pieces.append(text[first:last])
            if first < last:
                steps.append(lambda: script.code(first, last))

        while True:
            kind, first, depth = levels[-1]
            pattern = _CODE if kind == "code" else _MARKUP
            match = pattern.search(text, at, limit)
            if match is None:
                if finish >= 0 and len(levels) == 1 and not depth:
                    code(begin, finish)
                    return finish if is_usable(b"".join(pieces)) else -1
                return -1
            at = match.end()
            sign = match[0]
            if kind == "code":
                if sign == b"{":
                    levels[-1] = _Level(kind, first, depth + 1)
                elif sign == b"}" and depth:
                    levels[-1] = _Level(kind, first, depth - 1)
                elif sign == b"}":
                    code(begin, match.start())
                    begin = at
                    levels.pop()
                    if not levels:
                        return match.start() if is_usable(b"".join(pieces)) else -1
                    pieces.append(b"],")
                    steps.append(lambda: script.glue(b"\n],"))
                elif sign[:4] == b"<!--":
                    code(begin, match.start())
                    begin = at
                elif sign == b"<" and _BEFORE_MARKUP.search(
                    text[max(first, match.start() - 40) : match.start()]
                ):
                    code(begin, match.start())
                    pieces.append(b"[")
                    steps.append(lambda: script.glue(b"["))
                    levels.append(_Level("markup", match.start(), 0))
                    at = match.start()
                continue
            name = match["name"] if sign != b"{" else None
            if sign == b"{":
                pieces.append(b"[0")
                steps.append(lambda: script.glue(b"\n["))
                levels.append(_Level("code", at, 0))
                begin = at
                continue
            if name is None:
                continue
            if match["close"]:
                depth -= 1
                closed = text.find(b">", at, limit)
                at = closed + 1 if closed >= 0 else at
            else:
                at, is_empty = (
                    self._tag(name, match.start("name"), at, steps)
                    if name
                    else (match.end() + 1, False)
                )
                depth += not is_empty
            levels[-1] = _Level(kind, first, depth)
            if depth <= 0:
                levels.pop()
                pieces.append(b"]")
                steps.append(lambda: script.glue(b"\n]"))
                begin = at
