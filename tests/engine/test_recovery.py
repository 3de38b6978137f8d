"""After a compaction a session recovers what it knew, and what changed meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gitrepo import GitRepo

from codelens.answers.context_answers import RecoverAnswer
from codelens.engine.contexts.asking_session import Session, asked_by
from codelens.engine.engine import Engine
from codelens.render import context_text
from codelens.trail import trail_log
from codelens.trail.trail_log import TrailEntry, worktree_key

BODY = "".join(f"    lamp.step_{at} = lamp.step_{at} + {at}\n" for at in range(12))
USER = f"def use(lamp):\n{BODY}    return lamp\n"


def edited(engine: Engine, root: Path, session: str, path: str, at: int) -> None:
    """Records an edit, as the hooks do."""
    scope = engine.pool.open_any(root).scope
    entry = TrailEntry(at, session, worktree_key(scope.root), scope.branch, "edited", path, (path,))
    assert trail_log.append(engine.settings.home, scope.repo_id, entry)


def shown(answer: RecoverAnswer) -> str:
    return "\n".join(context_text.recover(answer))


def test_a_session_gets_its_thread_back(engine: Engine, repo: GitRepo) -> None:
    repo.commit("user", {"user.py": USER})
    with engine.as_session("session-one"):
        engine.search("lamp", path=repo.root)
        engine.expand(["user.py#use"], path=repo.root)
        engine.save("glow", "Lamps glow.", ["user.py#use"], category="decision", path=repo.root)
        engine.save("warm", "They are warm.", category="pattern", path=repo.root)
        repo.commit("brighter", {"user.py": USER.replace("return lamp", "return lamp.on")})
        answer = engine.recover(path=repo.root)
    assert answer.session == trail_log.session_key("session-one")
    assert [(tool.tool, tool.calls) for tool in answer.trail] == [
        ("saved", 2), ("expanded", 1), ("searched", 1),
    ]  # fmt: skip
    assert [(saved.category, saved.name) for saved in answer.saved] == [
        ("decision", "glow"), ("pattern", "warm"),
    ]  # fmt: skip
    assert answer.saved[0].items[0].status == "changed"
    assert "user.py#use" in answer.definitions
    assert any(file.path == "user.py" and not file.edited for file in answer.files)
    changes = answer.changes
    assert changes is not None and (changes.commits, changes.subjects) == (1, ("brighter",))
    assert [(line.how, line.handle) for line in changes.definitions] == [(("body",), "user.py#use")]
    text = shown(answer)
    assert "saved, decision:\n  glow (changed): Lamps glow." in text
    assert "1 commit (brighter), 1 file changed\n  body: user.py#use" in text
    assert context_text.recover_json(answer)["definitions"] == list(answer.definitions)


def test_uncommitted_edits_and_other_branches_are_reported(engine: Engine, repo: GitRepo) -> None:
    with engine.as_session("a"):
        engine.search("lamp", path=repo.root)
        repo.write("fresh.py", "def fresh():\n    return 1\n")
        repo.git("checkout", "-q", "-b", "side")
        answer = engine.recover(path=repo.root)
    changes = answer.changes
    assert changes is not None and changes.commits == 0 and changes.left == "main"
    assert answer.receipt.status == "fresh"
    assert [(line.how, line.handle) for line in changes.definitions] == [
        (("added",), "fresh.py#fresh")
    ]


def test_other_worktrees_are_reported(engine: Engine, repo: GitRepo, tmp_path: Path) -> None:
    second = repo.worktree(tmp_path / "second", branch="second")
    with engine.as_session("a"):
        engine.search("lamp", path=repo.root)
        second.write("theirs.py", "x = 1\n")
        second.add()
        later = {"GIT_COMMITTER_DATE": "4000000000 +0000"}
        second.git("commit", "-q", "-m", "their work", env=later)
        begun = engine.recover(path=repo.root).first_s
        edited(engine, second.root, "b", "theirs.py", begun)
        (work,) = engine.recover(path=repo.root).elsewhere
    assert (work.branch, work.edited, work.subjects) == ("second", ("theirs.py",), ("their work",))
    assert f"meanwhile in the worktree {second.root} (second): edited theirs.py; 1 commit" in shown(
        replace(engine.recover(path=repo.root), elsewhere=(work,))
    )


def test_recovering_sends_everything_again(engine: Engine, repo: GitRepo) -> None:
    repo.commit("user", {"user.py": USER})
    with asked_by(Session("of the host", "host", remembers=True)):
        engine.note_sent(engine.expand(["user.py#use"], path=repo.root))
        assert engine.expand(["user.py#use"], path=repo.root).items[0].sent == "unchanged"
        assert not engine.recover(path=repo.root, forget_sent=False).forgot
        assert engine.expand(["user.py#use"], path=repo.root).items[0].sent == "unchanged"
        engine.recover(path=repo.root)
        assert not engine.expand(["user.py#use"], path=repo.root).items[0].sent
        engine.note_sent(engine.expand(["user.py#use"], path=repo.root))
    # The command line does not know the server's session.
    engine.recover(path=repo.root)
    with asked_by(Session("of the host", "host", remembers=True)):
        assert not engine.expand(["user.py#use"], path=repo.root).items[0].sent


def test_without_an_id_it_is_the_last_session_here(engine: Engine, repo: GitRepo) -> None:
    nothing = engine.recover(path=repo.root)
    assert not nothing.calls and "no session has left a trail" in nothing.notes[0]
    with engine.as_session("first"):
        engine.search("lamp", path=repo.root)
    assert engine.recover(path=repo.root).session == "first"
    other = engine.recover("not here", path=repo.root)
    assert (other.session, other.calls) == ("first", 1)
    assert "session not here has no trail in this worktree" in other.notes[0]
    with Engine(replace(engine.settings, trail=False)) as off:
        off_home = off.session("x", path=repo.root)
    assert off_home.session == "first"  # earlier records can still be read


def test_a_session_of_another_repository_is_not_shown(
    engine: Engine, repo: GitRepo, tmp_path: Path
) -> None:
    other = GitRepo.init(tmp_path / "other")
    other.commit("one", {"a.py": "def a():\n    return 1\n"})
    with engine.as_session("shared"):
        engine.search("lamp", path=repo.root)
        answer = engine.recover(path=other.root)
    assert not answer.calls and not answer.files and answer.changes is None


def test_files_and_definitions_are_bounded(engine: Engine, repo: GitRepo) -> None:
    for at in range(25):
        edited(engine, repo.root, "s", f"dir/file_{at}.py", 1_900_000_000 + at)
    engine.now_s = lambda: 1_900_000_100.0
    answer = engine.recover("s", path=repo.root)
    assert len(answer.files) == 20 and answer.more_files == 5
    assert answer.files[0].path == "dir/file_24.py"
    assert answer.trail[0].calls == 25 and len(answer.trail[0].latest) == 3


def test_the_trail_of_a_session_and_the_list_of_all(engine: Engine, repo: GitRepo) -> None:
    for name in ("one", "two"):
        with engine.as_session(name):
            engine.search("lamp", path=repo.root)
            engine.outline("src/lamp.py", path=repo.root)
    answer = engine.session("one", limit=1, path=repo.root)
    assert [call.tool for call in answer.calls] == ["outlined"] and answer.more == 1
    assert "session one: 1 call, 1 earlier ones left out" in context_text.session(answer)[0]
    every = engine.session(every=True, path=repo.root)
    assert {(line.session, line.calls) for line in every.sessions} == {("one", 2), ("two", 2)}


def test_a_trail_cut_in_half_and_a_lost_commit_lose_nothing_else(
    engine: Engine, repo: GitRepo
) -> None:
    with engine.as_session("one"):
        engine.search("lamp", path=repo.root)
        engine.outline("src/lamp.py", path=repo.root)
        (log,) = (engine.settings.home / "trails").glob("*.jsonl")
        data = log.read_bytes()
        log.write_bytes(data[: len(data) - 30])
        (marks,) = (engine.settings.home / "trails").glob("sessions-*.json")
        head = repo.head()
        marks.write_text(marks.read_text().replace(head, "0" * 40))
        answer = engine.recover(path=repo.root)
        assert [tool.tool for tool in answer.trail] == ["searched"]
        assert answer.changes is None and "is gone" in " ".join(answer.notes)
        marks.write_text("[[")
        assert engine.recover(path=repo.root).changes is None
