"""A clock that is years ahead for a while: nothing is lost, and nothing of then counts as new."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

from forked_commands import codelens_text
from gitrepo import GitRepo

from codelens.trail.sent_log import SentBody, SentLog
from codelens.trail.trail_log import TrailEntry, append, latest, moment

YEARS_S = 4 * 365 * 86_400
AHEAD = f"""
import time
now, now_ns, written = time.time, time.time_ns, time.strftime
time.time = lambda: now() + {YEARS_S}
time.time_ns = lambda: now_ns() + {YEARS_S} * 10**9
time.strftime = lambda form, at=None: written(form, at or time.localtime(time.time()))
"""


def test_a_clock_ahead_for_a_while_loses_nothing(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.write("lamp.py", "def kindle(): pass\n")
    repo.commit("first")
    home = tmp_path / "home"

    def run(*args: str, first: str = "", **event: str) -> CompletedProcess[str]:
        given = json.dumps({"session_id": "a-session", "cwd": str(repo.root), **event})
        env = {"CLAUDE_CODE_SESSION_ID": "a-session"}
        done = codelens_text(
            *args, cwd=repo.root, home=home, given=given if event else "", first=first, env=env
        )
        assert done.returncode == 0, done.stderr
        return done

    run("search", "kindle")
    run("save", "oil", "--note", "the lamp burns oil", "--ttl", "30d")
    run("hook", "prompt", prompt="paint the harbour")
    calls = json.loads(run("usage", "--json").stdout)["total"]["calls"]
    for args in (("search", "kindle"), ("usage",), ("prune", "--yes"), ("hook", "session-start")):
        event = {"source": "startup"} if "hook" in args else {}
        run(*args, first=AHEAD, **event)
    assert "oil" in run("load").stdout
    assert "paint the harbour" in run("focus", "--inspect").stdout
    assert json.loads(run("usage", "--json").stdout)["total"]["calls"] >= calls
    trail = run("session", "a-session", "--json").stdout
    assert [call["tool"] for call in json.loads(trail)["results"]].count("searched") == 2
    assert json.loads(trail)["results"][0]["at"][:4] < json.loads(trail)["results"][-1]["at"][:4]


def test_what_a_clock_ahead_left_does_not_count_as_recent(tmp_path: Path) -> None:
    now, _ = moment()
    entry = TrailEntry(now, "s", "w", "main", "edited", "lamp.py")
    append(tmp_path, "repo", entry)
    append(tmp_path, "repo", entry._replace(at=now + YEARS_S))
    assert latest(tmp_path, "repo", since=now - 60) == [entry]
    log = SentLog(tmp_path, "repo", "w", "session")
    lines = ((1, "def kindle(): pass"),)
    log.add([SentBody("lamp.py", "kindle", lines)], now=now + YEARS_S)
    assert log.read(now=now).start_of("lamp.py", lines) is None
    log.add([SentBody("lamp.py", "kindle", lines)], now=now)
    assert log.read(now=now).start_of("lamp.py", lines) == 1
