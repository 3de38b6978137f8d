"""Answers simple calls without the SDK, whose import takes 54 MiB and half a second.

It only takes calls in which every argument has exactly the declared type. The SDK handles all
other calls, and those that need a request or notification to the client meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, NamedTuple, cast

from codelens.cancellation import Call, CallCancelled
from codelens.engine.contexts.asking_session import asked_by
from codelens.errors import CodelensError
from codelens.serve.call_answers import (
    CallSlot,
    ClientCalls,
    Reply,
    ServerBusy,
    failed,
    is_about_all,
    path_named,
    repositories_named,
    session_named,
)
from codelens.serve.client_streams import RequestId
from codelens.serve.tool_row import Argument, CallArguments, ToolRow
from codelens.serve.tool_table import ROWS

Meta = Mapping[str, Any]


class _TakenCall(NamedTuple):
    """A call that is answered here."""

    identity: RequestId
    row: ToolRow
    arguments: CallArguments
    meta: Meta


class PlainCalls:
    """Answers calls of one client, each in its own thread.

    Args:
        calls: the parts shared with the SDK server.
        names: the tools that the server lists.
        send: sends a message to the client, from any thread.
    """

    def __init__(
        self, calls: ClientCalls, names: Sequence[str], send: Callable[[dict[str, Any]], None]
    ) -> None:
        self._calls = calls
        self._rows = {name: ROWS[name] for name in names if name in ROWS}
        self._send = send
        self._lock = threading.Lock()
        self._under_way: dict[RequestId, Call] = {}

    def take(self, identity: RequestId, params: Mapping[str, Any], *, has_roots: bool) -> bool:
        """Start answering a call; False if only the SDK can.

        Args:
            identity: the id of the request.
            params: its parameters; `_meta` must be an object, but is otherwise unchecked.
            has_roots: whether the client can be asked for its roots.
        """
        name, sent_arguments = params.get("name"), _object(params.get("arguments", {}))
        row = self._rows.get(name) if isinstance(name, str) else None
        if row is None or sent_arguments is None or identity in self._under_way:
            return False
        arguments = plain_arguments(row, sent_arguments)
        meta: Meta = params.get("_meta", {})
        if arguments is None or self._needs_the_client(row, arguments, meta, has_roots=has_roots):
            return False
        try:
            slot = self._calls.slots.take()
        except ServerBusy as error:
            self._answer(identity, failed(error))
            return True
        call = self._under_way[identity] = Call(f"{name} {sent_arguments.get('mode', '')}")
        taken = _TakenCall(identity, row, arguments, meta)
        threading.Thread(target=self._work, args=(taken, call, slot), daemon=True).start()
        return True

    def cancel(self, identity: RequestId) -> None:
        """Cancel this request, if it is one of these."""
        with self._lock:
            call = self._under_way.pop(identity, None)
        if call is not None:
            call.cancel()

    def cancel_all(self) -> None:
        """Cancel all calls: the client is gone."""
        for identity in list(self._under_way):
            self.cancel(identity)

    def _needs_the_client(
        self, row: ToolRow, arguments: CallArguments, meta: Meta, *, has_roots: bool
    ) -> bool:
        """Whether the call needs a message to the client before its answer."""
        if (row.tells_progress and "progressToken" in meta) or repositories_named(arguments):
            return True
        if not has_roots or is_about_all(row, arguments):
            return False
        # The call itself reports a failure.
        with suppress(CodelensError):
            return self._calls.worktrees.named(path_named(arguments), meta, []) is None
        return False

    def _work(self, taken: _TakenCall, call: Call, slot: CallSlot) -> None:
        session = session_named(taken.arguments) or self._calls.sessions.of_call(taken.meta)
        with call.under_way(), asked_by(session):
            try:
                reply = slot.run(lambda: self._reply(taken))
            except CallCancelled:
                reply = None
            if reply is not None and self._is_waited_for(taken.identity):
                self._answer(taken.identity, self._recorded(reply))
        # Stop any work that still runs for the call.
        call.cancel()

    def _reply(self, taken: _TakenCall) -> Reply:
        answers = self._calls.answers
        try:
            where = {"path": self._path(taken)}
            engine_arguments = answers.engine_arguments(taken.row, taken.arguments, where)
            if taken.row.tells_progress:
                engine_arguments["progress"] = _no_progress
            return answers.counted(taken.row, taken.arguments, engine_arguments)
        except Exception as error:
            return failed(error)

    def _path(self, taken: _TakenCall) -> str:
        if is_about_all(taken.row, taken.arguments):
            return ""
        worktrees, passed = self._calls.worktrees, list[str]()
        named = worktrees.named(path_named(taken.arguments), taken.meta, passed)
        return named or worktrees.here(passed)

    def _is_waited_for(self, identity: RequestId) -> bool:
        """Whether the call was not cancelled; from now on, a cancellation has no effect."""
        with self._lock:
            return self._under_way.pop(identity, None) is not None

    def _recorded(self, reply: Reply) -> Reply:
        """Record the code in the reply as sent, and return the reply."""
        if reply.sent is None:
            return reply
        try:
            self._calls.answers.engine.note_sent(reply.sent)
        except Exception as error:
            return failed(error)
        return reply

    def _answer(self, identity: RequestId, reply: Reply) -> None:
        content = [{"text": reply.text, "type": "text"}]
        result = {"content": content, "isError": reply.failed}
        self._send({"jsonrpc": "2.0", "id": identity, "result": result})


def _no_progress(_stage: str, _done: int, _total: int) -> None:
    """Ignore progress: the client did not ask for it."""


def plain_arguments(row: ToolRow, sent_arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """All arguments of a call; None if one that was sent does not have its declared type."""
    if not sent_arguments.keys() <= {argument.name for argument in row.arguments}:
        return None
    arguments: dict[str, Any] = {}
    for argument in row.arguments:
        value = sent_arguments.get(argument.name, argument.default)
        if value is None or (argument.name in sent_arguments and not _is_plain(argument, value)):
            return None
        # A copy, because the call may modify it.
        arguments[argument.name] = copy(value)
    return arguments


def _object(value: object) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


def _is_plain(argument: Argument, value: object) -> bool:
    match argument.takes:
        case "number":
            is_number = isinstance(value, int) and not isinstance(value, bool)
            return is_number and _is_within(argument, cast("int", value))
        case "truth":
            return isinstance(value, bool)
        case "text":
            # An empty choice counts as left out.
            return isinstance(value, str) and (
                not argument.choices or (value != "" and value in argument.choices)
            )
        case _:
            entries = cast("list[object]", value) if isinstance(value, list) else None
            return (
                entries is not None
                and _is_within(argument, len(entries))
                and all(
                    isinstance(entry, str) and (not argument.choices or entry in argument.choices)
                    for entry in entries
                )
            )


def _is_within(argument: Argument, number: int) -> bool:
    least, most = argument.least, argument.most
    return (least is None or number >= least) and (most is None or number <= most)
