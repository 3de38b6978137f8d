"""Which commits changed a definition, on real git."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.versions import history_query
from codelens.errors import HandleNotFound, SettingError
from codelens.render import branch_text
from codelens.serve import answer_shapes

ADD = """\
def add(one, other):
    total = one + other
    note("sum", total)
    return check(total, one, other)
"""
OTHER = """\
def show(value):
    print(value)
"""


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A definition that was added, edited, moved to another file and renamed, among others."""
    repo = GitRepo.init(tmp_path / "repo")
    commit(repo, "added", {"a.py": f"{ADD}\n\n{OTHER}"})
    commit(repo, "other", {"a.py": f"{ADD}\n\n{OTHER.replace('print', 'log')}"})
    edited = ADD.replace('"sum"', '"total"')
    commit(repo, "edited", {"a.py": f"{edited}\n\n{OTHER}"})
    commit(repo, "moved", {"a.py": OTHER, "b.py": edited})
    commit(repo, "renamed", {"b.py": edited.replace("def add", "def plus")})
    return repo


def commit(repo: GitRepo, subject: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repo.root / name).write_text(text, encoding="utf-8")
    repo.git("add", "-A")
    repo.git("commit", "-qm", subject)


def reported(engine: Engine, repo: GitRepo, target: str, **wishes: object) -> list[tuple[str, ...]]:
    answer = engine.history(target, path=repo.root, **wishes)  # type: ignore[arg-type]
    return [(one.subject, *one.how) for one in answer.results]


def test_a_definition_is_followed_through_edits_moves_and_renames(
    engine: Engine, repo: GitRepo
) -> None:
    assert reported(engine, repo, "b.py#plus") == [
        ("renamed", "renamed"),
        ("moved", "moved"),
        ("edited", "body"),
        ("added", "added"),
    ]
    events = engine.history("b.py#plus", path=repo.root).results
    assert [one.handle.partition(":")[2] for one in events] == [
        "b.py#plus", "b.py#add", "a.py#add", "a.py#add",
    ]  # fmt: skip
    assert events[0].old_handle == "b.py#add"


