"""Each host: its paths on each system, and its file before and after install and uninstall.

`golden/HOST.txt` has the expected files; `python tests/hosts/test_golden.py` rewrites it, for
review in a diff before a commit.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import replace
from pathlib import Path, PureWindowsPath

import pytest
from ruamel.yaml import YAML

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from codelens.hosts.desired_edits import HttpAccess, Request, entry_of
from codelens.hosts.formats.config_values import at
from codelens.hosts.formats.entry_edits import snippet
from codelens.hosts.host_descriptor import SCOPES, Host, Machine, hosts

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(file.stem for file in GOLDEN.glob("*.txt"))
WINDOWS = r"C:\Users\Zoë Ng\.local\bin\codelens.exe"
ACCESS = HttpAccess("http://127.0.0.1:3100/mcp", "the-token-of-this-home")
SYSTEMS = {
    "linux": Machine("linux", Path("/home/zoe"), {}),
    "macos": Machine("macos", Path("/Users/zoe"), {}),
    "windows": Machine(
        "windows",
        PureWindowsPath(r"C:\Users\Zoë Ng"),
        {
            "APPDATA": r"C:\Users\Zoë Ng\AppData\Roaming",
            "LOCALAPPDATA": r"C:\Users\Zoë Ng\AppData\Local",
        },
    ),
}


def commented(host: Host) -> str:
    """A configuration as a person writes it, in the host's format."""
    key = host.server.keys[0]
    if host.server.format == "toml":
        return (
            "# my settings\nmodel = 'x'   # the good one\n\n"
            f"[{key}.files]  # mine\ncommand = 'C:\\bin\\files.exe'\nargs = [\n"
            "  'a', # first\n]\n\n"
            f"[{key}.files.env]\nTOKEN = '${{TOKEN}}'\n\n"
            "# what follows is about profiles\n[profiles.fast]\nmodel = 'y'\n"
        )
    if host.server.format == "yaml":
        return (
            f"# my settings\nname: zoe   # me\n\n{key}:\n  # files of mine\n  files:\n"
            "    enabled: true\n    cmd: /bin/files  # mine\n    args:\n      - 'a'\n\n"
            '# the end\nlast: "x: y"\n'
        )
    if host.server.format == "yaml-list":
        return (
            f"# my settings\nname: zoe   # me\n{key}:\n  # files of mine\n  - name: files\n"
            "    command: /bin/files  # mine\n    args:\n      - 'a'\n\nmodels:\n  - name: m\n"
            "# the end\n"
        )
    if host.server.format == "json":  # strict: the oddest layout that JSON allows
        return (
            f'{{\r\n\t"numStartups": 7,\r\n\t"{key}": {{\r\n\t\t"files": {{"command": "files", '
            '"env": {"TOKEN": "\\u00e9"}}\r\n\t},\r\n\t"tips":   {"a" :1}\r\n}'
        )
    return (
        "\ufeff// my settings\n{\n    // appearance\n    \"theme\": \"dark\", // at night\n"
        f"    \"{key}\": {{\n        /* files of mine */\n"
        "        \"files\": { \"command\": \"files\", \"args\": [\"a\"] }, // works\n"
        "        // \"old\": { \"command\": \"old\" },\n    },\n    \"last\": [1, 2,],\n}\n"
    )  # fmt: skip


def typical(host: Host) -> str:
    """A configuration as the host's own command writes it."""
    key = host.server.keys[0]
    if host.server.format == "toml":
        return f'[{key}.files]\ncommand = "files"\nargs = ["a"]\n'
    if host.server.format == "yaml":
        return f"{key}:\n  files:\n    cmd: files\n    enabled: true\n"
    if host.server.format == "yaml-list":
        return f"name: zoe\n{key}:\n- name: files\n  command: files\n"
    return f'{{\n  "{key}": {{\n    "files": {{\n      "command": "files"\n    }}\n  }}\n}}\n'


def cases(host: Host) -> dict[str, str]:
    return {"nothing": "", "typical": typical(host), "commented": commented(host)}


def paths_of(host: Host) -> list[str]:
    lines: list[str] = []
    places = {"entry": host.server.where, "approval": host.approval and host.approval.where,
              "instructions": host.instructions, "skills": host.skills,
              "commands": host.commands and host.commands.where}  # fmt: skip
    for what, where in places.items():
        for scope in SCOPES:
            for system, machine in SYSTEMS.items():
                root = machine.expand("~/repo")
                for path in where.candidates(machine, scope, root) if where else ():
                    lines.append(f"{what} {scope} {system}: {path}")
    return lines


def golden(host: Host) -> str:
    """All visible results for a host."""
    parts = ["\n".join(paths_of(host))]
    for system in ("linux", "windows"):
        machine = SYSTEMS[system]
        command = WINDOWS if system == "windows" else "/home/zoe/.local/bin/codelens"
        request = Request(machine, "user", None, command, approve=True)
        parts.append(f"-- new and approved, {system}\n{snippet(entry_of(host, request))}")
    if host.server.http:
        over_http = replace(request, http=ACCESS)
        parts.append(f"-- new and approved, over HTTP\n{snippet(entry_of(host, over_http))}")
    request = Request(SYSTEMS["linux"], "user", None, "/home/zoe/.local/bin/codelens")
    for name, before in cases(host).items():
        after = entry_of(host, request).put(before.removeprefix("\ufeff"))
        parts.append(f"-- {name}: before\n{before}")
        parts.append(f"-- {name}: after\n{after}")
    return "\n\n".join(parts).replace("\r\n", "<CR>\n").replace("\ufeff", "<BOM>")


def test_every_host_has_golden_files() -> None:
    assert sorted(hosts()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_host_writes_the_golden_files(name: str) -> None:
    assert golden(hosts()[name]) == (GOLDEN / f"{name}.txt").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("case", ["nothing", "typical", "commented"])
@pytest.mark.parametrize("name", NAMES)
def test_a_host_gets_its_file_back_to_the_byte(name: str, case: str, tmp_path: Path) -> None:
    from hosts.hosting import Scratch, problems

    scratch = Scratch(tmp_path)
    file = scratch.config(name)
    text = cases(hosts()[name])[case]
    if text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    before = scratch.everything()
    done = scratch.install(name, approve=True)
    assert not problems(done)
    assert all(change.is_change for change in done)
    middle = scratch.everything()
    assert not any(change.is_change for change in scratch.install(name, approve=True))
    assert scratch.everything() == middle
    assert not problems(scratch.uninstall(name))
    assert scratch.everything() == before
    assert not list((scratch.kept / "backups").glob("*"))


@pytest.mark.parametrize("name", NAMES)
def test_a_windows_path_survives_the_format(name: str) -> None:
    host = hosts()[name]
    entry = entry_of(host, Request(SYSTEMS["windows"], "user", None, WINDOWS))
    text = snippet(entry)
    if entry.format == "toml":
        document = tomllib.loads(text)
    else:  # JSON is YAML
        document = YAML(typ="safe", pure=True).load(text)
    if entry.format == "yaml-list":
        assert document[entry.keys[0]][0]["command"] == WINDOWS
        return
    found = at(document, entry.keys)
    assert WINDOWS in str(found).replace("\\\\", "\\")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, host in hosts().items():
        (GOLDEN / f"{name}.txt").write_text(golden(host), "utf-8", newline="")
