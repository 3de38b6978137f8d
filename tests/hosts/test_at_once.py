"""Two installs at once, and programs that save their own settings while codelens writes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hosts.hosting import Scratch, problems

from codelens.hosts import host_files
from codelens.hosts.desired_edits import Wish
from codelens.hosts.formats.entry_edits import Edit
from codelens.hosts.host_files import InstallRunning, Overtaken
from codelens.hosts.host_wiring import install, uninstall
from codelens.hosts.install_ledger import Change, Ledger, alone


@dataclass
class Raced(Edit):
    """Edits a program's file, which the program saves `saves` times during planning."""

    file: str
    saves: int
    seen: list[str] = field(default_factory=list)

    @property
    def what(self) -> str:
        return "a race"

    def put(self, text: str | None) -> str:
        self._save(text)
        return f"{text}own\n"

    def take(self, text: str, made: object) -> str:
        self._save(text)
        return text.replace("own\n", "")

    def is_there(self, text: str) -> bool:
        return "own" in text

    def _save(self, text: str | None) -> None:
        self.seen.append(text or "")
        if len(self.seen) <= self.saves:
            host_files.write(Path(self.file), f"{text}save {len(self.seen)}\n".encode())


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def raced(scratch: Scratch, saves: int, text: str = "") -> tuple[Change, Ledger]:
    file = scratch.home / "settings"
    file.write_text(text)
    wish = Wish("host", file, Raced(str(file), saves))
    return Change(file, (wish,), None, None), Ledger(scratch.kept)


def test_a_programs_save_during_install_is_kept(scratch: Scratch) -> None:
    change, ledger = raced(scratch, 3)
    done = install(change, ledger, "user")
    assert not done.problems
    assert change.path.read_text() == "save 1\nsave 2\nsave 3\nown\n"
    old = Ledger(scratch.kept).records[str(change.path)]
    assert old.found_by(change.path.read_bytes())
    assert old.undo is not None
    assert old.undo.applied(change.path.read_bytes()) == b"save 1\nsave 2\nsave 3\n"


def test_a_programs_save_during_uninstall_is_kept(scratch: Scratch) -> None:
    change, ledger = raced(scratch, 3, "own\n")
    assert not uninstall(change, ledger).problems
    assert "own" not in change.path.read_text()
    assert "save 3" in change.path.read_text()


def test_a_file_that_is_written_all_the_time_is_left_alone_with_a_message(
    scratch: Scratch,
) -> None:
    change, ledger = raced(scratch, 1000)
    done = install(change, ledger, "user")
    assert "another program keeps writing" in problems([done])[0]
    assert "own" not in change.path.read_text()
    assert not Ledger(scratch.kept).records
    assert [one.name for one in scratch.home.iterdir()] == ["settings"]


@pytest.mark.parametrize("onto", [None, b"older"])
def test_a_file_that_holds_something_else_is_not_replaced(
    tmp_path: Path, onto: bytes | None
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"theirs")
    with pytest.raises(Overtaken):
        host_files.write(file, b"own", onto=onto)
    with pytest.raises(Overtaken):
        host_files.remove(file, holding=b"older")
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [b"theirs"]


@pytest.mark.slow
def test_four_installs_at_once_are_four_records_and_all_comes_back(scratch: Scratch) -> None:
    names = ["claude-code", "codex", "gemini", "qwen"]
    (scratch.home / ".gemini").mkdir()
    (scratch.home / ".gemini" / "settings.json").write_text("{}\n")
    before = scratch.everything()
    env = {
        **{name: value for name, value in os.environ.items() if not name.endswith("_HOME")},
        "HOME": str(scratch.home), "CODELENS_HOME": str(scratch.kept),
    }  # fmt: skip

    def command(*words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "codelens", *words, "--yes"], env=env, cwd=scratch.home,
            stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    running = [command("install", "--command", sys.executable, "--host", name) for name in names]
    assert [one.wait(120) for one in running] == [0] * 4
    recorded = json.loads((scratch.kept / "install.json").read_text())["files"]
    assert {host for one in recorded.values() for host in one["edits"]} == set(names)
    assert command("uninstall").wait(120) == 0
    assert scratch.everything() == before


def test_a_second_one_waits_for_its_turn_and_then_says_so(tmp_path: Path) -> None:
    with (
        alone(tmp_path),
        pytest.raises(InstallRunning, match="another codelens install"),
        alone(tmp_path, wait_s=0.1),
    ):
        pass
    with alone(tmp_path, wait_s=0):
        assert (tmp_path / "install.lock").exists()
    assert not list(tmp_path.iterdir())


def test_a_lock_that_a_killed_process_left_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "install.lock").touch()
    with alone(tmp_path, wait_s=0):
        pass


def test_the_next_install_removes_leftovers_of_a_killed_one(scratch: Scratch) -> None:
    file = scratch.config("cursor")
    file.parent.mkdir()
    file.write_text("{}")
    (file.parent / f".{file.name}.abcd_123.codelens").write_text("half")
    scratch.install("cursor")
    scratch.uninstall("cursor")
    assert [one.name for one in file.parent.iterdir()] == [file.name]
