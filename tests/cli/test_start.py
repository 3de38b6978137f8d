"""What a command imports: each module costs time at every start.

The limits are the current counts plus a few. If one is exceeded, first check whether the new import
can wait until it is needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from gitrepo import GitRepo

IMPORTED = """
import io, json, sys
before = set(sys.modules)
from codelens.cli.main import main
sys.stdin = io.StringIO("{}")
sys.stdout = io.StringIO()
code = main(sys.argv[1:])
print(json.dumps([code, sorted(set(sys.modules) - before)]), file=sys.__stdout__)
"""
HEAVY = {
    "anyio", "asyncio", "concurrent.futures", "mcp", "multiprocessing", "numpy", "pydantic", "rich",
    "ruamel", "shtab", "tomlkit", "tomllib", "tree_sitter", "tree_sitter_language_pack",
}  # fmt: skip
SLOW_TO_MAKE = {"difflib", "pygit2", "socket", "tempfile"}
"""Slow imports that a search avoids: it uses `scope/plain`, or imports later."""
ENGINE = {"apsw", "pygit2", "Stemmer", "codelens.engine.engine", "codelens.store"}


def imported_by(repo: Path, *arguments: str) -> set[str]:
    command = [sys.executable, "-c", IMPORTED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=repo)
    assert done.returncode == 0, done.stderr
    code, modules = json.loads(done.stdout)
    assert code == 0, done.stderr
    return set(modules)


@pytest.mark.parametrize(
    ("command", "most", "most_own", "left_out"),
    [
        ("search tax", 345, 222, HEAVY | SLOW_TO_MAKE),
        ("expand shop/book.py#tax", 360, 205, (HEAVY | {"pygit2"}) - {"tomllib"}),
        ("status", 390, 206, HEAVY),
        ("focus on --here", 120, 52, HEAVY | ENGINE),
        ("hook prompt", 50, 33, HEAVY | ENGINE | {"dataclasses", "logging"}),
        ("--version", 30, 8, HEAVY | ENGINE),
    ],
)
def test_a_command_imports_no_more_than_it_needs(
    repo: GitRepo, run, command: str, most: int, most_own: int, left_out: set[str]
) -> None:
    # Files that are too young are read again, which imports more modules.
    time.sleep(0.2)
    run("search", "tax")
    modules = imported_by(repo.root, *command.split())
    own_modules = {name for name in modules if name.startswith("codelens")}
    assert modules & left_out == set()
    assert len(modules) <= most
    assert len(own_modules) <= most_own
