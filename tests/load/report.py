"""The crowd's observations: counts, faults, and the servers' memory."""

from __future__ import annotations

import statistics
import threading
from collections import Counter


class Report:
    """Counts and faults, shared by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.resident: dict[str, list[int]] = {}
        self.files: dict[str, list[int]] = {}
        """Kilobytes of the index and its log over time."""
        self.times_s: dict[str, list[float]] = {}
        """Response times by face."""

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def fault(self, what: str) -> None:
        with self._lock:
            self.faults.append(what)

    def took(self, face: str, seconds: float) -> None:
        with self._lock:
            self.times_s.setdefault(face, []).append(seconds)

    def size(self, what: str, kilobytes: int) -> None:
        with self._lock:
            self.files.setdefault(what, []).append(kilobytes)

    def lines(self) -> list[str]:
        """The measurements: times of answers, sizes of files."""
        rows: list[str] = []
        for face, times in sorted(self.times_s.items()):
            ordered = sorted(times)
            p50, p95 = ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100]
            rows.append(
                f"{face}: {len(ordered):,} answers, p50 {p50 * 1000:,.0f} ms, "
                f"p95 {p95 * 1000:,.0f} ms, at most {ordered[-1] * 1000:,.0f} ms"
            )
        for what, sizes in sorted(self.files.items()):
            rows.append(
                f"{what}: {sizes[0] / 1024:.1f} MiB at first, {max(sizes) / 1024:.1f} at most, "
                f"{sizes[-1] / 1024:.1f} at the end"
            )
        return rows

    def memory(self, who: str, kilobytes: int) -> None:
        with self._lock:
            self.resident.setdefault(who, []).append(kilobytes)


def grown(values: list[int]) -> float:
    """Growth from the third quarter to the last, in kilobytes."""
    quarter = len(values) // 4
    if not quarter:
        return 0.0
    third, last = values[2 * quarter : 3 * quarter], values[-quarter:]
    return statistics.median(last) - statistics.median(third)
