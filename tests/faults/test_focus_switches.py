"""`focus off` stays off: while another process changes a switch, and if the file is damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from forked_commands import codelens_text
from gitrepo import GitRepo

from codelens import home_files
from codelens.focus.checkout import checkout_at
from codelens.focus.focus_settings import is_on, switch_path


class Repositories:
    """Repositories of one home, and `codelens focus` in them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.roots = [GitRepo.init(folder / name).root for name in ("first", "second", "third")]
        self.switches = Path(switch_path(str(self.home)))

    def focus(self, number: int, *args: str) -> tuple[int, str]:
        done = codelens_text("focus", *args, cwd=self.roots[number], home=self.home)
        return done.returncode, done.stderr

    def on(self) -> list[bool]:
        return [is_on(str(self.home), checkout_at(str(root)).repository) for root in self.roots]


@pytest.fixture
def three(tmp_path: Path) -> Repositories:
    return Repositories(tmp_path)


def test_a_change_waits_for_that_of_another_process(three: Repositories) -> None:
    assert three.focus(0, "off", "--here")[0] == 0
    before = three.switches.read_bytes()
    lock = home_files.open_locked(f"{three.switches}.lock")
    try:
        assert home_files.take_lock(lock)
        code, said = three.focus(1, "off", "--here")
        assert code == 2 and "another process" in said
        assert three.switches.read_bytes() == before
    finally:
        os.close(lock)
    assert three.focus(1, "off", "--here")[0] == 0
    assert three.on() == [False, False, True]


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff" * 9])
def test_a_damaged_file_turns_no_other_repository_on(three: Repositories, damage: bytes) -> None:
    assert three.focus(0, "off", "--here")[0] == 0
    three.switches.write_bytes(damage)
    assert three.on() == [False] * 3
    assert three.focus(1, "on", "--here")[0] == 0
    assert three.on() == [False, True, False]
    (aside,) = three.switches.parent.glob("switches.json.foreign-*")
    assert aside.read_bytes() == damage
    assert three.focus(1, "on")[0] == 0
    assert three.on() == [True] * 3
