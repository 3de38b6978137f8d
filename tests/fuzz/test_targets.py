"""Every input that ever broke a reader, and a share of what `run_fuzz.py` tries."""

from __future__ import annotations

from random import Random

import pytest
from fuzz.inputs import INPUTS
from fuzz.run_fuzz import changed
from fuzz.targets import TARGETS, seeds

SHARE = 10
"""Divides the number of inputs that questions get; these are cheap to generate but slow to run."""


@pytest.mark.parametrize("target", TARGETS)
def test_all_that_ever_broke_it_is_read(target: str) -> None:
    assert seeds(target)
    for data in seeds(target):
        TARGETS[target](data)


@pytest.mark.parametrize("target", TARGETS)
def test_changed_inputs_break_nothing(target: str) -> None:
    pick = Random(target)
    for _ in range(INPUTS // SHARE):
        data = changed(pick, seeds(target))
        try:
            TARGETS[target](data)
        except Exception as error:
            raise AssertionError(f"{target} was broken by {data!r}") from error
