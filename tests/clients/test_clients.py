"""Real clients: answered in a whole turn after `install`, without codelens after `uninstall`.

They are installed from npm into `.clients`, at pinned versions, and run offline; three more with
`CODELENS_CLIENTS=all`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_clients import ALL, CLIENTS, MORE_CLIENTS, Home
from fake_model import SAID, Call, serving
from gitrepo import GitRepo

ADVICE = "before grep"
TRIED = [*CLIENTS, *(MORE_CLIENTS if ALL else [])]


@pytest.mark.parametrize("client", TRIED, ids=lambda one: one.name)
def test_a_whole_turn_gets_the_code_of_the_worktree_it_stands_in(
    client, home: Home, repo: GitRepo, tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "work" / "shop-second", branch="second")
    second.write("src/till.py", "def charge_card_twice(amount):\n    return 2 * amount\n")
    with serving(Call("cl_search", {"query": "charge card"})) as model:
        client.prepare(home, model, [repo.root, second.root])
        before = home.files()
        home.codelens("install", "--host", client.name, "--yes", "--approve")
        first_said = client.ask(home, model, repo.root)
        second_said = client.ask(home, model, second.root)
    assert SAID in first_said and SAID in second_said, model.asked
    assert "src/till.py#charge_card" in first_said and "charge_card_twice" not in first_said
    assert "src/till.py#charge_card_twice" in second_said
    assert "main@" in first_said and "second@" in second_said
    requests = [json.dumps(one, ensure_ascii=False) for one in model.bodies]
    assert max(one.count(ADVICE) for one in requests) == 1, "the advice is not there once"
    home.codelens("uninstall", "--host", client.name, "--yes")
    assert "codelens" not in client.listed(home, repo.root)
    home.assert_settings_lack_codelens(before)
