"""Reads the files of a look; texts that the store does not know are extracted for one answer.

Such are a file that changed between the look and the reading, and an older version that an index
never met. They are extracted in this process, under the crash mark of small index jobs.
"""

from __future__ import annotations

from collections.abc import Sequence

from codelens.engine.current_view import CurrentView
from codelens.handles.handle_reading import Reader
from codelens.index.worker_pool import InProcess
from codelens.index.worker_process import Task
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
            return extractor.facts(task).structure.symbols
        with extractor_of(view) as alone:
            return alone.facts(task).structure.symbols

    return Reader(view.repository, view.scope, view.snapshot, extract, view.settings.languages)
