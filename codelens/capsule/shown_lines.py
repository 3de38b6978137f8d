"""Which lines of a definition are shown: all of a short one, of a long one what answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

WHOLE_LINES = 160
"""A definition of so many lines is shown whole where there is room."""
_HEAD = 3
_AROUND = 6
_JOINED = 3
"""A gap of so many lines is shown rather than said."""


def windows(
    start: int, end: int, weights: Mapping[int, float], most: int, head: int = _HEAD
) -> list[int]:
    """Lines of a long definition: its head, then the surroundings of the lines that weigh most.

    Args:
        start: first line.
        end: last line.
        weights: line -> how much it has of the question; others have nothing.
        most: lines at most.
        head: lines of its beginning that are shown in any case.

    Returns:
        Lines in order.
    """
    if end - start + 1 <= most:
        return list(range(start, end + 1))
    shown = set(range(start, min(start + min(head, most), end + 1)))
    density = _density(start, end, weights)
    for line in sorted(density, key=lambda line: (-density[line], line)):
        if len(shown) >= most:
            break
        if line in shown:
            continue
        near = [
            number
            for number in range(max(start, line - _AROUND), min(end, line + _AROUND) + 1)
            if number not in shown
        ]
        # What lies nearest to the line first, so that a cut one has it in its middle.
        near.sort(key=lambda other_line: (abs(other_line - line), other_line))
        shown.update(near[: most - len(shown)])
    line = start
    while len(shown) < most and line <= end:
        shown.add(line)
        line += 1
    return _closed(sorted(shown), most)


def _density(start: int, end: int, weights: Mapping[int, float]) -> dict[int, float]:
    """Line -> what it and its neighbours have, the nearer the more; of lines that have some."""
    densities: dict[int, float] = {}
    for line, weight in weights.items():
        if start <= line <= end and weight > 0:
            densities[line] = sum(
                weights.get(other, 0.0) / (1 + abs(other - line))
                for other in range(max(start, line - _AROUND), min(end, line + _AROUND) + 1)
            )
    return densities


def _closed(lines: Sequence[int], most: int) -> list[int]:
    """The lines, with the short gaps between them as far as there is room."""
    lines_left = most - len(lines)
    closed_lines: list[int] = []
    for line in lines:
        gap = line - closed_lines[-1] - 1 if closed_lines else 0
        if 0 < gap <= _JOINED and gap <= lines_left + _JOINED:
            closed_lines.extend(range(closed_lines[-1] + 1, line))
            lines_left -= gap
        closed_lines.append(line)
    return closed_lines


def runs(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Lines in order as spans, first and last."""
    line_runs: list[tuple[int, int]] = []
    for line in lines:
        if line_runs and line == line_runs[-1][1] + 1:
            line_runs[-1] = (line_runs[-1][0], line)
        else:
            line_runs.append((line, line))
    return line_runs
