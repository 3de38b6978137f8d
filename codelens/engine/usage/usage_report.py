"""What was counted of codelens's use, added up."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from codelens.answers.context_answers import UsageAnswer, UsageLine
from codelens.config import Settings
from codelens.errors import InvalidArgument
from codelens.store.saved import usage_log
from codelens.store.saved.usage_log import Tally

_DAY_S = 86_400
_MAX_DAYS = 400
_NOWHERE = "(no repository)"


class UsageReports:
    """Answers `Engine.usage`.

    Args:
        settings: where calls are counted, and whether.
        now_s: seconds since 1970.
    """

    def __init__(self, settings: Settings, now_s: Callable[[], float]) -> None:
        self._settings = settings
        self._now_s = now_s

    def report(self, days: int) -> UsageAnswer:
        """See `Engine.usage`."""
        if not 1 <= days <= _MAX_DAYS:
            raise InvalidArgument("days", f"must be between 1 and {_MAX_DAYS}, not {days}")
        first_day_s = self._now_s() - (days - 1) * _DAY_S
        since = time.strftime("%Y-%m-%d", time.localtime(first_day_s))
        tallies = usage_log.tallies(self._settings.home, since)
        return UsageAnswer(
            counted=self._settings.usage,
            days=days,
            total=_sum("", tallies),
            by_day=_lines((tally.day, tally) for tally in tallies),
            by_tool=_most(_lines((tally.tool, tally) for tally in tallies)),
            by_repository=_most(_lines((tally.place or _NOWHERE, tally) for tally in tallies)),
        )


def _lines(tallies: Iterable[tuple[str, Tally]]) -> tuple[UsageLine, ...]:
    by_name: defaultdict[str, list[Tally]] = defaultdict(list)
    for name, tally in tallies:
        by_name[name].append(tally)
    return tuple(_sum(name, every) for name, every in by_name.items())


def _most(lines: Iterable[UsageLine]) -> tuple[UsageLine, ...]:
    return tuple(sorted(lines, key=lambda usage: (-usage.calls, usage.name)))


def _sum(name: str, tallies: Sequence[Tally]) -> UsageLine:
    return UsageLine(
        name,
        sum(tally.calls for tally in tallies),
        sum(tally.failed for tally in tallies),
        sum(tally.served_bytes for tally in tallies),
        sum(tally.whole_bytes for tally in tallies),
        sum(tally.saved_bytes for tally in tallies),
    )
