"""Lays out the lines of an answer for a terminal: aligned, coloured and cut to its width.

`codelens.render` writes lines of cells, separated by two blanks or a tab. This module decides
which cell is a handle, a heading or a warning, how wide a column is, and what to cut from a long
line; it never cuts a handle. It is not used for pipes, NO_COLOR and TERM=dumb.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

CODES = {
    "bold": "1", "dim": "2", "bad": "31", "good": "32", "warn": "33", "path": "35", "kind": "36",
}  # fmt: skip
"""The escape code of each style; `codelens.cli.screen` escapes all others."""

_GAP = re.compile(r"\t| {2,}")
_LINES = re.compile(r"[0-9,]+(?:-[0-9]+)?")
_PLACE = re.compile(r"[^\s:]+(?:\.\w+|/[^\s:]*)(?::[0-9]+(?:-[0-9]+)?)?/?")
_SYMBOL = re.compile(r"[^\s#]+#[^\s#].*")
_STATE = re.compile(r"->|[a-z]+")
_COMMIT = re.compile(r"[0-9a-f]{10,12}|uncommitted")
_NUMBERED = re.compile(r"([0-9]+:)(.*)")
_PATCH = re.compile(r" {4}([-+@])")
_WARNING = re.compile(
    r"(?:broken|to look at|certain|likely|possible|ERROR|EXPIRED)\b:?"
    r"|CONFLICT \([^)]*\):?|\[stale\]"
)
_COUNTED = re.compile(r"[a-z][^/#]* \([0-9,]+(?:;[^)]*)?\)")
"""A heading with its number of rows, which may all be hidden."""
_FADED = re.compile(r"\(.*\)|at :.*|-- .*")
_FOLDERS = re.compile(r"[^\s(]+/(?=[^\s/])")
_LOST = frozenset({"gone", "changed", "removed"})
_WIDEST_COLUMN = 0.55
"""The largest share of the line that a column takes; a wider cell is not aligned."""
_LEAST_SHOWN = 16
"""The least number of characters of a shortened cell."""
_STEP = 2


@dataclass(slots=True)
class _Row:
    """A line: its indent, its cells, and the number of blanks after each."""

    indent: int
    cells: list[str]
    gaps: list[int]
    is_heading: bool = False

    @property
    def width(self) -> int:
        return self.indent + sum(map(width_of, self.cells)) + sum(self.gaps)


def styled(text: str, style: str) -> str:
    """`text` in a style; an empty text stays empty."""
    return f"\x1b[{CODES[style]}m{text}\x1b[0m" if text else text


def width_of(text: str) -> int:
    """The width of a text on a terminal: wide characters take two columns, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_width(char) for char in text)


def _width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def lay_out(lines: Iterable[str], columns: int) -> Iterator[str]:
    """Lay out the lines for a terminal of this width."""
    rows = [_row(part) for line in lines for part in line.split("\n")]
    for row, below in zip_longest(rows, rows[1:]):
        row.is_heading = _is_heading(row, below)
    for group in _groups(rows):
        if len(group) > 1 and not _is_aligned(group):
            _align(group, columns)
        for row in group:
            yield from _shown(row, columns)


def hanging(text: str, indent: int, columns: int) -> str:
    """Wrap a text with a hanging indent.

    Args:
        text: one paragraph.
        indent: the column in which the text starts.
        columns: the width of the terminal.
    """
    lines = _wrapped(text, max(columns - indent, _LEAST_SHOWN))
    return f"\n{' ' * indent}".join(lines)


def _wrapped(text: str, room: int) -> list[str]:
    lines: list[str] = []
    line, used = "", 0
    for word in text.split(" "):
        width = width_of(word)
        if line and used + 1 + width > room:
            lines.append(line)
            line, used = word, width
        else:
            line, used = (f"{line} {word}", used + 1 + width) if line else (word, width)
    return [*lines, line]


