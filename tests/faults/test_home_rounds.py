"""A share of `home_rounds.py`: damage to any file of the home never causes a wrong answer."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from random import Random

import hang_alarm
import pytest
from embedding_server import embedding_server
from faults.home_rounds import DAMAGES, made_world, rounds
from faults.two_sides import Home, made_sides
from faults.world import COUNTS
from faults.world import rounds as as_many

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import StoreError

HANG_S = 120

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes pipes")


def test_a_home_damaged_anywhere_answers_right_or_in_words(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    with embedding_server() as server:
        world = made_world(tmp_path, server)
        assert rounds(world, as_many(len(DAMAGES)), Random(3), counts) == []
    assert counts["same"] > counts["refused in words"]
    COUNTS["files of the home damaged or swapped"] += counts["rounds"]


def test_a_dangling_link_is_reported(tmp_path: Path) -> None:
    with Engine(Settings(home=tmp_path / "home")) as engine:
        home = Home(engine, tmp_path / "home")
        side, _ = made_sides(tmp_path, home)
        engine.close()
        file = home.file("index", side)
        file.unlink()
        file.symlink_to("nowhere")
        with pytest.raises(StoreError, match="is a broken link; remove it"):
            engine.search(side.word, path=side.repo.root)
        file.unlink()
        assert engine.search(side.word, path=side.repo.root).results


@pytest.mark.parametrize("kind", ["index", "contexts", "pins"])
def test_a_pipe_for_a_file_keeps_nobody_waiting(tmp_path: Path, kind: str) -> None:
    with hang_alarm.guarded():
        hang_alarm.end_after(HANG_S)
        engine = Engine(Settings(home=tmp_path / "home"))
        home = Home(engine, tmp_path / "home")
        side, _ = made_sides(tmp_path, home)
        right = home.shown(side)
        engine.close()
        file = home.file(kind, side)
        file.unlink()
        os.mkfifo(file)
        assert home.shown(side)[kind] == right[kind]
        assert file.is_file()
        engine.close()