def test_a_second_question_gives_the_same_answer(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    first = engine.history("b.py#plus", path=repo.root).results
    assert engine.history("b.py#plus", path=repo.root).results == first
    with Engine(Settings(home=tmp_path / "another")) as other:
        other.index(path=repo.root, ref="HEAD~3")
        assert other.history("b.py#plus", path=repo.root).results == first


def test_an_uncommitted_change_comes_first(engine: Engine, repo: GitRepo) -> None:
    file = repo.root / "b.py"
    file.write_text(file.read_text(encoding="utf-8").replace("one + other", "one - other"))
    answer = engine.history("b.py#plus", path=repo.root, limit=2, patch=True)
    assert (answer.results[0].commit, answer.results[0].how) == ("", ("body",))
    assert "-    total = one + other" in answer.results[0].patch
    assert answer.more


@pytest.mark.parametrize("is_tracked", [True, False])
@pytest.mark.parametrize("edit", ["", '"sum"'])
def test_an_uncommitted_move_to_another_file_is_followed(
    engine: Engine, repo: GitRepo, edit: str, is_tracked: bool
) -> None:
    file = repo.root / "b.py"
    text = file.read_text(encoding="utf-8")
    file.write_text("SIZE = 1\n", encoding="utf-8")
    (repo.root / "c.py").write_text(text.replace('"total"', edit or '"total"'), encoding="utf-8")
    if is_tracked:
        repo.git("add", "-A")
    answer = engine.history("c.py#plus", path=repo.root)
    first, second = answer.results[:2]
    assert (first.commit, first.how) == ("", ("moved", "body") if edit else ("moved",))
    assert (first.old_handle, second.subject) == ("b.py#plus", "renamed")
    assert len(answer.results) == 5


def test_a_file_renamed_without_a_commit_is_followed(engine: Engine, repo: GitRepo) -> None:
    repo.git("mv", "b.py", "c.py")
    assert reported(engine, repo, "c.py#plus")[:2] == [
        ("uncommitted", "moved"),
        ("renamed", "renamed"),
    ]


def test_a_copy_that_is_not_committed_was_added(engine: Engine, repo: GitRepo) -> None:
    (repo.root / "c.py").write_text((repo.root / "b.py").read_text(encoding="utf-8"))
    assert reported(engine, repo, "c.py#plus") == [("uncommitted", "added")]


def test_limits_refs_and_dates(engine: Engine, repo: GitRepo) -> None:
    assert reported(engine, repo, "a.py#add", ref="HEAD~2") == [
        ("edited", "body"),
        ("added", "added"),
    ]
    assert len(reported(engine, repo, "b.py#plus", limit=1)) == 1
    assert reported(engine, repo, "b.py#plus", since="2030-01-01") == []
    with pytest.raises(SettingError, match="must be a date"):
        engine.history("b.py#plus", path=repo.root, since="yesterday-ish")
    with pytest.raises(HandleNotFound):
        engine.history("b.py#nothing", path=repo.root)


def test_a_file_gives_the_last_change_of_each_definition(engine: Engine, repo: GitRepo) -> None:
    answer = engine.history("a.py", path=repo.root, ref="HEAD~2")
    assert [(one.handle.partition(":")[2], one.subject) for one in answer.definitions] == [
        ("a.py#add", "edited"),
        ("a.py#show", "edited"),
    ]


def test_co_change_is_counted(engine: Engine, repo: GitRepo) -> None:
    answer = engine.history("a.py#show", path=repo.root, together=True)
    assert [(one.handle, one.count) for one in answer.together] == [("a.py#add", 2)]


def test_a_merge_is_followed_to_the_parent_with_the_same_text(
    engine: Engine, repo: GitRepo
) -> None:
    repo.git("checkout", "-qb", "side", "HEAD~1")
    commit(repo, "on the side", {"c.py": "X = 1\n"})
    repo.git("merge", "-q", "--no-edit", "main")
    assert reported(engine, repo, "b.py#plus")[0] == ("renamed", "renamed")


def test_a_shallow_clone_says_where_history_ends(engine: Engine, repo: GitRepo) -> None:
    clone = GitRepo.clone(repo.root, repo.root.parent / "clone", "--depth", "2")
    answer = engine.history("b.py#plus", path=clone.root)
    assert [one.subject for one in answer.results] == ["renamed", "moved"]
    assert any("ends" in note for note in answer.notes)
    of_file = engine.history("a.py", path=clone.root)
    assert ["unshallow" in note for note in of_file.notes] == [True]
    assert engine.history("b.py", path=clone.root).notes == ()


def test_a_filter_without_matches_is_not_reported_as_no_change(
    engine: Engine, repo: GitRepo
) -> None:
    for wishes in ({"globs": ["c.py"]}, {"kinds": ["signature"]}):
        nothing = engine.diff("HEAD~2..HEAD", path=repo.root, **wishes)  # type: ignore[arg-type]
        assert (nothing.files, nothing.left_out) == ((), 2)
        assert "2 files differ" in branch_text.diff(nothing)[0][0]
    same = engine.diff("HEAD..HEAD", path=repo.root, globs=["c.py"])
    assert branch_text.diff(same)[0] == ["HEAD -> HEAD: nothing differs"]


def test_no_change_since_a_date_is_said(engine: Engine, repo: GitRepo) -> None:
    answer = engine.history("b.py#plus", path=repo.root, since="2100-01-01")
    assert not answer.results
    assert branch_text.history(answer)[1][0].startswith("no change since the given date")


def test_co_change_counts_its_omissions(engine: Engine, repo: GitRepo) -> None:
    for value in ("0", "1"):
        many = "".join(f"def part_{at}():\n    return {value}\n\n\n" for at in range(60))
        commit(repo, f"many {value}", {"many.py": many})
    answer = engine.history("many.py#part_7", path=repo.root, together=True)
    assert (len(answer.together), answer.together_count) == (40, 59)
    head, _ = branch_text.history(answer)
    assert head[1] == "changed together with it, in 2 commits (40 of 59):"
    whole = engine.history("many.py#part_7", path=repo.root, together=True, limit=100)
    assert len(whole.together) == branch_text.history_json(whole)["together_count"] == 59
    one = engine.history("many.py#part_7", path=repo.root, together=True, limit=1)
    assert branch_text.history(one)[1][-1] == "older changes are omitted (limit, since)"


def test_commits_too_large_for_co_change_are_counted(
    engine: Engine, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_query, "_TOGETHER_FILES", 1)
    logged, said = (OTHER.replace("print", name) for name in ("log", "say"))
    commit(repo, "two files", {"a.py": logged, "c.py": "def other():\n    pass\n"})
    commit(repo, "one file", {"a.py": f"{said}\n\nLIMIT = 1\n"})
    answer = engine.history("a.py#show", path=repo.root, together=True, limit=2)
    assert (answer.commits, len(answer.results)) == (1, 2)
    assert "in 1 of 2 commits:" in branch_text.history(answer)[0][1]


def test_the_lines_that_a_reply_leaves_out_are_counted(engine: Engine, repo: GitRepo) -> None:
    answer = engine.history("b.py#plus", path=repo.root, patch=True)
    whole = answer_shapes.history(answer, "concise", 3000).split("\n")
    short = answer_shapes.history(answer, "concise", 200).split("\n")
    left = len(whole) - (len(short) - 1)
    assert short[-1].startswith(f"{left} lines more: call cl_history with a higher max_tokens")


def test_what_reads_the_rest_is_an_argument_of_the_tool(engine: Engine, repo: GitRepo) -> None:
    answer = engine.history("b.py#plus", path=repo.root, patch=True)
    own = answer_shapes.history(answer, "concise", 200).split("\n")[-1]
    assert own.endswith("call cl_history with a higher max_tokens, or with since")
    last = answer_shapes.branches(answer, "concise", 200).split("\n")[-1]
    assert last.endswith(
        "call cl_branches with a higher max_tokens, or with a definition as target"
    )
    diff = engine.diff("HEAD~1..HEAD", path=repo.root)
    last = answer_shapes.branches(diff, "concise", 40).split("\n")[-1]
    assert last.endswith("call cl_branches with a higher max_tokens, or with a path as target")
