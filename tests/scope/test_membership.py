"""Membership equals `git ls-files -co --exclude-standard`, for generated trees and by hand."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from gitrepo import GitRepo
from hypothesis import given
from hypothesis import strategies as st
from membership_trees import (
    NO_EXCLUDES,
    examples,
    expected,
    found_as_git_lists,
    fresh_repo,
    ignore_texts,
    listed,
    make_file,
    paths,
    track,
    walk,
    walker,
)

from codelens.scope.ignore_rules import Ignore, IgnoreSettings
from codelens.scope.membership import Walker

EXTRAS = [
    "fifo", "link", "dangling", "folder", "empty .git", "lost gitfile", "repository", "repository",
]  # fmt: skip


def make_extra(root: Path, path: bytes, kind: str) -> None:
    full = os.path.join(os.fsencode(root), path)
    try:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        match kind:
            case "fifo":
                os.mkfifo(full)
            case "link":
                os.symlink(b".", full)
            case "dangling":
                os.symlink(b"nowhere", full)
            case "folder":
                os.makedirs(full, exist_ok=True)
            case "empty .git":
                os.makedirs(os.path.join(full, b".git"), exist_ok=True)
            case "lost gitfile":
                make_file(root, path + b"/.git", b"gitdir: /nowhere\n")
            case _:
                make_file(root, path + b"/.git/HEAD", b"ref: refs/heads/main\n")
                for name in (b"objects", b"refs"):
                    os.makedirs(os.path.join(full, b".git", name), exist_ok=True)
                make_file(root, path + b"/inner", b"")
    except OSError:
        return  # something of another kind is in the way


@pytest.mark.slow
@given(
    files=st.lists(paths, min_size=8, max_size=25),
    missing=st.lists(paths, max_size=3),
    ignores=st.lists(st.tuples(paths, ignore_texts), min_size=1, max_size=4),
    at_root=ignore_texts,
    exclude=ignore_texts,
    excludes_file=ignore_texts,
    extras=st.lists(st.tuples(paths, st.sampled_from(EXTRAS)), min_size=2, max_size=6),
    seed=st.randoms(use_true_random=False),
    fold=st.booleans(),
    version=st.sampled_from(["2", "4", "split"]),
)
@examples(150)
def test_a_walk_finds_the_files_git_lists(
    tmp_path_factory, files, missing, ignores, at_root, exclude, excludes_file, extras, seed, fold,
    version,
):  # fmt: skip
    with fresh_repo(tmp_path_factory.getbasetemp()) as repo:
        repo.config("core.ignoreCase", str(fold).lower())
        global_ignore = repo.root / ".git" / "global-ignore"
        global_ignore.write_bytes(excludes_file)
        repo.config("core.excludesFile", str(global_ignore))
        (repo.root / ".git" / "info" / "exclude").write_bytes(exclude)
        make_file(repo.root, b".gitignore", at_root)
        for folder, text in ignores:
            make_file(repo.root, folder + b"/.gitignore", text)
        for path in files:
            make_file(repo.root, path)
        for path, kind in extras:
            make_extra(repo.root, path, kind)
        chosen = [path for path in [*files, *missing] if seed.random() < 0.4]
        chosen += [folder + b"/.gitignore" for folder, _ in ignores if seed.random() < 0.3]
        if version == "split":
            repo.git("update-index", "--split-index")
        else:
            repo.git("update-index", "--index-version", version)
        track(repo, {path: b"100644" for path in chosen if seed.random() < 0.9})
        track(repo, {path: b"160000" for path, _ in extras if seed.random() < 0.2})
        track(repo, dict.fromkeys(chosen[:2], b"100644"), stage=2)

        settings = IgnoreSettings(excludes_file=str(global_ignore), ignore_case=fold)
        found = walker(repo, settings).walk()

        assert listed(found) == expected(repo)
        assert not found.unreadable


def test_a_tracked_file_in_an_ignored_folder_belongs_and_its_neighbour_does_not(
    repo: GitRepo,
) -> None:
    repo.write_all({".gitignore": "out/\n", "out/kept": "", "out/a/kept": "", "out/a/other": ""})
    repo.add("out/kept", "out/a/kept", force=True)

    assert found_as_git_lists(repo) == {b".gitignore", b"out/kept", b"out/a/kept"}
    assert {b"out", b"out/a"} <= walk(repo).folders.keys()


def test_a_staged_file_that_is_ignored_belongs_at_once(repo: GitRepo) -> None:
    repo.write_all({".gitignore": "*.log\n", "a.log": ""})
    assert b"a.log" not in found_as_git_lists(repo)
    repo.add("a.log", force=True)
    assert b"a.log" in found_as_git_lists(repo)


def test_tracked_files_that_are_not_on_the_disk_are_left_out(repo: GitRepo) -> None:
    repo.commit("one", {"here": "", "gone": "", "d/gone": "", "link/gone": "", "now-a-folder": ""})
    for name in ("gone", "d/gone", "link/gone", "now-a-folder"):
        repo.remove(name)
    repo.path("link").rmdir()
    repo.path("real").mkdir()
    repo.write("real/gone")
    repo.path("link").symlink_to("real")
    repo.write("now-a-folder/file")

    assert found_as_git_lists(repo) == {b"here", b"real/gone", b"link", b"now-a-folder/file"}


def test_a_tracked_path_that_now_leads_through_a_link_does_not_belong(
    repo: GitRepo, tmp_path: Path
) -> None:
    repo.commit("one", {"link/file": "", "link/deep/er/file": ""})
    repo.path("link").rename(tmp_path / "outside")
    repo.path("link").symlink_to(tmp_path / "outside")

    assert found_as_git_lists(repo) == {b"link"}
    assert walk(repo).folders.keys() == {b""}


def test_links_are_listed_apart_and_never_followed(repo: GitRepo) -> None:
    repo.write("real/file")
    repo.path("to-folder").symlink_to("real")
    repo.path("to-file").symlink_to("real/file")
    repo.path("out").symlink_to("/")
    found = walk(repo)
    assert found.links.keys() == {b"to-folder", b"to-file", b"out"}
    assert found.files.keys() == {b"real/file"}
    assert listed(found) == expected(repo)


def test_fifos_and_sockets_never_belong(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(repo.path("fifo"))
    monkeypatch.chdir(repo.root)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        repo.write("file")
        assert found_as_git_lists(repo) == {b"file"}


def test_each_file_comes_with_its_lstat(repo: GitRepo) -> None:
    target = repo.write("a/file", "text")
    found = walk(repo)
    assert found.files == {b"a/file": target.lstat()}
    assert found.folders[b"a"] == target.parent.lstat()
    assert found.folders.keys() == {b"", b"a"}


def test_empty_folders_are_among_the_folders_and_ignored_ones_are_not(repo: GitRepo) -> None:
    for name in ("empty/deep", "ignored/deep"):
        repo.path(name).mkdir(parents=True)
    repo.write(".git/info/exclude", "ignored\n")
    assert walk(repo).folders.keys() == {b"", b"empty", b"empty/deep"}


@pytest.mark.parametrize("cone", [["--cone", "src"], ["--no-cone", "/src/", "*.md"]])
@pytest.mark.parametrize("sparse_index", ["--sparse-index", "--no-sparse-index"])
def test_a_sparse_checkout_holds_the_files_git_lists(
    repo: GitRepo, cone: list[str], sparse_index: str
) -> None:
    repo.commit(
        "one",
        {
            **{
                f"{folder}/{name}": "" for folder in ("src", "lib", "lib/in") for name in ("a", "b")
            },
            "lib/.gitignore": "*.o\n",
            "top.md": "",
        },
    )
    repo.git("sparse-checkout", "set", sparse_index, *cone)
    repo.write_all({"lib/new": "", "lib/new.o": "", "lib/in/new.o": "", "src/new.o": ""})
    settings = IgnoreSettings("", sparse_checkout=True)

    found = walker(repo, settings, expand_tree=lambda oid, at: _expand(repo, oid, at)).walk()

    assert listed(found) == expected(repo)
    assert b"lib/new" in found.files
    assert b"src/new.o" in found.files
    # The file with the rule that excludes it is not on disk.
    assert not {b"lib/new.o", b"lib/in/new.o"} & found.files.keys()


def _expand(repo: GitRepo, oid: str, prefix: bytes) -> list[tuple[bytes, int, bytes]]:
    lines = repo.git("ls-tree", "-r", "-z", oid).split(b"\0")[:-1]
    return [
        (prefix + line.partition(b"\t")[2], int(line[:6], 8), bytes.fromhex(line[12:52].decode()))
        for line in lines
    ]


def test_a_skipped_ignore_file_counts_though_it_is_not_on_the_disk(repo: GitRepo) -> None:
    repo.commit("one", {"d/.gitignore": "*.o\n", "d/a": "", "e/.gitignore": "*.o\n"})
    repo.git("update-index", "--skip-worktree", "d/.gitignore", "e/.gitignore")
    repo.remove("d/.gitignore")
    repo.remove("e/.gitignore")
    repo.path("e/.gitignore").symlink_to("nowhere")
    repo.write_all({"d/x.o": "", "e/x.o": ""})
    assert found_as_git_lists(repo) == {b"d/a", b"e/.gitignore"}


def test_a_conflict_and_an_intent_to_add_belong(repo: GitRepo) -> None:
    repo.commit("one", {"a": "1", "gone": "1"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("side", {"a": "2", "gone": "2"})
    repo.checkout("main")
    repo.remove("gone")
    repo.commit("main", {"a": "3"})
    repo.git("merge", "side", check=False)
    repo.write_all({"new.o": "", ".gitignore": "*.o\na\n"})
    repo.git("add", "-f", "-N", "new.o")
    assert found_as_git_lists(repo) == {b"a", b"gone", b"new.o", b".gitignore"}


def test_names_differ_in_case_alone_only_without_ignore_case(repo: GitRepo) -> None:
    track(repo, {b"Dir/File": b"100644", b"exact": b"100644"})
    repo.write_all({"dir/file": "", "dir/other": "", "exact": "", "EXACT": ""})
    assert found_as_git_lists(repo) == {b"dir/file", b"dir/other", b"exact", b"EXACT"}
    repo.config("core.ignoreCase", "true")
    found = walker(repo, IgnoreSettings("", ignore_case=True)).walk()
    assert listed(found) == expected(repo) == {b"dir/other", b"exact"}


def test_a_file_tracked_in_another_case_is_named_as_git_has_it(repo: GitRepo) -> None:
    """A hard link simulates a case-insensitive file system: both names lead to one file."""
    track(repo, {b"File": b"100644"})
    os.link(repo.write("FILE"), repo.path("File"))
    found = walker(repo, IgnoreSettings("", ignore_case=True)).walk()
    assert found.files.keys() == {b"File"}


def test_composed_names_are_taken_where_git_takes_them(repo: GitRepo) -> None:
    apart, whole = "a\u0308".encode(), "\u00e4".encode()
    repo.write(apart + b"/" + apart)
    repo.write(b"\xff")
    found = walker(repo, IgnoreSettings("", precompose_unicode=True)).walk()
    assert found.files.keys() == {b"\xff"}, "on Linux the composed folder is not there"
    repo.write(whole)
    repo.path(apart + b"/" + apart).unlink()
    repo.path(apart).rmdir()
    repo.write(apart)
    found = walker(repo, IgnoreSettings("", precompose_unicode=True)).walk()
    assert found.files.keys() == {b"\xff", whole}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to change user")
def test_an_unreadable_folder_is_reported_and_the_rest_is_listed() -> None:
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o755)
        repo = GitRepo.init(Path(base) / "repo")
        repo.commit("one", {"shut/tracked": "", "closed/tracked": "", "open/file": ""})
        repo.write("shut/untracked")
        GitRepo.init(repo.path("shut-repo"))
        repo.path("shut").chmod(0o711)
        repo.path("shut-repo").chmod(0o711)
        repo.path("closed").chmod(0o700)
        one = walker(repo, NO_EXCLUDES)
        os.seteuid(65534)
        try:
            if not os.access(repo.root, os.R_OK, effective_ids=True):
                pytest.skip("the folder for temporary files is not open to all")
            found = one.walk()
        finally:
            os.seteuid(0)

    assert {b"shut", b"closed"} <= found.unreadable.keys()
    assert found.unreadable[b"closed"] == "Permission denied"
    assert found.files.keys() == {b"open/file", b"shut/tracked"}
    assert found.nested == {b"shut-repo"}
    assert b"shut" in found.folders


def test_a_plain_folder_heeds_its_ignore_files_and_skips_repositories(tmp_path: Path) -> None:
    root = tmp_path / "folder"
    repo = GitRepo(root)  # not a repository; only to write files
    repo.write_all({".gitignore": "*.o\n", "a.o": "", "a.c": "", "d/b.c": "", "d/.git/config": ""})
    GitRepo.init(root / "inner").write("file")

    found = Walker(root, Ignore(root)).walk()

    assert found.files.keys() == {b".gitignore", b"a.c", b"d/b.c"}
    assert found.nested == {b"inner"}
    assert found.folders.keys() == {b"", b"d"}


def test_a_root_that_is_gone_has_nothing(tmp_path: Path) -> None:
    found = Walker(tmp_path / "no", Ignore(tmp_path / "no")).walk()
    assert (found.files, found.folders) == ({}, {})


@pytest.mark.slow
def test_a_folder_deeper_than_python_recurses_is_walked(repo: GitRepo) -> None:
    deep = "/".join(["d"] * 1200)
    try:
        subprocess.run(["mkdir", "-p", repo.path(deep)], check=True)
        repo.path(deep + "/file").touch()
        assert found_as_git_lists(repo) == {deep.encode() + b"/file"}
    finally:
        subprocess.run(["rm", "-rf", repo.path("d")], check=True)  # rmtree recurses


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("stages", ["0", "2", "02", "12", "13"])
@pytest.mark.parametrize("link_stage", ["0", "1", "2", "3"])
def test_a_conflict_between_a_submodule_and_a_file_at_a_folder(
    repo: GitRepo, ignore_case: bool, stages: str, link_stage: str
) -> None:
    repo.config("core.ignoreCase", str(ignore_case).lower())
    repo.write("Sub/inner")
    for stage in stages:
        track(repo, {b"Sub": b"100644"}, stage=int(stage))
    track(repo, {b"Sub": b"160000"}, stage=int(link_stage))

    found = walker(repo, IgnoreSettings("", ignore_case=ignore_case)).walk()

    assert listed(found) == expected(repo)


def test_sources_other_than_folders_are_reported(repo: GitRepo, tmp_path: Path) -> None:
    repo.write_all({".gitignore": "skip/\n", "d/.gitignore": "", "skip/.gitignore": ""})
    repo.path("half/.git").mkdir(parents=True)
    git_dir = os.fsencode(repo.root / ".git")
    ignore = Ignore(repo.root, IgnoreSettings(str(tmp_path / "own")), common_dir=git_dir)
    found = Walker(repo.root, ignore, git_dir=git_dir).walk()

    assert ignore.own_files == (git_dir + b"/info/exclude", os.fsencode(tmp_path / "own"))
    assert found.ignore_files == {
        b".gitignore": repo.path(".gitignore").lstat(),
        b"d/.gitignore": repo.path("d/.gitignore").lstat(),
    }
    assert found.marks == {b"half": False}


def test_untracked_folders_of_other_tools_are_left_out_with_their_names(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {".serena/tracked.md": "kept\n", "code.py": "x = 1\n"})
    for path in (".codegraph/graph.json", "sub/.codegraph/copy.py", ".aider.tags.cache.v4/db.py"):
        make_file(repo.root, os.fsencode(path), b"x = 1\n")
    make_file(repo.root, b".codegraph.py", b"x = 1\n")
    found = walk(repo)
    assert sorted(found.files) == [b".codegraph.py", b".serena/tracked.md", b"code.py"]
    assert found.tools == {b".codegraph", b"sub/.codegraph", b".aider.tags.cache.v4"}
