"""Logs contain no code and no part of queries, for any failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo
from mcp_lines import HELLO, INITIALIZED, Lines

from codelens.serve.first_turn import ALL

MARK = "quagga"
# Every message of codelens' own modules. `fault` simulates a bug: its message quotes both.
SERVE = """
import logging, sys
logging.getLogger("codelens").setLevel(logging.DEBUG)
from codelens.cli.main import main
from codelens.engine.engine import Engine
sound = Engine.outline
def outline(self, target, *rest, **named):
    if "fault" in target:
        try:
            open("src/lamp.py").read().index("zebra")
        except ValueError as error:
            raise KeyError(target, open("src/lamp.py").read()) from error
    return sound(self, target, *rest, **named)
Engine.outline = outline
sys.exit(main(["serve"]))
"""
LAMP = f'''"""A {MARK} note."""


class {MARK.title()}Lamp:
    def kindle_{MARK}(self, {MARK}_wick):
        return "{MARK} text"


def test_{MARK}():
    {MARK.title()}Lamp().kindle_{MARK}(1)
'''
HANDLE = f"src/lamp.py#{MARK.title()}Lamp.kindle_{MARK}"
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("cl_search", {"query": f"{MARK} kindle"}),
    ("cl_search", {"query": f"/{MARK}(/"}),
    ("cl_search", {"query": f"lang:{MARK} wick"}),
    ("cl_search", {"query": MARK, "ref": f"{MARK}-branch"}),
    ("cl_search", {"query": MARK, "limit": f"many {MARK}"}),
    ("cl_search", {"query": MARK, MARK: 1}),
    ("cl_search", {}),
    ("cl_expand", {"handles": [HANDLE, f"src/lamp.py#no_{MARK}", "src/lamp.py:1-99"]}),
    ("cl_outline", {"target": "src/lamp.py"}),
    ("cl_outline", {"target": f"fault {MARK}"}),
    ("cl_map", {"focus": HANDLE}),
    ("cl_related", {"target": HANDLE}),
    ("cl_related", {"target": f"no_{MARK}"}),
    ("cl_references", {"target": HANDLE}),
    ("cl_impact", {"targets": [HANDLE]}),
    ("cl_impact", {"diff": True}),
    ("cl_current", {}),
    ("cl_save", {"name": f"{MARK} name", "note": f"{MARK} words", "handles": [HANDLE]}),
    ("cl_save", {"name": f"{MARK} name", "note": f"{MARK} words", "handles": [f"no_{MARK}"]}),
    ("cl_load", {"query": MARK}),
    ("cl_forget", {"names": [f"{MARK} name", f"no {MARK}"]}),
    ("cl_index", {"action": "sync"}),
    ("cl_index", {"action": MARK}),
    ("cl_prune", {"dry_run": False}),
    ("cl_drop", {"view": f"{MARK}-branch"}),
    ("cl_explore", {"task": f"fix how the {MARK} lamp kindles"}),
    ("cl_branches", {"question": "diff", "spec": f"{MARK}..HEAD"}),
    ("cl_diff", {}),
    ("cl_diff", {"spec": f"{MARK}..HEAD"}),
    ("cl_history", {"target": HANDLE}),
    ("cl_conflicts", {}),
    ("cl_recover", {"session": f"{MARK}-session"}),
)  # fmt: skip


class _Logged(Lines):
    """A server that logs everything into a file."""

    def __init__(self, env: dict[str, str], cwd: Path, log: Path) -> None:
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", SERVE], env={**os.environ, **env}, cwd=cwd,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            )  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "place")
    repo.commit("one", {"src/lamp.py": LAMP})
    repo.write("src/lamp.py", LAMP.replace("return", "yield"))
    return repo


@pytest.mark.slow
def test_logs_hold_no_code_and_no_question(place: GitRepo, tmp_path: Path) -> None:
    home, log = tmp_path / "home", tmp_path / "log"
    env = {
        "CODELENS_HOME": str(home), "CODELENS_TOOLS": "all", "HOME": str(tmp_path),
        "CODELENS_TELEMETRY": "on",
    }  # fmt: skip
    server = _Logged(env, place.root, log)
    server.ask(1, "initialize", HELLO)
    server.send(INITIALIZED)
    answers = [server.call(at, tool, **given) for at, (tool, given) in enumerate(CALLS, 2)]
    server.send(b'{"jsonrpc": "2.0", "method": "' + MARK.encode() + b'"}', MARK.encode())
    assert server.end()[0] == 0
    # The session was about the mark, every tool was called, and the fault did occur.
    assert {tool for tool, _ in CALLS} == set(ALL)
    texts = [one["result"]["content"][0]["text"] for one in answers]
    assert sum(MARK in text for text in texts) > 10
    assert any("this is a bug in codelens" in text for text in texts)
    said = log.read_text()
    assert "a tool failed" in said and "KeyError\n" in said and "ValueError\n" in said
    assert MARK not in said.lower()
    figures = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert {line["tool"] for line in figures} == {"search"}
    assert any(line["results"] for line in figures) and any(line["error"] for line in figures)
    counted = (home / "usage.log").read_text()
    assert len(counted.splitlines()) > 10
    assert MARK not in counted.lower()
