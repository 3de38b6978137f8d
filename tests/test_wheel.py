"""The wheel contains its migrations and install files, and runs in a separate environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from gitrepo import GitRepo

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    # No isolation: the build backend is among the tools that the tests need anyway.
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation")
    command = [*build, "-o", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def test_the_wheel_contains_all_run_time_files(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = {
        f"codelens/_shipped/{folder}/{file.relative_to(ROOT / folder).as_posix()}"
        for folder in ("migrations", "install")
        for file in (ROOT / folder).rglob("*")
        if file.is_file()
    }
    languages = {
        f"codelens/extract/languages/{file.name}"
        for file in (ROOT / "codelens/extract/languages").iterdir()
        if file.suffix in {".scm", ".toml"}
    }
    page = {f"codelens/ui/page/{file.name}" for file in (ROOT / "codelens/ui/page").iterdir()}
    assert len(page) > 10
    assert shipped
    assert languages
    assert shipped | languages | page | {"codelens/py.typed"} <= names
    assert any(name.endswith(".data/data/share/man/man1/codelens.1") for name in names)


def test_the_wheel_searches_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "env"
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    uv = str(Path(sys.executable).with_name("uv"))
    # uv fetches the wheel's dependencies, so the network guard for children is off.
    open_env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in (
        [uv, "venv", "-q", "--python", sys.executable, str(place)],
        [uv, "pip", "install", "-q", "--python", str(python), str(wheel)],
    ):
        done = subprocess.run(command, env=open_env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {"lamp.py": "def kindle_lamp():\n    pass\n"})
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = [str(python.with_name("codelens")), "search", "kindle_lamp", "--json"]
    found = subprocess.run(command, cwd=repo.root, env=env, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["results"][0]["handle"] == "lamp.py#kindle_lamp"
    assert (home / ".codelens" / "indexes").is_dir()
