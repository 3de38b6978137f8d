"""The page of a repository: its server in this process, asked over real HTTP."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from gitrepo import GitRepo

from codelens import config
from codelens.engine.engine import Engine
from codelens.ui.page_questions import Engines, PageQuestions
from codelens.ui.page_server import PageAddress, PageServer

EDITOR = "vscode://file{path}:{line}"


class Site:
    """A running page, and requests to it."""

    def __init__(self, server: PageServer, repo: GitRepo, engine: Engine) -> None:
        self.server, self.repo, self.engine = server, repo, engine
        self.port = server.address.port
        self.base = f"/{server.address.token}/"

    def get(
        self, path: str, headers: dict[str, str] | None = None, *, method: str = "GET"
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, headers=headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def ask(self, question: str, **arguments: str) -> tuple[int, dict]:
        status, _, body = self.get(f"{self.base}api/{question}?{urlencode(arguments)}")
        return status, json.loads(body)

    def answer(self, question: str, **arguments: str) -> dict:
        status, answer = self.ask(question, **arguments)
        assert status == 200, answer
        return answer


@contextmanager
def site_of(repo: GitRepo, home: Path) -> Iterator[Site]:
    """The page of a repository, with enough time for each question."""
    with (
        Engine(config.Settings(home, budget_ms=60_000)) as engine,
        Engine(config.Settings(home, budget_ms=60_000)) as long_engine,
        PageServer(
            PageQuestions(Engines(engine, long_engine), str(repo.root), EDITOR), PageAddress()
        ) as server,
    ):
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield Site(server, repo, engine)
        finally:
            server.shutdown()
            thread.join()
