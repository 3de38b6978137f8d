"""Packs the code that a task needs into a number of tokens. Pure functions.

Nothing here depends on a view, a store or a graph: the functions take definitions with their lines
and values, and return the lines to show.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

WHOLE_LINES = 160
"""A definition with at most this many lines is shown whole if it fits."""
_HEAD = 3
_AROUND = 6


def windows(
    start: int, end: int, weights: Mapping[int, float], most: int, head: int = _HEAD
) -> list[int]:
    """Select lines of a long definition: its head, then those around the heaviest lines.

    Args:
        start: first line.
        end: last line.
        weights: line -> how well it matches the question; other lines do not match.
        most: maximum number of lines.
        head: number of first lines that are always shown.

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
        # The nearest lines first, so that a cut window still has the line in its middle.
        near.sort(key=lambda other_line: (abs(other_line - line), other_line))
        shown.update(near[: most - len(shown)])
    line = start
    while len(shown) < most and line <= end:
        shown.add(line)
        line += 1
    return sorted(shown)


def _density(start: int, end: int, weights: Mapping[int, float]) -> dict[int, float]:
    """Line -> its weight plus those of its neighbours by nearness; weightless lines left out."""
    densities: dict[int, float] = {}
    for line, weight in weights.items():
        if start <= line <= end and weight > 0:
            densities[line] = sum(
                weights.get(other, 0.0) / (1 + abs(other - line))
                for other in range(max(start, line - _AROUND), min(end, line + _AROUND) + 1)
            )
    return densities


