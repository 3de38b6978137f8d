"""Answers within a number of tokens: how a text is counted, and what is left out when it is long.

Text of this kind (paths, handles, signatures) costs more tokens than prose: over 20 searches on
real repositories a token of cl100k and o200k is 3.7 to 3.2 bytes, one of an older Claude's 3.2 to
3.0 (benchmarks/tokens.py). So a limit is kept by bytes / 3. What reading a file costs is told by
`as_text.tokens_of`, bytes / 4, as code is less dense.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, cast

from codelens.wording import count_of

BYTES_A_TOKEN = 3
_CUT = " …"
_OPTIONAL_KEYS = ("explain", "doc", "also", "alike", "why", "language", "symbol")
"""What a single result that is too long for its answer does without, in this order."""


def size_of(text: str) -> int:
    """Bytes of a text as it is sent."""
    return len(text.encode("utf-8", "replace"))


def cost_of(text: str) -> int:
    """The estimate that `max_tokens` is kept by: bytes / 3, rounded up."""
    return -(-size_of(text) // BYTES_A_TOKEN)


class Fitted(NamedTuple):
    """What is left of an answer."""

    head: list[str]
    blocks: list[str]
    more: str

    @property
    def text(self) -> str:
        """All of it; lines that are empty are left out."""
        return "\n".join(line for line in (*self.head, *self.blocks, self.more) if line)


def fitted(
    head: Sequence[str],
    blocks: Sequence[str],
    more: Callable[[int], str],
    max_tokens: int | None,
) -> Fitted:
    """`head`, as many blocks as fit, and what `more` says of those left out.

    The whole costs `max_tokens` at most, or has one block alone of which nothing is left but
    the first line up to the first tab. A head that is too long is cut to two thirds of the limit.
    """
    if max_tokens is None:
        return Fitted(list(head), list(blocks), more(0))
    room = max_tokens * BYTES_A_TOKEN
    head = _shortened([line for line in head if line], room * 2 // 3 if blocks else room)
    left = room - sum(size_of(line) + 1 for line in head)
    sizes = [size_of(block) + 1 for block in blocks]
    fitting = len(blocks)
    if sum(sizes) + _line_size(more(0)) > left:
        fitting = _count_of_fitting(
            sizes, lambda shown: left - _line_size(more(len(blocks) - shown))
        )
    shown = list(blocks[:fitting])
    if blocks and not fitting:
        fitting = 1
        last = _line_size(more(len(blocks) - 1))
        shown = [_cut_block(blocks[0], left - last - 1)]
    return Fitted(head, shown, more(len(blocks) - fitting))


def _count_of_fitting(sizes: Sequence[int], room_for: Callable[[int], int]) -> int:
    total = 0
    fitting = 0
    for number, size in enumerate(sizes, 1):
        total += size
        if total > room_for(number):
            break
        fitting = number
    return fitting


def _line_size(line: str) -> int:
    return size_of(line) + 1 if line else 0


def _cut_block(block: str, size: int) -> str:
    """A block cut behind its handle: one that is not whole names nothing."""
    handle = block.split("\n", 1)[0].split("\t", 1)[0]
    return handle if size < size_of(handle + _CUT) else cut(block, size)


def _shortened(lines: Sequence[str], room: int) -> list[str]:
    """The lines in `room` bytes at most: the last one is cut, and counts those behind it."""
    ends = list(accumulate(size_of(line) + 1 for line in lines))
    fitting = sum(end <= room for end in ends)
    if fitting == len(lines):
        return list(lines)
    for at in range(fitting, -1, -1):
        behind = len(lines) - at - 1
        more = f" (+{count_of(behind, 'line')}: max_tokens)" if behind else ""
        left = room - (ends[at - 1] if at else 0) - 1 - size_of(more)
        if left > size_of(_CUT):
            return [*lines[:at], cut(lines[at], left) + more]
    return [cut(lines[0], room - 1)] if room > size_of(_CUT) + 1 else []


def cut(text: str, size: int) -> str:
    """`text` in at most `size` bytes, if that is enough for the mark that it was cut."""
    if size_of(text) <= size:
        return text
    truncated = text.encode("utf-8", "replace")[: max(size - len(_CUT.encode()), 0)]
    shown = truncated.decode("utf-8", "ignore").rstrip()
    return shown + _CUT if size >= len(_CUT.encode()) else shown


def fitted_json(shaped: Mapping[str, object], key: str, max_tokens: int | None) -> str:
    """One object; entries of `key` that do not fit are counted in `more`, notes in `note_count`.

    One entry is always there: where even that is too long, first its longest text is cut, then
    it loses what it can do without, and says `cut`. The receipt and the first note are never cut,
    so an answer may be longer than a very low limit.
    """
    fields = dict(shaped)
    entries = list(cast(list[object], fields[key]))
    text = _dumped(fields)
    if max_tokens is None or cost_of(text) <= max_tokens:
        return text
    room = max_tokens * BYTES_A_TOKEN
    before = _number(shaped.get("more"))
    notes = fields.get("notes")
    if isinstance(notes, list) and size_of(_dumped(cast(object, notes))) > room // 4:
        fields["notes"] = cast(list[object], notes)[:1]
        fields["note_count"] = len(cast(list[object], notes))
    left = room - size_of(_dumped({**fields, key: [], "more": before + len(entries)}))
    sizes = [size_of(_dumped(entry)) + 2 for entry in entries]
    fitting = _count_of_fitting(sizes, lambda _: left)
    fields[key] = entries[:fitting] if fitting or not entries else [_slim(entries[0], left)]
    fields["more"] = before + len(entries) - max(fitting, min(len(entries), 1))
    if not fields["more"]:
        del fields["more"]
    return _dumped(fields)


def _slim(entry: object, room: int) -> object:
    if not isinstance(entry, Mapping):
        return entry
    fields = {**cast(Mapping[str, object], entry), "cut": True}
    over = size_of(_dumped(fields)) - room
    line = fields.get("signature")
    if isinstance(line, str):
        # A backslash or a quote takes two bytes in JSON: what is cut is at least as long there.
        fields["signature"] = cut(line, max(size_of(line) - over, 0))
    if isinstance(fields.get("items"), list):
        # A file of an outline: as many of its definitions as fit.
        rows = cast(list[object], fields["items"])
        sizes = [size_of(_dumped(row)) + 2 for row in rows]
        spare = room - size_of(_dumped({**fields, "items": [], "more": len(rows)}))
        fitting = _count_of_fitting(sizes, lambda _: spare)
        fields["items"] = rows[:fitting]
        fields["more"] = len(rows) - fitting
    for name in _OPTIONAL_KEYS:
        if size_of(_dumped(fields)) <= room:
            break
        fields.pop(name, None)
    return fields


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
