"""Install and uninstall over files: in any order, with other tools, with a wrong ledger."""

from __future__ import annotations

import json
import os
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hosts.hosting import COMMAND, Scratch, problems

from codelens.hosts.formats import json_edit
from codelens.hosts.formats.config_values import Value
from codelens.hosts.formats.entry_edits import BEGIN
from codelens.hosts.host_descriptor import hosts
from codelens.hosts.install_ledger import Ledger

OTHER: Value = {"command": "other"}


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def servers(file: Path, *keys: str) -> Any:
    text = file.read_text("utf-8").removeprefix("\ufeff")
    found = json_edit.parse(text, comments=True)
    for key in keys or ("mcpServers",):
        assert isinstance(found, dict)
        found = found[key]
    return found


def put(file: Path, name: str, value: Value = OTHER, key: str = "mcpServers") -> None:
    text = file.read_text("utf-8") if file.exists() else ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json_edit.put(text, (key, name), value, comments=True), "utf-8")


def take(file: Path, name: str, key: str = "mcpServers") -> None:
    file.write_text(json_edit.take(file.read_text("utf-8"), (key, name), comments=True), "utf-8")


@pytest.mark.parametrize(
    "found", ["", '{\n  "mcpServers": {\n    "mine": {}\n  }\n}\n', '{"a": 1}\n']
)
@pytest.mark.parametrize(
    "order", [one for one in permutations("iuIU") if one.index("i") < one.index("u")
              and one.index("I") < one.index("U")], ids="".join,
)  # fmt: skip
def test_two_tools_come_and_go_in_any_order(scratch: Scratch, found: str, order: tuple) -> None:
    file = scratch.config("cursor")
    file.parent.mkdir(parents=True)
    if found:
        file.write_text(found, "utf-8")
    for step in order:
        if step == "i":
            assert not problems(scratch.install("cursor"))
        elif step == "u":
            assert not problems(scratch.uninstall("cursor"))
        elif step == "I":
            put(file, "other")
        else:
            take(file, "other")
        has_other = (
            "I" in order[: order.index(step) + 1] and "U" not in order[: order.index(step) + 1]
        )
        now = servers(file) if file.exists() and "mcpServers" in file.read_text("utf-8") else {}
        assert ("other" in now) == has_other
    if file.exists():
        text = file.read_text("utf-8")
        assert "codelens" not in text
        assert text == found or "mcpServers" not in found
    assert not Ledger(scratch.kept).records


def test_an_upgrade_elsewhere_is_one_entry_and_uninstall_still_gives_back(scratch: Scratch) -> None:
    file = scratch.config("copilot-cli")
    file.parent.mkdir(parents=True)
    file.write_text('{"mcpServers": {}}', "utf-8")
    scratch.install("copilot-cli")
    done = scratch.install("copilot-cli", command="/new/codelens")
    assert servers(file)["codelens"]["command"] == "/new/codelens"
    assert f"started {COMMAND}; it is now /new/codelens" in " ".join(done[0].remarks)
    scratch.uninstall("copilot-cli")
    assert file.read_text("utf-8") == '{"mcpServers": {}}'


def test_an_entry_that_the_user_made_keeps_his_arguments(scratch: Scratch) -> None:
    file = scratch.config("opencode")
    file.parent.mkdir(parents=True)
    own_entry = {
        "type": "local",
        "command": ["/old/codelens", "serve", "--budget", "900"],
        "enabled": False,
    }
    file.write_text(json.dumps({"mcp": {"codelens": own_entry}}), "utf-8")
    before = file.read_bytes()
    scratch.install("opencode")
    assert servers(file, "mcp", "codelens") == {
        **own_entry,
        "command": [COMMAND, *own_entry["command"][1:]],
    }
    done = scratch.uninstall("opencode")
    assert file.read_bytes() == before
    assert any("uninstall again" in remark for one in done for remark in one.remarks)
    scratch.uninstall("opencode")
    assert servers(file, "mcp") == {}


def test_uvx_and_python_entries_are_recognized_and_rewritten(scratch: Scratch) -> None:
    file = scratch.config("cursor")
    put(file, "codelens", {"command": "uvx", "args": ["codelens", "serve"]})
    scratch.install("cursor")
    entry = servers(file)["codelens"]
    assert (entry["command"], entry["args"][0]) == (COMMAND, "serve")


def test_an_older_plain_entry_gets_all_that_starts_codelens_now(scratch: Scratch) -> None:
    file = scratch.config("cursor")
    put(file, "codelens", {"command": "/old/codelens", "args": ["serve"], "env": {"A": "b"}})
    scratch.install("cursor")
    entry = servers(file)["codelens"]
    assert entry["args"] == ["serve", "--root", "${workspaceFolder}"]
    assert entry["env"] == {"A": "b"}


