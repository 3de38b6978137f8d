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
from collections.abc import Callable, Sequence

from codelens.cancellation import check_cancelled, current_call
from codelens.rank.modes import line_scan, regex_analysis, regex_literals
from codelens.rank.modes.line_scan import Clock, FileMatches, Line, Look, Words
from codelens.rank.modes.regex_literals import Required
from codelens.rank.query.search_filters import Filters
from codelens.rank.search_request import Ranked, Request
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

Read = Callable[[FileRow], bytes | None]

MAX_LINE = 2000
"""Longer lines (minified code, data) are searched up to here."""
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
    pattern, parts = regex_analysis.compiled(request.query)
    if "\n" in request.query or "\\n" in request.query:
        notes.append("patterns are matched line by line: one with a line break matches nothing")
    required = regex_literals.required(pattern, parts)
    way = _here if regex_analysis.is_tame(parts) else _in_child
    look = way(pattern, required, read)
    words = Words(regex_analysis.sure_words(parts), ())
    return line_scan.search(view, words, request, filters, look=look, notes=notes)


def _here(pattern: re.Pattern[str], required: Required, read: Read) -> Look:
    def find(file: FileRow) -> FileMatches | None:
        data = read(file)
        if not data or not line_scan.is_text(data):
            return None
        numbers = matching_lines(pattern, data, required.lines(data))
        return _file_matches(file, data, numbers) if numbers else None

    return line_scan.one_by_one(find)


def matching_lines(
    pattern: re.Pattern[str], data: bytes, among: Sequence[int] | None = None
) -> list[int]:
    """Numbers of the lines that match; of these alone, if some are given."""
    search = pattern.search
    if among is None:
        lines = data.decode("utf-8", "replace").split("\n")
        numbered = enumerate(lines, 1)
    elif among:
        rows = data.split(b"\n", among[-1])
        # No character of UTF-8 goes over the end of a line.
        numbered = ((number, rows[number - 1].decode("utf-8", "replace")) for number in among)
    else:
        return []
    return [
        number
        for number, line in numbered
        if search(line.rstrip("\r") if len(line) <= MAX_LINE else line[:MAX_LINE])
    ]


def _file_matches(file: FileRow, data: bytes, numbers: Sequence[int]) -> FileMatches:
    lines = data.split(b"\n", numbers[: line_scan.KEPT_LINES][-1])
    return FileMatches(
        file,
        len(numbers),
        [
            Line(
                number,
                number,
                lines[number - 1][: 4 * line_scan.LINE_CHARS]
                .decode("utf-8", "replace")
                .strip()[: line_scan.LINE_CHARS],
            )
            for number in numbers[: line_scan.KEPT_LINES]
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


def _in_child(pattern: re.Pattern[str], required: Required, read: Read) -> Look:
    def look(files: Sequence[FileRow], clock: Clock) -> tuple[list[FileMatches], int]:
        matched_files: list[FileMatches] = []
        done = 0
        while done < len(files) and clock.left() > _LEAST_S:
            batch = _batch(files[done:], required, read)
            numbers = _run(pattern, [data for _, data in batch], clock)
            matched_files.extend(
                _file_matches(file, data, lines)
                for (file, data), lines in zip(batch, numbers, strict=False)
                if lines
            )
            done += len(numbers)
            if len(numbers) < len(batch):
                break
        return matched_files, len(files) - done

    return look


def _batch(files: Sequence[FileRow], required: Required, read: Read) -> list[tuple[FileRow, bytes]]:
    """The next files with their bytes; none for those that cannot be searched, or cannot match."""
    batch: list[tuple[FileRow, bytes]] = []
    size = 0
    for file in files:
        data = read(file)
        if not data or not line_scan.is_text(data) or required.lines(data) == []:
            data = b""
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
            with current_call().telling(child.kill):
                out, _ = child.communicate(b"".join(sent), timeout=seconds + _GRACE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            out, _ = child.communicate()
    check_cancelled()
    # The last line may be cut off where the child ended in the middle of it.
    return [json.loads(line) for line in out.split(b"\n")[:-1]]
