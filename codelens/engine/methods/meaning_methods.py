"""The ranking by meaning: methods of `Engine`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.engine.view_request import ViewRequest
from codelens.index.progress import Progress, silent

if TYPE_CHECKING:
    from codelens.answers.meaning_answers import MeaningStatus, MeaningTest


def meaning_status(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> MeaningStatus:
    """The table of words, and how much of the view has vectors by it."""
    from codelens.engine.reading.meaning_report import status

    with engine.pool.view(ViewRequest(path, ref, budget_ms, progress)) as view, view.reading():
        return status(view)


def meaning_test(engine: EngineCore, query: str) -> MeaningTest:
    """What the table of words makes of a question; no repository is looked at.

    Raises:
        QueryError: the question is empty.
        WordTableDamaged: the table cannot be read.
    """
    from codelens.engine.reading.meaning_report import test

    return test(query)
