"""Invalid settings lose no prompt, no topic and no recovery."""

from __future__ import annotations

from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.cli.main import main
from codelens.focus import forest_file
from codelens.focus.checkout import Checkout, checkout_at
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_prompt
from codelens.hooks import prompt_hooks
from codelens.hooks.hook_input import HookInput, parsed

DAMAGED = {
    "no TOML": b"[focus\nmemory_size = 500\n",
    "no UTF-8": b"[focus]\nscope = '\xff'\n",
    "a value that cannot be": b"[focus]\nmemory_size = 'many'\n",
    "no table": b"focus = 1\n",
}
cases = pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)


@pytest.fixture
def place(tmp_path: Path) -> Checkout:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("one", {"till.py": "def charge():\n    return 1\n"})
    return checkout_at(str(repo.root))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home"
    made.mkdir(mode=0o700)
    monkeypatch.setenv("CODELENS_HOME", str(made))
    return made


def said(text: str) -> HookInput:
    event = parsed(b'{"session_id": "one", "cwd": "/", "prompt": "%s"}' % text.encode())
    assert event is not None
    return event


def prompts(home: Path, place: Checkout) -> int:
    forest = forest_file.load(path_of(str(home), place, FocusSettings(), "one")).forest
    return forest.prompts


@cases
def test_a_prompt_is_taken_in_and_no_topic_is_forgotten(
    home: Path, place: Checkout, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = FocusSettings(memory_size=1_000)
    for number in range(130):
        take_prompt(str(home), place, f"topic{number} word{number}", settings, session="one")
    before = forest_file.load(path_of(str(home), place, settings, "one")).forest
    assert len(before.nodes) > FocusSettings().memory_size, "else the test shows nothing"
    (home / "config.toml").write_bytes(data)
    prompt_hooks.before_prompt(str(home), said("charge the card"), place)
    after = forest_file.load(path_of(str(home), place, settings, "one")).forest
    assert after.prompts == before.prompts + 1
    assert after.nodes.keys() >= before.nodes.keys()
    assert "default settings of focus" in capsys.readouterr().err
    assert "default settings of focus" in (home / "logs" / "hooks.log").read_text()


@cases
def test_the_recovery_after_a_compaction_is_shown(home: Path, place: Checkout, data: bytes) -> None:
    prompt_hooks.put_recovery(str(home), place.repository, "one", "what it was about")
    (home / "config.toml").write_bytes(data)
    context = prompt_hooks.before_prompt(str(home), said("charge the card"), place)
    assert context.startswith("what it was about")


@cases
def test_the_command_warns_and_resets_nothing_and_the_doctor_offers_a_remedy(
    home: Path,
    place: Checkout,
    data: bytes,
    capsys: pytest.CaptureFixture[str],
) -> None:
    take_prompt(str(home), place, "charge the card", FocusSettings(), session="one")
    (home / "config.toml").write_bytes(data)
    (home / "config.toml").chmod(0o600)
    assert main(["focus", "-C", place.root]) == 0
    shown = capsys.readouterr()
    assert "charge" in shown.out
    assert shown.err.count("warning") == 1 and "doctor --fix" in shown.err
    assert main(["focus", "-C", place.root, "--reset"]) == 2
    assert prompts(home, place) == 1
    capsys.readouterr()
    assert main(["doctor", "--no-agents"]) == 1
    assert "--fix: rename it" in capsys.readouterr().out
    assert main(["doctor", "--no-agents", "--fix"]) == 0
    assert main(["focus", "-C", place.root]) == 0
    assert "warning" not in capsys.readouterr().err
