"""What a look sees, what it costs, and what an answer says if it ran out of time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.index import membership_cache, worktree_comparison
from codelens.scope.git_index import IndexContent
from codelens.store.database import writer_lease
from codelens.store.database.database_opening import open_index


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    files = {f"src/part{n}.py": f"def kindle_part{n}():\n    return {n}\n" for n in range(40)}
    made.commit("one", {**files, ".gitignore": "*.log\n"})
    return made


def settle() -> None:
    """Lets the file system's clock move past the last write (see scan/stat_check.py)."""
    time.sleep(0.06)


@contextmanager
def somebody_writing(engine: Engine, repo: GitRepo) -> Iterator[None]:
    """Holds a transaction open: with only a lease, a question would read files itself."""
    with closing(open_index(Path(engine.status(path=repo.root, budget_ms=0).index_path))) as db:
        db._connection.execute("BEGIN IMMEDIATE")
        yield
        db._connection.execute("ROLLBACK")


def test_a_second_look_reads_and_writes_nothing(repo: GitRepo, engine: Engine) -> None:
    settle()
    first = engine.look(path=repo.root)
    assert (first.status, first.indexed, first.files) == ("fresh", 41, 41)
    second = engine.look(path=repo.root)
    assert (second.status, second.indexed, second.checked) == ("fresh", 0, 41)
    assert second.index_id == first.index_id
    db = open_index(Path(engine.status(path=repo.root).index_path))
    before = db.row("PRAGMA data_version")
    engine.search("kindle", path=repo.root)
    assert db.row("PRAGMA data_version") == before


