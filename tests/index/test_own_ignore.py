"""Files left out by `.codelensignore`, the setting `ignore` and the file in the home folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.scope.ignore_rules import OwnRules, Source

FILES = {
    "src/lamp.py": "def lamp():\n    return 1\n",
    "src/lamp.min.py": "def lamp_min():\n    return 1\n",
    "vendor/lamp.py": "def lamp_vendor():\n    return 1\n",
    "vendor/kept/lamp.py": "def lamp_kept():\n    return 1\n",
    "notes/lamp.md": "# lamp notes\n",
    ".gitignore": "ignored/\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    repository = GitRepo.init(tmp_path / "repo")
    repository.commit("first", FILES)
    repository.write("ignored/lamp.py", "def lamp_ignored():\n    return 1\n")
    repository.write("untracked/lamp.py", "def lamp_untracked():\n    return 1\n")
    return repository


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", workers=1)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    with Engine(settings) as engine:
        yield engine


def files(engine: Engine, repository: GitRepo, ref: str | None = None) -> list[str]:
    answer = engine.search("lamp", path=repository.root, ref=ref, mode="path", limit=50)
    return sorted(hit.path for hit in answer.results if hit.path != ".codelensignore")


ALL = sorted([*(path for path in FILES if "lamp" in path), "untracked/lamp.py"])


def test_tracked_and_untracked_files_are_left_out_at_once_and_come_back(
    engine: Engine, repository: GitRepo
) -> None:
    assert files(engine, repository) == ALL
    repository.write(".codelensignore", "vendor/\n*.min.py\n/untracked\n")
    assert files(engine, repository) == ["notes/lamp.md", "src/lamp.py"]
    repository.write(".codelensignore", "vendor/*\n!vendor/kept\n")
    assert files(engine, repository) == [path for path in ALL if path != "vendor/lamp.py"]
    # A rule cannot re-include what git ignores.
    repository.write(".codelensignore", "!ignored/\n!ignored/lamp.py\n")
    assert files(engine, repository) == ALL
    (repository.root / ".codelensignore").unlink()
    assert files(engine, repository) == ALL


def test_files_that_come_later_are_left_out_as_well(engine: Engine, repository: GitRepo) -> None:
    repository.write(".codelensignore", "vendor/\n")
    before = files(engine, repository)
    repository.write("vendor/new/lamp.py", "def lamp_new():\n    return 1\n")
    repository.write("vendor/lamp2.py", "def lamp_2():\n    return 1\n")
    repository.write("src/lamp3.py", "def lamp_3():\n    return 1\n")
    assert files(engine, repository) == sorted([*before, "src/lamp3.py"])


def test_a_fresh_index_has_the_same_files(
    engine: Engine, repository: GitRepo, tmp_path: Path
) -> None:
    files(engine, repository)
    repository.write(".codelensignore", "src/*\n!*.min.py\n")
    with Engine(Settings(home=tmp_path / "other", workers=1)) as fresh:
        assert files(engine, repository) == files(fresh, repository)


def test_the_repository_goes_before_the_settings_and_these_before_the_home(
    repository: GitRepo, settings: Settings
) -> None:
    settings.home.mkdir()
    (settings.home / "ignore").write_text("*.md\n*.min.py\nvendor/\n")
    with Engine(settings) as engine:
        assert files(engine, repository) == ["src/lamp.py", "untracked/lamp.py"]
    with Engine(replace(settings, ignore=("!*.md", "untracked"))) as engine:
        assert files(engine, repository) == ["notes/lamp.md", "src/lamp.py"]
        repository.write(".codelensignore", "!untracked\n!*.min.py\n")
        assert files(engine, repository) == [
            "notes/lamp.md", "src/lamp.min.py", "src/lamp.py", "untracked/lamp.py"
        ]  # fmt: skip


def test_a_ref_goes_by_the_file_of_its_commit(
    engine: Engine, repository: GitRepo, settings: Settings
) -> None:
    repository.commit("second", {".codelensignore": "vendor/\nnotes/\nuntracked/\n"})
    assert "vendor/lamp.py" in files(engine, repository, ref="HEAD~1")
    assert files(engine, repository, ref="HEAD") == ["src/lamp.min.py", "src/lamp.py"]
    # The view follows the caller's settings.
    with Engine(replace(settings, ignore=("*.min.py",))) as other:
        assert files(other, repository, ref="HEAD") == ["src/lamp.py"]
        assert "src/lamp.min.py" not in files(other, repository, ref="HEAD~1")
    assert files(engine, repository, ref="HEAD") == ["src/lamp.min.py", "src/lamp.py"]


def test_ignored_files_are_not_reported_as_removed(engine: Engine, repository: GitRepo) -> None:
    repository.write(".codelensignore", "vendor/\n")
    repository.write("src/lamp.py", "def lamp(dim):\n    return dim\n")
    diff = engine.diff(path=repository.root)
    assert sorted(file.path for file in diff.files if file.how == "removed") == []
    impact = engine.impact(diff="HEAD", path=repository.root)
    assert "vendor" not in repr(impact)


def test_a_pattern_that_can_match_nothing_is_reported(engine: Engine, repository: GitRepo) -> None:
    assert engine.status(path=repository.root).invalid_patterns == ()
    repository.write(".codelensignore", "vendor/\nsrc/[a\n# a note\n\n")
    status = engine.status(path=repository.root)
    assert status.invalid_patterns == (".codelensignore: 'src/[a'",)
    assert "vendor/lamp.py" not in files(engine, repository)
    repository.write("src/again.py", "again = 1\n")
    assert engine.status(path=repository.root).invalid_patterns == status.invalid_patterns


def test_a_plain_folder_has_rules_too(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    for path in ("lamp.py", "out/lamp.py"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("def lamp():\n    pass\n")
    (folder / ".codelensignore").write_text("out\n")
    answer = engine.search("lamp", path=folder, mode="path")
    assert [hit.path for hit in answer.results] == ["lamp.py"]


def test_rules_without_a_pattern_cost_and_change_nothing() -> None:
    rules = OwnRules([Source("a", b""), Source("b", b"# a note\n\n")])
    assert (rules.digest, rules.invalid) == ("", ())
    assert not rules.leaves_out(b"any/file.py")
