"""A server skips files that cannot have changed, and never one that has."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.scan import stat_check, watched_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports changes")


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("one", {f"src/p{n % 4}/part{n}.py": f"def kindle{n}(): pass\n" for n in range(40)})
    return made


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine that watches trees of any size, and never sweeps."""
    monkeypatch.setattr(watched_tree, "WORTH_WATCHING", 0)
    monkeypatch.setattr(watched_tree, "SWEEP_EVERY_S", 1e9)
    with Engine(Settings(home=tmp_path / "home"), keep_going=True) as engine:
        yield engine


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Files checked on disk since the list was cleared."""
    paths: list[bytes] = []
    real = stat_check.look

    def noting(root, folders, files, file_count, deadline):
        files = list(files)
        paths.extend(path for path, _ in files)
        return real(root, folders, files, file_count, deadline)

    monkeypatch.setattr(watched_tree, "look", noting)
    return paths


def at_rest(engine: Engine, repo: GitRepo) -> None:
    """Asks until nothing is racy any more (see scan/stat_check.py)."""
    for _ in range(3):
        assert engine.look(path=repo.root).status == "fresh"
        time.sleep(0.06)
    engine.look(path=repo.root)


def test_without_events_nothing_is_checked(
    repo: GitRepo, server: Engine, looked_at: list[bytes]
) -> None:
    at_rest(server, repo)
    looked_at.clear()
    receipt = server.look(path=repo.root)
    assert (receipt.status, receipt.files, receipt.checked) == ("fresh", 40, 40)
    assert looked_at == []
    assert server.status(path=repo.root).watch == "6 folders"


def test_an_edit_is_looked_at_alone_and_answered(
    repo: GitRepo, server: Engine, looked_at: list[bytes]
) -> None:
    at_rest(server, repo)
    looked_at.clear()
    repo.write("src/p1/part1.py", "def lantern(): pass\n")
    results = server.search("lantern", path=repo.root).results
    assert results[0].handle == "src/p1/part1.py#lantern"
    assert set(looked_at) == {b"src/p1/part1.py"}


def test_files_in_folders_that_came_a_moment_ago_are_seen(repo: GitRepo, server: Engine) -> None:
    at_rest(server, repo)
    repo.write("new/deep/er/lantern.py", "def lantern(): pass\n")
    assert server.look(path=repo.root).files == 41
    repo.write("new/deep/er/lantern.py", "def lantern_two(): pass\n")
    repo.write("new/deep/er/more.py", "def more(): pass\n")
    assert server.search("lantern_two", path=repo.root).results[0].symbol == "lantern_two"
    assert server.look(path=repo.root).files == 42
    shutil.rmtree(repo.root / "new")
    server.look(path=repo.root)
    assert server.look(path=repo.root).files == 40


@pytest.mark.parametrize("moved", ["src/p1", "src", ""])
def test_a_folder_that_was_exchanged_for_another_is_seen(
    repo: GitRepo, server: Engine, moved: str
) -> None:
    at_rest(server, repo)
    place = repo.root / moved
    other = place.with_name("other")
    shutil.copytree(place, other)
    edited = next(other.rglob("part1.py"))
    edited.write_text("def lantern(): pass\n")
    place.rename(repo.root.parent / "aside")
    other.rename(place)
    found = server.search("lantern", path=repo.root).results
    assert found[0].symbol == "lantern"


def test_a_look_that_was_cut_short_goes_on_where_it_stopped(
    repo: GitRepo, server: Engine, looked_at: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.look(path=repo.root)
    time.sleep(0.06)
    server.look(path=repo.root)
    server.close()
    monkeypatch.setattr(stat_check, "_CLOCK_EVERY", 10)
    monkeypatch.setattr(stat_check, "_is_over", lambda deadline: deadline is not None)
    with Engine(server.settings, keep_going=True) as again:
        monkeypatch.setattr(again.pool.background, "finish", lambda *_: "")
        looked_at.clear()
        # Reads the clock after every ten files; time is always up.
        statuses = []
        for _ in range(8):
            receipt = again.look(path=repo.root, budget_ms=500)
            statuses.append((receipt.status, receipt.checked))
            monkeypatch.setattr(stat_check, "_is_over", _over_after(10))
    assert statuses[0][0] == "partial"
    assert statuses[-1] == ("fresh", 40)
    assert [checked for _, checked in statuses] == sorted(checked for _, checked in statuses)


def _over_after(files: int):
    questions = 0

    def is_over(deadline: float | None) -> bool:
        nonlocal questions
        questions += 1
        return deadline is not None and questions * 10 > files

    return is_over


def test_the_sweep_sees_missed_events(
    repo: GitRepo, server: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_rest(server, repo)
    monkeypatch.setattr(
        watched_tree.FolderWatch, "read", lambda self: watched_tree.Events(set(), False)
    )
    repo.write("src/p1/part1.py", "def lantern(): pass\n")
    server.look(path=repo.root)
    monkeypatch.setattr(watched_tree, "SWEEP_EVERY_S", 0.0)
    assert server.search("lantern", path=repo.root).results[0].symbol == "lantern"


def test_a_sweep_sees_new_files_of_a_view_that_has_none(
    repo: GitRepo, server: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in repo.root.glob("src/*/*.py"):
        path.unlink()
    at_rest(server, repo)
    monkeypatch.setattr(watched_tree, "SWEEP_EVERY_S", 0.0)
    monkeypatch.setattr(
        watched_tree.FolderWatch, "read", lambda self: watched_tree.Events(set(), lost=False)
    )
    repo.write("src/p1/fresh.py", "def rekindle(): pass\n")
    found = server.search("rekindle", path=repo.root)
    assert [hit.path for hit in found.results] == ["src/p1/fresh.py"]


def test_more_events_than_are_kept_are_a_look_at_everything(
    repo: GitRepo, server: Engine, looked_at: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_rest(server, repo)
    real = watched_tree.FolderWatch.read
    monkeypatch.setattr(
        watched_tree.FolderWatch, "read", lambda self: real(self)._replace(lost=True)
    )
    looked_at.clear()
    server.look(path=repo.root)
    assert len(looked_at) == 40


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        ("few watches", "more folders than half of the 4 inotify watches"),
        ("no watches", "the user's 4,000 inotify watches are used up; raise it with `sysctl fs.in"),
        ("no instances", "inotify instances are used up; raise it with `sysctl fs.inotify.max_us"),
        ("no files", "the process has reached its limit of open files; raise `ulimit -n`"),
        ("no limit", "the limit of inotify watches cannot be read"),
        ("others write", "this file system does not report changes"),
    ],
)
def test_without_a_watch_everything_is_looked_at(
    repo: GitRepo, server: Engine, monkeypatch: pytest.MonkeyPatch, refused: str, why: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    folder = tmp_path / "fs" / "inotify"
    folder.mkdir(parents=True)
    (folder / "max_user_watches").write_text("4\n" if refused == "few watches" else "4000\n")
    absent = folder / "absent"
    limit = absent if refused == "no limit" else folder / "max_user_watches"
    monkeypatch.setattr(watched_tree, "_LIMIT", limit)
    kernel = _Kernel(refused)
    monkeypatch.setattr(watched_tree, "_library", lambda: kernel)
    if refused == "no files":
        monkeypatch.setattr(os, "devnull", str(absent))
    if refused == "others write":
        monkeypatch.setattr(watched_tree, "_LOCAL", frozenset())
    at_rest(server, repo)
    repo.write("src/p1/part1.py", "def lantern(): pass\n")
    assert server.search("lantern", path=repo.root).results[0].symbol == "lantern"
    open_files = os.listdir("/proc/self/fd")
    server.look(path=repo.root)
    assert len(os.listdir("/proc/self/fd")) == len(open_files)
    state = server.status(path=repo.root).watch
    assert state.startswith("none, all files are checked: ")
    assert why in state


class _Kernel:
    """Calls of inotify, one of which fails with a kernel error."""

    def __init__(self, refused: str) -> None:
        self._refused = refused
        self._library = ctypes.CDLL(None, use_errno=True)

    def inotify_init1(self, flags: int) -> int:
        if self._refused in {"no instances", "no files"}:
            ctypes.set_errno(errno.EMFILE)
            return -1
        return self._library.inotify_init1(flags)

    def inotify_add_watch(self, fd: int, path: bytes, mask: int) -> int:
        if self._refused == "no watches":
            ctypes.set_errno(errno.ENOSPC)
            return -1
        return self._library.inotify_add_watch(fd, path, mask)
