"""A definition in an earlier version of its file, by parsing only the lines that became it.

A file is parsed in tens of milliseconds, some fifty lines of it in one or two, and a history looks
at one version for each change. What is found so is what a parse of the whole file gives: the lines
around are the same on both sides, so the definition begins and ends among those that the line
differences lead to. Where that is not sure, nothing is given, and the whole file is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from codelens.branches.comment_syntax import is_comment_line, is_indented
from codelens.branches.file_definitions import Definition, FileDefinitions, FileText, Lines
from codelens.extract.language_settings import TEXT, language_info
from codelens.scope.text_diff import LineChange
from codelens.types import Symbol

ReadSnippet = Callable[[bytes, bytes, str], FileText]
"""A path, bytes and their language -> the text with its definitions."""

_LARGEST_SHARE = 0.5
"""Of a file: to parse more than this saves nothing."""
_CLOSING = re.compile(rb"[)\]}{]|(?:public|private|protected|internal)\s*:|#")
"""Lines that are indented less and do not say whose member is below them."""
_WORD = re.compile(rb"\w+")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")


class EarlierVersion(NamedTuple):
    """A version of a file, and the one after it, in which the definition is known."""

    path: bytes
    old: Sequence[bytes]
    """Its lines."""
    new: Lines
    """Lines of the definition in the newer version, with the comments above it."""
    hunks: Sequence[LineChange]
    """In which lines the two differ."""


def earlier_definition(
    version: EarlierVersion, later: Definition, read: ReadSnippet
) -> Definition | None:
    """What a definition was; None where only a parse of the whole file tells."""
    span = _lines_before(version, later.file.language)
    if span is None:
        return None
    start, stop = span
    lines, language = version.old, later.file.language
    while start > 0 and is_comment_line(lines[start - 1], language):
        start -= 1
    body = lines[start:stop]
    if not any(line.strip() for line in body) or len(body) > _LARGEST_SHARE * len(lines):
        return None
    wrapper = _wrapper(later, body)
    if wrapper is None:
        return None
    before, after = wrapper
    wrapped = b"\n".join([*before, *body, *after]) + b"\n"
    text = read(version.path, wrapped, language)
    outer = _outer_names(text.symbols, later)
    if outer is None or not stands_in(lines, start, later.owner):
        return None
    symbols = [symbol._replace(qualified=outer + symbol.qualified) for symbol in text.symbols]
    file = FileDefinitions(text._replace(symbols=symbols))
    definitions = [
        definition
        for definition in file.definitions
        if definition.symbol.qualified == later.symbol.qualified
    ]
    if len(definitions) != 1:
        return None
    (definition,) = definitions
    last = len(before) + len(body)
    whole = definition.start >= len(before) and definition.stop <= last
    if not whole or definition.group != later.group:
        return None
    if is_indented(language) and _goes_on(definition, lines[start:], len(before)):
        return None
    return definition


def _lines_before(version: EarlierVersion, language: str) -> tuple[int, int] | None:
    """Which lines became those of the definition: from 0, half-open, whole differences.

    None if the differences do not touch it; or hold its last line: it may have gone on then, with
    lines that became those of another definition. By indentation that is seen (`_goes_on`).
    """
    start, stop = version.new[0] - 1, version.new[1]
    offset = 0
    first: tuple[int, int] | None = None
    last = (0, 0)
    for hunk in version.hunks:
        old = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        new = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        if new + hunk.new_lines < start:
            offset = old + hunk.old_lines - new - hunk.new_lines
        elif new > stop:
            break
        else:
            first = first or (old, new)
            last = (old + hunk.old_lines, new + hunk.new_lines)
    if first is None:
        return None
    begin = first[0] if first[1] <= start else start + offset
    end = last[0] if last[1] >= stop else stop + last[0] - last[1]
    is_end_known = last[1] < stop or is_indented(language)
    return (begin, end) if is_end_known else None


def _wrapper(later: Definition, body: Sequence[bytes]) -> tuple[list[bytes], list[bytes]] | None:
    """Lines that make of some members a text of their language; None where none do."""
    info = language_info(later.file.language or TEXT)
    opening = [info.text_opening.encode()] if info.text_opening else []
    head = next(line for line in body if line.strip())
    owner = later.owner.rpartition(".")[2]
    if head[:1] not in {b" ", b"\t"} or not owner or not _IDENTIFIER.match(owner):
        return opening, []
    if info.indented and not info.type_wrapper:
        return None
    before, after = info.type_wrapper[:1], info.type_wrapper[1:]
    return [*opening, *(line.replace("{}", owner).encode() for line in before)], [
        line.encode() for line in after
    ]


def _outer_names(symbols: Sequence[Symbol], later: Definition) -> str | None:
    """What the qualified names of a part lack in front; None if the definition is not in it."""
    qualified = later.symbol.qualified
    for symbol in symbols:
        outer = qualified.removesuffix(symbol.qualified)
        if symbol.name == later.name and outer != qualified and outer[-1:] in {"", "."}:
            return outer
    return None


def stands_in(lines: Sequence[bytes], start: int, owner: str) -> bool:
    """Whether the lines above name all owners of what begins at a line, by their indentation."""
    depth = _depth(next(line for line in lines[start:] if line.strip()))
    names = [name.encode("utf-8", "replace") for name in owner.split(".") if name]
    at = start
    while names and depth > 0:
        at -= 1
        if at < 0:
            return False
        if not lines[at][:depth].strip():
            continue
        bare = lines[at].strip()
        if _CLOSING.match(bare):
            depth = _depth(lines[at]) + 1  # of a head of several lines; its first is above
            continue
        if names.pop() not in _WORD.findall(bare):
            return False
        depth = _depth(lines[at])
    # What is not indented may say its owner itself, or stands in a namespace.
    return all(any(name in line for line in lines) for name in names)


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _goes_on(definition: Definition, lines: Sequence[bytes], wrapped: int) -> bool:
    """Whether the next line of code is indented more than the definition."""
    head = definition.file.lines[definition.symbol.start_line - 1]
    depth = _depth(head)
    for line in lines[definition.stop - wrapped :]:
        bare = line.lstrip()
        if bare and not bare.startswith(b"#"):
            return _depth(line) > depth
    return False
