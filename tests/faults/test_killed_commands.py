"""A share of `killed_commands.py`: what a command confirmed survives a kill of the next ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from faults.killed_commands import Rounds
from faults.world import COUNTS, rounds

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks the test process")


def test_commands_killed_at_any_moment_lose_nothing_that_was_confirmed(tmp_path: Path) -> None:
    killed = Rounds(tmp_path, seed=rounds(1) * 7)
    killed.run(rounds(5), killed=1.0)
    assert not killed.faults, killed.faults[:5]
    COUNTS["commands killed"] += killed.counts["killed"]
