"""A share of `rough_places.py` and `rough_settings.py`, which must name every command and tool."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from random import Random

import pytest
from corpus import every_question, rough_places, rough_settings
from harness_sizes import size_of

from codelens.cli.command_examples import COMMANDS
from codelens.hooks.hook_input import EVENTS
from codelens.serve.tool_table import ROWS

PAIRS = size_of("CODELENS_ROUGH_PAIRS")
needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, reads /proc")


def test_every_command_event_and_tool_is_asked() -> None:
    assert tuple(every_question.COMMANDS) == COMMANDS
    assert every_question.TOOLS.keys() == set(ROWS)
    assert set(every_question.COMMANDS["hook"]) == {f"hook {event}" for event in EVENTS}


@needs_linux
@pytest.mark.slow
def test_no_replacement_of_a_small_file_and_no_invalid_settings_break_a_question(
    tmp_path: Path,
) -> None:
    folder, template = tmp_path / "place", tmp_path / "template"
    place = rough_places.made_place(folder)
    assert [(one.question, one.fault()) for one in place.answers if one.fault()] == []
    failed = [one.question for one in place.answers if one.code]
    assert "search kindle" not in failed
    pairs = rough_places.pairs(place, list(rough_places.KINDS), [])
    folder.rename(template)
    for name, kind in Random(PAIRS).sample(pairs, min(PAIRS, len(pairs))):
        faults = list(rough_places.faults_of(template, folder, name, kind))
        assert faults == [], (name, kind)
    shutil.rmtree(folder)
    template.rename(folder)
    names = list(rough_settings.SETTINGS)
    for name in Random(PAIRS).sample(names, min(len(names), max(1, PAIRS // 3))):
        assert list(rough_settings.faults_of(place, name)) == [], name
