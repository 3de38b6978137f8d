"""Ordering by a provider's reranker: requested, refused, and the answer without it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from embedding_server import KEY, EmbeddingServer
from gitrepo import GitRepo

from codelens.answers.reading_answers import SearchAnswer
from codelens.cli.main import main
from codelens.config import Settings, load
from codelens.engine.embedding import reranking
from codelens.engine.embedding.reranking import NoReranker
from codelens.engine.engine import Engine
from codelens.errors import SettingError
from codelens.meaning.providers.embedder import Patience

QUESTION = "job halting"
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
FILES = {
    # By words the first is best; the tests' reranker counts `cancel`.
    "src/halting.py": "def job_halting(job):\n    # halting a job, job halting\n    job.halt()\n",
    "src/middle.py": "def cancel_one(job):\n    # halting a job\n    cancel(job)\n",
    "src/last.py": "def cancel_all(job):\n    cancel(cancel(job.halting))\n",
    "src/keyed.py": f"def keyed(job):\n    # halting a job\n    return '{TOKEN}'\n",
    "credentials.json": '{"job": "halting", "cancel": "cancel cancel cancel"}\n',
}
BY_RERANKER = ["src/last.py", "src/middle.py", "src/halting.py"]


@pytest.fixture
def server(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> EmbeddingServer:
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    server.fails_at = "/rerank"
    return server


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    repository = GitRepo.init(tmp_path / "repo")
    repository.commit("first", FILES)
    repository.write(".git/info/exclude", "ignored.py\n")
    repository.write("ignored.py", "def cancel_ignored(job):\n    # halting\n    cancel(job)\n")
    return repository


@pytest.fixture
def synced(engine: Engine, repository: GitRepo, server: EmbeddingServer) -> Engine:
    engine.meaning_enable("voyage", path=repository.root, endpoint=server.endpoint("voyage"))
    engine.meaning_sync(path=repository.root)
    engine.search(QUESTION, path=repository.root, rerank=False)
    server.received.clear()
    return engine


def paths(answer: SearchAnswer) -> list[str]:
    return [hit.path for hit in answer.results]


def sendable(answer: SearchAnswer) -> list[str]:
    return [path for path in paths(answer) if path in BY_RERANKER]


def test_the_reranker_orders_sendable_texts_and_the_rest_stays_in_place(
    synced: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    without = synced.search(QUESTION, path=repository.root, rerank=False)
    assert sendable(without) != BY_RERANKER
    assert server.received == []
    answer = synced.search(QUESTION, path=repository.root, rerank=True, explain=True)
    assert sendable(answer) == BY_RERANKER
    assert answer.notes == ()
    for kept in ("src/keyed.py", "credentials.json"):
        assert paths(answer).index(kept) == paths(without).index(kept)
    shares = {hit.path: (hit.explain or {}).get("rerank") for hit in answer.results}
    assert shares["src/last.py"] == pytest.approx(0.03)
    assert shares["src/keyed.py"] is None
    alone = synced.search(QUESTION, path=repository.root, rerank=True, mode="meaning")
    assert sendable(alone) == BY_RERANKER


def test_only_lines_of_results_that_may_be_sent_leave_and_they_are_counted(
    synced: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    synced.search(QUESTION, path=repository.root)
    (texts,) = server.received
    assert texts[0] == QUESTION and len(texts) == 4
    assert not any(word in text for text in texts for word in (TOKEN, "credentials", "ignored"))
    assert not any('"cancel"' in text for text in texts)
    provider = synced.meaning_status(path=repository.root).provider
    (counted,) = [row for row in provider.sent if row.model == "rerank-2.5"]
    assert (counted.requests, counted.failed, counted.texts, counted.tokens) == (1, 0, 4, 9)
    assert counted.bytes == sum(len(text.encode()) for text in texts)


def test_a_result_comes_up_from_below_the_limit(synced: Engine, repository: GitRepo) -> None:
    (hit,) = synced.search(QUESTION, path=repository.root, limit=1).results
    assert hit.path == "src/last.py"


def test_a_request_without_a_reranker_is_refused(
    engine: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    with pytest.raises(NoReranker, match="meaning enable --provider voyage"):
        engine.search(QUESTION, path=repository.root, rerank=True)
    engine.meaning_enable("openai", path=repository.root, endpoint=server.endpoint("openai"))
    engine.meaning_sync(path=repository.root)
    server.received.clear()
    with pytest.raises(NoReranker):
        engine.search(QUESTION, path=repository.root, rerank=True)
    assert server.received == []
    assert engine.search(QUESTION, path=repository.root).notes == ()
    assert server.texts == [QUESTION]


def test_nothing_is_sent_after_the_consent_is_withdrawn_or_where_it_was_not_given(
    synced: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    other = GitRepo.init(tmp_path / "other")
    other.commit("first", FILES)
    assert synced.search(QUESTION, path=other.root).results
    with pytest.raises(NoReranker):
        synced.search(QUESTION, path=other.root, rerank=True)
    synced.meaning_disable(path=repository.root)
    assert synced.search(QUESTION, path=repository.root).results
    with pytest.raises(NoReranker):
        synced.search(QUESTION, path=repository.root, rerank=True)
    assert server.received == []


def test_other_searches_are_not_reranked(
    synced: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    for mode in ("text", "regex", "path", "symbol"):
        answer = synced.search("job", path=repository.root, mode=mode)
        assert not any("rerank" in note for note in answer.notes)
    assert synced.search("job_halting", path=repository.root).results
    assert synced.search(QUESTION, path=repository.root, meaning=False).results
    synced.explore(QUESTION, path=repository.root)
    synced.search_repositories(QUESTION, [str(repository.root)])
    assert server.received == []
    answer = synced.search("job", path=repository.root, mode="text", rerank=True)
    assert any(note.startswith("not reranked: ") for note in answer.notes)
    assert server.received == []


@pytest.mark.parametrize(
    "how", ["401", "404", "429", "500", "cut off", "nan", "too few", "another form", "hang"]
)
def test_the_answer_without_it_comes_with_a_note_when_the_reranker_fails(
    how: str,
    synced: Engine,
    repository: GitRepo,
    server: EmbeddingServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if how == "hang":
        monkeypatch.setattr(reranking, "FOR_A_QUESTION", Patience(attempts=1, timeout_s=0.2))
    without = synced.search(QUESTION, path=repository.root, rerank=False)
    server.misbehave(how)
    answer = synced.search(QUESTION, path=repository.root, rerank=True)
    assert answer.results == without.results
    (note,) = answer.notes
    assert note.startswith("not reranked: voyage ") and KEY not in note
    until = time.monotonic() + 60
    while not server.received and time.monotonic() < until:
        time.sleep(0.01)  # on a busy machine the server reads a request that was given up
    assert len(server.received) == 1
    provider = synced.meaning_status(path=repository.root).provider
    (counted,) = [row for row in provider.sent if row.model == "rerank-2.5"]
    assert (counted.requests, counted.failed) == (1, 1)


def test_a_wrong_or_missing_key_is_reported(
    synced: Engine, repository: GitRepo, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "a-bad-one")
    (note,) = synced.search(QUESTION, path=repository.root).notes
    assert "check VOYAGE_API_KEY" in note and "a-bad-one" not in note
    monkeypatch.delenv("VOYAGE_API_KEY")
    (note,) = synced.search(QUESTION, path=repository.root).notes
    assert note.startswith("not reranked: ") and "set the environment variable" in note
    assert server.received == []
    sent = synced.meaning_status(path=repository.root).provider.sent
    assert [row.requests for row in sent if row.model == "rerank-2.5"] == [1]


def test_a_place_that_changed_meanwhile_keeps_its_rank(
    synced: Engine, repository: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = reranking.ask

    def ask_and_edit(*args, **named):
        reranked = ask(*args, **named)
        repository.write("src/last.py", f"# another line\n{FILES['src/last.py']}")
        return reranked

    monkeypatch.setattr(reranking, "ask", ask_and_edit)
    answer = synced.search(QUESTION, path=repository.root, explain=True)
    shares = {hit.path: hit.explain or {} for hit in answer.results}
    assert "rerank" not in shares["src/last.py"]
    assert "rerank" in shares["src/middle.py"]


def test_a_setting_turns_it_off_and_the_argument_has_the_last_word(
    synced: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    assert not load({"CODELENS_RERANK": "off"}, tmp_path).rerank
    settings = Settings(home=tmp_path / "home", workers=1, rerank=False)
    with Engine(settings) as off:
        off.search(QUESTION, path=repository.root)
        assert server.received == []
        assert sendable(off.search(QUESTION, path=repository.root, rerank=True)) == BY_RERANKER


def test_nothing_is_sent_while_the_settings_are_damaged(
    synced: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    with Engine(Settings(home=tmp_path / "home", workers=1, damage="no TOML")) as damaged:
        damaged.search(QUESTION, path=repository.root)
        with pytest.raises(SettingError, match="nothing is sent"):
            damaged.search(QUESTION, path=repository.root, rerank=True)
    assert server.received == []


def test_the_command_has_the_option_and_the_telemetry_counts(
    synced: Engine,
    repository: GitRepo,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CODELENS_TELEMETRY", "on")
    monkeypatch.chdir(repository.root)

    def first(*options: str) -> tuple[str, int]:
        assert main(["search", QUESTION, *options]) == 0
        captured = capsys.readouterr()
        (figures,) = [line for line in captured.err.splitlines() if line.startswith("{")]
        return captured.out.split("#")[0], json.loads(figures)["reranked"]

    assert first("--rerank", "on") == ("src/last.py", 3)
    assert first("--rerank", "off") == ("src/halting.py", 0)
    assert main(["search", QUESTION, "--rerank", "on", "--repository", "."]) == 2
    assert "--rerank cannot be used with --repository" in capsys.readouterr().err
