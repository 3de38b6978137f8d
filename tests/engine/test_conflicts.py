"""Collisions with other worktrees and branches, and the report of a diff, on real git."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.answers.branch_answers import Rival
from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.engine.versions import conflicts_query
from codelens.errors import CodelensError, NoSuchRef, NotInGit, SettingError
from codelens.render import branch_text

LIB = """\
LIMIT = 10


def load(name):
    return open(name).read()


def save(name, text):
    with open(name, "w") as file:
        file.write(text)


class Base:
    def run(self):
        return 1
"""
USE = """\
from lib import save


def first():
    save("a", "b")
"""


@pytest.fixture
def here(tmp_path: Path) -> GitRepo:
    repo = GitRepo.init(tmp_path / "here")
    write(repo, "lib.py", LIB)
    write(repo, "use.py", USE)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "one")
    return repo


@pytest.fixture
def there(here: GitRepo) -> GitRepo:
    root = here.root.parent / "there"
    here.git("worktree", "add", "-q", str(root), "-b", "other")
    return GitRepo(root)


def write(repo: GitRepo, name: str, text: str) -> None:
    (repo.root / name).parent.mkdir(exist_ok=True)
    (repo.root / name).write_text(text, encoding="utf-8")


def only(engine: Engine, repo: GitRepo) -> Rival:
    (rival,) = engine.conflicts(path=repo.root).results
    return rival


def rules(rival: Rival) -> set[tuple[str, str]]:
    return {(one.rule, one.grade) for one in rival.collisions}


def objects(repo: GitRepo) -> set[str]:
    git = repo.root / ".git"
    return {os.path.join(folder, name) for folder, _, names in os.walk(git) for name in names}


def test_without_changes_nothing_collides(engine: Engine, here: GitRepo, there: GitRepo) -> None:
    write(here, "lib.py", LIB.replace("10", "20"))
    answer = engine.conflicts(path=here.root)
    assert (answer.results, answer.clean) == ((), 1)


def test_uncommitted_edits_of_the_same_lines_collide(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    before = objects(here)
    write(here, "lib.py", LIB.replace("open(name).read()", "open(name).read(1)"))
    write(there, "lib.py", LIB.replace("open(name).read()", "open(name).read(2)"))
    rival = only(engine, here)
    assert [(one.path, one.kind) for one in rival.textual] == [("lib.py", "CONFLICT (contents)")]
    assert rules(rival) == {("overlapping", "certain")}
    assert rival.collisions[0].mine == "lib.py#load"
    assert objects(here) == before
    # The next answer includes another worktree's edit.
    write(there, "lib.py", LIB)
    assert engine.conflicts(path=here.root).clean == 1


def test_changes_apart_in_one_definition_are_mergeable(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    long = LIB + "\n\ndef many():\n" + "".join(f"    step({n})\n" for n in range(12))
    for repo in (here, there):
        write(repo, "lib.py", long)
    here.git("commit", "-qam", "two")
    there.git("reset", "-q", "--hard", "main")
    write(here, "lib.py", long.replace("step(1)", "step(100)"))
    write(there, "lib.py", long.replace("step(9)", "step(900)"))
    rival = only(engine, here)
    assert (rival.textual, rules(rival)) == ((), {("mergeable", "possible")})


def test_removed_here_and_changed_there_collide(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    write(here, "lib.py", LIB.replace("def load(name):\n    return open(name).read()\n", ""))
    write(there, "lib.py", LIB.replace("open(name).read()", "open(name).read(2)"))
    assert ("removed", "certain") in rules(only(engine, here))
    assert ("removed", "certain") in rules(only(engine, there))


def test_a_new_call_of_a_redeclared_function_collides_though_git_merges(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    write(here, "lib.py", LIB.replace("def load(name)", "def load(name, encoding)"))
    write(there, "more.py", "from lib import load\n\n\ndef third():\n    return load('x')\n")
    rival = only(engine, here)
    (line,) = rival.collisions
    assert rival.textual == ()
    assert (line.rule, line.grade) == ("signature and called", "certain")
    assert (line.mine, line.theirs, line.theirs_site) == (
        "lib.py#load",
        "more.py#third",
        "more.py:5",
    )
    (mirrored,) = only(engine, there).collisions
    assert (mirrored.mine, mirrored.theirs) == ("more.py#third", "lib.py#load")


def test_an_optional_parameter_breaks_nobody(engine: Engine, here: GitRepo, there: GitRepo) -> None:
    write(here, "lib.py", LIB.replace("def load(name)", "def load(name, encoding=None)"))
    write(there, "more.py", "from lib import load\n\n\ndef third():\n    return load('x')\n")
    assert engine.conflicts(path=here.root).clean == 1


def test_a_new_read_of_a_changed_value_collides(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    write(here, "lib.py", LIB.replace("10", "20"))
    write(there, "more.py", "from lib import LIMIT\n\n\ndef third():\n    return LIMIT * 2\n")
    assert rules(only(engine, here)) == {("value and read", "likely")}


def test_a_new_read_of_a_changed_extern_global_collides(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    write(here, "size.c", "int size = 10;\n")
    here.git("add", "-A")
    here.git("commit", "-qm", "size")
    there.git("checkout", "-q", "--detach", "main")
    write(here, "size.c", "int size = 20;\n")
    write(there, "job.c", "extern int size;\n\nint job(void) {\n  return size;\n}\n")
    assert rules(only(engine, here)) == {("value and read", "possible")}


def test_definitions_that_both_added_at_one_place_are_harmless_or_not(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    write(here, "lib.py", LIB + "\n\ndef mine():\n    return 1\n")
    write(there, "lib.py", LIB + "\n\ndef theirs():\n    return 2\n")
    (conflict,) = only(engine, here).textual
    assert conflict.harmless
    write(there, "lib.py", LIB + "\n\ndef mine():\n    return 2\n")
    rival = only(engine, here)
    assert not rival.textual[0].harmless
    assert ("added twice", "certain") in rules(rival)


def test_a_branch_is_compared_when_named(engine: Engine, here: GitRepo, there: GitRepo) -> None:
    write(there, "more.py", "from lib import load\n\n\ndef third():\n    return load('x')\n")
    there.git("add", "-A")
    there.git("commit", "-qm", "two")
    there.git("checkout", "-q", "--detach")
    write(here, "lib.py", LIB.replace("def load(name)", "def load(name, encoding)"))
    answer = engine.conflicts(path=here.root, others=["other"])
    assert [one.theirs for one in answer.results[0].collisions] == ["other:more.py#third"]
    with pytest.raises(NoSuchRef):
        engine.conflicts(path=here.root, others=["nowhere"])


def test_a_base_that_is_asked_for_is_not_called_the_merge_base(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    for repo, value in ((here, "20"), (there, "30")):
        write(repo, "lib.py", LIB.replace("10", value))
    for base, called in (("", "merge base"), ("main", "base")):
        answer = engine.conflicts(path=here.root, base=base)
        _, blocks = branch_text.conflicts(answer)
        commit = here.text("rev-parse", "--short=7", "main").strip()
        assert f", {called} {commit})" in blocks[0]
        assert bool(answer.results[0].textual) == (not base)


def test_unrelated_histories_are_reported(engine: Engine, here: GitRepo) -> None:
    here.git("checkout", "-q", "--orphan", "island")
    write(here, "new.py", "X = 1\n")
    here.git("add", "-A")
    here.git("commit", "-qm", "island")
    (rival,) = engine.conflicts(path=here.root, others=["main"]).results
    assert "no history in common" in rival.notes[0]


def test_a_merge_driver_of_the_repository_is_never_run(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    ran = here.root.parent / "ran"
    here.git("config", "merge.odd.driver", f"touch {ran}")
    write(here, ".gitattributes", "*.py merge=odd\n")
    write(here, "lib.py", LIB.replace("10", "20"))
    write(there, "lib.py", LIB.replace("10", "30"))
    assert only(engine, here).textual
    assert not ran.exists()


def test_a_folder_without_git_has_nothing_to_compare_with(engine: Engine, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(NotInGit, match="not in a git repository"):
        engine.conflicts(path=plain)
    with pytest.raises(NotInGit, match="not in a git repository"):
        engine.diff(path=plain)


def test_sides_of_a_diff(engine: Engine, here: GitRepo, there: GitRepo) -> None:
    write(here, "new.py", "def fresh():\n    return 1\n")
    write(here, "lib.py", LIB.replace("10", "20"))
    here.git("add", "lib.py")
    staged = engine.diff(path=here.root, staged=True)
    assert [one.path for one in staged.files] == ["lib.py"]
    now = engine.diff(path=here.root)
    assert [one.path for one in now.files] == ["lib.py", "new.py"]
    assert now.totals == (("added", 1), ("body", 1))
    other = engine.diff(path=here.root, other="../there")
    assert other.totals == (("removed", 1), ("body", 1))
    here.git("commit", "-qam", "two")
    assert [one.path for one in engine.diff("other...main", path=here.root).files] == ["lib.py"]
    assert [one.path for one in engine.diff("HEAD~1..HEAD", path=here.root).files] == ["lib.py"]
    with pytest.raises(NoSuchRef):
        engine.diff("nowhere", path=here.root)
    with pytest.raises(SettingError):
        engine.diff("main..other", path=here.root, staged=True)


def test_a_repository_without_a_commit_has_all_its_files_added(
    engine: Engine, tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "new")
    write(repo, "lib.py", LIB)
    answer = engine.diff(path=repo.root)
    assert [(one.path, one.how) for one in answer.files] == [("lib.py", "added")]


def test_rival_changes_of_a_definition_are_reported_before_an_edit_and_in_status(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    assert engine.changed_elsewhere(["lib.py", "use.py"], path=here.root) == ()
    write(there, "lib.py", LIB.replace("open(name).read()", "open(name).read(2)"))
    (found,) = engine.changed_elsewhere(["lib.py", "use.py", "none.py"], path=here.root)
    assert (found.handle, found.how, found.branch) == ("lib.py#load", ("body",), "other")
    assert engine.status(path=here.root).others == ()
    write(here, "lib.py", LIB.replace("10", "20"))
    assert engine.status(path=here.root).others == ()
    write(here, "lib.py", LIB.replace("open(name)", "open(name, 'r')"))
    (said,) = engine.status(path=here.root).others
    assert "lib.py#load" in said
    assert "there (other) is changing definitions that you have changed" in said


def test_uses_that_were_not_changed_with_a_rename_are_broken(engine: Engine, here: GitRepo) -> None:
    write(here, "lib.py", LIB.replace("def save(name, text)", "def store(name, text)"))
    answer = engine.diff(path=here.root)
    (broken,) = answer.broken
    assert (broken.how, broken.handle) == ("renamed", "HEAD:lib.py#save")
    assert broken.now == "lib.py#store"
    # The import still resolves to the module, but not to the name.
    assert broken.uses == ("use.py:1", "use.py:5")
    assert answer.removed_public == ("HEAD:lib.py#save",)
    write(here, "use.py", USE.replace("save", "store"))
    assert engine.diff(path=here.root).broken == ()


def test_an_import_of_a_function_that_became_a_module_is_not_broken(
    engine: Engine, here: GitRepo
) -> None:
    write(here, "kit/__init__.py", "def tool(text):\n    return text.strip() + text.upper()\n")
    write(here, "job.py", "from kit import tool\n")
    here.git("add", "-A")
    here.git("commit", "-qm", "kit")
    write(here, "kit/__init__.py", "")
    assert [use.uses for use in engine.diff(path=here.root).broken] == [("job.py:1",)]
    write(here, "kit/tool.py", "SIZE = 1\n")
    assert engine.diff(path=here.root).broken == ()


def test_old_calls_of_a_changed_signature_are_broken_and_new_ones_not(
    engine: Engine, here: GitRepo
) -> None:
    write(here, "lib.py", LIB.replace("def save(name, text)", "def save(name, text, mode)"))
    write(here, "new.py", "from lib import save\n\n\ndef fine():\n    save(1, 2, 3)\n")
    (broken,) = engine.diff(path=here.root).broken
    assert (broken.how, broken.uses, broken.users) == ("signature", ("use.py:5",), 2)


def test_answers_depend_on_nothing_else_in_the_index(
    engine: Engine, here: GitRepo, there: GitRepo, tmp_path: Path
) -> None:
    write(here, "lib.py", LIB.replace("def load(name)", "def load(name, encoding)"))
    write(there, "more.py", "from lib import load\n\n\ndef third():\n    return load('x')\n")
    first = engine.conflicts(path=here.root).results
    changed = engine.diff(path=here.root)
    with Engine(Settings(home=tmp_path / "another")) as other:
        write(there, "lib.py", LIB.replace("def save", "def keep"))
        other.index(path=there.root)
        other.diff("HEAD", path=there.root)
        write(there, "lib.py", LIB)
        assert other.conflicts(path=here.root).results == first
        assert other.diff(path=here.root).files == changed.files
    assert engine.conflicts(path=here.root).results == first


@pytest.mark.parametrize("name", ["a/\0b", "\0", "main..a/\0b", "a/\ud800"])
def test_a_name_that_nothing_can_have_is_not_found(
    engine: Engine, here: GitRepo, name: str
) -> None:
    with pytest.raises(CodelensError):
        engine.diff(name, path=here.root)
    with pytest.raises(CodelensError):
        engine.conflicts(path=here.root, others=[name])


def test_harmless_overlaps_of_a_clean_merge_are_counted_and_given(
    engine: Engine, here: GitRepo, there: GitRepo
) -> None:
    for repo in (here, there):
        write(repo, "lib.py", LIB.replace("return open", "return  open"))
    answer = engine.conflicts(path=here.root)
    assert (answer.results, answer.clean) == ((), 1)
    (rival,) = answer.harmless
    assert [line.grade for line in rival.collisions] == ["harmless"]
    head, blocks = branch_text.conflicts(answer)
    cleanly = "1 worktree or branch merges cleanly, with 1 harmless overlap"
    verdict = "git conflicts with none of 1 worktree or branch"
    assert head == [verdict, f"{cleanly} (--all, format detailed)"] and not blocks
    assert "both made the same change to load" in str(branch_text.conflicts(answer, detailed=True))
    assert json.loads(json.dumps(branch_text.conflicts_json(answer)))["harmless"][0]["name"] == str(
        there.root
    )


def test_branches_without_a_recent_commit_are_counted_and_compared_by_name(
    engine: Engine, here: GitRepo
) -> None:
    here.git("checkout", "-qb", "old")
    write(here, "lib.py", LIB.replace("LIMIT = 10", "LIMIT = 20"))
    here.git("commit", "-qam", "old", env={"GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z"})
    here.git("checkout", "-q", "-")
    write(here, "lib.py", LIB.replace("LIMIT = 10", "LIMIT = 30"))
    answer = engine.conflicts(path=here.root)
    assert answer.old_branches == branch_text.conflicts_json(answer)["old_branches"] == 1
    left = "1 branch without commits in the last 14 days not compared: name them to compare them"
    assert left in branch_text.conflicts(answer)[0]
    (rival,) = engine.conflicts(path=here.root, others=["old"]).results
    assert rival.name == "old"


def test_uncommitted_files_beyond_those_that_git_merges_are_counted(
    engine: Engine, here: GitRepo, there: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conflicts_query, "_MOST_EDITS", 2)
    for at in range(3):
        write(here, f"new{at}.py", "x = 1\n")
    write(there, "lib.py", LIB.replace("LIMIT = 10", "LIMIT = 20"))
    (rival,) = engine.conflicts(path=here.root).results
    assert rival.notes == (
        "git merged the first 2 of 3 uncommitted files of files; commit them to merge all",
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "verdict", "rule"),
    [
        ("    a = 1\n    x = 2\n", "    a = 1\n    y = 3\n", "conflicts", "overlapping"),
        ("    x = 2\n    a = 1\n", "    a = 9\n", "conflicts", "overlapping"),
        ("    a = 2\n", "    a = 1\n    y = 3\n", "conflicts", "overlapping"),
        ("    a = 2\n", "    a = 3\n", "conflicts", "overlapping"),
        ("    x = 2\n    a = 1\n", "    a = 1\n    b = 2\n    c = 4\n", "clean", "mergeable"),
    ],
)
def test_the_head_line_is_gits_verdict(
    engine: Engine, here: GitRepo, mine: str, theirs: str, verdict: str, rule: str
) -> None:
    rest = "    b = 2\n    c = 3\n    return a + b + c\n"
    write(here, "work.py", f"def work():\n    a = 1\n{rest}")
    here.git("add", "-A")
    here.git("commit", "-qm", "base")
    here.git("branch", "side")
    for branch, lines in (("side", theirs), ("main", mine)):
        here.git("checkout", "-q", branch)
        kept = rest.replace("    b = 2\n    c = 3\n", "") if "c = 4" in lines else rest
        write(here, "work.py", f"def work():\n{lines}{kept}")
        here.git("commit", "-qam", branch)
    done = here.git("merge-tree", "--write-tree", "main", "side", check=False)
    assert (b"CONFLICT" in done) == (verdict == "conflicts")
    answer = engine.conflicts(path=here.root, others=["side"])
    (rival,) = answer.results
    assert (rival.merge, rules(rival)) == (verdict, {(rule, rival.collisions[0].grade)})
    head, _ = branch_text.conflicts(answer)
    assert head[0].startswith(
        "git conflicts with 1 of 1" if verdict == "conflicts" else "git conflicts with none of 1"
    )
    assert branch_text.conflicts_json(answer)["git"] == head[0]
    assert ("in different lines" in rival.collisions[0].message) == (verdict == "clean")
