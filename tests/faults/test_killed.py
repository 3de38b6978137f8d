"""kill -9 at random points: of a writer, of a worker, of a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faults.world import COUNTS, World, processes_below, rounds
from gitrepo import GitRepo, git_environment

from codelens.index.worker_pool import CrashMark, InProcess, WorkerPool, dead_marks
from codelens.index.worker_process import Task
from codelens.store.facts.resolution_facts import PackedFacts

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def test_a_writer_killed_at_random_moments_leaves_a_sound_index(tmp_path: Path) -> None:
    world = World(tmp_path)
    typical = max(world.time_of_refresh(), 0.05)
    world.check()
    for number in range(rounds(12)):
        world.edit()
        COUNTS["writers killed by time"] += world.killed_after(world.pick.uniform(0, typical))
        if number % 3 == 2:
            world.check()
    world.check()


def test_a_writer_killed_at_any_statement_leaves_a_sound_index(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.check()
    for number in range(rounds(12)):
        world.edit()
        COUNTS["writers killed by statement"] += world.killed_at_statement(
            world.pick.randrange(1, 60)
        )
        if number % 3 == 2:
            world.check()
    world.check()


def test_a_killed_first_index_resumes(tmp_path: Path) -> None:
    world = World(tmp_path, files=60)
    typical = max(world.time_of_refresh(), 0.05)
    for _ in range(max(3, rounds(9) // 3)):
        world.index.unlink()
        COUNTS["first indexes killed"] += world.killed_after(world.pick.uniform(0, typical))
        world.check()


TEXTS = [f"def kindle_{n}(lamp):\n    return lamp.light({n})\n".encode() * 50 for n in range(120)]


def test_killed_workers_cost_nothing_but_time() -> None:
    tasks = [(n, Task(text, "python", "full")) for n, text in enumerate(TEXTS)]
    with WorkerPool(1) as pool:
        expected = list(pool.run(tasks))
    for number in range(max(2, rounds(6) // 20)):
        with WorkerPool(2) as pool:
            found = []
            for at, one in enumerate(pool.run(tasks)):
                found.append(one)
                if at % 29 == (number * 11) % 29:
                    for worker in list(pool._all):
                        # Skip ended workers: another process may have their pid by now.
                        if worker._process.poll() is None:
                            os.kill(worker._process.pid, signal.SIGKILL)
                            COUNTS["workers killed"] += 1
        assert found == expected


class _Patient(WorkerPool):
    """Takes a stopped worker for a hang at once, but none that a busy machine starts slowly."""

    is_stopped = False

    def _send(self, batch: list[Task], hang_s: float) -> list[PackedFacts]:
        if self.is_stopped:
            self.is_stopped, hang_s = False, 0.5
        return super()._send(batch, hang_s)


def test_a_stopped_worker_does_not_blame_its_text() -> None:
    tasks = [(n, Task(text, "python", "full")) for n, text in enumerate(TEXTS[:3])]
    pool = _Patient(1)
    with pool:
        list(pool.run(tasks[:1]))
        for batch in (tasks, tasks[:1]):
            # Stopped for good; to the timer it looks like a hang.
            os.kill(pool._all[-1]._process.pid, signal.SIGSTOP)
            pool.is_stopped = True
            assert [facts.outcome for _, facts in pool.run(batch)] == ["parsed"] * len(batch)
    COUNTS["workers stopped"] += 2


def test_a_text_that_hangs_two_workers_is_kept_with_the_reason() -> None:
    # Less than an interpreter needs to start, so that each worker is silent for too long.
    with WorkerPool(1, hang_s=0.001) as pool:
        ((_, alone),) = pool.run([(0, Task(TEXTS[0], "python", "full"))])
        assert len(pool._all) == 2
    assert alone.outcome == "timeout"
    assert alone.terms


@pytest.mark.parametrize("state", ["idle", "at work"])
def test_no_worker_outlives_a_parent_that_is_killed(state: str) -> None:
    script = f"""
import sys, time
from codelens.index.worker_process import Task
from codelens.index.worker_pool import WorkerPool
pool = WorkerPool(2)
text = b"def kindle(lamp):\\n    return lamp.light(1)\\n" * 20000
tasks = [(n, Task(text[: 100 + n], "python", "full")) for n in range(200)]
list(pool.run(tasks))
print("ready", flush=True)
if {state!r} == "idle":
    time.sleep(600)
