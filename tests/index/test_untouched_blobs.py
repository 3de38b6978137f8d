"""A worktree reads no file whose text git's index and the store know, and every other one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.index import worktree_comparison
from codelens.index.text_facts import DiskSource, Fetched, Work
from codelens.store.database.database_opening import open_index

GREEK = "αβγδ"
FILES = {
    "src/one.py": "def lantern(): pass\n",
    "src/two.py": "def kindle(): pass\n",
    "src/deep/three.py": f"name = '{GREEK}'\n",
    "src/head.h": "class Wick { public: int burn(); };\n",
    "tool": "#!/usr/bin/env python3\ndef wax(): pass\n",
    "empty.py": "",
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The files that were read since; git's index is used for any number of files."""
    paths: set[str] = set()
    fetch = DiskSource.fetch

    def noting(self: DiskSource, work: Work) -> Fetched:
        paths.add(work.path.decode())
        return fetch(self, work)

    monkeypatch.setattr(DiskSource, "fetch", noting)
    monkeypatch.setattr(worktree_comparison, "MANY_FILES", 1)
    return paths


def look_again(engine: Engine, tree: GitRepo, read: set[str]) -> None:
    """Looks at a worktree with a settled index, and notes only what this look reads."""
    tree.settle()
    read.clear()
    engine.look(path=tree.root)


def manifest(engine: Engine, root: Path) -> dict[str, tuple[str, str]]:
    """Hash and language of each file of a worktree."""
    look = engine.status(path=root)
    with closing(open_index(Path(look.index_path))) as db:
        rows = db.rows(
            "SELECT p.path, hex(c.hash), c.language FROM views v JOIN view_files f ON f.view = v.id"
            " JOIN paths p ON p.id = f.path JOIN contents c ON c.id = f.content"
            " WHERE v.worktree = ?",
            (str(root),),
        )
    return {os.fsdecode(path): (digest, language) for path, digest, language in rows}


def check(engine: Engine, tree: GitRepo, tmp_path: Path) -> None:
    """Compares a worktree's view with one that was built from nothing."""
    found = manifest(engine, tree.root)
    with Engine(Settings(home=tmp_path / "fresh")) as fresh:
        fresh.look(path=tree.root)
        assert found == manifest(fresh, tree.root)
    assert found


def test_a_second_worktree_reads_nothing(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "second")
    second.settle()
    look = engine.look(path=second.root)
    assert (look.status, look.indexed, look.files) == ("fresh", 0, len(FILES))
    assert read == set()
    check(engine, second, tmp_path)
    read.clear()
    assert engine.look(path=second.root).checked == len(FILES)
    second.write("src/two.py", "def snuffed(): pass\n")
    assert engine.search("snuffed", path=second.root).results[0].path == "src/two.py"
    assert read == {"src/two.py"}


@pytest.mark.parametrize("home", ["/dev/null", "/dev/null/home", "/no/such/folder"])
def test_a_home_that_is_no_folder_has_no_attributes(
    home: str, repo: GitRepo, engine: Engine, read: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    second = repo.worktree(repo.root.parent / "second", branch="second")
    second.settle()
    monkeypatch.setenv("HOME", home)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert engine.look(path=second.root).status == "fresh"
    assert not read


def test_a_file_as_new_as_the_index_is_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "second")
    time.sleep(0.06)
    second.write("src/one.py", "def lampion(): pass\n")
    second.git("add", "-A")
    newest = (second.root / "src/one.py").stat().st_ctime_ns
    os.utime(second.index_file, ns=(newest, newest))
    time.sleep(0.06)
    engine.look(path=second.root)
    assert read == {"src/one.py"}
    check(engine, second, tmp_path)


