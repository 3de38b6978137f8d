"""What goes into a capsule: definitions by value, each line once, nothing over the budget.

A budget is in bytes of the text that is sent. The cost of a line and of a heading is told by the
caller, who knows how they are written; what is chosen here costs no more than the room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from codelens.capsule.shown_lines import WHOLE_LINES, runs, windows

Part = Literal["pivot", "callee", "caller", "container", "lines"]


class Candidate(NamedTuple):
    """A definition that may be shown."""

    path: bytes
    symbol: int
    """Position among the definitions of its file; negative for lines in none."""
    start_line: int
    """Of the comment above it."""
    name_line: int
    end_line: int
    value: float
    part: Part
    lines: tuple[int, ...] = ()
    """The lines that tell, where not all of it is meant: of a container its head and members."""
    about: str = ""
    """Why it is there, in a few words."""
    most_lines: int = WHOLE_LINES
    """A longer one is shown in windows of so many lines."""
    asides: frozenset[int] = frozenset()
    """Lines of long comments, which are not shown."""

    @property
    def meant(self) -> list[int]:
        """The lines that are shown of it where there is room."""
        whole = self.lines or range(self.start_line, self.end_line + 1)
        return [line for line in whole if line not in self.asides]


class Shown(NamedTuple):
    """A candidate and what is shown of it."""

    candidate: Candidate
    lines: tuple[int, ...]
    """New ones: those that no candidate before it has shown."""
    left_out: tuple[tuple[int, int], ...]
    """Spans of it that nobody shows so far, long comments too."""


class Costs(NamedTuple):
    """What things cost in bytes."""

    line: Callable[[bytes, int], int]
    """A line of a file, with its number."""
    heading: Callable[[Candidate], int]
    """What is written above a definition."""
    file: Callable[[bytes], int]
    """What is written above the first lines of a file."""
    gap: int
    """What says that lines were left out."""


class Limits(NamedTuple):
    """How much of the room one definition may take."""

    share: float = 0.5
    """Of the room, for a definition that is not shown whole."""
    outline: float = 0.1
    """Of the room, for the lines that stand for a long type, and for a caller's."""
    least: int = 240
    """Bytes; with less left nothing more is begun."""


def pack(
    candidates: Sequence[Candidate],
    room_bytes: int,
    costs: Costs,
    weights: Callable[[bytes], Mapping[int, float]],
    limits: Limits | None = None,
) -> list[Shown]:
    """The candidates that are shown, in the order in which they were chosen.

    The first `LEADING` and all that is certain go by value alone; of the others the room that one
    takes counts against it (`SIZE_WEIGHT`). One that does not fit whole is cut to what tells of it,
    as far as there is room, and the next ones that fit are taken: no budget is left idle while
    something useful is left.

    Args:
        candidates: any order; equal values by path and line.
        room_bytes: that may be filled.
        costs: what it all costs.
        weights: path -> line -> how much it has of the question; asked for long definitions.
        limits: how the room is shared.
    """
    limits = limits or Limits()
    shown: list[Shown] = []
    seen: dict[bytes, set[int]] = {}
    left = room_bytes
    for candidate in _in_order(candidates, room_bytes, costs):
        if left < limits.least:
            break
        known = seen.setdefault(candidate.path, set())
        head = costs.heading(candidate) + (0 if known else costs.file(candidate.path))
        fitting = _fitting(
            candidate, left - head, room_bytes, known, costs=costs, weights=weights, limits=limits
        )
        new = [line for line in fitting if line not in known]
        if not new or (
            len(new) < len(fitting) and candidate.name_line in known and len(new) < _WORTH
        ):
            continue
        cost = head + _cost(candidate.path, new, costs)
        if cost > left:
            continue
        left -= cost
        known.update(new)
        shown.append(Shown(candidate, tuple(new), tuple(runs(_missing(candidate, known)))))
    return shown


def _missing(candidate: Candidate, known: set[int]) -> list[int]:
    whole = range(candidate.name_line, candidate.end_line + 1)
    return sorted(number for number in candidate.asides.union(whole) if number not in known)


LEADING = 15
"""Candidates that are taken by value alone, whatever their size."""
SIZE_WEIGHT = 1.2
"""What a candidate behind them would lose that takes the whole room; values are between 0 and 1.

Of the best candidates the right one is shown whatever it costs. Behind them values lie close
together, and one long body costs the place of several short ones: measured on commits
(`benchmarks/capsule.py`), score per size from the first candidate on loses edited definitions, and
size from the sixteenth on gains needed ones at no cost to them.
"""
CERTAIN = 5.0
"""From this value on a candidate is what the task itself names."""


def _in_order(candidates: Sequence[Candidate], room_bytes: int, costs: Costs) -> list[Candidate]:
    """The candidates in the order in which they are tried."""
    by_value = sorted(
        candidates, key=lambda candidate: (-candidate.value, candidate.path, candidate.name_line)
    )
    certain = sum(1 for candidate in by_value if candidate.value >= CERTAIN)
    first = max(LEADING, certain)

    def net_value(candidate: Candidate) -> float:
        cost = _cost(candidate.path, candidate.meant, costs) / max(room_bytes, 1)
        return candidate.value - SIZE_WEIGHT * min(cost, 1.0)

    return by_value[:first] + sorted(by_value[first:], key=net_value, reverse=True)


_WORTH = 2
"""New lines that are worth a heading of their own, where the definition's name is shown."""


def _fitting(
    candidate: Candidate,
    left: int,
    room_bytes: int,
    known: set[int],
    *,
    costs: Costs,
    weights: Callable[[bytes], Mapping[int, float]],
    limits: Limits,
) -> list[int]:
    """The lines of a candidate that fit into what is left."""
    whole = candidate.meant
    if candidate.lines:
        return _first_lines(
            candidate.path, whole, known, min(left, room_bytes * limits.outline), costs
        )
    new = [line for line in whole if line not in known]
    length = len(whole)
    if length <= candidate.most_lines and _cost(candidate.path, new, costs) <= left:
        return whole
    allowed = min(left, int(room_bytes * limits.share)) if length > candidate.most_lines else left
    mean = max(_cost(candidate.path, new, costs) / max(len(new), 1), 1.0)
    most = min(int(allowed / mean), candidate.most_lines)
    if most < _FEWEST:
        return []
    term_weights = {
        line: weight
        for line, weight in weights(candidate.path).items()
        if line not in candidate.asides
    }
    while most >= _FEWEST:
        lines = windows(candidate.name_line, candidate.end_line, term_weights, most)
        lines = [line for line in lines if line not in candidate.asides]
        if _cost(candidate.path, [line for line in lines if line not in known], costs) <= allowed:
            return lines
        most = most * 4 // 5
    return []


_FEWEST = 4


def _first_lines(
    path: bytes, lines: Sequence[int], known: set[int], room_bytes: float, costs: Costs
) -> list[int]:
    """As many of the lines as fit, from the first on; those that are shown already cost nothing."""
    fitting: list[int] = []
    left = room_bytes
    for line in lines:
        if line not in known:
            left -= costs.line(path, line)
            if fitting and line > fitting[-1] + 1:
                left -= costs.gap
            if left < 0:
                break
        fitting.append(line)
    return fitting


def _cost(path: bytes, lines: Sequence[int], costs: Costs) -> int:
    return sum(costs.line(path, line) for line in lines) + costs.gap * (len(runs(lines)) - 1)