def runs(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Group ordered lines into spans of first and last line."""
    line_runs: list[tuple[int, int]] = []
    for line in lines:
        if line_runs and line == line_runs[-1][1] + 1:
            line_runs[-1] = (line_runs[-1][0], line)
        else:
            line_runs.append((line, line))
    return line_runs


# Selects what goes into a capsule: definitions by value, each line once, within the budget.
#
# A budget counts bytes of the text that is sent. The caller, who formats lines and headings,
# supplies their cost; the selection never costs more than the budget.

Part = Literal["pivot", "callee", "caller", "container", "lines"]


class Candidate(NamedTuple):
    """A definition that may be shown."""

    path: bytes
    symbol: int
    """Position among the definitions of its file; negative for lines outside of any definition."""
    start_line: int
    """First line, including the comment above."""
    name_line: int
    end_line: int
    value: float
    part: Part
    lines: tuple[int, ...] = ()
    """The lines to show if not all of it is: the head and members of a container."""
    about: str = ""
    """Why it is a candidate, in a few words."""
    most_lines: int = WHOLE_LINES
    """A longer definition is shown in windows of this many lines."""
    asides: frozenset[int] = frozenset()
    """Lines of long comments, which are left out."""

    @property
    def wanted_lines(self) -> list[int]:
        """The lines to show if they fit."""
        whole = self.lines or range(self.start_line, self.end_line + 1)
        return [line for line in whole if line not in self.asides]


class Shown(NamedTuple):
    """A candidate and its lines that are shown."""

    candidate: Candidate
    lines: tuple[int, ...]
    """New lines: no earlier candidate shows them."""
    left_out: tuple[tuple[int, int], ...]
    """Its spans that are not shown so far, including long comments."""


class Costs(NamedTuple):
    """Costs in bytes."""

    line: Callable[[bytes, int], int]
    """Cost of a line of a file, including its number."""
    heading: Callable[[Candidate], int]
    """Cost of the heading above a definition."""
    file: Callable[[bytes], int]
    """Cost of the heading above the first lines of a file."""
    gap: int
    """Cost of the mark for omitted lines."""


LEAST_WORTH = 1 / 80
"""A kilobyte of the best value is worth its size up to the eighth place (`_worth`)."""


class Limits(NamedTuple):
    """How much of the room one definition may use."""

    share: float = 0.5
    """Share of the room for a definition that is not shown whole."""
    outline: float = 0.1
    """Share of the room for the outline of a long type, and for a caller's lines."""
    least: int = 240
    """Minimum of bytes left to add another candidate."""
    worth: float = 0.0
    """Minimum of the worth of a candidate (`_worth`) after the leading ones."""


def pack(
    candidates: Sequence[Candidate],
    room_bytes: int,
    costs: Costs,
    weights: Callable[[bytes], Mapping[int, float]],
    limits: Limits | None = None,
) -> list[Shown]:
    """Choose the candidates to show, in order of choice.

    The certain candidates and the first `LEADING` ones are ordered by value alone, the others by
    their worth: the chance that the task needs them, for their size. Those below the limit of
    worth are left out even if there is room. A candidate that does not fit whole is cut to
    its most relevant lines.

    Args:
        candidates: any order; equal values by path and line.
        room_bytes: the budget.
        costs: costs of lines and headings.
        weights: path -> line -> how well it matches the question; used for long definitions.
        limits: how the room is shared.
    """
    limits = limits or Limits()
    shown: list[Shown] = []
    seen: dict[bytes, set[int]] = {}
    left = room_bytes
    for candidate in _in_order(candidates, costs, limits.worth):
        if left < limits.least:
            break
        seen_lines = seen.setdefault(candidate.path, set())
        head = costs.heading(candidate) + (0 if seen_lines else costs.file(candidate.path))
        fitting = _fitting(
            candidate,
            left - head,
            room_bytes,
            seen_lines,
            costs=costs,
            weights=weights,
            limits=limits,
        )
        new = [line for line in fitting if line not in seen_lines]
        if not new or (
            len(new) < len(fitting) and candidate.name_line in seen_lines and len(new) < _WORTH
        ):
            continue
        cost = head + _cost(candidate.path, new, costs)
        if cost > left:
            continue
        left -= cost
        seen_lines.update(new)
        shown.append(Shown(candidate, tuple(new), tuple(runs(_missing(candidate, seen_lines)))))
    return shown


def _missing(candidate: Candidate, seen_lines: set[int]) -> list[int]:
    whole = range(candidate.name_line, candidate.end_line + 1)
    return sorted(number for number in candidate.asides.union(whole) if number not in seen_lines)


LEADING = 6
"""Number of candidates that are shown regardless of their size."""
CERTAIN = 5.0
"""Candidates with at least this value are named by the task itself."""
_LOOSE = 1 / 8
"""Lines outside of any definition are needed an eighth as often as a definition in their place."""


def _in_order(candidates: Sequence[Candidate], costs: Costs, least_worth: float) -> list[Candidate]:
    """Sort the candidates that are worth their size into the order in which they are tried."""
    by_value = sorted(
        candidates, key=lambda candidate: (-candidate.value, candidate.path, candidate.name_line)
    )
    certain = sum(1 for candidate in by_value if candidate.value >= CERTAIN)
    first = max(LEADING, certain)
    worths = [
        (_worth(candidate, place, costs), candidate)
        for place, candidate in enumerate(by_value, 1)
        if place > first
    ]
    worths.sort(key=lambda pair: pair[0], reverse=True)
    return by_value[:first] + [candidate for worth, candidate in worths if worth >= least_worth]


def _worth(candidate: Candidate, place: int, costs: Costs) -> float:
    """Estimate the chance that a task needs a candidate, for its size.

    The chance falls with the place by value as in Zipf's law. A longer definition is needed more
    often, so that only the cube root of its bytes counts against it.
    """
    size = costs.heading(candidate) + _cost(candidate.path, candidate.wanted_lines, costs)
    share = _LOOSE if candidate.part == "lines" else 1.0
    return share * candidate.value / place / math.cbrt(size)


_WORTH = 2
"""Minimum of new lines to justify a heading if the definition's name is already shown."""


def _fitting(
    candidate: Candidate,
    left: int,
    room_bytes: int,
    seen_lines: set[int],
    *,
    costs: Costs,
    weights: Callable[[bytes], Mapping[int, float]],
    limits: Limits,
) -> list[int]:
    """Return the lines of a candidate that fit into the remaining room."""
    whole = candidate.wanted_lines
    if candidate.lines:
        return _first_lines(
            candidate.path, whole, seen_lines, min(left, room_bytes * limits.outline), costs
        )
    new = [line for line in whole if line not in seen_lines]
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
        shown = {line for line in lines if line not in candidate.asides}
        if _cost(candidate.path, sorted(shown - seen_lines), costs) <= allowed:
            return _without_holes(candidate, shown, seen_lines, left, costs)
        most = most * 4 // 5
    return []


_FEWEST = 4
_HOLE = 120
"""A hole of at most this many bytes is closed: to read it later costs a handle and a heading."""
_MOSTLY = 0.6
"""A definition is shown whole if this share of its bytes is shown."""


def _without_holes(
    candidate: Candidate, shown: set[int], seen_lines: set[int], left: int, costs: Costs
) -> list[int]:
    """Return the shown lines of a definition, and those of its holes that cost too little to keep.

    The holes are closed in order, as far as there is room.
    """
    path, whole = candidate.path, candidate.wanted_lines
    spent = _cost(path, sorted(shown - seen_lines), costs)
    full = _cost(path, [line for line in whole if line not in seen_lines], costs)
    if spent >= _MOSTLY * full and full <= left:
        return whole
    for start, end in runs([line for line in whole if line not in shown]):
        hole = range(start, end + 1)
        size = costs.gap + _cost(path, [line for line in hole if line not in seen_lines], costs)
        if size <= min(_HOLE, left - spent):
            shown.update(hole)
            spent += size
    return sorted(shown)


def _first_lines(
    path: bytes, lines: Sequence[int], seen_lines: set[int], room_bytes: float, costs: Costs
) -> list[int]:
    """Return as many of the first lines as fit; lines already shown cost nothing."""
    fitting: list[int] = []
    left = room_bytes
    for line in lines:
        if line not in seen_lines:
            left -= costs.line(path, line)
            if fitting and line > fitting[-1] + 1:
                left -= costs.gap
            if left < 0:
                break
        fitting.append(line)
    return fitting


def _cost(path: bytes, lines: Sequence[int], costs: Costs) -> int:
    return sum(costs.line(path, line) for line in lines) + costs.gap * (len(runs(lines)) - 1)


# Finds the lines of long comments, which a capsule leaves out in favour of code.
#
# The first lines of a comment, a docstring or an Elixir `@doc` summarise the rest. One `expand`
# shows the lines left out.

_LONG = 4
"""Minimum length of a long comment: a shorter one costs about as much as the mark for its gap."""
_MARKUP = re.compile(r"<[^>]*>|@\w+")
_WORD = re.compile(r"[^\W\d_]{2}")
_LINE_COMMENT = re.compile(
    r"\s*(//|--(?=[\s\-\[]|$)|;;|%%?(?=\s)|#(?=[\s#]|$)"
    r"(?!\s*(?:define|undef|if|ifdef|ifndef|el\w+|endif|include|pragma|error|warning|line)\b))"
)
"""A comment line and its marker; directives of the C preprocessor do not match."""
_BLOCKS = (("/*", "*/"), ("{-", "-}"), ("<!--", "-->"), ("=begin", "=end"))
_QUOTES = re.compile(r'\s*(?:@(?:module|type)?doc\s+(?:~[sS])?)?[rRbBuU]{0,2}("""|\'\'\')')
_DOCUMENTS = re.compile(r"\s*@(?:module|type)?doc\b")


def beyond_first(lines: Sequence[str], start: int, end: int) -> frozenset[int]:
    """Return the line numbers of long comments, without the first lines of each.

    Args:
        lines: lines of the file.
        start: first line to check, 1-based.
        end: last line to check.
    """
    left_out: list[int] = []
    number = start
    last = min(end, len(lines))
    while number <= last:
        stop = _last_line(lines, number, last)
        if stop - number + 1 >= _LONG:
            # `/**` and `/// <summary>` say nothing; the summary is in the next line.
            says = _WORD.search(_MARKUP.sub("", lines[number - 1]))
            left_out += range(number + (1 if says else 2), stop + 1)
        number = max(stop, number) + 1
    return frozenset(left_out)


def _last_line(lines: Sequence[str], first: int, last: int) -> int:
    """Return the last line of the comment that starts at `first`; if none does, the line before."""
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
    """Return the last line of a block; the line before `first` if no comment ends there."""
    if ends in rest:
        return first - 1
    for number in range(first + 1, last + 1):
        _, closing, behind = lines[number - 1].partition(ends)
        if closing:
            return number if not behind.strip() else first - 1
    return first - 1


def _opens_body(lines: Sequence[str], number: int) -> bool:
    """Whether a quoted text comes first in a Python body, which makes it a docstring."""
    before = number - 1
    while before > 0 and not lines[before - 1].strip():
        before -= 1
    return before > 0 and lines[before - 1].split("#")[0].rstrip().endswith(":")


# Derives the intent of a task from its words; the intent decides which graph edges to follow.

Intent = Literal["debug", "refactor", "modify", "explore"]
INTENTS: Mapping[str, Intent] = {
    "debug": "debug", "refactor": "refactor", "modify": "modify", "explore": "explore",
}  # fmt: skip
"""Intents by name."""

Direction = Literal["both", "in", "out"]
DIRECTIONS: dict[Intent, Direction] = {
    "debug": "both", "refactor": "in", "modify": "out", "explore": "out",
}  # fmt: skip
"""Debugging needs both directions, refactoring the users, and the other intents what is used."""

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
"""Words that indicate each intent; the order breaks ties."""
_INTENT_WORD = re.compile(r"[^\W\d_]+")


class ChosenIntent(NamedTuple):
    """An intent and the words that it was derived from."""

    intent: Intent
    words: tuple[str, ...]
    """The words of the task that led to it, each once; empty if it was given or no word matched."""


def intent_of(task: str) -> ChosenIntent:
    """Return the intent with the most words in a task, counting repetitions."""
    words = [word.lower() for word in _INTENT_WORD.findall(task)]
    best = ChosenIntent("explore", ())
    most = 0
    for intent, indicators in WORDS.items():
        matched = [word for word in words if word in indicators]
        if len(matched) > most:
            best, most = ChosenIntent(intent, tuple(dict.fromkeys(matched))), len(matched)
    return best
