"""Hooks in the hosts' settings: added next to foreign ones, updated, and removed byte for byte."""

from __future__ import annotations

import json
import shlex
import subprocess
from itertools import permutations
from pathlib import Path, PureWindowsPath
from typing import cast

import pytest
from hosts.hosting import COMMAND, Scratch, problems

from codelens.hosts.desired_edits import HOOK_EVENTS, can_hook, quoted
from codelens.hosts.formats import json_edit
from codelens.hosts.formats.config_values import Value
from codelens.hosts.host_descriptor import Machine, hosts

WITH_HOOKS = [name for name, host in hosts().items() if host.hooks]
FOREIGN = {
    "claude-code": '{"hooks": {"SessionStart": [{"matcher": "startup",\n "hooks": '
                   '[{"type": "command", "command": "~/bin/mine hook prompt"}]}], "Stop": []},'
                   ' "model": "opus"}\n',
    "codex": '{\n\t"hooks": {\n\t\t"UserPromptSubmit": [\n\t\t\t{"hooks": []}\n\t\t]\n\t}\n}',
    "gemini": '{\r\n  // mine\r\n  "hooks": {\r\n    "BeforeAgent": [{"hooks": []}], // last\r\n'
              '  },\r\n}\r\n',
    "qwen": '{"hooks": {}}',
    "copilot-cli": '{"version":1,"hooks":{"sessionStart":[{"type":"command","bash":"echo"}]}}\n',
    "cursor": '{\n  "version": 1, "hooks": {"stop": [{"command": "./x.sh"}]} // c\n}\n',
}  # fmt: skip


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path)


def file_of(scratch: Scratch, name: str, root: Path | None = None) -> Path:
    hooks = hosts()[name].hooks
    assert hooks is not None
    scope = "user" if root is None else "project"
    picked = hooks.where.pick(scratch.machine, scope, root)
    assert picked is not None
    return Path(picked)


def events(file: Path) -> dict[str, list]:
    found = json_edit.parse(file.read_text("utf-8"), comments=True)
    assert isinstance(found, dict)
    return cast("dict[str, list]", found["hooks"])


def test_hosts_with_hooks_have_a_foreign_file_here() -> None:
    assert set(FOREIGN) == set(WITH_HOOKS)


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_without_being_asked_for_no_hook_is_written(scratch: Scratch, name: str) -> None:
    scratch.install(name, approve=True)
    written = b"".join(data or b"" for data in scratch.everything().values())
    assert b'" hook ' not in written and b"codelens hook" not in written


@pytest.mark.parametrize("name", WITH_HOOKS)
@pytest.mark.parametrize("found", [None, "", "{}\n", "foreign"])
def test_install_then_uninstall_restores_the_bytes(
    scratch: Scratch, name: str, found: str | None
) -> None:
    file = file_of(scratch, name)
    if found is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((FOREIGN[name] if found == "foreign" else found).encode())
    before = scratch.everything()
    assert not problems(scratch.install(name, hooks=True))
    wanted = hosts()[name].hooks
    assert wanted is not None
    assert set(wanted.events) <= set(events(file))
    again = scratch.everything()
    assert not [one for one in scratch.install(name, hooks=True) if one.is_change]
    assert scratch.everything() == again
    assert not problems(scratch.uninstall(name))
    assert scratch.everything() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_HOOKS)
