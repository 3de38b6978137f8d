"""One parse and one run of a language's query, within limits.

The limits count work, not time: the same text must give the same facts on a slow machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from tree_sitter import Node, Parser, Point, QueryCursor, Range, Tree

from codelens.extract.language_settings import Unparsable
from codelens.extract.parse.grammars import Grammar
from codelens.extract.parse.work_limit import (
    CpuLimit,
    ParseTimeout,
    check_work,
    cpu_left_s,
    with_deep_stack,
)

Captures = dict[str, list[Node]]
"""Capture -> its nodes, in no order to rely on: where patterns overlap it changes by the run."""

_READ_BYTES = 1_024
_VIEW_BYTES = 32_768
"""What the parser is given at once. A lexer that goes to the end of the text and back at each
character does so within one step, so only reads can stop it: 256 kB of U+2028 in OCaml took 43 s
when the parser was given the whole rest."""
_BLANKS = b"    "
"""The longest character of UTF-8."""
_STEPS_BASE = 60
"""Added to a language's `steps`: sound texts take up to 18 a kB (2,900 files), 2,690 damaged ones
never more than 25 and these 60; Scala alone needs 39. With 40 a kB there are texts of 8 kB at
whose end tree-sitter copies a forked stack for 16 s into 5 GB, where no callback can stop it."""
_CPU_LIMIT_S = 2.0
_CPU_LIMIT_S_PER_BYTE = 2e-6
"""The exception: hopeless texts make single steps slow. Sound ones take a tenth of this."""
_STEPS_BETWEEN, _READS_BETWEEN = 8, 64
"""So many steps, or reads, between two looks at the clock."""
_DEEPEST = 1_000
"""The query's time grows with the square of the depth: nested namespaces take 1 s at 2,000 levels,
25 s at 10,000; beyond 65,535 the cursor's counter wraps."""
_MOST_TOKENS = 10_000
"""Tokens in a row below one node; the query cursor looks at all that follow, at each."""
_LARGE = 20_000
_SHALLOW_BYTES = 32_000
"""What no parse of so short a text can do to a stack of 8 MB: see `with_deep_stack`."""
_BRACE = re.compile(rb"[{}]")
_SHOWN = re.compile(rb"[^\r\n]")


class Mask(NamedTuple):
    """A span that is read otherwise than written."""

    start: int
    end: int
    word: str | None
    """What is read in its place, blanks if it is empty; None: blanks, and what follows begins
    here, as the span holds a mark of it."""


def parse(text: bytes, grammar: Grammar, ranges: Sequence[Range] = ()) -> Tree:
    """Parse a text, or the given ranges of it as if nothing stood between them.

    Raises:
        ParseTimeout: the parser went over its limit, or left a tree no query could cope with.
    """
    rule = grammar.info.unparsable
    spans = [(range_.start_byte, range_.end_byte) for range_ in ranges]
    parts = [text[start:end] for start, end in spans] or [text]
    if rule is not None and any(_is_unparsable(part, rule) for part in parts):
        raise ParseTimeout("nested deeper than the grammar can take")
    if grammar.info.masked:
        text = _replaced(text, masked(grammar.info.masked, text, tuple(spans)))
    check_work()
    size = sum(map(len, parts))
    if size > _SHALLOW_BYTES:
        tree = with_deep_stack(lambda: _tree(text, size, grammar, ranges))
    else:
        tree = _tree(text, size, grammar, ranges)
    if tree.root_node.descendant_count > _LARGE:
        _refuse_long_runs(tree.root_node)
    return tree


def _tree(text: bytes, size: int, grammar: Grammar, ranges: Sequence[Range]) -> Tree:
    """The tree of a text, or of ranges of so many bytes; the parser is freed before it returns."""
    parser = Parser(grammar.language, included_ranges=ranges or None)
    work = _BoundedParse(text, size, grammar.info.steps)
    try:
        # Only the reading form takes a progress callback; it costs no more than the plain one.
        tree = parser.parse(work.read, progress_callback=work.is_too_much)
    except ValueError as error:
        raise ParseTimeout(f"gave up after {work.steps} steps") from error
    finally:
        # Here: an error would carry it to another thread, with less of a stack.
        del parser
        work.end()
    if work.gave_up:
        raise ParseTimeout(f"gave up after {work.reads} reads")
    return tree


