"""Requests of every kind to one server over HTTP, to see that its memory stays flat.

    python tests/load/http_flood.py [--requests 100000]

Each kind is sent in turn over one connection: permitted and rejected ones, calls by both
protocols, and sessions that are opened and abandoned. The resident memory after the first
quarter, when caches are full and all sessions are taken, is compared with that at the end.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from auth_files import FILES
from gitrepo import GitRepo, git_environment
from http_server import JSON, HttpServer, http_server
from mcp_lines import ENVELOPE, HELLO

MODERN = "2026-07-28"
"""The protocol that has no sessions."""


def rpc(method: str, params: dict[str, object] | None = None, number: int | None = 1) -> str:
    """A JSON-RPC message; a notification if it has no number."""
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    if number is not None:
        message["id"] = number
    return json.dumps(message)


@dataclass(slots=True)
class Flood:
    """One client that sends each kind of request in turn.

    Attributes:
        server: the server.
        root: a worktree that it serves.
        statuses: how often each kind had each status.
        resident_kb: the server's resident memory over time.
        logged: the number of lines that the server wrote to stderr.
    """

    server: HttpServer
    root: str
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    resident_kb: list[int] = field(default_factory=list[int])
    logged: int = 0
    _wire: http.client.HTTPConnection | None = None
    _session: str = ""

    def run(self, requests: int, *, only_rejected: bool = False, samples: int = 40) -> None:
        """Send this many requests, and read the memory at regular intervals.

        Args:
            requests: their number.
            only_rejected: send the kinds that were rejected in earlier runs.
            samples: how often to read the memory.
        """
        kinds = self.kinds()
        if only_rejected:
            rejected = {kind for kind, status in self.statuses if status >= 400}
            kinds = [kind for kind in kinds if kind.__name__.strip("_") in rejected]
        self.resident_kb = [resident_kb(self.server.process.pid)]
        every = max(1, requests // samples)
        for at in range(requests):
            kind = kinds[at % len(kinds)]
            self.statuses[kind.__name__.strip("_"), kind()] += 1
            if at % every == every - 1:
                self.resident_kb.append(resident_kb(self.server.process.pid))

    def close(self) -> None:
        """Close the connection."""
        if self._wire is not None:
            self._wire.close()

    def read_messages(self) -> None:
        """Count the server's log lines, which would block it if nobody read them."""
        assert self.server.process.stderr is not None
        for _ in self.server.process.stderr:
            self.logged += 1

    def kinds(self) -> tuple[Callable[[], int], ...]:
        """One function for each kind of request; it returns the status."""
        return (
            self._get_without_accept, self._get_without_session, self._health,
            self._no_token, self._foreign_host, self._other_path, self._head, self._put,
            self._not_json, self._not_initialized, self._wrong_type, self._wrong_accept,
            self._unknown_session, self._unknown_version, self._abandoned, self._closed,
            self._call_in_session, self._unknown_tool, self._notification, self._modern_list,
            self._modern_call,
        )  # fmt: skip

    def grown_kb(self) -> int:
        """The growth from the end of the first quarter to the end."""
        return self.resident_kb[-1] - self.resident_kb[len(self.resident_kb) // 4]

    def _send(
        self, method: str, body: str | None, headers: dict[str, str], path: str = "/mcp"
    ) -> int:
        return self._answered(method, body, headers, path)[0]

    def _answered(
        self, method: str, body: str | None, headers: dict[str, str], path: str = "/mcp"
    ) -> tuple[int, str]:
        """The status and session of one answer."""
        if self._wire is None:
            self._wire = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        self._wire.request(method, path, body, headers)
        answer = self._wire.getresponse()
        answer.read()
        return answer.status, answer.headers.get("Mcp-Session-Id", "")

    def _post(self, body: str, **more: str) -> int:
        return self._send("POST", body, {**JSON, **self.server.bearer, **more})

    def _opened(self) -> tuple[int, str]:
        body = rpc("initialize", dict(HELLO))
        return self._answered("POST", body, {**JSON, **self.server.bearer})

    def _in_session(self, body: str) -> int:
        """A request in a session that is kept open; the server may have ended it."""
        if not self._session:
            self._session = self._opened()[1]
        status = self._post(body, **{"Mcp-Session-Id": self._session})
        if status == 404:
            self._session = ""
        return status

    def _get_without_accept(self) -> int:
        return self._send("GET", None, self.server.bearer)

    def _get_without_session(self) -> int:
        return self._send("GET", None, {**self.server.bearer, "Accept": "text/event-stream"})

    def _health(self) -> int:
        return self._send("GET", None, {}, "/healthz")

    def _no_token(self) -> int:
        return self._send("POST", rpc("initialize", dict(HELLO)), JSON)

    def _foreign_host(self) -> int:
        return self._send("GET", None, {**self.server.bearer, "Host": "example.org"})

    def _other_path(self) -> int:
        return self._send("GET", None, self.server.bearer, "/other")

    def _head(self) -> int:
        return self._send("HEAD", None, self.server.bearer)

    def _put(self) -> int:
        return self._send("PUT", "{}", {**JSON, **self.server.bearer})

    def _not_json(self) -> int:
        return self._post("{")

    def _not_initialized(self) -> int:
        return self._post(rpc("tools/list"))

    def _wrong_type(self) -> int:
        return self._post(rpc("initialize", dict(HELLO)), **{"content-type": "text/plain"})

    def _wrong_accept(self) -> int:
        return self._post(rpc("initialize", dict(HELLO)), accept="text/html")

    def _unknown_session(self) -> int:
        return self._post(rpc("tools/list"), **{"Mcp-Session-Id": "0" * 32})

    def _unknown_version(self) -> int:
        return self._post(rpc("tools/list"), **{"Mcp-Protocol-Version": "1999-01-01"})

    def _abandoned(self) -> int:
        return self._opened()[0]

    def _closed(self) -> int:
        session = self._opened()[1]
        headers = {**JSON, **self.server.bearer, "Mcp-Session-Id": session}
        return self._send("DELETE", None, headers)

    def _call(self, tool: str, **arguments: object) -> dict[str, object]:
        return {"name": tool, "arguments": {"path": self.root, **arguments}}

    def _call_in_session(self) -> int:
        return self._in_session(rpc("tools/call", self._call("cl_search", query="validate")))

    def _unknown_tool(self) -> int:
        return self._in_session(rpc("tools/call", self._call("cl_nothing")))

    def _notification(self) -> int:
        return self._in_session(rpc("notifications/initialized", number=None))

    def _modern(self, method: str, params: dict[str, object], **more: str) -> int:
        headers = {"Mcp-Protocol-Version": MODERN, "Mcp-Method": method, **more}
        return self._post(rpc(method, {**params, "_meta": ENVELOPE}), **headers)

    def _modern_list(self) -> int:
        return self._modern("tools/list", {})

    def _modern_call(self) -> int:
        call = self._call("cl_search", query="validate")
        return self._modern("tools/call", call, **{"Mcp-Name": "cl_search"})


def resident_kb(pid: int) -> int:
    """The resident memory of a process, in kilobytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def http_flood(folder: Path, requests: int, rejected: int = 0) -> Flood:
    """A flood of a new server that serves one small repository.

    Args:
        folder: where to make the repository and the index.
        requests: number of requests of all kinds.
        rejected: number of rejected requests after that, for which alone memory is read again.
    """
    repo = GitRepo.init(folder / "auth")
    repo.commit("first", FILES)
    env = git_environment({"CODELENS_HOME": str(folder / "home")})
    with http_server(env, "--root", str(repo.root)) as server:
        flood = Flood(server, str(repo.root))
        threading.Thread(target=flood.read_messages, daemon=True).start()
        try:
            flood.run(requests)
            if rejected:
                flood.run(rejected, only_rejected=True)
        finally:
            flood.close()
    return flood


def main() -> int:
    """Run a flood and print its statuses and memory."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=100_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        flood = http_flood(Path(folder), args.requests)
    for (kind, status), count in sorted(flood.statuses.items()):
        print(f"{kind:22} {status} {count:7,}")
    print(f"lines on stderr: {flood.logged:,}")
    print("resident MB over time:", *(round(one / 1024) for one in flood.resident_kb))
    print(f"grown after the first quarter: {flood.grown_kb():,} kB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
