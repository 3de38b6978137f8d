"""Vectors of deleted texts can be removed, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from embedding_server import EmbeddingServer
from gitrepo import GitRepo

from codelens.answers.upkeep_answers import PrunedVectors
from codelens.cli.main import main
from codelens.engine.engine import Engine
from codelens.errors import IndexLocked
from codelens.paths import vectors_file
from codelens.scope.repository import Repository
from codelens.store.vector_tables import alone_writing

QUESTION = "what is part of a lamp"
PART = "def part_{n}(lamp):\n    return lamp + {n}\n"
FILES = {f"src/part{n}.py": PART.format(n=n) for n in range(5)}


def test_texts_that_no_branch_has_lose_their_vectors_and_questions_keep_theirs(
    synced: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    synced.search(QUESTION, path=repository.root)
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    (tmp_path / "other/other.py").write_text("def of_the_other():\n    return 'lamp'\n")
    synced.meaning_sync(path=tmp_path / "other")
    repository.write("src/part1.py", FILES["src/part1.py"] + "\n\n# changed\n")
    repository.git("rm", "-q", "src/part2.py")
    (tmp_path / "other/src/part2.py").unlink()
    synced.meaning_sync(path=repository.root)
    synced.look(path=tmp_path / "other")
    pruned = synced.meaning_prune(path=repository.root)
    assert (pruned.removed, pruned.kept) == (1, 7)
    server.received.clear()
    # The texts of other views, and the question, are not sent again.
    for root in (repository.root, tmp_path / "other"):
        assert synced.meaning_sync(path=root).texts == 0
    synced.search(QUESTION, path=repository.root)
    assert server.received == []
    assert synced.meaning_prune(path=repository.root) == PrunedVectors(0, 7, 0)
    repository.write("src/part2.py", FILES["src/part2.py"])
    assert synced.meaning_sync(path=repository.root).texts == 1


def test_answers_are_the_same_after_it(synced: Engine, repository: GitRepo) -> None:
    for n in range(5):
        repository.write(f"src/part{n}.py", PART.format(n=n + 50))
    synced.meaning_sync(path=repository.root)
    before = synced.search(QUESTION, path=repository.root, mode="meaning")
    pruned = synced.meaning_prune(path=repository.root)
    assert (pruned.removed, pruned.kept) == (5, 6)
    after = synced.search(QUESTION, path=repository.root, mode="meaning")
    assert after.results == before.results and after.notes == before.notes == ()


@pytest.mark.parametrize("removed_by", ["prune", "clear"])
def test_the_file_becomes_smaller(
    synced: Engine, repository: GitRepo, server: EmbeddingServer, removed_by: str
) -> None:
    server.dimension = 1000
    synced.meaning_enable("openai", path=repository.root, endpoint=server.endpoint("openai"))
    repository.write("many.py", "".join(f"def a{n}():\n    '''{n}'''\n" * 20 for n in range(400)))
    synced.meaning_sync(path=repository.root)
    (repository.root / "many.py").unlink()
    if removed_by == "clear":
        freed = synced.meaning_clear(path=repository.root)
    else:
        pruned = synced.meaning_prune(path=repository.root)
        assert pruned.removed > 100
        freed = pruned.freed_bytes
    assert freed > 100 * 1000


def test_without_vectors_nothing_is_removed(engine: Engine, repository: GitRepo) -> None:
    assert engine.meaning_prune(path=repository.root) == PrunedVectors(0, 0, 0)


def test_not_while_another_process_sends(
    synced: Engine, repository: GitRepo, tmp_path: Path
) -> None:
    file = vectors_file(tmp_path / "home", Repository.at(repository.root).scope().repo_id)
    with alone_writing(file), pytest.raises(IndexLocked):
        synced.meaning_prune(path=repository.root)


def test_the_command_reports_what_was_removed(
    synced: Engine,
    repository: GitRepo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(repository.root)
    repository.git("rm", "-q", "src/part2.py")
    assert main(["meaning", "prune"]) == 0
    assert capsys.readouterr().out.startswith("removed 1 vector of texts that are gone, 4 kept; ")
    assert main(["meaning", "prune", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"removed": 0, "kept": 4, "freed_bytes": 0}