list(pool.run([(n, Task(text + b"%d" % n, "python", "full")) for n in range(50)]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=_env()
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        workers = processes_below(parent.pid)
        time.sleep(0.3)
        parent.kill()
    assert workers
    assert _all_gone(workers)
    COUNTS["parents killed"] += 1


def test_a_text_that_ended_the_process_goes_to_a_worker_the_next_time(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    text = TEXTS[0]
    script = f"""
import os, sys
from pathlib import Path
from codelens.index.worker_pool import CrashMark
mark = CrashMark(Path({str(index)!r}))
mark.begin({TEXTS[1]!r})
mark.begin({text!r})
os.kill(os.getpid(), 11)
"""
    assert subprocess.run([sys.executable, "-c", script], env=_env()).returncode == -11
    assert len(dead_marks(index)) == 1
    assert CrashMark(index).blames(text)
    assert not CrashMark(index).blames(TEXTS[1])
    with InProcess(index) as extractor:
        tasks = [(n, Task(one, "python", "full")) for n, one in enumerate(TEXTS[:3])]
        assert [facts.outcome for _, facts in extractor.run(tasks)] == ["parsed"] * 3
        assert extractor._pool is not None
        assert dead_marks(index) == {}
    assert list(tmp_path.iterdir()) == []


_DOOMED = """
import os
import codelens.extract.facts as facts
sound = facts.facts_of
def facts_of(data, language, tier="full"):
    if b"doomed" in data and tier == "full":
        os.kill(os.getpid(), 11)
    return sound(data, language, tier)
facts.facts_of = facts_of
"""
"""Simulates a crash in native code, here and in workers: Python imports it at start."""

_AN_OLD_VERSION = """
import sys
from codelens.cli.main import main
sys.exit(main(["-C", sys.argv[1], "impact", "--diff"]))
"""
_CHANGED_SINCE_THE_LOOK = """
import sys
from pathlib import Path
from codelens.engine.engine import Engine
from codelens.engine.current_view import reader_of
from codelens.engine.current_view import ViewRequest
with Engine() as engine, engine.pool.view(ViewRequest(sys.argv[1])) as view:
    Path(sys.argv[1], "lamp.py").write_text("def doomed(): pass")
    found = reader_of(view).symbols(view.snapshot.by_path[b"lamp.py"])
print([one.name for one in found])
"""


@pytest.mark.parametrize("script", [_AN_OLD_VERSION, _CHANGED_SINCE_THE_LOOK])
def test_a_text_read_for_one_answer_ends_one_process_at_most(script: str, tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("first", {"lamp.py": "def doomed(): pass\n"})
    (tmp_path / "sitecustomize.py").write_text(_DOOMED)
    home = tmp_path / "home"
    sound = _env() | {"CODELENS_HOME": str(home), "HOME": str(tmp_path)}
    faulty = sound | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{sound['PYTHONPATH']}"}

    def ask(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        (repo.root / "lamp.py").write_text("def kindle(): pass\n")
        command = [sys.executable, "-c", script, str(repo.root)]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)

    def marks() -> int:
        return len(list((home / "indexes").glob("*.extracting-*")))

    assert ask(faulty).returncode == -signal.SIGSEGV
    assert marks() == 1
    for _ in range(2):
        # It is not stored, so the mark stays: it would kill the next process.
        again = ask(faulty)
        assert again.returncode in {0, 1}, again.stderr
        assert "doomed" not in again.stdout
        assert marks() == 1
    if script == _AN_OLD_VERSION:
        # The commit is indexed: a text that killed a process stays plain text until a rebuild.
        rebuild = [sys.executable, "-m", "codelens", "-C", str(repo.root), "index", "--rebuild"]
        subprocess.run(rebuild, env=sound, check=True, capture_output=True, timeout=120)
    assert "doomed" in ask(sound).stdout
    assert marks() == 0


def test_a_server_killed_during_an_answer_leaves_nothing_behind(tmp_path: Path) -> None:
    world = World(tmp_path, files=60)
    env = _env() | {"CODELENS_HOME": str(world.home), "HOME": str(tmp_path)}
    for _ in range(max(2, rounds(6) // 20)):
        world.edit()
        with subprocess.Popen(
            [sys.executable, "-m", "codelens", "serve"], cwd=world.root, env=env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        ) as server:  # fmt: skip
            assert server.stdin is not None
            assert server.stdout is not None
            _send(server.stdin, 1, "initialize", {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            })  # fmt: skip
            assert json.loads(server.stdout.readline())["id"] == 1
            server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
            call = {"name": "cl_search", "arguments": {"query": "beacon", "path": str(world.root)}}
            _send(server.stdin, 2, "tools/call", call)
            time.sleep(world.pick.uniform(0, 0.3))
            below = processes_below(server.pid)
            server.kill()
        assert _all_gone(below)
        world.check()
        COUNTS["servers killed"] += 1


def _send(stream, number: int, method: str, params: dict) -> None:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def _env() -> dict[str, str]:
    path = os.pathsep.join(entry for entry in sys.path if os.path.isabs(entry))
    return git_environment() | {"PYTHONPATH": path}


def _all_gone(pids: set[int]) -> bool:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
