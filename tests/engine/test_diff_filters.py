"""`diff` filtered by path, kind and change; what a renamed file breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.answers.branch_answers import DiffAnswer
from codelens.engine.engine import Engine
from codelens.engine.graph.lazy_graph import WorkLimit
from codelens.engine.versions import broken_uses, diff_query
from codelens.render import branch_text
from codelens.scope.repository import Repository
from codelens.serve import answer_shapes

MOVED = """\
def shorten(text, limit):
    words = text.split()
    kept = words[:limit]
    return " ".join(kept) + ("..." if len(words) > limit else "")
"""
STAYING = "\n\ndef first(text):\n    return text[0]\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "repo")
    files = {
        "words.py": MOVED + STAYING,
        "tools/texts.py": "SIZE = 1\n",
        "use.py": "from words import shorten\n\n\ndef run():\n    return shorten('a b', 1)\n",
        "tests/test_words.py": "from words import first\n\n\ndef test_it():\n    first('a')\n",
    }
    repo.commit("one", files)
    return repo


def listed(answer: DiffAnswer) -> list[tuple[str, tuple[str, ...]]]:
    return [(line.handle, line.how) for file in answer.files for line in file.definitions]


@pytest.mark.parametrize(
    ("glob", "changed"), [("words.py", []), ("tools", ["tools/texts.py#SIZE"]), ("use.py", None)]
)
def test_moves_into_and_out_of_a_path_are_reported_as_moves(
    engine: Engine, repo: GitRepo, glob: str, changed: list[str] | None
) -> None:
    (repo.root / "words.py").write_text(STAYING.lstrip())
    (repo.root / "tools/texts.py").write_text("SIZE = 2\n\n\n" + MOVED)
    answer = engine.diff(path=repo.root, globs=[glob])
    if changed is None:
        assert (answer.files, answer.left_out, answer.broken) == ((), 2, ())
        return
    moved = ("tools/texts.py#shorten", ("moved",))
    assert listed(answer) == [*((handle, ("body",)) for handle in changed), moved]
    assert [use.how for use in answer.broken] == ["moved"]
    assert answer.removed_public == ("HEAD:words.py#shorten",)


def test_a_kind_filter_reports_only_that_kind(engine: Engine, repo: GitRepo) -> None:
    (repo.root / "words.py").write_text(MOVED.replace("shorten", "cut") + STAYING)
    (repo.root / "tools/texts.py").write_text("SIZE = 1\nLENGTH = 'other'\n")
    answer = engine.diff(path=repo.root, kinds=["renamed"])
    assert listed(answer) == [("words.py#cut", ("renamed",))]
    assert (len(answer.broken), answer.removed_public) == (1, ("HEAD:words.py#shorten",))
    answer = engine.diff(path=repo.root, kinds=["added"])
    assert listed(answer) == [("tools/texts.py#LENGTH", ("added",))]
    assert (answer.broken, answer.removed_public, answer.left_out) == ((), (), 1)


@pytest.mark.parametrize("also", ["", "\n\ndef last(text):\n    return text[-1]\n"])
def test_imports_of_a_file_that_was_renamed_are_broken_and_their_tests_to_be_run(
    engine: Engine, repo: GitRepo, also: str
) -> None:
    repo.git("mv", "words.py", "sentences.py")
    (repo.root / "sentences.py").write_text(MOVED + STAYING + also)
    answer = engine.diff(path=repo.root)
    (broken,) = answer.broken
    assert (broken.how, broken.handle, broken.now) == (
        "renamed", "HEAD:words.py", "sentences.py",
    )  # fmt: skip
    assert broken.uses == ("tests/test_words.py:1", "use.py:1")
    assert answer.tests == ("tests/test_words.py",)
    for name in ("use.py", "tests/test_words.py"):
        file = repo.root / name
        file.write_text(file.read_text().replace("words import", "sentences import"))
    assert engine.diff(path=repo.root).broken == ()


def test_a_renamed_file_that_its_users_still_find_breaks_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "go")
    user = "package main\n\nfunc main() { cut() }\n"
    files = {"go.mod": "module a\n", "cut.go": "package main\n\nfunc cut() {}\n", "main.go": user}
    repo.commit("one", files)
    repo.git("mv", "cut.go", "split.go")
    answer = engine.diff(path=repo.root)
    assert [(file.path, file.how) for file in answer.files] == [("split.go", "renamed")]
    assert answer.broken == ()


def test_a_vendored_file_counts_its_definitions_and_shows_them_by_its_name(
    engine: Engine, repo: GitRepo
) -> None:
    repo.write("vendor/lamp.py", MOVED + STAYING)
    options = {"path": repo.root, "uses": False}
    (file,) = engine.diff(**options, globs=["vendor"]).files
    assert (file.folded, file.folded_count, file.definitions) == ("vendored", 2, ())
    shown = branch_text.diff(engine.diff(**options))[1]
    assert "vendor/lamp.py  added  vendored (2 definitions: name its path)" in shown
    assert (
        json.loads(json.dumps(branch_text.diff_json(engine.diff(**options))))["results"][0][
            "folded_count"
        ]
        == 2
    )
    (file,) = engine.diff(**options, globs=["vendor/lamp.py"]).files
    assert (file.folded, file.folded_count, len(file.definitions)) == ("", 0, 2)


def test_files_that_a_path_leaves_out_are_counted(engine: Engine, repo: GitRepo) -> None:
    (repo.root / "words.py").write_text(MOVED)
    (repo.root / "use.py").write_text("")
    answer = engine.diff(path=repo.root, globs=["words.py"])
    assert "1 file (1 other file differs); definitions:" in branch_text.diff(answer)[0][0]
    assert branch_text.diff_json(answer)["left_out"] == 1
    assert "1 other file not shown" in branch_text.diff_markdown(answer)


def test_every_broken_use_is_in_json_and_counted_in_text(engine: Engine, repo: GitRepo) -> None:
    calls = "".join(f"    shorten('a', {at})\n" for at in range(30))
    repo.commit("more", {"many.py": f"from words import shorten\n\n\ndef run():\n{calls}"})
    (repo.root / "words.py").write_text(STAYING)
    answer = engine.diff(path=repo.root)
    (use,) = json.loads(json.dumps(branch_text.diff_json(answer)))["broken"]
    assert use["count"] == len(use["uses"]) == 33
    line = next(line for line in branch_text.diff(answer)[1] if line.startswith("broken"))
    assert line.endswith(" and 28 more")
    for tokens, sent in ((3000, 20), (6000, 33)):
        (use,) = json.loads(answer_shapes.diff(answer, "json", tokens))["broken"]
        assert (len(use["uses"]), use["count"]) == (sent, 33)


def test_definitions_beyond_those_that_are_asked_about_are_counted(
    engine: Engine, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken_uses, "MOST_ASKED", 3)
    many = "".join(f"def part_{at}(text):\n    return text[{at}]\n\n\n" for at in range(9))
    repo.commit("many", {"many.py": many})
    (repo.root / "many.py").write_text(many.replace("text[", "text[1 + "))
    (note,) = engine.diff(path=repo.root).notes
    assert note == "at least: tests were searched for the first 3 of 9 definitions"
    (repo.root / "many.py").write_text("")
    notes = engine.diff(path=repo.root).notes
    assert "at least: uses were searched for the first 3 of 9 definitions" in notes


def test_no_file_outside_a_path_is_read(
    engine: Engine, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.root / "words.py").write_text(STAYING.lstrip())
    (repo.root / "tools/texts.py").write_text("SIZE = 2\n\n\n" + MOVED)
    repo.commit("two", {})
    monkeypatch.setattr(diff_query, "_FEW_ELSEWHERE", 0)
    read: list[bytes] = []
    read_blob = Repository.read_blob

    def noted(repository: Repository, oid: bytes) -> bytes:
        read.append(oid)
        return read_blob(repository, oid)

    monkeypatch.setattr(Repository, "read_blob", noted)
    answer = engine.diff("HEAD~1..HEAD", path=repo.root, globs=["words.py"], uses=False)
    assert listed(answer) == [("HEAD~1:words.py#shorten", ("removed",))]
    assert (len(read), answer.left_out) == (2, 1)
    assert "1 file outside of these paths differs and was not read" in answer.notes[0]


def test_uses_cut_by_time_are_reported_and_followed_on_the_next_call(
    engine: Engine, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    uses = {f"use{at}.py": "from words import shorten\n\nshorten('', 1)\n" for at in range(3)}
    repo.commit("uses", uses)
    (repo.root / "words.py").write_text(STAYING.lstrip())
    monkeypatch.setattr(WorkLimit, "is_reached", lambda _: True)
    monkeypatch.setattr(WorkLimit, "is_past", lambda *_: False)
    answers = [engine.diff(path=repo.root) for _ in range(12)]
    notes = [" ".join(answer.notes) for answer in answers]
    assert answers[0].at_least and "were not followed; ask again to continue" in notes[0]
    assert not answers[-1].at_least and notes[-1] == ""
    counts = [sum(use.count for use in answer.broken) for answer in answers]
    assert counts == sorted(counts) and counts[0] < counts[-1] == 8


def test_names_that_many_files_have_take_a_given_time(
    engine: Engine, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken_uses, "_COMMON", 0)
    (repo.root / "words.py").write_text(STAYING.lstrip())
    hurried = engine.diff(path=repo.root)
    assert hurried.broken == () and hurried.at_least
    assert "uses of shorten were not searched" in " ".join(hurried.notes)
    (use,) = engine.diff(path=repo.root, budget_ms=30_000).broken
    assert (use.how, use.count) == ("removed", 2)


def test_an_old_commit_is_indexed_as_far_as_the_answer_needs(engine: Engine, repo: GitRepo) -> None:
    """Stored texts, and those that lost a definition or use it; not every file that differs."""
    (repo.root / "words.py").write_text(STAYING.lstrip())
    (repo.root / "use.py").write_text("from words import shorten\n\nshorten('a', 1)\nX = 1\n")
    for at in range(3):
        (repo.root / f"other{at}.py").write_text(f"def other{at}(): ...\n")
    repo.commit("two", {})
    (repo.root / "other0.py").write_text("def other0(): return 1\n")
    answer = engine.diff("HEAD~1..HEAD", path=repo.root)
    assert [(use.how, use.count) for use in answer.broken] == [("removed", 1)]
    assert not answer.notes


def test_a_rename_in_the_index_and_an_edit_on_the_disk_are_one_change(
    engine: Engine, repo: GitRepo
) -> None:
    """Matches `git status`: `RM words.py -> terms.py`."""
    repo.git("mv", "words.py", "terms.py")
    (repo.root / "terms.py").write_text("def shorten(text, limit):\n    return text[:limit]\n")
    answer = engine.diff(path=repo.root, uses=False)
    (file,) = answer.files
    assert (file.how, file.path, file.old_path) == ("renamed", "terms.py", "words.py")
    how = {change.handle.partition("#")[2]: change.how for change in file.definitions}
    assert how["shorten"] == ("body",)
    assert how["first"] == ("removed",)
