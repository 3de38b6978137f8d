"""Parses type annotations of all languages: `Optional[Foo]`, `Foo<T>[] | null`, `typeof x`.

One parser serves all languages: brackets of both kinds hold arguments, `|` and `&` combine types, a
trailing `[]` makes a list. Unsupported syntax (literals, shapes, conditions) becomes `None`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"\s*(=>|->|\.\.\.|[A-Za-z_$#\x80-\U0010ffff][\w$#]*(?:(?:\.|::)[\w$#]+)*"
    r"|\"[^\"]*\"|'[^']*'|`[^`]*`|[\d.]+|.)"
)
_WORD = re.compile(r"[A-Za-z_$#\x80-\U0010ffff]")
_SKIPPED = frozenset(
    {"readonly", "unique", "const", "new", "abstract", "infer", "out", "mut", "dyn", "impl"}
)
_OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MODIFIERS = frozenset({"readonly", "+", "-", "?"})
_ENDS = frozenset({";", ",", "}"})
_DEEPEST = 30


class Named(NamedTuple):
    """A named type with its type arguments."""

    name: str
    args: tuple[Type, ...] = ()


class Either(NamedTuple):
    """A union type."""

    parts: tuple[Type, ...]


class Both(NamedTuple):
    """An intersection type: `A & B`."""

    parts: tuple[Type, ...]


class ValueOf(NamedTuple):
    """The type of a value: `typeof x`."""

    expression: str


class Part(NamedTuple):
    """The type of a member: `T["name"]`; with an empty name, of any element."""

    whole: Type
    name: str


class Returns(NamedTuple):
    """A function type, by its result and the type of `this` in it."""

    result: Type
    this: Type = None


class Alternatives(NamedTuple):
    """A conditional type: `T extends U ? A : B`."""

    yes: Type
    no: Type


class Fields(NamedTuple):
    """An object type by its members: `{ a: A; b(): B }`."""

    members: tuple[tuple[str, Type], ...]


class Mapped(NamedTuple):
    """A mapped type, whose members all have one type: `{ [K in keyof T]: A }`."""

    member: Type


Type = Fields | Mapped | Named | Either | Both | ValueOf | Part | Returns | Alternatives | None


@lru_cache(maxsize=20_000)
def parsed(text: str, *, forward: bool = False) -> Type:
    """Parse a type; returns None if it contains nothing that can be resolved.

    With `forward`, a quoted text in brackets is a type argument (Python) instead of a key.
    """
    tokens = _TOKEN.findall(text)
    try:
        reader = _Reader(tokens, forward)
        type_ = reader.type()
    except (IndexError, RecursionError):
        return None
    return type_


class _Reader:
    def __init__(self, tokens: list[str], forward: bool) -> None:
        self._tokens = tokens
        self._forward = forward
        self._at = 0
        self._depth = 0
        self._testing = 0
        """The number of enclosing conditions; a `?` after the tested type starts the branches."""

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        sign = self._peek()
        self._at += 1
        return sign

    def type(self) -> Type:
        """Parse a type and stop at the first token that cannot belong to it."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise IndexError
        while self._peek() in {"|", "&"}:
            self._next()
        parts = [self._joined()]
        while self._peek() == "|":
            self._next()
            parts.append(self._joined())
        self._depth -= 1
        if self._peek() in {"extends", "is", "?"}:
            return self._condition()
        read = tuple(part for part in parts if part is not None)
        if not read:
            return None
        return read[0] if len(read) == 1 else Either(read)

    def _joined(self) -> Type:
        """Parse one member of a union."""
        parts = [self._postfixed()]
        while self._peek() == "&":
            self._next()
            parts.append(self._postfixed())
        read = tuple(part for part in parts if part is not None)
        return Both(read) if len(read) > 1 else read[0] if read else None

    def _condition(self) -> Type:
        """Parse the rest of a conditional type; None if it is not a TypeScript condition."""
        if self._peek() == "?":
            if not self._testing:
                self._at = len(self._tokens)
            return None
        is_test = self._next() == "extends"
        self._testing += is_test
        self.type()
        self._testing -= is_test
        if not is_test:
            return None
        if self._peek() != "?":
            self._at = len(self._tokens)
            return None
        self._next()
        testing, self._testing = self._testing, 0
        yes = self.type()
        is_whole = self._next() == ":"
        no = self.type() if is_whole else None
        self._testing = testing
        return Alternatives(yes, no) if is_whole else None

    def _postfixed(self) -> Type:
        type_ = self._first()
        while self._peek() == "[":
            self._next()
            if self._peek() == "]":
                self._next()
                type_ = Named("[]", (type_,))
            elif self._peek()[:1] in {'"', "'"}:
                name = self._next()[1:-1]
                self._skip_to("]")
                type_ = Part(type_, name)
            else:
                self._skip_to("]")
                type_ = Part(type_, "")
        return type_

    def _first(self) -> Type:
        sign = self._next()
        while sign in _SKIPPED:
            sign = self._next()
        if sign in {"&", "*"}:
            return self._first()
        if sign == "(":
            return self._bracketed()
        if sign == "<":
            self._skip_to(">")
            return self._first()
        return self._by_word(sign)

    def _by_word(self, sign: str) -> Type:
        if sign in _OPEN:
            start = self._at
            self._skip_to(_OPEN[sign])
            return self._object(start) if sign == "{" and not self._forward else None
        if sign == "typeof":
            return self._typeof()
        if sign in {"keyof", "asserts"}:
            self._first()
            return None
        if sign[:1] in {'"', "'"}:
            return (
                parsed(sign[1:-1], forward=self._forward)
                if len(sign) > 2 and sign[1:-1] != sign
                else None
            )
        if not _WORD.match(sign):
            return None
        name = self._imported() if self._imports(sign) else sign.replace("::", ".")
        if self._peek() in {"<", "["} and self._opens_arguments():
            return Named(name, self._arguments())
        return Named(name)

    def _opens_arguments(self) -> bool:
        if self._peek() == "<":
            return True
        follows = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else "]"
        if self._forward and follows[:1] in {'"', "'"}:
            return True
        return follows != "]" and follows[:1] not in {'"', "'"} | set("0123456789")

    def _typeof(self) -> Type:
        name = self._next()
        name = self._imported() if self._imports(name) else name
        if self._peek() == "<":
            self._next()
            self._skip_to(">")
        return ValueOf(name) if _WORD.match(name) or name[:1] == "'" else None

    def _imports(self, sign: str) -> bool:
        return sign == "import" and self._peek() == "("

    def _imported(self) -> str:
        """Return the path in `import("./a").T` as an expression has it: `'./a'.T`."""
        self._next()
        name = f"'{self._next()[1:-1]}'"
        self._skip_to(")")
        while self._peek() == ".":
            name += self._next() + self._next()
        return name

    def _arguments(self) -> tuple[Type, ...]:
        close = _OPEN[self._next()]
        arguments: list[Type] = []
        while self._peek() and self._peek() != close:
            before = self._at
            if self._peek() == "[":
                # A list as an argument: the parameters of Python's `Callable`.
                self._next()
                self._skip_to("]")
                arguments.append(None)
            else:
                arguments.append(self.type())
            if self._peek() == "=>":
                self._next()
                arguments[-1] = Returns(self.type())
            self._to_comma(close)
            if self._at == before:
                self._next()
        self._next()
        return tuple(arguments)

    def _to_comma(self, close: str) -> None:
        while self._peek() and self._peek() != close:
            sign = self._next()
            if sign == ",":
                return
            if sign in _OPEN:
                self._skip_to(_OPEN[sign])

    def _object(self, start: int) -> Type:
        """Parse an object type whose brackets were already skipped."""
        end, self._at = self._at, start
        members: list[tuple[str, Type]] = []
        while self._at < end - 1:
            if self._next() in _MODIFIERS:
                continue
            name = self._tokens[self._at - 1]
            is_mapped = name == "[" and self._tokens[self._at + 1] == "in"
            if is_mapped:
                self._skip_to("]")
            if not (is_mapped or _WORD.match(name)):
                break
            members.append((name, self._member()))
            if is_mapped or self._peek() not in _ENDS:
                break
            self._next()
        is_whole = self._at >= end - 1 or self._peek() in _ENDS
        self._at = end
        if not members or not is_whole:
            return None
        return Mapped(members[0][1]) if members[0][0] == "[" else Fields(tuple(members))

    def _member(self) -> Type:
        """Parse what follows the name of a member."""
        while self._peek() in _MODIFIERS:
            self._next()
        is_method = self._peek() == "("
        if is_method:
            self._next()
            self._skip_to(")")
        if self._next() != ":":
            return None
        type_ = self.type()
        return Returns(type_) if is_method else type_

    def _bracketed(self) -> Type:
        """Parse a type in parentheses or the parameters of a function type."""
        start = self._at
        self._skip_to(")")
        after = self._at
        if self._peek() in {"=>", "->"}:
            this = self._this_at(start)
            self._at = after + 1
            return Returns(self.type(), this)
        self._at = start
        type_ = self.type()
        self._at = after
        return type_

    def _this_at(self, start: int) -> Type:
        """Return the type of `this` in a parameter list that starts at a position."""
        if self._tokens[start : start + 2] != ["this", ":"]:
            return None
        self._at = start + 2
        return self.type()

    def _skip_to(self, close: str) -> None:
        depth = [close]
        while depth and self._at < len(self._tokens):
            sign = self._next()
            if sign == depth[-1]:
                depth.pop()
            elif sign in _OPEN and (sign != "<" or close == ">"):
                depth.append(_OPEN[sign])


