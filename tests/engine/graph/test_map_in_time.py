"""A map that runs out of time says so, continues the next time, and ends as the whole one."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.answers.graph_answers import MapAnswer
from codelens.config import Settings
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.engine.map.map_query import map_

FILES = 1_200
"""More than are read between two checks of the clock."""


def _made(root: Path) -> GitRepo:
    repo, files = GitRepo.init(root), dict[str, str]()
    chance = random.Random(6)
    for at in range(FILES):
        used = [chance.randrange(FILES) for _ in range(3)]
        imports = "".join(f"from pkg.m{one} import thing_{one}\n" for one in used)
        calls = "".join(f"    thing_{one}()\n" for one in used)
        files[f"pkg/m{at}.py"] = f"{imports}\n\ndef thing_{at}():\n{calls}"
    repo.commit("many", files)
    return repo


def _mapped(engine: Engine, tree: Path, seconds: float) -> MapAnswer:
    with engine.pool.view(ViewRequest(tree)) as view, view.reading():
        return map_(view, (), "", 2000, seconds)


@pytest.mark.slow
def test_a_map_without_time_is_partial_and_goes_on_to_the_whole(tmp_path: Path) -> None:
    repo, settings = _made(tmp_path / "many"), Settings(home=tmp_path / "home")
    answers = list[MapAnswer]()
    with Engine(settings) as engine:
        while not answers or " files " in answers[-1].receipt.note:
            answers.append(_mapped(engine, repo.root, 0.0))
        ended = _mapped(engine, repo.root, 600.0)
    first, last = answers[0], answers[-1]
    assert "200 files are not read, 800 files are ranked without" in first.receipt.note
    assert first.ranked == 1_000
    assert first.files
    # The remaining files are read at once; then 200 are linked at a time.
    assert len(answers) == 1 + FILES // 200
    assert last.receipt.note.startswith("time ran out: the order is not final")
    assert {one.receipt.status for one in answers} == {"partial"}
    with Engine(settings) as engine:
        whole = _mapped(engine, repo.root, 600.0)
    assert ended.receipt.status == whole.receipt.status == "fresh"
    assert replace(ended, receipt=whole.receipt) == whole
