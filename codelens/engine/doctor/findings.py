"""What a check of the doctor gets, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from codelens.config import Settings
from codelens.errors import CodelensError

State = Literal["ok", "note", "mended", "wrong"]


class Finding(NamedTuple):
    """One line of the doctor's: what about, what was found, what was or can be done."""

    state: State
    """`ok`; `note`: worth knowing; `mended`; `wrong`: still is."""
    about: str
    found: str
    done: str = ""
    """What was done; of what is wrong, what to do."""


class Examination(NamedTuple):
    """What is examined, and how."""

    settings: Settings
    fix: bool
    thorough: bool

    @property
    def home(self) -> Path:
        """The folder with all that codelens keeps."""
        return self.settings.home

    def mended(self, about: str, state_text: str, how: str, mend: Callable[[], object]) -> Finding:
        """A fault with its remedy: done where that is wanted and succeeds.

        Args:
            about: what it is about.
            state_text: the fault.
            how: the remedy as a command (`remove it`).
            mend: does it.
        """
        if not self.fix:
            return Finding("wrong", about, state_text, f"--fix: {how}")
        try:
            mend()
        except (CodelensError, OSError) as error:
            return Finding("wrong", about, state_text, f"could not {how}: {error}")
        return Finding("mended", about, state_text, f"done: {how}")
