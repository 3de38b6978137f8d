"""A damaged file of prompts on a full disk: what can be read of it is not lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from faults.test_no_room import no_file_larger_than

from codelens.focus import forest_file
from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_answer, take_prompt

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
PLACE = Checkout("/work/shop", "/work/shop/.git", "main")


@pytest.mark.parametrize("take", [take_prompt, take_answer])
def test_prompts_of_a_damaged_file_stay_while_nothing_can_be_written(tmp_path: Path, take) -> None:
    home, settings = str(tmp_path), FocusSettings()
    for prompt in ("paint the harbour green", "kindle the lamp"):
        take_prompt(home, PLACE, prompt, settings)
    path = Path(path_of(home, PLACE, settings, ""))
    data = path.read_bytes()[:-10]
    path.write_bytes(data)
    for _ in range(8):
        with no_file_larger_than(0):
            take(home, PLACE, "one more", settings)
    assert path.read_bytes() == data
    assert not list(path.parent.glob("*.damaged*"))
    take(home, PLACE, "with room again", settings)
    texts = {node.text for node in forest_file.load(str(path)).forest.nodes.values()}
    assert {"paint the harbour green", "kindle the lamp"} <= texts
    assert [file.read_bytes() for file in path.parent.glob("*.damaged")] == [data]
