"""`codelens focus`: what a rehearsal reads, and what it says when focus is off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gitrepo import GitRepo
from shop_repository import Run

from codelens.focus import forest_file
from codelens.focus.checkout import checkout_at
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_prompt


@pytest.fixture
def home(tmp_path: Path, repo: GitRepo) -> Path:
    return tmp_path / "home"


def ask(home: Path, repo: GitRepo, text: str) -> None:
    take_prompt(str(home), checkout_at(str(repo.root)), text, FocusSettings())


@pytest.mark.parametrize(
    "put_in",
    ["[Focus | 2 prompts | 1/100 mem]\n  [1.00] docs\n[/Focus]\n",
     "<system-reminder>read the docs</system-reminder>"],
)  # fmt: skip
def test_a_rehearsal_leaves_out_what_hosts_put_into_a_prompt(
    run: Run, repo: GitRepo, put_in: str
) -> None:
    rehearsed = json.loads(run("focus", "--dry-run", f"{put_in} rotate the token", "--json").out)
    assert rehearsed["tokens"] == ["rot", "token"]


def test_waiting_turns_count_in_the_output_and_stay(run: Run, repo: GitRepo, home: Path) -> None:
    ask(home, repo, "rotate the token")
    path = path_of(str(home), checkout_at(str(repo.root)), FocusSettings(), "")
    with forest_file.ForestLock(path) as lock:
        assert lock
        ask(home, repo, "write a database migration")
        damaged = Path(f"{path}.waiting-1")
        damaged.write_text("{")
        before = {file: file.read_bytes() for file in Path(path).parent.iterdir()}
        rehearsed = run("focus", "--dry-run", "database migration", "--json")
        assert json.loads(rehearsed.out)["action"] == "extend"
        assert f"{damaged.name} is damaged" in rehearsed.err
        assert "[Focus | 2 prompts" in run("focus").out
    assert before == {file: file.read_bytes() for file in Path(path).parent.iterdir()}


def test_if_focus_is_off_the_named_command_turns_it_on(
    run: Run, repo: GitRepo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(home, repo, "rotate the token")
    assert "off" not in run("focus").err
    for off, on in (
        (["--here"], "`codelens focus on --here` turns it on"),
        ([], "`codelens focus on` turns it on"),
    ):
        run("focus", "off", *off)
        assert on in run("focus").err
        run(*on.split("`")[1].split()[1:])
        assert "off" not in run("focus").err
        if off:
            (home / "focus" / "switches.json").unlink()
    monkeypatch.setenv("CODELENS_FOCUS", "off")
    for said in (run("focus").err, run("focus", "on").err):
        assert "because of CODELENS_FOCUS; unset it" in said and "focus on`" not in said


def test_a_switch_that_another_overrides_names_the_one_that_counts(run: Run, repo: GitRepo) -> None:
    run("focus", "off", "--here")
    assert "`codelens focus on --here` turns it on" in run("focus", "on").err
    run("focus", "on", "--here")
    assert "`codelens focus off --here` turns it off" in run("focus", "off").err


def test_a_setting_of_nothing_stops_no_reset(run: Run, repo: GitRepo, home: Path) -> None:
    ask(home, repo, "rotate the token")
    (home / "config.toml").write_text("[focus]\nextend = 0\n")
    assert run("focus", "--reset").code == 0
    assert run("focus").code == 1
