"""Calls of a plain form, answered without the SDK: importing it takes 54 MiB and half a second.

Only a call whose every argument is of exactly the declared type is taken. Whatever is odd in one,
the SDK judges, and so it does where its client has to be asked or told something meanwhile.
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
    """A call that was taken."""

    identity: RequestId
    row: ToolRow
    arguments: CallArguments
    meta: Meta


class PlainCalls:
    """Answers calls of one client, each in a thread of its own.

    Args:
        calls: the parts that the SDK's way shares.
        names: of the tools that the server lists.
        send: one message to the client, from any thread.
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
        """Answer a call, later; False if only the SDK can.

        Args:
            identity: of the request.
            params: of the request; of `_meta` only that it is an object is relied on.
            has_roots: the client can be asked in which folders it works.
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
        """The client does not wait for this request any more, if it is one of these."""
        with self._lock:
            call = self._under_way.pop(identity, None)
        if call is not None:
            call.cancel()

    def cancel_all(self) -> None:
        """The client is gone."""
        for identity in list(self._under_way):
            self.cancel(identity)

    def _needs_the_client(
        self, row: ToolRow, arguments: CallArguments, meta: Meta, *, has_roots: bool
    ) -> bool:
        """Whether there is something to tell or to ask the client before its call is answered."""
        if (row.tells_progress and "progressToken" in meta) or repositories_named(arguments):
            return True
        if not has_roots or is_about_all(row, arguments):
            return False
        # A failure is the call's own, and told in its place.
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
                self._answer(taken.identity, self._noted(reply))
        # Whatever still works for it stops.
        call.cancel()

    def _reply(self, taken: _TakenCall) -> Reply:
        answers = self._calls.answers
        try:
            where = {"path": self._path(taken)}
            engine_arguments = answers.engine_arguments(taken.row, taken.arguments, where)
            if taken.row.tells_progress:
                engine_arguments["progress"] = _untold
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
        """Whether the client did not cancel it; from here on it cannot."""
        with self._lock:
            return self._under_way.pop(identity, None) is not None

    def _noted(self, reply: Reply) -> Reply:
        """The reply, once what is in it is remembered as sent."""
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


def _untold(_stage: str, _done: int, _total: int) -> None:
    """Progress that the client did not ask for."""


def plain_arguments(row: ToolRow, sent_arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """All arguments of a call; None if one of those sent is not of exactly the declared type."""
    if not sent_arguments.keys() <= {argument.name for argument in row.arguments}:
        return None
    arguments: dict[str, Any] = {}
    for argument in row.arguments:
        value = sent_arguments.get(argument.name, argument.default)
        if value is None or (argument.name in sent_arguments and not _is_plain(argument, value)):
            return None
        # Whoever answers may add to it.
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
