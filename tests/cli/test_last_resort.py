"""What commands say if a folder is gone, and the modes of the files they write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import codelens

_SOURCES = Path(codelens.__file__).resolve().parent


def _run(folder: Path, *args: str, where: Path, umask: int = -1):
    """Runs the command line from a copy of the sources with separate bytecode."""
    env = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder),
        "CODELENS_HOME": str(folder / "home"),
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "codelens", *args], cwd=where, env=env, umask=umask,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(_SOURCES, tmp_path / "codelens", ignore=left_out)
    shutil.copytree(_SOURCES.parent / "migrations", tmp_path / "migrations")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def lamp(): pass\n")
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted there")
@pytest.mark.parametrize("args", [["search", "x"], ["load"], ["outline", "./a"]])
def test_a_command_in_a_deleted_folder_says_so(tmp_path: Path, args: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$0" && rmdir "$0" && exec "$@"'
    env = os.environ | {"CODELENS_HOME": str(tmp_path / "home")}
    ran = subprocess.run(
        ["sh", "-c", script, str(gone), sys.executable, "-m", "codelens", *args],
        env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "the working directory no longer exists" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.parametrize("umask", [0o777, 0o277, 0o133])
def test_files_of_codelens_have_their_mode_under_any_umask(folder: Path, umask: int) -> None:
    ran = _run(folder, "search", "lamp", where=folder / "project", umask=umask)
    assert ran.returncode == 0
    home = folder / "home"
    modes = {one.stat().st_mode & 0o777 for one in (home, *home.rglob("*")) if one.is_dir()}
    assert modes == {0o700}
    assert {one.stat().st_mode & 0o777 for one in home.rglob("*") if one.is_file()} == {0o600}
