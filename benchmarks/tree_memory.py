"""Memory of a process with all its children together, from the operating system (Linux)."""

from __future__ import annotations

import threading
from pathlib import Path

_EVERY_S = 0.25


class PeakMemory:
    """The most that a process and its children held at one time, sampled four times a second.

    What processes share is counted once: the kernel divides shared pages among those that have
    them (`Pss` of `smaps_rollup`).
    """

    def __init__(self, pid: int) -> None:
        self.mib = 0.0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> float:
        """Stop looking; MiB, 0 where the system does not tell."""
        self._ended.set()
        self._thread.join()
        return self.mib

    def _watch(self) -> None:
        while True:
            held = sum(proportional_bytes(pid) for pid in family(self._pid))
            self.mib = max(self.mib, held / 2**20)
            if self._ended.wait(_EVERY_S):
                return


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for one in found:
        try:
            tasks = list(Path(f"/proc/{one}/task").iterdir())
            for task in tasks:
                found += map(int, (task / "children").read_text().split())
        except (OSError, ValueError):
            continue
    return found


def proportional_bytes(pid: int) -> int:
    """Resident memory of one process, shared pages divided; 0 if it is gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0
