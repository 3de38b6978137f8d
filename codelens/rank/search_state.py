"""The state of one search: its request, its notes, and the texts read for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from codelens.extract.tokenizer import WORD, terms_of_word
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring.candidates import Keep
from codelens.rank.search_request import NAMED, Filters, Ranked, Request
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.wording import count_of

Read = Callable[[FileRow], bytes | None]
LINE_CHARS = 300
_LINES_READ = 400
_TOKEN = re.compile(rb"\w+|[^\w\s]")


class Texts:
    """The texts that one query reads, each once.

    Args:
        read: returns a file's bytes, None if unavailable.
        weights: term -> weight, for finding the best lines.
    """

    def __init__(self, read: Read, weights: Mapping[str, float]) -> None:
        self._read = read
        self._weights = weights
        self._texts: dict[int, bytes] = {}

    def lines(self, file: FileRow, start: int, end: int) -> list[bytes]:
        """Return lines of a file, at most 400."""
        return self._text(file).split(b"\n", end)[start - 1 : min(end, start + _LINES_READ - 1)]

    def decoded(self, file: FileRow) -> list[str]:
        """Return all lines of a file as text."""
        return self._text(file).decode("utf-8", "replace").split("\n")

    def _text(self, file: FileRow) -> bytes:
        text = self._texts.get(file.path_id)
        if text is None:
            text = self._texts[file.path_id] = self._read(file) or b""
        return text

    def tokens(self, file: FileRow, start: int, end: int) -> Counter[bytes]:
        """Count the words and signs of lines."""
        return Counter(_TOKEN.findall(b"\n".join(self.lines(file, start, end))))

    def best_line(self, file: FileRow, start: int, end: int) -> str:
        """Return the line with the highest term weight, the first of equals, stripped and cut."""
        best, line = 0.0, ""
        shown = [_text(line) for line in self.lines(file, start, end)]
        for text_line, terms_of_line in zip(shown, self._terms_by_line(shown), strict=True):
            weight = self.weight(terms_of_line)
            if text_line and (weight > best or not line):
                best, line = weight, text_line
        return line[:LINE_CHARS]

    def terms_in(self, file: FileRow, start: int, end: int) -> list[set[str]]:
        """Return the terms of each line."""
        return self._terms_by_line([_text(line) for line in self.lines(file, start, end)])

    def terms_in_lines(self, lines: Sequence[str]) -> list[set[str]]:
        """Return the terms of each given line."""
        return self._terms_by_line(lines)

    def weight(self, terms: set[str]) -> float:
        """Return the sum of the terms' weights."""
        return sum(self._weights[term] for term in sorted(terms)) if terms else 0.0

    def _terms_by_line(self, lines: Sequence[str]) -> list[set[str]]:
        weighted = self._weights.keys()
        terms_of_words: dict[str, set[str]] = {}
        for word in set(WORD.findall(" ".join(lines))):
            terms = terms_of_word(word)
            if not weighted.isdisjoint(terms):
                terms_of_words[word] = weighted & set(terms)
        terms_by_line: list[set[str]] = []
        for line in lines:
            present: set[str] = set()
            # Most lines have none of the words, and searching for a few costs less than splitting.
            if any(word in line for word in terms_of_words):
                for word in terms_of_words.keys() & WORD.findall(line):
                    present |= terms_of_words[word]
            terms_by_line.append(present)
        return terms_by_line


def _text(line: bytes) -> str:
    return line[: 4 * LINE_CHARS].decode("utf-8", "replace").strip()


# The state that the steps of `search` pass on.


class SearchState(NamedTuple):
    """A view, a request, and the notes on its answer."""

    view: Snapshot
    request: Request
    query: Query
    filters: Filters
    read: Read
    notes: list[str]
    """Sentences for the answer; grows during the search."""

    @property
    def keep(self) -> Keep | None:
        """The filter of files; None if nothing is filtered."""
        return self.filters.keep if self.filters.active else None

    def note(self, sentence: str) -> None:
        """Add a note to the answer, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def deny(self, sentence: str) -> None:
        """Add a note that something was not found, limited to the files read so far."""
        unread = self.view.unread
        so_far = f"not found so far, {count_of(unread, 'file')} still unread: " if unread else ""
        self.note(so_far + sentence)


def before(
    first: Sequence[Ranked], rest: Sequence[Ranked], limit: int, standing: int = NAMED
) -> list[Ranked]:
    """Put `first` before the part of `rest` that it does not cover; keep scores descending.

    Args:
        first: results that get the `standing`.
        rest: results that keep their own.
        limit: maximum number of results.
        standing: why `first` comes first.
    """
    shown = [ranked._replace(standing=standing) for ranked in first[:limit]]
    floor = max((ranked.score for ranked in rest), default=0.0)
    if shown and shown[-1].score <= floor:
        more = floor - shown[-1].score + 1.0
        shown = [_raised(ranked, more) for ranked in shown]
    for ranked in rest:
        if len(shown) >= limit:
            break
        if not any(_covers(other, ranked) for other in shown):
            shown.append(ranked)
    return shown


def _raised(ranked: Ranked, more: float) -> Ranked:
    explain = {**ranked.explain, "first": more} if ranked.explain else ranked.explain
    return ranked._replace(score=ranked.score + more, raised=ranked.raised + more, explain=explain)


def _covers(ranked: Ranked, other: Ranked) -> bool:
    return (
        ranked.file.path_id == other.file.path_id
        and ranked.start_line <= other.start_line
        and other.end_line <= ranked.end_line
    )
