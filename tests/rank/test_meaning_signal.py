"""The meaning of a file counts next to its words: with a table of a few terms, via the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo
from small_table import write_table

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.extract.tokenizer import terms_of_word
from codelens.meaning import word_table
from codelens.rank.scoring import file_features
from codelens.rank.scoring.file_features import Candidate
from codelens.store.facts import ranking_reads

ALIKE, APART = (90, 20, 0, 0), (0, 0, 90, 20)
WORDS = {"cancel": ALIKE, "abort": ALIKE, "store": APART, "paint": APART, "job": (10, 10, 10, 10)}
QUESTION = "how can I cancel a job"
FILES = {
    "src/stopping.py": "def abort(job):\n    # abort it, abort its parts\n    job.abort()\n",
    "src/keeping.py": "def store(job):\n    # store it, store its parts\n    job.store()\n",
    "src/painting.py": "def paint(job):\n    # paint it, paint its parts\n    job.paint()\n",
}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    terms = {terms_of_word(word)[0]: vector for word, vector in WORDS.items()}
    file = write_table(tmp_path / "words.table", terms)
    monkeypatch.setattr(word_table, "FILE", file)
    return file


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    repository = GitRepo.init(tmp_path / "repo")
    for path, text in FILES.items():
        repository.write(path, text)
    repository.commit("first")
    return repository


@pytest.fixture
def engine(tmp_path: Path, table: Path) -> Iterator[Engine]:
    with Engine(Settings(home=tmp_path / "home")) as engine:
        yield engine


def test_a_file_that_says_it_in_other_words_comes_first(
    engine: Engine, repository: GitRepo
) -> None:
    answer = engine.search(QUESTION, path=repository.root, explain=True)
    assert answer.results[0].path == "src/stopping.py"
    shares = {hit.path: (hit.explain or {}).get("meaning", 0.0) for hit in answer.results}
    assert shares["src/stopping.py"] > 0 >= shares["src/keeping.py"]
    without = engine.search(QUESTION, path=repository.root, explain=True, meaning=False)
    assert without.results[0].path == "src/keeping.py"
    assert all("meaning" not in (hit.explain or {}) for hit in without.results)


def test_a_single_name_is_not_ranked_by_meaning(engine: Engine, repository: GitRepo) -> None:
    answer = engine.search("cancel", path=repository.root, explain=True)
    assert all("meaning" not in (hit.explain or {}) for hit in answer.results)


def test_a_damaged_table_is_reported_and_words_are_ranked(
    engine: Engine, repository: GitRepo, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = engine.search(QUESTION, path=repository.root, meaning=False)
    cut = table.with_name("cut.table")
    cut.write_bytes(table.read_bytes()[:-9])
    monkeypatch.setattr(word_table, "FILE", cut)
    answer = engine.search(QUESTION, path=repository.root)
    assert [hit.handle for hit in answer.results] == [hit.handle for hit in expected.results]
    assert any("cut.table" in note and "reinstall codelens" in note for note in answer.notes)


def test_without_the_vectors_of_a_candidate_no_meaning_counts(
    engine: Engine, repository: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = engine.search(QUESTION, path=repository.root, meaning=False)
    real = ranking_reads.vectors_of

    def without_one(*asked) -> dict[int, bytes]:
        scores = real(*asked)
        scores.pop(min(scores))
        return scores

    monkeypatch.setattr(ranking_reads, "vectors_of", without_one)
    answer = engine.search(QUESTION, path=repository.root, explain=True)
    assert [hit.handle for hit in answer.results] == [hit.handle for hit in expected.results]
    assert any("1 candidate of 3 have no vectors yet" in note for note in answer.notes)
    plain = engine.search(QUESTION, path=repository.root)
    assert not any("without meaning" in note for note in plain.notes)


def test_the_feature_is_scaled_from_the_middle_to_the_best() -> None:
    candidates = [Candidate(1, True), Candidate(2, True), Candidate(3, True), Candidate(4, False)]
    scaled = file_features._scaled([10.0, 20.0, 100.0, 900.0], candidates)
    assert scaled == [-0.125, 0.0, 1.0, 1.0]
    assert file_features._scaled([None, 20.0, 20.0, None], candidates) == [0.0] * 4
    assert file_features._scaled([-900.0, 20.0, 100.0, None], candidates)[0] == -0.5
