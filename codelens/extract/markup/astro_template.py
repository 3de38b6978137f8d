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
    camelized,
    is_name,
)
from codelens.extract.markup.virtual_script import VirtualScript, is_usable

_FENCE = re.compile(rb"\s*---.*?(?:^|\n)---", re.DOTALL)
_RAW = re.compile(rb"<(script|style)\b", re.IGNORECASE)
_MARKUP = re.compile(rb"\{|" + TAG.pattern, re.DOTALL)
_CODE = re.compile(
    rb'[{}]|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`'
    rb"|//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*+\*/|\\.|<!--.*?(?:-->|\Z)|<(?=[A-Za-z>])",
    re.DOTALL,
)
_BEFORE_MARKUP = re.compile(rb"(?:[(,>?:&|{}\[;=]|\breturn)\s*\Z|\A\s*\Z")
_MOST_UNCLOSED = 8
_LOOKED_BACK = 40
"""Bytes before a `<` that decide whether it begins markup."""

_Step = Callable[[], None]


class _Level(NamedTuple):
    """The context of a piece of code or markup."""

    kind: str
    """`markup` or `code`."""
    start: int
    depth: int
    """Braces open in the code, or elements open in the markup."""


def translate(script: VirtualScript) -> None:
    """Adds the script of a component's markup to it."""
    fence = _FENCE.match(script.text)
    _AstroMarkup(script).read(fence.end() if fence is not None else 0)


class _AstroMarkup:
    def __init__(self, script: VirtualScript) -> None:
        self.text, self.script = script.text, script
        self._braces = Braces(script.text)
        self._unclosed = 0

    def read(self, at: int) -> None:
        """Translates from a position on."""
        text = self.text
        while match := _MARKUP.search(text, at):
            at = match.end()
            if match[0] == b"{":
                if self._unclosed < _MOST_UNCLOSED:
                    at = self._expression(at, b"\n;[", b"\n];")
            elif match["name"] and not match["close"]:
                if raw := _RAW.match(text, match.start()):
                    at = self._raw(raw[1], at)
                else:
                    at, _ = self.tag(match["name"], match.start("name"), at, nested=None)

    def _raw(self, name: bytes, at: int) -> int:
        """Translates the tag of a script or style. Returns where its text ends."""
        at, is_empty = self.tag(name, at - len(name), at, nested=None)
        if is_empty:
            return at
        closing = self.text.find(b"</" + name, at)
        return closing if closing >= 0 else len(self.text)

    def tag(self, name: bytes, place: int, at: int, nested: list[_Step] | None) -> tuple[int, bool]:
        """Translates an opening tag. Returns where it ends, and whether the element is empty."""
        script = self.script
        component = name if name[:1].isupper() or b"." in name else b""
        if component and not all(map(is_name, component.split(b"."))):
            component = b""
        end = len(self.text)
        steps: list[_Step] = [] if nested is None else nested
        opening, closing = (b"\n;", b";") if nested is None else (b"\n", b",")
        if component:
            steps.append(lambda: script.glue(opening))
            steps.append(lambda: script.name(component, place))
            steps.append(lambda: script.glue(b"()" + closing))
        for entry in attributes(self.text, at, self._braces):
            if isinstance(entry, int):
                end = entry
            else:
                self._attribute(entry, component, steps, closing=closing)
        if nested is None:
            for step in steps:
                step()
        return abs(end), end < 0 or name.lower() in VOID

    def _attribute(
        self, entry: Attribute, component: bytes, steps: list[_Step], *, closing: bytes
    ) -> None:
        text, script = self.text, self.script
        name = text[entry.start : entry.end]
        start, finish = entry.value, entry.finish
        place = entry.start
        if not name and entry.braces:
            code = text[start:finish].strip()
            name = code if is_name(code) else b""
            place = text.find(code, start)
        inner: list[_Step] = []
        if entry.braces and text[start:finish].strip():
            if text[start:finish].lstrip().startswith(b"..."):
                start = text.find(b"...", start) + 3
            # The code may contain markup.
            if _Code(self, start, inner, finish).read() != finish:
                inner = []
        if component and name and is_name(camelized(name)):
            steps.append(lambda: script.member_head(component, camelized(name), place, closing))
            steps.append(lambda: script.glue(b"("))
            steps.extend(inner)
            steps.append(lambda: script.glue(b"\n)" + closing))
        elif inner:
            steps.append(lambda: script.glue(b"\n;[" if closing == b";" else b"\n["))
            steps.extend(inner)
            steps.append(lambda: script.glue(b"\n]" + closing))

    def _expression(self, start: int, opening: bytes, closing: bytes) -> int:
        """Translates an expression after its brace. Returns where to continue."""
        steps: list[_Step] = []
        end = _Code(self, start, steps, -1).read()
        if end < 0:
            self._unclosed += 1
            return start
        if self.text[start:end].strip():
            self.script.glue(opening)
            for step in steps:
                step()
            self.script.glue(closing)
        return end + 1


