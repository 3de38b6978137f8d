"""The first answer after any git operation or edit is right, through both faces."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from e2e.conftest import AUTH
from e2e.faces import CommandLine
from gitrepo import GitRepo


def found(face, root: Path, query: str, ref: str | None = None) -> dict[str, str]:
    """Symbol (or handle) -> path for all results of a query."""
    return {one["symbol"] or one["handle"]: one["path"] for one in face.search(root, query, ref)}


def names(face, root: Path, query: str, ref: str | None = None) -> set[str]:
    return set(found(face, root, query, ref))


def paths(face, root: Path, query: str, ref: str | None = None) -> set[str]:
    return set(found(face, root, query, ref).values())


def test_checkout_of_a_branch_with_a_renamed_function_and_a_deleted_file_and_back(
    face, repo: GitRepo
) -> None:
    assert "Session.validate_session" in names(face, repo.root, "validate_session")
    repo.checkout("-b", "feature")
    repo.write("src/auth.py", AUTH.replace("validate_session", "confirm_session"))
    repo.remove("src/billing.js")
    repo.commit("rename and delete")

    assert "Session.confirm_session" in names(face, repo.root, "confirm_session")
    assert "Session.validate_session" not in names(face, repo.root, "validate_session")
    assert "src/billing.js" not in paths(face, repo.root, "chargeCard")

    repo.checkout("main")
    assert "Session.validate_session" in names(face, repo.root, "validate_session")
    assert "Session.confirm_session" not in names(face, repo.root, "confirm_session")
    assert "chargeCard" in names(face, repo.root, "chargeCard")

    repo.checkout("feature")
    assert "Session.confirm_session" in names(face, repo.root, "confirm_session")
    assert "chargeCard" not in names(face, repo.root, "chargeCard")


@pytest.mark.parametrize("place", ["../sibling", ".worktrees/x", ".claude/worktrees/y"])
def test_a_second_worktree_answers_for_itself(face, repo: GitRepo, place: str) -> None:
    assert "chargeCard" in names(face, repo.root, "chargeCard")
    second = repo.worktree((repo.root / place).resolve(), branch="second")
    second.write("src/auth.py", AUTH.replace("validate_session", "second_session"))
    second.write("only_here.py", "def lantern_factory():\n    pass\n")

    assert "Session.second_session" in names(face, second.root, "second_session")
    assert "lantern_factory" in names(face, second.root, "lantern_factory")
    assert "Session.validate_session" not in names(face, second.root, "validate_session")

    assert "Session.validate_session" in names(face, repo.root, "validate_session")
    assert "lantern_factory" not in names(face, repo.root, "lantern_factory")
    assert not [one for one in paths(face, repo.root, "session") if "worktrees" in one]
    # From a folder inside the nested worktree.
    assert "lantern_factory" in names(face, second.root / "src", "lantern_factory")


def test_an_uncommitted_edit(face, repo: GitRepo) -> None:
    names(face, repo.root, "session")
    repo.write("src/auth.py", AUTH + "\n\ndef kindle_lamp():\n    pass\n")
    assert "kindle_lamp" in names(face, repo.root, "kindle_lamp")


def test_a_deleted_file(face, repo: GitRepo) -> None:
    assert "chargeCard" in names(face, repo.root, "chargeCard")
    repo.remove("src/billing.js")
    assert "src/billing.js" not in paths(face, repo.root, "chargeCard")


def test_a_renamed_file(face, repo: GitRepo) -> None:
    assert found(face, repo.root, "chargeCard")["chargeCard"] == "src/billing.js"
    repo.rename("src/billing.js", "lib/deep/money.js")
    assert found(face, repo.root, "chargeCard")["chargeCard"] == "lib/deep/money.js"


@pytest.mark.parametrize("path", ["new.py", "new/folder/deep/inside.py", "src/new.py"])
def test_an_untracked_file(face, repo: GitRepo, path: str) -> None:
    names(face, repo.root, "session")
    repo.write(path, "def kindle_lamp():\n    pass\n")
    assert found(face, repo.root, "kindle_lamp")["kindle_lamp"] == path
    # Another file in the same folder, which is known by now.
    repo.write(path.replace(".py", "2.py"), "def kindle_stove():\n    pass\n")
    assert "kindle_stove" in names(face, repo.root, "kindle_stove")


def test_an_ignored_file(face, repo: GitRepo) -> None:
    repo.write("notes.log", "kindle_lamp\n")
    repo.write("build/out.py", "def kindle_lamp(): pass\n")
    assert not {"notes.log", "build/out.py"} & paths(face, repo.root, "kindle_lamp")
    repo.write(".gitignore", "*.log\n")
    assert "build/out.py" in paths(face, repo.root, "kindle_lamp")
    repo.write(".gitignore", "*.log\nbuild/\n")
    assert "build/out.py" not in paths(face, repo.root, "kindle_lamp")
    repo.add("build/out.py", force=True)
    assert "build/out.py" in paths(face, repo.root, "kindle_lamp")


def test_a_stash(face, repo: GitRepo) -> None:
    repo.write("src/auth.py", AUTH + "\n\ndef kindle_lamp():\n    pass\n")
    assert "kindle_lamp" in names(face, repo.root, "kindle_lamp")
    repo.git("stash", "push", "-q")
    assert "kindle_lamp" not in names(face, repo.root, "kindle_lamp")
    repo.git("stash", "pop", "-q")
    assert "kindle_lamp" in names(face, repo.root, "kindle_lamp")


def test_a_hard_reset(face, repo: GitRepo) -> None:
    for step in range(5):
        repo.commit(f"step {step}", {f"src/step{step}.py": f"def kindle_step{step}(): pass\n"})
    assert "kindle_step4" in names(face, repo.root, "kindle_step4")
    repo.git("reset", "-q", "--hard", "HEAD~5")
    for step in range(5):
        assert f"kindle_step{step}" not in names(face, repo.root, f"kindle_step{step}")
    assert "Session.validate_session" in names(face, repo.root, "validate_session")


def test_an_old_tag(face, repo: GitRepo) -> None:
    repo.git("tag", "v1")
    repo.commit("two", {"src/auth.py": AUTH.replace("validate_session", "confirm_session")})
    assert "Session.confirm_session" in names(face, repo.root, "confirm_session")
    # By ref, without a checkout...
    assert "Session.validate_session" in names(face, repo.root, "validate_session", ref="v1")
    assert "Session.confirm_session" not in names(face, repo.root, "confirm_session", ref="v1")
    assert "Session.confirm_session" in names(face, repo.root, "confirm_session")
    # ... and checked out.
    repo.checkout("v1")
    assert "Session.validate_session" in names(face, repo.root, "validate_session")
    assert "Session.confirm_session" not in names(face, repo.root, "confirm_session")


def test_an_edit_of_the_same_size_with_the_old_mtime(face, repo: GitRepo) -> None:
    assert "chargeCard" in names(face, repo.root, "chargeCard")
    file = repo.path("src/billing.js")
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"chargeCard", b"refundCard"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert "refundCard" in names(face, repo.root, "refundCard")
    assert "chargeCard" not in names(face, repo.root, "chargeCard")


def test_two_processes_that_index_at_once(face, repo: GitRepo) -> None:
    for number in range(120):
        repo.write(f"many/part{number}.py", f"def kindle_part{number}():\n    return {number}\n")
    other = CommandLine(face.home)
    started = [other.start("index", "-C", str(repo.root), "--json") for _ in range(2)]
    assert "kindle_part7" in names(face, repo.root, "kindle_part7")
    for process in started:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert "kindle_part119" in names(face, repo.root, "kindle_part119")


def test_nothing_is_written_into_the_repository(face, repo: GitRepo) -> None:
    names(face, repo.root, "session")
    assert repo.text("status", "--porcelain", "--ignored") == ""
    listed = subprocess.run(["find", repo.root, "-name", "*codelens*"], capture_output=True)
    assert not listed.stdout
