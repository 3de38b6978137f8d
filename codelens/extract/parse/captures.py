"""How much CPU the extraction of one text may take, whatever step it is in.

A parse has limits of its own (`captures`); repairs parse several times, and what follows walks
trees that a hopeless text can make of any shape. So the whole has a limit too, far above what a
sound text takes (2 to 5 us a byte), asked at each symbol and at each 64th piece of text read.
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
    """A text takes more work than any sound text of its size does."""


class CpuLimit:
    """So much of the CPU time of the thread that makes it and asks.

    Reading that clock is a call of the kernel (.6 us, a twelfth of an extraction), and the clock on
    the wall a twelfth of it. No thread uses more CPU than passes on the wall.
    """

    __slots__ = ("_deadline", "_unreached_until")

    def __init__(self, allowed_s: float) -> None:
        self._unreached_until = time.monotonic() + allowed_s
        self._deadline = time.thread_time() + allowed_s

    def is_reached(self) -> bool:
        """Whether the thread has used it all."""
        return time.monotonic() >= self._unreached_until and self.left_s() <= 0

    def left_s(self) -> float:
        """What is left of it, in seconds."""
        now = time.monotonic()
        left = self._deadline - time.thread_time()
        self._unreached_until = now + left
        return left

    def use(self, used_s: float) -> None:
        """Count what another thread did for this one."""
        self._deadline -= used_s
        self._unreached_until -= used_s


class _Work(threading.local):
    limit = CpuLimit(math.inf)


_work = _Work()
_starting = threading.Lock()


@contextmanager
def limited(size: int) -> Generator[None]:
    """What this thread does in the block is for one text of so many bytes."""
    before = _work.limit
    _work.limit = CpuLimit(_BASE_S + size * _PER_BYTE_S)
    try:
        yield
    finally:
        _work.limit = before


def check_work() -> None:
    """Give up if it is too much.

    Raises:
        ParseTimeout: the text took more CPU than it may.
    """
    if _work.limit.is_reached():
        raise ParseTimeout("took more time than any sound text of its size")


def with_deep_stack(work: Callable[[], T]) -> T:
    """What `work` gives, done by a thread whose stack is far larger; its CPU counts here.

    tree-sitter (0.26.1) frees its parser's stack by recursion: over 256 kB of `{-` in C that is
    87,000 frames, which ends a process whose stack has the usual 8 MB. Where no such thread can
    be started it is done here.
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
    """Seconds of CPU that this thread may still spend on the text."""
    return _work.limit.left_s()


# Parts of a text, as the parser takes them.

Span = tuple[int, int]
"""Bytes from, to."""


def ranges(text: bytes, spans: Sequence[Span]) -> list[Range]:
    """Ranges of spans; empty ones, and what is out of order, are left out."""
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
    """What is in both of two rows of spans that are in order."""
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


# One parse and one run of a language's query, within limits.
#
# The limits count work, not time: the same text must give the same facts on a slow machine.

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
