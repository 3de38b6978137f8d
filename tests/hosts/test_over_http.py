"""Entries that connect to a running server instead of starting one."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hosts.hosting import Scratch, problems
from http_server import http_server

from codelens.hosts.desired_edits import HttpAccess
from codelens.hosts.host_checks import check_hosts
from codelens.hosts.host_descriptor import hosts

ACCESS = HttpAccess("http://127.0.0.1:3100/mcp", "t" * 43)
ABLE = sorted(name for name, host in hosts().items() if host.server.http)


@pytest.mark.parametrize("name", ABLE)
def test_an_entry_over_http_comes_and_goes(tmp_path: Path, name: str) -> None:
    scratch = Scratch(tmp_path)
    before = scratch.everything()
    assert not problems(scratch.install(name, http=ACCESS, approve=True))
    file = scratch.config(name)
    assert ACCESS.url in file.read_text() and f"Bearer {ACCESS.token}" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not any(change.is_change for change in scratch.install(name, http=ACCESS, approve=True))
    assert not problems(scratch.uninstall(name))
    assert scratch.everything() == before


@pytest.mark.parametrize("name", ABLE)
def test_an_entry_that_started_a_server_asks_one_now(tmp_path: Path, name: str) -> None:
    scratch = Scratch(tmp_path)
    scratch.install(name)
    assert not problems(scratch.install(name, http=ACCESS))
    text = scratch.config(name).read_text()
    assert ACCESS.url in text and '"serve"' not in text
    # A plain install later does not undo it, and says so.
    later = scratch.install(name)
    assert scratch.config(name).read_text() == text
    assert any(
        "connects to a server over HTTP" in remark for one in later for remark in one.remarks
    )
    other = ACCESS._replace(token="u" * 43)
    scratch.install(name, http=other)
    assert other.token in scratch.config(name).read_text()
    assert ACCESS.token not in scratch.config(name).read_text()


def test_a_users_own_server_is_left_alone(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    file = scratch.config("cursor")
    file.parent.mkdir(parents=True)
    text = json.dumps({"mcpServers": {"codelens": {"url": "https://example.org/mcp"}}})
    file.write_text(text)
    assert "does not start codelens" in "".join(problems(scratch.install("cursor", http=ACCESS)))
    assert file.read_text() == text


def test_a_file_that_others_can_read_is_named(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    file = scratch.config("cursor")
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    file.chmod(0o644)
    changes = scratch.install("cursor", http=ACCESS)
    assert any(
        "other users can read this file" in remark for one in changes for remark in one.remarks
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_a_check_asks_the_server_that_runs(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("first", {"a.py": "def lamp():\n    pass\n"})
    env = {"CODELENS_HOME": str(tmp_path / "kept"), "GIT_CONFIG_GLOBAL": os.devnull}
    scratch = Scratch(tmp_path)

    def state(token: str) -> tuple[str, str]:
        scratch.install("cursor", http=HttpAccess(server.url, token))
        (found,) = check_hosts([hosts()["cursor"]], scratch.request())
        return found.state, found.message

    with http_server(env, "--root", str(repo.root)) as server:
        fine, reason = state(server.token)
        assert fine == "fine" and "lists 10 tools" in reason
        broken, reason = state("x" * 43)
        assert broken == "broken" and "the entry has another token" in reason
    broken, reason = state(server.token)
    assert broken == "broken"
    assert f"start it with `codelens serve --http --port {server.port}`" in reason
    assert f"`codelens install --http --port {server.port} --host cursor`" in reason
