"""Measures what codelens adds to the first request of real clients: characters and tokens, by part.

    python benchmarks/firstrequest.py [claude-code codex gemini opencode]

Installs the clients of `tests/agent_clients.py` and runs them offline against a fake model,
before and after `codelens install`. A token is taken as four characters.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from agent_clients import CLIENTS, Home, install
from fake_model import Call, serving
from gitrepo import GitRepo

from codelens.hosts.desired_edits import instructions as file_lines
from codelens.serve.tool_table import instructions

A_TOKEN = 4
MARKS = {
    "tools": "Where is the code that does X?",
    "server instructions": instructions(()).partition("\n")[0][:60],
    "lines in the instructions file": file_lines().strip()[:60],
    "skill": "How to find and read code with codelens",
    "slash commands": "Find code by meaning or name with codelens",
}


def first_request(client, home: Home, repo: GitRepo, *, wired: bool) -> str:
    """The largest request of one turn: some clients ask for a title first."""
    with serving(Call("none", {})) as model:
        client.prepare(home, model, [repo.root])
        if wired:
            home.codelens("install", "--host", client.name, "--yes", "--approve")
            client.listed(home, repo.root)  # Start it once, so that the server is ready in time.
        client.ask(home, model, repo.root)
    return max((json.dumps(one, ensure_ascii=False) for one in model.bodies), key=len)


def main(names: list[str]) -> None:
    why = install()
    if why:
        sys.exit(why)
    for client in CLIENTS:
        if names and client.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            home = Home(Path(folder) / "home")
            repo = GitRepo.init(Path(folder) / "work" / "shop")
            repo.commit("first", {"till.py": "def charge_card(amount):\n    return amount\n"})
            without = first_request(client, home, repo, wired=False)
            with_it = first_request(client, home, repo, wired=True)
        added = len(with_it) - len(without)
        times = ", ".join(f"{part} {with_it.count(mark)}" for part, mark in MARKS.items())
        print(f"{client.name}: {len(without):,} characters without, {added:,} more with codelens,")
        print(f"  about {added / A_TOKEN:,.0f} tokens; how often each part is there: {times}")


if __name__ == "__main__":
    main(sys.argv[1:])
