"""`diff` and `history` of a repository of which many files are not indexed yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine import current_view
from codelens.engine.engine import Engine
from codelens.engine.versions import history_query, version_queries
from codelens.index import view_update

OTHERS = 6
USE = "from lamp import shine\n\n\ndef run():\n    return shine(1)\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "repo")
    files = {f"others/other{number}.py": f"OTHER = {number}\n" for number in range(OTHERS)}
    repo.commit("one", files | {"lamp.py": "def shine(watt):\n    return watt\n", "use.py": USE})
    repo.commit("two", {"lamp.py": "def shine(watt, hue):\n    return watt\n"})
    return repo


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any repository has many files, and there is no time for them."""
    monkeypatch.setattr(view_update, "FEW_FILES", 1)
    monkeypatch.setattr(version_queries, "_VIEW_MS", 1e6)
    for module in (current_view, history_query, version_queries):
        monkeypatch.setattr(module, "MANY_MS", 0.0)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("spec", ["HEAD~1", "HEAD~1.."])
def test_definitions_are_compared_before_the_files_are_indexed(
    engine: Engine, repo: GitRepo, tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = engine.diff(spec, path=repo.root)
    monkeypatch.undo()
    with Engine(Settings(home=tmp_path / "other home")) as other:
        other.status(path=repo.root)
        whole = other.diff(spec, path=repo.root)
    assert whole.receipt.status == "fresh"
    assert not whole.notes
    assert answer.files == whole.files
    assert answer.totals == whole.totals
    # The file with the name is read, and the others are counted.
    assert answer.broken == whole.broken != ()
    assert answer.receipt.status == "partial"
    assert answer.receipt.pending == OTHERS
    assert answer.at_least


@pytest.mark.usefixtures("hurried")
def test_the_history_of_a_file_needs_no_other_file(engine: Engine, repo: GitRepo) -> None:
    answer = engine.history("lamp.py", path=repo.root)
    assert [row.handle for row in answer.definitions] == ["lamp.py#shine"]
    assert answer.receipt.pending
    one = engine.history("lamp.py#shine", path=repo.root)
    assert [event.how for event in one.results] == [("signature",), ("added",)]


@pytest.mark.usefixtures("hurried")
def test_the_history_of_a_name_waits_for_all_files(engine: Engine, repo: GitRepo) -> None:
    answer = engine.history("run", path=repo.root)
    assert [event.how for event in answer.results] == [("added",)]
    assert answer.receipt.status == "fresh"


def test_few_new_files_are_all_read(engine: Engine, repo: GitRepo) -> None:
    answer = engine.diff("HEAD~1", path=repo.root)
    assert answer.receipt.status == "fresh"
    assert not answer.at_least


def test_what_is_gone_since_the_merge_base_can_be_read(engine: Engine, repo: GitRepo) -> None:
    repo.commit("three", {"lamp.py": "def glow(oil):\n    print(oil)\n"})
    answer = engine.diff("HEAD~1...", path=repo.root)
    gone = next(iter(answer.removed_public))
    assert gone.endswith(":lamp.py#shine")
    read = engine.expand([gone], path=repo.root)
    assert "def shine(watt, hue):" in read.items[0].text
