"""Edits JSON with comments as text: all other bytes stay the same.

Comments and trailing commas are first replaced by spaces, so that the scanned text is plain JSON
with the offsets of the edited text. Indentation, line ends and the style of commas follow the text
around the edit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol, cast

from codelens.hosts.formats.config_values import EditRefused, Keys, Value, nested

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_COMMENTS = re.compile(_STRING + r"|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_COMMAS = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)
_NESTING = re.compile(_STRING + r"|[{}\[\]]", re.DOTALL)
_SCALAR = re.compile(r"[^\s,}\]]+")
_BLANKS = " \t\r\n"
"""JSON's white space; Python's has far more characters."""
_SPACE = re.compile(r"\s*")
_SAME_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_INDENT = re.compile(
    r"^([ \t]*)[^\r\n]*[\[{][ \t]*\r?\n(?:[ \t]*\r?\n)*\1([ \t]+)(?=[^\s}\]])", re.MULTILINE
)


class _Member(NamedTuple):
    """A member of an object, or an element of a list (its key is None); offsets are half-open."""

    key: str | None
    start: int
    value: int
    end: int


class _Container(NamedTuple):
    """An object or a list: the offsets of its brackets, and its members."""

    open: int
    close: int
    members: tuple[_Member, ...]


class _Render(Protocol):
    """Renders a member at an indentation."""

    def __call__(self, indent: str, *, inline: bool) -> str: ...


class _Document:
    """A text with its plain form and its style."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self.text = text
        self.plain = _COMMENTS.sub(_blank, text) if comments else text
        self.trailing: set[int] = set()
        if comments:
            self.plain = _COMMAS.sub(self._trailing_comma, self.plain)
        self.eol = "\r\n" if "\r\n" in text else "\n"
        match = _INDENT.search(self.plain)
        self.unit = match.group(2) if match else "  "
        colon = re.search(_STRING + r"\s*:(\s*)", self.plain)
        self.colon = ": " if colon is None or colon.group(1) else ":"
        self.one_line = "\n" not in text.strip(_BLANKS) and bool(text.strip(" \t\r\n{}"))

    def _trailing_comma(self, match: re.Match[str]) -> str:
        before = match.string[: match.start()].rstrip(_BLANKS)[-1:]
        if match.group() != "," or before in {"{", "[", ",", ""}:
            return match.group()
        self.trailing.add(match.start())
        return " "

    def container(self, at: int) -> _Container:
        """The object or list that opens at `at`."""
        plain, named = self.plain, self.plain[at] == "{"
        members: list[_Member] = []
        position = _after_space(plain, at + 1)
        while plain[position] not in "}]":
            start, key = position, None
            if named:
                end = _value_end(plain, position)
                key = cast("str", json.loads(plain[position:end]))
                position = _after_space(plain, _after_space(plain, end) + 1)
            end = _value_end(plain, position)
            members.append(_Member(key, start, position, end))
            position = _after_space(plain, end)
            if plain[position] == ",":
                position = _after_space(plain, position + 1)
        return _Container(at, position, tuple(members))

    def follow(self, keys: Keys) -> tuple[list[_Container], _Member | None]:
        """The containers along `keys`, as far as they exist, and the member of the last key."""
        holders = [self.container(_after_space(self.plain, 0))]
        member: _Member | None = None
        for depth, key in enumerate(keys):
            # The last of equal keys counts, as in all JSON parsers.
            member = next(
                (member for member in reversed(holders[-1].members) if member.key == key), None
            )
            if member is None or depth == len(keys) - 1:
                break
            if self.plain[member.value] != "{":
                named = ".".join(keys[: depth + 1])
                raise EditRefused(f"{named} is not an object")
            holders.append(self.container(member.value))
        return holders, member if len(holders) == len(keys) else None

    def line_indent(self, at: int) -> str:
        """The white space at the start of the line of `at`."""
        start = self.text.rfind("\n", 0, at) + 1
        return cast("re.Match[str]", re.compile(r"[ \t]*").match(self.text, start)).group()

    def starts_line(self, at: int) -> bool:
        """Whether there is only white space before `at` on its line."""
        return not self.text[self.text.rfind("\n", 0, at) + 1 : at].strip()

    def rendered(self, value: Value, indent: str, *, inline: bool) -> str:
        """`value` as text, for a line indented by `indent`."""
        if inline:
            comma = ", " if self.colon == ": " else ","
            return json.dumps(value, ensure_ascii=False, separators=(comma, self.colon))
        text = json.dumps(value, ensure_ascii=False, indent=self.unit, separators=(",", self.colon))
        return text.replace("\n", self.eol + indent)


