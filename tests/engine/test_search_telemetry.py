"""The JSON line that a search prints to stderr on request, without the query."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from embedding_server import KEY, embedding_server
from gitrepo import GitRepo, git_environment

from codelens.config import Settings, load
from codelens.engine.engine import Engine
from codelens.engine.reading.search_hits import SearchFigures
from codelens.errors import QueryError, SettingError

FILES = {
    "src/lamp.py": "def kindle(lamp):\n    return lamp.light()\n",
    "src/wick.py": "def trim(wick):\n    return wick.cut()\n",
    "web/lamp.js": "function kindle(lamp) { return lamp.light(); }\n",
    "README.md": "# Lamps\n\nHow to kindle a lamp.\n",
}
QUESTION = "how to kindle the quagga"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", workers=1, telemetry=True)


def lines(text: str) -> list[dict]:
    assert "quagga" not in text
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_a_search_logs_its_figures_and_not_the_query(
    repository: GitRepo, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with Engine(settings) as engine:
        engine.search(QUESTION, path=repository.root, limit=3, max_tokens=900)
        engine.search("kindle", path=repository.root, languages=["python"], globs=["src/*"])
        engine.search("lam.", path=repository.root, mode="regex", content="prose")
    captured = capsys.readouterr()
    assert captured.out == ""
    words, name, regex = lines(captured.err)
    assert list(words) == [field.name for field in fields(SearchFigures)]
    assert words["ms"] > 0
    del words["ms"]
    assert words == {
        "tool": "search", "query_chars": len(QUESTION), "query_words": 5, "max_tokens": 900,
        "repositories": 1, "mode": "auto", "provider": "", "profile": "", "limit": 3,
        "files_before_filters": 4, "files_after_filters": 4, "reranked": 0, "results": 3,
        "error": "",
    }  # fmt: skip
    assert (name["mode"], name["limit"], name["max_tokens"]) == ("symbol", 10, None)
    assert (name["files_before_filters"], name["files_after_filters"]) == (4, 2)
    assert (regex["mode"], regex["files_after_filters"], regex["results"]) == ("regex", 1, 2)


def test_an_error_is_logged_by_kind_and_raised(
    repository: GitRepo, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with Engine(settings) as engine:
        with pytest.raises(QueryError):
            engine.search("/quagga(/", path=repository.root, mode="regex")
        with pytest.raises(QueryError):
            engine.search("lamp", path=repository.root, mode="quagga")
    (regex, mode) = lines(capsys.readouterr().err)
    assert regex["error"] == mode["error"] == "QueryError"
    assert regex["results"] == 0 and mode["mode"] == ""


def test_several_repositories_have_one_line(
    repository: GitRepo, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = GitRepo.init(tmp_path / "other")
    other.commit("first", {"a.py": "def kindle_other():\n    pass\n", "b.md": "# kindle\n"})
    roots = [str(repository.root), str(other.root), "/gone"]
    with Engine(settings) as engine:
        answer = engine.search_repositories("kindle lamp", roots, globs=["*.py"])
        # An unknown kind is an error in each repository, and no file was filtered.
        engine.search_repositories("kindle", roots, kinds=["quagga"])
    joint, failed = lines(capsys.readouterr().err)
    assert (joint["tool"], joint["repositories"]) == ("search_repositories", 3)
    assert (joint["files_before_filters"], joint["files_after_filters"]) == (6, 3)
    assert joint["results"] == len(answer.results) > 0
    assert (failed["files_before_filters"], failed["results"]) == (0, 0)


def test_the_provider_and_its_profile_are_logged(
    repository: GitRepo,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with embedding_server() as server, Engine(settings) as engine:
        engine.meaning_enable("openai", path=repository.root, endpoint=server.endpoint("openai"))
        engine.meaning_sync(path=repository.root)
        engine.search(QUESTION, path=repository.root, mode="meaning", limit=60)
        server.misbehave("500")
        engine.search(f"{QUESTION} again", path=repository.root)
    ranked, failed = lines(capsys.readouterr().err)
    assert (ranked["provider"], ranked["profile"], ranked["limit"]) == ("openai", "cloud fast", 50)
    assert (failed["provider"], failed["profile"], failed["error"]) == ("openai", "", "")


def test_nothing_is_written_unless_it_is_asked_for(
    repository: GitRepo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Engine(Settings(home=tmp_path / "home", workers=1)) as engine:
        assert engine.search(QUESTION, path=repository.root).results
    assert capsys.readouterr().err == ""


def test_a_closed_stderr_costs_no_answer(
    repository: GitRepo, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(settings) as engine, open(os.devnull, "w") as closed:
        closed.close()
        monkeypatch.setattr(sys, "stderr", closed)
        assert engine.search(QUESTION, path=repository.root).results
        monkeypatch.setattr(sys, "stderr", None)
        assert engine.search(QUESTION, path=repository.root).results


def test_it_is_asked_for_in_the_environment_or_the_settings_file(tmp_path: Path) -> None:
    assert not load({}, tmp_path).telemetry
    assert load({"CODELENS_TELEMETRY": "1"}, tmp_path).telemetry
    (tmp_path / "config.toml").write_text("telemetry = true\n")
    assert load({}, tmp_path).telemetry
    assert not load({"CODELENS_TELEMETRY": "off"}, tmp_path).telemetry
    with pytest.raises(SettingError, match="telemetry must be true or false"):
        load({"CODELENS_TELEMETRY": "sometimes"}, tmp_path)


def test_the_command_writes_it_to_stderr(repository: GitRepo, tmp_path: Path) -> None:
    home_and_switch = {"CODELENS_HOME": str(tmp_path / "home"), "CODELENS_TELEMETRY": "on"}
    env = git_environment(home_and_switch)
    ran = subprocess.run(
        [sys.executable, "-m", "codelens", "search", QUESTION],
        cwd=repository.root, env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    # The message that nothing was found goes to the caller, in addition to the line.
    (command,) = [json.loads(line) for line in ran.stderr.splitlines() if line.startswith("{")]
    assert "{" not in ran.stdout and command["results"] > 0
