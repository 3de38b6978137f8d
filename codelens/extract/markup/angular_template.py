"""Translates an Angular template to a script, and lists how its elements use directives."""

from __future__ import annotations

import re
from typing import NamedTuple

from codelens.extract.markup.angular_expressions import (
    LONGEST_HEAD,
    Span,
    divided,
    expression,
    microsyntax,
    parted,
    statements,
)
from codelens.extract.markup.markup_tokens import (
    NATIVE,
    TAG,
    VOID,
    Attribute,
    attributes,
    is_name,
)
from codelens.extract.markup.virtual_script import NestedMarkup, VirtualScript

_TOKEN = re.compile(
    rb"\{\{|\}|\{|@(?P<block>else\s+if|[a-z]+)\b\s*(?=[({])|@let\s+(?P<let>[A-Za-z_$][\w$]*)\s*=|"
    + TAG.pattern,
    re.DOTALL,
)
_RAW = frozenset({b"script", b"style"})
_CONDITIONS = frozenset({b"if", b"else if", b"switch", b"case"})
_BOUND = re.compile(rb"(?P<open>\[\(|\[|\(|\*|#|@|bindon-|bind-|on-|ref-|let-)(?P<name>[^\])]*)")
_FORMS = {b"bind-": b"[", b"on-": b"(", b"bindon-": b"[(", b"ref-": b"#"}
_NATIVE = (b"attr.", b"class.", b"style.", b"@", b"animate.")
"""Bindings to the element itself; no directive has inputs with these names."""
_FOR = re.compile(rb"\s*([A-Za-z_$][\w$]*)\s+of\s+")
_TRACK = re.compile(rb"\s*track\s+")
_LETS = re.compile(rb"\s*let\s+")
_ALIAS = re.compile(rb"\s*as\s+([A-Za-z_$][\w$]*)\s*\Z")
_WHEN = re.compile(rb"\s*(?:prefetch\s+|hydrate\s+)?when\s+")
_CLASSES = re.compile(r"[A-Za-z_][\w-]*")
_VALUE = re.compile(rb"[\w-]{1,40}")
_ICU = re.compile(rb"\{\s*([^{},]+),\s*(?:plural|select|selectordinal)\s*,")
_ICU_CASE = re.compile(rb"(?:=\d+|[\w-]+)\s*\Z")
_MOST_ATTRIBUTES = 40
_DEEPEST = 200
"""Elements and blocks that are nested deeper than this get no variables of their own."""
_WORD = re.compile(rb"[A-Za-z_$][\w$-]*")
_PLAIN = frozenset(b"class id style i18n slot ng-container ng-content".split())
"""Names that no directive takes."""
ELEMENT = b"$el"
"""The owner, in the script, of the elements that the template names: `$el.e3`."""


class ElementUse(NamedTuple):
    """A use of a directive, or of an input or output of one, by an element."""

    start: int
    name: str
    element: str
    """`<tag attribute attribute=value .class>`."""


class Translated(NamedTuple):
    """Uses in a template that its script does not contain."""

    uses: list[ElementUse]
    elements: list[str]
    """The elements that variables of the template stand for (`$el.e3`)."""


def translate(text: bytes, script: VirtualScript) -> Translated:
    """Adds the script of a template."""
    template = _AngularTemplate(text, script)
    template.read()
    return Translated(template.uses, template.elements)


