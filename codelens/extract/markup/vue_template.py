"""Translates the template of a Vue component to a script."""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.extract.markup.markup_tokens import (
    NATIVE,
    TAG,
    VOID,
    Attribute,
    attributes,
    camelized,
    capitalized,
    is_name,
)
from codelens.extract.markup.virtual_script import TAKEN, NestedMarkup, VirtualScript, is_usable

_ROOT = re.compile(rb"<(template|script|style)\b", re.IGNORECASE)
_PLAIN_LANGUAGES = frozenset({b"", b"html"})
_LOOP = re.compile(rb"\s*(.*?)\s+(?:in|of)\s+(.*\S)\s*\Z", re.DOTALL)
_ALIASES = re.compile(rb"[\[\](){},]")
_DIRECTIVE = re.compile(
    rb"(?P<sign>[:@#.]|v-(?P<name>[\w-]+))(?P<colon>:?)(?P<argument>\[[^\]]*\]|[^.\[]*)"
)
_SHORT = {b":": b"bind", b".": b"bind", b"@": b"on", b"#": b"slot"}
_BUILT_IN = frozenset(
    b"bind on slot model if else-if else for show html text once memo cloak pre is".split()
)
_SCOPES = frozenset({b"slot-scope", b"scope"})
_UNUSED = _SCOPES | {b"key", b"ref"}
_FUNCTION = re.compile(rb"\s*(?:async\s+)?function\b")


class _Directive(NamedTuple):
    name: bytes
    argument: bytes
    place: int
    """Where the argument of a directive begins."""
    attribute: Attribute


def translate(script: VirtualScript) -> None:
    """Adds the script of a component's templates to it."""
    text, at = script.text, 0
    while match := _ROOT.search(text, at):
        kind = match[1].lower()
        language, at, is_empty = b"", len(text), False
        for entry in attributes(text, match.end(), None):
            if isinstance(entry, int):
                at = abs(entry)
                is_empty = entry < 0
            elif text[entry.start : entry.end] == b"lang":
                language = text[entry.value : entry.finish] if entry.value >= 0 else b""
        if is_empty:
            continue
        if kind == b"template" and language in _PLAIN_LANGUAGES:
            at = _Template(script).read(at)
        else:
            closing = text.find(b"</" + match[1], at)
            at = closing if closing >= 0 else len(text)


