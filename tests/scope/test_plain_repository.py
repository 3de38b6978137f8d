"""Reading a repository without libgit2 gives the same result as libgit2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pygit2
import pytest
from gitrepo import GitRepo
from hypothesis import given
from hypothesis import strategies as st

from codelens.errors import CodelensError
from codelens.scope import plain_repository as plain_module
from codelens.scope.location import locate
from codelens.scope.plain_repository import NotPlain, plain_repository, read_config
from codelens.scope.repository import Repository

NAMES = ("core.bare", "core.ignoreCase", "core.excludesFile", "core.x-y", "user.name", "a.b.core.x")

WORDS = st.sampled_from(
    [
        "[core]", "[Core]", "[core] ; remark", "[core", "core]", "[]", "[ core]", "[core ]",
        '[user "a b"]', '[a "b"]', '[a "b\\"c"]', '[a "b"c"]', "[a.b]", '[ "x"]', '[core "]',
        "[include]", '[includeIf "gitdir:x"]', "[core] bare = true", "[cöre]",
        "bare = true", "bare", "bare =", "bare=False", "\tbare = yes # why", "IGNORECASE = On",
        "ignoreCase = 1", "ignorecase = maybe", "excludesFile = ~/x y", "excludesfile = ~/été",
        'excludesfile = "a b"', 'excludesfile = "a', "excludesfile = a\\", "excludesfile = a\\\\",
        "excludesfile = a\\nb", "excludesfile = a\\qb", 'excludesfile = a "b # c" ; "d',
        "excludesfile = a;b", "excludesfile = 'a'", "x-y = a  b ", "x_y = 1", "1x = 2",
        "name = x\x0b",
        "= x", "# bare = true", "; \\", "", "  ", "\t", "name = Ann\r", "name = a\tb", "name = \0",
        "bare = true bare = false", "\ufeff[core]",
    ]
)  # fmt: skip


def said_by_libgit2(file: Path) -> dict[str, str | None]:
    config = pygit2.Config(str(file))
    said = {}
    for name in NAMES:
        try:
            said[name] = config[name]
        except KeyError:
            said[name] = None
    return said


@given(st.lists(WORDS, max_size=8), st.sampled_from(["\n", "\n\n"]), st.booleans())
def test_a_plain_config_reads_like_in_libgit2(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, ends: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "plain-config"
    text = end.join(lines) + end * ends
    file.write_bytes(text.encode())
    try:
        config = read_config([str(file)])
    except NotPlain:
        return
    # libgit2 must accept all that this reader accepts, with the same values.
    for name, value in said_by_libgit2(file).items():
        try:
            assert config.text(name) == value, text
        except NotPlain:
            assert value is not None
        try:
            said = config.truth(name)
        except NotPlain:
            continue
        if said is not None:
            assert said == pygit2.Config(str(file)).get_bool(name)


def test_a_plain_config_is_taken(tmp_path: Path) -> None:
    lower = tmp_path / "lower"
    lower.write_text(
        '[user]\n\tname = Ann "A" B\n\temail = a@b.c\n[core]\n\teditor = vi # of old\n'
    )
    upper = tmp_path / "upper"
    upper.write_text('[core]\n\tbare = false\n[remote "origin"]\n\turl = x\n[user]\nemail=d@e.f\n')
    config = read_config([str(lower), str(tmp_path / "none"), str(upper)])
    assert config.text("user.email") == "d@e.f"
    assert config.truth("core.bare") is False
    assert config.text("core.excludesFile") is None
    for name in ("user.name", "core.editor"):
        with pytest.raises(NotPlain):
            config.text(name)
    assert config.has_section("remote")
    assert not config.has_section("extensions")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", {"a.py": "x = 1\n"})
    return made


def opened(root: Path) -> object:
    """The result of opening a repository: a scope with its settings, or the error."""
    try:
        repository = Repository.at(root)
        return repository.scope(), repository.is_git and repository.ignore_settings()
    except CodelensError as error:
        return type(error), str(error)


CONFIGS = {
    "a folder for the files": "[core]\n\tworktree = ../elsewhere\n",
    "bare": "[core]\n\tbare = true\n",
    "an extension": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = o\n",
    "an unknown extension": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnew = x\n",
    "a later version": "[core]\n\trepositoryformatversion = 2\n",
    "cut off": "[core\n",
    "a line that goes on": "[core]\n\texcludesFile = a\\\nb\n",
    "another file": "[include]\n\tpath = other\n",
    "a remark": "[core]\n\texcludesFile = own # mine\n\tignoreCase = true\n",
    "settings": "[core]\n\texcludesFile = ~/own\n\tignoreCase = yes\n\tsparseCheckout\n",
}


@pytest.mark.parametrize("name", CONFIGS)
def test_any_config_gives_the_answer_of_libgit2(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    config = repo.root / ".git" / "config"
    (repo.root / ".git" / "other").write_text("[core]\n\tignoreCase = true\n")
    config.write_text(config.read_text() + CONFIGS[name])
    assert_as_libgit2(repo.root, monkeypatch)


def assert_as_libgit2(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = opened(root)
    monkeypatch.setattr("codelens.scope.repository.plain_repository", lambda _: None)
    assert before == opened(root)


def odd_head(text: bytes):
    return lambda repo: (repo.root / ".git" / "HEAD").write_bytes(text)


def odd_ref(text: bytes):
    return lambda repo: (repo.root / ".git" / "refs" / "heads" / "main").write_bytes(text)


def ref_as_folder(repo: GitRepo) -> None:
    ref = repo.root / ".git" / "refs" / "heads" / "main"
    ref.unlink()
    (ref / "below").mkdir(parents=True)


def linked_head(repo: GitRepo) -> None:
    head = repo.root / ".git" / "HEAD"
    head.unlink()
    head.symlink_to("refs/heads/main")


def damaged_packed(repo: GitRepo) -> None:
    repo.git("pack-refs", "--all")
    packed = repo.root / ".git" / "packed-refs"
    packed.write_bytes(packed.read_bytes().replace(b" refs/heads/main", b"x refs/heads/main"))


HEADS = {
    "nothing": odd_head(b""),
    "no end of line": odd_head(b"ref: refs/heads/main"),
    "blanks": odd_head(b"ref:   refs/heads/main  \n"),
    "two lines": odd_head(b"ref: refs/heads/main\nref: refs/heads/other\n"),
    "a tag": odd_head(b"ref: refs/tags/v1\n"),
    "none yet": odd_head(b"ref: refs/heads/none\n"),
    "up": odd_head(b"ref: refs/heads/../../config\n"),
    "locked": odd_head(b"ref: refs/heads/a.lock\n"),
    "not UTF-8": odd_head(b"ref: refs/heads/\xff\n"),
    "ref without an end": odd_ref(b"0" * 40),
    "ref cut off": odd_ref(b"0" * 39 + b"\n"),
    "ref with a remark": odd_ref(b"0" * 40 + b" x\n"),
    "ref of a ref": odd_ref(b"ref: refs/heads/none\n"),
    "ref in capitals": odd_ref(b"A" * 40 + b"\n"),
    "ref empty": odd_ref(b""),
    "a folder in place of a ref": ref_as_folder,
    "a link": linked_head,
    "packed, damaged": damaged_packed,
    "packed": lambda repo: repo.git("pack-refs", "--all"),
    "detached": lambda repo: repo.git("checkout", "-q", "--detach"),
    "another branch": lambda repo: repo.git("checkout", "-qb", "feature/x.1"),
    "an odd branch": lambda repo: repo.git("checkout", "-qb", "føø"),
    "grafts": lambda repo: (repo.root / ".git" / "info" / "grafts").write_bytes(b"x\n"),
    "ends of a shallow clone": lambda repo: (repo.root / ".git" / "shallow").write_bytes(b"x\n"),
    "no objects": lambda repo: shutil.rmtree(repo.root / ".git" / "objects"),
    "a common folder": lambda repo: (repo.root / ".git" / "commondir").write_bytes(b".\n"),
}


@pytest.mark.parametrize("name", HEADS)
def test_any_head_gives_the_answer_of_libgit2(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (repo.root / ".git" / "info").mkdir(exist_ok=True)
    HEADS[name](repo)
    assert_as_libgit2(repo.root, monkeypatch)


def is_plain(root: Path) -> bool:
    return plain_repository(locate(root)) is not None


def test_usual_repositories_are_plain(repo: GitRepo, tmp_path: Path) -> None:
    linked, clone, shallow = tmp_path / "linked", tmp_path / "clone", tmp_path / "shallow"
    repo.git("worktree", "add", "-q", "-b", "side", linked)
    GitRepo.clone(repo.root, clone)
    GitRepo.clone(repo.root, shallow, "--depth=1")
    for root in (repo.root, linked, clone, shallow):
        plain = plain_repository(locate(root))
        assert plain is not None
        assert plain.head() == (
            Repository.at(root).git.head.shorthand,
            str(Repository.at(root).git.head.target),
        )


def test_unusual_repositories_are_libgit2s(repo: GitRepo, tmp_path: Path) -> None:
    moved, module, apart, bare = (tmp_path / name for name in ("moved", "super", "apart", "bare"))
    repo.git("worktree", "add", "-q", tmp_path / "linked")
    (tmp_path / "linked").rename(moved)
    outer = GitRepo.init(module)
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", repo.root, "inner")
    GitRepo.init(apart, f"--separate-git-dir={tmp_path / 'elsewhere.git'}")
    GitRepo.clone(repo.root, bare, "--bare")
    for root in (moved, module / "inner", apart, bare):
        assert not is_plain(root)
    linked = tmp_path / "by-link"
    linked.mkdir()
    (linked / ".git").symlink_to(repo.root / ".git")
    assert not is_plain(linked)


def test_a_repository_of_another_user_is_libgit2s(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_plain(repo.root)
    mine = os.getuid()
    for name in ("getuid", "geteuid"):
        monkeypatch.setattr(plain_module.os, name, lambda: mine + 1)
    assert not is_plain(repo.root)


def test_the_users_own_config_may_make_it_libgit2s(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert is_plain(repo.root)
    (tmp_path / ".gitconfig").write_text("[core]\n\tworktree = /tmp\n")
    assert not is_plain(repo.root)


def test_settings_of_all_files_count_as_with_libgit2(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for level, text in {
        ".config/git/config": "[core]\n\texcludesFile = xdg\n\tignoreCase = true\n",
        ".gitconfig": "[core]\n\texcludesFile = home\n",
    }.items():
        (tmp_path / level).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / level).write_text(text)
    # libgit2 looks for the user's files when it is loaded.
    script = (
        "import sys; from codelens.scope import repository as module;"
        "module.plain_repository = module.plain_repository if sys.argv[2:] else lambda _: None;"
        "print(module.Repository.at(sys.argv[1]).ignore_settings(), 'pygit2' in sys.modules)"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script, str(repo.root), *plain], capture_output=True, text=True,
            check=True,
        ).stdout.split(") ")
        for plain in ((), ("plain",))
    ]  # fmt: skip
    assert said[0][0] == said[1][0]
    assert "excludes_file='home', ignore_case=True" in said[0][0]
    assert [one[1].strip() for one in said] == ["True", "False"]


def test_libgit2_is_opened_when_it_is_needed(repo: GitRepo) -> None:
    repository = Repository.at(repo.root)
    scope = repository.scope()
    assert repository.has_object(bytes.fromhex(scope.head))
    assert repository.git.head.shorthand == scope.branch == "main"
