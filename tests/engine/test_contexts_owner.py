"""Saved contexts and indexes that belong to another repository are set aside and reported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.engine.upkeep.diagnosis import examine
from codelens.paths import contexts_file, index_file, repository_id


@pytest.fixture
def other(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "other")
    made.write("src/door.py", "def unlatch():\n    return 1\n")
    made.commit("doors")
    return made


def file_of(engine: Engine, repo: GitRepo) -> Path:
    return contexts_file(engine.settings.home, repository_id(str(repo.root / ".git")))


def notes_of(engine: Engine, repo: GitRepo) -> dict[str, str]:
    return {one.name: one.note for one in engine.load(path=repo.root).results}


def saved_in_both(engine: Engine, repo: GitRepo, other: GitRepo) -> tuple[Path, Path]:
    engine.save("lamps", "own", path=repo.root)
    engine.save("doors", "theirs", path=other.root)
    return file_of(engine, repo), file_of(engine, other)


def test_a_file_of_another_repository_is_set_aside_and_the_own_copy_restored(
    engine: Engine, repo: GitRepo, other: GitRepo
) -> None:
    own_file, foreign_file = saved_in_both(engine, repo, other)
    shutil.copy(foreign_file, own_file)
    answer = engine.load(path=repo.root)
    assert [one.name for one in answer.results] == ["lamps"]
    assert (
        "belonged to another repository" in answer.notes[0] and str(other.root) in answer.notes[0]
    )
    assert notes_of(engine, other) == {"doors": "theirs"}
    assert engine.load(path=repo.root).notes == ()


def test_two_files_that_were_swapped_come_back_to_their_repositories(
    engine: Engine, repo: GitRepo, other: GitRepo, tmp_path: Path
) -> None:
    own_file, foreign_file = saved_in_both(engine, repo, other)
    own_file.rename(tmp_path / "aside")
    foreign_file.rename(own_file)
    (tmp_path / "aside").rename(foreign_file)
    engine.save("new", "after", path=repo.root)
    assert notes_of(engine, repo) == {"lamps": "own", "new": "after"}
    assert notes_of(engine, other) == {"doors": "theirs"}


def test_copies_of_another_repository_are_not_restored_from(
    engine: Engine, repo: GitRepo, other: GitRepo
) -> None:
    own_file, foreign_file = saved_in_both(engine, repo, other)
    for suffix in ("", ".backup"):
        shutil.copy(f"{foreign_file}{suffix}", f"{own_file}{suffix}")
    answer = engine.load(path=repo.root)
    assert not answer.results and "none of them is shown" in answer.notes[0]


def test_a_file_set_aside_can_be_taken_over(engine: Engine, repo: GitRepo, other: GitRepo) -> None:
    own_file, foreign_file = saved_in_both(engine, repo, other)
    shutil.copy(foreign_file, own_file)
    engine.load(path=repo.root)
    aside = next(own_file.parent.glob("*.unreadable-*"))
    assert engine.adopt(str(aside), path=repo.root).added == ("doors",)
    assert notes_of(engine, repo) == {"lamps": "own", "doors": "theirs"}


def test_another_project_at_the_same_place_is_not_shown_the_former_ones_notes(
    engine: Engine, repo: GitRepo
) -> None:
    engine.save("lamps", "own", path=repo.root)
    shutil.rmtree(repo.root)
    fresh = GitRepo.init(repo.root)
    fresh.write("a.py", "A = 1\n")
    fresh.commit("another project")
    answer = engine.load(path=fresh.root)
    assert not answer.results and "whose history began with" in answer.notes[0]


def test_an_orphan_branch_keeps_the_notes_of_its_repository(engine: Engine, repo: GitRepo) -> None:
    engine.save("lamps", "own", path=repo.root)
    repo.git("checkout", "-q", "--orphan", "pages")
    repo.git("commit", "-q", "-m", "pages")
    assert notes_of(engine, repo) == {"lamps": "own"}


def test_a_file_that_states_no_owner_is_judged_by_its_place(
    engine: Engine, repo: GitRepo, other: GitRepo
) -> None:
    own_file, foreign_file = saved_in_both(engine, repo, other)
    without_id(foreign_file)
    assert notes_of(engine, other) == {"doors": "theirs"}
    shutil.copy(foreign_file, own_file)
    assert notes_of(engine, repo) == {"lamps": "own"}


def without_id(path: Path) -> None:
    """A file without an id, as an older version of codelens wrote it."""
    from codelens.store.database.database_opening import open_database

    db = open_database(path, "contexts")
    db.execute("DELETE FROM about WHERE key = 'repository'")
    db.close()


def test_the_doctor_finds_notes_of_another_repository(
    engine: Engine, repo: GitRepo, other: GitRepo
) -> None:
    own_file, foreign_file = saved_in_both(engine, repo, other)
    shutil.copy(foreign_file, own_file)
    found = [one for one in examine(engine.settings) if one.state == "wrong"]
    assert [one.about for one in found] == [str(own_file)] and "another repository" in found[
        0
    ].found


def test_an_index_of_another_repository_is_rebuilt(
    engine: Engine, repo: GitRepo, other: GitRepo
) -> None:
    engine.search("kindle", path=repo.root)
    engine.search("unlatch", path=other.root)
    engine.close()
    home = engine.settings.home
    own_file, foreign_file = (
        index_file(home, repository_id(str(one.root / ".git"))) for one in (repo, other)
    )
    for left in own_file.parent.glob(f"{own_file.name}*"):
        left.unlink()
    shutil.copy(foreign_file, own_file)
    answer = engine.search("kindle", path=repo.root)
    assert answer.results and answer.receipt.status == "fresh"
    assert list(own_file.parent.glob(f"{own_file.name}.damaged-*"))
