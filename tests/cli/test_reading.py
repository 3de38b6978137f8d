"""`codelens expand` and `outline`: what a handle, a file or a folder returns."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from auth_files import AUTH, FILES
from gitrepo import GitRepo
from shop_repository import Run


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


def spawn(*args: str, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codelens", *args]
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_expand_gives_the_bare_text_of_one_handle(repo: GitRepo, run) -> None:
    ran = run("expand", "src/auth.py#login")
    assert ran.out == "def login(name):\n    return Session()\n"


def test_expand_titles_several_handles_and_numbers_lines_when_asked(repo: GitRepo, run) -> None:
    ran = run("expand", "-n", "src/auth.py#login", "README.md:1")
    assert ran.out.splitlines() == [
        "==> src/auth.py:9-10  src/auth.py#login",
        " 9  def login(name):",
        "10      return Session()",
        "==> README.md:1  README.md:1",
        "1  # Top",
    ]


def test_expand_answers_valid_handles_and_fails_for_the_rest(repo: GitRepo, run) -> None:
    ran = run("expand", "src/auth.py#logn", "README.md:1")
    assert ran.code == 2
    assert "# Top" in ran.out
    assert "src/auth.py#login" in ran.err


def test_expand_reads_handles_from_stdin(repo: GitRepo) -> None:
    done = spawn("expand", "-", cwd=repo.root, input="src/auth.py#login\nREADME.md:1\n")
    assert done.stdout.count("==> ") == 2


def test_expand_skips_the_indented_lines_of_a_search(repo: GitRepo) -> None:
    given = "src/auth.py#login\n  also src/auth.py#Session, README.md:1\n"
    done = spawn("expand", "-", cwd=repo.root, input=given)
    assert done.returncode == 0
    assert done.stdout == "def login(name):\n    return Session()\n"


def test_expand_as_json_has_the_text_or_the_error(repo: GitRepo, run) -> None:
    ran = run("expand", "--json", "src/auth.py#login", "nosuch")
    good, bad = ran.json["results"]
    assert good["text"] == "def login(name):\n    return Session()\n"
    assert (good["start_line"], good["end_line"]) == (9, 10)
    assert set(bad) == {"handle", "asked", "error", "near"}


def test_outline_folds_a_file(repo: GitRepo, run) -> None:
    ran = run("outline", "src/auth.py")
    head, *rows = ran.out.splitlines()
    assert head.startswith("src/auth.py  python, 10 lines, ~") and "folded ~" in head
    assert rows[0].split() == ["1-6", "class", "Session", "--", "A", "session."]
    assert rows[1].strip().startswith("4-6") and "def validate(self, token)" in rows[1]


def test_outline_of_a_folder_lists_files_and_folders(repo: GitRepo, run) -> None:
    found = run("outline", "--json").json
    assert [one["path"] for one in found["folders"]] == ["src"]
    assert found["folders"][0]["files"] == 1
    assert [one["path"] for one in found["results"]] == ["README.md"]


def test_outline_takes_a_path_relative_to_the_current_folder(
    repo: GitRepo, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root / "src")
    assert run("outline", "./auth.py").out.startswith("src/auth.py ")
    assert run("outline", ".").out.startswith("src/auth.py ")
    assert run("outline", "src/auth.py").out.startswith("src/auth.py ")
    assert run("outline", "..", "--json").json["target"] == "."
    assert run("outline", "../..").code == 2


def test_expand_takes_a_path_relative_to_the_current_folder(
    repo: GitRepo, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root / "src")
    assert run("expand", "./auth.py:9").out == "def login(name):\n"
    assert run("expand", "./auth.py#login").out.startswith("def login")
    assert run("expand", "../README.md:1").out == "# Top\n"
    (item,) = run("expand", "./auth.py:9", "--json").json["results"]
    assert (item["asked"], item["handle"]) == ("./auth.py:9", "src/auth.py:9")


def test_a_text_cut_by_its_lines_names_the_rest_by_a_handle(repo: GitRepo, run) -> None:
    ran = run("expand", "src/auth.py", "--max-lines", "3")
    rest = ran.err.partition("continue with ")[2].split()[0]
    assert rest == "src/auth.py:4-10"
    assert ran.out + run("expand", rest).out == AUTH
    (item,) = run("expand", "src/auth.py#Session", "--max-lines", "3", "--json").json["results"]
    assert item["rest"] == "src/auth.py:4-6"


def test_text_in_a_pipe_goes_out_as_it_is(repo: GitRepo) -> None:
    text = b"lantern \x1b[31m\x07 lit\r\nend"
    repo.write("raw.txt", text)
    command = [sys.executable, "-m", "codelens", "expand", "raw.txt"]
    done = subprocess.run(command, cwd=repo.root, capture_output=True)
    assert done.stdout == text + b"\n"


ODD = "odd/50% off #1.py"


def test_paths_in_json_are_those_on_the_disk(repo: GitRepo, run) -> None:
    repo.write(ODD, "def rebate(x):\n    return x\n\n\ndef twice(x):\n    return rebate(x)\n")
    handle = "odd/50%25 off %231.py#rebate"
    for command in (("search", "rebate"), ("expand", "rebate"), ("outline", "odd")):
        assert run(*command, "--json").json["results"][0]["path"] == ODD
    assert run("search", "rebate", "--json").json["results"][0]["handle"] == handle
    assert run("related", handle, "--json").json["target"]["path"] == ODD
    assert {one["path"] for one in run("impact", handle, "--json").json["results"]} == {ODD}


def test_paths_are_relative_to_the_current_folder_then_to_the_root(repo: GitRepo, run) -> None:
    repo.write("src/deep/auth.py", "def deeper():\n    pass\n")
    here = str(repo.root / "src")
    assert "src/auth.py" in run("-C", here, "outline", "auth.py").out
    assert "src/deep/auth.py" in run("-C", here, "outline", "deep").out
    assert run("-C", here, "expand", "auth.py#login").code == 0
    assert run("-C", here, "expand", "src/auth.py#login").code == 0
    assert run("-C", here, "expand", "deep/auth.py:1").out == "def deeper():\n"


def test_outline_passes_folders_that_hold_one_folder_alone(repo: GitRepo, run) -> None:
    repo.write("java/main/com/acme/A.java", "class A {}\n")
    repo.write("java/main/com/acme/B.java", "class B {}\n")
    assert "java/main/com/acme/  2 files" in run("outline").out
    assert "java/main/com/acme/A.java" in run("outline", "java").out


@pytest.mark.parametrize("name", ["a#b:c%.py", "50%.py", "a#b.py"])
def test_a_file_whose_name_looks_like_a_handle_is_found_by_its_name(
    name: str, run: Run, repo: GitRepo
) -> None:
    repo.write(name, "def odd():\n    pass\n")
    assert "def odd()" in run("outline", name).out
    assert "def odd()" in run("expand", name).out
    handle = json.loads(run("related", name, "--json").out)["target"]["handle"]
    for command in ("outline", "expand", "impact", "related"):
        assert run(command, handle).code in {0, 1}, command
    assert run("map", name).code == 0
