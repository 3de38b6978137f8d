"""Python regular expressions, line by line, with a bound on time.

Nothing stops Python's `re` in the middle of a line, and some patterns need longer than the age of
the universe for thirty characters. So a pattern that cannot take long runs here, and any other
in a child process that ends itself at the deadline.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from re import _constants as tokens  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from codelens.errors import QueryError
from codelens.extract.tokens import WORD
from codelens.rank import scan
from codelens.rank.filters import Filters
from codelens.rank.request import Ranked, Request
from codelens.rank.scan import Clock, Found, Line, Look, Words
from codelens.store.snapshot import Snapshot
from codelens.store.views import FileRow

Read = Callable[[FileRow], bytes | None]

MAX_PATTERN = 1000
MAX_LINE = 2000
"""Longer lines (minified code, data) are searched up to here."""
_FEW, _LONG, _ENDLESS, _TAME_WAYS = 8, 500, 10**9, 4000
"""A repeat of more than 8 counts as 500 ways to match, and one around another choice as endless.
So one open repeat beside a few choices runs here, and two do not."""
_BATCH_BYTES = 16_000_000
_LEAST_S = 0.05
_GRACE_S = 1.0


def search(
    view: Snapshot, request: Request, filters: Filters, read: Read, notes: list[str]
) -> list[Ranked]:
    """Lines that match the request's query as a regular expression, smart case.

    Raises:
        QueryError: the pattern is none, or too long.
    """
    pattern, parsed = compiled(request.query)
    if "\n" in request.query or "\\n" in request.query:
        notes.append("patterns are matched line by line: one with a line break matches nothing")
    look = _here(pattern, read) if is_tame(parsed) else _in_child(pattern, read)
    return scan.search(view, Words(sure_words(parsed), ()), request, filters, look, notes)


def compiled(text: str) -> tuple[re.Pattern[str], Any]:
    """The pattern and its syntax tree; letter case counts once the text has a capital.

    Raises:
        QueryError: the text is no regular expression.
    """
    if len(text) > MAX_PATTERN:
        raise QueryError(f"the pattern has {len(text)} characters; at most {MAX_PATTERN} are taken")
    # `\S`, `\W` and the like are no capitals.
    capitals = any(char.isupper() for char in re.sub(r"\\.", "", text))
    flags = re.NOFLAG if capitals else re.IGNORECASE
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(text, flags), parser.parse(text, flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise QueryError(f"bad pattern {text[:100]!r}: {error}") from error


_REPEATS = (tokens.MAX_REPEAT, tokens.MIN_REPEAT)


def is_tame(parsed: Any) -> bool:
    """Whether no text can make a pattern take long."""
    return _ways(parsed) <= _TAME_WAYS


def _ways(parsed: Any) -> int:
    """An upper estimate of how many ways of matching are tried at one place of a line."""
    total = 1
    for code, value in parsed:
        total = min(total * _ways_of(code, value), _ENDLESS)
    return total


def _ways_of(code: Any, value: Any) -> int:
    if code in _REPEATS:
        least, most, inner = value
        each = _ways(inner)
        if most > _FEW:
            return _LONG if each == 1 else _ENDLESS
        return min(sum(each**times for times in range(least, most + 1)), _ENDLESS)
    if code is tokens.GROUPREF:
        return _LONG
    inside = [_ways(part) for part in _inside(code, value)]
    return sum(inside) if inside else 1


def _inside(code: Any, value: Any) -> Iterator[Any]:
    """The patterns inside one part of a pattern."""
    if code is tokens.SUBPATTERN:
        yield value[3]
    elif code is tokens.BRANCH:
        yield from value[1]
    elif code in (tokens.ASSERT, tokens.ASSERT_NOT):
        yield value[1]
    elif code is tokens.ATOMIC_GROUP:
        yield value
    elif code is tokens.GROUPREF_EXISTS:
        yield from (part for part in value[1:] if part is not None)
    elif code in (*_REPEATS, tokens.POSSESSIVE_REPEAT):
        yield value[2]


_EDGE = "\0"


def sure_words(parsed: Any) -> tuple[str, ...]:
    """Words that stand, bounded on both sides, in whatever the pattern matches."""
    text = "".join(_literal(code, value) for code, value in parsed)
    found: list[str] = []
    for match in WORD.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        if before and after and not before.endswith("\1") and not after.startswith("\1"):
            found.append(match[0])
    return tuple(found)


def _literal(code: Any, value: Any) -> str:
    r"""What one part of a pattern stands for: itself, `\0` for an end of a word, `\1` for all else."""
    if code is tokens.LITERAL:
        return chr(value)
    if code is tokens.AT:
        return _EDGE if value is not tokens.AT_NON_BOUNDARY else "\1"
    if code is tokens.IN and value == [(tokens.CATEGORY, tokens.CATEGORY_SPACE)]:
        return _EDGE
    if code in _REPEATS and value[0] >= 1 and len(value[2]) == 1:
        inner = _literal(*value[2][0])
        return _EDGE if inner and not WORD.match(inner) and inner != "\1" else "\1"
    if code is tokens.SUBPATTERN and not value[1] and not value[2]:
        return "".join(_literal(*part) for part in value[3])
    return "\1"


def _here(pattern: re.Pattern[str], read: Read) -> Look:
    def find(file: FileRow) -> Found | None:
        data = read(file)
        if not data or not scan.is_text(data):
            return None
        numbers = matching_lines(pattern, data)
        return _found(file, data, numbers) if numbers else None

    return scan.one_by_one(find)


def matching_lines(pattern: re.Pattern[str], data: bytes) -> list[int]:
    """Numbers of the lines that match."""
    search = pattern.search
    lines = data.decode("utf-8", "replace").split("\n")
    return [
        number
        for number, line in enumerate(lines, 1)
        if search(line.rstrip("\r") if len(line) <= MAX_LINE else line[:MAX_LINE])
    ]


def _found(file: FileRow, data: bytes, numbers: Sequence[int]) -> Found:
    lines = data.split(b"\n", numbers[: scan.KEPT_LINES][-1])
    return Found(
        file,
        len(numbers),
        [
            Line(
                number,
                number,
                lines[number - 1][: 4 * scan.LINE_CHARS]
                .decode("utf-8", "replace")
                .strip()[: scan.LINE_CHARS],
            )
            for number in numbers[: scan.KEPT_LINES]
        ],
    )


_CHILD = """
import faulthandler, json, re, struct, sys
source = sys.stdin.buffer
head = json.loads(source.readline())
faulthandler.dump_traceback_later(head["seconds"], exit=True)
search = re.compile(head["pattern"], head["flags"]).search
most = head["most"]
while size := source.read(8):
    lines = source.read(struct.unpack("<q", size)[0]).decode("utf-8", "replace").split("\\n")
    found = [at for at, line in enumerate(lines, 1)
             if search(line.rstrip("\\r") if len(line) <= most else line[:most])]
    print(json.dumps(found), flush=True)
