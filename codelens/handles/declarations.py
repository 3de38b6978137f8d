"""A declaration and its definition, which are one thing in two places: in C and C++.

So it is with functions, and with variables that are `extern` in one of them.
"""

from __future__ import annotations

import re

from codelens.extract.language_settings import language_info
from codelens.types import Symbol

_CALLABLE = frozenset({"function", "method"})
_VARIABLES = frozenset({"variable", "constant"})
_DECLARED = re.compile(r"extern\b(?!\s*\")[^=]*\Z")
"""A variable of another file: with a value it is defined here; `extern "C"` is something else."""
_BRACKETS = re.compile(r"<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)")


def may_be_apart(symbol: Symbol, language: str) -> bool:
    """Whether what a symbol names may be declared in one place and defined in another."""
    return (
        bool(language)
        and symbol.kind in _CALLABLE | _VARIABLES
        and language_info(language).declared_apart
    )


def has_body(symbol: Symbol, data: bytes) -> bool:
    """Whether a symbol is defined, not only declared, in its file's text."""
    if symbol.kind in _VARIABLES:
        return not _DECLARED.match(symbol.signature)
    return data[symbol.start_byte : symbol.end_byte].rstrip(b" \t\r\n;").endswith(b"}")


def is_same(symbol: Symbol, other: Symbol) -> bool:
    """Whether both may be places of one thing.

    Of a function name and number of parameters agree; of a variable one at least is `extern`, and
    no other file has one of its own by that name.
    """
    if symbol.qualified != other.qualified:
        return False
    if {symbol.kind, other.kind} & _VARIABLES:
        return (
            {symbol.kind, other.kind} <= _VARIABLES
            and symbol.exported
            and other.exported
            and any(_DECLARED.match(place.signature) for place in (symbol, other))
        )
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