def test_foreign_hooks_stay_in_any_order_of_changes(scratch: Scratch, name: str) -> None:
    """Another tool adds and removes its element before, between and after those of codelens."""
    event = next(iter(hosts()[name].hooks.events))  # type: ignore[union-attr]
    foreign_hook: Value = {"hooks": [{"type": "command", "command": "mine"}]}
    for order in permutations("iuIU"):
        if order.index("i") > order.index("u") or order.index("I") > order.index("U"):
            continue
        file = file_of(scratch, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(FOREIGN[name])
        foreign = events(file)
        for step in order:
            text = file.read_text()
            if step == "i":
                assert not problems(scratch.install(name, hooks=True))
            elif step == "u":
                assert not problems(scratch.uninstall(name))
            elif step == "I":
                file.write_text(
                    json_edit.append(text, ("hooks", event), [foreign_hook], comments=True)
                )
            else:
                file.write_text(
                    json_edit.take_items(text, ("hooks", event), [foreign_hook], comments=True)
                )
            if file.exists() and step in "iI":
                for one, elements in foreign.items():
                    assert [e for e in events(file)[one] if e in elements] == elements
        left = {one: elements for one, elements in events(file).items() if elements}
        assert left == {one: elements for one, elements in foreign.items() if elements}


MENTIONS = [
    "echo 'ran codelens hook stop' >> /tmp/log", "codelens-guard hook stop", "notify.sh",
    "notify.sh && codelens hook stop && beep", "codelens hook stop; beep",
    "codelens hook stop || beep", "codelens hook stop || true || beep", "true || true",
]  # fmt: skip


@pytest.mark.parametrize("command", MENTIONS)
def test_a_foreign_command_in_a_codelens_element_stays(scratch: Scratch, command: str) -> None:
    file = file_of(scratch, "claude-code")
    scratch.install("claude-code", hooks=True)
    settings = json.loads(file.read_text())
    theirs = {"type": "command", "command": command}
    settings["hooks"]["Stop"][0]["hooks"].append(theirs)
    settings["hooks"]["SessionStart"].insert(0, {"hooks": [theirs]})
    file.write_text(json.dumps(settings))
    for _ in range(2):
        assert not problems(scratch.install("claude-code", hooks=True))
        now = [one["command"] for element in events(file)["Stop"] for one in element["hooks"]]
        assert sorted(now) == sorted([command, f'"{COMMAND}" hook stop'])
    assert not problems(scratch.uninstall("claude-code"))
    left = {event: elements for event, elements in events(file).items() if elements}
    assert left == {"Stop": [{"hooks": [theirs]}], "SessionStart": [{"hooks": [theirs]}]}


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_an_upgrade_elsewhere_renews_the_command_unasked(scratch: Scratch, name: str) -> None:
    scratch.install(name, hooks=True)
    scratch.install(name, command="/new/bin/codelens")
    text = json.dumps(events(file_of(scratch, name)))
    assert "/new/bin/codelens" in text and COMMAND not in text
    scratch.uninstall(name)
    assert not any(b"codelens" in (data or b"") for data in scratch.everything().values())


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_without_the_ledger_hooks_that_run_codelens_are_removed(
    scratch: Scratch, name: str
) -> None:
    file = file_of(scratch, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(FOREIGN[name])
    scratch.install(name, hooks=True)
    (scratch.kept / "install.json").unlink()
    assert not problems(scratch.uninstall(name))
    assert COMMAND not in file.read_text() and "hook prompt" not in file.read_text().replace(
        "mine hook prompt", ""
    )


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_files_that_cannot_be_edited_safely_are_left_alone(scratch: Scratch, name: str) -> None:
    event = next(iter(hosts()[name].hooks.events))  # type: ignore[union-attr]
    file = file_of(scratch, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    for text in (f'{{"hooks": {{"{event}": 3}}}}', '{"hooks": []}', '{"hooks": '):
        file.write_text(text)
        assert problems(scratch.install(name, hooks=True))
        assert file.read_text() == text


def test_a_project_names_the_bare_command(scratch: Scratch, tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    for name in ("claude-code", "codex", "gemini", "qwen", "cursor"):
        scratch.install(name, root=root, hooks=True, command="codelens")
        text = json.dumps(events(file_of(scratch, name, root)))
        assert '"codelens hook prompt"' in text and str(scratch.home) not in text
    assert [host.name for host in can_hook(list(hosts().values()), "project")] == [
        "claude-code", "codex", "cursor", "gemini", "qwen",
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["/a b/codelens", "/a$HOME/`x`/codelens", '/a"b\\c/codelens'])
def test_a_shell_takes_a_quoted_path_as_it_is(scratch: Scratch, path: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"printf %s {quoted(path, scratch.machine)}"], capture_output=True, text=True
    )
    assert done.stdout == path


def test_windows_paths_keep_no_backslash() -> None:
    machine = Machine("windows", PureWindowsPath("C:/Users/me"), {})
    path = "C:\\Program Files\\codelens.exe"
    assert quoted(path, machine) == '"C:/Program Files/codelens.exe"'


def test_the_home_goes_with_the_command(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, CODELENS_HOME="/data/my lens")
    scratch.install("claude-code", hooks=True)
    said = events(file_of(scratch, "claude-code"))["Stop"][0]["hooks"][0]["command"]
    assert said == f'"{COMMAND}" hook stop --home "/data/my lens"'


def test_copilot_edits_although_codelens_is_gone(scratch: Scratch) -> None:
    scratch.install("copilot-cli", hooks=True, command="/gone/bin/codelens")
    (element,) = events(file_of(scratch, "copilot-cli"))["preToolUse"]
    done = subprocess.run(["bash", "-c", element["bash"]], capture_output=True)
    assert done.returncode == 0 and not done.stdout


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_every_kind_of_session_start_gets_the_text(scratch: Scratch, name: str) -> None:
    """Hosts add more sources, such as `fork`; a matcher would leave them out."""
    scratch.install(name, hooks=True)
    starts = [elements for event, elements in events(file_of(scratch, name)).items()
              if event.lower() == "sessionstart"]  # fmt: skip
    assert starts and "matcher" not in starts[0][0]


def test_each_hook_has_a_time_limit_and_names_an_event(scratch: Scratch) -> None:
    for name in WITH_HOOKS:
        scratch.install(name, hooks=True)
        for event, elements in events(file_of(scratch, name)).items():
            (element,) = elements
            (inner,) = element.get("hooks", [element])
            limit = inner.get("timeout", inner.get("timeoutSec"))
            assert limit in {5, 10, 5000, 10000}, (name, event)
            command = inner.get("command") or inner["bash"]
            assert shlex.split(command)[1:3][1] in HOOK_EVENTS
