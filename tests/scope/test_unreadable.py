"""Broken git data: pipes instead of files, missing objects, a deleted folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hang_alarm import end_after, guarded

from codelens.errors import (
    BrokenRef,
    NoSuchRef,
    ReadError,
    UnsupportedRepository,
    WorkingFolderGone,
)
from codelens.scope.location import locate
from codelens.scope.repository import Repository

unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.write("a.py", "A = 1\n")
    made.commit("one")
    made.write("a.py", "A = 2\n")
    made.commit("two")
    return made


@unix
@pytest.mark.parametrize(
    "name",
    ["index", "config", "config.worktree", "commondir", "packed-refs", "shallow",
     "info/attributes", "info/grafts", "objects/info/alternates",
     "objects/pack/multi-pack-index", "refs/heads/main"],
)  # fmt: skip
def test_a_pipe_in_place_of_a_git_file_is_reported(repo: GitRepo, name: str) -> None:
    file = repo.root / ".git" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with pytest.raises(UnsupportedRepository, match="is a pipe or device"):
        Repository.at(repo.root).scope()


@unix
def test_a_pipe_in_place_of_a_branch_is_reported(repo: GitRepo) -> None:
    os.mkfifo(repo.root / ".git/refs/heads/other")
    with pytest.raises(UnsupportedRepository, match="is a pipe or device"):
        Repository.at(repo.root).scope("other~1")


@unix
def test_refs_with_odd_names_and_pipes_are_passed_over_where_names_are_proposed(
    repo: GitRepo,
) -> None:
    repo.git("tag", "mail")
    repo.git("pack-refs", "--all")
    repo.git("branch", "main-2")
    heads = repo.root / ".git/refs/heads"
    (heads / "ma\n\x1b[31mred").write_text("anything")
    os.mkfifo(heads / "zest")
    with guarded():
        end_after(60)
        with pytest.raises(NoSuchRef) as caught:
            Repository.at(repo.root).scope("mai")
    assert all(name in str(caught.value) for name in ("mail", "main", "main-2"))
    assert "red" not in str(caught.value)


@unix
@pytest.mark.parametrize(
    "text",
    ["[include]\n\tpath = {}\n", '[include] path = "{}"\n',
     '[IncludeIf "gitdir:/x"]\npath={} ; x\n',
     "[user]\n\tname = x\n[include]\n\t; why\n\tPath = {}\n"],
)  # fmt: skip
def test_a_pipe_that_a_config_includes_is_reported(repo: GitRepo, text: str) -> None:
    os.mkfifo(repo.root / ".git/more")
    config = repo.root / ".git/config"
    repo.write("chain", text.format("more" if "[user]" in text else repo.root / ".git/more"))
    chain = repo.root / ".git/chain"
    (repo.root / "chain").rename(chain)
    config.write_text(f"{config.read_text()}[include]\n\tpath = chain\n")
    with pytest.raises(UnsupportedRepository, match="more' is a pipe or device"):
        Repository.at(repo.root)


@unix
def test_configs_that_include_each_other_end(repo: GitRepo) -> None:
    config = repo.root / ".git/config"
    config.write_text(f"{config.read_text()}[include]\n\tpath = chain\n")
    (repo.root / ".git/chain").write_text("[other]\n\tpath = more\n")
    assert Repository.at(repo.root).scope().branch == "main"


@unix
def test_a_config_that_includes_itself_over_and_over_ends(repo: GitRepo) -> None:
    with (repo.root / ".git/config").open("a") as config:
        config.write("[include]\n\tpath = config\n" * 40)
    with guarded(), pytest.raises(UnsupportedRepository, match="include depth"):
        Repository.at(repo.root).scope()


def test_a_config_that_is_the_null_device_says_nothing(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert Repository.at(repo.root).scope().branch == "main"


def _remove_object(repo: GitRepo, name: str) -> str:
    oid = repo.git("rev-parse", name).decode().strip()
    file = repo.root / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    file.unlink()
    return oid


@pytest.mark.parametrize("ref", ["HEAD", "main", "HEAD~1"])
def test_a_ref_with_a_missing_commit_is_distinguished_from_an_unknown_one(
    repo: GitRepo, ref: str
) -> None:
    gone = _remove_object(repo, ref)
    with pytest.raises(BrokenRef, match=f"object {gone} is missing or damaged"):
        Repository.at(repo.root).scope(ref)


def test_a_tag_with_a_missing_commit_is_reported(repo: GitRepo) -> None:
    repo.git("tag", "-a", "v1", "-m", "one", "HEAD~1")
    _remove_object(repo, "HEAD~1")
    with pytest.raises(BrokenRef, match="is missing or damaged"):
        Repository.at(repo.root).scope("v1")


def test_before_the_first_commit_no_ref_exists(repo: GitRepo) -> None:
    for ref in ("HEAD~9", "nothing", "HEAD:a.py"):
        with pytest.raises(NoSuchRef):
            Repository.at(repo.root).scope(ref)


def test_the_end_of_a_shallow_clone_is_reported(repo: GitRepo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth", "1", repo.root.as_uri(), str(tmp_path / "shallow"))
    with pytest.raises(BrokenRef, match="the history of this shallow clone ends before it"):
        Repository.at(tmp_path / "shallow").scope("HEAD~1")


@unix
def test_a_deleted_working_folder_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(WorkingFolderGone):
        locate(".")


def test_a_head_of_megabytes_is_refused_before_it_is_read(repo: GitRepo) -> None:
    (repo.root / ".git/HEAD").write_text("ref: refs/heads/" + "x" * 100_000)
    with pytest.raises(UnsupportedRepository, match="HEAD' has 100,016 bytes"):
        Repository.at(repo.root)


def test_an_error_is_cut_where_a_file_names_something_endless(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: " + "x" * 60_000)
    with pytest.raises(UnsupportedRepository, match="characters left out") as caught:
        locate(tmp_path)
    assert len(str(caught.value)) < 5_000
    assert "write its new path into the .git file" in str(caught.value)


def test_a_damaged_object_is_distinguished_from_a_missing_one(repo: GitRepo) -> None:
    oid = repo.git("rev-parse", "HEAD:a.py").decode().strip()
    file = repo.root / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:3] + bytes(20))
    with pytest.raises(ReadError, match=r"is damaged .*git fsck"):
        Repository.at(repo.root).read_blob(bytes.fromhex(oid))
    file.unlink()
    with pytest.raises(ReadError, match="is not in this clone"):
        Repository.at(repo.root).read_blob(bytes.fromhex(oid))
