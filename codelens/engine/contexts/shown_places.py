"""What notes may be on, and what is found of them: values alone."""

from __future__ import annotations

from typing import NamedTuple

from codelens.answers.tied_notes import TiedNote


class ShownPlace(NamedTuple):
    """A place that an answer shows."""

    path: str
    """Printed."""
    start_line: int
    end_line: int
    nearness: float = 1.0
    """1 for what was looked for, less for what stands beside it."""


class FoundNotes(NamedTuple):
    """What is to be said of saved notes beside an answer."""

    notes: tuple[TiedNote, ...] = ()
    """Those whose code is the same first; of either kind the best first."""
    gone: int = 0
    """Notes on code of these files that is there no more."""
    warnings: tuple[str, ...] = ()
    every: int = 0
    """How many notes there are on code that is there; 0: as many as `notes` has."""
