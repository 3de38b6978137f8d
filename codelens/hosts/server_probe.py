"""Starts an entry's command as a host would, and sees whether it answers and with which tools."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

_PROTOCOL = "2025-06-18"
_KEPT_OF_STDERR = 300
HELLO: dict[str, object] = {
    "protocolVersion": _PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "codelens-doctor", "version": "1"},
}
"""What `initialize` says of this client."""


class Answered(NamedTuple):
    """How a server answered.

    Attributes:
        seconds: from the start of the process to the list of tools; None if it never came.
        version: what the server says of itself.
        tools: how many it lists.
        why: what went wrong; empty if nothing did.
    """

    seconds: float | None
    version: str
    tools: int
    why: str = ""


def probe(command: Sequence[str], env: Mapping[str, str], timeout_s: float = 20.0) -> Answered:
    """Start a server over stdio, initialize it and list its tools; it is ended in any case.

    Args:
        command: the program and its arguments.
        env: variables that the entry sets.
        timeout_s: seconds for all of it.
    """
    start = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 - the entry that is to be checked
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **env}, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return Answered(None, "", 0, f"{command[0]} does not start: {error.strerror}")
    assert process.stdin is not None, "a pipe was asked for"
    assert process.stdout is not None, "a pipe was asked for"
    assert process.stderr is not None, "a pipe was asked for"
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    output_tail: list[bytes] = []
    readers = [
        threading.Thread(target=_read, args=(process.stdout, lines.put), daemon=True),
        threading.Thread(target=_read, args=(process.stderr, output_tail.append), daemon=True),
    ]
    for reader in readers:
        reader.start()
    until = start + timeout_s
    try:
        first = _ask(process.stdin, lines, 1, "initialize", params=HELLO, until=until)
        _send(process.stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        listed = _ask(process.stdin, lines, 2, "tools/list", params={}, until=until)
        seconds = time.monotonic() - start
        version = str(first.get("serverInfo", {}).get("version", ""))
        return Answered(seconds, version, len(listed.get("tools", [])))
    except (_NoAnswer, OSError, ValueError) as error:
        _end(process, readers)
        tail = b"".join(output_tail).decode("utf-8", "replace").strip()[-_KEPT_OF_STDERR:]
        return Answered(None, "", 0, f"{error}{tail and f'; its output: {tail}'}")
    finally:
        _end(process, readers)


class _NoAnswer(Exception):
    pass


def _read(stream: IO[bytes], take: Any) -> None:  # noqa: ANN401 - put or append
    with contextlib.suppress(OSError, ValueError):  # closed when the process is ended
        for line in stream:
            take(line)
    take(b"")


def _send(stream: IO[bytes], message: dict[str, object]) -> None:
    try:
        stream.write(json.dumps(message).encode() + b"\n")
        stream.flush()
    except BrokenPipeError:
        raise _NoAnswer(f"it exited before it answered {message['method']}") from None


def _ask(
    stream: IO[bytes], lines: queue.SimpleQueue[bytes], number: int, method: str,
    *, params: dict[str, object], until: float,
) -> dict[str, Any]:  # fmt: skip
    _send(stream, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    while True:
        try:
            line = lines.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            raise _NoAnswer(f"it did not answer {method} in time") from None
        if not line:
            raise _NoAnswer(f"it exited before it answered {method}")
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == number:
            if "result" not in message:
                raise _NoAnswer(f"it refused {method}: {message.get('error')}")
            return message["result"]


def _end(process: subprocess.Popen[bytes], readers: Sequence[threading.Thread]) -> None:
    assert process.stdin is not None, "a pipe was asked for"
    with contextlib.suppress(OSError):
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2)
    _kill(process)
    process.wait()
    for reader, stream in zip(readers, (process.stdout, process.stderr), strict=True):
        reader.join(timeout=2)
        # Closing it under its reader would wait for whoever holds the other end.
        if stream is not None and not reader.is_alive():
            stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a server, and what it has started: wrappers leave their child behind."""
    if os.name == "nt":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
