"""Which lines of a language are comments, and a text without its comments.

Told from the text alone, by the family of the language: a definition is compared many times, and
most versions of it are never parsed again.
"""

from __future__ import annotations

import re
from functools import cache

_HASH = frozenset(
    "python ruby bash fish perl r elixir julia make cmake dockerfile yaml toml nix crystal "
    "starlark gdscript powershell tcl awk nim jupyter hcl terraform graphql".split()
)
_DASH = frozenset("lua sql haskell elm ada vhdl purescript".split())
_SEMICOLON = frozenset("commonlisp elisp clojure scheme racket asm".split())
_PERCENT = frozenset("erlang latex matlab prolog".split())
INDENTED = frozenset(
    "python jupyter starlark haskell elm nim gdscript yaml fsharp make purescript".split()
)
"""Languages in which the indentation of a line says what it belongs to."""

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
    if language in _HASH:
        return (b"#",), _pattern(rb"#[^\n]*", _LONG + rb"|" + _STRING)
    if language in _DASH:
        return (b"--", b"{-", b"/*"), _pattern(rb"--[^\n]*|\{-.*?-\}|/\*.*?\*/", _STRING)
    if language in _SEMICOLON:
        return (b";",), _pattern(rb";[^\n]*", rb'"(?:\\.|[^"\\])*"')
    if language in _PERCENT:
        return (b"%",), _pattern(rb"%[^\n]*", _STRING)
    if language == "php":
        return (b"//", b"/*", b"*", b"#"), _pattern(_SLASHES + rb"|#(?!\[)[^\n]*", _STRING)
    if language == "rust":
        # A lone quote begins a lifetime as well as a character.
        string = rb'"(?:\\.|[^"\\])*"|' + rb"'(?:\\.|[^'\\\n])'"
        return (b"//", b"/*", b"*"), _pattern(_SLASHES, string)
    string = rb"`(?:\\.|[^`\\])*`|" + _LONG + rb"|" + _STRING
    return (b"//", b"/*", b"*", b"<!--"), _pattern(_SLASHES, string)


def is_comment_line(line: bytes, language: str) -> bool:
    """Whether a line holds a comment and nothing before it."""
    bare = line.strip()
    marks, _ = _family(language)
    if not bare.startswith(marks) or bare.startswith(b"#!"):
        return False
    # A product or a pointer, not the inside of a block comment.
    return not (bare.startswith(b"*") and len(bare) > 1 and bare[1:2] not in b" */\t")


def code_of(text: bytes, language: str) -> bytes:
    """The text without comments and docstrings."""
    if language in {"python", "jupyter", "starlark"}:
        text = _DOCSTRING.sub(rb"\1", text)
    _, pattern = _family(language)
    return pattern.sub(lambda match: match[1] or b"", text)
