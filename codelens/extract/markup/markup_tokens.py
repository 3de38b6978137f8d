"""Tokenizes markup: tags, attributes, and expressions in braces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(?P<close>/?)(?P<name>[A-Za-z][^\s/>\"'<={]*|(?=>))|<![^>]*>?", re.DOTALL
)
"""A comment, a doctype, or the beginning of a tag; a fragment has an empty name."""
_ATTRIBUTE = re.compile(
    rb"\s*(?:(?P<end>/?>)|(?P<name>[^\s\"'<>/={}][^\s\"'<>/=]*)|(?P<brace>\{)|(?P<other>[\"'/=}]|<))"
)
_VALUE = re.compile(rb"\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(?P<brace>\{)|(`)|([^\s\"'=<>`{]+))")
_NO_VALUE = re.compile(rb"\s*+(?!=)")
_INSIDE = re.compile(
    rb"[{}]|(?<=[a-z])'(?=(?:d|ll|m|re|s|t|ve)\b)|"
    rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`'
    rb"|//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*+\*/|\\.",
    re.DOTALL,
)
_MOST_UNCLOSED = 8
"""Number of unclosed braces for which the whole text is searched; later ones count as text."""
_MOST_ATTRIBUTES = 500
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_CLOSES = frozenset(_CLOSING.values())
_MOST_CLOSED = 50
VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
NATIVE = frozenset(
    b"a abbr acronym address area article aside audio b base bdi bdo big blockquote body br button "
    b"canvas caption center cite code col colgroup data datalist dd del details dfn dialog div dl "
    b"dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 "
    b"head header hgroup hr html i iframe img input ins kbd label legend li link main map "
    b"mark marquee "
    b"menu menuitem meta meter nav noscript object ol optgroup option output p param picture pre "
    b"progress q rp rt ruby s samp script search section select small source span strike strong "
    b"style sub summary sup table tbody td template textarea tfoot th thead time title tr track u "
    b"ul var video wbr svg animate animateMotion animateTransform circle clipPath defs desc "
    b"ellipse feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix "
    b"feDiffuseLighting "
    b"feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR "
    b"feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight "
    b"feSpecularLighting feSpotLight feTile feTurbulence filter foreignObject g image line "
    b"linearGradient marker mask metadata mpath path pattern polygon polyline radialGradient rect "
    b"set stop switch symbol text textPath tspan use view math slot".split()
)
"""Elements of HTML and SVG, which are not components."""


class Attribute(NamedTuple):
    """An attribute, or an expression in braces between attributes."""

    start: int
    end: int
    """The span of the name; empty for a bare expression."""
    value: int
    finish: int
    """The span of the value without quotes or braces; both -1 without a value."""
    braces: bool
    """Whether the value is an expression in braces."""


class Braces:
    """Finds where expressions in braces end, in time linear in the text.

    `signs` matches the brackets that count, and what hides others: strings, comments, escapes.
    """

    def __init__(self, text: bytes, signs: re.Pattern[bytes] = _INSIDE) -> None:
        self._text, self._signs = text, signs
        self._unclosed = 0

    def end(self, start: int) -> int:
        """Returns the position of the bracket that closes the one at a position; -1 without one."""
        if self._unclosed >= _MOST_UNCLOSED:
            return -1
        opened: list[bytes] = []
        for match in self._signs.finditer(self._text, start):
            sign = match[0]
            if sign in _CLOSING:
                opened.append(_CLOSING[sign])
            elif sign in _CLOSES:
                if opened.pop() != sign:
                    break
                if not opened:
                    return match.start()
        self._unclosed += 1
        return -1

    def after(self, start: int) -> int:
        """Returns the position after that bracket; -1 without one."""
        end = self.end(start)
        return end + 1 if end >= 0 else -1

    def missing(self, start: int) -> bytes:
        """Returns the signs that close the brackets which are open at the end of the text."""
        opened: list[bytes] = []
        for match in self._signs.finditer(self._text, start):
            sign = match[0]
            if sign in _CLOSING:
                opened.append(_CLOSING[sign])
            elif opened and opened[-1] == sign:
                opened.pop()
        return b"".join(reversed(opened[-_MOST_CLOSED:]))


def attributes(text: bytes, start: int, braces: Braces | None) -> Iterator[Attribute | int]:
    """Yields the attributes of a tag after its name, and finally the end of the tag.

    The end is negative if the tag closes itself. Without `braces`, braces are plain text.
    """
    at = start
    count = 0
    while match := _ATTRIBUTE.match(text, at):
        count += 1
        if count > _MOST_ATTRIBUTES:
            # A tag that was never closed: words of the text would be attributes.
            yield at
            return
        at = match.end()
        if match["end"]:
            yield -at if match["end"] == b"/>" else at
            return
        if match["other"] == b"<":
            # The tag was never closed; the next one begins here.
            yield at - 1
            return
        if match["brace"] and braces is not None:
            end = braces.end(at - 1)
            if end >= 0:
                yield Attribute(at, at, at, end, True)
                at = end + 1
        elif match["name"]:
            entry, at = _named(text, *match.span("name"), braces)
            if entry is not None:
                yield entry
    yield len(text)


def _named(
    text: bytes, start: int, end: int, braces: Braces | None
) -> tuple[Attribute | None, int]:
    """Returns the attribute whose name has a span, and where to continue."""
    value = _VALUE.match(text, end)
    if value is None:
        # A value without a closing quote does not count, and neither does its name alone.
        at = -1 if _NO_VALUE.match(text, end) else end
        return Attribute(start, end, at, at, False), end
    at = value.end()
    if value["brace"]:
        last = braces.end(at - 1) if braces is not None else -1
        return (Attribute(start, end, at, last, True), last + 1) if last >= 0 else (None, at)
    if value[4]:
        last = text.find(b"`", at)
        return (
            (Attribute(start, end, at - 1, last + 1, True), last + 1) if last >= 0 else (None, at)
        )
    span = next(value.span(group) for group in (1, 2, 5) if value.start(group) >= 0)
    return Attribute(start, end, *span, False), at


def camelized(name: bytes) -> bytes:
    """Returns `my-card` as `myCard`."""
    if b"-" not in name:
        return name
    first, *others = name.split(b"-")
    return first + b"".join(part[:1].upper() + part[1:] for part in others)


def capitalized(name: bytes) -> bytes:
    """Returns `my-card` as `MyCard`."""
    name = camelized(name)
    return name[:1].upper() + name[1:]


def is_name(text: bytes) -> bool:
    """Whether a text is a name in a script."""
    return _NAME.fullmatch(text) is not None


_NAME = re.compile(rb"[A-Za-z_$][\w$]*")
