"""Parses a text and captures its nodes, within limits on work and CPU time.

A parse limits its steps. Repairs parse several times, and later steps walk trees that a broken text
can give any shape. An extraction therefore has a CPU limit too, far above the time of a valid text
(2 to 5 us a byte), checked at each symbol and at each 64th piece of text.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import NamedTuple, TypeVar

from tree_sitter import Node, Parser, Point, QueryCursor, Range, Tree

from codelens.extract.language_settings import Unparsable
from codelens.extract.parse.grammars import Grammar

T = TypeVar("T")

_BASE_S = 3.0
_PER_BYTE_S = 1e-5
_STACK_BYTES = 256 << 20


class ParseTimeout(Exception):
    """A text takes more work than any valid text of its size."""


class CpuLimit:
    """A limit on the CPU time of the thread that creates and checks it.

    Reading the CPU clock is a system call (.6 us, a twelfth of an extraction); reading the wall
    clock costs a twelfth of that. No thread uses more CPU time than wall time.
    """

    __slots__ = ("_deadline", "_unreached_until")

    def __init__(self, allowed_s: float) -> None:
        self._unreached_until = time.monotonic() + allowed_s
        self._deadline = time.thread_time() + allowed_s

    def is_reached(self) -> bool:
        """Whether the thread has used up the limit."""
        return time.monotonic() >= self._unreached_until and self.left_s() <= 0

    def left_s(self) -> float:
        """Returns the remaining seconds."""
        now = time.monotonic()
        left = self._deadline - time.thread_time()
        self._unreached_until = now + left
        return left

    def use(self, used_s: float) -> None:
        """Counts the CPU time of another thread that worked for this one."""
        self._deadline -= used_s
        self._unreached_until -= used_s


class _Work(threading.local):
    limit = CpuLimit(math.inf)


_work = _Work()
_starting = threading.Lock()


@contextmanager
def limited(size: int) -> Generator[None]:
    """Limits the CPU time of this thread in the block, for one text of `size` bytes."""
    before = _work.limit
    _work.limit = CpuLimit(_BASE_S + size * _PER_BYTE_S)
    try:
        yield
    finally:
        _work.limit = before


def check_work() -> None:
    """Checks the CPU limit of the current text.

    Raises:
        ParseTimeout: the text took more CPU than it may.
    """
    if _work.limit.is_reached():
        raise ParseTimeout("took more time than any valid text of its size")


def with_deep_stack(work: Callable[[], T]) -> T:
    """Runs `work` in a thread with a far larger stack. Its CPU time counts for this thread.

    tree-sitter (0.26.1) frees its parser's stack by recursion: 256 kB of `{-` in C take 87,000
    frames, which crashes a process with the usual stack of 8 MB. If the thread cannot start, `work`
    runs in the current one.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    left = _work.limit.left_s()
    used = 0.0

    def run() -> None:
        nonlocal used
        _work.limit = CpuLimit(left)
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        used = time.thread_time()

    thread = threading.Thread(target=run, name="codelens-parse", daemon=True)
    with _starting:
        before = threading.stack_size(_STACK_BYTES)
        try:
            thread.start()
        except RuntimeError:
            return work()
        finally:
            threading.stack_size(before)
    thread.join()
    _work.limit.use(used)
    if errors:
        raise errors[0]
    return results[0]


def cpu_left_s() -> float:
    """Returns the seconds of CPU time that this thread may still spend on the text."""
    return _work.limit.left_s()


# Spans: the parts of a text to parse.

Span = tuple[int, int]
"""First byte, and the byte after the last."""


def ranges(text: bytes, spans: Sequence[Span]) -> list[Range]:
    """Returns the parser's ranges for spans, without empty spans and spans out of order."""
    ranges_: list[Range] = []
    line = at = 0
    for start, end in spans:
        if start >= end or start < at:
            continue
        line += text.count(b"\n", at, start)
        begin = Point(line, start - text.rfind(b"\n", 0, start) - 1)
        line += text.count(b"\n", start, end)
        finish = Point(line, end - text.rfind(b"\n", 0, end) - 1)
        ranges_.append(Range(begin, finish, start, end))
        at = end
    return ranges_


