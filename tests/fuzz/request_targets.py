"""Input from a port, and git's small files: functions of any bytes, as in `targets.py`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Coroutine, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from codelens.errors import CodelensError
from codelens.focus import checkout
from codelens.scope import membership
from codelens.scope.repository import Repository, ref_names
from codelens.serve.http_server import Gate, host_names
from codelens.ui.page_questions import BadRequest, PageArguments
from codelens.ui.page_server import PageAddress

_TOKEN = "0123456789abcdef"
_PORT = 8000


def requests(data: bytes) -> None:
    """Neither server answers a request without the token, or for another host name."""
    lines = [line.partition(b":")[::2] for line in data.split(b"\n")[1:]]
    headers = [(name.strip().lower(), value.strip()) for name, value in lines]
    first = data.split(b"\n", 1)[0].decode("latin-1")
    hosts = [value for name, value in headers if name == b"host"]
    sound = {f"{name}:{_PORT}".encode() for name in ("127.0.0.1", "localhost")}
    if _passes(headers):
        assert any(value.split()[-1:] == [_TOKEN.encode()] for _, value in headers), headers
        names = host_names("127.0.0.1", ())
        assert {host.decode("latin-1").lower().rpartition(":")[0] for host in hosts[:1]} <= {
            *names, ""
        }  # fmt: skip
    by_name: dict[str, list[str]] = {}
    for name, value in headers:
        by_name.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    address = PageAddress(_PORT, _TOKEN)
    if not address.is_foreign(by_name):
        assert len(hosts) == 1 and hosts[0].lower() in sound, hosts
    path, _, query = first.partition("?")
    if address.path_within(path) is not None:
        assert path.removeprefix("/").startswith(f"{_TOKEN}/"), path
    with suppress(BadRequest):
        arguments = PageArguments(query, ("q", "limit"))
        arguments.words("q")
        assert 1 <= arguments.number("limit", 10, 50) <= 50


def _passes(headers: list[tuple[bytes, bytes]]) -> bool:
    passed: list[bool] = []

    async def app(*_: object) -> None:
        passed.append(True)

    async def send(_: MutableMapping[str, Any]) -> None:
        pass

    async def receive() -> MutableMapping[str, Any]:
        return {}

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    _done(Gate(app, _TOKEN, host_names("127.0.0.1", ()), "/mcp", dict)(scope, receive, send))
    return bool(passed)


def _done(work: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine to its end; it never waits."""
    with suppress(StopIteration):
        work.send(None)


_GIT_FILES = (
    "HEAD", "config", "packed-refs", "refs/heads/main", "worktrees/side/gitdir", "commondir",
    "shallow", "objects/info/alternates",
)  # fmt: skip


def git_files(data: bytes) -> None:
    """A repository opens, or is refused in plain words, with any content in one of its small files.

    The first byte selects the file.
    """
    number, said = (data[0] if data else 0) % (len(_GIT_FILES) + 1), data[1:]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "a")
        if number == len(_GIT_FILES):
            root.mkdir()
            (root / ".git").write_bytes(said)
        else:
            git = root / ".git"
            for name in ("refs/heads", "objects/info", "worktrees/side"):
                (git / name).mkdir(parents=True)
            (git / "HEAD").write_text("ref: refs/heads/main\n")
            (git / _GIT_FILES[number]).write_bytes(said)
        _look(str(root))


def _look(root: str) -> None:
    checkout.head_commit(checkout.checkout_at(root))
    membership.is_repository(os.fsencode(root))
    with suppress(CodelensError):
        repository = Repository.at(root)
        ref_names(repository.common_dir)
        repository.worktrees()
        repository.scope()
