"""`codelens meaning enable|sync|disable|clear` as typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from embedding_server import KEY, EmbeddingServer, embedding_server
from gitrepo import GitRepo
from shop_repository import Run

from codelens.cli import standard_streams


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with embedding_server() as server:
        yield server


@pytest.fixture
def enable(server: EmbeddingServer) -> list[str]:
    return [
        "meaning", "enable", "--provider", "openai", "--endpoint", server.endpoint("openai")
    ]  # fmt: skip


def test_enable_shows_what_would_be_sent_and_needs_consent(
    run: Run, repo: GitRepo, server: EmbeddingServer, enable: list[str]
) -> None:
    ran = run(*enable)
    assert ran.code == 2
    assert "to be sent: 6 texts of 6 files, " in ran.out
    assert "about " in ran.out
    assert server.url in ran.out
    assert "nothing was enabled or sent" in ran.err
    plan = run(*enable, "--json")
    assert (plan.code, plan.json["plan"]["texts"]) == (2, 6)
    assert server.received == []
    assert run("meaning", "sync").code == 2


def test_enable_shows_whether_searches_send_lines_for_reranking(
    run: Run, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    rerank = "each search by words its question, with lines of its first results to be reranked\n"
    assert rerank in run("meaning", "enable", "--provider", "voyage").out
    assert "reranked" not in run("meaning", "enable", "--provider", "openai").out
    monkeypatch.setenv("CODELENS_RERANK", "off")
    assert "reranked" not in run("meaning", "enable", "--provider", "voyage").out


def test_sync_reports_what_it_sent_and_status_counts_it(
    run: Run, repo: GitRepo, server: EmbeddingServer, enable: list[str]
) -> None:
    enabled = run(*enable, "--yes")
    assert enabled.code == 0
    assert "48 numbers a vector" in enabled.out
    assert "`codelens meaning sync` does that" in enabled.out
    assert "state: requires_reindex" in run("meaning", "status").out
    first = run("meaning", "sync", "--most", "2")
    assert "2 texts sent to openai" in first.out
    assert "4 texts still without a vector" in first.out
    synced = run("meaning", "sync", "--json").json["sync"]
    assert (synced["state"], synced["texts"], synced["lacking"]) == ("indexed", 4, 0)
    status = run("meaning", "status").out
    assert "provider's vectors: complete for 6 of 6 files, 288 bytes" in status
    assert "7 texts in 3 requests to openai" in status


def test_the_progress_of_a_sync_counts_texts(
    run: Run, repo: GitRepo, enable: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*enable, "--yes")
    for seconds in ("_SAID_AFTER_S", "_SAID_EVERY_S"):
        monkeypatch.setattr(standard_streams, seconds, 0.0)
    assert "codelens: sending texts: 6 of 6 texts\n" in run("meaning", "sync").err


def test_an_error_is_one_line_with_the_next_step(
    run: Run,
    repo: GitRepo,
    server: EmbeddingServer,
    enable: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "needs --provider" in run("meaning", "enable").err
    assert "unknown provider 'other'" in run("meaning", "enable", "--provider", "other").err
    run(*enable, "--yes")
    server.misbehave("404")
    failed = run("meaning", "sync")
    assert failed.code == 2
    assert failed.err.count("\n") <= 2
    assert "openai rejected a request" in failed.err
    assert "state: failed: openai rejected a request" in run("meaning", "status").out
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "set the environment variable OPENAI_API_KEY" in run("meaning", "sync").err


def test_disable_and_clear(
    run: Run, repo: GitRepo, server: EmbeddingServer, enable: list[str], tmp_path: Path
) -> None:
    assert run("meaning", "disable").code == 1
    assert run("meaning", "clear").code == 0
    assert not (tmp_path / "home" / "vectors").exists()
    run(*enable, "--yes")
    run("meaning", "sync")
    assert run("meaning", "clear", "--json").json["freed_bytes"] >= 0
    assert "provider's vectors: complete for 0 of 6 files" in run("meaning", "status").out
    assert "nothing is sent" in run("meaning", "disable").out
    assert run("meaning", "sync").code == 2


def test_list_names_the_repositories_by_state(
    run: Run, repo: GitRepo, server: EmbeddingServer, enable: list[str], tmp_path: Path
) -> None:
    nothing = run("meaning", "list")
    assert (nothing.code, nothing.out) == (1, "no repository has a provider enabled\n")
    run(*enable, "--yes")
    assert run("meaning", "list").out.startswith(f"requires_reindex: {repo.root} (openai, ")
    run("meaning", "sync")
    (row,) = run("meaning", "list", "--json").json["repositories"]
    assert (row["root"], row["state"], row["store"]) == (str(repo.root), "indexed", "")
    server.misbehave("404")
    repo.write("new.py", "lamp = 1\n")
    run("meaning", "sync")
    assert "openai rejected a request" in run("meaning", "list").out
    (path,) = (tmp_path / "home" / "vectors").glob("vectors-*.db")
    path.write_bytes(b"no database" * 2000)
    assert run("meaning", "list").out.startswith("unreadable: ")
