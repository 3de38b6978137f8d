"""The grammar of SCIP symbols: `scheme manager package version descriptors`, or `local ID`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from codelens.errors import CodelensError

LOCAL = "local "
_SIMPLE = re.compile(r"[\w+$-]+", re.ASCII)
_NAME = r"(?P<name>[A-Za-z0-9_+$-]+|`(?:[^`]|``)+`)"
_DESCRIPTOR = re.compile(
    rf"""
    {_NAME}(?P<suffix>[/#.:!])                            # namespace, type, term, meta, macro
    | {_NAME.replace("name", "method")}\((?P<which>[A-Za-z0-9_+$-]*)\)\.
    | \[{_NAME.replace("name", "type")}\]
    | \({_NAME.replace("name", "parameter")}\)
    """,
    re.VERBOSE,
)
NAMESPACE, TYPE, TERM, META, MACRO = "/", "#", ".", ":", "!"
METHOD, TYPE_PARAMETER, PARAMETER = "().", "[]", "()"


class InvalidSymbol(CodelensError):
    """A symbol does not follow the grammar."""


class Descriptor(NamedTuple):
    """One part of the qualified name."""

    name: str
    suffix: str
    """One of the constants above."""
    which: str = ""
    """Distinguishes methods of the same name."""

    def written(self) -> str:
        """The part as in a symbol."""
        name = self.name if _SIMPLE.fullmatch(self.name) else f"`{self.name.replace('`', '``')}`"
        if self.suffix == METHOD:
            return f"{name}({self.which})."
        if self.suffix in {TYPE_PARAMETER, PARAMETER}:
            return f"{self.suffix[0]}{name}{self.suffix[1]}"
        return f"{name}{self.suffix}"


class GlobalSymbol(NamedTuple):
    """A symbol that other files can name."""

    scheme: str
    manager: str
    package: str
    version: str
    descriptors: tuple[Descriptor, ...]

    def written(self) -> str:
        """The symbol as a text; an empty part of the package is a dot."""
        parts = (self.scheme, self.manager or ".", self.package or ".", self.version or ".")
        head = " ".join(part.replace(" ", "  ") for part in parts)
        return f"{head} {''.join(descriptor.written() for descriptor in self.descriptors)}"


def parse_symbol(text: str) -> GlobalSymbol:
    """Parse a symbol that is not local.

    Raises:
        InvalidSymbol: it does not follow the grammar.
    """
    if text.startswith(LOCAL):
        raise InvalidSymbol(f"{text[:200]!r} is local to its document")
    parts: list[str] = []
    at = 0
    for _ in range(4):
        part, at = _until_space(text, at)
        parts.append(part)
    if not parts[0]:
        raise InvalidSymbol(f"the SCIP symbol {text[:200]!r} has no scheme")
    manager, package, version = ("" if part == "." else part for part in parts[1:])
    return GlobalSymbol(parts[0], manager, package, version, tuple(descriptors_of(text, at)))


def _until_space(text: str, at: int) -> tuple[str, int]:
    """The part from `at` to the next single space, and where the part after it begins."""
    part: list[str] = []
    while True:
        end = text.find(" ", at)
        if end < 0:
            raise InvalidSymbol(f"the SCIP symbol {text[:200]!r} has too few parts")
        part.append(text[at:end])
        if text[end + 1 : end + 2] != " ":
            return " ".join(part), end + 1
        at = end + 2


def descriptors_of(text: str, at: int = 0) -> Iterable[Descriptor]:
    """Parse the descriptors of a symbol from `at` on.

    Raises:
        InvalidSymbol: they do not follow the grammar, or there are none.
    """
    descriptors: list[Descriptor] = []
    start = at
    while at < len(text):
        match = _DESCRIPTOR.match(text, at)
        if match is None:
            raise InvalidSymbol(f"the SCIP symbol {text[:200]!r} has no descriptor at {at}")
        at = match.end()
        descriptors.append(_descriptor(match))
    if at == start:
        raise InvalidSymbol(f"the SCIP symbol {text[:200]!r} has no descriptors")
    return descriptors


def _descriptor(match: re.Match[str]) -> Descriptor:
    if match["name"]:
        return Descriptor(_plain(match["name"]), match["suffix"])
    if match["method"]:
        return Descriptor(_plain(match["method"]), METHOD, match["which"])
    if match["type"]:
        return Descriptor(_plain(match["type"]), TYPE_PARAMETER)
    return Descriptor(_plain(match["parameter"]), PARAMETER)


def _plain(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def last_descriptor(text: str) -> Descriptor | None:
    """The last descriptor of a symbol; None for a local symbol, or if there is none."""
    if text.startswith(LOCAL):
        return None
    try:
        return parse_symbol(text).descriptors[-1]
    except InvalidSymbol:
        return None
