"""Many processes and threads at one contexts database: nothing is lost, nothing is told damaged."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from faults.test_contexts import HOME, context
from faults.world import COUNTS, FULL

from codelens.errors import NoSuchContext
from codelens.memory.notebook import Notebook, Wanted
from codelens.memory.words import terms_of
from codelens.store import contexts_file

SPAWN = multiprocessing.get_context("spawn")
BUSY_S = max(4.0, FULL / 5)
"""How long each test keeps at it; a minute in a full run."""


def changing(path: Path, seed: int) -> list[str]:
    """Put, replace and forget names that others change too, and names of one's own."""
    pick, book, said = Random(seed), Notebook(path), list[str]()
    end = time.monotonic() + BUSY_S
    while time.monotonic() < end:
        name = f"shared-{pick.randrange(3)}"
        if pick.random() < 0.25:
            with contextlib.suppress(NoSuchContext):
                book.forget([name])
        elif pick.random() < 0.3:
            own = f"own-{seed}-{len(said)}"
            notes = book.put(context(own, f"of {own}"), HOME, replace=False)[2]
            said.append(own)
            assert not notes, notes
        else:
            note = f"{seed} " * pick.randrange(1, 4000)
            notes = book.put(context(name, note), HOME, replace=True)[2]
            assert not notes, notes
    return said


def reading(path: Path, seed: int) -> list[str]:
    """Read in every way; what is told besides the contexts is a false alarm."""
    pick, book = Random(seed), Notebook(path)
    end = time.monotonic() + BUSY_S
    while time.monotonic() < end:
        ways: list[Callable[[], object]] = [
            lambda: book.every()[1],
            lambda: book.find(Wanted("shared-1"), "", 1.0).notes,
            lambda: book.find(Wanted("own shared"), "", 1.0).notes,
            lambda: book.find(Wanted(), "", 1.0).notes,
            lambda: contexts_file.contexts_of(path) and (),
            lambda: contexts_file.glance(path) is None and ["no glance"],
        ]
        told = pick.choice(ways)()
        assert not told, told
    return []


def work(how: str, path: Path, seed: int, said: multiprocessing.Queue) -> None:
    """One process: `how` has a letter for each thread of it, `w` changes and `r` reads."""
    done: list[tuple[str, list[str]]] = []

    def one(letter: str, seed: int) -> None:
        try:
            done.append(("", (changing if letter == "w" else reading)(path, seed)))
        except BaseException as error:
            done.append((f"{type(error).__name__}: {error}", []))

    threads = [
        threading.Thread(target=one, args=(letter, seed * 10 + at)) for at, letter in enumerate(how)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said.put(done)


@pytest.mark.parametrize("processes", [("w", "w", "r", "r"), ("wr", "wr", "w"), ("wwrr", "wwrr")])
def test_nothing_is_lost_or_told_damaged_beside_writers(
    tmp_path: Path, processes: tuple[str, ...]
) -> None:
    path = tmp_path / "contexts-x.db"
    Notebook(path).put(context("first"), HOME, replace=False)
    said = SPAWN.Queue()
    running = [
        SPAWN.Process(target=work, args=(how, path, at, said))
        for at, how in enumerate(processes, 1)
    ]
    for process in running:
        process.start()
    done = [one for _ in running for one in said.get(timeout=BUSY_S + 120)]
    for process in running:
        process.join()
    assert not [error for error, _ in done if error]
    saved = {"first", *(name for _, names in done for name in names)}
    COUNTS["contexts saved beside others"] += len(saved)
    every, notes = Notebook(path).every()
    assert not notes and saved <= {one.name for one in every}
    copied = contexts_file.contexts_of(path.with_name(path.name + ".backup"))
    assert copied == every
    left = {file.name for file in tmp_path.iterdir()}
    assert not [name for name in left if "unreadable" in name or ".new-" in name]
    file = contexts_file.open_contexts(path, terms_of, make=True)
    assert file is not None
    with file:
        assert file.db.fault(thorough=True) == ""
