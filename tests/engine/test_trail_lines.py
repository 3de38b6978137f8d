"""Each call that touches definitions leaves a line in the session trail, without code."""

from __future__ import annotations

from dataclasses import replace

from gitrepo import GitRepo
from lamp_contexts import LAMP

from codelens.engine.contexts.session_trail import words_of
from codelens.engine.engine import Engine
from codelens.trail import trail_log


def lines_of(engine: Engine, repo: GitRepo, session: str = "") -> list[tuple[str, str]]:
    scope = engine.pool.open_any(repo.root).scope
    found = trail_log.entries(engine.settings.home, scope.repo_id, session=session)
    return [(entry.tool, entry.summary) for entry in found]


def test_calls_leave_lines_in_their_order(engine: Engine, repo: GitRepo) -> None:
    repo.commit(
        "user", {"user.py": "def use(lamp):\n    return lamp\n\n\ndef twice(x):\n    use(x)\n"}
    )
    with engine.as_session("one"):
        engine.search("use", path=repo.root)
        engine.explore("use a lamp", path=repo.root)
        engine.expand(["user.py#use"], path=repo.root)
        engine.related("user.py#use", path=repo.root)
        engine.impact(["user.py#use"], path=repo.root)
        engine.save("glow", "x", ["user.py#use"], path=repo.root)
    found = lines_of(engine, repo, "one")
    assert [tool for tool, _ in found] == [
        "searched", "explored", "expanded", "related", "impact", "saved",
    ]  # fmt: skip
    said = dict(found)
    assert said["explored"].startswith("'use a lamp' (")
    assert said["impact"] == "of use (depth 1, 1 affected)"
    assert said["saved"] == "glow"
    scope = engine.pool.open_any(repo.root).scope
    for file in (engine.settings.home / "trails").glob("*.jsonl"):
        assert scope.repo_id in file.name
        assert all(len(line) <= 210 for line in file.read_bytes().splitlines())


def test_nothing_found_and_a_setting_leave_no_line(engine: Engine, repo: GitRepo) -> None:
    engine.search("zzqqx", path=repo.root)
    with Engine(replace(engine.settings, trail=False)) as off:
        off.search("lamp", path=repo.root)
    assert lines_of(engine, repo) == []


def test_a_question_is_kept_without_code_and_secrets() -> None:
    assert words_of("def light(lamp):\n    return lamp.on") == "'def light lamp return lamp.on'"
    secret = "ghp_" + "a1B2" * 12
    assert secret[:20] not in words_of(f"why does {secret} fail")
    assert len(words_of("word " * 1000)) <= 52
    assert LAMP not in words_of(LAMP)
