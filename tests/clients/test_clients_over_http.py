"""Whole turns of real clients that ask one server over HTTP, with a fake model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_clients import CLIENTS, Home
from fake_model import SAID, Call, serving
from gitrepo import GitRepo
from http_server import HttpServer, http_server


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> list[GitRepo]:
    """A repository and a second worktree, each with a unique definition."""
    folder = tmp_path_factory.mktemp("work")
    first = GitRepo.init(folder / "shop")
    first.commit("first", {"src/till.py": "def charge_card(amount):\n    return amount\n"})
    second = first.worktree(folder / "shop-second", branch="second")
    second.write("src/till.py", "def charge_card_twice(amount):\n    return 2 * amount\n")
    return [first, second]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("index") / "home"


@pytest.fixture(scope="module")
def server(index: Path, trees: list[GitRepo]) -> Iterator[HttpServer]:
    with http_server({"CODELENS_HOME": str(index)}, "--root", str(trees[0].root)) as running:
        yield running


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_a_turn_over_http_gets_the_code_of_the_worktree_it_stands_in(
    client, server: HttpServer, index: Path, trees: list[GitRepo], home: Home
) -> None:
    # The token is in the server's home.
    home.env["CODELENS_HOME"] = str(index)
    first, second = (tree.root for tree in trees)
    over_http = ("--http", "--port", str(server.port), "--host", client.name, "--yes")
    with serving(Call("cl_search", {"query": "charge card"})) as model:
        client.prepare(home, model, [first, second])
        before = home.files()
        home.codelens("install", *over_http, "--approve")
        first_said = client.ask(home, model, first)
        second_said = client.ask(home, model, second)
    assert SAID in first_said and SAID in second_said, model.asked
    assert "src/till.py#charge_card" in first_said and "charge_card_twice" not in first_said
    assert "src/till.py#charge_card_twice" in second_said
    home.codelens("uninstall", "--host", client.name, "--yes")
    home.assert_settings_lack_codelens(before)


def test_all_clients_left_and_the_server_ends_politely(server: HttpServer) -> None:
    code, said = server.stop()
    assert code == 0 and said.endswith("stopped\n") and "Traceback" not in said
