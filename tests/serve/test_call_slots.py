"""A call's slot is released once, whether its work began or not."""

from __future__ import annotations

import pytest

from codelens.serve.call_answers import CallSlots, ServerBusy


def test_a_slot_is_given_back_when_the_work_ends() -> None:
    slots = CallSlots(1)
    slot = slots.take()
    with pytest.raises(ServerBusy, match="already runs 1 calls"):
        slots.take()
    assert slot.run(lambda: slots.taken) == 1
    assert slots.taken == 0
    slot.close()
    assert slots.taken == 0


def test_abandoned_work_keeps_its_slot_until_it_ends() -> None:
    slots = CallSlots(1)
    slot = slots.take()

    def work() -> int:
        slot.close()
        return slots.taken

    assert slot.run(work) == 1
    assert slots.taken == 0


def test_work_that_never_began_never_does() -> None:
    slots = CallSlots(1)
    slot = slots.take()
    slot.close()
    assert slots.taken == 0
    assert slot.run(lambda: "too late") is None
    assert slots.taken == 0


def test_failed_work_releases_its_slot() -> None:
    slots = CallSlots(1)

    def work() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        slots.take().run(work)
    assert slots.taken == 0
