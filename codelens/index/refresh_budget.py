"""How long a refresh may take, and what goes first while it lasts."""

from __future__ import annotations

import time
from typing import NamedTuple

from codelens.extract.text_scan import NOTHING_ASKED, Wanted

FEW_FILES = 200
"""So many pending files are brought up to date in the budget of the question that met them; of
more, only those that it needs, where somebody else finishes."""
_NO_DEADLINE_WAIT_S = 600.0
_LOOK_BUDGETS = 8
"""Budgets that a look at known files may take: with half of them unseen nothing could be said."""
_SCAN_BUDGETS, _EXTRACT_BUDGETS = 8, 2
"""Budgets that a question's own needs may take of a server while a view is not complete: an agent
would rather wait four seconds once, at most, than be told that nothing can be said."""
_GIVEN_SHARE = 0.2
"""Of a budget that a person gave: what scanning and extracting may take beyond it, each, when the
look took all of it."""


class Budget(NamedTuple):
    """How long a refresh may take, and what is asked meanwhile."""

    deadline: float | None = None
    """`time.monotonic` value; None: to the end."""
    request: Wanted = NOTHING_ASKED
    """What a question needs: pending files that hold it are read before all others."""
    look_until: float = 0.0
    """Till when files that are known are looked at, likewise."""
    scan_until: float = 0.0
    """Till when pending files are scanned for it."""
    extract_s: float = 0.0
    """How long those that hold it may be extracted."""
    seconds: float = 0.0
    """All of it."""
    leaves_rest: bool = False
    """Somebody else finishes: of many pending files only those that are asked for are read. A
    server's own budget is like that; one that was given on the command line holds."""
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
        scans, extracts = (_SCAN_BUDGETS, _EXTRACT_BUDGETS) if leaves_rest else (1, _GIVEN_SHARE)
        return Budget(
            now + seconds,
            request,
            now + _LOOK_BUDGETS * seconds,
            now + scans * seconds,
            extracts * seconds,
            seconds,
            leaves_rest,
        )

    def after_look(self) -> Budget:
        """The budget once the look is over, which may have taken longer than all of it.

        What the look met gets half of the time that there was in any case; a fifth on the command
        line.
        """
        if self.deadline is None:
            return self
        if not self.leaves_rest:
            least = max(self.deadline, time.monotonic() + _GIVEN_SHARE * self.seconds)
            return self._replace(deadline=least, scan_until=least)
        least = time.monotonic() + self.seconds / 2
        return self._replace(deadline=max(self.deadline, min(least, self.scan_until)))

    def for_a_part(self) -> Budget:
        """The budget of a question that had no time to learn which files there are.

        The answer is a part of what there is in any case, so nobody waits long for it.
        """
        if self.deadline is None or not self.leaves_rest:
            return self
        return self._replace(scan_until=self.deadline + self.seconds, extract_s=self.seconds / 2)

    def has_no_time_for(self, pending: int) -> bool:
        """Whether so many pending files are left to others, or to a question with more time.

        To write their names down alone takes seconds.
        """
        if self.deadline is None or pending <= FEW_FILES:
            return False
        return self.leaves_rest or time.monotonic() >= self.deadline

    def wait_s(self) -> float:
        """How long another writer may be waited for."""
        if self.deadline is None:
            return _NO_DEADLINE_WAIT_S
        return max(0.0, self.deadline - time.monotonic())
