"""The trail: entries read back as appended, despite crashes and other writers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelens import home_files
from codelens.trail.trail_log import (
    LONGEST_LINE,
    TrailEntry,
    append,
    entries,
    forget_old,
    session_key,
    worktree_key,
)

NOW = 1_800_000_000
DAY = 86_400
ENTRY = TrailEntry(
    NOW, "4f1c0e5b9a7d", "0123abcd", "feature/login", "explored", "'Database' (3 definitions)",
    ("src/db.py#Database", "src/db.py#connect"),
)  # fmt: skip


def files(home: Path) -> list[Path]:
    return sorted((home / "trails").iterdir())


def test_appended_entries_are_read_back_in_order(tmp_path: Path) -> None:
    later = ENTRY._replace(
        at=NOW + 5, ms=250, tool="impact", summary="Database (depth 2, 14 affected)"
    )
    assert append(tmp_path, "repo", ENTRY) and append(tmp_path, "repo", later)
    assert entries(tmp_path, "repo", now=NOW) == [ENTRY, later]
    assert entries(tmp_path, "other", now=NOW) == []


def test_a_line_is_100_to_200_bytes(tmp_path: Path) -> None:
    append(tmp_path, "repo", ENTRY)
    append(tmp_path, "repo", ENTRY._replace(summary="word " * 400))
    sizes = [len(line) for line in files(tmp_path)[0].read_bytes().splitlines()[1:]]
    assert all(100 <= size <= LONGEST_LINE for size in sizes), sizes


def test_a_line_may_be_longer_for_its_first_handle_alone(tmp_path: Path) -> None:
    long = "src/" + "deep/" * 50 + "file.py#Name"
    append(tmp_path, "repo", ENTRY._replace(summary="word " * 90, handles=(long, "src/b.py#other")))
    (found,) = entries(tmp_path, "repo", now=NOW)
    assert found.handles == (long,)


def test_a_cut_off_last_line_costs_that_line_alone(tmp_path: Path) -> None:
    for second in range(3):
        append(tmp_path, "repo", ENTRY._replace(at=NOW + second))
    (file,) = files(tmp_path)
    file.write_bytes(file.read_bytes()[:-40])
    assert [one.at for one in entries(tmp_path, "repo", now=NOW)] == [NOW, NOW + 1]
    append(tmp_path, "repo", ENTRY._replace(at=NOW + 9))
    assert [one.at for one in entries(tmp_path, "repo", now=NOW)] == [NOW, NOW + 1, NOW + 9]


@pytest.mark.parametrize(
    "junk", [b"\x00\xff\n", b"[]\n", b"{}\n", b"[" * 5000 + b"\n",
             b'{"t":"x","s":"","w":"","b":"","k":"","d":"","h":[]}\n',
             b'{"t":1,"s":"","w":"","b":"","k":"","d":"","h":{}}\n'],
)  # fmt: skip
def test_invalid_lines_are_left_out(tmp_path: Path, junk: bytes) -> None:
    append(tmp_path, "repo", ENTRY)
    (file,) = files(tmp_path)
    file.write_bytes(junk + file.read_bytes() + junk)
    assert entries(tmp_path, "repo", now=NOW) == [ENTRY]


def test_entries_are_chosen_by_session_worktree_and_time(tmp_path: Path) -> None:
    whole = "6fa459ea-ee8a-3ca4-894e-db77e160355e"
    mine = ENTRY._replace(session=whole, at=NOW + 1, worktree=worktree_key("/a"))
    append(tmp_path, "repo", ENTRY)
    append(tmp_path, "repo", mine)
    found = entries(tmp_path, "repo", session=whole, now=NOW)
    assert [one.session for one in found] == [session_key(whole)] == ["db77e160355e"]
    assert [one.at for one in entries(tmp_path, "repo", since=NOW + 1, now=NOW)] == [NOW + 1]
    assert len(entries(tmp_path, "repo", worktree=worktree_key("/a"), now=NOW)) == 1


def test_entries_older_than_90_days_are_hidden_and_deleted(tmp_path: Path) -> None:
    old = NOW - 150 * DAY
    append(tmp_path, "repo", ENTRY._replace(at=old))
    append(tmp_path, "repo", ENTRY._replace(at=NOW - 91 * DAY))
    assert entries(tmp_path, "repo", now=NOW) == []
    newer = ENTRY._replace(at=NOW - 31 * DAY)
    append(tmp_path, "repo", newer)
    append(tmp_path, "repo", ENTRY)
    assert entries(tmp_path, "repo", now=NOW) == [newer, ENTRY]
    assert len(files(tmp_path)) == 3
    assert forget_old(tmp_path, NOW) == 0


def test_a_clock_that_jumps_ahead_deletes_nothing(tmp_path: Path) -> None:
    (tmp_path / "trails").mkdir()
    (tmp_path / "trails" / "junk.jsonl").write_text("not a month")
    for at in (NOW - 40 * DAY, NOW, NOW + 4 * 365 * DAY):
        append(tmp_path, "repo", ENTRY._replace(at=at))
        append(tmp_path, "other", ENTRY._replace(at=at))
    assert len(entries(tmp_path, "repo", now=NOW)) == 3
    assert len(files(tmp_path)) == 7


def test_a_held_lock_is_not_waited_for_and_nothing_is_written(tmp_path: Path) -> None:
    append(tmp_path, "repo", ENTRY)
    (file,) = files(tmp_path)
    with file.open("ab") as held:
        assert home_files.take_lock(held.fileno())
        assert not append(tmp_path, "repo", ENTRY, wait_s=0.01)
    assert len(entries(tmp_path, "repo", now=NOW)) == 1


def test_an_unwritable_home_is_reported(tmp_path: Path) -> None:
    (tmp_path / "trails").write_text("a file")
    with pytest.raises(OSError, match="trails"):
        append(tmp_path, "repo", ENTRY)
    assert entries(tmp_path, "repo", now=NOW) == []


_WRITER = """
import sys
from codelens.trail.trail_log import TrailEntry, append
home, who = sys.argv[1:]
for number in range(200):
    entry = TrailEntry(1_800_000_000 + number, who, "w", "main", "edited", str(number), ("a#b",))
    assert append(home, "repo", entry, wait_s=30)
"""


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), who]) for who in ("a", "b")
    ]
    assert [one.wait(120) for one in writers] == [0, 0]
    found = entries(tmp_path, "repo", now=NOW)
    for who in ("a", "b"):
        assert [one.summary for one in found if one.session == who] == [str(n) for n in range(200)]


@given(text=st.text(), handle=st.text(min_size=1), at=st.integers(0, 2**33))
def test_any_text_gives_one_line_that_is_read(
    tmp_path_factory: pytest.TempPathFactory, text: str, handle: str, at: int
) -> None:
    home = tmp_path_factory.mktemp("home")
    append(home, "repo", ENTRY._replace(at=at, summary=text, handles=(handle,), branch=text))
    (file,) = files(home)
    _, line = file.read_bytes().splitlines()
    json.loads(line)
    (found,) = entries(home, "repo", now=at)
    assert found.at == at


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    append(tmp_path / "home", "repo", ENTRY)
    if os.name == "posix":
        assert files(tmp_path / "home")[0].stat().st_mode & 0o077 == 0
