"""Lines that differ outside of told definitions, and lines of which the ends alone differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.branches.file_definitions import FileDefinitions, Lines

DiffLines = Callable[[bytes, bytes], Sequence[tuple[int, int, int, int]]]
"""Lines in which two texts differ: start and count on both sides."""


_BLANK_ENDS = (b" \n", b"\t\n", b"\r\n")


class OutsideChange(NamedTuple):
    """Lines of a file outside of definitions that differ."""

    how: str
    """`imports`, `statements`, `comments`, `text` (files without definitions), `reordered`,
    `owner renamed`, `line ends`; `blank lines` or `encoding` where nothing else differs."""
    old_lines: tuple[Lines, ...]
    new_lines: tuple[Lines, ...]
    names: tuple[str, ...] = ()
    """Of definitions that stand elsewhere in the file, with the same text."""


def changed_line_ends(
    old: FileDefinitions,
    new: FileDefinitions,
    gone: Sequence[Lines],
    come: Sequence[Lines],
    diff_lines: DiffLines,
) -> Iterator[OutsideChange]:
    """Lines that differ in CR LF, in blanks at their end or in the missing end of a last line.

    Args:
        old: a file as it was.
        new: as it is.
        gone: lines of `old` that are told with something else.
        come: lines of `new` that are.
        diff_lines: compares two texts by lines.
    """
    if not _may_differ_in_ends(old.data, new.data):
        return
    before, after = _whole_lines(old.data), _whole_lines(new.data)
    bare, new_bare = ([line.rstrip() for line in lines] for lines in (before, after))
    old_numbers: list[int] = []
    new_numbers: list[int] = []
    for start, new_start, count in _alike_stretches(bare, new_bare, diff_lines):
        if before[start : start + count] == after[new_start : new_start + count]:
            continue
        for at in range(count):
            line, other = before[start + at], after[new_start + at]
            if line != other and (bare[start + at] or _end(line) != _end(other)):
                old_numbers.append(start + at + 1)
                new_numbers.append(new_start + at + 1)
    told_old, told_new = _numbers(gone), _numbers(come)
    left = [
        pair
        for pair in zip(old_numbers, new_numbers, strict=True)
        if pair[0] not in told_old or pair[1] not in told_new
    ]
    if left:
        yield OutsideChange(
            "line ends",
            tuple(line_ranges(line for line, _ in left)),
            tuple(line_ranges(line for _, line in left)),
        )


def _may_differ_in_ends(old: bytes, new: bytes) -> bool:
    if old.endswith(b"\n") != new.endswith(b"\n"):
        return True
    return any(blanks in text for blanks in _BLANK_ENDS for text in (old, new))


def _whole_lines(data: bytes) -> list[bytes]:
    """Lines with their ends."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()
    return [*lines, last[:-1]] if len(last) > 1 else lines


def _end(line: bytes) -> bytes:
    return line[-2:] if line.endswith(b"\r\n") else line[-1:]


def _alike_stretches(
    old: Sequence[bytes], new: Sequence[bytes], diff_lines: DiffLines
) -> Iterator[tuple[int, int, int]]:
    """Where the same lines begin on both sides, from 0, and how many they are."""
    at = new_at = 0
    if old != new:
        texts = [b"".join(line + b"\n" for line in lines) for lines in (old, new)]
        for start, count, new_start, new_count in diff_lines(*texts):
            first = start - 1 if count else start
            new_first = new_start - 1 if new_count else new_start
            yield at, new_at, first - at
            at, new_at = first + count, new_first + new_count
    yield at, new_at, min(len(old) - at, len(new) - new_at)


def _numbers(spans: Iterable[Lines]) -> set[int]:
    return {line for start, stop in spans for line in range(start, stop + 1)}


def merged(spans: Iterable[Lines]) -> list[Lines]:
    """Spans in order, those that touch as one."""
    merged: list[Lines] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((start, stop))
    return merged


def line_ranges(numbers: Iterable[int]) -> list[Lines]:
    """Numbers of lines, as spans in order."""
    return merged((number, number) for number in numbers)