def test_a_look_is_carried_to_its_end_beyond_the_budget(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a load of ten, 74 of 120 answers were partial though nothing had changed."""
    settle()
    engine.look(path=repo.root)
    given: list[float] = []
    real = worktree_comparison.look

    def noting(root, folders, files, file_count, deadline):
        given.append(deadline - time.monotonic())
        return real(root, folders, files, file_count, deadline)

    monkeypatch.setattr(worktree_comparison, "look", noting)
    assert engine.look(path=repo.root, budget_ms=100_000).status == "fresh"
    assert 700 < given[0] <= 800
    assert engine.look(path=repo.root, budget_ms=0).status == "partial"


def test_only_a_changed_text_is_extracted(repo: GitRepo, engine: Engine) -> None:
    engine.look(path=repo.root)
    repo.write("src/part3.py", "def lantern(): pass\n")
    assert engine.look(path=repo.root).indexed == 1
    repo.write("src/copy.py", "def lantern(): pass\n")
    assert engine.look(path=repo.root).indexed == 0


def test_files_that_are_new_or_gone_are_counted_as_checked(repo: GitRepo, engine: Engine) -> None:
    engine.look(path=repo.root)
    repo.write("src/one_more.py", "def lantern(): pass\n")
    more = engine.look(path=repo.root)
    assert (more.status, more.files, more.checked) == ("fresh", 42, 42)
    (repo.root / "src/one_more.py").unlink()
    (repo.root / "src/part3.py").unlink()
    fewer = engine.look(path=repo.root)
    assert (fewer.status, fewer.files, fewer.checked) == ("fresh", 40, 40)


def test_a_tree_seen_before_and_a_second_worktree_extract_nothing(
    repo: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    engine.look(path=repo.root)
    repo.checkout("-b", "other")
    repo.commit("two", {f"src/part{n}.py": f"def other{n}(): pass\n" for n in range(20)})
    assert engine.look(path=repo.root).indexed == 20
    repo.checkout("main")
    assert engine.look(path=repo.root).indexed == 0
    repo.checkout("other")
    assert engine.look(path=repo.root).indexed == 0
    second = repo.worktree(tmp_path / "second")
    assert engine.look(path=second.root).indexed == 0
    assert engine.look(path=repo.root, ref="main").indexed == 0


def test_without_time_a_partial_answer_names_what_is_missing(repo: GitRepo, engine: Engine) -> None:
    receipt = engine.look(path=repo.root, budget_ms=0)
    assert receipt.status == "partial"
    # Plus the folder, which was not listed: git knows the files.
    assert receipt.pending == 41 + 1
    assert receipt.pending_names
    assert engine.look(path=repo.root).status == "fresh"


def test_a_hit_in_a_file_that_is_behind_is_stale(repo: GitRepo, engine: Engine) -> None:
    settle()
    engine.look(path=repo.root)
    repo.write("src/part3.py", "def kindle_part3():\n    return 'changed'\n")
    with somebody_writing(engine, repo):
        found = engine.search("kindle_part3", path=repo.root, budget_ms=200)
    stale = {one.path: one.stale for one in found.results}
    assert found.receipt.status == "partial"
    assert stale["src/part3.py"]
    assert not any(flag for path, flag in stale.items() if path != "src/part3.py")
    found = engine.search("kindle_part3", path=repo.root)
    assert found.receipt.status == "fresh"
    assert not any(one.stale for one in found.results)


def test_a_definition_that_its_file_lost_is_not_shown_while_the_index_is_behind(
    repo: GitRepo, engine: Engine
) -> None:
    settle()
    engine.look(path=repo.root)
    repo.write("src/part3.py", "def burn_part3():\n    return 'changed'\n")
    with somebody_writing(engine, repo):
        found = engine.search("kindle_part3", path=repo.root, budget_ms=200)
    assert found.receipt.status == "partial"
    assert "src/part3.py" in found.receipt.pending_names
    assert "src/part3.py#kindle_part3" not in [one.handle for one in found.results]
    assert "burn_part3" in engine.search("burn_part3", path=repo.root).results[0].handle


def test_a_look_without_time_is_partial_and_never_fresh(repo: GitRepo, engine: Engine) -> None:
    engine.look(path=repo.root)
    repo.write("src/part3.py", "def lantern(): pass\n")
    assert engine.look(path=repo.root, budget_ms=0).status == "partial"
    assert engine.look(path=repo.root).status == "fresh"


def test_another_writer_is_waited_for_within_the_budget_then_reported(
    repo: GitRepo, engine: Engine
) -> None:
    settle()
    engine.look(path=repo.root)
    db = open_index(Path(engine.status(path=repo.root).index_path))
    lease = writer_lease.acquire(db, 0)
    repo.write("src/part3.py", "def lantern(): pass\n")
    receipt = engine.look(path=repo.root, budget_ms=500)
    assert receipt.status == "partial"
    assert "is being written by this process" in receipt.note
    assert receipt.pending_names == ("src/part3.py",)
    lease.release(db)
    assert engine.look(path=repo.root).status == "fresh"


def test_a_file_that_vanishes_between_look_and_read_is_left_out(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from codelens.index import ingestion

    engine.look(path=repo.root)
    doomed = repo.write("src/doomed.py", "def doomed(): pass\n")
    real = ingestion.contents.blobs

    def blobs(*args):
        doomed.unlink(missing_ok=True)
        return real(*args)

    monkeypatch.setattr(ingestion.contents, "blobs", blobs)
    assert engine.look(path=repo.root).status == "fresh"
    assert not engine.search("doomed", path=repo.root, mode="symbol").results


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_an_unreadable_file_is_counted_and_read_when_it_can_be(
    repo: GitRepo, engine: Engine
) -> None:
    file = repo.path("src/part3.py")
    file.chmod(0)
    status = engine.status(path=repo.root)
    assert status.receipt.status == "fresh"
    assert status.skipped["unreadable"] == 1
    file.chmod(0o644)
    assert engine.search("kindle_part3", path=repo.root, mode="symbol").results


def test_large_binary_and_linked_files_are_counted(repo: GitRepo, engine: Engine) -> None:
    repo.write("big.txt", "x" * 1_000_001)
    repo.write("image.bin", b"\0\1\2" * 100)
    repo.path("link.py").symlink_to("src/part3.py")
    repo.path("out").symlink_to("/etc")
    status = engine.status(path=repo.root)
    assert status.skipped["oversized"] == 1
    assert status.outcomes["binary"] == 1
    assert status.skipped["links"] == 2
    assert status.files == 43
    assert not engine.search("root", path=repo.root, mode="text").results


def test_a_folder_swapped_for_a_link_out_of_the_tree_gives_nothing(
    repo: GitRepo, engine: Engine, tmp_path: Path
) -> None:
    engine.look(path=repo.root)
    outside = tmp_path / "outside"
    repo.path("src").rename(outside)
    repo.path("src").symlink_to(outside)
    found = engine.search("kindle_part3", path=repo.root)
    assert not [one for one in found.results if one.path.startswith("src/")]


def test_a_raised_size_limit_includes_skipped_files(repo: GitRepo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Engine(Settings(home=home, max_file_bytes=20)) as small:
        assert small.status(path=repo.root).skipped["oversized"] == 40
    with Engine(Settings(home=home)) as normal:
        assert not normal.status(path=repo.root).skipped
        assert normal.search("kindle_part7", path=repo.root, mode="symbol").results


def test_an_index_inside_the_repository_is_refused(repo: GitRepo) -> None:
    from codelens.errors import SettingError

    with pytest.raises(SettingError, match="set CODELENS_HOME to another folder"):
        Engine(Settings(home=repo.root / ".codelens")).look(path=repo.root)


def test_newer_facts_are_not_replaced_by_an_older_extractor(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from codelens.index import ingestion, view_update, worktree_comparison

    engine.look(path=repo.root)
    for module in (worktree_comparison, view_update):
        monkeypatch.setattr(module, "EXTRACTOR_VERSION", 10**6)
    for module in (ingestion, view_update):
        monkeypatch.setattr(module, "extractor_version", lambda _: 10**9)
    assert engine.look(path=repo.root).indexed == 41
    assert engine.look(path=repo.root).indexed == 0
    monkeypatch.undo()
    with Engine(Settings(home=tmp_path / "home")) as older:
        assert older.look(path=repo.root).indexed == 0


def test_a_new_file_is_listed_by_the_git_index_as_it_is_now(
    repo: GitRepo, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    read = membership_cache.read_content

    def noting(path: str, **named: Any) -> IndexContent:
        reads.append(path)
        return read(path, **named)

    monkeypatch.setattr(membership_cache, "read_content", noting)
    repo.write(".gitignore", "*.gen.py\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "ignore")
    time.sleep(0.06)
    engine.look(path=repo.root)
    for number in range(3):
        # As an editor saves: the folder changes, git's index does not.
        repo.write("src/saved.tmp", f"def saved{number}(): pass\n")
        (repo.root / "src/saved.tmp").replace(repo.root / "src/saved.py")
        assert engine.search(f"saved{number}", path=repo.root).results
    assert len(reads) == 1
    repo.write("src/made.gen.py", "def generated(): pass\n")
    assert not engine.search("generated", path=repo.root, mode="symbol").results
    repo.git("add", "-f", "src/made.gen.py")
    assert engine.search("generated", path=repo.root, mode="symbol").results
    repo.git("rm", "-q", "--cached", "src/made.gen.py")
    assert not engine.search("generated", path=repo.root, mode="symbol").results
