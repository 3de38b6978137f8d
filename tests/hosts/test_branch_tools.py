"""The branch tools in the hosts' entries: added on request, preserved, and removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts.hosting import Scratch, problems

from codelens.hosts.host_descriptor import hosts
from codelens.serve.first_turn import CORE, chosen

TOOLS = "core,branches"


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def test_install_lists_tools_of_the_server() -> None:
    assert set(chosen(TOOLS)) - set(CORE) == {"cl_diff", "cl_history", "cl_conflicts"}


@pytest.mark.parametrize("name", hosts())
def test_the_entry_names_them_and_uninstall_restores_the_bytes(scratch: Scratch, name: str) -> None:
    if hosts()[name].server.where.pick(scratch.machine, "user", None) is None:
        pytest.skip("no entry in the user scope")
    before = scratch.everything()
    assert not problems(scratch.install(name, branches=True, approve=True))
    assert TOOLS in scratch.config(name).read_text("utf-8")
    assert not problems(scratch.uninstall(name))
    after = {path: data for path, data in scratch.everything().items() if data is not None}
    assert after == {path: data for path, data in before.items() if data is not None}


def test_an_entry_that_is_there_gets_them_and_keeps_them(scratch: Scratch) -> None:
    scratch.install("cursor")
    assert TOOLS not in scratch.config("cursor").read_text("utf-8")
    scratch.install("cursor", branches=True)
    assert TOOLS in scratch.config("cursor").read_text("utf-8")
    scratch.install("cursor")
    assert TOOLS in scratch.config("cursor").read_text("utf-8")


def test_tools_chosen_by_the_user_stay(scratch: Scratch) -> None:
    scratch.install("cursor", branches=True)
    file = scratch.config("cursor")
    file.write_text(file.read_text("utf-8").replace(TOOLS, "all"), "utf-8")
    scratch.install("cursor", branches=True)
    assert TOOLS not in file.read_text("utf-8")
