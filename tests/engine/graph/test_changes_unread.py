"""The impact of changes if there was no time to read either side: an answer that says `partial`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.answers.branch_answers import DiffAnswer
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.versions import broken_uses, version_queries
from codelens.index.view_update import FEW_FILES
from codelens.render import graph_text

NOW = "def fold(sheet, times):\n    return sheet * times\n"


@pytest.fixture
def folded(tmp_path: Path) -> GitRepo:
    """A signature that changes: once in a commit, once in the files."""
    repo = GitRepo.init(tmp_path / "repo")
    uses = "from paper import fold\n\n\ndef crane():\n    return fold(1)\n"
    repo.commit("one", {"paper.py": "def fold(sheet):\n    return sheet\n", "crane.py": uses})
    repo.commit("two", {"paper.py": NOW})
    repo.write("paper.py", NOW.replace("times):", "times, mirrored):"))
    return repo


def test_a_diff_of_commits_that_were_not_read(engine: Engine, folded: GitRepo) -> None:
    answer = engine.diff("HEAD~1..HEAD", path=folded.root, budget_ms=0)
    assert answer.receipt.status == "partial" and answer.at_least
    assert [file.path for file in answer.files] == ["paper.py"]


def test_the_impact_of_changes_against_a_commit_that_was_not_read(
    engine: Engine, folded: GitRepo
) -> None:
    engine.look(path=folded.root)
    answer = engine.impact(diff="HEAD", path=folded.root, budget_ms=0)
    assert answer.receipt.status == "partial" and answer.at_least
    assert [change.node.handle for change in answer.changed] == ["paper.py#fold"]
    (head,), _ = graph_text.impact(answer)
    assert not answer.totals and "0 definitions hit so far" in head


@pytest.fixture
def edited(tmp_path: Path) -> GitRepo:
    """A tree with an edit, a removal, a staged file and an untracked one."""
    repo = GitRepo.init(tmp_path / "edited")
    files = {f"part{at}/m{at}.py": f"def m{at}():\n    return {at}\n" for at in range(12)}
    repo.commit("one", {**files, "paper.py": NOW})
    repo.write("part3/m3.py", "def m3():\n    return 33\n")
    repo.write("part4/staged.py", "def staged():\n    return 4\n")
    repo.git("add", "part4/staged.py")
    repo.write("part5/new.py", "def new():\n    return 5\n")
    (repo.root / "part6" / "m6.py").unlink()
    return repo


def test_of_a_view_without_any_file_what_differs_is_named_and_nothing_else_is_removed(
    engine: Engine, edited: GitRepo
) -> None:
    answer = engine.impact(diff="HEAD", path=edited.root, budget_ms=0)
    assert answer.receipt.status == "partial" and answer.at_least
    handles = {change.node.handle for change in answer.changed}
    assert {handle for handle in handles if handle.startswith("HEAD:")} == {
        "HEAD:part6/m6.py", "HEAD:part6/m6.py#m6",
    }  # fmt: skip
    reported = " ".join([*handles, *answer.notes])
    assert "part3/m3.py" in reported and "part4/staged.py" in reported
    assert "part5/new.py" in reported or any("find all files" in note for note in answer.notes)
    assert "m1.py" not in reported and "paper.py" not in reported


def test_nothing_is_denied_in_the_text_of_an_answer_that_is_not_whole(
    engine: Engine, folded: GitRepo
) -> None:
    answer = engine.impact(diff="HEAD", path=folded.root, budget_ms=0)
    head, _ = graph_text.impact(replace(answer, changed=()))
    assert head == [f"nothing differs against {answer.base} in the files read so far"]


def test_files_that_differ_are_read_first(engine: Engine, edited: GitRepo) -> None:
    """A server leaves a large first view to the background, but reads differing files at once."""
    for at in range(FEW_FILES):
        edited.write(f"more/n{at}.py", f"def n{at}():\n    return {at}\n")
    edited.git("add", "more")
    edited.git("commit", "--quiet", "--message", "more", "--", "more")
    whole = engine.impact(diff="HEAD", path=edited.root)
    settings = Settings(home=edited.root.with_name("other"))
    with Engine(settings, keep_going=True) as server:
        answer = server.impact(diff="HEAD", path=edited.root, budget_ms=60_000)
    assert {change.node.handle for change in whole.changed} >= {
        "part3/m3.py#m3", "part4/staged.py#staged", "part5/new.py#new", "HEAD:part6/m6.py#m6",
    }  # fmt: skip
    assert answer.changed == whole.changed


def test_a_server_compares_untracked_files_that_it_did_not_read(
    edited: GitRepo, tmp_path: Path
) -> None:
    for at in range(FEW_FILES):
        edited.write(f"more/n{at}.py", f"N{at} = {at}\n")
    with Engine(Settings(home=tmp_path / "home"), keep_going=True) as server:
        diff = server.diff(path=edited.root, budget_ms=60_000)
    paths = {file.path for file in diff.files}
    assert {"part5/new.py", "part4/staged.py", "more/n7.py"} <= paths and "paper.py" not in paths


def test_a_view_that_is_behind_denies_no_edit(engine: Engine, edited: GitRepo) -> None:
    engine.look(path=edited.root)
    edited.write("part8/m8.py", "def m8():\n    return 88\n")
    impact = engine.impact(diff="HEAD", path=edited.root, budget_ms=0)
    reported = " ".join([*(change.node.handle for change in impact.changed), *impact.notes])
    assert "part8/m8.py" in reported
    diff = engine.diff(path=edited.root, budget_ms=0)
    assert "part8/m8.py" in {file.path for file in diff.files}


FOLDS = [f"fold{at}" for at in range(6)]


@pytest.fixture
def unfolded(tmp_path: Path) -> GitRepo:
    """A commit removes six functions that another file goes on using."""
    repo = GitRepo.init(tmp_path / "unfolded")
    functions = "".join(f"def {name}(sheet):\n    return sheet\n\n\n" for name in FOLDS)
    uses = "".join(f"def user_{name}():\n    return paper.{name}(1)\n\n\n" for name in FOLDS)
    repo.commit("one", {"paper.py": functions, "crane.py": f"import paper\n\n\n{uses}"})
    repo.commit("two", {"paper.py": "SIZE = 4\n"})
    return repo


def broken_names(answer: DiffAnswer) -> set[str]:
    return {use.handle.rpartition("#")[2] for use in answer.broken}


def test_definitions_whose_uses_there_was_no_time_for_are_counted(
    engine: Engine, unfolded: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(version_queries, "seconds_for_uses", lambda *_: 0.0)
        answer = engine.diff("HEAD~1..HEAD", path=unfolded.root)
    assert len(broken_names(answer)) <= 1 and answer.at_least
    note = "at least: there was no time for uses of 5 of 6 definitions that may break them"
    assert any(line.startswith(note) for line in answer.notes)
    assert broken_names(engine.diff("HEAD~1..HEAD", path=unfolded.root, budget_ms=60_000)) == {
        *FOLDS
    }


def test_a_file_too_large_for_both_sides_is_not_promised(home: Path, unfolded: GitRepo) -> None:
    unfolded.commit("three", {"table.json": f'{{"fold0": "{"x" * 5_000}"}}\n'})
    unfolded.commit("four", {"paper.py": "SIZE = 5\n\n\ndef fold0(sheet):\n    return sheet\n"})
    unfolded.commit("five", {"paper.py": "SIZE = 5\n"})
    with Engine(Settings(home=home, max_file_bytes=4_000)) as engine:
        engine.look(path=unfolded.root)
        answer = engine.diff("HEAD~1..HEAD", path=unfolded.root)
        assert broken_names(answer) == {"fold0"}
        assert not any("not indexed yet" in note for note in answer.notes)


def test_words_of_a_text_are_found_the_same_way_however_many_are_asked_for() -> None:
    text = b"def fold(sheet):\n    return unfold(sheet_2) + crease-line\n"
    words = frozenset(b"fold sheet unfold sheet_ crease-line line shee def".split())
    many = words.union(b"other%d" % at for at in range(broken_uses.FEW_WORDS))
    assert broken_uses.words_in(text, words) == broken_uses.words_in(text, many)
    assert broken_uses.words_in(text, words) == {b"fold", b"sheet", b"unfold", b"line", b"def"}


def test_a_budget_reads_files_outside_of_the_paths_that_use_what_is_gone(
    engine: Engine, tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "outside")
    uses = "from lib.paper import fold\n\n\ndef crane():\n    return fold(1)\n"
    repo.commit("one", {"lib/paper.py": NOW, "app/crane.py": uses})
    repo.commit("two", {"lib/paper.py": "SIZE = 4\n", "app/crane.py": f"{uses}\n\nLATER = 1\n"})
    engine.look(path=repo.root)
    answer = engine.diff("HEAD~1..HEAD", path=repo.root, globs=["lib"], budget_ms=60_000)
    assert broken_names(answer) == {"fold"}
    assert not any("not indexed yet" in note for note in answer.notes)


def test_files_that_git_rewrites_at_checkout_are_read_at_the_commit_too(
    engine: Engine, tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "rewritten")
    repo.commit("one", {"paper.py": NOW, "sheet.py": "SIZE = 4\nWIDTH = 3\n"})
    repo.git("config", "core.autocrlf", "true")
    for name in ("paper.py", "sheet.py"):
        (repo.root / name).unlink()
    repo.git("checkout", "-q", "-f", "HEAD", "--", ".")
    assert b"\r\n" in (repo.root / "sheet.py").read_bytes()
    (repo.root / "paper.py").write_bytes(b"SIZE = 4\r\n")
    answer = engine.diff(path=repo.root)
    assert [file.path for file in answer.files] == ["paper.py"]
    assert not answer.notes and not answer.at_least
