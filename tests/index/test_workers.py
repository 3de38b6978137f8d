"""Worker processes: the same facts as in this process; a dead worker costs only time."""

from __future__ import annotations

import os
import signal

import pytest

from codelens.index.worker_pool import InProcess, WorkerPool
from codelens.index.worker_process import Task, extract

TEXTS = [
    f"def kindle_{n}(lamp):\n    '''Light {n}.'''\n    return lamp.light({n})\n".encode()
    for n in range(200)
]
TASKS = [(n, Task(text, "python", "full")) for n, text in enumerate(TEXTS)]


def test_workers_give_the_facts_of_this_process_in_order() -> None:
    here = list(InProcess().run(TASKS))
    with WorkerPool(2) as pool:
        there = list(pool.run(TASKS))
    assert there == here
    assert [tag for tag, _ in there] == list(range(200))


def test_a_killed_worker_is_replaced() -> None:
    with WorkerPool(1) as pool:
        found = pool.run(TASKS)
        first = next(found)
        for worker in pool._all:
            os.kill(worker._process.pid, signal.SIGKILL)
        rest = list(found)
    assert [first, *rest] == [(n, extract([task])[0]) for n, task in TASKS]


def test_no_worker_outlives_its_pool() -> None:
    with WorkerPool(2) as pool:
        list(pool.run(TASKS))
        processes = [worker._process for worker in pool._all]
    assert processes
    assert all(process.poll() is not None for process in processes)


@pytest.mark.slow
def test_a_worker_gives_way_to_a_new_one_before_it_has_grown() -> None:
    with WorkerPool(1, retire_bytes=2_000) as pool:
        found = list(pool.run(TASKS))
        assert len(pool._all) > 1
        assert sum(worker._process.poll() is None for worker in pool._all) <= 1
    assert found == list(InProcess().run(TASKS))


def test_a_worker_never_searches_the_users_folder(tmp_path, monkeypatch) -> None:
    (tmp_path / "pickle.py").write_text("open('ran', 'w').close()")
    monkeypatch.chdir(tmp_path)
    with WorkerPool(1) as pool:
        assert len(list(pool.run(TASKS[:3]))) == 3
    assert not (tmp_path / "ran").exists()
