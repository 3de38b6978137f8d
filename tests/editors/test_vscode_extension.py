"""The VS Code extension: its types, and its own tests against this codelens."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors" / "vscode"
LEFT_OUT = shutil.ignore_patterns("node_modules", "out", "bundle", "*.vsix")


def test_its_version_is_that_of_codelens() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for name in ("package.json", "package-lock.json"):
        assert json.loads((EXTENSION / name).read_text("utf-8"))["version"] == project["version"]


def test_it_compiles_and_its_tests_pass(tmp_path: Path) -> None:
    """Runs in a copy, so that nothing is written into the repository."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    copy = tmp_path / "vscode"
    shutil.copytree(EXTENSION, copy, ignore=LEFT_OUT)
    programs = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # codelens is started some 50 times
    install = ("ci", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline")
    for words in (install, ("test",)):
        done = subprocess.run(
            [npm, *words], cwd=copy, env=env, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1000,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-5000:]
    assert "fail 0" in done.stdout and "pass 0" not in done.stdout
