"""Unusual branches: odd merges, lost refs and worktrees, too many of them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine
from codelens.engine.versions.conflicts_query import MOST_RIVALS
from codelens.errors import CodelensError

BASE = "def load(name):\n    return open(name).read()\n"


@pytest.fixture
def here(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "here")
    commit(repo, "lib.py", BASE)
    return repo


def write(repo: GitRepo, name: str, text: str) -> None:
    (repo.root / name).write_text(text, encoding="utf-8")


def commit(repo: GitRepo, name: str, text: str) -> None:
    write(repo, name, text)
    repo.git("add", "-A")
    repo.git("commit", "-qm", name)


def added(repo: GitRepo, name: str) -> GitRepo:
    root = repo.root.parent / name
    repo.git("worktree", "add", "-q", str(root), "-b", name)
    return GitRepo(root)


def stored(repo: GitRepo) -> dict[str, bytes]:
    return {
        str(file): file.read_bytes() for file in (repo.root / ".git").rglob("*") if file.is_file()
    }


def test_two_merge_bases_are_merged_as_git_does(engine: Engine, here: GitRepo) -> None:
    here.git("branch", "left")
    here.git("branch", "right")
    for name in ("left", "right"):
        here.git("checkout", "-q", name)
        commit(here, f"{name}.py", f"def {name}():\n    return 1\n")
    here.git("branch", "right-then")
    here.git("merge", "-q", "--no-edit", "left")
    here.git("checkout", "-q", "left")
    here.git("merge", "-q", "--no-edit", "right-then")
    bases = here.git("merge-base", "--all", "left", "right").split()
    assert len(bases) == 2
    commit(here, "lib.py", BASE.replace("read()", "read(1)"))
    here.git("checkout", "-q", "right")
    commit(here, "lib.py", BASE.replace("read()", "read(2)"))
    before = stored(here)
    (rival,) = engine.conflicts(path=here.root, others=["left"]).results
    assert [conflict.path for conflict in rival.textual] == ["lib.py"]
    assert any(line.rule == "overlapping" for line in rival.collisions)
    assert stored(here) == before


def test_an_octopus_merge_is_one_step_of_a_history_and_of_a_diff(
    engine: Engine, here: GitRepo
) -> None:
    for name in ("one", "two", "three"):
        here.git("checkout", "-q", "-b", name, "main")
        text = BASE.replace("read()", "read(5)") if name == "two" else BASE
        write(here, "lib.py", text)
        commit(here, f"{name}.py", f"def {name}():\n    return 1\n")
    here.git("checkout", "-q", "main")
    here.git("merge", "-q", "--no-edit", "one", "two", "three")
    assert len(here.git("log", "-1", "--format=%P").split()) == 3
    history = engine.history("lib.py#load", path=here.root)
    assert [event.how for event in history.results] == [("body",), ("added",)]
    diff = engine.diff("HEAD~1..HEAD", path=here.root)
    assert {file.path for file in diff.files} <= {"lib.py", "one.py", "two.py", "three.py"}
    assert diff.files


def test_a_submodule_that_moved_on_is_listed_as_a_whole(engine: Engine, here: GitRepo) -> None:
    for number in ("1", "2"):
        oid = number * 40
        here.git("update-index", "--add", "--cacheinfo", f"160000,{oid},inner")
        here.git("commit", "-qm", f"inner {number}")
    (file,) = engine.diff("HEAD~1..HEAD", path=here.root).files
    assert (file.path, file.folded, file.definitions) == ("inner", "submodule", ())


def test_a_ref_that_vanished_is_refused_by_name(engine: Engine, here: GitRepo) -> None:
    here.git("branch", "gone")
    engine.diff("gone", path=here.root)
    here.git("branch", "-D", "gone")
    for ask in (
        lambda: engine.diff("gone", path=here.root),
        lambda: engine.conflicts(path=here.root, others=["gone"]),
        lambda: engine.history("lib.py#load", path=here.root, ref="gone"),
    ):
        with pytest.raises(CodelensError, match="gone"):
            ask()


def test_a_deleted_worktree_leaves_the_others_compared(engine: Engine, here: GitRepo) -> None:
    lost, kept = added(here, "lost"), added(here, "kept")
    write(here, "lib.py", BASE.replace("read()", "read(1)"))
    write(kept, "lib.py", BASE.replace("read()", "read(2)"))
    shutil.rmtree(lost.root)
    answer = engine.conflicts(path=here.root)
    assert [rival.branch for rival in answer.results if rival.collisions] == ["kept"]
    with pytest.raises(CodelensError):
        engine.diff(path=here.root, other=os.fspath(lost.root))


def test_a_worktree_amid_a_rebase_is_compared_as_its_files_are(
    engine: Engine, here: GitRepo
) -> None:
    other = added(here, "other")
    commit(other, "lib.py", BASE.replace("read()", "read(2)"))
    commit(here, "lib.py", BASE.replace("read()", "read(1)"))
    with pytest.raises(Exception, match="rebase"):
        other.git("rebase", "main")
    assert "<<<<<<<" in (other.root / "lib.py").read_text()
    write(here, "lib.py", BASE.replace("read()", "read(3)"))
    before = stored(here)
    answer = engine.conflicts(path=here.root)
    (rival,) = [rival for rival in answer.results if rival.name == os.fspath(other.root)]
    assert [conflict.path for conflict in rival.textual] == ["lib.py"]
    assert stored(here) == before


@pytest.mark.slow
def test_of_300_worktrees_a_bounded_number_is_compared_and_the_rest_named(
    engine: Engine, here: GitRepo
) -> None:
    head = os.fsdecode(here.git("rev-parse", "HEAD")).strip()
    for number in range(300):
        # Same result as `git worktree add --no-checkout`, which is too slow for 300 worktrees.
        root = here.root.parent / f"tree{number:03}"
        root.mkdir()
        folder = here.root / ".git" / "worktrees" / root.name
        folder.mkdir(parents=True)
        (root / ".git").write_text(f"gitdir: {folder}\n")
        (folder / "gitdir").write_text(f"{root / '.git'}\n")
        (folder / "commondir").write_text("../..\n")
        (folder / "HEAD").write_text(f"{head}\n")
        (root / "lib.py").write_text(BASE)
    answer = engine.conflicts(path=here.root)
    assert answer.clean + len(answer.results) == MOST_RIVALS
    assert len(answer.left_out) == 300 - MOST_RIVALS


def test_a_path_that_was_never_there_is_refused(engine: Engine, here: GitRepo) -> None:
    for target in ("never.py", "never.py#fetch"):
        with pytest.raises(CodelensError, match="never"):
            engine.history(target, path=here.root)
    (note,) = engine.history("never.py#load", path=here.root).notes
    assert note.startswith("never.py does not exist; followed to lib.py")
    assert engine.diff("HEAD", path=here.root, globs=["never/*"]).files == ()


def test_two_refs_of_a_bare_repository_are_compared(
    engine: Engine, here: GitRepo, tmp_path: Path
) -> None:
    here.git("branch", "old")
    commit(here, "lib.py", BASE.replace("name", "path"))
    commit(here, "use.py", "from lib import load\n\nload('x')\n")
    bare = tmp_path / "bare.git"
    here.git("clone", "-q", "--bare", str(here.root), str(bare))
    for spec, other in (("old..HEAD", ""), ("old...", ""), ("old", "HEAD")):
        answer = engine.diff(spec, path=bare, other=other)
        assert answer.files == engine.diff(spec, path=here.root, other=other).files
        (changed,) = [file for file in answer.files if file.path == "lib.py"]
        assert [definition.how for definition in changed.definitions] == [("signature", "body")]
    with pytest.raises(CodelensError, match=r"bare repository: .* give two refs"):
        engine.diff("old", path=bare)
    with pytest.raises(CodelensError, match="bare repository"):
        engine.diff(path=bare)
