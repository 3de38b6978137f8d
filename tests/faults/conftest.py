"""Prints how many rounds of each kind of fault ran."""

from __future__ import annotations

from typing import Any

from faults.world import COUNTS


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints the counts at the end of the session."""
    if COUNTS:
        summary = ", ".join(f"{count:,} {what}" for what, count in sorted(COUNTS.items()))
        terminalreporter.write_line(f"faults: {summary}")