def overlap(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Returns the intersection of two ordered lists of spans."""
    shared: list[Span] = []
    at = 0
    for start, end in spans:
        while at < len(others) and others[at][1] <= start:
            at += 1
        on = at
        while on < len(others) and others[on][0] < end:
            shared.append((max(start, others[on][0]), min(end, others[on][1])))
            on += 1
    return shared


# Parsing and running a language's query.
#
# The limits count work, not time: the same text must give the same facts on a slow machine.

Captures = dict[str, list[Node]]
"""Capture -> its nodes. Their order is undefined: if patterns overlap, it varies between runs."""

_READ_BYTES = 1_024
_VIEW_BYTES = 32_768
"""The number of bytes that the parser gets per read. A lexer that scans to the end of the text at
each character does so within one step, so only a read can stop it: 256 kB of U+2028 in OCaml took
43 s when a read returned the whole rest.
"""
_BLANKS = b"    "
"""The number of bytes of the longest UTF-8 character."""
_STEPS_BASE = 60
"""Added to a language's `steps`. Valid texts take up to 18 per kB (2,900 files); 2,690 damaged ones
never took more than 25 per kB plus these 60; Scala alone needs 39. With 40 per kB, tree-sitter
copies a forked stack at the end of some 8 kB texts for 16 s into 5 GB, and no callback can stop it.
"""
_CPU_LIMIT_S = 2.0
_CPU_LIMIT_S_PER_BYTE = 2e-6
"""The only limit on time, because broken texts can make single steps slow. Valid texts take a tenth
of it.
"""
_STEPS_BETWEEN, _READS_BETWEEN = 8, 64
"""The number of steps, and of reads, between two checks of the clock."""
_DEEPEST = 1_000
"""The query's time grows with the square of the depth: nested namespaces take 1 s at 2,000 levels,
25 s at 10,000. Beyond 65,535 the cursor's counter wraps.
"""
_MOST_TOKENS = 10_000
"""Consecutive tokens below one node. At each token the query cursor visits all that follow."""
_LARGE = 20_000
_SHALLOW_BYTES = 32_000
"""Parsing such a short text cannot overflow a stack of 8 MB; see `with_deep_stack`."""
_BRACE = re.compile(rb"[{}]")
_SHOWN = re.compile(rb"[^\r\n]")
_SIGNS = {"semicolon": ";", "ampersand": "&"}
"""Names of groups of `masked` that stand for a sign, which no group can be named after."""


class Mask(NamedTuple):
    """A span that is replaced before parsing."""

    start: int
    end: int
    word: str | None
    """The replacement; blanks if it is empty. None also means blanks, and that the span belongs to
    the following definition as a mark.
    """


def parse(text: bytes, grammar: Grammar, ranges: Sequence[Range] = ()) -> Tree:
    """Parses a text, or the given ranges of it as if they were adjacent.

    Raises:
        ParseTimeout: the parser exceeded its limit, or its tree is too large for the query.
    """
    rule = grammar.info.unparsable
    spans = [(range_.start_byte, range_.end_byte) for range_ in ranges]
    parts = [text[start:end] for start, end in spans] or [text]
    if rule is not None and any(_is_unparsable(part, rule) for part in parts):
        raise ParseTimeout("nested too deeply for the grammar")
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
    """Returns the tree of a text or of its ranges with `size` bytes. Frees the parser."""
    parser = Parser(grammar.language, included_ranges=ranges or None)
    work = _BoundedParse(text, size, grammar.info.steps)
    try:
        # Only the callback form takes a progress callback; it costs no more than the plain one.
        tree = parser.parse(work.read, progress_callback=work.is_too_much)
    except ValueError as error:
        raise ParseTimeout(f"gave up after {work.steps} steps") from error
    finally:
        # Freed here: an exception would carry it to another thread with a smaller stack.
        del parser
        work.end()
    if work.gave_up:
        raise ParseTimeout(f"gave up after {work.reads} reads")
    return tree


class _BoundedParse:
    """Feeds the parser and stops it at the limits."""

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
        """Returns the text from an offset on."""
        if not self._parsing:
            # Predicates of queries read the text of nodes through this call, and any other type
            # crashes the process.
            return self._text[offset : offset + _READ_BYTES]
        # In a broken text a scanner may restart at each byte and read to the end each time. All of
        # that is one step, so only a read can stop it.
        self.reads += 1
        if self.reads % _READS_BETWEEN == 0 and self._cpu.is_reached():
            self.gave_up = True
        if self.gave_up:
            # After a view with an incomplete last character, the parser reads again from that
            # character, and uses the reply without checking its length.
            return _BLANKS if 0 < self._view_end - offset < len(_BLANKS) else b""
        # Perl's scanner asks for the column at each step, which reads the same offset again.
        if offset not in self._views:
            self._views[offset] = self._whole[offset : offset + _VIEW_BYTES]
        view = self._views[offset]
        self._view_end = offset + len(view)
        return view

    def is_too_much(self, _offset: int, _has_error: bool) -> bool:
        """Whether to stop. Called at each step."""
        self.steps += 1
        if self.gave_up or self.steps > self._limit:
            return True
        return self.steps % _STEPS_BETWEEN == 0 and self._cpu.is_reached()

    def end(self) -> None:
        """Releases the text that was read.

        py-tree-sitter (0.26.1) never frees what a read callback returned. A released view leaks 200
        bytes, a piece of the text would leak completely.
        """
        self._parsing = False
        for view in self._views.values():
            view.release()


def _is_unparsable(text: bytes, rule: Unparsable) -> bool:
    if rule.marker and text.count(rule.marker.encode()) > rule.most:
        return _deepest_brace(text) > rule.most
    if not rule.run:
        return False
    # Searching for the regex alone would cost a third of the parse.
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
    """Returns the spans to replace before parsing, in the given spans or else in the whole text.

    The regex's groups, or its whole match without groups, become blanks. A named group becomes its
    name without trailing `_` and digits if that fits (`_` alone means blanks, `semicolon` a `;`,
    `ampersand` a `&`).
    """
    pattern = _mask(regex)
    names = {at: name.rstrip("0123456789").rstrip("_") for name, at in pattern.groupindex.items()}
    words = {at: _SIGNS.get(name, name) for at, name in names.items()}
    groups = range(1, pattern.groups + 1) if pattern.groups else (0,)
    return [
        Mask(match.start(group), match.end(group), words.get(group))
        for span in spans or [(0, len(text))]
        for match in pattern.finditer(text, *span)
        for group in groups
        if match.start(group) < match.end(group)
    ]


def _replaced(text: bytes, spans: list[Mask]) -> bytes:
    """Returns the text with words and blanks in place of the spans. Positions are unchanged."""
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
    """Returns the text with blanks in place of the spans. Positions and lines are unchanged."""
    return _replaced(text, [Mask(start, end, "") for start, end in spans])


def captures_of(root: Node, grammar: Grammar) -> Captures:
    """Returns the nodes of each capture of the grammar's query.

    The cursor's own progress callback cannot stop it: in tree-sitter 0.26.1 it crashes the process.
    Trees that would need it are therefore refused earlier.
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
            raise ParseTimeout(f"{node.child_count} consecutive tokens")
        if depth < _DEEPEST:
            pending += [
                (child, depth + 1) for child in node.children if child.descendant_count > _LARGE
            ]
