"""Users' own content, and their changes before or after an install, stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hosts.hosting import COMMAND, Scratch, problems

from codelens.hosts.formats import entry_edits, json_edit, yaml_edit
from codelens.hosts.formats.config_values import EditRefused
from codelens.hosts.formats.entry_edits import BEGIN, END

OWN = ["serve", "--root", "/srv/repo", "--budget", "900"]


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def entry(file: Path, fresh: dict | None = None) -> dict:
    if fresh is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"mcpServers": {"codelens": fresh}}))
    return json.loads(file.read_text())["mcpServers"]["codelens"]


@pytest.mark.parametrize(
    "before",
    [["--from", "git+https://host/codelens", "codelens"], ["codelens"], ["run", "-m", "codelens"]],
)
def test_own_arguments_stay_when_the_program_becomes_the_installed_one(
    scratch: Scratch, before: list[str]
) -> None:
    file = scratch.config("cursor")
    entry(file, {"command": "uvx", "args": [*before, *OWN], "env": {"K": "v"}})
    done = scratch.install("cursor")
    now = entry(file)
    assert (now["command"], now["args"], now["env"]) == (COMMAND, OWN, {"K": "v"})
    assert any(f"started uvx; it is now {COMMAND}" in one for one in done[0].remarks)


def test_a_way_of_the_users_own_to_start_codelens_stays(scratch: Scratch) -> None:
    file = scratch.config("gemini")
    own_entry = {"command": "docker", "args": ["run", "-i", "codelens", "serve"]}
    entry(file, own_entry)
    done = scratch.install("gemini")
    assert not problems(done)
    assert entry(file) == own_entry
    assert any("with docker, which you configured" in one for one in done[0].remarks)


def test_a_skill_that_was_changed_is_not_overwritten_by_the_next_install(
    scratch: Scratch,
) -> None:
    scratch.install("cursor")
    skill = scratch.home / ".cursor" / "skills" / "codelens" / "SKILL.md"
    skill.write_text(skill.read_text("utf-8") + "my note\n", "utf-8")
    done = scratch.install("cursor", command="/new/codelens")
    assert not problems(done)
    assert "changed by hand" in " ".join(one for change in done for one in change.remarks)
    assert skill.read_text("utf-8").endswith("my note\n")
    assert "delete it by hand" in problems(scratch.uninstall("cursor"))[0]


def test_lines_put_between_the_markers_stay_with_the_next_install(scratch: Scratch) -> None:
    scratch.install("gemini")
    file = scratch.home / ".gemini" / "GEMINI.md"
    file.write_text(file.read_text("utf-8").replace(END, f"My own rule\n{END}"), "utf-8")
    done = scratch.install("gemini")
    assert "My own rule" in file.read_text("utf-8")
    assert "changed by hand" in " ".join(one for change in done for one in change.remarks)


def test_approvals_that_were_there_before_install_stay_after_an_edit(scratch: Scratch) -> None:
    claude = scratch.home / ".claude" / "settings.json"
    claude.parent.mkdir()
    claude.write_text('{"permissions": {"allow": ["mcp__codelens__cl_search"]}}')
    opencode = scratch.config("opencode")
    opencode.parent.mkdir(parents=True)
    opencode.write_text('{"permission": {"codelens_cl_search": "allow"}}')
    scratch.install("claude-code", "opencode", approve=True)
    scratch.install("claude-code", "opencode")
    for file in (claude, opencode):
        text = json_edit.put(file.read_text(), ("x",), 1, comments=False)
        file.write_text(text)
    scratch.uninstall("claude-code", "opencode")
    allowed = json.loads(claude.read_text())["permissions"]["allow"]
    assert allowed == ["mcp__codelens__cl_search"]
    assert json.loads(opencode.read_text())["permission"] == {"codelens_cl_search": "allow"}


def test_without_a_ledger_a_file_with_only_codelens_lines_is_removed(scratch: Scratch) -> None:
    scratch.install("gemini")
    (scratch.kept / "install.json").unlink()
    scratch.uninstall("gemini")
    assert not (scratch.home / ".gemini" / "GEMINI.md").exists()


def test_a_ledger_of_a_newer_codelens_is_kept_aside(scratch: Scratch) -> None:
    newer = '{"version": 9, "files": {}, "folders": []}'
    scratch.kept.mkdir()
    (scratch.kept / "install.json").write_text(newer)
    scratch.install("gemini", "cursor")
    assert (scratch.kept / "install.unusable.json").read_text() == newer


def test_a_relative_codelens_home_is_written_down_as_an_absolute_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scratch = Scratch(tmp_path, CODELENS_HOME="kept/here")
    scratch.install("cursor")
    env = entry(scratch.config("cursor"))["env"]
    assert env == {"CODELENS_HOME": str(tmp_path / "kept" / "here")}


@pytest.mark.parametrize("tail", [', "b": 2\n}\n', ",}\n", "}\n"])
def test_text_after_the_entry_does_not_become_a_comment(tail: str) -> None:
    text = '{\n  "a": 1, // first\n  "codelens": {\n    "x": 1\n  }' + tail
    fresh = json_edit.take(text, ("codelens",), comments=True)
    expected = {"a": 1, "b": 2} if "b" in tail else {"a": 1}
    assert json_edit.parse(fresh, comments=True) == expected
    assert "// first" in fresh


def test_the_only_entry_after_a_comment_is_removed() -> None:
    text = '{ // mine\n  "codelens": 1}\n'
    fresh = json_edit.take(text, ("codelens",), comments=True)
    assert json_edit.parse(fresh, comments=True) == {}
    assert "// mine" in fresh


def test_a_line_that_ends_a_yaml_document_stays_the_last() -> None:
    text = "a: 1   # mine\n...\n"
    fresh = yaml_edit.put(text, ("extensions", "codelens"), {"cmd": "codelens"}, named=False)
    assert fresh.startswith("a: 1   # mine\nextensions:\n")
    assert fresh.endswith("\n...\n")


def test_prose_about_the_markers_is_not_a_block() -> None:
    text = f"`{BEGIN}` is what codelens writes\nmine\nand `{END}`\n"
    fresh = entry_edits.put_block(text, "lines")
    assert fresh.startswith(text)
    assert entry_edits.take_block(fresh) == text


def test_markers_the_wrong_way_round_are_said_to_be() -> None:
    with pytest.raises(EditRefused, match="with the end before the beginning"):
        entry_edits.put_block(f"{END}\nmine\n{BEGIN}\n", "lines")


def test_a_link_out_of_the_project_is_not_followed(scratch: Scratch, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    outside = tmp_path / "bashrc"
    outside.write_text("mine\n")
    (root / "CLAUDE.md").symlink_to(outside)
    done = scratch.install("claude-code", root=root, command="codelens")
    assert f"{outside}: a symbolic link points outside {root}" in problems(done)[0]
    assert outside.read_text() == "mine\n"
    assert (root / ".mcp.json").exists()
