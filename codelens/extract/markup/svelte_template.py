"""Translates the markup of a Svelte component to a script."""

from __future__ import annotations

import re

from codelens.extract.markup.markup_tokens import (
    TAG,
    VOID,
    Attribute,
    Braces,
    attributes,
    camelized,
    is_name,
)
from codelens.extract.markup.virtual_script import NestedMarkup, OpenPart, VirtualScript, is_usable

_RAW = re.compile(rb"<(script|style)\b", re.IGNORECASE)
_TOKEN = re.compile(rb"\{|" + TAG.pattern, re.DOTALL)
_BLOCK = re.compile(rb"\s*([#:/@])\s*(else\s+if|[a-z]+)\s*")
_AS = re.compile(rb"\s+as\s+|[\[\](){}]|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_PART = re.compile(rb"[\[\](){},]")
_THEN = re.compile(rb"\s+(then|catch)\b\s*")
_SNIPPET = re.compile(rb"([A-Za-z_$][\w$]*)\s*(?:<[^>]*>)?\s*\(")
_ON_VARIABLES = frozenset({b"bind", b"class", b"style", b"let"})
_RUNS = frozenset({b"use", b"transition", b"in", b"out", b"animate"})


def translate(script: VirtualScript) -> None:
    """Adds the script of a component's markup to it."""
    _SvelteMarkup(script).read()


class _SvelteMarkup(NestedMarkup):
    def __init__(self, script: VirtualScript) -> None:
        super().__init__(script)
        self._text, self._names = script.text, script.names
        self._braces = Braces(script.text)
        self._awaited = (0, 0)

    def read(self) -> None:
        """Translates the whole text."""
        text, at = self._text, 0
        while match := _TOKEN.search(text, at):
            at = match.end()
            name = match["name"]
            if match[0] == b"{":
                end = self._braces.end(match.start())
                if end >= 0:
                    self._mustache(match.start(), at, end)
                    at = end + 1
            elif name is None:
                continue
            elif match["close"]:
                self._close(name)
            elif raw := _RAW.match(text, match.start()):
                closing = text.find(b"</" + raw[1], at)
                at = closing if closing >= 0 else len(text)
            else:
                at = self._element(name, match.start("name"), at)
        self._close_all(len(text))

    def _add_closing(self, part: OpenPart, end: int) -> None:
        if part.name == b"#snippet":
            self._script.glue(b"\n")
            self._script.definition(part.closing, end)
        else:
            self._script.glue(part.closing)

    def _mustache(self, place: int, start: int, end: int) -> None:
        """Translates a tag in braces between elements."""
        match = _BLOCK.match(self._text, start, end)
        if match is None:
            self._script.expression(start, end)
            return
        sign, word, at = match[1], match[2], match.end()
        if sign == b"#":
            self._opening(word, place, at, end)
        elif sign == b"/":
            self._close(b"#" + word, end + 1)
        elif sign == b":":
            self._branch(word, at, end)
        elif word == b"const":
            if self._script.is_usable(at, end):
                self._script.code(at, end, opening=b"const ")
                self._script.glue(b"\n;")
        elif word == b"debug":
            self._script.expression(at, end)
        else:
            self._script.expression(at, end)

    def _opening(self, word: bytes, place: int, at: int, end: int) -> None:
        script = self._script
        closing = b"\n}"
        if word == b"each":
            self._each(at, end)
        elif word == b"snippet":
            match = _SNIPPET.match(self._text, at, end)
            if match is None or not script.is_usable(at, end):
                return
            if self._stack and self._stack[-1].component:
                # A snippet right inside of a component is one of its props.
                script.member(self._stack[-1].component, match[1], match.start(1))
            script.glue(b"\n")
            script.definition(b"function ", place)
            script.code(at, end)
            script.glue(b"{")
            closing = b"}"
        elif word == b"await":
            then = _last(_THEN, self._text, at, end)
            self._awaited = (at, then[0] if then else end)
            script.expression(*self._awaited)
            script.glue(b"\n{")
            if then is not None:
                self._settled(then[2], then[1], end)
        else:
            script.expression(at, end)
            script.glue(b"\n{")
        self._push(b"#" + word, closing)

    def _branch(self, word: bytes, at: int, end: int) -> None:
        if not self._stack:
            return
        # A branch closes what the previous branch left open.
        block = next((entry.name for entry in reversed(self._stack) if entry.name[:1] == b"#"), b"")
        if not block:
            return
        while self._stack[-1].name != block:
            self._pop(at)
        self._script.glue(b"\n}")
        if word.startswith(b"else") and word != b"else":
            self._script.expression(at, end)
        self._script.glue(b"\n{")
        if word in {b"then", b"catch"}:
            self._settled(word, at, end)

    def _settled(self, word: bytes, at: int, end: int) -> None:
        """Binds the value or the error of a promise."""
        if self._script.is_usable(at, end):
            value = self._text[slice(*self._awaited)]
            known = word == b"then" and is_usable(value)
            self._script.code(at, end, opening=b"const ")
            self._script.glue(b"=await(\n" + value + b"\n);" if known else b"=0;")

    def _each(self, at: int, end: int) -> None:
        """Opens the scope of a loop."""
        text, script = self._text, self._script
        last = _last(_AS, text, at, end)
        expression = (at, last[0] if last else end)
        if last is None or not script.is_usable(*expression):
            script.expression(*expression)
            script.glue(b"\n{")
            return
        item, index, key = _parts(text, last[1], end)
        if not is_usable(text[slice(*item)]):
            script.expression(*expression)
            script.glue(b"\n{")
            return
        script.code(*item, opening=b"for(const ")
        script.glue(b" of (")
        script.code(*expression)
        script.glue(b"\n)){")
        if is_usable(text[slice(*index)]):
            script.glue(b"const ")
            script.code(*index)
            script.glue(b"=0;")
        script.expression(*key)

    def _element(self, name: bytes, place: int, at: int) -> int:
        """Translates an opening tag. Returns where it ends."""
        script = self._script
        end = len(self._text)
        component = name if name[:1].isupper() or b"." in name else b""
        if component and not all(map(is_name, component.split(b"."))):
            component = b""
        if component:
            script.glue(b"\n;")
            script.name(component, place)
            script.glue(b"();")
        closing = b""
        for entry in attributes(self._text, at, self._braces):
            if isinstance(entry, int):
                end = entry
            else:
                closing += self._attribute(entry, component)
        if end < 0 or name.lower() in VOID:
            script.glue(closing)
        else:
            self._push(name, closing, component)
        return abs(end)

    def _attribute(self, entry: Attribute, component: bytes) -> bytes:
        """Translates an attribute. Returns what closes a scope that it opens."""
        text, script = self._text, self._script
        name = text[entry.start : entry.end]
        directive, colon, argument = name.partition(b":")
        argument = argument.partition(b"|")[0]
        place = entry.start + len(directive) + 1
        if not name:
            self._braced(entry, component)
            return b""
        if colon and directive == b"let":
            return self._let(entry, argument, place)
        if colon and directive in _RUNS:
            if all(map(is_name, argument.split(b"."))):
                script.glue(b"\n;(")
                script.code(place, place + len(argument))
                script.glue(b");")
        elif colon and directive in _ON_VARIABLES and entry.value < 0 and is_name(argument):
            script.expression(place, place + len(argument))
        prop = argument if colon and directive in {b"bind", b"on"} else name
        if component and is_name(camelized(prop)) and prop != b"this":
            at = place if prop is argument else entry.start
            if entry.braces:
                script.given(component, camelized(prop), at, (entry.value, entry.finish))
                return b""
            script.member(component, camelized(prop), at)
        self._value(entry)
        return b""

    def _braced(self, entry: Attribute, component: bytes) -> None:
        """Translates `{name}`, `{...all}` and `{@attach f}`."""
        text, script = self._text, self._script
        start, finish = entry.value, entry.finish
        code = text[start:finish].strip()
        if code.startswith(b"@"):
            match = _BLOCK.match(text, start, finish)
            script.expression(match.end() if match is not None else finish, finish)
        elif code.startswith(b"..."):
            script.expression(text.find(b"...", start) + 3, finish)
        else:
            script.expression(start, finish)
            if component and is_name(code):
                script.member(component, code, text.find(code, start))

    def _value(self, entry: Attribute) -> None:
        if entry.braces:
            self._script.expression(entry.value, entry.finish)
        elif entry.value >= 0:
            at = entry.value
            while (at := self._text.find(b"{", at, entry.finish)) >= 0:
                end = self._braces.end(at)
                if 0 <= end < entry.finish:
                    self._script.expression(at + 1, end)
                    at = end
                at += 1

    def _let(self, entry: Attribute, argument: bytes, place: int) -> bytes:
        """Opens the scope of a prop of a slot."""
        span = (entry.value, entry.finish) if entry.braces else (place, place + len(argument))
        if not is_usable(self._text[slice(*span)]):
            return b""
        self._script.glue(b"\n;((")
        self._script.code(*span)
        self._script.glue(b"\n)=>{")
        return b"\n});"


def _last(
    pattern: re.Pattern[bytes], text: bytes, start: int, end: int
) -> tuple[int, int, bytes] | None:
    """Returns the last match outside of brackets: where it begins and ends, and its word."""
    depth = 0
    last: tuple[int, int, bytes] | None = None
    for match in pattern.finditer(text, start, end):
        sign = match[0]
        if len(sign) == 1:
            depth += 1 if sign in b"([{" else -1
        elif not depth and sign[:1] not in b"\"'":
            last = (match.start(), match.end(), sign.strip())
    return last


def _parts(
    text: bytes, start: int, end: int
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Returns the spans of `item`, `index` and `key` in `item, index (key)`."""
    item, index, key = (start, end), (end, end), (end, end)
    depth = 0
    for match in _PART.finditer(text, start, end):
        sign = match[0]
        if not depth and sign == b",":
            item, index = (start, match.start()), (match.end(), end)
        elif not depth and sign == b"(" and match.start() > start:
            key = (match.end(), max(match.end(), text.rfind(b")", match.end(), end)))
            if index[0] < end:
                index = (index[0], match.start())
            else:
                item = (start, match.start())
            break
        elif sign != b",":
            depth += 1 if sign in b"([{" else -1
    return item, index, key
