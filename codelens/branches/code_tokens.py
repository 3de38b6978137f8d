"""Finds comments in a text, and compares two texts of code apart from formatting.

This uses only the text and the `comment_style` of the language's settings: a definition is compared
many times, and most of its versions are never parsed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

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
    """Return the line comment markers, and a pattern for strings (first group) and comments."""
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
    """Whether indentation defines the blocks of the language."""
    return language_info(language or TEXT).indented


def is_comment_line(line: bytes, language: str) -> bool:
    """Whether a line is only a comment."""
    bare = line.strip()
    marks, _ = _family(language)
    if not bare.startswith(marks) or bare.startswith(b"#!"):
        return False
    # A product or a pointer, not the inside of a block comment.
    return not (bare.startswith(b"*") and len(bare) > 1 and bare[1:2] not in b" */\t")


def strings_and_comments(language: str) -> re.Pattern[bytes]:
    """Return a pattern for strings (first group) and comments (no group)."""
    return _family(language)[1]


def docstring_starts(text: bytes, language: str) -> frozenset[int]:
    """Return the positions where docstrings start."""
    if language_info(language or TEXT).comment_style != "hash-and-docstring":
        return frozenset()
    return frozenset(match.start(2) for match in _DOCSTRING.finditer(text))


def code_of(text: bytes, language: str) -> bytes:
    """Return the text without comments and docstrings."""
    if language_info(language or TEXT).comment_style == "hash-and-docstring":
        text = _DOCSTRING.sub(rb"\1", text)
    _, pattern = _family(language)
    return pattern.sub(lambda match: match[1] or b"", text)


# Compares two texts of code apart from what a formatter may change.
#
# Blanks, line breaks, the width of an indentation and a trailing comma are ignored; blanks inside a
# string count. In a text whose lines do not end with semicolons, a line break between two words
# counts. Where indentation defines blocks (Python, YAML), every line break outside of brackets
# counts. This uses only the text, as for comments above.

_BLANKS = b" \t\r\n\f\v"
_PIECE = re.compile(rb"\\\r?\n[ \t]*|\n[ \t]*|[\w\x80-\xff]+|[ \t\r\f\v]+|[^\s\w\x80-\xff]")
_WORD = re.compile(rb"[\w\x80-\xff\"'`]")
_ENDS_WITH_SEMICOLON = re.compile(rb";[ \t\r]*(?://|/\*|\}|\n|\Z)")
_OPENING, _CLOSING = frozenset({b"(", b"[", b"{"}), frozenset({b")", b"]", b"}"})
_ONE_SIDED = frozenset({b"-", b":"})
"""Signs that may belong only to the next word: `rm -r`, `puts :name`."""
_TAB = 8

Token = bytes


class _Bracket(NamedTuple):
    opening: bytes
    is_glued: bool
    """Right after a word, as in a call."""
    at: int
    """Position of its token."""


def is_same_code(before: bytes, after: bytes, language: str, *, with_comments: bool) -> bool:
    """Whether two texts differ only in formatting, and in comments unless `with_comments`."""
    bare = [text if with_comments else code_of(text, language) for text in (before, after)]
    first, second = (text.translate(None, _BLANKS + b",\\") for text in bare)
    if first != second:
        return False  # most texts, at a fraction of the cost
    return tokens_of(before, language, with_comments=with_comments) == tokens_of(
        after, language, with_comments=with_comments
    )


def tokens_of(text: bytes, language: str, *, with_comments: bool) -> list[Token]:
    """Return the tokens of a text; its lines if its brackets do not match."""
    reader = _Reader(text, is_indented(language))
    for piece, is_comment in _pieces(b"\n" + text, language):
        if not is_comment:
            reader.take(piece)
        elif with_comments:
            reader.tokens.append(b"#" + piece.translate(None, _BLANKS))
    return text.split(b"\n") if reader.brackets else reader.tokens


def _pieces(text: bytes, language: str) -> Iterator[tuple[bytes, bool]]:
    """Yield words, strings, signs, blanks and indented line breaks; a flag marks comments."""
    docstrings = docstring_starts(text, language)
    at = 0
    for match in strings_and_comments(language).finditer(text):
        yield from ((piece[0], False) for piece in _PIECE.finditer(text, at, match.start()))
        yield match[0], match[1] is None or match.start() in docstrings
        at = match.end()
    yield from ((piece[0], False) for piece in _PIECE.finditer(text, at))


class _Reader:
    """Converts the pieces of a text to tokens, without irrelevant ones."""

    def __init__(self, text: bytes, indented: bool) -> None:
        self.tokens: list[Token] = []
        self.brackets: list[_Bracket] = []
        self._code: list[int] = []
        """Positions in `tokens` of those that are not comments."""
        self._indented = indented
        self._ends_by_semicolon = not indented and bool(_ENDS_WITH_SEMICOLON.search(text))
        self._depths: list[int] = []
        self._indentation: bytes | None = None
        """Indentation of the line that starts next; None within a line."""
        self._after_blank = False
        self._one_sided = False

    def take(self, piece: bytes) -> None:
        """Process the next piece."""
        if piece[:1] == b"\n":
            self._indentation = piece[1:]
        elif piece[:1] not in {b" ", b"\t", b"\r", b"\f", b"\v"} and piece[:2] not in {
            b"\\\n",
            b"\\\r",
        }:
            self._begin_line(piece)
            self._add(piece)
            self._after_blank = False
            return
        self._drop_one_sided()
        self._after_blank = True

    def _last(self, back: int = 1) -> Token:
        return self.tokens[self._code[-back]] if len(self._code) >= back else b""

    def _emit(self, token: Token) -> None:
        self._code.append(len(self.tokens))
        self.tokens.append(token)

    def _begin_line(self, piece: bytes) -> None:
        indentation, self._indentation = self._indentation, None
        if indentation is None:
            return
        if self._indented:
            if not self.brackets:
                self._begin_indented(len(indentation.expandtabs(_TAB)))
        elif (
            not self._ends_by_semicolon
            and _WORD.match(self._last()[-1:])
            and _WORD.match(piece)
            and not (self.brackets and self.brackets[-1].opening != b"{")
        ):
            self._emit(b"\n")

    def _begin_indented(self, depth: int) -> None:
        if not self._depths:
            self._depths.append(depth)
            return
        self._emit(b"\n")
        while len(self._depths) > 1 and self._depths[-1] > depth:
            self._depths.pop()
            self._emit(b"\n<")
        if depth > self._depths[-1]:
            self._depths.append(depth)
            self._emit(b"\n>")

    def _add(self, piece: bytes) -> None:
        last = self._last()
        is_behind_word = bool(_WORD.match(last[-1:])) or last in _CLOSING
        if piece in _CLOSING and self.brackets:
            bracket = self.brackets.pop()
            if last == b"," and self._is_trailing(bracket):
                del self.tokens[self._code.pop()]
        elif piece in _OPENING:
            glued = is_behind_word and not self._after_blank
            self.brackets.append(_Bracket(piece, glued, len(self._code)))
        self._one_sided = piece in _ONE_SIDED and is_behind_word and self._after_blank
        self._emit(b" " + piece if self._one_sided else piece)

    def _drop_one_sided(self) -> None:
        """Drop the mark of a sign if a blank follows it too: then it belongs to both words."""
        if self._one_sided:
            self.tokens[self._code[-1]] = self._last()[1:]
            self._one_sided = False

    def _is_trailing(self, bracket: _Bracket) -> bool:
        """Whether the comma before a closing bracket is redundant, so that no tuple needs it."""
        if self._last(2) in {b",", bracket.opening}:
            return False
        inside = [self.tokens[at] for at in self._code[bracket.at + 1 : -1]]
        if b"," in inside or bracket.opening == b"{":
            return True
        return bracket.is_glued if bracket.opening == b"(" else not bracket.is_glued