def test_a_foreign_program_named_codelens_is_left_alone_and_the_rest_is_done(
    scratch: Scratch,
) -> None:
    file = scratch.config("gemini")
    put(file, "codelens", {"command": "npx", "args": ["-y", "codelens-mcp"]})
    before = file.read_bytes()
    done = scratch.install("gemini", "cursor")
    assert len(problems(done)) == 1
    assert "does not start codelens; rename or remove it" in problems(done)[0]
    assert file.read_bytes() == before
    assert "codelens" in servers(scratch.config("cursor"))
    assert "does not start codelens; it was left" in problems(scratch.uninstall("gemini"))[0]
    assert file.read_bytes() == before


def test_without_a_ledger_only_certain_entries_are_removed(scratch: Scratch) -> None:
    file = scratch.config("claude-code")
    text = '{\n  "mcpServers": {\n    "mine": {}\n  }\n}\n'
    file.write_text(text, "utf-8")
    scratch.install("claude-code")
    (scratch.kept / "install.json").unlink()
    assert not problems(scratch.uninstall("claude-code"))
    assert file.read_text("utf-8") == text
    assert not [one for one in scratch.everything() if "codelens" in one]


JUNK = [
    "", "{", "[]", '{"version": 9, "files": {}}', '{"version": 1}',
    '{"version": 1, "folders": [], "files": {"/x": {"made": 1}}}',
]  # fmt: skip


@pytest.mark.parametrize("junk", JUNK)
def test_a_ledger_that_cannot_be_read_is_said_and_not_believed(scratch: Scratch, junk: str) -> None:
    scratch.install("cursor")
    (scratch.kept / "install.json").write_text(junk, "utf-8")
    assert bool(Ledger(scratch.kept).note) == bool(junk)
    assert not problems(scratch.uninstall("cursor"))
    assert servers(scratch.config("cursor")) == {}


def test_a_ledger_that_names_other_bytes_does_not_bring_them_back(scratch: Scratch) -> None:
    file = scratch.config("cursor")
    file.parent.mkdir(parents=True)
    file.write_text("{}\n", "utf-8")
    scratch.install("cursor")
    put(file, "other")
    ledger = scratch.kept / "install.json"
    ledger.write_text(ledger.read_text("utf-8").replace('"text": ""', '"text": "EVIL"'), "utf-8")
    scratch.uninstall("cursor")
    assert servers(file) == {"other": OTHER}


