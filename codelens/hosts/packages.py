"""Generates the plugins, extensions and bundles of codelens, which hosts install in one step.

They use the same tables as `codelens install` (`install/hosts/`, `commands.toml`, `tools.toml`). A
package does not know where the program is, so it starts `codelens` from the PATH, except for the
bundle, which contains the program.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from importlib.metadata import metadata
from pathlib import Path, PurePosixPath

from codelens.errors import CodelensError, SettingError
from codelens.hosts.desired_edits import (
    Request,
    command_files,
    entry_of,
    hooks_of,
    instructions,
    read_only_tools,
    skill,
)
from codelens.hosts.host_descriptor import Machine, hosts
from codelens.paths import shipped

NAME = "codelens"
FOLDER = PurePosixPath("install/plugins")
ABOUT = "Code search true for the branch and worktree, as ranked handles that are read one by one"
KEYWORDS = ("code search", "git", "mcp", "hooks")
HOOKS_ABOUT = "Adds your earlier requests to each prompt; keeps the session trail."
BUNDLE_FORMAT = "0.4"
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_PLUGIN_TOOLS = f"mcp__plugin_{NAME}_{NAME}__"
"""The prefix of tools of a plugin's server in Claude Code; `mcp__codelens__` for an entry."""

Files = dict[str, str]
"""Texts by path, relative to a package's folder or to the checkout."""


def package_files() -> Files:
    """All generated files, by path in the checkout."""
    version = metadata(NAME)["Version"]
    packages = {
        "claude-code": _claude_code(version),
        "codex": _codex(version),
        "gemini": _gemini(version),
        "opencode": _opencode(),
        "mcpb": _bundle(version),
    }
    files = {
        str(FOLDER / package / path): text
        for package, texts in packages.items()
        for path, text in texts.items()
    }
    return files | {
        ".claude-plugin/marketplace.json": _claude_code_marketplace(version),
        ".agents/plugins/marketplace.json": _codex_marketplace(),
    }


def registry_entry(namespace: str) -> str:
    """The `server.json` of the MCP registry, for the release that is on PyPI.

    Args:
        namespace: a namespace that the registry has verified, such as `io.github.someone`.

    Raises:
        SettingError: this is not a namespace.
    """
    if "." not in namespace or "/" in namespace:
        raise SettingError(
            f"{namespace!r} is not a namespace of the MCP registry; give one such as io.github.NAME"
        )
    version = metadata(NAME)["Version"]
    package = {
        "registryType": "pypi",
        "identifier": NAME,
        "version": version,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "serve"}],
    }
    return _json(
        {
            "$schema": REGISTRY_SCHEMA,
            "name": f"{namespace}/{NAME}",
            "description": ABOUT,
            "version": version,
            "packages": [package],
        }
    )


def _claude_code(version: str) -> Files:
    hooks = json.loads(_hooks("claude-code"))
    for element in hooks["hooks"]["PostToolUse"]:
        element["matcher"] = element["matcher"].replace(f"mcp__{NAME}__", _PLUGIN_TOOLS)
    return {
        ".claude-plugin/plugin.json": _json(_about(version)),
        ".mcp.json": _servers("claude-code"),
        "hooks/hooks.json": _json(hooks),
        **_skill(),
        **_commands("claude-code"),
    }


def _codex(version: str) -> Files:
    about = {**_about(version), "skills": "./skills/", "mcpServers": "./.mcp.json"}
    return {
        ".codex-plugin/plugin.json": _json(about),
        ".mcp.json": _servers("codex"),
        "hooks/hooks.json": _hooks("codex"),
        **_skill(),
    }


def _gemini(version: str) -> Files:
    about = {
        "name": NAME,
        "version": version,
        "description": ABOUT,
        "mcpServers": json.loads(_servers("gemini"))["mcpServers"],
        "contextFileName": "GEMINI.md",
    }
    return {
        "gemini-extension.json": _json(about),
        "GEMINI.md": instructions(),
        "hooks/hooks.json": _hooks("gemini"),
        **_skill(),
        **_commands("gemini"),
    }


def _opencode() -> Files:
    """A folder for `OPENCODE_CONFIG_DIR`."""
    entry = entry_of(hosts()["opencode"], _request())
    return {
        "opencode.json": _json(
            {
                "$schema": "https://opencode.ai/config.json",
                "mcp": {NAME: {**entry.launch, **entry.extras}},
            }
        ),
        **_skill(),
        **_commands("opencode"),
    }