class _Template(NestedMarkup):
    def __init__(self, script: VirtualScript) -> None:
        super().__init__(script)
        self._text, self._names = script.text, script.names
        self._has_ends = True

    def read(self, at: int) -> int:
        """Translates from after the opening tag of a template. Returns where the template ends."""
        text = self._text
        while match := TAG.search(text, at):
            self._interpolations(at, match.start())
            at = match.end()
            name = match["name"]
            if name is None or (not name and not match["close"]):
                continue
            if match["close"]:
                if name == b"template" and not self._opened.get(name):
                    break
                self._close(name)
                continue
            at = self._element(name, match.start("name"), at)
        else:
            self._interpolations(at, len(text))
            at = len(text)
        self._close_all()
        return at

    def _interpolations(self, start: int, end: int) -> None:
        text = self._text
        while self._has_ends and (start := text.find(b"{{", start, end)) >= 0:
            closing = text.find(b"}}", start)
            if closing < 0:
                self._has_ends = False
            elif closing < end:
                self._script.expression(start + 2, closing)
            start += 2

    def _element(self, name: bytes, place: int, at: int) -> int:
        """Translates an opening tag. Returns where it ends."""
        plain, directives, end = self._attributes(at)
        if any(entry.name == b"pre" for entry in directives):
            return self._skipped(name, end)
        closing = b"".join(
            self._loop(entry.attribute) for entry in directives if entry.name == b"for"
        )
        component = self._component(name)
        if component:
            self._script.glue(b"\n;")
            self._script.name(component, place)
            self._script.glue(b"();")
        for entry in plain:
            self._plain(entry, name, component)
        for entry in directives:
            if entry.name not in {b"for", b"slot"}:
                self._directive(entry, component)
        slots = [self._slot(entry, component) for entry in directives if entry.name == b"slot"]
        scopes = [entry for entry in plain if self._text[entry.start : entry.end] in _SCOPES]
        closing += b"".join((*slots, *map(self._parameters, scopes)))
        if end < 0 or name.lower() in VOID:
            self._script.glue(closing)
        else:
            self._push(name, closing, component)
        return abs(end)

    def _attributes(self, at: int) -> tuple[list[Attribute], list[_Directive], int]:
        """Returns the attributes of a tag, and its end; negative if the tag closes itself."""
        text = self._text
        end = len(text)
        plain: list[Attribute] = []
        directives: list[_Directive] = []
        for entry in attributes(text, at, None):
            if isinstance(entry, int):
                end = entry
                continue
            match = _DIRECTIVE.match(text, entry.start, entry.end)
            if match is None:
                plain.append(entry)
            else:
                kind = _SHORT.get(match["sign"]) or match["name"]
                place = match.start("argument")
                directives.append(_Directive(kind, match["argument"], place, entry))
        return plain, directives, end

    def _slot(self, entry: _Directive, component: bytes) -> bytes:
        """Uses a slot of the component around. Returns what closes the scope of its props."""
        owner = component or (self._stack[-1].component if self._stack else b"")
        slot = camelized(entry.argument)
        if not owner or entry.argument[:1] == b"[" or (slot and not is_name(slot)):
            return self._parameters(entry.attribute)
        if slot:
            self._script.member(owner, slot, entry.place)
        value = b"\n=" + owner + b"()." + (slot or b"default") + b"." + TAKEN + b";"
        return self._parameters(entry.attribute, value)

    def _skipped(self, name: bytes, end: int) -> int:
        """Returns where an element ends whose content is plain text."""
        if end < 0:
            return -end
        closing = self._text.find(b"</" + name, end)
        return closing if closing >= 0 else end

    def _component(self, name: bytes) -> bytes:
        """Returns the name in the script that an element means; empty for no component."""
        if b"." in name:
            return name if all(map(is_name, name.split(b"."))) else b""
        if name in NATIVE or name == b"component":
            return b""
        choices = (name, camelized(name), capitalized(name))
        known = next((choice for choice in choices if choice in self._names), b"")
        chosen = known or (choices[2] if name[:1].isupper() or b"-" in name else b"")
        return chosen if is_name(chosen) else b""

    def _plain(self, entry: Attribute, element: bytes, component: bytes) -> None:
        name = self._text[entry.start : entry.end]
        if element == b"slot" and name == b"name" and entry.value >= 0:
            slot = self._text[entry.value : entry.finish]
            self._script.members.append((slot, entry.value, entry.finish))
        if name == b"ref" and entry.value >= 0:
            target = self._text[entry.value : entry.finish]
            if target in self._names and is_name(target):
                self._script.expression(entry.value, entry.finish)
        if component and name not in _UNUSED and is_name(camelized(name)):
            self._script.member(component, camelized(name), entry.start)

    def _directive(self, entry: _Directive, component: bytes) -> None:
        script, attribute = self._script, entry.attribute
        argument = entry.argument
        prop = camelized(argument)
        if argument[:1] == b"[":
            script.expression(entry.place + 1, entry.place + len(argument) - 1)
        elif (
            component
            and entry.name == b"bind"
            and is_name(prop)
            and prop not in _UNUSED
            and attribute.value >= 0
        ):
            script.given(component, prop, entry.place, (attribute.value, attribute.finish))
            return
        elif component and entry.name in {b"bind", b"on"} and argument:
            self._named(argument, entry.place, component)
        elif component and entry.name == b"model":
            place = entry.place if argument else attribute.start
            self._named(argument or b"modelValue", place, component)
        if entry.name not in _BUILT_IN:
            directive = b"v" + capitalized(entry.name)
            if is_name(directive):
                script.glue(b"\n;(")
                script.name(directive, attribute.start)
                script.glue(b");")
        if attribute.value < 0:
            short = camelized(argument)
            if entry.name == b"bind" and is_name(short):
                script.glue(b"\n;(")
                script.name(short, entry.place)
                script.glue(b");")
        elif entry.name == b"on":
            self._handler(attribute)
        else:
            script.expression(attribute.value, attribute.finish, attribute=True)

    def _named(self, argument: bytes, place: int, component: bytes) -> None:
        """Adds the use of a prop or an event of a component."""
        name = camelized(argument)
        if is_name(name) and name not in _UNUSED:
            self._script.member(component, name, place)

    def _handler(self, attribute: Attribute) -> None:
        start, finish = attribute.value, attribute.finish
        if _FUNCTION.match(self._text, start, finish):
            self._script.expression(start, finish, attribute=True)
        elif self._script.is_usable(start, finish):
            self._script.glue(b"\n{")
            self._script.code(start, finish, attribute=True)
            self._script.written(start, finish)
            self._script.glue(b"\n}")

    def _loop(self, attribute: Attribute) -> bytes:
        """Opens the scope of a `v-for`. Returns what closes it."""
        if attribute.value < 0:
            return b""
        match = _LOOP.match(self._text, attribute.value, attribute.finish)
        if match is None or not is_usable(match[1]) or not is_usable(match[2]):
            return b""
        aliases = _split(self._text, *match.span(1))
        script = self._script
        script.code(*aliases[0], opening=b"for(const ")
        script.glue(b" of (")
        script.code(*match.span(2), attribute=True)
        script.glue(b")){")
        for start, end in aliases[1:]:
            script.glue(b"const ")
            script.code(start, end)
            script.glue(b"=0;")
        return b"\n}"

    def _parameters(self, attribute: Attribute, value: bytes = b"") -> bytes:
        """Opens the scope of the props of a slot, which have a `value`. Returns what closes it."""
        if attribute.value < 0 or not self._script.is_usable(attribute.value, attribute.finish):
            return b""
        if value:
            self._script.code(attribute.value, attribute.finish, attribute=True, opening=b"{const ")
            self._script.glue(value)
            return b"\n}"
        self._script.glue(b"\n;((")
        self._script.code(attribute.value, attribute.finish, attribute=True)
        self._script.glue(b"\n)=>{")
        return b"\n});"


def _split(text: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Returns the spans of `(item, index)`, without the brackets."""
    if text[start : start + 1] == b"(" and text[end - 1 : end] == b")":
        start, end = start + 1, end - 1
    spans: list[tuple[int, int]] = []
    depth, begin = 0, start
    for match in _ALIASES.finditer(text, start, end):
        if match[0] == b"," and not depth:
            spans.append((begin, match.start()))
            begin = match.end()
        elif match[0] != b",":
            depth += 1 if match[0] in b"([{" else -1
    spans.append((begin, end))
    return [span for span in spans if text[slice(*span)].strip()] or [(start, end)]
