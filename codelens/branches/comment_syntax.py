"""Which lines of a language are comments, and a text without its comments.

Told from the text alone, by the `comment_style` of the language's settings: a definition is
compared many times, and most versions of it are never parsed again.
"""

from __future__ import annotations

import re
from functools import cache

from codelens.extract.language_settings import TEXT, language_info

_STRING = rb""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
_LONG = rb'"""(?:\\.|[^\\])*?"""' rb"|'''(?:\\.|[^\\])*?'''"
_SLASHES = rb"//[^\n]*|/\*.*?\*/"
_DOCSTRING = re.compile(
    rb"(?<=:)([ \t]*(?:#[^\n]*)?\n\s*)[rRuUbB]?("
    rb'"""(?:\\.|[^\\])*?"""'
    rb"|'''(?:\\.|[^\\])*?'''"
    rb'|"(?:\\.|[^"\\\n])*"'
    rb"|'(?:\\.|[^'\\\n])*')[ \t]*(?=\n|\Z)",
    re.DOTALL,
)


def _pattern(comment: bytes, string: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(" + string + rb")|(?:" + comment + rb")", re.DOTALL)


@cache
def _family(language: str) -> tuple[tuple[bytes, ...], re.Pattern[bytes]]:
    """How a line of comment begins; what is a string (first group) or a comment."""
    info = language_info(language or TEXT)
    match info.comment_style:
        case "hash" | "hash-and-docstring":
            return (b"#",), _pattern(rb"#[^\n]*", _LONG + rb"|" + _STRING)
        case "dashes":
            return (b"--", b"{-", b"/*"), _pattern(rb"--[^\n]*|\{-.*?-\}|/\*.*?\*/", _STRING)
        case "semicolon":
            return (b";",), _pattern(rb";[^\n]*", rb'"(?:\\.|[^"\\])*"')
        case "percent":
            return (b"%",), _pattern(rb"%[^\n]*", _STRING)
        case "slashes-or-hash":
            return (b"//", b"/*", b"*", b"#"), _pattern(_SLASHES + rb"|#(?!\[)[^\n]*", _STRING)
        case "slashes" if info.lifetimes:
            string = rb'"(?:\\.|[^"\\])*"|' + rb"'(?:\\.|[^'\\\n])'"
            return (b"//", b"/*", b"*"), _pattern(_SLASHES, string)
        case "slashes":
            string = rb"`(?:\\.|[^`\\])*`|" + _LONG + rb"|" + _STRING
            return (b"//", b"/*", b"*", b"<!--"), _pattern(_SLASHES, string)


def is_indented(language: str) -> bool:
    """Whether the indentation of a line says what it belongs to."""
    return language_info(language or TEXT).indented


def is_comment_line(line: bytes, language: str) -> bool:
    """Whether a line holds a comment and nothing before it."""
    bare = line.strip()
    marks, _ = _family(language)
    if not bare.startswith(marks) or bare.startswith(b"#!"):
        return False
    # A product or a pointer, not the inside of a block comment.
    return not (bare.startswith(b"*") and len(bare) > 1 and bare[1:2] not in b" */\t")


def strings_and_comments(language: str) -> re.Pattern[bytes]:
    """What is a string (its first group) or a comment (no group)."""
    return _family(language)[1]


def docstring_starts(text: bytes, language: str) -> frozenset[int]:
    """Where strings begin that are documentation."""
    if language_info(language or TEXT).comment_style != "hash-and-docstring":
        return frozenset()
    return frozenset(match.start(2) for match in _DOCSTRING.finditer(text))


def code_of(text: bytes, language: str) -> bytes:
    """The text without comments and docstrings."""
    if language_info(language or TEXT).comment_style == "hash-and-docstring":
        text = _DOCSTRING.sub(rb"\1", text)
    _, pattern = _family(language)
    return pattern.sub(lambda match: match[1] or b"", text)
