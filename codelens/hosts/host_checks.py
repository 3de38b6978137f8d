"""What `doctor` says of the hosts: whether each entry that is there would work.

`check_hosts` is for callers: one `HostCheck` for each entry and question.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from codelens import __version__
from codelens.errors import CodelensError
from codelens.hosts import host_files
from codelens.hosts.desired_edits import Request
from codelens.hosts.formats.config_formats import decoded, format_of
from codelens.hosts.formats.config_values import EditRefused, at
from codelens.hosts.host_descriptor import Host, Listing
from codelens.hosts.http_probe import probe_http
from codelens.hosts.server_command import (
    NAME,
    command_of,
    headers_of,
    leads_to_codelens,
    url_of,
    variables_of,
)
from codelens.hosts.server_probe import Answered, probe

SLOW_S = 5.0
"""Seconds after which hosts begin their first turn without the tools."""
_LISTING_S = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class HostCheck(NamedTuple):
    """One finding: `fine`, `warning`, `broken`, or `absent` where codelens is not wired."""

    host: str
    name: str
    state: str
    message: str


class _Start(NamedTuple):
    command: tuple[str, ...]
    """Of a server over HTTP its URL alone."""
    env: tuple[tuple[str, str], ...]
    """Or the headers that it is sent."""
    over_http: bool = False


def check_hosts(
    chosen: Sequence[Host], request: Request, *, ask_hosts: bool = False
) -> list[HostCheck]:
    """See after each host's entry: is it there, does its command start and answer, how soon.

    Args:
        chosen: the hosts to look at.
        request: for machine, scope and root; the program is not used.
        ask_hosts: run the hosts' own list commands as well, where there are any; some take 15 s.
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
            remedy = "writes the entry anew"
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
    """What the host's own command says; nothing where the host has no command here."""
    program = shutil.which(listing.run[0], path=request.machine.environ.get("PATH"))
    if program is None:
        return
    words = " ".join(listing.run)
    try:
        done = subprocess.run(  # noqa: S603 - the host's own command, as its descriptor has it
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
