"""What the crowd saw: counts, faults, and what the servers weighed."""

from __future__ import annotations

import statistics
import threading
from collections import Counter


class Report:
    """Counts, and what went wrong; shared by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.resident: dict[str, list[int]] = {}

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def fault(self, what: str) -> None:
        with self._lock:
            self.faults.append(what)

    def memory(self, who: str, kilobytes: int) -> None:
        with self._lock:
            self.resident.setdefault(who, []).append(kilobytes)


def grown(values: list[int]) -> float:
    """How much more the last quarter weighs than the third, in kilobytes."""
    quarter = len(values) // 4
    if not quarter:
        return 0.0
    third, last = values[2 * quarter : 3 * quarter], values[-quarter:]
    return statistics.median(last) - statistics.median(third)
