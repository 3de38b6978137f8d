"""The first turn of a real server process: before, during and after the import of the SDK."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from gitrepo import GitRepo
from mcp_lines import COMMAND, ENVELOPE, HELLO, INITIALIZED, Lines, call, request


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", {"src/auth.py": "def login(name):\n    return name\n"})
    return made


# Enough time for a loaded machine; a second is expected.
PATIENCE_S = 120.0


def imported(pid: int) -> bool:
    """Whether a process has loaded the library that the SDK validates with."""
    return "pydantic_core" in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads /proc")
def test_the_first_turn_is_over_before_the_sdk_is_imported(
    env: dict[str, str], repo: GitRepo
) -> None:
    lines = Lines(env, repo.root)
    assert lines.ask(1, "initialize", HELLO)["result"]["protocolVersion"] == "2025-06-18"
    lines.send(INITIALIZED)
    assert len(lines.ask(2, "tools/list")["result"]["tools"]) == 10
    assert lines.ask(3, "ping")["result"] == {}
    assert not imported(lines.process.pid)
    assert "src/auth.py#login" in json.dumps(lines.call(4, "cl_search", query="login"))
    assert not imported(lines.process.pid)
    assert lines.ask(5, "resources/templates/list")["result"] == {"resourceTemplates": []}
    assert imported(lines.process.pid)
    assert lines.end() == (0, b"")


def test_pipelined_requests_are_answered_in_full_and_once(
    env: dict[str, str], repo: GitRepo
) -> None:
    lines = Lines(env, repo.root)
    lines.send(
        request(1, "initialize", HELLO),
        INITIALIZED,
        call(2, "cl_search", query="login"),
        request(3, "tools/list"),
        request(4, "resources/templates/list"),
        call(5, "cl_expand", handles=["src/auth.py#login"]),
        b"no json",
        request(6, "ping"),
    )
    found = [lines.next() for _ in range(6)]
    assert sorted(one["id"] for one in found) == [1, 2, 3, 4, 5, 6]
    assert all("result" in one for one in found)
    assert lines.end() == (0, b"")


def test_requests_during_the_import_are_answered(env: dict[str, str], repo: GitRepo) -> None:
    lines = Lines(env, repo.root)
    lines.ask(1, "initialize", HELLO)
    lines.send(INITIALIZED, call(2, "cl_search", query="login"))
    # The import begins with the call; these arrive during it and after it.
    numbers = range(3, 33)
    for number in numbers:
        lines.send(request(number, "ping" if number % 2 else "tools/list"))
        time.sleep(0.05)
    found = [lines.next() for _ in range(len(numbers) + 1)]
    assert sorted(one["id"] for one in found) == [2, *numbers]
    assert all("result" in one for one in found)
    assert lines.end() == (0, b"")


def test_a_modern_client_is_served_and_its_handshake_refused(
    env: dict[str, str], repo: GitRepo
) -> None:
    lines = Lines(env, repo.root)
    discovered = lines.ask(1, "server/discover", {"_meta": ENVELOPE})["result"]
    assert discovered["supportedVersions"] == ["2026-07-28"]
    assert lines.ask(2, "initialize", HELLO)["error"]["code"] == -32022
    listed = lines.ask(3, "tools/list", {"_meta": ENVELOPE})["result"]
    assert listed["resultType"] == "complete"
    params = {"name": "cl_search", "arguments": {"query": "login"}, "_meta": ENVELOPE}
    assert "src/auth.py#login" in json.dumps(lines.ask(4, "tools/call", params))
    assert lines.end() == (0, b"")


@pytest.mark.parametrize(
    "opening",
    [
        request(1, "tools/list"),
        request(1, "initialize", {**HELLO, "clientInfo": {}}),
        request(1, "server/discover"),
        request(1, "initialize", {**HELLO, "capabilities": {"roots": {"listChanged": []}}}),
    ],
)
def test_an_odd_opening_gets_the_answer_of_the_sdk(
    env: dict[str, str], repo: GitRepo, opening: bytes
) -> None:
    lines = Lines(env, repo.root)
    lines.send(opening)
    assert lines.next()["error"]["code"] in {-32602, -32601}
    assert lines.end() == (0, b"")


def test_a_client_that_only_looks_ends_it_at_once(env: dict[str, str], repo: GitRepo) -> None:
    for sent in ([], [request(1, "initialize", HELLO)], [b"", b"nothing"]):
        lines = Lines(env, repo.root)
        lines.send(*sent)
        code, rest = lines.end()
        assert code == 0
        assert len(rest.splitlines()) == sum(b"initialize" in line for line in sent)


def test_a_whole_turn_in_one_write_with_an_end_is_answered(
    env: dict[str, str], repo: GitRepo
) -> None:
    turn = b"\n".join([request(1, "initialize", HELLO), INITIALIZED, request(2, "tools/list"), b""])
    done = subprocess.run(
        COMMAND, input=turn, capture_output=True, env={**os.environ, **env}, cwd=repo.root,
        timeout=60, check=True,
    )  # fmt: skip
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]


@pytest.mark.parametrize("heard", [True, False], ids=["closed", "full"])
@pytest.mark.parametrize("called", [False, True], ids=["first turn", "after a call"])
def test_a_client_that_does_not_read_ends_it_by_leaving(
    env: dict[str, str], repo: GitRepo, heard: bool, called: bool
) -> None:
    lines = Lines(env, repo.root)
    assert lines.process.stdin and lines.process.stdout
    lines.ask(1, "initialize", HELLO)
    lines.send(INITIALIZED)
    if called:
        lines.call(2, "cl_search", query="login")
    if heard:
        lines.process.stdout.close()
    # More than fits into a pipe.
    lines.send(*(request(number, "tools/list") for number in range(3, 63)))
    lines.process.stdin.close()
    assert lines.process.wait(timeout=PATIENCE_S) == 0
    lines.process.stdout.close()


def gone(pid: int, seconds: float) -> bool:
    for _ in range(int(seconds * 50)):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("working", [False, True], ids=["idle", "at work"])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(
    env: dict[str, str], repo: GitRepo, working: bool, sent: signal.Signals
) -> None:
    lines = Lines(env, repo.root)
    lines.ask(1, "initialize", HELLO)
    if working:
        lines.send(INITIALIZED, call(2, "cl_search", query="login"))
    lines.process.send_signal(sent)
    assert lines.process.wait(timeout=PATIENCE_S) == -sent
    for pipe in (lines.process.stdin, lines.process.stdout):
        assert pipe is not None
        pipe.close()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes")
@pytest.mark.parametrize("called", [False, True], ids=["first turn", "after a call"])
def test_it_does_not_outlive_a_killed_parent(
    env: dict[str, str], repo: GitRepo, tmp_path: Path, called: bool
) -> None:
    # A fifo that the test holds open prevents stdin from closing when the parent dies.
    fifo, pid_file = tmp_path / "fifo", tmp_path / "pid"
    os.mkfifo(fifo)
    script = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen({COMMAND!r}, stdin=open({str(fifo)!r}, 'rb'),"
        f" stdout=open({str(tmp_path / 'out')!r}, 'wb'))\n"
        f"open({str(pid_file)!r}, 'w').write(str(p.pid) + '.')\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, **env}, cwd=repo.root
    )
    held = os.open(fifo, os.O_WRONLY)
    try:
        wait_for(lambda: pid_file.exists() and pid_file.read_text().endswith("."))
        server = int(pid_file.read_text()[:-1])
        sent = [request(1, "initialize", HELLO), INITIALIZED]
        sent += [call(2, "cl_search", query="login")] if called else []
        os.write(held, b"".join(line + b"\n" for line in sent))
        answers = 2 if called else 1
        wait_for(lambda: (tmp_path / "out").read_bytes().count(b"\n") == answers)
        parent.kill()
        parent.wait()
        assert gone(server, PATIENCE_S)
    finally:
        os.close(held)
        parent.kill()


def wait_for(condition) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain")
