"""Reads the files of a look; texts that the store does not know are extracted for one answer.

Such are a file that changed between the look and the reading, and an older version that an index
never met. They are extracted in this process, under the crash mark of small index jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codelens.engine.current_view import CurrentView
from codelens.extract.file_kinds import classify
from codelens.extract.language_detection import language_of
from codelens.handles.handle_reading import Reader
from codelens.index.workers.worker_pool import InProcess
from codelens.index.workers.worker_process import Task
from codelens.scan.content_hash import hash_of
from codelens.store.facts.contents import TIER_FULL, find, surfaces, symbols_of
from codelens.types import Symbol

_HANG_S = 5.0
"""For texts that ended a process before: somebody waits, and nothing of them is kept."""


def extractor_of(view: CurrentView) -> InProcess:
    """Extracts texts beside the index of a look; close it."""
    return InProcess(view.snapshot.db.path, _HANG_S)


def reader_of(view: CurrentView, extractor: InProcess | None = None) -> Reader:
    """Reads the files of a look; `extractor` is for many texts, without it each has its own."""

    def extract(data: bytes, language: str) -> Sequence[Symbol]:
        # What is too large for the index is so for an answer: parsing takes 300 bytes a byte.
        if len(data) > view.settings.max_file_bytes:
            return ()
        task = Task(data, language, "full")
        if extractor is not None:
            return extractor.facts(task).symbols
        with extractor_of(view) as alone:
            return alone.facts(task).symbols

    return Reader(view.repository, view.scope, view.snapshot, extract, view.settings.languages)


class Older(NamedTuple):
    """What is extracted of an older text."""

    symbols: Sequence[Symbol]
    surface: int | None
    """Digest of what other files saw of it; None where nothing is extracted."""
    language: str = ""


NOTHING = Older((), None)
"""Of no text, or one of which nothing is extracted."""


class OlderTexts:
    """Definitions of texts that files had, and the surfaces that other files saw of them.

    Args:
        view: the view whose index may know them.
        extractor: for those that it does not know.
    """

    def __init__(self, view: CurrentView, extractor: InProcess) -> None:
        self._view = view
        self._extractor = extractor

    def facts(self, path: bytes, data: bytes) -> Older:
        """What is extracted of a text, as of a file of this name."""
        if classify(data)[0] != "parsed":
            return NOTHING
        db, settings = self._view.snapshot.db, self._view.settings
        language = language_of(path, data, settings.languages)
        key = (hash_of(data), language)
        known = find(db, [key]).get(key)
        if known is not None and known.tier == TIER_FULL:
            seen = surfaces(db, {known.id}).get(known.id)
            symbols = symbols_of(db, [known.id]).get(known.id, ())
            return Older(symbols, seen[1] if seen else None, language)
        # What is too large for the index is so for an answer: parsing takes 300 bytes a byte.
        if len(data) > settings.max_file_bytes:
            return Older((), None, language)
        facts = self._extractor.facts(Task(data, language, "full"))
        return Older(facts.symbols, facts.surface, language)
