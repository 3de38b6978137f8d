"""Decides which edits a host needs in which files, for the user or a project."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import NamedTuple, cast

from codelens.hosts import host_files
from codelens.hosts.formats.config_values import Value
from codelens.hosts.formats.entry_edits import OWN_FILE, Block, Edit, Entry, Flags, Items, Whole
from codelens.hosts.formats.hook_edits import Hooks
from codelens.hosts.host_descriptor import Commands, HookFile, Host, Machine, filled
from codelens.paths import shipped

HOOK_EVENTS = ("prompt", "session-start", "stop", "before-edit", "after-tool", "before-compact")
"""The events that `codelens hook` answers."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One edit to one file, for one host."""

    host: str
    path: Path
    edit: Edit


class HttpAccess(NamedTuple):
    """A running server on this machine, and its token."""

    url: str
    token: str


@dataclass(frozen=True, slots=True)
class Request:
    """The options of an install or uninstall.

    Attributes:
        machine: the machine to configure.
        scope: `user` or `project`.
        root: the project's root; None in the user scope.
        command: the program that hosts start.
        approve: whether read-only tools may run without asking.
        hooks: whether hosts call codelens at their events.
        branches: whether the server also lists the tools for branches.
        http: a server that hosts ask over HTTP, instead of starting one.
    """

    machine: Machine
    scope: str
    root: Path | None
    command: str
    approve: bool = False
    hooks: bool = False
    branches: bool = False
    http: HttpAccess | None = None

    @property
    def label(self) -> str:
        """The scope's name in the ledger."""
        return "user" if self.root is None else str(self.root)


@cache
def read_only_tools(*, branches: bool = False) -> tuple[str, ...]:
    """The read-only tools, which approvals name.

    Args:
        branches: whether to include the tools for branches.
    """
    data = tomllib.loads((shipped("install") / "tools.toml").read_text("utf-8"))
    names = cast("list[str]", data["read_only"])
    return (*names, *cast("list[str]", data["branches"])) if branches else tuple(names)


def entry_of(host: Host, request: Request) -> Entry:
    """The MCP entry of a host."""
    server = host.server
    home = request.machine.environ.get("CODELENS_HOME")
    # A host that was not started from this shell would not see the variable, and would create
    # another index elsewhere. A project's file must not contain the path of one user.
    variables: dict[str, Value] = {}
    if home and request.scope == "user":
        variables["CODELENS_HOME"] = os.path.abspath(Path(home).expanduser())
    if request.branches:
        variables["CODELENS_TOOLS"] = "core,branches"
    tools = read_only_tools(branches=request.branches)
    holes: dict[str, Value] = {
        "{command}": request.command,
        "{args}": ["serve"],
        "{env}": variables or None,
        "{tools}": list(tools),
    }

    def made(value: Value) -> dict[str, Value]:
        return cast("dict[str, Value]", filled(value, holes, tools))

    if request.http is not None:
        holes |= {"{url}": request.http.url, "{authorization}": f"Bearer {request.http.token}"}
    return Entry(
        format=server.format,
        keys=server.keys,
        command=request.command,
        launch=made(server.launch if request.http is None else server.http),
        # Keys about starting a server; hosts may reject them together with a URL.
        extras=made(server.extras) if request.http is None else {},
        approvals=made(server.approvals) if request.approve else {},
        also=server.also,
    )


def wishes(host: Host, request: Request) -> list[Wish]:
    """All edits for a host; empty if it has no files in this scope.

    Raises:
        NotRead: symbolic links form a loop.
    """
    machine, scope, root = request.machine, request.scope, request.root

    def wish(path: PurePath | None, edit: Edit) -> list[Wish]:
        return [] if path is None else [Wish(host.name, host_files.real(Path(path)), edit)]

    def place(folder: PurePath | None, *parts: str) -> PurePath | None:
        return None if folder is None else folder.joinpath(*parts)

    all_wishes = wish(host.server.where.pick(machine, scope, root), entry_of(host, request))
    if not all_wishes:
        return []
    all_wishes += _approvals(host, request)
    hooks = host.hooks
    if hooks is not None and request.hooks:
        all_wishes += wish(hooks.where.pick(machine, scope, root), hooks_of(hooks, request))
    skills = host.skills.pick(machine, scope, root)
    all_wishes += wish(place(skills, "codelens", "SKILL.md"), Whole("skill", skill()))
    if host.commands is not None:
        folder = host.commands.where.pick(machine, scope, root)
        for name, text in command_files(host.commands).items():
            all_wishes += wish(place(folder, name), Whole("command", text))
    all_wishes += wish(host.instructions.pick(machine, scope, root), Block(instructions()))
    return all_wishes


