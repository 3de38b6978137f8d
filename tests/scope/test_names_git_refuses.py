"""Names that git never checks out: in a commit or an index by hand, they lead to nothing."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.scope.commits import read_tree
from codelens.scope.git_index import read_tracked
from codelens.scope.repository import Repository
from codelens.types import CommitId

SECRET = "zq_outside"


def made_by_hand(repo: GitRepo, *entries: tuple[str, bytes, str]) -> str:
    """The id of a tree with entries that `git mktree` refuses."""
    data = b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries
    )
    made = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data)
    return made.decode().strip()


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "secret.py").write_text(f"def {SECRET}(): pass\n")
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {"src/own.py": "def lantern(): pass\n"})
    return made


def test_a_commit_has_no_names_that_lead_out(repo: GitRepo) -> None:
    blob = repo.text("rev-parse", "HEAD:src/own.py")
    inner = made_by_hand(repo, ("100644", b"secret.py", blob))
    root = made_by_hand(
        repo, ("40000", b"..", inner), ("100644", b".git", blob), ("40000", b".GIT", inner),
        ("100644", b"/etc/passwd", blob), ("100644", b"a/../../secret.py", blob),
        ("40000", b".", inner), ("40000", b".github", inner), ("100644", b"own.py", blob),
    )  # fmt: skip
    commit = repo.text("commit-tree", root, "-m", "by hand")
    tree = read_tree(Repository.at(repo.root), CommitId(commit))
    assert sorted(file.path for file in tree.files) == [b".github/secret.py", b"own.py"]
    settings = Settings(home=repo.root.parent / "home", workers=1)
    with Engine(settings) as engine:
        for target in (".", "own.py"):
            answer = engine.outline(target, path=repo.root, ref=commit)
            assert "lantern" in repr(answer) and "passwd" not in repr(answer)


@pytest.mark.parametrize(
    "name", ["../plain/secret.py", "src/../../plain/secret.py", ".git/config", "src/.GIT/config"]
)
def test_an_index_has_no_names_that_lead_out(repo: GitRepo, name: str) -> None:
    accepted = name.replace("..", "xx").replace(".git", "xgit").replace(".GIT", "xGIT")
    repo.write(accepted, "def other(): pass\n")
    repo.add()
    repo.git("rm", "-q", "--cached", "src/own.py")
    index = repo.root / ".git" / "index"
    data = index.read_bytes()[:-20].replace(accepted.encode(), name.encode())
    index.write_bytes(data + hashlib.sha1(data).digest())
    assert name in repo.text("ls-files")
    if ".git" in name.lower():
        assert read_tracked(index).paths == frozenset()
    with Engine(Settings(home=repo.root.parent / "home", workers=1)) as engine:
        for query in (SECRET, "repositoryformatversion"):
            results = engine.search(query, path=repo.root, limit=50).results
            assert name not in [os.fsdecode(hit.path) for hit in results]
            assert SECRET not in [hit.symbol for hit in results]
        (read,) = engine.expand([name], path=repo.root).items
        assert read.text == "" and read.error
