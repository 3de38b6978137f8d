"""The comparison of a view's stat signatures with the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codelens.scan.stat_check import Looked, look, signature


def checked(root: Path, files: list[tuple[bytes, bytes]], deadline: float | None = None) -> Looked:
    return look(os.fsencode(root), [], files, len(files), deadline)


@pytest.fixture
def files(tmp_path: Path) -> list[tuple[bytes, bytes]]:
    """Three files, as recorded."""
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(name)
    return [(name.name.encode(), signature(name.lstat())) for name in sorted(tmp_path.iterdir())]


def test_unchanged_files_are_not_suspects(tmp_path: Path, files: list[tuple[bytes, bytes]]) -> None:
    found = checked(tmp_path, files)
    assert (found.checked, found.suspects, found.gone, found.unchecked) == (3, [], [], 0)


def test_changed_files_are_suspects_and_missing_ones_gone(
    tmp_path: Path, files: list[tuple[bytes, bytes]]
) -> None:
    (tmp_path / "a.py").write_text("longer than before")
    (tmp_path / "b.py").unlink()
    found = checked(tmp_path, files)
    assert [one.path for one in found.suspects] == [b"a.py"]
    assert found.gone == [b"b.py"]


@pytest.mark.skipif(os.name != "posix", reason="links and folders of POSIX")
def test_a_file_that_is_no_longer_regular_is_gone(
    tmp_path: Path, files: list[tuple[bytes, bytes]]
) -> None:
    (tmp_path / "a.py").unlink()
    (tmp_path / "a.py").symlink_to("c.py")
    (tmp_path / "b.py").unlink()
    (tmp_path / "b.py").mkdir()
    assert checked(tmp_path, files).gone == [b"a.py", b"b.py"]


def test_files_cut_by_the_deadline_are_counted(
    tmp_path: Path, files: list[tuple[bytes, bytes]]
) -> None:
    found = checked(tmp_path, files, deadline=0.0)
    assert (found.checked, found.unchecked) == (0, 3)


def test_folders_are_checked_even_without_time(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    before = signature(folder.lstat())
    root = os.fsencode(tmp_path)
    assert look(root, [(b"src", before)], [], 0, 0.0).folders == []
    assert look(root, [(b"src", b"other"), (b"gone", before)], [], 0, 0.0).folders == [
        b"src",
        b"gone",
    ]
