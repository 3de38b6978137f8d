"""Whether tracked files differ from HEAD: equals `git status`, and no rule delays it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hang_alarm import end_after, guarded

from codelens.scope.repository import Repository
from codelens.scope.uncommitted_changes import is_dirty

unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"a.py": "A = 1\n", "d/b.py": "B = 1\n", "d/c.py": "C = 1\n"})
    return made


def _git_says(repo: GitRepo) -> bool:
    return bool(repo.git("status", "--porcelain", "--untracked-files=no"))


def _chmod(repo: GitRepo) -> None:
    repo.path("a.py").chmod(0o755)


def _touch(repo: GitRepo) -> None:
    os.utime(repo.path("a.py"), (1, 1))


def _rewrite(repo: GitRepo) -> None:
    repo.path("a.py").unlink()
    repo.write("a.py", "A = 1\n")


def _same_size(repo: GitRepo) -> None:
    repo.write("a.py", "A = 2\n")


def _link_for_folder(repo: GitRepo) -> None:
    repo.path("d").rename(repo.root.parent / "d")
    repo.path("d").symlink_to(repo.root.parent / "d")


def _link_for_file(repo: GitRepo) -> None:
    repo.path("a.py").unlink()
    repo.path("a.py").symlink_to("d/b.py")


def _line_ends(repo: GitRepo) -> None:
    repo.config("core.autocrlf", "true")
    repo.path("a.py").write_bytes(b"A = 1\r\n")


def _attribute(repo: GitRepo) -> None:
    repo.write(".gitattributes", "a.py text eol=crlf\n")
    repo.path("a.py").write_bytes(b"A = 1\r\n")


def _merge(repo: GitRepo) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("theirs", {"a.py": "A = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("own", {"a.py": "A = 3\n"})
    repo.git("merge", "side", check=False)


def _odd_name(repo: GitRepo) -> None:
    name = os.fsencode(repo.root) + b"/\xff.py"
    with open(name, "wb") as file:
        file.write(b"x\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "odd")
    with open(name, "wb") as file:
        file.write(b"y\n")


CASES: dict[str, Callable[[GitRepo], object]] = {
    "nothing": lambda repo: None,
    "untracked": lambda repo: repo.write("new.py", "x\n"),
    "touched": _touch,
    "rewritten": _rewrite,
    "other text of the same size": _same_size,
    "mode": _chmod,
    "removed": lambda repo: repo.path("d/b.py").unlink(),
    "staged": lambda repo: (repo.write("a.py", "A = 22\n"), repo.git("add", ".")),
    "staged, and back on disk": lambda repo: (
        repo.write("a.py", "A = 22\n"), repo.git("add", "."), repo.write("a.py", "A = 1\n")
    ),
    "added": lambda repo: (repo.write("new.py", "x\n"), repo.git("add", ".")),
    "to be added": lambda repo: (repo.write("new.py", "x\n"), repo.git("add", "-N", ".")),
    "removed from the index": lambda repo: repo.git("rm", "-q", "--cached", "a.py"),
    "assumed unchanged": lambda repo: (
        repo.git("update-index", "--assume-unchanged", "a.py"), repo.write("a.py", "A = 22\n")
    ),
    "a link for a folder": _link_for_folder,
    "a link for a file": _link_for_file,
    "line ends by the config": _line_ends,
    "line ends by an attribute": _attribute,
    "conflict": _merge,
    "a name that is no UTF-8": _odd_name,
    "no mode by the config": lambda repo: (repo.config("core.fileMode", "false"), _chmod(repo)),
}  # fmt: skip


@unix
@pytest.mark.parametrize("case", CASES)
def test_it_agrees_with_git(repo: GitRepo, case: str) -> None:
    CASES[case](repo)
    # Ask codelens first: `git status` writes its findings into the index.
    found = is_dirty(Repository.at(repo.root))
    assert found is _git_says(repo)


def test_before_the_first_commit_what_was_added_counts(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.write("a.py", "A = 1\n")
    assert is_dirty(Repository.at(repo.root)) is False
    repo.git("add", ".")
    assert is_dirty(Repository.at(repo.root)) is True


@pytest.mark.parametrize("change", ["nothing", "tracked", "commit", "untracked"])
def test_a_submodule_counts_by_its_commit_and_its_tracked_files(
    repo: GitRepo, tmp_path: Path, change: str
) -> None:
    inner = GitRepo.init(tmp_path / "inner")
    inner.commit("one", {"x.py": "x = 1\n"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    repo.git("commit", "-qm", "with a submodule")
    sub = GitRepo(repo.root / "sub")
    match change:
        case "tracked":
            sub.write("x.py", "x = 22\n")
        case "commit":
            sub.commit("two", {"x.py": "x = 22\n"})
        case "untracked":
            sub.write("y.py", "y\n")
        case _:
            pass
    assert is_dirty(Repository.at(repo.root)) is _git_says(repo)


@pytest.mark.parametrize(
    ("rule", "name"),
    [("a*" * 200 + "b", "d/" + "a" * 200), ("d/" + "**/a*a*" * 60 + "/b", "d/aaa")],
)
def test_a_rule_that_makes_git_hang_does_not_delay_it(repo: GitRepo, rule: str, name: str) -> None:
    repo.write_all({".gitignore": rule + "\n", name: "x\n"})
    with guarded():
        end_after(60)
        assert is_dirty(Repository.at(repo.root)) is False
        repo.write("d/b.py", "B = 22\n")
        assert is_dirty(Repository.at(repo.root)) is True


@unix
@pytest.mark.parametrize("setting", ["core.attributesFile", "core.excludesFile"])
def test_a_pipe_that_a_setting_names_is_not_waited_for(repo: GitRepo, setting: str) -> None:
    os.mkfifo(repo.root.parent / "pipe")
    repo.config(setting, str(repo.root.parent / "pipe"))
    repo.write("a.py", "A = 22\n")
    with guarded():
        end_after(60)
        assert is_dirty(Repository.at(repo.root)) is None
