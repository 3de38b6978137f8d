"""What stands at a line of a file: the definition around it, or the lines near it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codelens.rank.definitions import body_terms
from codelens.rank.search_request import Ranked
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.ranking_reads import Definition
from codelens.store.facts.symbol_keys import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

CLOSE_LINES = 80
"""A longer definition is shown by the part of it that is meant."""
_BEFORE, _AFTER = 10, 20
_MOST_COMMENT = 40
"""Lines of a comment that are read as one."""
_NAMED, _NAMED_ALIKE = 4, 2
_LINE_CHARS = 300


class Spot(NamedTuple):
    """Lines of a file."""

    start: int
    end: int
    symbol: int
    """Position of the definition that these lines are, -1 if none."""
    inside: str
    """Name of the definition around them; empty if there is none."""


def at_line(
    view: Snapshot, file: FileRow, first: int, last: int = 0, text: bytes | None = None
) -> Spot | None:
    """The innermost definition around some lines; a part of it if it is long.

    Lines of the comment right above a definition belong to it, where the file's `text` is given.
    None where the file has no such line.
    """
    if file.content is None:
        return None
    last = max(first, last)
    lines = view.about([file.content])[file.content].lines
    if not 0 < first <= max(lines, 1):
        return None
    last = min(last, max(lines, 1))
    own = reads.definitions(view.db, [file.content]).get(file.content, ())
    described = _described(own, text, first, last)
    if described is not None:
        return Spot(described.start_line, described.end_line, described.ordinal, described.name)
    around = [
        definition
        for definition in own
        if definition.start_line <= first and last <= definition.end_line
    ]
    inner = min(
        around,
        key=lambda definition: (definition.end_line - definition.start_line, -definition.ordinal),
        default=None,
    )
    # The field or key on the line itself says less than what it belongs to.
    close = [
        definition
        for definition in around
        if definition.end_line - definition.start_line < CLOSE_LINES
    ]
    whole = [
        definition for definition in close if definition.end_line > definition.start_line
    ] or close
    if whole:
        smallest = min(whole, key=lambda known: (known.end_line - known.start_line, -known.ordinal))
        return Spot(smallest.start_line, smallest.end_line, smallest.ordinal, smallest.name)
    name = inner.name if inner else ""
    if last > first:
        return Spot(first, last, -1, name)
    for chunk in view.chunks([file.content]).get(file.content, ()):
        if chunk.start_line <= first <= chunk.end_line < chunk.start_line + CLOSE_LINES:
            return Spot(chunk.start_line, chunk.end_line, -1, name)
    return Spot(max(1, first - _BEFORE), min(max(lines, 1), first + _AFTER), -1, name)


def _described(
    own: Sequence[Definition], text: bytes | None, first: int, last: int
) -> Definition | None:
    """The definition in whose comment some lines stand, right above it."""
    below = min(
        (definition for definition in own if definition.start_line > last),
        key=lambda definition: (definition.start_line, definition.ordinal),
        default=None,
    )
    if text is None or below is None or below.start_line - first > _MOST_COMMENT:
        return None
    lines = text.decode("utf-8", "replace").split("\n")
    return below if body_terms.comment_start(lines, below.start_line) <= first else None


def named(view: Snapshot, file: FileRow, names: Sequence[str]) -> list[Definition]:
    """Definitions of a file called by `names`, outermost first; the owners may be left out.

    Exact spelling before other conventions; only the best is kept.
    """
    if file.content is None or not names:
        return []
    own = reads.definitions(view.db, [file.content]).get(file.content, [])
    last = key_of(names[-1])
    agreeing = [
        (_agree(own, definition, names), definition)
        for definition in own
        if key_of(definition.name) == last
    ]
    best = max((score for score, _ in agreeing), default=0)
    return [definition for score, definition in agreeing if score == best]


def _agree(own: Sequence[Definition], definition: Definition, names: Sequence[str]) -> int:
    """Names in common from the last one outwards; as typed counts more than by convention."""
    score = 0
    at: Definition | None = definition
    for name in reversed(names):
        if at is None or key_of(at.name) != key_of(name):
            break
        score += _NAMED if at.name == name else _NAMED_ALIKE
        at = own[at.parent] if 0 <= at.parent < len(own) else None
    else:
        # Nothing is left of the names, nor of its owners.
        score += at is None
    return score


def line_of(text: bytes | None, number: int) -> str:
    """A line of a text, stripped and cut; empty if there is none."""
    lines = (text or b"").split(b"\n", number)
    if not 0 < number <= len(lines):
        return ""
    return lines[number - 1][: 4 * _LINE_CHARS].decode("utf-8", "replace").strip()[:_LINE_CHARS]


def shown(
    view: Snapshot, file: FileRow, spot: Spot, why: str, *, line: str, shares: Mapping[str, float]
) -> Ranked:
    """A spot as a result; its score is the sum of `shares`, its line the definition's signature.

    `line` is shown where the spot is no definition.
    """
    if spot.symbol >= 0 and file.content is not None:
        line = reads.signature(view.db, file.content, spot.symbol)
    return Ranked(
        file, spot.start, spot.end, "symbol" if spot.symbol >= 0 else "chunk", spot.symbol,
        sum(shares.values()), why, line, shares,
    )  # fmt: skip