def _bundle(version: str) -> Files:
    """The input of `mcpb pack`, which also needs a wheel of this version."""
    start = ["run", "--directory", "${__dirname}", NAME, "serve", "--root", "${user_config.root}"]
    manifest = {
        "manifest_version": BUNDLE_FORMAT,
        "name": NAME,
        "version": version,
        "description": ABOUT,
        "author": {"name": NAME},
        "license": "MIT",
        "keywords": [*KEYWORDS[:3]],
        "server": {
            "type": "uv",
            "entry_point": "pyproject.toml",
            "mcp_config": {"command": "uv", "args": start},
        },
        "tools": [{"name": tool} for tool in read_only_tools()],
        "tools_generated": True,
        "user_config": {
            "root": {
                "type": "directory",
                "title": "Worktree",
                "description": "The git worktree that is asked about if a question names none",
                "required": False,
            }
        },
        "compatibility": {"platforms": ["darwin", "linux", "win32"]},
    }
    project = (
        f'[project]\nname = "{NAME}-bundle"\nversion = "{version}"\n'
        f'requires-python = "{metadata(NAME)["Requires-Python"]}"\n'
        f'dependencies = ["{NAME}=={version}"]\n\n'
        f'[tool.uv.sources]\n{NAME} = {{ path = "{NAME}-{version}-py3-none-any.whl" }}\n'
    )
    return {"manifest.json": _json(manifest), "pyproject.toml": project}


def _claude_code_marketplace(version: str) -> str:
    plugin = {
        "name": NAME,
        "source": f"./{FOLDER / 'claude-code'}",
        "description": ABOUT,
        "version": version,
    }
    return _json({"name": NAME, "description": ABOUT, "owner": {"name": NAME}, "plugins": [plugin]})


def _codex_marketplace() -> str:
    plugin = {
        "name": NAME,
        "source": {"source": "local", "path": f"./{FOLDER / 'codex'}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Developer Tools",
    }
    return _json({"name": NAME, "plugins": [plugin]})


def _about(version: str) -> dict[str, object]:
    return {
        "name": NAME,
        "version": version,
        "description": ABOUT,
        "author": {"name": NAME},
        "license": "MIT",
        "keywords": list(KEYWORDS),
    }


def _request() -> Request:
    """The request of a project: its files contain no path of a user."""
    machine = Machine("linux", PurePosixPath("/"), {})
    return Request(machine, "project", Path("/"), NAME)


def _servers(host_name: str) -> str:
    entry = entry_of(hosts()[host_name], _request())
    return _json({"mcpServers": {NAME: {**entry.launch, **entry.extras}}})


def _hooks(host_name: str) -> str:
    hooks = hosts()[host_name].hooks
    assert hooks is not None
    events = hooks_of(hooks, _request()).events
    elements = {event: [element] for event, element in events.items()}
    return _json({"description": HOOKS_ABOUT, "hooks": elements})


def _skill() -> Files:
    return {f"skills/{NAME}/SKILL.md": skill()}


def _commands(host_name: str) -> Files:
    commands = hosts()[host_name].commands
    assert commands is not None
    return {f"commands/{file}": text for file, text in command_files(commands).items()}


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def write(checkout: Path) -> list[str]:
    """Write all files into a checkout; return the paths of obsolete files of packages."""
    files = package_files()
    for path, text in files.items():
        file = checkout / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="\n")
    folder = checkout / FOLDER
    there = {file.relative_to(checkout).as_posix() for file in folder.rglob("*") if file.is_file()}
    return sorted(there - files.keys())


# In a checkout, `python -m codelens.hosts.packages` writes the packages; with
# `--registry NAMESPACE`, it prints the entry of the MCP registry instead.


def main(arguments: list[str]) -> int:
    """Write the packages or print the entry; return 2 on an error."""
    parser = argparse.ArgumentParser(prog="python -m codelens.hosts.packages", description=__doc__)
    parser.add_argument("--registry", metavar="NAMESPACE")
    namespace = parser.parse_args(arguments).registry
    if namespace is None:
        checkout = shipped("install").parent
        for path in write(checkout):
            (checkout / path).unlink()
        return 0
    try:
        sys.stdout.write(registry_entry(namespace))
    except CodelensError as error:
        sys.stderr.write(f"codelens: error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
