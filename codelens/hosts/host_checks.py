"""Checks whether the configured entries work: starts or asks each server as its host does."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from codelens import __version__
from codelens.errors import CodelensError
from codelens.hosts import host_files
from codelens.hosts.desired_edits import Request
from codelens.hosts.formats.config_formats import decoded, format_of
from codelens.hosts.formats.config_values import EditRefused, at
from codelens.hosts.host_descriptor import (
    NAME,
    Host,
    Listing,
    command_of,
    headers_of,
    leads_to_codelens,
    url_of,
    variables_of,
)

_MOST_BYTES = 4 * 1024 * 1024
_EVENT = b"data:"
_HTTP_S = 20.0
"""Limit for each request."""


class _Reply(NamedTuple):
    result: dict[str, Any]
    connection: str
    """The server's id of this connection."""


def probe_http(url: str, headers: Mapping[str, str]) -> Answered:
    """Initialize a running server and list its tools.

    Args:
        url: the URL of the server.
        headers: the headers of the entry.
    """
    start = time.monotonic()
    try:
        opened = _ask_http(url, headers, method="initialize", params=HELLO)
        named = {**headers, "Mcp-Session-Id": opened.connection}
        listed = _ask_http(url, named, method="tools/list", params={})
    except urllib.error.HTTPError as error:
        with error:
            why = "the entry has another token" if error.code == 401 else error.reason
        return Answered(None, "", 0, f"{url} rejects the request ({error.code}): {why}")
    except (OSError, ValueError, LookupError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        port = urlsplit(url).port or 80
        start_it = f"start it with `codelens serve --http --port {port}`"
        return Answered(None, "", 0, f"{url} does not answer ({reason}); {start_it}")
    version = str(opened.result.get("serverInfo", {}).get("version", ""))
    return Answered(time.monotonic() - start, version, len(listed.result.get("tools", [])))


def _ask_http(url: str, headers: Mapping[str, str], *, method: str, params: object) -> _Reply:
    """The result of one request.

    Raises:
        OSError: the server did not answer, or rejected the request.
        LookupError: the answer has no result.
        ValueError: the answer is not JSON.
    """
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    accepted = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    request = urllib.request.Request(  # noqa: S310 - `url_of` only accepts http on this machine
        url, json.dumps(message).encode(), {**headers, **accepted}
    )
    # No proxy: the server is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=_HTTP_S) as response:
        body = response.read(_MOST_BYTES)
        connection = response.headers.get("Mcp-Session-Id", "")
    events = [line[len(_EVENT) :] for line in body.splitlines() if line.startswith(_EVENT)]
    reply: dict[str, Any] = json.loads(events[-1] if events else body)
    return _Reply(reply["result"], connection)


# Starting an entry's command as its host does.

_PROTOCOL = "2025-06-18"
_KEPT_OF_STDERR = 300
HELLO: dict[str, object] = {
    "protocolVersion": _PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "codelens-doctor", "version": "1"},
}
"""The client's name and version in `initialize`."""


class Answered(NamedTuple):
    """The result of a check of a server.

    Attributes:
        seconds: from the start of the process to the list of tools; None if it never came.
        version: the version that the server reports.
        tools: the number of listed tools.
        why: what went wrong; empty if nothing did.
    """

    seconds: float | None
    version: str
    tools: int
    why: str = ""