def _row(line: str) -> _Row:
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    if _NUMBERED.fullmatch(line) or _PATCH.match(line):
        return _Row(0, [line], [])  # code stays unchanged
    # A tab ends a handle, which may contain blanks.
    head, tab, tail = text.partition("\t")
    cells, gaps = ([head], [_STEP]) if tab else ([], [])
    rest, at = tail if tab else text, 0
    for gap in _GAP.finditer(rest):
        cells.append(rest[at : gap.start()])
        gaps.append(_STEP if gap.group() == "\t" else len(gap.group()))
        at = gap.end()
    return _Row(indent, [*cells, rest[at:]], gaps)


def _is_heading(row: _Row, below: _Row | None) -> bool:
    if row.indent or not row.cells[0] or _is_code(row):
        return False
    if _COUNTED.fullmatch(row.cells[0]):
        return True
    if below is None:
        return False
    is_indented = below.indent > 0 and bool(below.cells[0])
    return is_indented and not _is_handle(row.cells[0]) and not _WARNING.match(row.cells[0])


def _is_code(row: _Row) -> bool:
    return bool(_NUMBERED.fullmatch(row.cells[0]) or _PATCH.match(row.cells[0]))


def _is_handle(cell: str) -> bool:
    return bool(_SYMBOL.fullmatch(cell) or _PLACE.fullmatch(cell))


