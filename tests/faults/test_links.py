"""Links in place of files of the home that lead to a file of the user: it is never written to."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from forked_commands import codelens_text
from gitrepo import GitRepo

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links")
NOTES = "my own notes\n"
COMMANDS = (
    ("search", "kindle"), ("save", "oil", "--note", "the lamp burns oil", "--replace"),
    ("pin", "main"), ("hook", "prompt"), ("hook", "session-start"), ("hook", "before-compact"),
    ("hook", "stop"), ("focus", "on", "--here"), ("usage",),
    ("expand", "lamp.py", "--session", "s"), ("index", "--rebuild"),
)  # fmt: skip


def test_a_file_that_a_link_leads_to_is_not_changed(tmp_path: Path) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.write("lamp.py", "def kindle(): pass\n")
    repo.commit("first")
    home, mine = tmp_path / "home", tmp_path / "mine.txt"

    def run_all() -> None:
        for args in COMMANDS:
            # An answer that is no text becomes a line of the log of hooks.
            event = {"session_id": "s", "cwd": str(repo.root), "prompt": "paint the harbour"}
            given = json.dumps(event) if args[0] == "hook" else ""
            done = codelens_text(*args, cwd=repo.root, home=home, given=given)
            assert "Traceback" not in done.stderr and "bug" not in done.stderr, done.stderr

    run_all()
    (home / "logs").mkdir(exist_ok=True)
    (home / "logs" / "hooks.log").touch()
    shutil.copytree(home, tmp_path / "before")
    # Two locks that are one file would wait for each other.
    files = (one for one in home.rglob("*") if one.is_file() and one.suffix != ".lock")
    names = [one.relative_to(home) for one in files]
    assert {"hooks.log", "usage.log"} <= {name.name for name in names}
    databases = [name for name in names if name.suffix in {".db", ".backup"}]
    for group in (databases, [name for name in names if name not in databases]):
        shutil.rmtree(home)
        shutil.copytree(tmp_path / "before", home)
        for name in group:
            (home / name).unlink()
            (home / name).symlink_to(mine)
        mine.write_text(NOTES)
        run_all()
        assert mine.read_text() == NOTES
        assert "oil" in codelens_text("load", cwd=repo.root, home=home).stdout
