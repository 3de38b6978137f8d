"""Literal text: smart case (letter case counts once the text has a capital), over lines or more."""

from __future__ import annotations

import re
from collections.abc import Callable

from codelens.extract.tokenizer import WORD
from codelens.rank.modes import line_scan
from codelens.rank.modes.line_scan import FileMatches, Line, Words
from codelens.rank.query.search_filters import Filters
from codelens.rank.search_request import Ranked, Request
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

_WORD_BYTE = re.compile(rb"[\w\x80-\xff]")


def search(
    view: Snapshot,
    text: str,
    request: Request,
    filters: Filters,
    *,
    read: Callable[[FileRow], bytes | None],
    notes: list[str],
    most: int | None = None,
) -> list[Ranked]:
    """Lines that hold `text`; by the number of matches and how well the file fits its words.

    With `most` no more files than that are read.
    """
    needle = text.strip().strip("\0")
    if not needle:
        return []
    fold = needle == needle.lower()
    literal = (needle.lower() if fold else needle).encode("utf-8", "replace")

    def find(file: FileRow) -> FileMatches | None:
        data = read(file)
        if not data or not line_scan.is_text(data):
            return None
        return _find(file, data, literal, fold=fold, most=line_scan.kept_lines(request))

    return line_scan.search(
        view, words_of(needle), request, filters,
        look=line_scan.one_by_one(find), notes=notes, most=most,
    )  # fmt: skip


def words_of(text: str) -> Words:
    """The words of a literal text; the first and last may go on beyond it."""
    sure: list[str] = []
    edge: list[str] = []
    for match in WORD.finditer(text):
        inside = match.start() > 0 and match.end() < len(text)
        (sure if inside else edge).append(match[0])
    return Words(tuple(sure), tuple(edge))


def _find(
    file: FileRow, data: bytes, literal: bytes, *, fold: bool, most: int
) -> FileMatches | None:
    if not literal:
        return None
    searched = folded(data, literal) if fold else data
    at = searched.find(literal)
    if at < 0:
        return None
    lines: list[tuple[bool, Line]] = []
    number, counted, count, last = 1, 0, 0, 0
    high = literal.count(b"\n")
    while at >= 0:
        count += 1
        if len(lines) < most:
            number += searched.count(b"\n", counted, at)
            counted = at
            if number != last:
                part = not _whole(searched, at, at + len(literal))
                lines.append((part, Line(number, number + high, line_at(searched, data, at))))
                last = number
        at = searched.find(literal, at + len(literal))
    lines.sort(key=lambda ranked_line: (ranked_line[0], ranked_line[1].start))
    return FileMatches(file, count, [line for _, line in lines])


def folded(data: bytes, literal: bytes) -> bytes:
    """`data` in lower case, as far as it must be to find `literal`."""
    if literal.isascii():
        return data.lower()
    return data.decode("utf-8", "replace").lower().encode()


def line_at(searched: bytes, data: bytes, at: int) -> str:
    """The line around a place, as it is written; from near the place if it is long."""
    # In lower case some letters take more bytes: then only the folded text knows the place.
    text = data if len(data) == len(searched) else searched
    start = text.rfind(b"\n", 0, at) + 1
    end = text.find(b"\n", at)
    end = len(text) if end < 0 else end
    if at - start > line_scan.LINE_CHARS:
        start = at - line_scan.LINE_CHARS // 3
    shown = text[start : min(end, start + 4 * line_scan.LINE_CHARS)].decode("utf-8", "replace")
    return shown.strip()[: line_scan.LINE_CHARS]


def _whole(text: bytes, start: int, end: int) -> bool:
    before, after = text[start - 1 : start] if start else b"", text[end : end + 1]
    return not (_WORD_BYTE.match(before) and _WORD_BYTE.match(text[start : start + 1])) and not (
        _WORD_BYTE.match(after) and _WORD_BYTE.match(text[end - 1 : end])
    )
