"""No socket to another machine is opened unless somebody enables a provider."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from embedding_server import KEY, embedding_server
from gitrepo import GitRepo
from socket_guard import CONNECTIONS, OtherMachine

WATCHED = """
import json, sys
seen = []
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind"):
        seen.append((event, repr(args[1:] if event == "socket.connect" else args)))
sys.addaudithook(watch)
from codelens.cli.main import main
codes = [main(command) for command in json.loads(sys.argv[1])]
print()
print(json.dumps([codes, seen]))
"""


def watched(repository: GitRepo, home: Path, *commands: list[str]) -> tuple[list[int], list]:
    """Exit codes of commands in one process, and their use of sockets."""
    environ = {**os.environ, "CODELENS_HOME": str(home), "OPENAI_API_KEY": KEY}
    ran = subprocess.run(
        [sys.executable, "-c", WATCHED, json.dumps(commands)],
        cwd=repository.root, env=environ, capture_output=True, text=True, timeout=120,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    codes, seen = json.loads(ran.stdout.splitlines()[-1])
    return codes, seen


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    repository = GitRepo.init(tmp_path / "repo")
    repository.commit("first", {"lamp.py": "def dim(lamp):\n    return lamp - 1\n"})
    return repository


def test_the_guard_of_this_test_run_works() -> None:
    with socket.socket() as attempt, pytest.raises(OtherMachine):
        attempt.connect(("192.0.2.1", 9))


CONNECTING = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=1)"


def test_the_guard_covers_processes_that_tests_start(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    ran = subprocess.run(
        [sys.executable, "-c", CONNECTING], env={**os.environ, CONNECTIONS: str(begun)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 1 and "OtherMachine" in ran.stderr
    assert begun.read_text() == "('192.0.2.1', 9) by ['-c']\n"


def test_no_command_opens_a_socket_before_a_provider_is_enabled(
    repository: GitRepo, tmp_path: Path
) -> None:
    codes, seen = watched(
        repository, tmp_path / "home",
        ["index"], ["search", "how is a lamp dimmed"], ["explore", "dim the lamp"],
        ["expand", "lamp.py#dim"], ["map"], ["status"], ["doctor"], ["meaning", "status"],
        ["meaning", "test", "dim the lamp"], ["meaning", "sync"],
        ["meaning", "enable", "--provider", "openai"],
    )  # fmt: skip
    assert codes[:6] == [0] * 6
    # No provider is enabled, and there is no terminal to agree on.
    assert codes[-2:] == [2, 2]
    assert seen == []


def test_an_enabled_provider_is_asked_and_nobody_else(repository: GitRepo, tmp_path: Path) -> None:
    with embedding_server() as server:
        enable = ["meaning", "enable", "--provider", "openai", "--yes", "--endpoint"]
        codes, seen = watched(
            repository, tmp_path / "home", [*enable, server.endpoint("openai")], ["meaning", "sync"]
        )
        assert codes == [0, 0]
        assert len(server.received) == 2
    assert seen
    assert all("127.0.0.1" in about for _, about in seen)
