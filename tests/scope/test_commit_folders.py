"""Files of a commit by their paths: each folder is read on demand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.errors import ReadError
from codelens.scope.commits import CommitFolders, read_tree
from codelens.scope.repository import Repository
from codelens.types import CommitId


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.write_all({"top.py": "1\n", "a/b/deep.py": "2\n", "a/run.sh": "3\n", "other/x.py": "4\n"})
    (made.root / "a/run.sh").chmod(0o755)
    os.symlink("top.py", made.root / "link.py")
    made.add()
    commit = made.commit_staged("one")
    made.git("update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    made.commit_staged("two")
    return made


def folders_of(repo: GitRepo) -> CommitFolders:
    return CommitFolders(Repository.at(repo.root), CommitId(repo.head()))


@pytest.mark.parametrize("path", ["top.py", "a/b/deep.py", "a/run.sh", "other/x.py"])
def test_a_file_has_the_object_id_that_git_reports(repo: GitRepo, path: str) -> None:
    oid = folders_of(repo).oid_of(path.encode())
    assert oid is not None and oid.hex() == repo.text("rev-parse", f"HEAD:{path}").strip()


@pytest.mark.parametrize(
    "path",
    ["", "a", "a/", "a/b", "link.py", "module", "module/x", "gone.py", "top.py/x"],
)
def test_anything_but_a_file_has_no_object_id(repo: GitRepo, path: str) -> None:
    assert folders_of(repo).oid_of(path.encode()) is None


def test_only_the_folders_of_a_path_are_read(repo: GitRepo) -> None:
    tree = repo.text("rev-parse", "HEAD:other").strip()
    (repo.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    assert folders_of(repo).oid_of(b"a/b/deep.py") is not None
    with pytest.raises(ReadError, match="not in this clone"):
        folders_of(repo).oid_of(b"other/x.py")
    with pytest.raises(ReadError, match="not in this clone"):
        read_tree(Repository.at(repo.root), CommitId(repo.head()))
