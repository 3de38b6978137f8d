"""What a server does at its start and its end, whatever it speaks through."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from codelens import config
from codelens.config import DEFAULT_BUDGET_MS, Settings
from codelens.serve.client_streams import Lines, Oversized, Replies, Wire, claim, read_line
from codelens.serve.first_turn import Front, chosen, known_answers

if TYPE_CHECKING:
    from codelens.serve.plain_calls import PlainCalls


def budget_of(settings: Settings, budget_ms: float | None) -> float:
    """How long a look at the files may take: as the caller says, else the settings."""
    if budget_ms is not None:
        return budget_ms
    return DEFAULT_BUDGET_MS if settings.budget_ms is None else settings.budget_ms


def log_to_stderr() -> None:
    """Warnings of all libraries go to stderr, without what a question or a file says."""
    stderr_handler = logging.StreamHandler(sys.stderr)
    stderr_handler.setFormatter(_Untelling("codelens: %(message)s"))
    logging.basicConfig(handlers=[stderr_handler], level=logging.WARNING)


class _Untelling(logging.Formatter):
    """Of a failure the places and the kinds: its words may quote code or a question."""

    def formatException(self, ei: object) -> str:
        """The frames of an error and of what led to it, the first cause last."""
        error = cast("tuple[object, BaseException | None]", ei)[1]
        lines: list[str] = []
        while error is not None:
            lines += [*traceback.format_tb(error.__traceback__), f"{type(error).__name__}\n"]
            hidden = error.__suppress_context__
            error = error.__cause__ or (None if hidden else error.__context__)
        return "".join(lines)


def leave(close: Callable[[], None], patience_s: float) -> None:
    """End the process now: a look that goes on in a thread must not outlive its clients.

    What is written is written in transactions, so leaving in the midst of one loses nothing else.
    """
    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    closing.join(patience_s)
    sys.stderr.flush()
    if closing.is_alive() or threading.active_count() > 1:
        os._exit(0)


# `codelens serve`: the first turn at once, then calls, and the SDK only if it is needed.
#
# A thread reads what the client says. It answers what `Front` can, and keeps the rest. The main
# thread meanwhile imports the engine, which answers calls of a plain form (`plain_calls.py`), when
# one waits or the client has paused: the two would take the processor from each other. A line that
# neither can answer waits for the SDK, which takes the stream from there on.

_PAUSE_S = 0.25
# Within a second of its client's end the process is gone.
_CLOSE_S, _LAST_S = 0.4, 0.8
_PARENT_S = 0.2


def serve(root: str | None = None, budget_ms: float | None = None) -> int:
    """Serve until stdin closes; the exit code. May end the process itself, see `leave`.

    Args:
        root: where to look when a call names no path.
        budget_ms: how long a look may take; None: the setting, else 500.

    Raises:
        SettingError: a setting has a value it cannot have.
    """
    settings = config.load()
    names = chosen(settings.tools)
    # Ends it in the midst of an import or a wait as well, and without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    log_to_stderr()
    client = _Client(claim(), Front(known_answers(names)))
    threading.Thread(target=client.watch_parent, daemon=True).start()
    threading.Thread(target=client.listen, daemon=True).start()
    client.wait_for_need()
    from codelens.engine.engine import Engine
    from codelens.engine.upkeep import usage_counter
    from codelens.serve.call_answers import ClientCalls
    from codelens.serve.plain_calls import PlainCalls

    engine = Engine(settings, keep_going=True)
    calls = ClientCalls.of_process(engine, root, budget_of(settings, budget_ms))
    plain_calls = PlainCalls(calls, names, client.replies.send)
    client.take_calls(plain_calls)
    start_worktree = calls.worktrees.meant_at_start() if settings.index_at_start else None
    if start_worktree is not None:
        engine.begin(start_worktree)
    if client.wait_for_sdk():
        from codelens.serve.sdk_server import run, server_beside

        server = server_beside(calls, names)
        client.hand_over()
        run(server, client.lines, client.replies)
    plain_calls.cancel_all()
    client.replies.close(_CLOSE_S)

    def close() -> None:
        usage_counter.tidy(settings.home)
        engine.close()

    leave(close, _CLOSE_S)
    return 0


class _Client:
    """Listens to a client: answers what is known, and keeps the rest for who can."""

    def __init__(self, wire: Wire, front: Front) -> None:
        self.lines = Lines()
        self.replies = Replies(wire.sink, self.gone)
        self._wire = wire
        self._front = front
        self._calls: PlainCalls | None = None
        self._is_with_sdk = False
        self._is_gone = False
        self._waiting: list[str] = []
        self._turn = threading.Lock()
        self._heard = threading.Event()
        self._needed = threading.Event()

    def listen(self) -> None:
        """Take lines until the client is gone."""
        while line := read_line(self._wire.source):
            if isinstance(line, Oversized):
                self.replies.send(line.refusal())
                continue
            with self._turn:
                self._take(line)
            self._heard.set()
        self.gone()

    def _take(self, line: str) -> None:
        if self._front.cancels(line):
            # It may mean a request that waits, or that the SDK has.
            if self._is_with_sdk:
                self.lines.put(line)
            elif self._waiting:
                self._waiting.append(line)
            return
        if self._is_with_sdk:
            self.lines.put(line)
            return
        reply = self._front.answer(line)
        if reply is None:
            self._waiting.append(line)
            self._needed.set()
        elif reply:
            self.replies.send(reply)

    def wait_for_need(self) -> None:
        """Until a line waits for more than `Front`, or the client has said something and pauses."""
        self._heard.wait()
        while not self._needed.is_set():
            self._heard.clear()
            if not self._heard.wait(_PAUSE_S):
                return

    def take_calls(self, calls: PlainCalls) -> None:
        """From here on these answer what they can, with what waits."""
        with self._turn:
            self._calls = self._front.calls = calls
            waiting, self._waiting = self._waiting, []
            self._needed.clear()
            for line in waiting:
                self._take(line)
        if self._is_gone:
            self._needed.set()

    def wait_for_sdk(self) -> bool:
        """Until a line waits that only the SDK can answer; False if the client left before."""
        self._needed.wait()
        return not self._is_gone

    def hand_over(self) -> None:
        """From here on every line goes to the SDK, after those that it missed."""
        with self._turn:
            if self._front.opened is not None:
                self.replies.answered(self._front.opened)
            for line in (*self._front.replayed, *self._waiting):
                self.lines.put(line)
            self._is_with_sdk = True

    def gone(self) -> None:
        """The client left: end the SDK's stream, and soon the process, whatever it is doing."""
        # Without the lock: who holds it may be the one that cannot go on.
        self._is_gone = True
        if self._calls is None:
            # There is nothing to close yet, and the main thread may be deep in an import.
            self.replies.close(_CLOSE_S)
            os._exit(0)
        self.lines.end()
        self._needed.set()
        last = threading.Timer(_LAST_S, os._exit, (0,))
        last.daemon = True
        last.start()

    def watch_parent(self) -> None:
        """A client that was killed may leave a child behind that holds our stdin open."""
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(_PARENT_S)
        self.gone()
