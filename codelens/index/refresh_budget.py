"""How long a refresh may take, and what goes first while it lasts."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from codelens.extract.text_scan import NOTHING_ASKED, Wanted

FEW_FILES = 200
"""So many pending files are brought up to date in the budget of the question that met them; of
more, only those that it needs, where somebody else finishes."""
_NO_DEADLINE_WAIT_S = 600.0
_SCAN_BUDGETS, _EXTRACT_BUDGETS = 8, 2
"""Budgets that a question's own needs may take while a view is not complete: an agent would rather
wait four seconds once, at most, than be told that nothing can be said."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a refresh may take, and what is asked meanwhile."""

    deadline: float | None = None
    """`time.monotonic` value; None: to the end."""
    request: Wanted = NOTHING_ASKED
    """What a question needs: pending files that hold it are read before all others."""
    scan_until: float = 0.0
    """Till when pending files are scanned for it, a `time.monotonic` value."""
    extract_s: float = 0.0
    """How long those that hold it may be extracted."""
    leaves_rest: bool = False
    """Somebody else finishes: of many pending files only those that are asked for are read."""
    text_first: bool = False
    """Somebody searches meanwhile: a large first index stores all text before any structure."""

    @staticmethod
    def starting_now(
        budget_ms: float | None, request: Wanted = NOTHING_ASKED, *, leaves_rest: bool = False
    ) -> Budget:
        """A budget of so many milliseconds from now; None: no deadline."""
        if budget_ms is None:
            return Budget(request=request)
        now, seconds = time.monotonic(), budget_ms / 1000
        return Budget(
            now + seconds, request, now + _SCAN_BUDGETS * seconds, _EXTRACT_BUDGETS * seconds,
            leaves_rest,
        )  # fmt: skip

    def after_look(self) -> Budget:
        """The budget once the look is over, which may have taken longer than all of it.

        A look is carried to its end: with half of the files unseen nothing could be said. What it
        met gets half of the time that there was in any case.
        """
        if self.deadline is None:
            return self
        least = time.monotonic() + self.extract_s / _EXTRACT_BUDGETS / 2
        return replace(self, deadline=max(self.deadline, min(least, self.scan_until)))

    def for_a_part(self) -> Budget:
        """The budget of a question that had no time to learn which files there are.

        The answer is a part of what there is in any case, so nobody waits long for it.
        """
        if self.deadline is None:
            return self
        seconds = self.extract_s / _EXTRACT_BUDGETS
        return replace(self, scan_until=self.deadline + seconds, extract_s=seconds / 2)

    def wait_s(self) -> float:
        """How long another writer may be waited for."""
        if self.deadline is None:
            return _NO_DEADLINE_WAIT_S
        return max(0.0, self.deadline - time.monotonic())
