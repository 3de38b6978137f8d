"""Drafts of small files: killed commands leave some, and none of them stays for ever."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from faults.file_operations import kills
from faults.test_no_room import no_file_larger_than
from faults.world import COUNTS
from forked_commands import codelens_text
from gitrepo import GitRepo

from codelens.bearer_token import bearer_token
from codelens.config import Settings
from codelens.engine.upkeep.diagnosis import examine
from codelens.errors import CodelensError
from codelens.home_files import replace_file, unique_draft

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills and limits of POSIX")
AGED_S = 8 * 86_400
TOKEN = "from pathlib import Path; from codelens.bearer_token import bearer_token; bearer_token"


class Place:
    """A repository, a home, and commands that write small files of the home."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.repo = GitRepo.init(folder / "repo")
        self.repo.write("a.py", "def kindle(): pass\n")
        self.repo.commit("first")

    def run(self, *args: str, first: str = "", **event: str) -> CompletedProcess[str]:
        given = json.dumps({"session_id": "a-session", "cwd": str(self.repo.root), **event})
        return codelens_text(
            *args, cwd=self.repo.root, home=self.home, given=given if event else "", first=first
        )

    def names(self) -> set[str]:
        return {str(file.relative_to(self.home)) for file in self.home.rglob("*")}

    def age(self) -> None:
        """Makes all files older than anything is kept for."""
        for file in self.home.rglob("*"):
            about = file.stat()
            os.utime(file, (about.st_atime - AGED_S, about.st_mtime - AGED_S))


COMMANDS = {
    "switches": ("focus", "off", "--here"),
    "marks": ("hook", "session-start"),
    "recovery": ("hook", "before-compact"),
    "forest": ("hook", "prompt"),
    "pins": ("pin", "main"),
    "token": ("languages",),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_drafts_of_killed_commands_go(tmp_path: Path, kind: str) -> None:
    place, args = Place(tmp_path), COMMANDS[kind]
    event = {"source": "startup", "prompt": "paint the harbour"} if args[0] == "hook" else {}
    token = f"{TOKEN}(Path({str(place.home)!r}))\n" if kind == "token" else ""

    def run(first: str) -> CompletedProcess[str]:
        shutil.rmtree(place.home, ignore_errors=True)
        place.home.mkdir()
        return place.run(*args, first=first + token, **event)

    def names_after_the_next() -> set[str]:
        place.age()
        done = place.run(*args, first=token, **event)
        assert done.returncode == 0, done.stderr
        found = list(examine(Settings(home=place.home), fix=True))
        assert {one.state for one in found} <= {"ok", "note", "mended"}, found
        return place.names()

    assert run("").returncode == 0
    clean = names_after_the_next()
    for _ in kills(place.home, run):
        COUNTS["commands killed over a draft"] += 1
        assert names_after_the_next() <= clean


def test_a_file_that_the_user_named_is_old_or_new_and_alone(tmp_path: Path) -> None:
    place, out = Place(tmp_path), tmp_path / "out"
    out.mkdir()
    file = out / "one.pack"

    def run(first: str = "") -> CompletedProcess[str]:
        return place.run("pack", "-o", str(file), first=first)

    assert run().returncode == 0
    new = file.read_bytes()
    file.write_bytes(b"old")
    for _ in kills(out, run):
        COUNTS["packs killed"] += 1
        assert file.read_bytes() in {b"old", new}
        for left in out.iterdir():
            os.utime(left, (1, 1))
        assert run().returncode == 0
        assert [one.name for one in out.iterdir()] == ["one.pack"]
        assert file.read_bytes() == new


def test_a_full_disk_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    for temporary in ("", unique_draft(str(path))):
        with no_file_larger_than(0), pytest.raises(OSError, match="too large"):
            replace_file(str(path), b"after", temporary=temporary)
    with no_file_larger_than(0), pytest.raises(CodelensError):
        bearer_token(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"before"


def test_a_draft_that_is_being_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    other = Path(unique_draft(str(path)))
    other.write_bytes(b"of another process")
    replace_file(str(path), b"mine", temporary=unique_draft(str(path)))
    assert other.exists()
    os.utime(other, (1, 1))
    replace_file(str(path), b"mine", temporary=unique_draft(str(path)))
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
