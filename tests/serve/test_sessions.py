"""The session of a call: text sent to a client is not sent to it again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitrepo import GitRepo
from sdk_client import Asker, client

from codelens.engine.contexts.asking_session import of_host

STEPS = "".join(f"    lamp.step_{at} = lamp.step_{at} + {at}\n" for at in range(12))
LAMPS = f'def light(lamp):\n    """Light a lamp."""\n{STEPS}    return lamp\n'
HANDLE = "lamps.py#light"
REPEAT = "sent earlier, unchanged"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("lamps", {"lamps.py": LAMPS})
    return made


@pytest.mark.slow
def test_a_connection_is_a_session(asker: Asker, repo: GitRepo, env: dict[str, str]) -> None:
    assert REPEAT not in asker.text("cl_explore", task="light a lamp")
    assert REPEAT in asker.text("cl_explore", task="light a lamp")
    assert REPEAT in asker.text("cl_expand", handles=[HANDLE])
    with client(env, "--budget", "60000") as another:
        assert REPEAT not in another.at(repo.root).text("cl_expand", handles=[HANDLE])


def test_the_session_of_the_call_comes_first(asker: Asker, repo: GitRepo) -> None:
    asker.text("cl_expand", handles=[HANDLE], session="one")
    assert REPEAT in asker.text("cl_expand", handles=[HANDLE], session="one")
    assert REPEAT not in asker.text("cl_expand", handles=[HANDLE], session="two")
    assert REPEAT not in asker.text("cl_expand", handles=[HANDLE], session="one", again=True)


def test_text_cut_by_max_tokens_was_not_sent(asker: Asker, repo: GitRepo) -> None:
    first = asker.text("cl_expand", handles=[HANDLE], max_tokens=200)
    assert "truncated after line" in first
    shown = first.split("\n")[2:-1]
    whole = asker.text("cl_expand", handles=[HANDLE])
    assert REPEAT not in whole and "return lamp" in whole
    part = asker.text("cl_expand", handles=[f"lamps.py:2-{len(shown)}"])
    assert REPEAT in part


@pytest.mark.slow
def test_a_server_keeps_the_session_of_its_host(repo: GitRepo, tmp_path: Path) -> None:
    env = {
        "CODELENS_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": os.devnull,
        "CLAUDE_CODE_SESSION_ID": "0b7e1f1e-aaaa",
    }  # fmt: skip
    with client(env, "--budget", "60000") as first:
        assert REPEAT not in first.at(repo.root).text("cl_expand", handles=[HANDLE])
    with client(env, "--budget", "60000") as resumed:
        assert REPEAT in resumed.at(repo.root).text("cl_expand", handles=[HANDLE])
    with client({**env, "CODELENS_SENT": "off"}, "--budget", "60000") as off:
        assert REPEAT not in off.at(repo.root).text("cl_expand", handles=[HANDLE])


@pytest.mark.parametrize(
    ("environ", "meta", "expected"),
    [
        ({}, {}, ""),
        ({"CLAUDE_CODE_SESSION_ID": "c"}, {}, "c"),
        ({"COPILOT_AGENT_SESSION_ID": "p"}, {}, "p"),
        ({"CLAUDE_CODE_SESSION_ID": "c"}, {"sessionId": "codex"}, "codex"),
        ({}, {"x-codex-turn-metadata": {"session_id": "inner"}}, "inner"),
        ({}, {"x-codex-turn-metadata": "text", "sessionId": 7}, ""),
    ],
)
def test_hosts_name_their_session(environ: dict, meta: dict, expected: str) -> None:
    assert of_host(environ, meta) == expected


@pytest.mark.parametrize("form", ["concise", "detailed", "json"])
def test_answers_keep_to_their_tokens_in_a_session(asker: Asker, repo: GitRepo, form: str) -> None:
    many = {f"lamp_{at}.py": LAMPS.replace("light", f"light_{at}") for at in range(30)}
    repo.commit("many", many)
    for _ in range(3):
        text = asker.text("cl_explore", task="light a lamp", max_tokens=900, format=form)
        assert len(text.encode()) <= 900 * 3


def test_recovering_gives_the_thread_and_sends_the_code_again(
    repo: GitRepo, env: dict[str, str]
) -> None:
    with client({**env, "CODELENS_TOOLS": "all"}, "--budget", "60000") as server:
        asker = server.at(repo.root)
        assert REPEAT not in asker.text("cl_expand", handles=[HANDLE])
        assert REPEAT in asker.text("cl_expand", handles=[HANDLE])
        expected = asker.text("cl_recover")
        assert (
            "this session so far:\n  expanded 2x" in expected
            and f"definitions: {HANDLE}" in expected
        )
        assert REPEAT not in asker.text("cl_expand", handles=[HANDLE])
