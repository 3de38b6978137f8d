"""Checks the descriptors against facts about each host, and against the texts of codelens."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest

from codelens.errors import SettingError
from codelens.hosts.desired_edits import command_files, instructions, read_only_tools, skill
from codelens.hosts.host_descriptor import Machine, filled, hosts, named, this_machine

HOME = Path("/home/zoe")
ROOT = Path(__file__).resolve().parents[2]


def place(name: str, system: str = "linux", **environ: str) -> str:
    home = PureWindowsPath(r"C:\Users\zoe") if system == "windows" else HOME
    return str(hosts()[name].server.where.pick(Machine(system, home, environ), "user", None))


def test_the_docs_have_a_row_for_each_host_and_the_readme_counts_them() -> None:
    page = (ROOT / "docs" / "hosts.md").read_text("utf-8").partition("\n## The hosts\n")[2]
    rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert {name for name in hosts() if rows.count(name) != 1} == set()
    assert f" {len(hosts())} agents are supported" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "variable", "path"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/d/.claude.json"),
        ("codex", "CODEX_HOME", "/d/config.toml"),
        ("opencode", "XDG_CONFIG_HOME", "/d/opencode/opencode.json"),
        ("vscode", "XDG_CONFIG_HOME", "/d/Code/User/mcp.json"),
        ("zed", "XDG_CONFIG_HOME", "/d/zed/settings.json"),
        ("copilot-cli", "COPILOT_HOME", "/d/mcp-config.json"),
        ("qwen", "QWEN_HOME", "/d/settings.json"),
        ("cline", "CLINE_DATA_DIR", "/d/settings/cline_mcp_settings.json"),
        ("pi", "PI_CODING_AGENT_DIR", "/d/mcp.json"),
        ("kiro", "KIRO_HOME", "/d/settings/mcp.json"),
    ],
)
def test_the_variables_of_hosts_are_honoured(name: str, variable: str, path: str) -> None:
    assert place(name, **{variable: "/d"}) == path
    assert place(name, **{variable: ""}) == place(name) == place(name, **{variable: "relative"})


def test_windows_has_its_own_folders() -> None:
    roaming = r"D:\roaming"
    assert place("zed", "windows", APPDATA=roaming) == r"D:\roaming\Zed\settings.json"
    assert place("vscode", "windows") == r"C:\Users\zoe\AppData\Roaming\Code\User\mcp.json"
    assert place("opencode", "windows", APPDATA=roaming).startswith(r"C:\Users\zoe\.config")
    assert place("cursor", "windows") == r"C:\Users\zoe\.cursor\mcp.json"


def test_an_existing_jsonc_is_preferred(tmp_path: Path) -> None:
    machine = Machine("linux", tmp_path, {})
    where = hosts()["opencode"].server.where

    def picked() -> str:
        found = where.pick(machine, "user", None)
        assert found is not None
        return found.name

    assert picked() == "opencode.json"
    (tmp_path / ".config/opencode").mkdir(parents=True)
    (tmp_path / ".config/opencode/opencode.jsonc").touch()
    assert picked() == "opencode.jsonc"


def test_only_installed_hosts_are_detected(tmp_path: Path) -> None:
    machine = Machine("linux", tmp_path, {"PATH": str(tmp_path / "bin")})
    (tmp_path / ".copilot").mkdir()  # VS Code creates it
    assert named("detected", machine) == []
    (tmp_path / ".codex").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/qwen").touch(0o755)
    assert [host.name for host in named("detected", machine)] == ["codex", "qwen"]
    assert [host.name for host in named("zed, detected", machine)] == ["codex", "qwen", "zed"]
    assert named("all", machine) == list(hosts().values())


def test_a_host_that_is_unknown_is_refused_with_the_names() -> None:
    with pytest.raises(SettingError, match="unknown host 'emacs'; the hosts are amp, augment"):
        named("emacs", this_machine())


def test_the_tools_that_are_approved_are_those_that_only_read() -> None:
    from codelens.serve.first_turn import CORE

    assert read_only_tools() == CORE


def test_every_tool_that_agents_hear_of_exists() -> None:
    import re

    from codelens.serve.first_turn import ALL

    commands = hosts()["claude-code"].commands
    assert commands is not None
    for text in (skill(), instructions(), *command_files(commands).values()):
        assert set(re.findall(r"\bcl_[a-z]+", text)) <= set(ALL)


def test_the_block_has_at_most_five_lines_with_its_markers() -> None:
    assert len(instructions().strip().splitlines()) + 2 <= 5


def test_the_skill_is_named_like_its_folder() -> None:
    assert skill().startswith("---\nname: codelens\ndescription: ")


@pytest.mark.parametrize("name", [name for name, host in hosts().items() if host.commands])
def test_the_four_commands_are_there_in_the_form_of_the_host(name: str) -> None:
    import tomllib

    commands = hosts()[name].commands
    assert commands is not None
    files = command_files(commands)
    stems = [file.split(".")[0] for file in files]
    assert stems == ["codelens-search", "codelens-map", "codelens-impact", "codelens-status"]
    for name, text in files.items():
        assert (commands.arguments in text) == ("status" not in name)
        assert "{arguments}" not in text
        if commands.form == "toml":
            assert tomllib.loads(text).keys() == {"description", "prompt"}


def test_holes_are_filled_spliced_and_left_out() -> None:
    holes = {"{command}": "/c", "{args}": ["serve"], "{env}": None}
    said = {"a": ["{command}", "{args}", "x"], "{tool}": 1, "env": "{env}", "l": ["p_{tool}"]}
    assert filled(said, holes, ("t", "u")) == {
        "a": ["/c", "serve", "x"], "t": 1, "u": 1, "l": ["p_t", "p_u"],
    }  # fmt: skip
