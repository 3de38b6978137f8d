"""Which code a task needs, packed into a number of tokens. Pure functions.

Nothing here knows a view, a store or a graph: the functions take definitions with their lines and
values, and return the lines to show.

"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

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


# What goes into a capsule: definitions by value, each line once, nothing over the budget.
#
# A budget is in bytes of the text that is sent. The cost of a line and of a heading is told by the
# caller, who knows how they are written; what is chosen here costs no more than the room.

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


# The lines of long comments that a capsule leaves out: code is what a task is done in.
#
# Of a comment above a definition, or in it, of a docstring and of an Elixir `@doc` the first lines
# say what the rest explains. What is left out is one `expand` away.

KEPT = 2
"""Lines of a long comment that are shown: `/**` or `/// <summary>` is one, the summary another."""
_LONG = 5
"""Lines from which on a comment is long: a shorter one costs less than the sign of its gap."""
_LINE_COMMENT = re.compile(
    r"\s*(//|--(?=[\s\-\[]|$)|;;|%%?(?=\s)|#(?=[\s#]|$)"
    r"(?!\s*(?:define|undef|if|ifdef|ifndef|el\w+|endif|include|pragma|error|warning|line)\b))"
)
"""A line of comment, and its marker; directives of C's preprocessor are none."""
_BLOCKS = (("/*", "*/"), ("{-", "-}"), ("<!--", "-->"), ("=begin", "=end"))
_QUOTES = re.compile(r'\s*(?:@(?:module|type)?doc\s+(?:~[sS])?)?[rRbBuU]{0,2}("""|\'\'\')')
_DOCUMENTS = re.compile(r"\s*@(?:module|type)?doc\b")


def beyond_first(lines: Sequence[str], start: int, end: int) -> frozenset[int]:
    """Numbers of the lines of long comments among some lines, less the first of each.

    Args:
        lines: of the file.
        start: first line that is looked at, 1-based.
        end: last line that is looked at.
    """
    left_out: list[int] = []
    number = start
    last = min(end, len(lines))
    while number <= last:
        stop = _last_line(lines, number, last)
        if stop - number + 1 >= _LONG:
            left_out += range(number + KEPT, stop + 1)
        number = max(stop, number) + 1
    return frozenset(left_out)


def _last_line(lines: Sequence[str], first: int, last: int) -> int:
    """The last line of the comment that begins with a line; the line before where none does."""
    text = lines[first - 1]
    line_comment = _LINE_COMMENT.match(text)
    if line_comment:
        number = first
        while number < last:
            after = _LINE_COMMENT.match(lines[number])
            if after is None or after[1][0] != line_comment[1][0]:
                break
            number += 1
        return number
    opening = text.lstrip()
    for begins, ends in _BLOCKS:
        if opening.startswith(begins):
            return _comment_closed(lines, first, last, ends, opening[len(begins) :])
    quotes = _QUOTES.match(text)
    if quotes and (_DOCUMENTS.match(text) or _opens_body(lines, first)):
        return _comment_closed(lines, first, last, quotes[1], text[quotes.end() :])
    return first - 1


def _comment_closed(lines: Sequence[str], first: int, last: int, ends: str, rest: str) -> int:
    """The line that ends a block; none of it is a comment that never ends or has code behind."""
    if ends in rest:
        return first - 1
    for number in range(first + 1, last + 1):
        _, closing, behind = lines[number - 1].partition(ends)
        if closing:
            return number if not behind.strip() else first - 1
    return first - 1


def _opens_body(lines: Sequence[str], number: int) -> bool:
    """Whether a text in quotes is the first thing in a body of Python: then it is its docstring."""
    before = number - 1
    while before > 0 and not lines[before - 1].strip():
        before -= 1
    return before > 0 and lines[before - 1].split("#")[0].rstrip().endswith(":")


# What a task wants done, told by its words: which way the graph is looked at.

Intent = Literal["debug", "refactor", "modify", "explore"]
INTENTS: Mapping[str, Intent] = {
    "debug": "debug", "refactor": "refactor", "modify": "modify", "explore": "explore",
}  # fmt: skip
"""By name."""

Direction = Literal["both", "in", "out"]
DIRECTIONS: dict[Intent, Direction] = {
    "debug": "both", "refactor": "in", "modify": "out", "explore": "out",
}  # fmt: skip
"""Both ways for a fault; who depends on it for a new shape; what it depends on else."""

WORDS: dict[Intent, frozenset[str]] = {
    "debug": frozenset(
        "fix fixes fixed fixing bug bugs buggy crash crashes crashed crashing fail fails failed "
        "failing failure failures panic panics panicked broken breaks debug debugging bugfix "
        "hotfix regression".split()
    ),
    "refactor": frozenset(
        "refactor refactors refactored refactoring rename renames renamed renaming extract "
        "extracts extracted extracting split splits splitting reorganize reorganizes reorganized "
        "reorganise reorganised".split()
    ),
    "modify": frozenset(
        "add adds added adding implement implements implemented implementing create creates "
        "created creating build builds building built feature features feat".split()
    ),
    "explore": frozenset(),
}
"""In the order that breaks ties."""
_WORD = re.compile(r"[^\W\d_]+")


class ChosenIntent(NamedTuple):
    """An intent and why."""

    intent: Intent
    words: tuple[str, ...]
    """The words of the task that told it, each once; empty if it was given or none did."""


def intent_of(task: str) -> ChosenIntent:
    """The intent with the most words in a task, each word counted as often as it stands there."""
    words = [word.lower() for word in _WORD.findall(task)]
    best = ChosenIntent("explore", ())
    most = 0
    for intent, known in WORDS.items():
        matched = [word for word in words if word in known]
        if len(matched) > most:
            best, most = ChosenIntent(intent, tuple(dict.fromkeys(matched))), len(matched)
    return best
