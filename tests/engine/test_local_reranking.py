"""Ordering by a local cross-encoder: on request, without network access."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedding_server import KEY, EmbeddingServer, embedding_server
from gitrepo import GitRepo
from onnx_models import write_cross_encoder

from codelens.answers.reading_answers import SearchAnswer
from codelens.cli.main import main
from codelens.config import Settings, load
from codelens.engine.engine import Engine

QUESTION = "job halting"
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
FILES = {
    # By words the first is best; the tests' model counts `cancel`.
    "src/halting.py": "def job_halting(job):\n    # halting a job, job halting\n    job.halt()\n",
    "src/middle.py": "def cancel_one(job):\n    # halting a job\n    cancel(job)\n",
    "src/keyed.py": f"def keyed(job, cancel):\n    # halting\n    cancel(cancel('{TOKEN}'))\n",
    "src/last.py": "def cancel_all(job):\n    cancel(cancel(cancel(cancel(job.halting))))\n",
}
BY_RERANKER = ["src/last.py", "src/keyed.py", "src/middle.py", "src/halting.py"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_cross_encoder(tmp_path / "model", {"cancel": 1.0})


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    repository = GitRepo.init(tmp_path / "repo")
    repository.commit("first", FILES)
    return repository


@pytest.fixture
def engine(tmp_path: Path, model: Path) -> Iterator[Engine]:
    settings = Settings(home=tmp_path / "home", workers=1, cross_encoder=str(model))
    with Engine(settings) as engine:
        yield engine


def paths(answer: SearchAnswer) -> list[str]:
    return [hit.path for hit in answer.results]


def test_it_orders_only_on_request_and_reads_unsendable_texts(
    engine: Engine, repository: GitRepo
) -> None:
    without = engine.search(QUESTION, path=repository.root)
    assert paths(without)[0] == "src/halting.py"
    assert engine.search(QUESTION, path=repository.root, rerank=False).results == without.results
    answer = engine.search(QUESTION, path=repository.root, rerank=True, explain=True)
    assert paths(answer) == BY_RERANKER
    assert answer.notes == ()
    assert [(hit.explain or {})["rerank"] for hit in answer.results] == [5.0, 3.0, 2.0, 0.0]
    again = engine.search(QUESTION, path=repository.root, rerank=True, explain=True)
    assert again.results == answer.results
    (first,) = engine.search(QUESTION, path=repository.root, rerank=True, limit=1).results
    assert first.path == "src/last.py"


def test_the_answer_is_of_the_view(engine: Engine, repository: GitRepo) -> None:
    repository.git("checkout", "-q", "-b", "other")
    changed = FILES["src/halting.py"].replace("job.halt()", "cancel " * 9)
    repository.commit("second", {"src/halting.py": changed})
    here = engine.search(QUESTION, path=repository.root, rerank=True)
    assert paths(here)[0] == "src/halting.py"
    there = engine.search(QUESTION, path=repository.root, ref="main", rerank=True)
    assert paths(there) == BY_RERANKER


def test_a_failing_reranker_costs_only_the_order(
    engine: Engine, repository: GitRepo, model: Path
) -> None:
    without = engine.search(QUESTION, path=repository.root)
    (model / "tokenizer.json").write_text("{}")
    answer = engine.search(QUESTION, path=repository.root, rerank=True)
    assert answer.results == without.results
    (note,) = answer.notes
    assert note.startswith("not reranked: the cross-encoder ") and str(model) in note


def test_it_comes_before_a_provider_that_is_sent_nothing_then(
    engine: Engine, repository: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    with embedding_server() as server:
        _enable(engine, repository, server)
        answer = engine.search(QUESTION, path=repository.root, rerank=True)
        assert paths(answer) == BY_RERANKER
        engine.search(QUESTION, path=repository.root)
        assert server.texts == [QUESTION]


def _enable(engine: Engine, repository: GitRepo, server: EmbeddingServer) -> None:
    engine.meaning_enable("voyage", path=repository.root, endpoint=server.endpoint("voyage"))
    engine.meaning_sync(path=repository.root)
    server.received.clear()


def test_the_command_takes_it_from_the_settings(
    repository: GitRepo,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f"cross_encoder = {json.dumps(str(model))}\n")
    monkeypatch.setenv("CODELENS_HOME", str(home))
    monkeypatch.chdir(repository.root)
    assert main(["search", QUESTION, "--rerank", "on"]) == 0
    assert capsys.readouterr().out.startswith("src/last.py#")
    assert main(["search", QUESTION]) == 0
    assert capsys.readouterr().out.startswith("src/halting.py#")
    assert load({"CODELENS_CROSS_ENCODER": "/a"}, home).cross_encoder == "/a"