# Text in brackets. The `>` of `->` and `=>` is no bracket.

_OPENING, _CLOSING = "([{<", ")]}>"


def split(text: str, separator: str = ",", *, angles: bool = True) -> list[str]:
    """Split a text at the separators outside of brackets; leaves out blank parts.

    With `angles`, `<` and `>` are brackets.
    """
    parts: list[str] = []
    depth = start = 0
    for match in _signs(separator, angles).finditer(text):
        if match[0] != separator:
            depth += 1 if match[0] in _OPENING else -1
        elif not depth:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [part for part in (*parts, text[start:].strip()) if part]


def closing(text: str, at: int, *, angles: bool = True) -> int:
    """Return the position of the bracket that closes the one at a position, or the text's end."""
    depth = 0
    for match in _signs("", angles).finditer(text, at):
        depth += 1 if match[0] in _OPENING else -1
        if not depth:
            return match.start()
    return len(text)


def bracketed(text: str, at: int) -> list[str] | None:
    """Return the parts in the brackets that open at a position; None if they do not close."""
    end = closing(text, at)
    return split(text[at + 1 : end]) if end < len(text) else None


@cache
def _signs(separator: str, angles: bool) -> re.Pattern[str]:
    brackets = r"[(\[{<)\]}]|(?<![-=])>" if angles else r"[()\[\]{}]"
    return re.compile(f"{brackets}|{re.escape(separator)}" if separator else brackets)