class _AngularTemplate(NestedMarkup):
    """A template; blocks in braces have no name."""

    def __init__(self, text: bytes, script: VirtualScript) -> None:
        super().__init__(script)
        self._text = text
        self._has_ends = self._has_semicolons = True
        self._scanned = 0
        """How many bytes were searched for the end of a block's head without finding one."""
        self.uses: list[ElementUse] = []
        self.elements: list[str] = []

    def read(self) -> None:
        """Translates the whole text."""
        text, at = self._text, 0
        while match := _TOKEN.search(text, at):
            at = match.end()
            sign = match[0]
            if sign == b"{{":
                at = self._interpolation(at)
            elif match["let"]:
                at = self._let(match.span("let"), at)
            elif match["block"]:
                at = self._block(b" ".join(match["block"].split()), at)
            elif sign == b"{":
                self._icu(match.start())
            elif sign == b"}":
                self._close(b"")
            elif match["name"] and match["close"]:
                self._close(match["name"])
            elif match["name"]:
                at = self._element(match["name"], match.start("name"), at)
        self._close_all()

    def _interpolation(self, start: int, limit: int = -1) -> int:
        """Translates `{{ x }}` from its beginning. Returns where to continue."""
        if limit >= 0:
            end = self._text.find(b"}}", start, limit)
        else:
            end = self._text.find(b"}}", start) if self._has_ends else -1
            self._has_ends = end >= 0
        if end < 0:
            return max(start, limit)
        self._expression(start, end)
        return end + 2

    def _expression(self, start: int, end: int) -> None:
        if self._script.is_usable(start, end):
            self._script.glue(b"\n;[")
            expression(self._script, self._text, start, end)
            self._script.glue(b"\n];")

    def _icu(self, start: int) -> None:
        """Opens the braces of `{count, plural, =1 {...} other {...}}` and of its cases."""
        match = _ICU.match(self._text, start)
        if match is not None:
            self._expression(*match.span(1))
            self._push(b"", b"")
        elif self._opened.get(b"") and _ICU_CASE.search(self._text, max(0, start - 40), start):
            self._push(b"", b"")

    def _let(self, name: Span, start: int) -> int:
        end = self._text.find(b";", start) if self._has_semicolons else -1
        self._has_semicolons = end >= 0
        if end < 0:
            return start
        if self._script.is_usable(start, end):
            self._script.glue(b"\nconst ")
            self._script.code(*name)
            self._script.glue(b"=(")
            expression(self._script, self._text, start, end)
            self._script.glue(b"\n);")
        return end + 1

    def _block(self, word: bytes, at: int) -> int:
        """Opens a block: `@if (x; as y) {`. Returns where its content begins."""
        text, end = self._text, at
        head = (at, at)
        if text[at : at + 1] == b"(":
            closing = parted(text, at) if self._scanned <= len(text) else -1
            if closing < 0:
                self._scanned += LONGEST_HEAD
                return at
            head, end = (at + 1, closing), closing + 1
        while text[end : end + 1].isspace():
            end += 1
        if text[end : end + 1] != b"{":
            self._scanned += end - at
            return at
        if self._depth > _DEEPEST:
            self._push(b"", b"")
            return end + 1
        parts = divided(text, *head, b";") if head[0] < head[1] else []
        self._script.glue(b"\n{")
        closing_code = b"\n}"
        if word in _CONDITIONS and parts:
            self._condition(parts)
        elif word == b"for" and parts:
            closing_code = self._loop(parts) + closing_code
        for part in parts if word == b"defer" else ():
            when = _WHEN.match(text, *part)
            if when is not None:
                self._expression(when.end(), part[1])
        self._push(b"", closing_code)
        return end + 1

    def _condition(self, parts: list[Span]) -> None:
        alias = next(
            (match for part in parts[1:] if (match := _ALIAS.match(self._text, *part))), None
        )
        if alias is None:
            self._expression(*parts[0])
        elif self._script.is_usable(*parts[0]):
            self._script.glue(b"\nconst ")
            self._script.code(*alias.span(1))
            self._script.glue(b"=(")
            expression(self._script, self._text, *parts[0])
            self._script.glue(b"\n);")

    def _loop(self, parts: list[Span]) -> bytes:
        """Translates `item of items; track item.id; let i = $index`. Returns what closes it."""
        match = _FOR.match(self._text, *parts[0])
        if match is None or not self._script.is_usable(match.end(), parts[0][1]):
            return b""
        self._each(match.span(1), (match.end(), parts[0][1]))
        for part in parts[1:]:
            track, lets = _TRACK.match(self._text, *part), _LETS.match(self._text, *part)
            if track is not None:
                self._expression(track.end(), part[1])
            for name in divided(self._text, lets.end(), part[1], b",") if lets else ():
                bound = re.compile(rb"\s*([A-Za-z_$][\w$]*)\s*=").match(self._text, *name)
                if bound is not None:
                    self._unknown(bound.span(1))
        return b"\n}"

    def _each(self, name: Span, values: Span) -> None:
        self._script.glue(b"\nfor(const ")
        self._script.code(*name)
        self._script.glue(b" of (")
        expression(self._script, self._text, *values)
        self._script.glue(b"\n)){")

    def _unknown(self, name: Span) -> None:
        self._script.glue(b"\nconst ")
        self._script.code(*name)
        self._script.glue(b"=$unknown();")

    def _element(self, name: bytes, place: int, at: int) -> int:
        """Translates an opening tag. Returns where it ends."""
        text = self._text
        end = len(text)
        attributes_here: list[Attribute] = []
        for attribute in attributes(text, at, None):
            if isinstance(attribute, int):
                end = attribute
            else:
                attributes_here.append(attribute)
        if name.lower() in _RAW:
            closing = text.find(b"</" + name, abs(end))
            return closing if closing >= 0 else len(text)
        self._opened_element(name, place, attributes_here, is_empty=end < 0 or name.lower() in VOID)
        return abs(end)

    def _opened_element(
        self, name: bytes, place: int, attributes_here: list[Attribute], *, is_empty: bool
    ) -> None:
        text, closing = self._text, b""
        structural = [
            attribute
            for attribute in attributes_here
            if text[attribute.start : attribute.start + 1] == b"*"
        ]
        for attribute in structural if self._depth <= _DEEPEST else ():
            closing = self._structural(attribute) + closing
        others = [attribute for attribute in attributes_here if attribute not in structural]
        element = _described(text, name, others)
        if others or name not in NATIVE:
            self._use(place, name, element)
        for attribute in others:
            self._attribute(attribute, element)
        lets = [
            attribute
            for attribute in others
            if text[attribute.start : attribute.start + 4] == b"let-"
        ]
        if lets:
            self._script.glue(b"\n{")
            closing = b"\n}" + closing
        for attribute in lets:
            if is_name(text[attribute.start + 4 : attribute.end]):
                self._unknown((attribute.start + 4, attribute.end))
        if is_empty:
            self._script.glue(closing)
        else:
            self._push(name, closing)

    def _attribute(self, attribute: Attribute, element: str) -> None:
        text = self._text
        match = _BOUND.match(text, attribute.start, attribute.end)
        if match is None:
            self._use(attribute.start, text[attribute.start : attribute.end], element)
            start = attribute.value
            while (
                attribute.value >= 0 and (start := text.find(b"{{", start, attribute.finish)) >= 0
            ):
                start = self._interpolation(start + 2, attribute.finish)
            return
        form, place = match["open"], match.start("name")
        form = _FORMS.get(form, form)
        if form == b"#":
            self._variable((place, attribute.end), attribute, element)
        elif form in {b"[", b"[(", b"("} and not match["name"].startswith(_NATIVE):
            name = match["name"].partition(b".")[0]
            self._use(place, name, element)
            if form == b"[(":
                self._use(place, name + b"Change", element)
        if form == b"(" and attribute.value >= 0:
            statements(self._script, text, attribute.value, attribute.finish)
        elif form in {b"[", b"[(", b"@"} and attribute.value >= 0:
            self._expression(attribute.value, attribute.finish)

    def _use(self, start: int, name: bytes, element: str) -> None:
        if name in _PLAIN or _WORD.fullmatch(name) is None:
            return
        self.uses.append(ElementUse(start, name.decode("utf-8", "replace"), element))

    def _variable(self, name: Span, attribute: Attribute, element: str) -> None:
        """Binds `#name`, or `#name="exported"`, to its element."""
        if not is_name(self._text[slice(*name)]):
            return
        exported = self._text[attribute.value : attribute.finish] if attribute.value >= 0 else b""
        if exported:
            element = f"{element[:-1]} @{exported.decode('utf-8', 'replace')}>"
        self._script.glue(b"\nconst ")
        self._script.code(*name)
        self._script.glue(b"=%s.e%d;" % (ELEMENT, len(self.elements)))
        self.elements.append(element)

    def _structural(self, attribute: Attribute) -> bytes:
        """Translates `*ngFor="let item of items; let i = index"`. Returns what closes it."""
        text, script = self._text, self._script
        name = text[attribute.start + 1 : attribute.end]
        parts = microsyntax(text, attribute.value, attribute.finish) if attribute.value >= 0 else []
        inputs = [name, *(_joined(name, part.key) for part in parts if part.key)]
        element = f"<ng-template {' '.join(word.decode('utf-8', 'replace') for word in inputs)}>"
        self._use(attribute.start + 1, name, element)
        for part in parts:
            if part.key:
                self._use(part.place, _joined(name, part.key), element)
        loop = next((part for part in parts if part.key == b"of"), None)
        if loop is not None and not script.is_usable(*loop.value):
            loop = None
        closing = b""
        for part in parts:
            if part.variable is not None and part.value[0] < 0:
                closing = b"\n}" + closing
                if loop is not None and not part.exported:
                    self._each(part.variable, loop.value)
                    parts = [other for other in parts if other is not loop]
                else:
                    script.glue(b"\n{")
                    self._unknown(part.variable)
        for part in parts:
            if part.value[0] < 0 or not script.is_usable(*part.value):
                continue
            if part.variable is None:
                self._expression(*part.value)
            else:
                closing = b"\n}" + closing
                script.glue(b"\n{const ")
                script.code(*part.variable)
                script.glue(b"=(")
                expression(script, text, *part.value)
                script.glue(b"\n);")
        return closing


def _joined(name: bytes, key: bytes) -> bytes:
    return name + key[:1].upper() + key[1:]


def _described(text: bytes, name: bytes, attributes_here: list[Attribute]) -> str:
    """Writes an element for the selectors of directives."""
    words = [name.decode("utf-8", "replace")]
    for attribute in attributes_here[:_MOST_ATTRIBUTES]:
        raw = text[attribute.start : attribute.end]
        match = _BOUND.match(raw)
        value = text[attribute.value : attribute.finish] if attribute.value >= 0 else b""
        if match is None:
            word = raw.decode("utf-8", "replace")
            if raw == b"class":
                words += [f".{part}" for part in _CLASSES.findall(value.decode("utf-8", "replace"))]
            elif value and _VALUE.fullmatch(value):
                word += f"={value.decode()}"
            words.append(word)
        elif match["open"] not in {b"#", b"*", b"@", b"let-", b"ref-"}:
            words.append(match["name"].decode("utf-8", "replace"))
    return f"<{' '.join(words).replace('>', '').replace('<', '')}>"
