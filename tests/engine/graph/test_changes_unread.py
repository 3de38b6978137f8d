"""What changes mean where there was no time to read either side: an answer that says `partial`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine

NOW = "def fold(sheet, times):\n    return sheet * times\n"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path / "home")) as made:
        yield made


@pytest.fixture
def folded(tmp_path: Path) -> GitRepo:
    """A signature that changes: once in a commit, once in the files."""
    repo = GitRepo.init(tmp_path / "repo")
    uses = "from paper import fold\n\n\ndef crane():\n    return fold(1)\n"
    repo.commit("one", {"paper.py": "def fold(sheet):\n    return sheet\n", "crane.py": uses})
    repo.commit("two", {"paper.py": NOW})
    repo.write("paper.py", NOW.replace("times):", "times, mirrored):"))
    return repo


def test_a_diff_of_commits_that_were_not_read(engine: Engine, folded: GitRepo) -> None:
    answer = engine.diff("HEAD~1..HEAD", path=folded.root, budget_ms=0)
    assert answer.receipt.status == "partial" and answer.at_least
    assert [file.path for file in answer.files] == ["paper.py"]


def test_the_impact_of_changes_against_a_commit_that_was_not_read(
    engine: Engine, folded: GitRepo
) -> None:
    engine.look(path=folded.root)
    answer = engine.impact(diff="HEAD", path=folded.root, budget_ms=0)
    assert answer.receipt.status == "partial" and answer.at_least
    assert [change.node.handle for change in answer.changed] == ["paper.py#fold"]
