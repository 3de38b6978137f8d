"""A small file may be replaced by a pipe, a folder or a huge file."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from codelens.errors import CodelensError
from codelens.focus import focus_settings, forest_file
from codelens.home_files import open_regular, read_small
from codelens.hooks import hook_input
from codelens.index import worker_pool
from codelens.store.database import database_recovery
from codelens.store.saved import usage_log
from codelens.store.saved.pins import pinned_scopes
from codelens.trail import session_marks, trail_log
from codelens.trail.sent_log import SentLog

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
HUGE = 3 * 1024**3
"""More than the test's memory limit; sparse on disk."""


def nothing(_: Path) -> None:
    pass


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, HUGE)


def test_a_small_file_is_read_whole_and_a_larger_one_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_small(path, 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_small(path, 4)
    with pytest.raises(FileNotFoundError):
        read_small(tmp_path / "none", 5)


@pytest.mark.parametrize("put", [pipe, folder])
def test_anything_but_a_file_is_an_error_at_once(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    put(tmp_path / "file")
    with pytest.raises(OSError):
        open_regular(tmp_path / "file")


def _usage(home: Path) -> object:
    usage_log.note(home, usage_log.Call("2026-11-25", "search", "", "", False, 1, 1, 0))
    return usage_log.tallies(home, "2026-01-01")


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "pins": ("pins/pins-a.json", lambda home: pinned_scopes(home / "pins" / "pins-a.json")),
    "trail": ("trails/a-2026-11.jsonl", lambda home: trail_log.entries(home, "a")),
    "latest": ("trails/a-2026-11.jsonl", lambda home: trail_log.latest(home, "a", since=0)),
    "sent": (
        f"trails/a-b-{sha256(b'c').hexdigest()[:16]}.sent",
        lambda home: SentLog(home, "a", "b", "c").read(),
    ),
    "marks": ("trails/sessions-a-b.json", lambda home: session_marks.marks(home, "a", "b")),
    "switches": ("focus/switches.json", lambda home: focus_settings.is_on(str(home), "a")),
    "forest": ("focus/a.v1.jsonl", lambda home: forest_file.load(f"{home}/focus/a.v1.jsonl")),
    "hook log": ("logs/hooks.log", lambda home: hook_input.log_note(str(home), "stop", "it rains")),
    "usage": ("usage.log", _usage),
    "folded usage": ("usage.log.1-2", _usage),
    "checked": (
        "indexes/index-a.db.checked",
        lambda home: (
            database_recovery.note_check(home / "indexes" / "index-a.db"),
            database_recovery.left_of(home / "indexes" / "index-a.db"),
        ),
    ),
    "mark of a crash": (
        "indexes/index-a.db.extracting-1-0-1",
        lambda home: worker_pool.dead_marks(home / "indexes" / "index-a.db"),
    ),
}
"""Files of the home other than databases, each with its reader."""


@pytest.mark.parametrize("put", [nothing, pipe, folder, huge])
@pytest.mark.parametrize("kind", READERS)
def test_nothing_in_the_home_keeps_its_reader_waiting_or_fills_the_memory(
    tmp_path: Path, kind: str, put: Callable[[Path], None]
) -> None:
    name, read = READERS[kind]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    put(path)
    tracemalloc.start()
    try:
        read(tmp_path)
    except (CodelensError, OSError):
        assert put is not nothing
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 200 * 1024**2
