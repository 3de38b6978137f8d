"""Searches lines with Python regular expressions, within a time limit.

Python's `re` cannot be interrupted, and some patterns take practically forever on thirty
characters. So only patterns that are always fast run here; all others run in a child process that
ends itself at the deadline.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from codelens.cancellation import check_cancelled, current_call
from codelens.rank.modes import line_scan, long_lines, regex_analysis
from codelens.rank.modes.line_scan import Clock, FileMatches, Line, Look, Words
from codelens.rank.modes.long_lines import MAX_LINE, STEP, LineSearch
from codelens.rank.modes.regex_analysis import Part, Required
from codelens.rank.search_request import Ranked
from codelens.rank.search_state import Read, SearchState
from codelens.store.views.views import FileRow
from codelens.wording import count_of

_LONG_LINES_SHARE = 0.25
"""Share of the time for the rest of long lines after their first piece."""
_BATCH_BYTES = 16_000_000
_LEAST_S = 0.05
_GRACE_S = 1.0


def search(state: SearchState) -> list[Ranked]:
    """Return lines that match the request's query as a regular expression with smart case.

    Raises:
        QueryError: the pattern is invalid or too long.
    """
    request = state.request
    pattern, parts = regex_analysis.compiled(request.query)
    if "\n" in request.query or "\\n" in request.query:
        state.note("patterns are matched line by line: one with a line break matches nothing")
    pattern_search = _analysed(pattern, parts, line_scan.kept_lines(request))
    cut: set[bytes] = set()
    words = Words(regex_analysis.sure_words(pattern, parts), ())
    look = (_here if pattern_search.is_tame else _in_child)(
        pattern_search, state.read, request.seconds, cut
    )
    results = line_scan.scan(state, words, look)
    if cut:
        state.note(
            f"not searched to the end: lines of over {MAX_LINE:,} characters in "
            f"{count_of(len(cut), 'file')}"
        )
    return results


class _PatternSearch(NamedTuple):
    """A pattern and its analysis."""

    pattern: re.Pattern[str]
    required: Required
    manner: Mapping[str, object]
    """Arguments of `LineSearch`, in a form for JSON."""
    most: int
    """Maximum number of result lines per file."""

    @property
    def is_tame(self) -> bool:
        return bool(self.manner["is_tame"])

    def line_search(self, seconds: float) -> LineSearch:
        return LineSearch(self.pattern, seconds=seconds, **cast("dict[str, Any]", self.manner))


def _analysed(
    pattern: re.Pattern[str], parts: Sequence[Part], most: int = line_scan.KEPT_LINES
) -> _PatternSearch:
    required = regex_analysis.required_literals(pattern, parts)
    is_free = not regex_analysis.looks_around(parts, 0)
    manner = {
        "reach": regex_analysis.reach(regex_analysis.shortest(parts) if is_free else parts),
        "is_free": is_free,
        "looks_far": regex_analysis.looks_around(parts, STEP),
        "is_anchored": regex_analysis.is_anchored(pattern, parts),
        "is_tame": regex_analysis.is_tame(parts),
        "needed": [[way.decode() for way in ways] for ways in required.clauses],
        "fold": required.fold,
    }
    return _PatternSearch(pattern, required, manner, most)


def _here(pattern_search: _PatternSearch, read: Read, seconds: float, cut: set[bytes]) -> Look:
    lines = pattern_search.line_search(seconds * _LONG_LINES_SHARE)

    def find(file: FileRow) -> FileMatches | None:
        data = read(file)
        if not data or not line_scan.is_text(data):
            return None
        lines.cut = False
        matched = matching_lines(lines, data, pattern_search.required.lines(data))
        if lines.cut:
            cut.add(file.path)
        return _file_matches(file, data, matched, pattern_search.most) if matched else None

    return line_scan.one_by_one(find)


def matching_lines(
    lines: LineSearch, data: bytes, among: Sequence[int] | None = None
) -> list[tuple[int, int]]:
    """Find matching lines as `LineSearch.among` does; only among some numbers, if given."""
    if among is None:
        return lines.among(enumerate(data.decode("utf-8", "replace").split("\n"), 1))
    if not among:
        return []
    rows = data.split(b"\n", among[-1])
    # No multi-byte character of UTF-8 contains a line end.
    return lines.among((number, rows[number - 1].decode("utf-8", "replace")) for number in among)


def _file_matches(
    file: FileRow, data: bytes, matched: Sequence[tuple[int, int]], most: int
) -> FileMatches:
    first_lines = matched[:most]
    lines = data.split(b"\n", first_lines[-1][0])
    return FileMatches(
        file,
        len(matched),
        [Line(number, number, _shown(lines[number - 1], at)) for number, at in first_lines],
    )


def _shown(line: bytes, at: int) -> str:
    """Truncate a line; start near a 1-based column if that is far from the beginning."""
    if at <= line_scan.LINE_CHARS:
        text = line[: 4 * line_scan.LINE_CHARS].decode("utf-8", "replace")
    else:
        text = line.decode("utf-8", "replace")[at - 1 - line_scan.LINE_CHARS // 3 :]
    return text[: 4 * line_scan.LINE_CHARS].strip()[: line_scan.LINE_CHARS]


_CHILD = """
import faulthandler, json, re, struct, sys
source = sys.stdin.buffer
head = json.loads(source.readline())
faulthandler.dump_traceback_later(head["seconds"], exit=True)
sys.path.append(head["folder"])
from long_lines import LineSearch
pattern = re.compile(head["pattern"], head["flags"])
lines = LineSearch(pattern, seconds=head["long"], **head["manner"])
while size := source.read(8):
    text = source.read(struct.unpack("<q", size)[0]).decode("utf-8", "replace")
    lines.cut = False
    matched = lines.among(enumerate(text.split("\\n"), 1))
    print(json.dumps([matched, lines.cut]), flush=True)
