"""A session of real clients: explore, edit, explore again, a compaction, and explore again.

The model is the script of `fake_model`: it makes each call when the client offers tools, edits a
file between two of them, and triggers the hook that hosts call after a compaction. The tests check
what the client sent back to the model. `CODELENS_RECORD=FOLDER` records it, and plays the session
a second time with `sent = false`, to compare the sizes.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_clients import CLIENTS, Home
from fake_model import SAID, Call, Model, serving
from gitrepo import GitRepo

RECORD = os.environ.get("CODELENS_RECORD")
TASK = "explain how a lamp is lit and dimmed"
REPEAT = "sent earlier, unchanged"


def body(name: str, lines: int) -> str:
    steps = "".join(f"    lamp.{name}_{at} = lamp.{name}_{at} + {at}\n" for at in range(lines))
    return f'def {name}(lamp):\n    """How a lamp is {name}."""\n{steps}    return lamp\n'


FILES = {
    "src/lit.py": body("lit", 40),
    "src/dimmed.py": body("dimmed", 40),
    "src/door.py": "def open_door(door):\n    return door\n",
}
EDITED = FILES["src/lit.py"].replace("return lamp\n", "return lamp.on\n")


def compacted(home: Home, repo: GitRepo) -> str:
    """The hook's text for a model after a compaction."""
    event = {
        "session_id": "of-the-hook", "cwd": str(repo.root), "hook_event_name": "SessionStart",
        "source": "compact",
    }  # fmt: skip
    command = [str(Path(sys.executable).with_name("codelens")), "hook", "session-start"]
    done = subprocess.run(
        command, cwd=repo.root, env=home.env, input=json.dumps(event).encode(),
        capture_output=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def played(client, home: Home, repo: GitRepo, reported: list[str]) -> tuple[Model, str]:
    """Plays the session; appends the hook's text to `reported`."""
    explore = Call("cl_explore", {"task": TASK})
    steps: list[Call | Callable[[], None]] = [
        explore,
        lambda: repo.write("src/lit.py", EDITED) and None,
        explore,
        lambda: reported.append(compacted(home, repo)),
        explore,
    ]
    with serving(Call("none", {}), steps) as model:
        client.prepare(home, model, [repo.root])
        home.codelens("install", "--host", client.name, "--yes", "--approve")
        said = client.ask(home, model, repo.root)
    return model, said


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: one.name)
def test_a_session_gets_changes_and_everything_after_a_compaction(client, tmp_path: Path) -> None:
    sizes: dict[str, int] = {}
    for switch in ("on", "off") if RECORD else ("on",):
        home = Home(tmp_path / switch / "home")
        # Clients pass on few environment variables.
        home.write("index/config.toml", f"sent = {'true' if switch == 'on' else 'false'}\n")
        repo = GitRepo.init(tmp_path / switch / "work" / "shop")
        repo.commit("first", FILES)
        reported: list[str] = []
        model, said = played(client, home, repo, reported)
        assert SAID in said, (said[-2000:], model.asked[-1:])
        first, second, third = model.results
        assert "how a lamp" in first.lower() and REPEAT not in first
        assert "return lamp.on" in second
        if switch == "on":
            assert second.count(REPEAT) == 1, second
            assert "changed since it was sent" in second
            assert REPEAT not in third and "lamp.dimmed_7" in third
            assert "lamp.dimmed_7" not in second
            assert "this session so far:\n  explored 2x" in reported[0]
            assert "saved" not in reported[0]
        sizes[switch] = sum(len(result.encode()) for result in model.results)
        if RECORD:
            texts = "\n\n".join([*model.results, *reported])
            Path(RECORD, f"{client.name}-{switch}.txt").write_text(texts, "utf-8")
            Path(RECORD, f"{client.name}-{switch}.size").write_text(str(sizes[switch]), "utf-8")
    assert sizes["on"] < sizes.get("off", math.inf)
