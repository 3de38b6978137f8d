"""Outlines of files and folders: through the engine, on real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.answers.reading_answers import OutlineFile
from codelens.engine.engine import Engine
from codelens.errors import BadHandle, HandleNotFound, OutsideWorktree
from codelens.render.text_pieces import folded

AUTH = '''\
"""Auth."""

LIMIT = 3


class Session:
    """A session.

    It ends.
    """

    def validate(self, token):
        def inner():
            return 1
        return inner()


def login(name):
    return Session()
'''


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", {"src/auth.py": AUTH, "src/sub/a.py": "A = 1\n", "top.txt": "x" * 10})
    return made


def one(engine: Engine, repo: GitRepo, target: str, **options) -> OutlineFile:
    (file,) = engine.outline(target, path=repo.root, **options).files
    return file


def test_a_file_is_folded_with_depth_lines_and_first_lines_of_docs(
    engine: Engine, repo: GitRepo
) -> None:
    file = one(engine, repo, "src/auth.py")
    assert (file.path, file.language, file.outcome, file.stale) == (
        "src/auth.py", "python", "parsed", False,
    )  # fmt: skip
    assert (file.lines, file.tokens) == (AUTH.count("\n"), -(-len(AUTH) // 4))
    rows = {item.name: item for item in file.items}
    assert (rows["Session"].depth, rows["Session"].doc) == (0, "A session.")
    assert rows["Session.validate"].depth == 1
    assert (rows["login"].start_line, rows["login"].end_line) == (18, 19)
    assert rows["login"].handle == "src/auth.py#login"


def test_a_folder_gives_its_files_and_counts_its_folders(engine: Engine, repo: GitRepo) -> None:
    answer = engine.outline("src", path=repo.root)
    assert [file.path for file in answer.files] == ["src/auth.py"]
    assert {item.depth for item in answer.files[0].items} == {0}
    assert [(folder.path, folder.files) for folder in answer.folders] == [("src/sub", 1)]
    assert engine.outline("src/", path=repo.root).files == answer.files
    root = engine.outline(path=repo.root)
    assert (root.target, [folder.path for folder in root.folders]) == (".", ["src"])


def test_only_the_members_of_a_definition_are_folded(engine: Engine, repo: GitRepo) -> None:
    names = [item.name for item in one(engine, repo, "src/auth.py#Session").items]
    assert names[:2] == ["Session", "Session.validate"]
    assert "login" not in names
    assert one(engine, repo, "Session").items[0].name == "Session"


def test_lines_give_the_definitions_on_them(engine: Engine, repo: GitRepo) -> None:
    assert [item.name for item in one(engine, repo, "src/auth.py:18-19").items] == ["login"]


def test_an_edit_is_folded_at_once_even_if_the_look_ran_out(engine: Engine, repo: GitRepo) -> None:
    one(engine, repo, "src/auth.py")
    repo.write("src/auth.py", "def other():\n    pass\n")
    names = [item.name for item in one(engine, repo, "src/auth.py", budget_ms=0).items]
    assert names == ["other"]


def test_many_definitions_are_cut_and_counted(engine: Engine, repo: GitRepo) -> None:
    repo.write("src/many.py", "".join(f"def f{at}(): pass\n" for at in range(600)) + "X = 1\n")
    answer = engine.outline("src/many.py", path=repo.root)
    assert len(answer.files[0].items) == 500
    assert answer.notes == (
        "101 more definitions in src/many.py left out; outline one by its handle",
    )
    answer = engine.outline("src", path=repo.root)
    many = next(file for file in answer.files if file.path == "src/many.py")
    assert len(many.items) == 12
    assert answer.notes == ("589 more definitions in src/many.py: outline it",)


def test_values_yield_to_functions_if_not_all_fits(engine: Engine, repo: GitRepo) -> None:
    repo.write(
        "src/values.py", "".join(f"V{at} = {at}\n" for at in range(20)) + "def act(): pass\n"
    )
    answer = engine.outline("src", path=repo.root)
    values = next(file for file in answer.files if file.path == "src/values.py")
    assert [item.name for item in values.items][-1] == "act"
    assert [item.start_line for item in values.items] == sorted(
        item.start_line for item in values.items
    )


def test_files_without_definitions_are_named_with_their_size(engine: Engine, repo: GitRepo) -> None:
    repo.write_all({"empty.py": "", "logo.bin": b"\0" * 100})
    files = {file.path: file for file in engine.outline(path=repo.root).files}
    assert (files["top.txt"].tokens, files["top.txt"].items) == (3, ())
    assert files["empty.py"].lines == 0
    assert files["logo.bin"].outcome == "binary"
    assert one(engine, repo, "logo.bin").outcome == "binary"


def test_a_ref_is_folded_with_handles_that_name_it(engine: Engine, repo: GitRepo) -> None:
    repo.git("tag", "v1")
    repo.write("src/auth.py", "")
    handles = [item.handle for item in one(engine, repo, "src/auth.py", ref="v1").items]
    assert "v1:src/auth.py#login" in handles
    again = one(engine, repo, "v1:src/auth.py#login", ref="v1")
    assert [item.handle for item in again.items] == ["v1:src/auth.py#login"]


def test_a_missing_target_is_an_error_with_the_nearest_name(engine: Engine, repo: GitRepo) -> None:
    with pytest.raises(HandleNotFound) as caught:
        engine.outline("auth.py", path=repo.root)
    assert caught.value.near == ("src/auth.py",)
    with pytest.raises(HandleNotFound) as caught:
        engine.outline("srcs", path=repo.root)
    assert caught.value.near == ("src/",)
    with pytest.raises(OutsideWorktree):
        engine.outline("../elsewhere", path=repo.root)
    with pytest.raises(BadHandle):
        engine.outline("", path=repo.root)


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_said(engine: Engine, repo: GitRepo) -> None:
    repo.path("src/auth.py").chmod(0)
    answer = engine.outline("src/auth.py", path=repo.root)
    assert "cannot read" in answer.notes[0]


def test_methods_outside_their_type_name_their_owner(engine: Engine, repo: GitRepo) -> None:
    traits = "impl ToTokens for A {\n    fn to_tokens(&self) {}\n}\n"
    repo.write("src/lib.rs", f"struct A;\nstruct B;\n{traits}{traits.replace(' A ', ' B ')}")
    shown = [folded(item) for item in one(engine, repo, "src/lib.rs").items]
    assert "A: fn to_tokens(&self)" in shown
    assert "B: fn to_tokens(&self)" in shown
    repo.write("m.go", "package m\n\ntype T struct{}\n\nfunc (t T) Run() {}\n")
    assert "func (t T) Run()" in [folded(item) for item in one(engine, repo, "m.go").items]
