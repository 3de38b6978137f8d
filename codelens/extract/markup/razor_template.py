"""Translates a Razor component to a class with a method that has the code of its markup."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from codelens.extract.markup.markup_tokens import NATIVE, VOID, Braces
from codelens.extract.markup.virtual_script import VirtualScript, is_usable

CLASS = b"__component__"
METHOD = b"__markup__"
OPENING = b""
"""The class begins with directives, which the translation adds."""
_WORD = rb"[A-Za-z_]\w*"
_DIRECTIVE = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(?P<all>"
    rb"@(?P<name>using|inject|inherits|implements|namespace|attribute|layout)[ \t]+"
    rb"(?=\S)(?P<value>[^\n(;]*[^\s(;])(?=[ \t]*;?[ \t]*\r?(?:\n|\Z)))",
    re.MULTILINE,
)
_PLAIN_LINE = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*"
    rb"@(?:page|rendermode|preservewhitespace|typeparam|model|section)\b[^\n]*",
    re.MULTILINE,
)
_BLOCK = re.compile(rb"@(?:code|functions)\s*(?=\{)")
_STATEMENT = re.compile(rb"@(?P<word>if|for|foreach|while|switch|lock|using|try|do)\b(?=\s*[({])")
_NEXT = re.compile(rb"\s*(?:else\s+if\b|else\b|catch\b|finally\b|while\b)(?=\s*[({])")
_IMPLICIT = re.compile(rb"@(?P<await>await\s+)?(?P<name>%s)" % _WORD)
_MEMBER = re.compile(rb"\??\.(?=[A-Za-z_])%s" % _WORD)
_MARKUP = re.compile(
    rb"@\*.*?(?:\*@|\Z)|<!--.*?(?:-->|\Z)|(?P<email>\w@)|(?P<escape>@@)|(?P<at>@)"
    rb"|<(?P<close>/?)(?P<tag>[A-Za-z][\w.:-]*)|(?P<brace>\})",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    rb"\s*(?:(?P<end>/?>)|(?P<name>@?[A-Za-z_][\w.:-]*|@(?=[({]))|(?P<other>[^\s]))"
)
_VALUE = re.compile(
    rb"\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>@?[^\s\"'>]+))"
)
_SKIPPED = (
    rb'"{3,}+|(?:@\$?|\$@)"(?:[^"]|"")*+"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,10}\''
    rb"|//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*+\*/|\\."
)
"""Texts, characters, comments and escapes, whose brackets count for nothing."""
_CODE = re.compile(
    rb"[{}]|%s"
    rb"|@:[^\n]*|@\*.*?(?:\*@|\Z)|(?P<tag><(?=[A-Za-z]))|(?P<at>@(?=[({A-Za-z]))" % _SKIPPED,
    re.DOTALL,
)
_BEFORE_TAG = re.compile(rb"[{};>:]\s*\Z|=>\s*\Z|\A\s*\Z|\n\s*\Z")
_PAIRS = re.compile(
    rb"[()\[\]{}]|%s" % _SKIPPED,
    re.DOTALL,
)
_METHOD = re.compile(
    rb"\b(?!(?:if|for|foreach|while|switch|using|lock|new|nameof|typeof|catch|when|await|return)\b)"
    rb"(%s)\s*(?:<[\w\s,]{1,80}>\s*)?\(" % _WORD
)
_FIELD = re.compile(
    rb"(?<![\w.,<>\[\]?])(?!(?:return|new|await|else|throw|in|is|as|var)\b)(?P<type>[A-Za-z_][\w.<>\[\],?]*)"
    rb"\s+(?P<name>%s)\s*(?:[;={]|=>)" % _WORD
)
_TEXTS = frozenset({b"string", b"string?", b"String"})
_HEAD = re.compile(rb"\s*!?(?:(?:this|base)\.)?(%s)" % _WORD)
_TEXT_PARAMETER = re.compile(
    rb"[a-z].*|.*(?:Title|Text|Label|Class|Style|Name|Placeholder|Caption|Tooltip|ToolTip|Href"
    rb"|Message|Description|Css|Id)\Z"
)
"""Parameters that are texts by their names, and attributes of HTML."""
_TYPE_PARAMETER = re.compile(rb"T(?:[A-Z][a-z]\w*)?")
_NAME = re.compile(_WORD)
_LOOKED_BACK = 60
_MOST_UNCLOSED = 8
_CODE_ATTRIBUTES = frozenset({b"ref", b"key", b"attributes", b"bind"})


class _Nesting(NamedTuple):
    kind: str
    """`markup`, `code`, or the `open` code of `@{ }`, whose variables the rest sees."""
    depth: int
    """Elements open in the markup, or braces open in the code."""


def translate(script: VirtualScript) -> None:
    """Adds the class of a component to its script, which has no opening."""
    _Razor(script).read()


class _Razor:
    def __init__(self, script: VirtualScript) -> None:
        self._text, self._script = script.text, script
        self._pairs = Braces(script.text, _PAIRS)
        self._levels: list[_Nesting] = []
        self._begin = 0
        self._blocks: list[tuple[int, int]] = []
        self._holes: list[tuple[int, int]] = []
        """Spans of directives and blocks of code, which are no markup."""
        self._open: list[tuple[int, int]] = []
        """Names of the open elements; only the places of those of HTML."""
        self._methods: set[bytes] = set()
        self._values: set[bytes] = set()
        """Members that an attribute without `@` may mean: methods, and fields but texts."""

    def read(self) -> None:
        """Translates the whole component."""
        text, script = self._text, self._script
        directives = list(_DIRECTIVE.finditer(text))
        for match in directives:
            if match["name"] == b"using":
                script.code(*match.span("value"), opening=b"using ")
                script.glue(b";")
            elif match["name"] == b"namespace":
                script.code(*match.span("value"), opening=b"namespace ")
                script.glue(b";")
        script.glue(b"\npublic class " + CLASS)
        bases = [match for match in directives if match["name"] in {b"inherits", b"implements"}]
        for number, match in enumerate(bases):
            script.code(*match.span("value"), opening=b"," if number else b":")
        script.glue(b"\n{")
        for match in directives:
            if match["name"] == b"inject":
                script.code(*match.span("value"))
                script.glue(b" { get; set; }")
        self._code_blocks()
        self._holes = sorted(
            [match.span("all") for match in directives]
            + [match.span() for match in _PLAIN_LINE.finditer(text)]
            + self._blocks
        )
        script.glue(b"\nvoid " + METHOD + b"() {")
        self._markup()
        script.glue(b"\n}\n}")

    def _code_blocks(self) -> None:
        """Adds the members of `@code { }`."""
        at = 0
        while match := _BLOCK.search(self._text, at):
            end = self._pairs.after(match.end())
            at = max(end, match.end())
            last = end - 1 if end >= 0 else len(self._text)
            if end < 0 and self._blocks:
                continue
            self._blocks.append((match.start(), max(end, last)))
            self._script.code(match.end() + 1, last)
            if end < 0:
                self._script.glue(b"\n" + self._pairs.missing(match.end() + 1))
            code = self._text[match.end() + 1 : last]
            self._methods.update(_METHOD.findall(code))
            self._values |= self._methods
            self._values.update(
                field["name"] for field in _FIELD.finditer(code) if field["type"] not in _TEXTS
            )
            if end < 0:
                break

    def _markup(self) -> None:
        """Adds the code of the markup, element by element."""
        text, at = self._text, 0
        self._levels = [_Nesting("markup", 0)]
        while at < len(text):
            hole = bisect_right(self._holes, (at, len(text))) - 1
            if hole >= 0 and self._holes[hole][0] <= at < self._holes[hole][1]:
                at = self._holes[hole][1]
                continue
            level = self._levels[-1]
            is_markup = level.kind == "markup"
            match = (_MARKUP if is_markup else _CODE).search(text, at)
            if match is None:
                break
            hole = bisect_right(self._holes, (match.start(), len(text))) - 1
            if hole >= 0 and self._holes[hole][0] <= match.start() < self._holes[hole][1]:
                at = self._holes[hole][1]
                continue
            at = self._in_markup(match) if is_markup else self._in_code(match)
        if self._levels[-1].kind != "markup":
            self._piece(len(text))
        for level in reversed(self._levels):
            if level.kind != "markup":
                self._script.glue(b"\n" + b"}" * (level.depth - (level.kind == "open")))

    def _piece(self, end: int) -> None:
        """Adds the code up to a position."""
        if self._text[self._begin : end].strip():
            self._script.code(self._begin, end)

    def _in_code(self, match: re.Match[bytes]) -> int:
        level, sign = self._levels[-1], match[0]
        if sign == b"{":
            self._levels[-1] = level._replace(depth=level.depth + 1)
        elif sign == b"}" and level.depth > 1:
            self._levels[-1] = level._replace(depth=level.depth - 1)
        elif sign == b"}" and level.kind == "open":
            self._piece(match.start())
            self._levels.pop()
        elif sign == b"}":
            self._piece(match.end())
            following = _NEXT.match(self._text, match.end())
            if following is not None:
                return self._statement(match.end(), following.end(), again=True)
            self._levels.pop()
            return match.end()
        elif match["tag"]:
            before = self._text[max(self._begin, match.start() - _LOOKED_BACK) : match.start()]
            if _BEFORE_TAG.search(before):
                self._piece(match.start())
                self._levels.append(_Nesting("markup", 0))
                return match.start()
        elif match["at"] or sign[:2] in {b"@:", b"@*"}:
            self._piece(match.start())
            end = self._at(match.start()) if match["at"] else match.end()
            self._begin = end
            return end
        return match.end()

    def _in_markup(self, match: re.Match[bytes]) -> int:
        level = self._levels[-1]
        if match["at"]:
            return self._at(match.start())
        if match["tag"] is None:
            return match.end()
        if match["close"]:
            self._close(match["tag"])
            end = self._text.find(b">", match.end())
            at, depth = (end + 1 if end >= 0 else match.end()), level.depth - 1
        else:
            at, is_empty = self._element(match["tag"], match.start("tag"), match.end())
            depth = level.depth + (not is_empty)
        self._levels[-1] = level._replace(depth=max(depth, 0))
        if depth <= 0 and len(self._levels) > 1:
            self._levels.pop()
            self._begin = at
        return at

    def _at(self, start: int) -> int:
        """Translates what follows an `@` in markup. Returns where to continue."""
        text = self._text
        sign = text[start + 1 : start + 2]
        if sign == b"{":
            self._levels.append(_Nesting("open", 1))
            self._begin = start + 2
            return start + 2
        if sign == b"(":
            end = self._pairs.after(start + 1)
            if end >= 0:
                self._value(start + 2, end - 1)
            return max(end, start + 2)
        if statement := _STATEMENT.match(text, start):
            return self._statement(start + 1, statement.end(), again=False)
        implicit = _IMPLICIT.match(text, start)
        if implicit is None:
            return start + 1
        at = implicit.end()
        while True:
            if text[at : at + 1] in {b"(", b"["} or text[at : at + 2] == b"?[":
                end = self._pairs.after(at + (text[at : at + 1] == b"?"))
                if end < 0:
                    break
                at = end
            elif member := _MEMBER.match(text, at):
                at = member.end()
            else:
                break
        self._value(start + 1, at)
        return at

    def _statement(self, start: int, at: int, *, again: bool) -> int:
        """Translates the head of a statement with a block. Returns where its block begins."""
        text = self._text
        while text[at : at + 1].isspace():
            at += 1
        if text[at : at + 1] == b"(":
            end = self._pairs.after(at)
            if end < 0:
                return self._abandoned(at, again)
            at = end
            while text[at : at + 1].isspace():
                at += 1
        if text[at : at + 1] != b"{":
            return self._abandoned(at, again)
        self._script.code(start, at + 1)
        if not again:
            self._levels.append(_Nesting("code", 1))
        self._begin = at + 1
        return at + 1

    def _abandoned(self, at: int, again: bool) -> int:
        if again:
            self._levels.pop()
        return at

    def _value(self, start: int, end: int) -> None:
        """Adds an expression."""
        if is_usable(self._text[start:end]):
            self._script.glue(b"\n_(")
            self._script.code(start, end)
            self._script.glue(b"\n);")

    def _element(self, name: bytes, place: int, at: int) -> tuple[int, bool]:
        """Translates an opening tag. Returns where it ends, and whether the element is empty."""
        text = self._text
        is_native = name.isupper() and name.lower() in NATIVE
        is_component = name[:1].isupper() and not is_native and b":" not in name
        parameters: list[tuple[int, int, tuple[int, int] | None]] = []
        values: list[tuple[int, int, str]] = []
        is_empty = name.lower() in VOID
        while match := _ATTRIBUTE.match(text, at):
            at = match.end()
            if match["end"]:
                is_empty = is_empty or match["end"] == b"/>"
                break
            if match["other"] == b"<":
                at -= 1
                break
            if match["name"] is None:
                continue
            value = _VALUE.match(text, at)
            start, end = match.span("name")
            if text[start:end] == b"@":
                at = self._at(start)
                continue
            span = None
            if value is not None:
                at = value.end()
                span = next(value.span(group) for group in _GROUPS if value.start(group) >= 0)
            self._attribute((start, end), span, is_component, parameters, values)
        if is_component:
            self._component(place, place + len(name), parameters)
            self._content(place, place + len(name))
        if not is_empty:
            self._open.append((place, place + len(name)) if is_component else (place, place))
        self._add_values(values)
        return at, is_empty

    def _add_values(self, values: list[tuple[int, int, str]]) -> None:
        """Adds the values of attributes."""
        for first, last, kind in values:
            if kind == "code":
                self._value(first, last)
            elif kind == "type" and is_usable(self._text[first:last]):
                self._script.code(first, last, opening=b"_(typeof(")
                self._script.glue(b"\n));")
            else:
                self._embedded(first, last)

    def _content(self, start: int, end: int) -> None:
        """Adds the use of a parameter of the component around an element: `<Footer>` in a card."""
        first, last = self._open[-1] if self._open else (0, 0)
        if first < last:
            self._script.glue(b"\n_(new " + self._text[first:last] + b"() {")
            self._script.code(start, end)
            self._script.glue(b' = ""});')

    def _close(self, name: bytes) -> None:
        """Forgets the element that a closing tag ends, and unclosed elements in it."""
        for at in range(len(self._open) - 1, max(-1, len(self._open) - _MOST_UNCLOSED), -1):
            first, last = self._open[at]
            if self._text.startswith(name, first) and last - first in {0, len(name)}:
                del self._open[at:]
                return

    def _attribute(
        self,
        name: tuple[int, int],
        span: tuple[int, int] | None,
        is_component: bool,
        parameters: list[tuple[int, int, tuple[int, int] | None]],
        values: list[tuple[int, int, str]],
    ) -> None:
        text = self._text
        start, end = name
        written = text[start:end]
        if written[:1] == b"@":
            base, _, argument = written[1:].partition(b":")
            bound, _, prop = base.partition(b"-")
            is_code = not argument or argument in {b"after", b"get", b"set"}
            is_code = is_code and (base[:2] == b"on" or bound in _CODE_ATTRIBUTES)
            if span is None:
                return
            if is_component and bound == b"bind" and prop and is_code and not argument:
                parameters.append((start + 6, end, self._unmarked(span)))
            else:
                values.append((*self._unmarked(span), "code" if is_code else "text"))
            return
        if is_component and _NAME.fullmatch(written):
            if span is not None and _TYPE_PARAMETER.fullmatch(written):
                values.append((*span, "type"))
                return
            is_text = _TEXT_PARAMETER.fullmatch(written) is not None
            expression = self._expression(span, is_text) if span is not None else None
            parameters.append((start, end, expression))
            if expression is not None:
                return
        if span is not None:
            values.append((*span, "text"))

    def _unmarked(self, span: tuple[int, int]) -> tuple[int, int]:
        """Returns the span of an expression without the `@` before it."""
        start, end = span
        return (start + 1, end) if self._text[start : start + 1] == b"@" else span

    def _expression(self, span: tuple[int, int], is_text: bool) -> tuple[int, int] | None:
        """Returns the span of an attribute's value that is an expression; None for a text.

        In an attribute that is a text, only what follows an `@` is an expression.
        """
        start, end = span
        value = self._text[start:end]
        if value[:1] == b"@" and value[:2] not in {b"@@", b"@{"}:
            return (start + 1, end) if is_usable(value[1:]) and b"@" not in value[1:] else None
        head = _HEAD.match(value)
        is_known = head is not None and head[1] in self._values and not is_text
        return span if is_known and is_usable(value) else None

    def _component(
        self, start: int, end: int, parameters: list[tuple[int, int, tuple[int, int] | None]]
    ) -> None:
        """Adds the creation of a component, with the parameters that it is given."""
        script = self._script
        if self._text[start:end] in self._methods:
            # An unknown component, whose name would mean the method.
            script.glue(b"\n_(new _")
        else:
            script.code(start, end, opening=b"_(new ")
        script.glue(b"() {")
        for first, last, expression in parameters:
            script.code(first, last)
            script.glue(b" = ")
            if expression is None or not is_usable(self._text[slice(*expression)]):
                script.glue(b'""')
            else:
                script.code(*expression)
            script.glue(b"\n,")
        script.glue(b"\n});")

    def _embedded(self, start: int, end: int) -> None:
        """Translates the expressions within the text of an attribute."""
        at = self._text.find(b"@", start, end)
        while at >= 0:
            after = self._text[at + 1 : at + 2]
            following = at + 2 if after == b"@" else at + 1
            if after == b"(" or after.isalpha() or after == b"_":
                following = max(self._at(at), following)
            at = self._text.find(b"@", following, end)


_GROUPS = ("double", "single", "bare")