def test_a_change_that_keeps_size_and_mtime_is_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "second")
    file = second.root / "src/one.py"
    before = file.stat()
    time.sleep(0.06)
    file.write_text(FILES["src/one.py"].replace("lantern", "lampion"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    second.settle()
    engine.look(path=second.root)
    assert read == {"src/one.py"}
    check(engine, second, tmp_path)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_does_not_check_is_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path, flag: str
) -> None:
    second = repo.worktree(tmp_path / "second")
    second.git("update-index", flag, "src/one.py", "src/two.py")
    second.write("src/one.py", "def lampion(): pass\n")
    second.settle()
    engine.look(path=second.root)
    assert read == {"src/one.py", "src/two.py"}
    check(engine, second, tmp_path)


def test_files_of_a_conflict_and_untracked_ones_are_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("side", {"src/one.py": "def left(): pass\n"})
    second = repo.worktree(tmp_path / "second", "main")
    second.commit("own", {"src/one.py": "def right(): pass\n"})
    second.git("merge", "side", check=False)
    second.write("src/new.py", "def fresh(): pass\n")
    second.git("add", "-N", "src/new.py")
    second.write("src/other.py", "def other(): pass\n")
    second.settle()
    engine.look(path=second.root)
    assert read == {"src/one.py", "src/new.py", "src/other.py"}
    check(engine, second, tmp_path)


def test_line_ends_that_git_converts_are_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    repo.config("core.autocrlf", "true")
    second = repo.worktree(tmp_path / "second")
    repo.git("config", "--unset", "core.autocrlf")
    assert second.path("src/one.py").read_bytes().endswith(b"\r\n")
    second.settle()
    engine.look(path=second.root)
    assert read == FILES.keys() - {"empty.py"}
    check(engine, second, tmp_path)


ENCODING = "working-tree-encoding=GBK"
Arrange = Callable[[GitRepo], None]


def add(repo: GitRepo, attributes: str, text: str) -> None:
    """Commits attributes, with the file in the encoding that they name."""
    greek = FILES["src/deep/three.py"].encode("gbk")
    repo.commit("attributes", {attributes: text, "src/deep/three.py": greek})


def of_the_root(repo: GitRepo) -> None:
    add(repo, ".gitattributes", f"*.py {ENCODING}\n")


def of_a_folder(repo: GitRepo) -> None:
    add(repo, "src/deep/.gitattributes", f"three.py {ENCODING}\n")


def of_a_macro(repo: GitRepo) -> None:
    add(repo, ".gitattributes", f"[attr]odd {ENCODING}\nsrc/deep/*.py odd\n")


def of_a_quoted_pattern(repo: GitRepo) -> None:
    add(repo, ".gitattributes", f'"src/**/three.py" {ENCODING}\n')


def of_info(repo: GitRepo) -> None:
    repo.write(".git/info/attributes", f"src/deep/*\t{ENCODING}\r\n")


def of_the_user(repo: GitRepo) -> None:
    rules = repo.root.parent / "attributes"
    rules.write_text(f"*.py {ENCODING}\n")
    repo.config("core.attributesFile", str(rules))


@pytest.mark.parametrize(
    "arrange",
    [of_the_root, of_a_folder, of_a_macro, of_a_quoted_pattern, of_info, of_the_user],
)
def test_a_text_in_another_encoding_of_the_same_size_is_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path, arrange: Arrange
) -> None:
    arrange(repo)
    engine.look(path=repo.root)
    second = repo.worktree(tmp_path / "second")
    data = second.path("src/deep/three.py").read_bytes()
    assert data == FILES["src/deep/three.py"].encode("gbk")
    assert len(data) == len(FILES["src/deep/three.py"].encode())
    look_again(engine, second, read)
    assert "src/deep/three.py" in read
    check(engine, second, tmp_path)


def test_an_id_that_git_replaces_by_another_is_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    repo.commit("with an id", {"src/id.py": f"# $Id: {'0' * 40} $\n"})
    repo.write(".git/info/attributes", "src/id.py ident\n")
    engine.look(path=repo.root)
    second = repo.worktree(tmp_path / "second")
    data = second.path("src/id.py").read_bytes()
    assert data != repo.path("src/id.py").read_bytes()
    assert len(data) == repo.path("src/id.py").stat().st_size
    look_again(engine, second, read)
    assert "src/id.py" in read
    check(engine, second, tmp_path)


def test_files_older_than_the_removal_of_attributes_are_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    of_info(repo)
    second = repo.worktree(tmp_path / "second")
    time.sleep(0.06)
    repo.path(".git/info/attributes").unlink()
    engine.look(path=repo.root)
    look_again(engine, second, read)
    assert "src/deep/three.py" in read
    assert second.path("src/deep/three.py").read_bytes() == FILES["src/deep/three.py"].encode("gbk")
    check(engine, second, tmp_path)


def test_files_older_than_their_attributes_are_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    of_a_folder(repo)
    engine.look(path=repo.root)
    second = repo.worktree(tmp_path / "second")
    time.sleep(0.06)
    second.write("src/deep/.gitattributes", "# none any more\n")
    look_again(engine, second, read)
    assert read == {"src/deep/.gitattributes", "src/deep/three.py"}
    check(engine, second, tmp_path)


def test_an_attribute_file_that_only_git_has_counts_for_all(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    of_a_folder(repo)
    second = repo.worktree(tmp_path / "second")
    second.path("src/deep/.gitattributes").unlink()
    look_again(engine, second, read)
    assert "src/deep/three.py" in read
    check(engine, second, tmp_path)


def test_files_outside_of_a_sparse_checkout_are_read(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "second")
    second.git("sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    second.write("src/one.py", "def lampion(): pass\n")
    second.settle()
    engine.look(path=second.root)
    assert read == {"src/one.py"}
    check(engine, second, tmp_path)


def test_a_link_in_place_of_a_file_is_no_file(
    repo: GitRepo, engine: Engine, read: set[str], tmp_path: Path
) -> None:
    second = repo.worktree(tmp_path / "second")
    (second.root / "src/one.py").unlink()
    (second.root / "src/one.py").symlink_to("two.py")
    second.settle()
    engine.look(path=second.root)
    assert read == set()
    assert "src/one.py" not in manifest(engine, second.root)
    check(engine, second, tmp_path)


def test_other_settings_decide_the_language_again(
    repo: GitRepo, read: set[str], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    second = repo.worktree(tmp_path / "second")
    second.settle()
    with Engine(Settings(home=home, languages={"*.h": "c"})) as other:
        other.look(path=second.root)
        found = manifest(other, second.root)
        assert found["src/head.h"][1] == "c"
    third = repo.worktree(tmp_path / "third")
    third.settle()
    read.clear()
    with Engine(Settings(home=home)) as engine:
        engine.look(path=third.root)
        # Not as in the second worktree, which was last used.
        assert manifest(engine, third.root)["src/head.h"][1] == "cpp"
        check(engine, third, tmp_path)