def _groups(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """Group consecutive rows of the same form; any other row forms its own group."""
    group: list[_Row] = []
    for row in rows:
        alike = group and row.indent == group[-1].indent and len(row.cells) > 1
        if not alike or row.is_heading or len(group[-1].cells) < _STEP or group[-1].is_heading:
            if group:
                yield group
            group = []
        group.append(row)
    if group:
        yield group


def _is_aligned(group: Sequence[_Row]) -> bool:
    """Whether the renderer aligned the rows: all second cells start or end in the same column."""
    begins = [width_of(row.cells[0]) + row.gaps[0] for row in group]
    ends = {begin + width_of(row.cells[1]) for begin, row in zip(begins, group, strict=True)}
    return any(row.gaps[0] > _STEP for row in group) and (len({*begins}) == 1 or len(ends) == 1)


def _align(group: Sequence[_Row], columns: int) -> None:
    """Widen the gaps so that the cells form columns."""
    most = int(columns * _WIDEST_COLUMN)
    for at in range(max(len(row.cells) for row in group) - 1):
        here = [row for row in group if at < len(row.gaps)]
        widths = [width_of(row.cells[at]) for row in here]
        widest = max((width for width in widths if width <= most), default=0)
        numbers = at == 0 and all(_LINES.fullmatch(row.cells[0]) for row in here)
        for row, width in zip(here, widths, strict=True):
            if numbers:
                row.indent += widest - width
            elif width <= widest:
                row.gaps[at] = max(row.gaps[at], widest - width + _STEP)


def _shown(row: _Row, columns: int) -> Iterator[str]:
    if _is_code(row):
        yield _code(row.cells[0])
    elif len(row.cells) == 1:
        indent = row.indent
        text = row.cells[0]
        if row.is_heading or _is_handle(text):
            yield f"{' ' * indent}{_painted(text, 0, [text], heading=row.is_heading)}"
            return
        lines = _wrapped(text, max(columns - indent - _STEP, _LEAST_SHOWN))
        yield f"{' ' * indent}{_prose(lines[0])}"
        yield from (f"{' ' * (indent + _STEP)}{line}" for line in lines[1:])
    else:
        if _is_listed(row):
            _cut(row, columns)
        else:
            _break(row, columns)
        cells = [
            _painted(cell, at, row.cells, heading=row.is_heading)
            for at, cell in enumerate(row.cells)
        ]
        gaps = [" " * gap for gap in row.gaps]
        parts = (part for pair in zip(cells, [*gaps, ""], strict=True) for part in pair)
        yield f"{' ' * row.indent}{''.join(parts)}".rstrip()


def _is_listed(row: _Row) -> bool:
    """Whether the row is about a place in code; only such a row is cut, others are wrapped."""
    return _LINES.fullmatch(row.cells[0]) is not None or _is_handle(row.cells[_subject(row.cells)])


def _break(row: _Row, columns: int) -> None:
    """Wrap the last cell, under its start or, if it starts far right, under the row."""
    if row.width <= columns:
        return
    before = row.width - width_of(row.cells[-1])
    if before > columns * _WIDEST_COLUMN:
        before = row.indent + 2 * _STEP
        row.cells[-1] = f"\n{' ' * before}{hanging(row.cells[-1], before, columns)}"
        row.gaps[-1] = 0
    else:
        row.cells[-1] = hanging(row.cells[-1], before, columns)


def _cut(row: _Row, columns: int) -> None:
    """Shorten the longest cells that are not handles until the line fits, then drop cells."""
    while (over := row.width - columns) > 0:
        widths = [
            0 if at == _subject(row.cells) or _is_handle(cell) else width_of(cell)
            for at, cell in enumerate(row.cells)
        ]
        longest = max(range(len(widths)), key=widths.__getitem__)
        if widths[longest] <= _LEAST_SHOWN:
            break
        keep = max(widths[longest] - over, _LEAST_SHOWN)
        row.cells[longest] = _shortened(row.cells[longest], keep)
    is_less = False
    while row.width > columns and len(row.cells) > _subject(row.cells) + 1:
        if _is_handle(row.cells[-1]):
            break
        row.cells.pop()
        row.gaps.pop()
        is_less = True
    if is_less and row.width + 2 <= columns:
        row.cells.append("…")
        row.gaps.append(1)


def _shortened(text: str, width: int) -> str:
    without_folders = _FOLDERS.sub("…/", text)
    if width_of(without_folders) <= width:
        return without_folders
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _subject(cells: Sequence[str]) -> int:
    """The index of the cell that the row is about; -1 if the row starts with line numbers."""
    first = cells[0]
    if _LINES.fullmatch(first):
        return -1
    if len(cells) > 1 and _STATE.fullmatch(first) and _is_handle(cells[1]):
        return 1
    return 0


def _painted(cell: str, at: int, cells: Sequence[str], *, heading: bool) -> str:
    """Colour a cell by its role."""
    if heading:
        return styled(cell, "bold" if at == 0 else "dim")
    warning = _WARNING.match(cell)
    if warning:
        return f"{styled(warning.group(), 'warn')}{cell[warning.end() :]}"
    subject = _subject(cells)
    if at < subject:
        return styled(cell, "warn" if cell in _LOST else "kind")
    if _LINES.fullmatch(cell) or _FADED.fullmatch(cell):
        return styled(cell, "dim")
    if subject < 0:
        return cell
    if _is_handle(cell):
        return _handle(cell)
    if at == subject == 0 and len(cells) > 1:
        return styled(cell, "kind" if _COMMIT.fullmatch(cell) else "path")
    about = cells[subject]
    match = _STATE.fullmatch(cell) and (_is_handle(about) or _COMMIT.fullmatch(about))
    return styled(cell, "kind") if match else cell


def _handle(cell: str) -> str:
    """Colour the path and the symbol of a handle."""
    path, sign, symbol = cell.partition("#")
    return f"{styled(path, 'path')}{styled(f'#{symbol}', 'bold') if sign else ''}"


def _prose(line: str) -> str:
    if line.startswith("#"):  # a definition in a capsule: only the symbol of its handle
        name, blank, about = line.partition(" ")
        return f"{styled(name, 'bold')}{blank}{styled(about, 'dim')}"
    warning = _WARNING.match(line)
    return f"{styled(warning.group(), 'warn')}{line[warning.end() :]}" if warning else line


def _code(line: str) -> str:
    numbered = _NUMBERED.fullmatch(line)
    if numbered:
        return f"{styled(numbered[1], 'dim')}{numbered[2]}"
    sign = line.lstrip()[:1]
    return styled(line, {"+": "good", "-": "bad"}.get(sign, "kind"))
