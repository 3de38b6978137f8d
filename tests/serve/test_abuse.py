"""A server whose client asks for too much and gives up: abandoned work stops."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo
from mcp_lines import HELLO, INITIALIZED, Lines, call

from codelens.serve.call_answers import MOST_CALLS

SLOW = "(a+)+$"
"""Each search for it runs into its limit of two seconds."""
HANGS_S = 120.0
"""A hundred slow searches take 200 s; a server still busy by then is killed, and the test fails."""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    files = {"src/auth.py": "def login(name):\n    return name\n"}
    files |= {f"src/part{at}.txt": f"part {at}\n{'a' * 40}!\n" for at in range(8)}
    made.commit("first", files)
    return made


@pytest.fixture
def lines(env: dict[str, str], repo: GitRepo) -> Iterator[Lines]:
    server = Lines(env, repo.root)
    alarm = threading.Timer(HANGS_S, server.process.kill)
    alarm.daemon = True
    alarm.start()
    server.ask(1, "initialize", HELLO)
    server.send(INITIALIZED)
    assert "src/auth.py#login" in str(server.call(2, "cl_search", query="login"))
    try:
        yield server
    finally:
        alarm.cancel()
        server.process.kill()
        server.process.communicate()


def cancelled(number: int) -> bytes:
    said = {"method": "notifications/cancelled", "params": {"requestId": number}}
    return json.dumps({"jsonrpc": "2.0", **said}).encode()


def slow(number: int) -> bytes:
    return call(number, "cl_search", query=SLOW, mode="regex")


def text_of(reply: dict) -> str:
    return reply["result"]["content"][0]["text"]


def test_a_question_after_a_hundred_cancelled_searches_is_answered(lines: Lines) -> None:
    numbers = range(1000, 1100)
    lines.send(*map(slow, numbers))
    lines.send(*map(cancelled, numbers))
    lines.send(call(3, "cl_search", query="login"))
    found, before = lines.next(), 0
    # On a busy machine one may end before its cancellation is read.
    while found["id"] in numbers:
        found, before = lines.next(), before + 1
    assert found["id"] == 3 and "src/auth.py#login" in text_of(found)
    assert before < 10


def test_searches_cancelled_one_by_one_leave_nothing_at_work(lines: Lines) -> None:
    for number in range(1000, 1100):
        lines.send(slow(number), cancelled(number))
        if not number % 10:
            found = lines.call(number + 1000, "cl_outline", target="src/auth.py")
            assert found["id"] == number + 1000 and "login" in text_of(found)


def test_slow_searches_hold_up_a_quick_question_for_a_turn_or_two(lines: Lines) -> None:
    numbers = range(1000, 1040)
    lines.send(*map(slow, numbers))
    lines.send(call(3, "cl_outline", target="src/auth.py"))
    before = 0
    while (found := lines.next())["id"] != 3:
        assert found["id"] in numbers
        before += 1
    assert "login" in text_of(found)
    assert before < len(numbers) / 4


def test_more_calls_than_a_server_takes_are_refused_in_a_sentence(lines: Lines) -> None:
    too_many = 20
    numbers = range(1000, 1000 + MOST_CALLS + too_many)
    lines.send(*map(slow, numbers))
    refused = [lines.next() for _ in range(too_many)]
    for reply in refused:
        assert reply["result"]["isError"]
        assert f"{MOST_CALLS} calls, its maximum" in text_of(reply)
    lines.send(*map(cancelled, numbers))
    for number in range(2000, 2100):
        found = lines.call(number, "cl_search", query="login")
        if not found["result"].get("isError"):
            break
    assert "src/auth.py#login" in text_of(found)