def _approvals(host: Host, request: Request) -> list[Wish]:
    approval = host.approval
    if approval is None or not request.approve:
        return []
    path = approval.where.pick(request.machine, request.scope, request.root)
    if path is None:
        return []
    tools, edit = read_only_tools(branches=request.branches), None
    if approval.items:
        items = cast("list[str]", filled(approval.items, {}, tools))
        edit = Items(approval.format, approval.keys, tuple(items))
    else:
        values = cast("dict[str, Value]", filled(approval.values, {}, tools))
        edit = Flags(approval.format, approval.keys, values)
    return [Wish(host.name, host_files.real(Path(path)), edit)]


def hooks_of(hooks: HookFile, request: Request) -> Hooks:
    """The hooks of a host; they run the same program as its entry."""
    home = request.machine.environ.get("CODELENS_HOME")
    event_text = ""
    if home and request.scope == "user":
        event_text = f" --home {quoted(os.path.abspath(Path(home).expanduser()), request.machine)}"
    program = request.command if request.scope == "project" else quoted(
        request.command, request.machine
    )  # fmt: skip
    holes = {f"{{hook {event}}}": f"{program} hook {event}{event_text}" for event in HOOK_EVENTS}
    events = {event: _with_commands(value, holes) for event, value in hooks.events.items()}
    return Hooks(hooks.format, hooks.keys, dict(hooks.base), events)


def _with_commands(element: Value, commands: Mapping[str, str]) -> Value:
    """An element whose placeholders, which may be parts of strings, are replaced by commands."""
    if isinstance(element, str):
        for hole, command in commands.items():
            element = element.replace(hole, command)
        return element
    if isinstance(element, list):
        return [_with_commands(value, commands) for value in element]
    if isinstance(element, dict):
        return {key: _with_commands(value, commands) for key, value in element.items()}
    return element


def quoted(path: str, machine: Machine) -> str:
    """A path, quoted for the shells in which hosts run hooks.

    On Windows that may be Git Bash, which removes backslashes.
    """
    if machine.system == "windows":
        return '"' + path.replace("\\", "/") + '"'
    return '"' + re.sub(r'(["$`\\])', r"\\\1", path) + '"'


def can_hook(chosen: Sequence[Host], scope: str) -> list[Host]:
    """The hosts that support hooks in this scope."""
    return [host for host in chosen if host.hooks and scope in host.hooks.where.by_scope]


def can_ask_over_http(chosen: Sequence[Host]) -> list[Host]:
    """The hosts whose entry can contain the URL of a server."""
    return [host for host in chosen if host.server.http]


def can_approve(chosen: Sequence[Host]) -> list[Host]:
    """The hosts whose configuration can allow tools to run without asking."""
    return [host for host in chosen if host.approval is not None or host.server.approvals]


@cache
def skill() -> str:
    """The skill, which is the same for all hosts."""
    return (shipped("install") / "skill" / "SKILL.md").read_text("utf-8")


@cache
def instructions() -> str:
    """The lines for an instructions file."""
    return (shipped("install") / "instructions.md").read_text("utf-8")


def command_files(commands: Commands) -> dict[str, str]:
    """The slash commands by file name, in the host's form."""
    data = tomllib.loads((shipped("install") / "commands.toml").read_text("utf-8"))
    written = {"markdown": ("md", _as_markdown), "toml": ("toml", _as_toml)}
    suffix, write = written[commands.form]
    return {
        f"{name}.{suffix}": write(
            command["description"],
            command["body"].replace("{arguments}", commands.arguments).rstrip(),
        )
        for name, command in data.items()
    }


def _as_markdown(description: str, body: str) -> str:
    return f"---\ndescription: {description}\n---\n\n{body}\n\n<!-- {OWN_FILE} -->\n"


def _as_toml(description: str, body: str) -> str:
    quoted_description = json.dumps(description, ensure_ascii=False)
    return f"# {OWN_FILE}\ndescription = {quoted_description}\nprompt = '''\n{body}\n'''\n"
