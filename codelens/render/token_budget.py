"""Fits answers into a token limit: counts text, and decides what to leave out.

Paths, handles and signatures have more tokens per byte than prose: over 20 searches on real
repositories a token of cl100k and o200k is 3.7 to 3.2 bytes, one of an older Claude model 3.2 to
3.0 (benchmarks/tokens.py). So limits use bytes / 3. `text_pieces.tokens_of` estimates the cost of
reading a file by bytes / 4, since code is less dense.
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
"""Keys to drop, in this order, from a single result that is too long for its answer."""


def size_of(text: str) -> int:
    """Return the bytes of a text as sent."""
    return len(text.encode("utf-8", "replace"))


def cost_of(text: str) -> int:
    """Estimate tokens for `max_tokens`: bytes / 3, rounded up."""
    return -(-size_of(text) // BYTES_A_TOKEN)


class Fitted(NamedTuple):
    """The part of an answer that fits."""

    head: list[str]
    blocks: list[str]
    more: str

    @property
    def text(self) -> str:
        """Return the whole text without empty lines."""
        return "\n".join(line for line in (*self.head, *self.blocks, self.more) if line)


def fitted(
    head: Sequence[str],
    blocks: Sequence[str],
    more: Callable[[int], str],
    max_tokens: int | None,
) -> Fitted:
    """Combine `head`, as many blocks as fit, and the text of `more` for the others.

    The result costs at most `max_tokens`, or has a single block cut to its first line before the
    first tab. A head that is too long is cut to two thirds of the limit.
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
    """Cut a block after its handle: a truncated handle is invalid."""
    handle = block.split("\n", 1)[0].split("\t", 1)[0]
    return handle if size < size_of(handle + _CUT) else cut(block, size)


def _shortened(lines: Sequence[str], room: int) -> list[str]:
    """Fit lines into `room` bytes: the last one is truncated and counts the omitted ones."""
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
    """Truncate `text` to `size` bytes, if they suffice for the truncation mark."""
    if size_of(text) <= size:
        return text
    truncated = text.encode("utf-8", "replace")[: max(size - len(_CUT.encode()), 0)]
    shown = truncated.decode("utf-8", "ignore").rstrip()
    return shown + _CUT if size >= len(_CUT.encode()) else shown


def fitted_json(shaped: Mapping[str, object], key: str, max_tokens: int | None) -> str:
    """Render one object; count entries of `key` that do not fit in `more`, notes in `note_count`.

    One entry always stays: if even that is too long, first its longest text is cut, then optional
    keys are dropped, and `cut` is set. The receipt and the first note are never cut, so an answer
    may exceed a very low limit.
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
        # A backslash or a quote takes two bytes in JSON, so the cut text is at least as long.
        fields["signature"] = cut(line, max(size_of(line) - over, 0))
    if isinstance(fields.get("items"), list):
        # A file of an outline: as many definitions as fit.
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