class _Code:
    """Collects the steps of code that may contain markup, which may contain code.

    Args:
        markup: whose tags it uses.
        start: where the code begins, after its brace.
        steps: to add to.
        finish: where the code ends; -1 if it ends at its closing brace.
    """

    def __init__(self, markup: _AstroMarkup, start: int, steps: list[_Step], finish: int) -> None:
        self._markup = markup
        self._text, self._script = markup.text, markup.script
        self._steps = steps
        self._finish = finish
        self._limit = finish if finish >= 0 else len(self._text)
        self._levels = [_Level("code", start, 0)]
        self._pieces: list[bytes] = []
        self._at = self._begin = start

    def read(self) -> int:
        """Returns where the code ends; -1 if no brace closes it, or if it is incomplete."""
        while self._levels:
            level = self._levels[-1]
            pattern = _CODE if level.kind == "code" else _MARKUP
            match = pattern.search(self._text, self._at, self._limit)
            if match is None:
                alone = self._finish >= 0 and len(self._levels) == 1 and level.kind == "code"
                if not alone or level.depth:
                    return -1
                self._code(self._finish)
                return self._finish if self._is_usable() else -1
            self._at = match.end()
            if level.kind == "code":
                self._in_code(match, level)
            else:
                self._in_markup(match, level)
        return self._at - 1 if self._is_usable() else -1

    def _is_usable(self) -> bool:
        return is_usable(b"".join(self._pieces))

    def _glue(self, piece: bytes, code: bytes) -> None:
        script = self._script
        self._pieces.append(piece)
        self._steps.append(lambda: script.glue(code))

    def _code(self, end: int) -> None:
        """Takes the code up to a position. The next piece begins at the current position."""
        start, script = self._begin, self._script
        self._pieces.append(self._text[start:end])
        if start < end:
            self._steps.append(lambda: script.code(start, end))
        self._begin = self._at

    def _in_code(self, match: re.Match[bytes], level: _Level) -> None:
        sign = match[0]
        if sign == b"{":
            self._levels[-1] = level._replace(depth=level.depth + 1)
        elif sign == b"}" and level.depth:
            self._levels[-1] = level._replace(depth=level.depth - 1)
        elif sign == b"}":
            self._code(match.start())
            self._levels.pop()
            if self._levels:
                self._glue(b"],", b"\n],")
        elif sign[:4] == b"<!--":
            self._code(match.start())
        elif sign == b"<":
            before = self._text[max(level.start, match.start() - _LOOKED_BACK) : match.start()]
            if _BEFORE_MARKUP.search(before):
                self._code(match.start())
                self._glue(b"[", b"[")
                self._levels.append(_Level("markup", match.start(), 0))
                self._at = match.start()

    def _in_markup(self, match: re.Match[bytes], level: _Level) -> None:
        name, depth = match["name"] if match[0] != b"{" else None, level.depth
        if match[0] == b"{":
            self._glue(b"[0", b"\n[")
            self._levels.append(_Level("code", self._at, 0))
            self._begin = self._at
            return
        if name is None:
            return
        if match["close"]:
            depth -= 1
            closed = self._text.find(b">", self._at, self._limit)
            self._at = closed + 1 if closed >= 0 else self._at
        elif name:
            self._at, is_empty = self._markup.tag(
                name, match.start("name"), self._at, nested=self._steps
            )
            depth += not is_empty
        else:
            self._at += 1
            depth += 1
        self._levels[-1] = level._replace(depth=depth)
        if depth <= 0:
            self._levels.pop()
            self._glue(b"]", b"\n]")
            self._begin = self._at