def _blank(match: re.Match[str]) -> str:
    text = match.group()
    return text if text.startswith('"') else re.sub(r"[^\r\n]", " ", text)


def _after_space(plain: str, position: int) -> int:
    return cast("re.Match[str]", _SPACE.match(plain, position)).end()


def _value_end(plain: str, start: int) -> int:
    if plain[start] not in '{["':
        return cast("re.Match[str]", _SCALAR.match(plain, start)).end()
    depth = 0
    for token in _NESTING.finditer(plain, start):
        if token.group() in "{[":
            depth += 1
        elif token.group() in "}]":
            depth -= 1
        if not depth:
            return token.end()
    raise EditRefused("it ends inside a value")


def parse(text: str, *, comments: bool) -> Value:
    """The value of the text; an empty text means an empty object.

    Raises:
        EditRefused: the text is not JSON, or not an object.
    """
    if not text.strip(_BLANKS):
        return {}
    try:
        value: object = json.loads(_Document(text, comments=comments).plain)
    except json.JSONDecodeError as error:
        hint = ""
        if not comments and _Document(text, comments=True).plain != text:
            hint = " (comments and trailing commas are not allowed in this file)"
        raise EditRefused(f"line {error.lineno}: {error.msg}{hint}") from error
    except RecursionError as error:
        raise EditRefused("it is nested too deeply") from error
    if not isinstance(value, dict):
        raise EditRefused("it is not an object")
    return cast("Value", value)


def put(text: str, keys: Keys, value: Value, *, comments: bool) -> str:
    """The text with `value` at `keys`; missing parents are created.

    Raises:
        EditRefused: a parent is not an object.
    """
    if not text.strip(_BLANKS):
        text = "{}" + (text or "\n")
    document = _Document(text, comments=comments)
    holders, member = document.follow(keys)
    if member is not None:
        inline = "\n" not in text[member.value : member.end]
        fresh = document.rendered(value, document.line_indent(member.start), inline=inline)
        return text[: member.value] + fresh + text[member.end :]
    depth = len(holders)
    return _insert(document, holders[-1], keys[depth - 1], nested(keys[depth:], value))


def append(text: str, keys: Keys, items: Sequence[Value], *, comments: bool) -> str:
    """The text with the missing ones of `items` appended to the list at `keys`.

    Raises:
        EditRefused: the value at `keys` is not a list.
    """
    if not text.strip(_BLANKS):
        return put(text, keys, list(items), comments=comments)
    document = _Document(text, comments=comments)
    _, member = document.follow(keys)
    if member is None:
        return put(text, keys, list(items), comments=comments)
    if text[member.value] != "[":
        raise EditRefused(f"{'.'.join(keys)} is not a list")
    present: list[Value] = json.loads(document.plain[member.value : member.end])
    for item in items:
        if item not in present:
            document = _Document(text, comments=comments)
            array = document.follow(keys)[1]
            assert array is not None, "the list was found before"
            text = _insert(document, document.container(array.value), None, item)
    return text


def _insert(document: _Document, holder: _Container, key: str | None, value: Value) -> str:
    """The text with one more member at the end of `holder`."""

    def member(indent: str, *, inline: bool) -> str:
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + document.colon
        return name + document.rendered(value, indent, inline=inline)

    if not holder.members:
        return _insert_first(document, holder, member)
    text, last = document.text, holder.members[-1]
    comma = next((at for at in document.trailing if last.end <= at < holder.close), None)
    closing = "," if comma is not None else ""
    after = last.end if comma is None else comma + 1
    head = text[: last.end] + ("," if comma is None else text[last.end : after])
    if "\n" not in text[holder.open : holder.members[0].start]:
        gap = " " if document.colon == ": " else ""
        return head + gap + member("", inline=True) + closing + text[after:]
    first = last if document.starts_line(last.start) else holder.members[0]
    indent = document.line_indent(first.start)
    tail = cast("re.Match[str]", _SAME_LINE.match(text, after)).end()
    if text[after:tail].strip() == "":
        tail = after
    fresh = document.eol + indent + member(indent, inline=False) + closing
    return head + text[after:tail] + fresh + text[tail:]


