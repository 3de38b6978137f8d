"""Memory of a process together with all its children, from the operating system (Linux)."""

from __future__ import annotations

import threading
from pathlib import Path

_EVERY_S = 0.25


class PeakMemory:
    """The peak memory of a process and its children together, sampled four times a second.

    Shared memory counts once: the kernel divides shared pages among the processes that map them
    (`Pss` of `smaps_rollup`).
    """

    def __init__(self, pid: int) -> None:
        self.mib = 0.0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> float:
        """Stops sampling; MiB, 0 if the system does not report it."""
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
    """A process and all its descendants."""
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