"""
# The watchdog is a thread of C: it ends the child also where Python's own signals wait for `re`,
# and where our process was killed and nobody waits for the child any more.


def _in_child(pattern: re.Pattern[str], read: Read) -> Look:
    def look(files: Sequence[FileRow], clock: Clock) -> tuple[list[Found], int]:
        found: list[Found] = []
        done = 0
        while done < len(files) and clock.left() > _LEAST_S:
            batch = _batch(files[done:], read)
            numbers = _run(pattern, [data for _, data in batch], clock)
            found.extend(
                _found(file, data, lines)
                for (file, data), lines in zip(batch, numbers, strict=False)
                if lines
            )
            done += len(numbers)
            if len(numbers) < len(batch):
                break
        return found, len(files) - done

    return look


def _batch(files: Sequence[FileRow], read: Read) -> list[tuple[FileRow, bytes]]:
    """The next files with their bytes; none for those that cannot be searched."""
    batch: list[tuple[FileRow, bytes]] = []
    size = 0
    for file in files:
        data = read(file)
        data = data if data and scan.is_text(data) else b""
        batch.append((file, data))
        size += len(data)
        if size >= _BATCH_BYTES:
            break
    return batch


def _run(pattern: re.Pattern[str], texts: Sequence[bytes], clock: Clock) -> list[list[int]]:
    """The matching lines of each text; of fewer texts than given when time ran out."""
    seconds = max(clock.left(), _LEAST_S)
    head = {
        "pattern": pattern.pattern, "flags": pattern.flags, "most": MAX_LINE, "seconds": seconds
    }  # fmt: skip
    sent = [json.dumps(head).encode() + b"\n"]
    for text in texts:
        sent += [struct.pack("<q", len(text)), text]
    with subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-I", "-S", "-c", _CHILD],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as child:  # fmt: skip
        try:
            out, _ = child.communicate(b"".join(sent), timeout=seconds + _GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            out, _ = child.communicate()
    # The last line may be cut off where the child ended in the middle of it.
    return [json.loads(line) for line in out.split(b"\n")[:-1]]
