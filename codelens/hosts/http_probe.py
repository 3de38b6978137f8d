"""Asks a server over HTTP as a host would, and sees whether it answers and with which tools."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from codelens.hosts.server_probe import HELLO, Answered

_MOST_BYTES = 4 * 1024 * 1024
_EVENT = b"data:"


class _Reply(NamedTuple):
    result: dict[str, Any]
    connection: str
    """The name that the server gave to this connection."""


def probe_http(url: str, headers: Mapping[str, str], timeout_s: float = 20.0) -> Answered:
    """Initialize a server that runs, and list its tools.

    Args:
        url: of the server.
        headers: that the entry sends.
        timeout_s: seconds for each of the requests.
    """
    start = time.monotonic()
    try:
        opened = _asked(url, headers, timeout_s, method="initialize", params=HELLO)
        named = {**headers, "Mcp-Session-Id": opened.connection}
        listed = _asked(url, named, timeout_s, method="tools/list", params={})
    except urllib.error.HTTPError as error:
        with error:
            why = "another token is in the entry" if error.code == 401 else error.reason
        return Answered(None, "", 0, f"{url} refuses it ({error.code}): {why}")
    except (OSError, ValueError, LookupError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        port = urlsplit(url).port or 80
        start_it = f"start it with `codelens serve --http --port {port}`"
        return Answered(None, "", 0, f"{url} does not answer ({reason}); {start_it}")
    version = str(opened.result.get("serverInfo", {}).get("version", ""))
    return Answered(time.monotonic() - start, version, len(listed.result.get("tools", [])))


def _asked(
    url: str, headers: Mapping[str, str], timeout_s: float, *, method: str, params: object
) -> _Reply:
    """The result of one request.

    Raises:
        OSError: there was no answer, or a refusal.
        LookupError: it has no result.
        ValueError: it is no JSON.
    """
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    accepted = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    request = urllib.request.Request(  # noqa: S310 - `url_of` takes http of this machine alone
        url, json.dumps(message).encode(), {**headers, **accepted}
    )
    # No proxy: the server is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=timeout_s) as response:
        body = response.read(_MOST_BYTES)
        connection = response.headers.get("Mcp-Session-Id", "")
    events = [line[len(_EVENT) :] for line in body.splitlines() if line.startswith(_EVENT)]
    reply: dict[str, Any] = json.loads(events[-1] if events else body)
    return _Reply(reply["result"], connection)