"""
# The watchdog is a C thread: it ends the child even while `re` delays Python's signals,
# and after codelens was killed.


def _in_child(pattern_search: _PatternSearch, read: Read, seconds: float, cut: set[bytes]) -> Look:
    def look(files: Sequence[FileRow], clock: Clock) -> tuple[list[FileMatches], int]:
        matched_files, late = run(files, clock, 0.0)
        again = [file for file in files if file.path in cut]
        if late or not again:
            return matched_files, late
        # After all files, since a long line can take all the time.
        share = min(seconds * _LONG_LINES_SHARE, clock.left())
        more, _ = run(again, Clock(share), share)
        return list({match.file.path: match for match in (*matched_files, *more)}.values()), late

    def run(files: Sequence[FileRow], clock: Clock, long: float) -> tuple[list[FileMatches], int]:
        matched_files: list[FileMatches] = []
        done = 0
        while done < len(files) and clock.left() > _LEAST_S:
            batch = _batch(files[done:], pattern_search.required, read)
            answers = _run(pattern_search, [data for _, data in batch], clock, long)
            for (file, data), (matched, is_cut) in zip(batch, answers, strict=False):
                (cut.add if is_cut else cut.discard)(file.path)
                if matched:
                    matched_files.append(_file_matches(file, data, matched, pattern_search.most))
            done += len(answers)
            if len(answers) < len(batch):
                break
        return matched_files, len(files) - done

    return look


def _batch(files: Sequence[FileRow], required: Required, read: Read) -> list[tuple[FileRow, bytes]]:
    """Return the next files with their bytes; no bytes for files that cannot match."""
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


def _run(
    pattern_search: _PatternSearch, texts: Sequence[bytes], clock: Clock, long: float
) -> list[tuple[list[tuple[int, int]], bool]]:
    """Return for each text the lines of `LineSearch.among`, and whether one was cut.

    Covers fewer texts if time ran out.
    """
    seconds = max(clock.left(), _LEAST_S)
    pattern = pattern_search.pattern
    head = {
        "pattern": pattern.pattern, "flags": pattern.flags, "manner": pattern_search.manner,
        "folder": os.path.dirname(long_lines.__file__), "seconds": seconds, "long": long,
    }  # fmt: skip
    sent = [json.dumps(head).encode() + b"\n"]
    for text in texts:
        sent += [struct.pack("<q", len(text)), text]
    with subprocess.Popen(  # noqa: S603 - this interpreter, with a constant program
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
    # The last line may be incomplete if the child ended while writing it.
    return [json.loads(line) for line in out.split(b"\n")[:-1]]