def _insert_first(document: _Document, holder: _Container, member: _Render) -> str:
    text, inside = document.text, document.text[holder.open + 1 : holder.close]
    if document.one_line:
        end = holder.open + 1 + len(inside.rstrip())
        return text[:end] + member("", inline=True) + text[holder.close :]
    base = document.line_indent(holder.open)
    indent = base + document.unit
    fresh = document.eol + indent + member(indent, inline=False)
    # A comment may end with white space of Python that is not white space in JSON.
    end = holder.open + 1 + len(inside.rstrip(" \t\r\n"))
    rest = text[end : holder.close] if inside.strip() else ""
    if "\n" not in rest:
        rest = document.eol + base
    return text[:end] + fresh + rest + text[holder.close :]


def take(text: str, keys: Keys, *, comments: bool) -> str:
    """The text without the value at `keys`; unchanged if it has none."""
    if not text.strip(_BLANKS):
        return text
    document = _Document(text, comments=comments)
    try:
        holders, member = document.follow(keys)
    except EditRefused:
        return text
    if member is None:
        return text
    # A key may occur twice.
    return take(_without(document, holders[-1], member), keys, comments=comments)


def take_items(text: str, keys: Keys, items: Sequence[Value], *, comments: bool) -> str:
    """The text without `items` in the list at `keys`."""
    for item in items:
        if not text.strip(_BLANKS):
            return text
        document = _Document(text, comments=comments)
        member = document.follow(keys)[1]
        if member is None or text[member.value] != "[":
            return text
        holder = document.container(member.value)
        for element in reversed(holder.members):
            if json.loads(document.plain[element.value : element.end]) == item:
                text = _without(document, holder, element)
                break
    return text


def is_bare(text: str, keys: Keys, *, comments: bool) -> bool:
    """Whether `keys` name an empty object or list, without even a comment."""
    document = _Document(text, comments=comments)
    member = document.follow(keys)[1]
    return (
        member is not None
        and text[member.value] in "{["
        and not text[member.value + 1 : member.end - 1].strip()
    )


def _without(document: _Document, holder: _Container, member: _Member) -> str:
    """The text without one member and its comma."""
    text, plain = document.text, document.plain
    if len(holder.members) == 1:
        own = next((at for at in document.trailing if member.end <= at < holder.close), None)
        end = member.end if own is None else own + 1
        if not (text[holder.open + 1 : member.start] + text[end : holder.close]).strip():
            return text[: holder.open + 1] + text[holder.close :]
        remaining = text[member.end :] if own is None else text[member.end : own] + text[end:]
        start = _cut_from(document, member)
        if _ends_comment(document, start) and not document.starts_line(holder.close):
            start = member.start
        return text[:start] + remaining
    place = holder.members.index(member)
    start = _cut_from(document, member)
    if place < len(holder.members) - 1:
        following = holder.members[place + 1]
        comma = plain.index(",", member.end, following.start)
        if not document.starts_line(member.start) or (
            # The line break ends a comment, and the next text must not become part of it.
            _ends_comment(document, start) and not document.starts_line(following.start)
        ):
            return text[: member.start] + text[member.end : comma] + text[comma + 1 :].lstrip(" ")
        return text[:start] + text[member.end : comma] + text[comma + 1 :]
    if _ends_comment(document, start) and not document.starts_line(holder.close):
        start = member.start
    own = next((at for at in document.trailing if member.end <= at < holder.close), None)
    if own is not None:
        return text[:start] + text[member.end : own] + text[own + 1 :]
    before = holder.members[place - 1]
    comma = plain.rindex(",", before.end, member.start)
    return text[:comma] + text[comma + 1 : max(start, comma + 1)] + text[member.end :]


def _ends_comment(document: _Document, at: int) -> bool:
    """Whether the line that ends at `at` ends with a comment."""
    line = document.text[document.text.rfind("\n", 0, at) + 1 : at].rstrip()
    place = document.text.rfind("\n", 0, at) + len(line)
    return bool(line) and place not in document.trailing and document.plain[place] == " "


def _cut_from(document: _Document, member: _Member) -> int:
    """Where to cut a member: at the line break before it, if it starts its line."""
    text = document.text
    if not document.starts_line(member.start):
        spaces = len(text[: member.start]) - len(text[: member.start].rstrip(" \t"))
        return member.start - spaces
    line = text.rfind("\n", 0, member.start)
    if line < 0:
        return 0
    return line - 1 if text[line - 1 : line] == "\r" else line