# Function types as written.

_LABEL = re.compile(r"\.{0,3}[\w$]+\??\s*:")


@lru_cache(maxsize=20_000)
def function_parts(text: str, arrow: str = "=>") -> tuple[tuple[str, ...], str]:
    """Return the parameters and the result of a function type: `<T>(a: T, b?: U) => V`.

    It may be in brackets or follow something else: `null | ((a: T) => V)`, `suspend A.(T) -> V`.
    """
    inner, rest = _bracketed(text, arrow)
    while arrow in inner and not rest.startswith(arrow):
        inner, rest = _bracketed(inner, arrow)
    return (tuple(split(inner)), rest[2:].strip()) if rest.startswith(arrow) else ((), "")


def _bracketed(text: str, arrow: str) -> tuple[str, str]:
    """Return the text in the brackets of parameters, and the text after them; or empty texts."""
    text = text.strip()
    depth, start = 0, 0
    for at, sign in enumerate(text):
        is_arrow = sign == ">" and text[at - 1 : at] == arrow[0]
        depth += (sign in _OPENING) - (sign in _CLOSING and not is_arrow)
        if depth:
            continue
        if sign == ")":
            return text[start + 1 : at], text[at + 1 :].lstrip()
        start = at + 1
        while text[start : start + 1].isspace():
            start += 1
    return "", ""


def parameter_at(parameters: tuple[str, ...], at: int, arrow: str = "=>") -> str:
    """Return the type of a parameter (`(T) -> V` has no names); empty for a rest parameter."""
    part = parameters[at].strip() if at < len(parameters) else "..."
    name, colon, type_ = part.partition(":")
    is_rest = part.startswith("...")
    return "" if is_rest else (type_ if colon else name if arrow == "->" else "").strip()


def alternatives(text: str) -> list[str]:
    """Split a union type; the result of a function type extends to the end of the text."""
    parts = split(text, "|")
    for at, part in enumerate(parts):
        if "=>" in part and not part.rstrip().endswith(")"):
            return [*parts[:at], "|".join(parts[at:])]
    return parts


def argument_type(parameters: tuple[str, ...], place: int) -> str:
    """Return the declared type of the argument at a place of a call; empty if unknown.

    A last parameter with a list or tuple type counts as a rest parameter (`...all: T[]`), since
    facts do not mark these.
    """
    last = len(parameters) - 1
    part = parameters[min(place, last)].strip() if last >= 0 else ""
    type_ = part.partition(":")[2].strip()
    at = place - last
    if at < 0 or not (part.startswith("...") or type_.endswith("]")):
        return type_ if at <= 0 else ""
    if type_.startswith("["):
        items = split(type_[1:-1])
        item = items[at].strip() if at < len(items) else ""
        label = _LABEL.match(item)
        return item[label.end() :].strip() if label else item
    if type_.endswith("[]"):
        return type_.removesuffix("[]").strip()
    return type_ if not at and not part.startswith("...") else ""
