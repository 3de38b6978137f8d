"""The whole lines of a definition, and whether and where a text has them."""

from __future__ import annotations

from codelens.branches.comment_syntax import is_comment_line, is_indented
from codelens.branches.file_definitions import Definition, Lines

_MARKS = (b"@", b"#[", b"[", b"template")
"""How lines begin that belong to the definition below: decorators, attributes, template heads."""
_AHEAD = 2_000


def unix_lines(data: bytes) -> bytes:
    """A text whose lines end as git keeps them, without carriage returns."""
    # To look for one byte takes a tenth of looking for two.
    return data.replace(b"\r\n", b"\n") if b"\r" in data else data


def lines_of(data: bytes, text: bytes) -> Lines | None:
    """Where some lines stand, first and last from 1; None unless they stand at one place."""
    plain = b"\n" + unix_lines(data) + b"\n"
    block = b"\n" + text + b"\n"
    at = plain.find(block)
    if at < 0 or plain.find(block, at + 1) >= 0:
        return None
    first = plain.count(b"\n", 0, at) + 1
    return first, first + text.count(b"\n")


def whole_text(symbol: Definition) -> bytes:
    """All lines of a definition, the comments above it included."""
    if symbol.inline:
        return b"\n".join(symbol.file.lines[symbol.symbol.start_line - 1 : symbol.symbol.end_line])
    return b"\n".join(symbol.file.lines[symbol.start : symbol.stop])


def holds(data: bytes, text: bytes) -> bool:
    """Whether a file has some lines as they are."""
    if text not in data:
        return b"\r\n" in data and holds(unix_lines(data), text)
    return b"\n" + text + b"\n" in b"\n" + data + b"\n"


def stands_whole(data: bytes, text: bytes, known: bytes, language: str) -> bool:
    """Whether a version of a file has a definition just as another version has it.

    Its lines may stand there as a part of it: below a decorator or comment that was removed since,
    or before more lines of its body.

    Args:
        data: the version.
        text: all lines of the definition.
        known: a version in which these are all its lines.
        language: what the file is written in.
    """
    if not holds(data, text):
        return False
    above, below = _neighbours(data, text)
    if (above, below) == _neighbours(known, text):
        return True
    bare = above.strip()
    if is_comment_line(above, language) or bare.startswith(_MARKS):
        return False
    return not is_indented(language) or not below or _depth(below) <= _depth(text)


def _neighbours(data: bytes, text: bytes) -> tuple[bytes, bytes]:
    """The line above some lines, and the next one below them that is not blank."""
    plain = b"\n" + unix_lines(data) + b"\n"
    at = plain.find(b"\n" + text + b"\n")
    above = plain[plain.rfind(b"\n", 0, at) + 1 : at] if at > 0 else b""
    rest = plain[at + len(text) + 2 : at + len(text) + 2 + _AHEAD]
    return above, next((line for line in rest.split(b"\n") if line.strip()), b"")


def _depth(text: bytes) -> int:
    return len(text) - len(text.lstrip(b" \t"))
