"""Stat signatures: which changes they show, and when they must not be trusted."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from codelens.scan.stat_check import RACY, signature, signature_to_store

SECOND_NS = 1_000_000_000


def stat_of(mtime_ns: int) -> os.stat_result:
    """A stat whose times are all `mtime_ns`."""
    times = {"st_mtime_ns": mtime_ns, "st_ctime_ns": mtime_ns, "st_atime_ns": mtime_ns}
    return os.stat_result((0o100644, 1, 1, 1, 0, 0, 1, 0, 0, 0), times)


def test_a_signature_too_near_the_check_is_racy(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    now = time.time_ns()
    assert signature_to_store(file.stat(), now) == RACY
    assert signature_to_store(file.stat(), now + 10 * SECOND_NS) == signature(file.stat())


def test_whole_seconds_widen_the_racy_margin() -> None:
    coarse = stat_of(1_700_000_000 * SECOND_NS)
    checked = coarse.st_mtime_ns + SECOND_NS + SECOND_NS // 2
    assert signature_to_store(coarse, checked) == RACY
    assert signature_to_store(coarse, checked + SECOND_NS) == signature(coarse)


def test_a_racy_signature_equals_no_stat(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert signature((tmp_path / "file").stat()) != RACY


@pytest.mark.parametrize("change", ["content", "mode", "replaced"])
def test_a_change_shows_although_size_and_mtime_stay(tmp_path: Path, change: str) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    os.utime(file, ns=(SECOND_NS, SECOND_NS))
    before = signature(file.stat())
    time.sleep(0.02)
    if change == "content":
        file.write_text("two")
    elif change == "mode":
        file.chmod(0o600)
    else:
        other = tmp_path / "other"
        other.write_text("two")
        other.replace(file)
    os.utime(file, ns=(SECOND_NS, SECOND_NS))
    assert signature(file.stat()) != before