class _BoundedParse:
    """What the parser reads, and when it is to stop."""

    def __init__(self, text: bytes, size: int, steps_per_kb: int) -> None:
        self._text = text
        self._whole = memoryview(text)
        self._views: dict[int, memoryview] = {}
        self._view_end = 0
        self._limit = _STEPS_BASE + size * steps_per_kb // 1_000
        allowed_s = min(_CPU_LIMIT_S + size * _CPU_LIMIT_S_PER_BYTE, cpu_left_s())
        self._cpu = CpuLimit(allowed_s)
        self._parsing = True
        self.steps = 0
        self.reads = 0
        self.gave_up = False

    def read(self, offset: int, _point: Point) -> memoryview | bytes:
        """The text from an offset on."""
        if not self._parsing:
            # Predicates ask here for the text of nodes; whatever is no bytes ends the process.
            return self._text[offset : offset + _READ_BYTES]
        # In a broken text a scanner may be asked anew at each byte and go to the end each time,
        # all within one step: then nothing else can stop it.
        self.reads += 1
        if self.reads % _READS_BETWEEN == 0 and self._cpu.is_reached():
            self.gave_up = True
        if self.gave_up:
            # Where a view cut a character the parser asks again from it, and reads what it gets
            # without a look at its length.
            return _BLANKS if 0 < self._view_end - offset < len(_BLANKS) else b""
        # Perl's scanner asks for the column at each step, which reads anew from the same place.
        if offset not in self._views:
            self._views[offset] = self._whole[offset : offset + _VIEW_BYTES]
        view = self._views[offset]
        self._view_end = offset + len(view)
        return view

    def is_too_much(self, _offset: int, _has_error: bool) -> bool:
        """Whether to stop; asked at each step."""
        self.steps += 1
        if self.gave_up or self.steps > self._limit:
            return True
        return self.steps % _STEPS_BETWEEN == 0 and self._cpu.is_reached()

    def end(self) -> None:
        """Give back what was read.

        py-tree-sitter (0.26.1) never gives back what a reading function returned. A view that
        was released is 200 bytes, a piece of the text would stay as it is.
        """
        self._parsing = False
        for view in self._views.values():
            view.release()


def _is_unparsable(text: bytes, rule: Unparsable) -> bool:
    if rule.marker and text.count(rule.marker.encode()) > rule.most:
        return _deepest_brace(text) > rule.most
    if not rule.run:
        return False
    # A search for the regex alone would cost a third of the parse.
    marked = text.translate(_marks(rule.characters))
    return b"\1" * rule.run in marked and re.search(rule.regex.encode(), text) is not None


def _deepest_brace(text: bytes) -> int:
    depth = deepest = 0
    for match in _BRACE.finditer(text):
        depth = max(0, depth + (1 if match[0] == b"{" else -1))
        deepest = max(deepest, depth)
    return deepest


@cache
def _marks(characters: str) -> bytes:
    return bytes(code in characters.encode() for code in range(256))


@cache
def _mask(regex: str) -> re.Pattern[bytes]:
    return re.compile(regex.encode(), re.MULTILINE)


@lru_cache(maxsize=1)
def masked(regex: str, text: bytes, spans: tuple[tuple[int, int], ...] = ()) -> list[Mask]:
    """What in the spans, by default in all of a text, is read otherwise than written.

    The regex's groups, or all that it matches if it has none, are read as blanks; a named group
    is read as its name, less `_` and digits at its end, where that fits (`_` itself as blanks).
    """
    pattern = _mask(regex)
    words = {at: name.rstrip("0123456789").rstrip("_") for name, at in pattern.groupindex.items()}
    groups = range(1, pattern.groups + 1) if pattern.groups else (0,)
    return [
        Mask(match.start(group), match.end(group), words.get(group))
        for span in spans or [(0, len(text))]
        for match in pattern.finditer(text, *span)
        for group in groups
        if match.start(group) < match.end(group)
    ]


def _replaced(text: bytes, spans: list[Mask]) -> bytes:
    """The text with words and blanks in place of the spans, so that positions stay."""
    if not spans:
        return text
    blanked = bytearray(text)
    for start, end, name in spans:
        word = (name or "").encode()
        blank = _SHOWN.sub(b" ", text[start:end])
        fits = len(word) <= len(blank) and b"\n" not in blank[: len(word)]
        blanked[start:end] = word + blank[len(word) :] if fits else blank
    return bytes(blanked)


def blanked(text: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    """The text with blanks in place of the spans, so that positions and lines stay."""
    return _replaced(text, [Mask(start, end, "") for start, end in spans])


def captures_of(root: Node, grammar: Grammar) -> Captures:
    """Nodes of each capture of the grammar's query.

    The cursor's own progress callback is no way to stop it: in tree-sitter 0.26.1 it crashes
    the process. So the trees that would need it are refused before.
    """
    check_work()
    cursor = QueryCursor(grammar.query)
    cursor.set_max_start_depth(_DEEPEST)
    return cursor.captures(root)


def _refuse_long_runs(root: Node) -> None:
    pending = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        if node.child_count - node.named_child_count > _MOST_TOKENS + node.named_child_count:
            raise ParseTimeout(f"{node.child_count} tokens in a row")
        if depth < _DEEPEST:
            pending += [
                (child, depth + 1) for child in node.children if child.descendant_count > _LARGE
            ]
