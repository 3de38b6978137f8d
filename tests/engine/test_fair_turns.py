"""Turns at an index: by kind, in order within a kind, and none for a cancelled call."""

from __future__ import annotations

import threading
import time

import pytest

from codelens.cancellation import Call, CallCancelled, check_cancelled, current_call
from codelens.engine.open_index import FairTurns


def start(turns: FairTurns, call: Call, name: str, order: list[str]) -> threading.Thread:
    """Starts a thread that waits for a turn and records it, or its cancellation."""

    def work() -> None:
        with call.under_way():
            try:
                with turns:
                    order.append(name)
            except CallCancelled:
                order.append(f"{name} cancelled")

    before = turns.waiting
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while turns.waiting == before and thread.is_alive():
        time.sleep(0.001)
    return thread


def test_kinds_take_turns_regardless_of_arrival() -> None:
    turns, order = FairTurns(), []
    slow = [Call("cl_search regex") for _ in range(4)]
    with turns:
        threads = [start(turns, call, f"slow {at}", order) for at, call in enumerate(slow)]
        threads += [start(turns, Call("cl_outline"), f"quick {at}", order) for at in range(2)]
    for thread in threads:
        thread.join(10)
    assert order == ["slow 0", "quick 0", "slow 1", "quick 1", "slow 2", "slow 3"]


def test_a_cancelled_call_leaves_the_queue_at_once() -> None:
    turns, order = FairTurns(), []
    calls = [Call("a"), Call("a"), Call("b")]
    with turns:
        threads = [start(turns, call, str(at), order) for at, call in enumerate(calls)]
        calls[0].cancel()
        threads[0].join(10)
        assert order == ["0 cancelled"] and turns.waiting == 2
        calls[2].cancel()
        threads[2].join(10)
        assert turns.waiting == 1
    threads[1].join(10)
    assert order == ["0 cancelled", "2 cancelled", "1"]
    with turns:
        assert turns.waiting == 0


def test_a_cancelled_call_has_no_turn_where_nobody_waits() -> None:
    turns, call = FairTurns(), Call()
    call.cancel()
    order: list[str] = []
    with turns:
        start(turns, call, "late", order).join(10)
    assert order == ["late cancelled"]


def test_a_turn_is_reentrant() -> None:
    turns = FairTurns()
    with turns, turns:
        pass
    with pytest.raises(RuntimeError):
        turns.release()


def test_many_threads_never_hold_it_at_once() -> None:
    turns = FairTurns()
    inside = most = done = 0
    calls = [Call(f"kind {at % 3}") for at in range(24)]

    def work(call: Call) -> None:
        nonlocal inside, most, done
        with call.under_way():
            for _ in range(50):
                try:
                    with turns:
                        inside += 1
                        most = max(most, inside)
                        time.sleep(0)
                        inside -= 1
                        done += 1
                except CallCancelled:
                    return

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for call in calls[::4]:
        call.cancel()
    for thread in threads:
        thread.join(60)
    assert most == 1 and turns.waiting == 0
    assert done >= 50 * 18


def test_events_of_a_call() -> None:
    call, events = Call(), []
    with call.telling(lambda: events.append("first")):
        pass
    with call.telling(lambda: events.append("second")):
        call.cancel()
        call.cancel()
    with call.telling(lambda: events.append("late")):
        pass
    assert events == ["second", "late"]
    check_cancelled()
    with call.under_way():
        assert current_call() is call
        with pytest.raises(CallCancelled):
            check_cancelled()
    check_cancelled()
