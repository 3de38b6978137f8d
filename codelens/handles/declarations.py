"""A function's declaration and its definition, which are one thing in two places: C and C++."""

from __future__ import annotations

import re

from codelens.extract.language_settings import language_info
from codelens.types import Symbol

_CALLABLE = frozenset({"function", "method"})
_BRACKETS = re.compile(r"<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)")


def may_be_apart(symbol: Symbol, language: str) -> bool:
    """Whether what a symbol names may be declared in one place and defined in another."""
    return bool(language) and symbol.kind in _CALLABLE and language_info(language).declared_apart


def has_body(symbol: Symbol, data: bytes) -> bool:
    """Whether a function is defined, not only declared, in its file's text."""
    return data[symbol.start_byte : symbol.end_byte].rstrip(b" \t\r\n;").endswith(b"}")


def is_same(symbol: Symbol, other: Symbol) -> bool:
    """Whether both may be places of one function: name and number of parameters agree."""
    if symbol.qualified != other.qualified:
        return False
    counts = _parameters(symbol), _parameters(other)
    return None in counts or counts[0] == counts[1]


def _parameters(symbol: Symbol) -> int | None:
    """How many parameters the signature has; None if it does not tell."""
    at = symbol.signature.rfind(f"{symbol.name}(")
    start = at + len(symbol.name) if at >= 0 else symbol.signature.find("(")
    if start < 0:
        return None
    depth = 0
    for end, sign in enumerate(symbol.signature[start:], start):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            inside = symbol.signature[start + 1 : end]
            break
    else:
        return None
    before = ""
    while before != inside:
        before, inside = inside, _BRACKETS.sub("", inside)
    return 0 if inside.strip() in {"", "void"} else inside.count(",") + 1
