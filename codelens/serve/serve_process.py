"""`codelens serve` over stdin and stdout, and the start and end that all servers share."""

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
    """How long checking the files may take: the given budget, or else that of the settings."""
    if budget_ms is not None:
        return budget_ms
    return DEFAULT_BUDGET_MS if settings.budget_ms is None else settings.budget_ms


def log_to_stderr() -> None:
    """Log warnings of all libraries to stderr, without text from queries or files."""
    stderr_handler = logging.StreamHandler(sys.stderr)
    stderr_handler.setFormatter(_WithoutMessages("codelens: %(message)s"))
    logging.basicConfig(handlers=[stderr_handler], level=logging.WARNING)


class _WithoutMessages(logging.Formatter):
    """Formats an error as its types and places; its message may quote code or a query."""

    def formatException(self, ei: object) -> str:
        """The frames of an error and of its causes, the first cause last."""
        error = cast("tuple[object, BaseException | None]", ei)[1]
        lines: list[str] = []
        while error is not None:
            lines += [*traceback.format_tb(error.__traceback__), f"{type(error).__name__}\n"]
            hidden = error.__suppress_context__
            error = error.__cause__ or (None if hidden else error.__context__)
        return "".join(lines)


def leave(close: Callable[[], None], patience_s: float) -> None:
    """End the process now: work in a thread must not outlive the clients.

    All writes are transactions, so ending during one loses nothing else.
    """
    closing = threading.Thread(target=close, daemon=True)
    closing.start()
    closing.join(patience_s)
    sys.stderr.flush()
    if closing.is_alive() or threading.active_count() > 1:
        os._exit(0)


# `codelens serve`: answers the first turn at once, then calls; loads the SDK only when needed.
#
# A thread reads the client's lines. `Front` answers those it can, and the others wait. When a call
# waits or the client pauses, the main thread imports the engine, which answers simple calls
# (`plain_calls.py`); importing earlier would slow down the first turn. A line that neither can
# answer waits for the SDK, which then takes over the stream.

_PAUSE_S = 0.25
# The process ends within a second after its client.
_CLOSE_S, _LAST_S = 0.4, 0.8
_PARENT_S = 0.2


def serve(root: str | None = None, budget_ms: float | None = None) -> int:
    """Serve until stdin closes; return the exit code. May end the process itself, see `leave`.

    Args:
        root: the worktree to use if a call names no path.
        budget_ms: how long checking the files may take; None: the setting.

    Raises:
        SettingError: a setting has an invalid value.
    """
    settings = config.load()
    names = chosen(settings.tools)
    # This also ends the process during an import or a wait, and without a traceback.
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
    start_worktree = calls.worktrees.worktree_at_start() if settings.index_at_start else None
    if start_worktree is not None:
        engine.begin(start_worktree)
    if client.wait_for_sdk():
        from codelens.serve.sdk_server import run, sdk_server_for

        server = sdk_server_for(calls, names)
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
    """Listens to a client: answers recorded requests, and queues the others."""

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
            # It may cancel a request that waits here or in the SDK.
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
        """Wait until `Front` cannot answer a line, or the client pauses after its first line."""
        self._heard.wait()
        while not self._needed.is_set():
            self._heard.clear()
            if not self._heard.wait(_PAUSE_S):
                return

    def take_calls(self, calls: PlainCalls) -> None:
        """Let `calls` answer from now on, starting with the waiting lines."""
        with self._turn:
            self._calls = self._front.calls = calls
            waiting, self._waiting = self._waiting, []
            self._needed.clear()
            for line in waiting:
                self._take(line)
        if self._is_gone:
            self._needed.set()

    def wait_for_sdk(self) -> bool:
        """Wait for a line that only the SDK can answer; False if the client left before that."""
        self._needed.wait()
        return not self._is_gone

    def hand_over(self) -> None:
        """Send every line to the SDK from now on, after the lines that it missed."""
        with self._turn:
            if self._front.opened is not None:
                self.replies.answered(self._front.opened)
            for line in (*self._front.replayed, *self._waiting):
                self.lines.put(line)
            self._is_with_sdk = True

    def gone(self) -> None:
        """End the SDK's stream and then the process: the client left."""
        # Without the lock: the thread that has it may be blocked.
        self._is_gone = True
        if self._calls is None:
            # There is nothing to close yet, and the main thread may be in an import.
            self.replies.close(_CLOSE_S)
            os._exit(0)
        self.lines.end()
        self._needed.set()
        last = threading.Timer(_LAST_S, os._exit, (0,))
        last.daemon = True
        last.start()

    def watch_parent(self) -> None:
        """End when the parent does: a child of a killed client may keep our stdin open."""
        parent = os.getppid()
        while os.getppid() == parent:
            time.sleep(_PARENT_S)
        self.gone()
