"""A provider's vectors are facts by content: no text is sent twice, and none without consent."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from embedding_server import DIMENSION, KEY, EmbeddingServer, embedding_server
from gitrepo import GitRepo

from codelens.cli.main import main
from codelens.config import Settings
from codelens.engine.embedding import vector_sync
from codelens.engine.embedding.provider_consent import ProviderNotEnabled
from codelens.engine.engine import Engine
from codelens.errors import IndexCorrupt, IndexLocked, SettingError
from codelens.meaning.providers.embedder import Patience
from codelens.meaning.providers.embedding_client import (
    AnswerInvalid,
    ProviderError,
    ProviderFailed,
    ProviderRefused,
)
from codelens.paths import vectors_file
from codelens.scope.repository import Repository
from codelens.store.vector_tables import alone_writing

FILES = {f"src/part{n}.py": f"def part_{n}(lamp):\n    return lamp + {n}\n" for n in range(5)}
PROBE = "def add(left, right): return left + right"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("EMBEDDING_BATCH_SIZE", "2")


@pytest.fixture
def enabled(engine: Engine, repository: GitRepo, server: EmbeddingServer) -> Engine:
    engine.meaning_enable("openai", path=repository.root, endpoint=server.endpoint("openai"))
    assert server.texts == [PROBE]
    server.received.clear()
    return engine


def state(engine: Engine, path: Path) -> str:
    return engine.meaning_status(path=path).provider.state


def test_nothing_is_sent_before_somebody_consents(
    engine: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    endpoint = server.endpoint("openai")
    plan = engine.meaning_plan("openai", path=repository.root, endpoint=endpoint)
    assert (plan.files, plan.texts, plan.left_out, plan.endpoint) == (5, 5, 0, endpoint)
    assert plan.bytes == sum(len(text.strip()) for text in FILES.values())
    assert plan.tokens == -(-plan.bytes // 3)
    engine.search("what is part of a lamp", path=repository.root)
    with pytest.raises(ProviderNotEnabled, match="no provider is enabled"):
        engine.meaning_sync(path=repository.root)
    assert server.received == []


def test_a_sync_sends_each_text_once_and_counts_it(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    assert state(enabled, repository.root) == "requires_reindex"
    synced = enabled.meaning_sync(path=repository.root)
    assert sorted(server.texts) == sorted(text.strip() for text in FILES.values())
    assert (synced.state, synced.texts, synced.requests, synced.lacking) == ("indexed", 5, 3, 0)
    server.received.clear()
    again = enabled.meaning_sync(path=repository.root)
    assert (again.state, again.texts, again.requests, server.received) == ("synced", 0, 0, [])
    status = enabled.meaning_status(path=repository.root).provider
    assert (status.contents, status.contents_ready, status.texts) == (5, 5, 5)
    assert status.vector_bytes == 5 * DIMENSION
    (sent,) = status.sent
    assert (sent.requests, sent.failed, sent.texts, sent.tokens) == (4, 0, 6, 42)


def test_a_branch_and_a_second_worktree_send_only_new_texts(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    enabled.meaning_sync(path=repository.root)
    server.received.clear()
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    assert enabled.meaning_sync(path=tmp_path / "other").texts == 0
    (tmp_path / "other" / "new.py").write_text("def fresh():\n    return 'lamp'\n")
    enabled.meaning_sync(path=tmp_path / "other")
    assert server.texts == ["def fresh():\n    return 'lamp'"]
    server.received.clear()
    repository.git("mv", "src/part1.py", "src/moved.py")
    repository.git("checkout", "-q", "-b", "third")
    assert enabled.meaning_sync(path=repository.root).texts == 0
    assert server.received == []


def test_files_that_may_hold_secrets_are_never_sent(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    token = "ghp_" + "a1B2" * 9
    secret = {
        ".env": "PASSWORD=lamp\n",
        "deploy/id_rsa": "lamp\n",
        "config/credentials.json": '{"lamp": 1}\n',
        "src/with_token.py": f"lamp = '{token}'\n",
        "src/with_key.py": "'''\n-----BEGIN RSA PRIVATE KEY-----\nlamp\n'''\n",
        ".gitignore": "ignored.py\n",
    }
    for path, text in secret.items():
        repository.write(path, text)
    repository.git("add", "-A")
    repository.write("ignored.py", "lamp_ignored = 1\n")
    synced = enabled.meaning_sync(path=repository.root)
    assert sorted(server.texts) == sorted(
        ["ignored.py", *(text.strip() for text in FILES.values())]
    )
    assert synced.left_out == 5
    assert enabled.meaning_sync(path=repository.root).texts == 0
    status = enabled.meaning_status(path=repository.root).provider
    assert (status.left_out, status.contents_ready) == (5, status.contents)


def test_a_failed_sync_is_reported_and_resumes(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    enabled.meaning_sync(path=repository.root, most_texts=2)
    assert state(enabled, repository.root) == "indexing"
    server.misbehave("nan")
    with pytest.raises(AnswerInvalid):
        enabled.meaning_sync(path=repository.root)
    status = enabled.meaning_status(path=repository.root).provider
    assert (status.state, status.texts) == ("failed", 2)
    assert "NaN" in status.failure
    assert status.sent[0].failed == 1
    server.misbehave("")
    server.received.clear()
    synced = enabled.meaning_sync(path=repository.root)
    assert (synced.texts, len(server.texts), synced.lacking) == (3, 3, 0)
    assert state(enabled, repository.root) == "indexed"


@pytest.mark.parametrize("how", ["401", "wrong dimension", "another form", "too few"])
def test_nothing_of_a_bad_answer_is_stored(
    how: str, enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    server.misbehave(how)
    with pytest.raises(ProviderError):
        enabled.meaning_sync(path=repository.root)
    assert enabled.meaning_status(path=repository.root).provider.texts == 0


def test_a_server_that_is_busy_is_asked_again(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    server.misbehave("429", times=2)
    synced = enabled.meaning_sync(path=repository.root)
    assert (synced.texts, synced.requests, synced.failed) == (5, 5, 2)


def test_a_server_that_is_down_is_reported(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    server.misbehave("cut off")
    with pytest.raises(ProviderFailed):
        vector_sync.sync(enabled.pool, request_at(repository), patience=Patience(2, 5.0, 0.01))
    assert state(enabled, repository.root) == "failed"


def request_at(repository: GitRepo) -> vector_sync.ViewRequest:
    return vector_sync.ViewRequest(repository.root)


def test_vectors_of_two_models_are_never_mixed(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    enabled.meaning_sync(path=repository.root)
    server.dimension = 32
    with pytest.raises(AnswerInvalid, match="32 numbers instead of 48"):
        repository.write("new.py", "lamp = 1\n")
        enabled.meaning_sync(path=repository.root)
    endpoint = server.endpoint("openai")
    done = enabled.meaning_enable("openai", path=repository.root, endpoint=endpoint, model="other")
    assert (done.dimension, done.state) == (32, "requires_reindex")
    assert enabled.meaning_status(path=repository.root).provider.contents_ready == 0
    assert enabled.meaning_sync(path=repository.root).texts == 6
    server.dimension = DIMENSION
    # Back to the first endpoint, whose vectors are still stored.
    enabled.meaning_enable("openai", path=repository.root, endpoint=endpoint)
    assert enabled.meaning_sync(path=repository.root).texts == 1


def test_enabling_changes_nothing_where_the_provider_refuses(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-bad-one")
    with pytest.raises(ProviderRefused):
        enabled.meaning_enable(
            "openai", path=repository.root, endpoint=server.endpoint("openai"), model="other"
        )
    assert enabled.meaning_status(path=repository.root).provider.model == "text-embedding-3-small"


def test_disabled_nothing_is_sent_and_cleared_nothing_is_left(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer
) -> None:
    enabled.meaning_sync(path=repository.root)
    server.received.clear()
    assert enabled.meaning_disable(path=repository.root)
    assert not enabled.meaning_disable(path=repository.root)
    with pytest.raises(ProviderNotEnabled):
        enabled.meaning_sync(path=repository.root)
    endpoint = server.endpoint("openai")
    enabled.meaning_enable("openai", path=repository.root, endpoint=endpoint)
    assert enabled.meaning_sync(path=repository.root).texts == 0
    enabled.meaning_clear(path=repository.root)
    status = enabled.meaning_status(path=repository.root).provider
    assert (status.state, status.texts, status.contents_ready) == ("requires_reindex", 0, 0)
    assert status.sent[0].requests > 0
    assert enabled.meaning_sync(path=repository.root).texts == 5


def test_one_process_at_a_time_sends(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    (path,) = (tmp_path / "home" / "vectors").glob("vectors-*.db")
    with alone_writing(path):
        for act in (enabled.meaning_sync, enabled.meaning_clear):
            with pytest.raises(IndexLocked, match="another process that syncs vectors"):
                act(path=repository.root)
    assert server.received == []


def test_a_damaged_file_goes_aside_with_the_consent(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    (path,) = (tmp_path / "home" / "vectors").glob("vectors-*.db")
    path.write_bytes(b"no database" * 2000)
    with pytest.raises(IndexCorrupt, match="damaged"):
        enabled.meaning_sync(path=repository.root)
    with pytest.raises(ProviderNotEnabled):
        enabled.meaning_sync(path=repository.root)
    assert server.received == []


def test_nothing_is_sent_while_the_settings_are_damaged(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    enabled.meaning_sync(path=repository.root)
    server.received.clear()
    repository.write("src/new.py", "def fresh():\n    return 'lamp'\n")
    # The damaged setting may have ignored `src/new.py`.
    with Engine(Settings(home=tmp_path / "home", damage="no TOML")) as damaged:
        answer = damaged.search("what is part of a lamp", path=repository.root)
        assert answer.results
        assert any("nothing is sent" in note for note in answer.notes)
        with pytest.raises(SettingError, match="nothing is sent"):
            damaged.meaning_sync(path=repository.root)
        with pytest.raises(SettingError, match="nothing is sent"):
            damaged.meaning_enable(
                "openai", path=repository.root, endpoint=server.endpoint("openai")
            )
        damaged._sync_vectors(str(repository.root))
    assert server.received == []


def test_consent_does_not_carry_over_to_another_repository(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    enabled.meaning_sync(path=repository.root)
    (path,) = (tmp_path / "home" / "vectors").glob("vectors-*.db")
    other = GitRepo.init(tmp_path / "other")
    other.commit("one", {"own.py": "def of_nobody_else():\n    return 1\n"})
    copied = vectors_file(tmp_path / "home", Repository.at(other.root).scope().repo_id)
    shutil.copy(path, copied)
    before = len(server.received)
    assert enabled.search("what belongs to nobody else", path=other.root).results
    with pytest.raises((IndexCorrupt, ProviderNotEnabled)):
        enabled.meaning_sync(path=other.root)
    with pytest.raises(ProviderNotEnabled):
        enabled.meaning_sync(path=other.root)
    assert len(server.received) == before
    assert enabled.meaning_status(path=repository.root).provider is not None


def test_the_doctor_reports_consent_of_another_repository(
    enabled: Engine,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = tmp_path / "home"
    (path,) = (home / "vectors").glob("vectors-*.db")
    shutil.copy(path, path.with_name("vectors-0123456789abcdef.db"))
    monkeypatch.setenv("CODELENS_HOME", str(home))
    assert main(["doctor"]) == 1
    assert "copied or swapped" in capsys.readouterr().out


def test_the_file_has_vectors_and_hashes_and_no_text(
    enabled: Engine, repository: GitRepo, tmp_path: Path
) -> None:
    enabled.meaning_sync(path=repository.root)
    (path,) = (tmp_path / "home" / "vectors").glob("vectors-*.db")
    assert path.stat().st_mode & 0o777 == 0o600
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    for (name,) in list(connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")):
        for row in connection.execute(f"SELECT * FROM {name}"):
            assert b"lamp" not in repr(row).encode()
    connection.close()


def test_vectors_of_an_earlier_version_are_kept(
    enabled: Engine, repository: GitRepo, server: EmbeddingServer, tmp_path: Path
) -> None:
    enabled.meaning_sync(path=repository.root)
    (path,) = (tmp_path / "home" / "vectors").glob("vectors-*.db")
    older = tmp_path / "home2" / "vectors" / path.name
    older.parent.mkdir(parents=True)
    first = (Path(__file__).parents[2] / "migrations" / "0001_vectors.sql").read_text()
    source, target = apsw.Connection(str(path)), apsw.Connection(str(older))
    target.execute(first)
    target.execute("PRAGMA user_version = 1")
    for table in ("consent", "fingerprints", "text_vectors", "content_texts", "sent"):
        columns = ", ".join(row[1] for row in target.execute(f"PRAGMA table_info({table})"))
        for row in source.execute(f"SELECT {columns} FROM {table}"):
            target.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
    source.close()
    target.close()
    server.received.clear()
    with Engine(Settings(home=tmp_path / "home2", workers=1)) as engine:
        synced = engine.meaning_sync(path=repository.root)
        status = engine.meaning_status(path=repository.root).provider
    assert (synced.state, synced.texts, server.received) == ("synced", 0, [])
    assert (status.contents_ready, status.store) == (5, "")
