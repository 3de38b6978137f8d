"""`codelens serve --http` in a separate process, and its clients."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import start_blocking_portal
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_lines import COMMAND
from sdk_client import Asker

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


class HttpServer:
    """A server on a free port; `said` holds its messages to the person who started it."""

    def __init__(self, env: dict[str, str], *args: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "--http", "--port", "0", "--budget", "60000", *args],
            env={**os.environ, **env}, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        self.said = [self.process.stderr.readline(), self.process.stderr.readline()]
        address = re.search(r"http://127\.0\.0\.1:([0-9]+)/mcp", self.said[0])
        assert address is not None, "".join(self.said) + self.process.stderr.read()
        self.url, self.port = address[0], int(address[1])
        self.token = (Path(env["CODELENS_HOME"]) / "http-token").read_text().strip()

    @contextmanager
    def client(self, mode: Any = "legacy", **options: Any) -> Iterator[Asker]:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            carrier = httpx2.AsyncClient(headers=self.bearer, timeout=httpx2.Timeout(30, read=300))
            stack.enter_context(portal.wrap_async_context_manager(carrier))
            connection = Client(
                streamable_http_client(self.url, http_client=carrier), mode=mode, **options
            )
            yield Asker(portal, stack.enter_context(portal.wrap_async_context_manager(connection)))

    def status(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> int:
        """The status of one request, with exactly these headers and, unless given, `Host`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            return connection.getresponse().status
        finally:
            connection.close()

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def stop(self) -> tuple[int, str]:
        """The exit code after a polite stop, and the messages until then."""
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


@contextmanager
def http_server(env: dict[str, str], *args: str) -> Iterator[HttpServer]:
    server = HttpServer(env, *args)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.communicate()
