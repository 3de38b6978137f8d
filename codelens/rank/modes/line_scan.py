"""Searches files for text or patterns: which files to read, their order, and ranking of lines."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from heapq import nsmallest
from operator import itemgetter
from typing import NamedTuple

from codelens.cancellation import check_cancelled
from codelens.extract.tokenizer import STOPWORDS, WORD, parts_of_word, terms_of_word
from codelens.paths import printed
from codelens.rank import ranking_weights
from codelens.rank.query.query_analysis import Term
from codelens.rank.scoring import candidates
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.search_request import PARTIAL, Ranked, Request
from codelens.rank.search_state import SearchState
from codelens.rank.view_statistics import Corpus, corpus_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import OVERSIZED, FileRow
from codelens.wording import count_of, first_of

# Postings contain words, not texts. So files with every word of a pattern are read first; files
# that may contain it only inside longer words follow, as long as results are missing and time is
# left.

KEPT_LINES = 50
LINE_CHARS = 300
_SNIFFED_BYTES = 8000
_SHOWN = 3
_NO_TEXTS = frozenset(
    b"7z a avi bin bmp bz2 class dat db dll dylib eot exe flac gif gz icns ico iso jar jpeg jpg lib"
    b" mkv mo mov mp3 mp4 npy npz o ogg onnx otf parquet pdf pkl png psd pyc pyd rar so sqlite tar"
    b" tgz tif tiff ttf war wasm wav webm webp whl woff woff2 xls xlsx xz zip zst".split()
)
"""Extensions of non-text files, which have no lines even if small."""
_PATH = itemgetter(FileRow._fields.index("path"))


class Words(NamedTuple):
    """The words that a pattern implies."""

    sure: tuple[str, ...]
    """Words in every match, bounded on both sides."""
    edge: tuple[str, ...]
    """Words in every match, perhaps inside longer words."""


class Line(NamedTuple):
    """One match: its first and last line, and the truncated text of the first."""

    start: int
    end: int
    text: str


class FileMatches(NamedTuple):
    """The matches in one file."""

    file: FileRow
    matches: int
    lines: list[Line]
    """At most `kept_lines` lines, the most relevant first."""


Look = Callable[[Sequence[FileRow], "Clock"], tuple[list[FileMatches], int]]
"""Searches files for the pattern; also returns how many were not reached."""


def kept_lines(request: Request) -> int:
    """Return the maximum number of result lines per file."""
    return max(KEPT_LINES, request.limit)


class Clock:
    """A deadline."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left; not positive after the deadline.

        Raises:
            CallCancelled: the call was cancelled.
        """
        check_cancelled()
        return self._end - time.monotonic()


def scan(state: SearchState, words: Words, look: Look, most: int | None = None) -> list[Ranked]:
    """Return matching lines, best files first, one per file before the second of any.

    With `most`, at most this many files are read: the best, or those in the top folders.
    """
    view, request = state.view, state.request
    corpus = corpus_of(view)
    clock = Clock(request.seconds)
    sure, edge = _weighed(view, corpus, words.sure), _weighed(view, corpus, words.edge)
    if sure is None:
        _note_oversized(state)
        return []
    files = [file for file in view.files if file.content is not None]
    if sure:
        holding = _holding(corpus, sure)
        files = [file for file in files if file.content in holding]
    files = state.keep(files) if state.keep else files
    scores = candidates.whole_scores(corpus, [*sure, *(edge or ())])
    probable_files, rest = _split(corpus, files, edge)
    if most is not None and not scores:
        probable_files = nsmallest(
            most, probable_files, key=lambda file: (file.path.count(b"/"), file.path)
        )
    else:
        probable_files = _best_first(probable_files, scores)[:most]
    rest.sort(key=_PATH)
    if most is not None:
        rest = rest[: most - len(probable_files)]
    file_matches, unread = look(probable_files, clock)
    skipped = 0
    if len({file_match.file.content for file_match in file_matches}) >= request.limit:
        skipped = len(rest)
    else:
        more, late = look(rest, clock)
        file_matches, unread = [*file_matches, *more], unread + late
    if unread:
        state.note(f"{PARTIAL}time ran out with {count_of(unread, 'file')} not looked at")
    elif skipped:
        files = count_of(skipped, "file")
        state.note(f"not looked at: {files} that may contain it only inside longer words")
    results = _results(view, file_matches, scores, request)
    if most is None and len(results) < request.limit:
        _note_oversized(state)
    return results


def _note_oversized(state: SearchState) -> None:
    """Add a note on texts that may match and are too large to read."""
    large = [
        file
        for file in state.view.files
        if file.state == OVERSIZED and file.path.rpartition(b".")[2].lower() not in _NO_TEXTS
    ]
    large = state.keep(large) if state.keep and large else large
    if not large:
        return
    shown = first_of([printed(file.path) for file in large], _SHOWN)
    are = "is" if len(large) == 1 else "are"
    state.note(
        f"not looked at: {count_of(len(large), 'file')} that {are} larger than `max_file_bytes` "
        f"({shown})"
    )


def _weighed(view: Snapshot, corpus: Corpus, words: Sequence[str]) -> list[Weighed] | None:
    """Return the compound term of each word, with its statistics; None if the view lacks one.

    The case of a word determines how it splits into parts, but not its compound.
    """
    terms: dict[str, None] = {}
    for word in words:
        parts = terms_of_word(word) if word.isascii() else ()
        if parts and "".join(parts_of_word(word)) not in STOPWORDS:
            terms[parts[-1]] = None
    weighed, _ = candidates.weigh(view, corpus, [Term(term, 1.0) for term in terms])
    weighed = [term for term in weighed if term.hits is not None]
    return weighed if len(weighed) == len(terms) else None


def _holding(corpus: Corpus, terms: Sequence[Weighed]) -> set[int]:
    """Return the contents that contain all of some terms."""
    holding: set[int] | None = None
    for term in terms:
        here: set[int] = set()
        for number, row in term.hits.rows.items() if term.hits else ():
            contents = corpus.segments[number].contents
            here.update(contents[doc] for doc in row.docs)
        holding = here if holding is None else holding & here
    return holding or set()


def _best_first(files: list[FileRow], scores: dict[int, float]) -> list[FileRow]:
    """Sort files by score, without scores last; ties by path."""
    ordered = sorted(files, key=_PATH)
    if not scores:
        return ordered
    scored = [file for file in ordered if file.content in scores]
    scored.sort(key=lambda file: -scores[file.content or 0])
    return scored + [file for file in ordered if file.content not in scores]


def _split(
    corpus: Corpus, files: list[FileRow], edge: list[Weighed] | None
) -> tuple[list[FileRow], list[FileRow]]:
    """Split files into those with every edge word as a separate word, and others."""
    holding = _holding(corpus, edge) if edge else set[int]()
    probable_files = files if edge == [] else [file for file in files if file.content in holding]
    rest = [] if edge == [] else [file for file in files if file.content not in holding]
    return probable_files, rest


def one_by_one(find: Callable[[FileRow], FileMatches | None]) -> Look:
    """Return a `Look` that searches the files in this process."""

    def look(files: Sequence[FileRow], clock: Clock) -> tuple[list[FileMatches], int]:
        matched_files: list[FileMatches] = []
        for at, file in enumerate(files):
            if clock.left() <= 0:
                return matched_files, len(files) - at
            file_match = find(file)
            if file_match is not None:
                matched_files.append(file_match)
        return matched_files, 0

    return look


def is_text(data: bytes | None) -> bool:
    """Whether bytes are searchable: not empty, and without a NUL near their start."""
    return bool(data) and b"\0" not in data[:_SNIFFED_BYTES]


def _results(
    view: Snapshot,
    matched_files: Sequence[FileMatches],
    scores: dict[int, float],
    request: Request,
) -> list[Ranked]:
    facts = view.path_facts(file_match.file.path_id for file_match in matched_files)
    scored: list[tuple[float, FileMatches, dict[str, float]]] = []
    for file_match in matched_files:
        shares = {
            "matches": math.log1p(file_match.matches),
            # The score is a share of this view's best, so scores of two views are not comparable.
            "file": 0.0 if request.common else scores.get(file_match.file.content or 0, 0.0),
            "role": -ranking_weights.PUSHED_DOWN["token"].get(
                facts[file_match.file.path_id].role, 0.0
            ),
        }
        scored.append((sum(shares.values()), file_match, shares))
    scored.sort(key=lambda row: (-row[0], row[1].file.path))
    copies: dict[int | None, list[FileMatches]] = {}
    for _, file_match, _ in scored:
        copies.setdefault(file_match.file.content, []).append(file_match)
    first = [row for row in scored if copies[row[1].file.content][0] is row[1]]
    request.note_found((file_match.file.path_id, -1) for file_match in matched_files)
    return [_with_copies(round_, copies[round_.file.content]) for round_ in _rounds(first, request)]


def _with_copies(ranked: Ranked, matched_files: Sequence[FileMatches]) -> Ranked:
    """Attach the same line in files with identical text to a result, as copies."""
    files = [other.file for other in matched_files[1:]]
    return ranked._replace(alike=tuple(ranked._replace(file=file, line="") for file in files))


def _rounds(
    scored: Sequence[tuple[float, FileMatches, dict[str, float]]], request: Request
) -> Iterator[Ranked]:
    """Yield the first line of each file, then the second of each, until there are enough."""
    left = request.limit
    for number in range(kept_lines(request)):
        for score, file_match, shares in scored:
            if number < len(file_match.lines):
                line = file_match.lines[number]
                why = (
                    "1 match"
                    if file_match.matches == 1
                    else f"{file_match.matches} matches in the file"
                )
                yield Ranked(
                    file_match.file, line.start, line.end, "line", -1, score, why, line.text,
                    shares if request.explain else {},
                )  # fmt: skip
                left -= 1
                if left == 0:
                    return


# Searches literal text with smart case (case matters if the text has a capital), across lines too.

_WORD_BYTE = re.compile(rb"[\w\x80-\xff]")


def search_text(state: SearchState, text: str, most: int | None = None) -> list[Ranked]:
    """Return lines with `text`, by the number of matches and how well the file fits its words.

    With `most`, at most that many files are read.
    """
    needle = text.strip().strip("\0")
    if not needle:
        return []
    fold = needle == needle.lower()
    literal = (needle.lower() if fold else needle).encode("utf-8", "replace")

    def find(file: FileRow) -> FileMatches | None:
        data = state.read(file)
        if not data or not is_text(data):
            return None
        return _find(file, data, literal, fold=fold, most=kept_lines(state.request))

    return scan(state, words_of(needle), one_by_one(find), most)


def words_of(text: str) -> Words:
    """Return the words of a literal text; the first and last may be parts of longer words."""
    sure: list[str] = []
    edge: list[str] = []
    for match in WORD.finditer(text):
        inside = match.start() > 0 and match.end() < len(text)
        (sure if inside else edge).append(match[0])
    return Words(tuple(sure), tuple(edge))


def _find(
    file: FileRow, data: bytes, literal: bytes, *, fold: bool, most: int
) -> FileMatches | None:
    if not literal:
        return None
    searched = folded(data, literal) if fold else data
    at = searched.find(literal)
    if at < 0:
        return None
    lines: list[tuple[bool, Line]] = []
    number, counted, count, last = 1, 0, 0, 0
    high = literal.count(b"\n")
    while at >= 0:
        count += 1
        if len(lines) < most:
            number += searched.count(b"\n", counted, at)
            counted = at
            if number != last:
                part = not _whole(searched, at, at + len(literal))
                lines.append((part, Line(number, number + high, line_at(searched, data, at))))
                last = number
        at = searched.find(literal, at + len(literal))
    lines.sort(key=lambda ranked_line: (ranked_line[0], ranked_line[1].start))
    return FileMatches(file, count, [line for _, line in lines])


def folded(data: bytes, literal: bytes) -> bytes:
    """Lower-case `data` as far as the search for `literal` requires."""
    if literal.isascii():
        return data.lower()
    return data.decode("utf-8", "replace").lower().encode()


def line_at(searched: bytes, data: bytes, at: int) -> str:
    """Return the line around a place as written; if long, from near the place."""
    # Some letters have more bytes in lower case; then offsets only fit the folded text.
    text = data if len(data) == len(searched) else searched
    start = text.rfind(b"\n", 0, at) + 1
    end = text.find(b"\n", at)
    end = len(text) if end < 0 else end
    if at - start > LINE_CHARS:
        start = at - LINE_CHARS // 3
    shown = text[start : min(end, start + 4 * LINE_CHARS)].decode("utf-8", "replace")
    return shown.strip()[:LINE_CHARS]


def _whole(text: bytes, start: int, end: int) -> bool:
    before, after = text[start - 1 : start] if start else b"", text[end : end + 1]
    return not (_WORD_BYTE.match(before) and _WORD_BYTE.match(text[start : start + 1])) and not (
        _WORD_BYTE.match(after) and _WORD_BYTE.match(text[end - 1 : end])
    )
