"""Search with a provider's vectors: what they add, and the answer by words without them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from embedding_server import KEY, EmbeddingServer
from gitrepo import GitRepo

from codelens.answers.reading_answers import SearchAnswer
from codelens.config import Settings
from codelens.engine.engine import Engine

FILES = {
    "src/stopping.py": "def abort(job):\n    # halt halt\n    job.abort()\n",
    "src/keeping.py": "def store(job):\n    # cancel nothing here\n    job.store()\n",
    "src/painting.py": "def paint(job):\n    # colours\n    job.paint()\n",
    "src/far.py": "def unrelated():\n    # quit quit quit quit\n    return None\n",
}
QUESTION = "how can I cancel a job"


@pytest.fixture
def server(server: EmbeddingServer) -> EmbeddingServer:
    # Simulates a model that knows synonyms.
    server.same_words = {"cancel": "abort", "halt": "abort", "quit": "abort"}
    return server


def paths(answer: SearchAnswer) -> list[str]:
    return [hit.path for hit in answer.results]


def test_a_file_comes_in_that_has_no_word_of_the_question(
    synced: Engine, repository: GitRepo
) -> None:
    answer = synced.search("how to cancel", path=repository.root, explain=True)
    without = synced.search("how to cancel", path=repository.root, meaning=False)
    assert "src/far.py" in paths(answer)
    assert "src/far.py" not in paths(without)
    shares = {hit.path: (hit.explain or {}).get("meaning", 0.0) for hit in answer.results}
    assert shares["src/far.py"] > 0
    far = answer.results[paths(answer).index("src/far.py")]
    assert (far.start_line, far.end_line) == (1, 3)


def test_meaning_alone_ranks_by_the_vectors(synced: Engine, repository: GitRepo) -> None:
    answer = synced.search(QUESTION, path=repository.root, mode="meaning", explain=True)
    assert paths(answer)[0] in {"src/stopping.py", "src/far.py"}
    assert len(answer.results) == 4
    scores = [hit.score for hit in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert all(-1 <= score <= 1 for score in scores)
    assert "by openai" in answer.results[0].why
    filtered = synced.search(
        QUESTION, path=repository.root, mode="meaning", globs=["src/p*"], limit=3
    )
    assert paths(filtered) == ["src/painting.py"]


def test_the_same_vectors_give_the_same_answer_in_another_index(
    synced: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    """The provider is not asked again, even if its vectors would differ by now."""

    def answers(engine: Engine) -> list[SearchAnswer]:
        return [
            engine.search(QUESTION, path=repository.root, mode=mode, explain=True)
            for mode in ("auto", "meaning")
        ]

    before = answers(synced)
    server.received.clear()
    # A provider whose answers vary.
    server.same_words = {"cancel": "paint"}
    shutil.copytree(tmp_path / "home" / "vectors", tmp_path / "fresh" / "vectors")
    for home in (tmp_path / "home", tmp_path / "fresh"):
        with Engine(Settings(home=home, workers=1)) as engine:
            for first, again in zip(before, answers(engine), strict=True):
                assert (again.results, again.notes) == (first.results, first.notes)
    assert server.received == []


def test_meaning_alone_goes_by_the_table_where_no_provider_is(
    engine: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    answer = engine.search("abort it", path=repository.root, mode="meaning")
    assert paths(answer)[0] == "src/stopping.py"
    assert len(answer.results) == 4
    assert "the table of words" in answer.results[0].why
    assert server.received == []
    nothing = engine.search("xqzzyx", path=repository.root, mode="meaning")
    assert nothing.results == ()
    assert any("has no word of the question" in note for note in nothing.notes)


def test_a_question_is_sent_once_and_only_where_vectors_count(
    synced: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    first = synced.search(QUESTION, path=repository.root)
    assert synced.search(QUESTION, path=repository.root).results == first.results
    assert server.texts == [QUESTION]
    for mode in ("text", "regex", "path", "symbol"):
        synced.search("cancel nothing", path=repository.root, mode=mode)
    synced.search("cancel nothing", path=repository.root, meaning=False)
    synced.search("abort", path=repository.root)
    synced.explore(QUESTION, path=repository.root)
    assert server.texts == [QUESTION]


@pytest.mark.parametrize("how", ["401", "429", "500", "cut off", "nan", "too few", "another form"])
def test_the_answer_by_words_comes_with_a_note_when_the_provider_fails(
    how: str, synced: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    server.misbehave(how)
    answer = synced.search(QUESTION, path=repository.root)
    assert len(server.received) == 1
    (note,) = [note for note in answer.notes if note.startswith("ranked without openai: ")]
    assert KEY not in note
    assert paths(answer) == paths(by_words(repository, synced))


def by_words(repository: GitRepo, engine: Engine) -> SearchAnswer:
    engine.meaning_disable(path=repository.root)
    return engine.search(QUESTION, path=repository.root)


def test_without_a_key_or_vectors_the_answer_is_by_words(
    engine: Engine, repository: GitRepo, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.meaning_enable("openai", path=repository.root, endpoint=server.endpoint("openai"))
    server.received.clear()
    answer = engine.search(QUESTION, path=repository.root)
    assert any("it has no vectors yet: run `codelens meaning sync`" in n for n in answer.notes)
    assert server.received == []
    engine.meaning_sync(path=repository.root)
    monkeypatch.delenv("OPENAI_API_KEY")
    answer = engine.search(QUESTION, path=repository.root)
    assert any("set the environment variable OPENAI_API_KEY" in note for note in answer.notes)
    assert answer.results


def test_a_view_sees_no_vectors_of_another_and_says_what_is_missing(
    synced: Engine, repository: GitRepo
) -> None:
    repository.write("src/new.py", "def quit_now():\n    # cancel a job, cancel it\n    pass\n")
    repository.git("rm", "-q", "-f", "src/far.py")
    answer = synced.search(QUESTION, path=repository.root, mode="meaning")
    assert sorted(paths(answer)) == ["src/keeping.py", "src/painting.py", "src/stopping.py"]
    assert "1 of 4 texts have no vectors by openai yet" in answer.notes[0]
    # The words find it at once.
    assert "src/new.py" in paths(synced.search(QUESTION, path=repository.root))


def test_the_vectors_file_may_be_damaged(
    synced: Engine, repository: GitRepo, tmp_path: Path
) -> None:
    (path,) = (tmp_path / "home" / "vectors").glob("vectors-*.db")
    path.write_bytes(b"no database" * 2000)
    answer = synced.search(QUESTION, path=repository.root)
    assert answer.results
    assert any("its vectors cannot be used" in note for note in answer.notes)
    assert synced.search(QUESTION, path=repository.root).notes == ()


def test_the_profile_reports_the_number_of_results(
    synced: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    for number in range(60):
        repository.write(f"many/part{number}.py", f"def part_{number}():\n    return 'abort'\n")
    synced.meaning_sync(path=repository.root)

    def count(limit: int | None = None) -> int:
        answer = synced.search(QUESTION, path=repository.root, mode="meaning", limit=limit)
        return len(answer.results)

    assert (count(), count(limit=7), count(limit=100)) == (50, 7, 50)
    synced.meaning_enable("ollama", path=repository.root, endpoint=server.endpoint("ollama"))
    synced.meaning_sync(path=repository.root)
    assert (count(), count(limit=7), count(limit=100)) == (10, 7, 15)
