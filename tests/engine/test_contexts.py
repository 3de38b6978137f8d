"""Saved contexts through the engine: stored, found, judged in this worktree, moved elsewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gitrepo import GitRepo
from lamp_contexts import LAMP, items, one, states

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.errors import SettingError
from codelens.memory.context_fields import ContextExists, NoSuchContext, NotSaved


def test_a_context_is_given_back_as_it_was_saved(engine: Engine, repo: GitRepo) -> None:
    engine.save(
        "lamps", "They burn.\nAlways.", ["kindle", "src/lamp.py:12-13", "README.md"],
        category="bug-fix", tags=["fire, light", "fire"], pinned=True, path=repo.root,
    )  # fmt: skip
    found = one(engine, "lamps", repo.root)
    assert (found.note, found.category, found.tags) == (
        "They burn.\nAlways.", "bug_fix", ("fire", "light"),
    )  # fmt: skip
    assert found.pinned and found.branch == "main" and found.head == repo.head()
    assert states(engine, "lamps", repo.root) == [
        ("current", "src/lamp.py#Lamp.kindle"),
        ("current", "src/lamp.py:12-13"),
        ("current", "README.md"),
    ]


def test_all_invalid_handles_are_reported_and_nothing_is_saved(
    engine: Engine, repo: GitRepo, home: Path
) -> None:
    repo.write("two.py", "def carry(x):\n    pass\n")
    handles_given = [
        "carry",
        "src/lamp.py#Lamp.glow",
        "README.md:90",
        "nowhere:src/lamp.py",
        "kindle",
    ]
    with pytest.raises(NotSaved) as caught:
        engine.save("lamps", handles=handles_given, path=repo.root)
    said = caught.value.reasons
    assert len(said) == 4
    assert "has 2 owners: src/lamp.py#carry, two.py#carry" in said[0]
    assert "src/lamp.py#Lamp.glow" in said[1]
    assert "the file has 3 lines" in said[2]
    assert "no ref 'nowhere'" in said[3]
    assert not list(home.glob("contexts/*"))


def test_a_symbol_that_moved_before_it_was_saved_is_refused(engine: Engine, repo: GitRepo) -> None:
    with pytest.raises(NotSaved, match=r"src/lamp.py#carry"):
        engine.save("lamps", handles=["README.md#carry"], path=repo.root)


def test_one_thing_is_kept_once(engine: Engine, repo: GitRepo) -> None:
    engine.save("a", handles=["kindle", "src/lamp.py#Lamp.kindle"], path=repo.root)
    assert len(items(engine, "a", repo.root)) == 1


def test_a_note_may_hold_on_one_branch_and_not_on_another(engine: Engine, repo: GitRepo) -> None:
    engine.save("carrying", handles=["carry", "snuff"], path=repo.root)
    repo.checkout("-b", "other")
    repo.commit("change", {"src/lamp.py": LAMP.replace("return lamp", "return [lamp]")})
    handles = ["src/lamp.py#carry", "src/lamp.py#Lamp.snuff"]
    assert states(engine, "carrying", repo.root) == list(
        zip(["changed", "current"], handles, strict=True)
    )
    repo.checkout("main")
    assert states(engine, "carrying", repo.root) == [("current", one) for one in handles]
    answer = engine.load("carrying", path=repo.root, ref="other")
    assert [(item.status, item.handle) for item in answer.results[0].items] == [
        ("changed", "other:src/lamp.py#carry"),
        ("current", "other:src/lamp.py#Lamp.snuff"),
    ]


def test_worktrees_of_a_repository_share_saved_contexts(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    other = repo.worktree(tmp_path / "other", branch="side")
    other.write("src/lamp.py", LAMP.replace("def carry(lamp):\n    return lamp\n", ""))
    engine.save("carrying", handles=["carry"], path=repo.root)
    assert states(engine, "carrying", other.root)[0][0] == "gone"
    assert states(engine, "carrying", repo.root)[0][0] == "current"


def test_a_handle_of_a_ref_is_judged_in_the_current_worktree(engine: Engine, repo: GitRepo) -> None:
    repo.commit("two", {"src/lamp.py": LAMP.replace("getpid", "getppid")})
    engine.save("old", handles=["HEAD~1:src/lamp.py#Lamp.kindle"], path=repo.root)
    (item,) = items(engine, "old", repo.root)
    assert (item.status, item.ref) == ("changed", "HEAD~1")


def test_a_plain_folder_keeps_contexts_too(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "lamp.py").write_text(LAMP)
    engine.save("lamps", handles=["carry"], path=folder)
    (folder / "lamp.py").rename(folder / "light.py")
    assert states(engine, "lamps", folder) == [("moved", "light.py#carry")]


def test_a_taken_name_is_replaced_only_when_asked(engine: Engine, repo: GitRepo) -> None:
    engine.now_s = lambda: 1000
    engine.save("lamps", "one", path=repo.root)
    engine.now_s = lambda: 2000
    with pytest.raises(ContextExists, match=r"'lamps' is taken \(saved on .*: one\)"):
        engine.save("lamps", "two", path=repo.root)
    assert engine.save("lamps", "two", replace=True, path=repo.root).replaced
    found = one(engine, "lamps", repo.root)
    assert (found.note, found.created_s, found.saved_s) == ("two", 1000, 2000)


def test_words_find_names_notes_tags_and_handles(engine: Engine, repo: GitRepo) -> None:
    engine.save("auth-flow", "How sessions are validated.", path=repo.root)
    engine.save("wick", "Trim it.", ["kindle"], tags=["maintenance"], path=repo.root)
    engine.save("oil", "Validate the flow of oil.", category="pattern", path=repo.root)

    def found(words: str, **wanted: Any) -> list[str]:
        return [one.name for one in engine.load(words, path=repo.root, **wanted).results]

    assert found("validating sessions") == ["auth-flow"]
    assert found("authFlow")[0] == "auth-flow"
    assert found("lamp") == ["wick"] == found("maintenance")
    assert found("flow") == ["auth-flow", "oil"]
    assert found("flow", category="pattern") == ["oil"]
    assert found("", tags=["maintenance"]) == ["wick"]
    assert found('"*()') == [] == found("zebra")


def test_pinned_entries_come_first_and_the_rest_is_counted(engine: Engine, repo: GitRepo) -> None:
    for at, name in enumerate("abcd"):
        engine.now_s = lambda at=at: at
        engine.save(name, name, pinned=name == "b", path=repo.root)
    answer = engine.load(path=repo.root, limit=3)
    assert [one.name for one in answer.results] == ["b", "d", "c"]
    assert answer.more == 1 and not answer.exact
    assert answer.receipt.status == "unknown"


def test_forgetting_is_all_or_nothing(engine: Engine, repo: GitRepo) -> None:
    with pytest.raises(NoSuchContext, match="`codelens load` lists"):
        engine.forget(["a"], path=repo.root)
    engine.save("auth-flow", "x", path=repo.root)
    engine.save("other", "x", path=repo.root)
    with pytest.raises(NoSuchContext, match="did you mean auth-flow"):
        engine.forget(["other", "auth-flo"], path=repo.root)
    assert len(engine.load(path=repo.root).results) == 2
    assert engine.forget(["other", "auth-flow", "other"], path=repo.root).forgotten == (
        "other", "auth-flow",
    )  # fmt: skip
    assert not engine.load(path=repo.root).results


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": " "}, "a name must have 1 to 100"),
        ({"name": "a\nb"}, "on one line"),
        ({"name": "x" * 101}, "a name must have 1 to 100"),
        ({"category": "idea"}, "the categories are decision, pattern, bug_fix"),
        ({"ttl": "soon"}, "such as 12h, 30d or 2w"),
        ({"ttl": "0d"}, "such as 12h"),
        ({"note": ""}, "nothing to save"),
        ({"note": "x" * 100_001}, "100,001 characters"),
        ({"tags": ["x" * 101]}, "a tag must have at most"),
    ],
)
def test_a_field_that_cannot_be_is_refused(
    engine: Engine, repo: GitRepo, wrong: dict, said: str
) -> None:
    fields = {"name": "a", "note": "b", **wrong}
    with pytest.raises(SettingError, match=said):
        engine.save(path=repo.root, **fields)


def test_control_characters_and_half_characters_are_kept_harmless(
    engine: Engine, repo: GitRepo
) -> None:
    from codelens.render import context_text

    answer = engine.save("a", "red \x1b[31m \ud800 end", path=repo.root)
    assert "\x1b" not in context_text.saved(answer)
    assert one(engine, "a", repo.root).note == "red \x1b[31m ? end"


def test_contexts_outlive_a_rebuild_and_the_loss_of_the_index(
    engine: Engine, repo: GitRepo, home: Path
) -> None:
    engine.save("lamps", "one", ["carry"], path=repo.root)
    engine.index(path=repo.root, rebuild=True)
    assert states(engine, "lamps", repo.root) == [("current", "src/lamp.py#carry")]
    engine.close()
    (index,) = home.glob("indexes/index-*.db")
    index.write_bytes(b"not a database" * 1000)
    assert states(engine, "lamps", repo.root) == [("current", "src/lamp.py#carry")]
    engine.close()
    shutil.rmtree(home / "indexes")
    assert states(engine, "lamps", repo.root) == [("current", "src/lamp.py#carry")]


def test_without_an_index_the_note_is_still_shown(
    engine: Engine, repo: GitRepo, home: Path
) -> None:
    engine.save("lamps", "one", ["carry"], path=repo.root)
    engine.close()
    shutil.rmtree(home / "indexes")
    (home / "indexes").write_text("in the way")
    answer = engine.load("lamps", path=repo.root)
    assert answer.results[0].note == "one"
    if answer.receipt.status == "unknown":
        assert answer.results[0].items[0].status == "unknown"
        assert "how the handles fare cannot be told" in answer.notes[0]


def test_a_bare_repository_keeps_contexts_of_its_refs(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    bare = GitRepo.clone(repo.root, tmp_path / "bare.git", "--bare")
    engine.save("lamps", "one", ["carry"], path=bare.root, ref="main")
    answer = engine.load("lamps", path=bare.root, ref="main")
    assert answer.results[0].items[0].status == "current"
    assert engine.export_contexts(path=bare.root)["contexts"]
    assert engine.forget(["lamps"], path=bare.root).forgotten == ("lamps",)


@pytest.mark.slow
def test_processes_that_save_at_once_lose_nothing(repo: GitRepo, home: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from codelens.config import Settings;"
        "from codelens.engine.engine import Engine\n"
        "home, root, who = sys.argv[1:]\n"
        "with Engine(Settings(home=Path(home))) as engine:\n"
        "    for at in range(8): engine.save(f'{who}-{at}', 'x', ['carry'], path=root)\n"
    )
    command = [sys.executable, "-c", script, str(home), str(repo.root)]
    running = [
        subprocess.Popen([*command, who], stderr=subprocess.PIPE, text=True) for who in "abc"
    ]
    for one_of_them in running:
        _, said = one_of_them.communicate()
        assert one_of_them.returncode == 0, said
    with Engine(Settings(home=home)) as engine:
        assert len(engine.load(path=repo.root, limit=100).results) == 24
        (copy,) = home.glob("contexts/*.backup")
        (path,) = home.glob("contexts/contexts-*.db")
        assert copy.stat().st_size == path.stat().st_size
        path.unlink()
        answer = engine.load(path=repo.root, limit=100)
        assert len(answer.results) == 24 and "24 restored" in answer.notes[0]
