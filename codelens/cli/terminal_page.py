"""How the lines of an answer look on a terminal: aligned, coloured and cut to its width.

Answers are written once, in `codelens.render`, as lines of cells with two blanks or a tab between
them. This module knows that form and nothing of a command: which cell is a handle, a heading or a
warning, how wide a column is, and what of a wide line is left out. A handle is always whole.
Pipes, NO_COLOR and TERM=dumb never come here.
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
"""What each style is to a terminal; `standard_streams` lets no other code through."""

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
"""A heading that says how many rows it has, though none of them may be shown."""
_FADED = re.compile(r"\(.*\)|at :.*|-- .*")
_FOLDERS = re.compile(r"[^\s(]+/(?=[^\s/])")
_LOST = frozenset({"gone", "changed", "removed"})
_WIDEST_COLUMN = 0.55
"""No column is wider than this share of the line; a wider cell just runs on."""
_LEAST_SHOWN = 16
"""Characters that a shortened cell keeps."""
_STEP = 2


@dataclass(slots=True)
class _Row:
    """A line: blanks before it, its cells, and the blanks after each."""

    indent: int
    cells: list[str]
    gaps: list[int]
    is_heading: bool = False

    @property
    def width(self) -> int:
        return self.indent + sum(map(width_of, self.cells)) + sum(self.gaps)


def styled(text: str, style: str) -> str:
    """`text` in a style; nothing stays nothing."""
    return f"\x1b[{CODES[style]}m{text}\x1b[0m" if text else text


def width_of(text: str) -> int:
    """Columns that a terminal gives a text: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(_width(char) for char in text)


def _width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def lay_out(lines: Iterable[str], columns: int) -> Iterator[str]:
    """The lines as a terminal of so many columns is to show them."""
    rows = [_row(part) for line in lines for part in line.split("\n")]
    for row, below in zip_longest(rows, rows[1:]):
        row.is_heading = _is_heading(row, below)
    for group in _groups(rows):
        if len(group) > 1 and not _is_aligned(group):
            _align(group, columns)
        for row in group:
            yield from _shown(row, columns)


def hanging(text: str, indent: int, columns: int) -> str:
    """A text broken between words, its further lines as far in as it begins.

    Args:
        text: one paragraph.
        indent: columns before its first line, which are taken already.
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
        return _Row(0, [line], [])  # code: as it is
    # A tab ends a handle, which may hold blanks.
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
    """Rows that follow one another and are alike; each other line by itself."""
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
    """Whether who wrote the rows did it: the second cells begin or end at one column."""
    begins = [width_of(row.cells[0]) + row.gaps[0] for row in group]
    ends = {begin + width_of(row.cells[1]) for begin, row in zip(begins, group, strict=True)}
    return any(row.gaps[0] > _STEP for row in group) and (len({*begins}) == 1 or len(ends) == 1)


def _align(group: Sequence[_Row], columns: int) -> None:
    """Widen the gaps so that cells begin below one another."""
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
    """Whether the row is about a place, which says the rest: other rows are told in full."""
    return _LINES.fullmatch(row.cells[0]) is not None or _is_handle(row.cells[_subject(row.cells)])


def _break(row: _Row, columns: int) -> None:
    """Let the last cell go on below its beginning, or below the row if it begins far right."""
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
    """Shorten the longest cells that are no handles, until the line fits or nothing is left."""
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
    """Which cell the row is about: the first, unless that is a number, a state or a commit."""
    first = cells[0]
    if _LINES.fullmatch(first):
        return -1
    if len(cells) > 1 and _STATE.fullmatch(first) and _is_handle(cells[1]):
        return 1
    return 0


def _painted(cell: str, at: int, cells: Sequence[str], *, heading: bool) -> str:
    """A cell in the style of its role."""
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
    """Its path, and its symbol, which is what the eye looks for."""
    path, sign, symbol = cell.partition("#")
    return f"{styled(path, 'path')}{styled(f'#{symbol}', 'bold') if sign else ''}"


def _prose(line: str) -> str:
    if line.startswith("#"):  # a definition of a capsule: the end of its handle
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
