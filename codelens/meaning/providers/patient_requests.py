"""Requests that hang are given up, those that fail are sent again, and who cancels waits for none.

The clients' own repetitions are off: they know nothing of a call that was cancelled, and each
counts and waits in its own way.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from codelens.cancellation import CallCancelled, check_cancelled, current_call
from codelens.meaning.providers.provider_errors import ProviderBusy, ProviderFailed

T = TypeVar("T")


class Patience(NamedTuple):
    """How long a provider is waited for."""

    attempts: int
    """Times that a request is sent at most."""
    timeout_s: float
    """Of one of them, from the connection to the last byte."""
    first_pause_s: float = 1.0
    """Before the second attempt; it doubles each time. What the provider says counts more."""
    longest_pause_s: float = 60.0


FOR_INDEXING = Patience(attempts=5, timeout_s=60.0)
FOR_A_QUESTION = Patience(attempts=1, timeout_s=5.0)
"""Who asks waits: the answer without the provider is better than a late one."""


class TimedOut(Exception):
    """A request took longer than it may."""


def patiently(
    request: Callable[[], T], patience: Patience, on_timeout: Callable[[], ProviderFailed]
) -> T:
    """The outcome of a request; sent again where that may help.

    Args:
        request: sends it once; from another thread.
        patience: how often, and for how long.
        on_timeout: the error to raise for a request that hangs.

    Raises:
        ProviderError: it failed for good.
        CallCancelled: nobody waits any more.
    """
    pause_s = patience.first_pause_s
    for attempt in range(1, patience.attempts + 1):
        try:
            return within(request, patience.timeout_s)
        except TimedOut as error:
            if attempt == patience.attempts:
                raise on_timeout() from error
            wait_s = pause_s
        except (ProviderBusy, ProviderFailed) as error:
            if attempt == patience.attempts:
                raise
            told_s = error.retry_after_s if isinstance(error, ProviderBusy) else None
            wait_s = pause_s if told_s is None else told_s
        rest(min(wait_s, patience.longest_pause_s))
        pause_s *= 2
    raise AssertionError("a request has at least one attempt")


def rest(seconds: float) -> None:
    """Wait, or until nobody waits for the answer any more.

    Raises:
        CallCancelled: that came first.
    """
    woken = threading.Event()
    with current_call().telling(woken.set):
        woken.wait(seconds)
    check_cancelled()


def within(request: Callable[[], T], timeout_s: float) -> T:
    """The outcome of a request that is sent in a thread of its own.

    A client's own time-out counts from byte to byte, and what comes drop by drop never ends. A
    thread that is given up ends with its client's time-out, or with the process.

    Raises:
        TimedOut: it took too long.
        CallCancelled: nobody waits any more.
    """
    outcomes: queue.SimpleQueue[Callable[[], T]] = queue.SimpleQueue()

    def cancelled() -> T:
        raise CallCancelled

    def send() -> None:
        try:
            value = request()
        except Exception as error:
            failure = error

            def fail() -> T:
                raise failure

            outcomes.put(fail)
        else:
            outcomes.put(lambda: value)

    check_cancelled()
    started = time.monotonic()
    with current_call().telling(lambda: outcomes.put(cancelled)):
        threading.Thread(target=send, name="codelens-embedding", daemon=True).start()
        try:
            outcome = outcomes.get(timeout=max(0.0, timeout_s - (time.monotonic() - started)))
        except queue.Empty:
            raise TimedOut from None
    return outcome()
