"""Places in the files of a view that match a pattern: few files are read, found by their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.branches.comment_syntax import is_comment_line
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.extract.file_kinds import is_binary
from codelens.extract.language_settings import TEXT, language_info
from codelens.extract.tokenizer import WORD, terms_of_word
from codelens.store.facts import postings
from codelens.store.facts.posting_layout import Posting

MOST_FILES = 1_000
_MOST_MATCHES = 2_000
"""In one file: a text of more is data."""


class Match(NamedTuple):
    """A place in a text."""

    path: bytes
    text: bytes
    start: int
    end: int
    line: int
    """1-based."""
    group: str
    """Of the pattern, which found it."""

    @property
    def before(self) -> bytes:
        """What stands before it in its line."""
        return self.text[self.text.rfind(b"\n", 0, self.start) + 1 : self.start]

    @property
    def after(self) -> bytes:
        """What stands behind it in its line."""
        stop = self.text.find(b"\n", self.end)
        return self.text[self.end : stop if stop >= 0 else len(self.text)]


class TextSearch:
    """Reads the files of one view, for one question.

    Args:
        view: the view; its database must be in a read transaction.
        graph: knows languages, and when time is up.
    """

    def __init__(self, view: CurrentView, graph: LazyGraph) -> None:
        self._view = view
        self._graph = graph
        self.unread = 0
        """Files that may match and were not looked at."""

    def files_with(self, words: Sequence[str]) -> set[bytes]:
        """Files of the view that hold each of some words, by the words of the index."""
        snapshot = self._view.snapshot
        terms = [terms[-1] for word in words if (terms := terms_of_word(word))]
        if not terms:
            return set(snapshot.by_path)
        segments = postings.segment_docs(snapshot.db)
        holding: dict[str, set[int]] = {term: set() for term in terms}
        for segment, term, data in postings.postings(snapshot.db, list(holding)):
            contents = segments[segment].contents
            holding[term].update(contents[number] for number in Posting(data).docs)
        shared = set[int].intersection(*holding.values())
        return {file.path for content in shared for file in snapshot.by_content.get(content, ())}

    def matches(
        self, paths: Iterable[bytes], pattern: re.Pattern[bytes], also: Iterable[bytes] = ()
    ) -> Iterator[Match]:
        """Where a pattern matches in the code of some files, in comments not; by path.

        Args:
            paths: files to read; prose, data and unknown languages are left out.
            pattern: what is looked for; its last named group is the place.
            also: files to read whatever they are written in.
        """
        languages = self._graph.resolved.languages
        programs = {path for path in paths if _is_program(languages.get(path) or TEXT)}
        order = sorted(programs.union(also))
        for number, path in enumerate(order):
            if number >= MOST_FILES or self._graph.spent():
                self.unread += len(order) - number
                return
            file = self._view.snapshot.by_path.get(path)
            text = self._view.read(file) if file is not None else None
            if text and not is_binary(text):
                yield from _in_text(path, text, pattern, languages.get(path) or TEXT)


def _in_text(
    path: bytes, text: bytes, pattern: re.Pattern[bytes], language: str
) -> Iterator[Match]:
    line, counted = 1, 0
    for number, match in enumerate(pattern.finditer(text)):
        if number >= _MOST_MATCHES:
            return
        group = match.lastgroup or ""
        start, end = match.span(group)
        line += text.count(b"\n", counted, start)
        counted = start
        begin = text.rfind(b"\n", 0, start) + 1
        if not is_comment_line(text[begin:end], language):
            yield Match(path, text, start, end, line, group)


def _is_program(language: str) -> bool:
    info = language_info(language)
    return language != TEXT and not info.prose and not info.no_programs


def words_in(text: str) -> list[str]:
    """The words of a text, as the index knows them."""
    return WORD.findall(text)
