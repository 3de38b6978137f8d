"""A share of `home_rounds.py`: whatever file of the home is damaged, nothing is answered wrong."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from embedding_server import embedding_server
from faults.home_rounds import DAMAGES, made_world, rounds
from faults.world import COUNTS
from faults.world import rounds as as_many

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes pipes")


def test_a_home_damaged_anywhere_answers_right_or_in_words(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    with embedding_server() as server:
        world = made_world(tmp_path, server)
        assert rounds(world, as_many(len(DAMAGES)), Random(3), counts) == []
    assert counts["same"] > counts["refused in words"]
    COUNTS["files of the home damaged or swapped"] += counts["rounds"]