def test_uninstall_finds_installs_from_another_environment(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    first = Scratch(tmp_path, CODEX_HOME=str(elsewhere))
    first.install("codex")
    assert (elsewhere / "config.toml").exists()
    Scratch(tmp_path).uninstall("codex")
    assert not elsewhere.exists()


def test_a_file_of_two_hosts_goes_with_the_last_of_them(scratch: Scratch, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    scratch.install("codex", "opencode", root=root)
    shared = root / "AGENTS.md"
    assert shared.read_text("utf-8").count(BEGIN) == 1
    done = scratch.uninstall("codex", root=root)
    assert shared.exists()
    assert any("opencode also uses it" in remark for one in done for remark in one.remarks)
    scratch.uninstall("opencode", root=root)
    assert not list(root.iterdir())


def test_the_project_scope_names_no_folder_of_a_user(scratch: Scratch, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    machine = Scratch(tmp_path, CODELENS_HOME="/home/me/kept")
    machine.install(*hosts(), root=root, command="codelens")
    texts = [one.read_text("utf-8") for one in root.rglob("*") if one.is_file()]
    assert len(texts) > 20
    assert not [text for text in texts if "/home/me" in text or str(tmp_path) in text]
    machine.uninstall(*hosts(), root=root)
    assert not list(root.iterdir())


def test_codelens_home_goes_with_the_entry_in_the_user_scope(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, CODELENS_HOME="/data/kept")
    scratch.install("goose", "cursor")
    assert "CODELENS_HOME: /data/kept" in scratch.config("goose").read_text("utf-8")
    assert servers(scratch.config("cursor"))["codelens"]["env"] == {"CODELENS_HOME": "/data/kept"}


def test_nothing_is_approved_unasked_and_approvals_go_again(scratch: Scratch) -> None:
    settings = scratch.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    found = '{\n  "permissions": {\n    "allow": [\n      "Bash(ls:*)"\n    ]\n  }\n}\n'
    settings.write_text(found, "utf-8")
    scratch.install("claude-code")
    assert settings.read_text("utf-8") == found
    scratch.install("claude-code", approve=True)
    allowed = servers(settings, "permissions", "allow")
    assert allowed[0] == "Bash(ls:*)"
    assert "mcp__codelens__cl_search" in allowed
    assert not [one for one in allowed if "*" in one and "codelens" in one]
    settings.write_text(
        json_edit.put(settings.read_text("utf-8"), ("x",), 1, comments=False), "utf-8"
    )
    scratch.uninstall("claude-code")
    assert servers(settings, "permissions", "allow") == ["Bash(ls:*)"]


def test_approving_later_gives_back_what_was_before_the_first_install(scratch: Scratch) -> None:
    file = scratch.config("opencode")
    file.parent.mkdir(parents=True)
    file.write_text('{\n  // mine\n  "permission": "ask"\n}\n', "utf-8")
    before = scratch.everything()
    scratch.install("opencode")
    done = scratch.install("opencode", approve=True)
    assert "permission is not an object" in problems(done)[0]
    assert "codelens" in servers(file, "mcp")
    scratch.uninstall("opencode")
    assert scratch.everything() == before


def test_a_skill_of_the_user_is_not_overwritten_and_an_edited_one_not_deleted(
    scratch: Scratch,
) -> None:
    skill = scratch.home / ".cursor" / "skills" / "codelens" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("my own", "utf-8")
    assert (
        "codelens did not write the existing file of this name"
        in problems(scratch.install("cursor"))[0]
    )
    assert skill.read_text("utf-8") == "my own"
    skill.unlink()
    scratch.install("cursor")
    skill.write_text(skill.read_text("utf-8") + "my lines\n", "utf-8")
    assert "delete it by hand" in problems(scratch.uninstall("cursor"))[0]
    assert skill.read_text("utf-8").endswith("my lines\n")


def test_a_symbolic_link_stays_one_and_its_target_is_edited(scratch: Scratch) -> None:
    file = scratch.config("zed")
    dotfiles = scratch.home / "dotfiles"
    dotfiles.mkdir()
    target = dotfiles / "zed.json"
    target.write_text("// mine\n{}\n", "utf-8")
    target.chmod(0o640)
    file.parent.mkdir(parents=True)
    file.symlink_to(os.path.relpath(target, file.parent))
    scratch.install("zed")
    assert file.is_symlink()
    assert "codelens" in servers(target, "context_servers")
    assert target.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in dotfiles.iterdir()] == ["zed.json"]
    scratch.uninstall("zed")
    assert file.is_symlink()
    assert target.read_text("utf-8") == "// mine\n{}\n"


def test_the_byte_order_mark_stays(scratch: Scratch) -> None:
    file = scratch.config("vscode")
    file.parent.mkdir(parents=True)
    file.write_bytes(b'\xef\xbb\xbf{\r\n\t"servers": {}\r\n}')
    scratch.install("vscode")
    data = file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf{")
    assert data.count(b"\n") == data.count(b"\r\n") > 3
    scratch.uninstall("vscode")
    assert file.read_bytes() == b'\xef\xbb\xbf{\r\n\t"servers": {}\r\n}'


def test_one_dated_backup_is_kept_as_long_as_it_is_of_use(scratch: Scratch) -> None:
    file = scratch.config("cursor")
    put(file, "mine")
    found = file.read_bytes()
    scratch.install("cursor")
    scratch.install("cursor", command="/new/codelens")
    backups = list((scratch.kept / "backups").iterdir())
    assert [one.read_bytes() for one in backups] == [found]
    assert backups[0].stat().st_mode & 0o777 == 0o600
    put(file, "other")
    scratch.uninstall("cursor")
    assert list((scratch.kept / "backups").iterdir()) == backups


BROKEN = {
    "broken": b'{"mcpServers": {',
    "a list": b"[1]",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("kind", [*BROKEN, "a folder", "huge", "read-only", "a loop"])
def test_bad_files_are_left_alone_with_a_message_and_other_hosts_are_done(
    scratch: Scratch, kind: str
) -> None:
    file = scratch.config("windsurf")
    file.parent.mkdir(parents=True)
    if kind == "a folder":
        file.mkdir()
    elif kind == "a loop":
        file.symlink_to(file)
    elif kind == "huge":
        with file.open("wb") as out:
            out.truncate(33 * 1024 * 1024)
    else:
        file.write_bytes(BROKEN.get(kind, b"{}"))
    if kind == "read-only":
        file.chmod(0o444)
    before = [(one.name, one.lstat().st_mode, one.lstat().st_size) for one in file.parent.iterdir()]
    done = scratch.install("windsurf", "kiro")
    assert len(problems(done)) == 1
    assert str(file) in problems(done)[0]
    after = [one for one in file.parent.iterdir() if one.name != "memories"]
    assert [(one.name, one.lstat().st_mode, one.lstat().st_size) for one in after] == before
    assert "codelens" in servers(scratch.config("kiro"))
    assert str(file) not in Ledger(scratch.kept).records


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_an_empty_file_is_filled_and_empty_again(scratch: Scratch, text: str) -> None:
    file = scratch.config("copilot-cli")
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    scratch.install("copilot-cli")
    assert "codelens" in servers(file)
    scratch.uninstall("copilot-cli")
    assert file.read_text("utf-8") == text


def test_a_file_changed_between_plan_and_write_is_edited_again(scratch: Scratch) -> None:
    from codelens.hosts.host_wiring import install, plan_install

    file = scratch.config("kiro")
    put(file, "mine")
    request = scratch.request()
    ledger = Ledger(scratch.kept)
    changes = plan_install([hosts()["kiro"]], request, ledger)
    put(file, "written by a running session")
    for change in changes:
        install(change, ledger, request.label)
    assert list(servers(file)) == ["mine", "written by a running session", "codelens"]