def probe(command: Sequence[str], env: Mapping[str, str], timeout_s: float = 20.0) -> Answered:
    """Start a server over stdio, initialize it and list its tools; always end it.

    Args:
        command: the program and its arguments.
        env: the environment variables of the entry.
        timeout_s: seconds for the whole check.
    """
    start = time.monotonic()
    try:
        process = subprocess.Popen(  # noqa: S603 - the entry to check
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
        # Closing a stream while a thread reads from it would wait for the process at the other end.
        if stream is not None and not reader.is_alive():
            stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the server and its child processes: a wrapper leaves its child running."""
    if os.name == "nt":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


# The checks of `doctor` and `install --check`: `check_hosts` yields one `HostCheck` per finding.

SLOW_S = 5.0
"""Seconds after which hosts start their first turn without the tools."""
_LISTING_S = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class HostCheck(NamedTuple):
    """A finding: `fine`, `warning`, `broken`, or `absent` if codelens is not configured."""

    host: str
    name: str
    state: str
    message: str


class _Start(NamedTuple):
    command: tuple[str, ...]
    """The URL alone for a server over HTTP."""
    env: tuple[tuple[str, str], ...]
    """The environment variables of the entry; for a server over HTTP, the headers."""
    over_http: bool = False


def check_hosts(
    chosen: Sequence[Host], request: Request, *, ask_hosts: bool = False
) -> list[HostCheck]:
    """Check each host's entry: whether it exists, starts and answers, and how fast.

    Args:
        chosen: the hosts to check.
        request: has machine, scope and root; its program is not used.
        ask_hosts: whether to also run the hosts' own list commands; some take 15 s.
    """
    checks: list[HostCheck] = []
    answers: dict[_Start, Answered] = {}
    for host in chosen:
        start = _entry(host, request)
        if isinstance(start, HostCheck):
            checks.append(start)
            continue
        if start not in answers:
            answers[start] = _started(start)
        checks.append(_server(host, start, answers[start]))
        if ask_hosts and host.listing is not None:
            checks += _listed(host, host.listing, request)
    return checks


def _entry(host: Host, request: Request) -> _Start | HostCheck:
    path = host.server.where.pick(request.machine, request.scope, request.root)
    if path is None:
        return HostCheck(host.name, "entry", "absent", f"has no file in the {request.scope} scope")
    shown = request.machine.shown(path)
    try:
        data = host_files.read(host_files.real(Path(path)))
        text = "" if data is None else decoded(data)
        entry = at(format_of(host.server.format).parse(text, host.server.keys), host.server.keys)
    except CodelensError as error:
        return HostCheck(host.name, "entry", "broken", str(error))
    except EditRefused as error:
        return HostCheck(host.name, "entry", "broken", f"{shown}: {error}; correct the file")
    if entry is None:
        return HostCheck(
            host.name,
            "entry",
            "absent",
            f"not configured; run `codelens install --host {host.name}",
        )
    if not leads_to_codelens(entry):
        why = f"{shown}: the entry called {NAME} does not start codelens"
        return HostCheck(host.name, "entry", "broken", why)
    assert isinstance(entry, dict), "the entry must be an object"
    if entry.get("disabled") is True or entry.get("enabled") is False:
        return HostCheck(host.name, "entry", "warning", f"{shown}: the entry is disabled")
    if url := url_of(entry):
        return _Start((url,), tuple(headers_of(entry).items()), over_http=True)
    return _Start(tuple(command_of(entry)), tuple(variables_of(entry).items()))


def _started(start: _Start) -> Answered:
    program = start.command[0]
    if start.over_http:
        return probe_http(program, dict(start.env))
    if shutil.which(program) is None:
        return Answered(None, "", 0, f"{program} is not an executable program")
    return probe(start.command, dict(start.env))


def _server(host: Host, start: _Start, answered: Answered) -> HostCheck:
    if answered.seconds is None:
        if start.over_http:
            options = f" --http --port {urlsplit(start.command[0]).port or 80}"
            remedy = "writes the entry again"
        else:
            options, remedy = "", "corrects it"
        why = f"{answered.why}; `codelens install{options} --host {host.name}` {remedy}"
        return HostCheck(host.name, "server", "broken", why)
    summary = f"{start.command[0]} lists {answered.tools} tools in {answered.seconds:.1f} s"
    if answered.version != __version__:
        version = answered.version or "of an unknown version"
        why = f"{summary}; it is codelens {version}, not {__version__}"
        return HostCheck(host.name, "server", "warning", why)
    if answered.seconds > SLOW_S:
        return HostCheck(host.name, "server", "warning", f"{summary}: some hosts time out sooner")
    return HostCheck(host.name, "server", "fine", summary)


def _listed(host: Host, listing: Listing, request: Request) -> Iterable[HostCheck]:
    """Check the output of the host's own list command, if the host has one here."""
    program = shutil.which(listing.run[0], path=request.machine.environ.get("PATH"))
    if program is None:
        return
    words = " ".join(listing.run)
    try:
        done = subprocess.run(  # noqa: S603 - the host's own command, from its descriptor
            [program, *listing.run[1:]], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_LISTING_S, check=False, cwd=request.root,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        yield HostCheck(host.name, "list", "warning", f"`{words}` did not answer: {error}")
        return
    output = _ESCAPES.sub("", (done.stdout + done.stderr).decode("utf-8", "replace"))
    if re.search(listing.healthy, output):
        verb = "connects to it" if listing.connects else "knows it"
        yield HostCheck(host.name, "list", "fine", f"`{words}` {verb}")
        return
    line = next((row.strip() for row in output.splitlines() if NAME in row), "does not list it")
    waits = bool(listing.waiting and re.search(listing.waiting, output))
    todo = f"; {host.todo.get(request.scope, '')}" if waits else ""
    state = "warning" if waits else "broken"
    yield HostCheck(host.name, "list", state, f"`{words}`: {line[:200]}{todo}")
