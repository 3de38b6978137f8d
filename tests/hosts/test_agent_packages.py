"""Plugins, extensions and the bundle match the tables, and contain nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codelens.hosts.desired_edits import HOOK_EVENTS, skill
from codelens.hosts.packages import FOLDER, main, package_files, write

ROOT = Path(__file__).resolve().parents[2]
REMEDY = "run `python -m codelens.hosts.packages`"


def test_the_checkout_matches_the_tables() -> None:
    files = package_files()
    there = {
        file.relative_to(ROOT).as_posix() for file in (ROOT / FOLDER).rglob("*") if file.is_file()
    }
    assert there == {path for path in files if path.startswith(f"{FOLDER}/")}, REMEDY
    differing = [path for path, text in files.items() if (ROOT / path).read_text("utf-8") != text]
    assert differing == [], REMEDY


def test_a_file_missing_from_all_packages_is_reported(tmp_path: Path) -> None:
    old = tmp_path / FOLDER / "gemini" / "commands" / "old.toml"
    old.parent.mkdir(parents=True)
    old.write_text("")
    assert write(tmp_path) == [old.relative_to(tmp_path).as_posix()]
    assert write(tmp_path / "new") == []


@pytest.mark.parametrize("package", ["claude-code", "codex", "gemini"])
def test_hooks_use_events_that_codelens_answers(package: str) -> None:
    hooks = json.loads(package_files()[f"{FOLDER}/{package}/hooks/hooks.json"])["hooks"]
    commands = [inner["command"] for (element,) in hooks.values() for inner in element["hooks"]]
    # Claude Code and Codex start a session after a compaction.
    events = HOOK_EVENTS if package == "gemini" else HOOK_EVENTS[:-1]
    assert sorted(commands) == sorted(f"codelens hook {event}" for event in events)


def test_each_package_of_a_host_has_the_skill() -> None:
    files = package_files()
    for package in ("claude-code", "codex", "gemini", "opencode"):
        assert files[f"{FOLDER}/{package}/skills/codelens/SKILL.md"] == skill()


def test_the_entry_of_the_registry_starts_this_release(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--registry", "io.github.someone"])
    entry = json.loads(capsys.readouterr().out)
    (package,) = entry["packages"]
    assert entry["name"] == "io.github.someone/codelens"
    assert (package["identifier"], package["version"]) == ("codelens", entry["version"])
    assert len(entry["description"]) <= 100  # the registry refuses longer ones


@pytest.mark.parametrize("namespace", ["", "someone", "io.github.someone/codelens"])
def test_an_invalid_namespace_is_refused(
    namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--registry", namespace]) == 2
    assert capsys.readouterr().err.startswith("codelens: error: ")
