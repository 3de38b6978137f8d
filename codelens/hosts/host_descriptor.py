"""What a host wants, read from `install/hosts/NAME.toml`; docs/hosts.md explains the fields."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any, cast

from codelens.errors import SettingError
from codelens.hosts.formats.config_values import Keys, Value
from codelens.hosts.machine import Machine
from codelens.paths import shipped

SCOPES = ("user", "project")


@dataclass(frozen=True, slots=True)
class Locations:
    """Where something stands: templates by scope and system, the first that exists counts."""

    by_scope: Mapping[str, Mapping[str, tuple[str, ...]]]

    def candidates(self, machine: Machine, scope: str, root: PurePath | None) -> list[PurePath]:
        """The paths that may be meant; none where the host has no such place."""
        templates = self.by_scope.get(scope, {}).get(machine.system, ())
        if scope == "user":
            return [machine.expand(one) for one in templates]
        assert root is not None, "the project scope has a root"
        return [root / one for one in templates]

    def pick(self, machine: Machine, scope: str, root: PurePath | None) -> PurePath | None:
        """The candidate that exists, else the last one."""
        found = self.candidates(machine, scope, root)
        existing = (one for one in found[:-1] if Path(one).exists())
        return next(existing, found[-1] if found else None)


@dataclass(frozen=True, slots=True)
class Server:
    """The MCP entry: its file, its place in it, and what it holds."""

    where: Locations
    format: str
    keys: Keys
    launch: Value
    extras: Value
    approvals: Value
    also: tuple[Keys, ...]


@dataclass(frozen=True, slots=True)
class Approval:
    """Permissions that stand outside the entry: a list of strings, or keys with values."""

    where: Locations
    format: str
    keys: Keys
    items: Value
    values: Value


@dataclass(frozen=True, slots=True)
class HookFile:
    """What a host runs at its events: its file, and the element for each event.

    Attributes:
        where: the file.
        format: as `format_of` takes it.
        keys: where the events stand.
        base: keys that the file must have beside them.
        events: the element by event; `{hook EVENT}` stands for the command.
        todo: what the user still has to do, such as trusting them.
    """

    where: Locations
    format: str
    keys: Keys
    base: Mapping[str, Value]
    events: Mapping[str, Value]
    todo: str


@dataclass(frozen=True, slots=True)
class Commands:
    """A folder of slash commands, and how they are written."""

    where: Locations
    form: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The host's own command that lists servers.

    Attributes:
        run: the command.
        healthy: a pattern for the line of a server that is seen.
        waiting: a pattern for a server that the user still has to trust or approve.
        connects: whether the command starts the server, or reads the configuration alone.
    """

    run: tuple[str, ...]
    healthy: str
    waiting: str
    connects: bool


@dataclass(frozen=True, slots=True)
class Host:
    """One coding agent."""

    name: str
    title: str
    programs: tuple[str, ...]
    traces: Locations
    server: Server
    approval: Approval | None
    instructions: Locations
    skills: Locations
    commands: Commands | None
    listing: Listing | None
    hooks: HookFile | None
    todo: Mapping[str, str]

    def is_here(self, machine: Machine) -> bool:
        """Whether the host shows on this machine: its command, or something it keeps."""
        if any(machine.has_program(one) for one in self.programs):
            return True
        return any(Path(one).exists() for one in self.traces.candidates(machine, "user", None))


@cache
def hosts() -> dict[str, Host]:
    """All hosts by name."""
    files = sorted((shipped("install") / "hosts").glob("*.toml"))
    return {file.stem: _host(file.stem, tomllib.loads(file.read_text("utf-8"))) for file in files}


def named(names: str, machine: Machine) -> list[Host]:
    """The hosts that `--host` means: `all`, `detected`, or names with commas between.

    Raises:
        SettingError: there is no such host.
    """
    known = hosts()
    chosen: dict[str, Host] = {}
    for word in (one.strip() for one in names.split(",") if one.strip()):
        if word == "all":
            chosen |= known
        elif word == "detected":
            chosen |= {name: host for name, host in known.items() if host.is_here(machine)}
        elif word in known:
            chosen[word] = known[word]
        else:
            near = difflib.get_close_matches(word, [*known, "all", "detected"], 2, 0.6)
            meant = f"did you mean {' or '.join(near)}? " if near else ""
            raise SettingError(
                f"unknown host {word!r}; {meant}the hosts are {', '.join(known)}, all and detected"
            )
    return [known[name] for name in sorted(chosen)]


def _host(name: str, said: dict[str, Any]) -> Host:
    server, approval = said["server"], said.get("approval")
    commands, listing = said.get("commands"), said.get("list")
    return Host(
        name=name,
        title=said["title"],
        programs=tuple(said.get("programs", ())),
        traces=_locations({"user": said.get("traces", [])}),
        server=Server(
            where=_locations(server),
            format=server["format"],
            keys=(*server["keys"], "codelens"),
            launch=server["launch"],
            extras=server.get("extras", {}),
            approvals=server.get("approvals", {}),
            also=tuple((*keys, "codelens") for keys in server.get("also", ())),
        ),
        approval=approval
        and Approval(
            where=_locations(approval),
            format=approval["format"],
            keys=tuple(approval["keys"]),
            items=approval.get("items", []),
            values=approval.get("values", {}),
        ),
        instructions=_locations(said.get("instructions", {})),
        skills=_locations(said.get("skills", {})),
        commands=commands
        and Commands(_locations(commands), commands["form"], commands["arguments"]),
        listing=listing and _listing(listing),
        hooks=_hooks(said["hooks"]) if "hooks" in said else None,
        todo=said.get("todo", {}),
    )


def _listing(said: dict[str, Any]) -> Listing:
    return Listing(tuple(said["run"]), said["healthy"], said.get("waiting", ""), said["connects"])


def _hooks(said: dict[str, Any]) -> HookFile:
    return HookFile(
        where=_locations(said),
        format=said["format"],
        keys=tuple(said["keys"]),
        base=said.get("base", {}),
        events=said["events"],
        todo=said.get("todo", ""),
    )


def _locations(said: dict[str, Any]) -> Locations:
    return Locations({scope: _by_system(said[scope]) for scope in SCOPES if scope in said})


def _by_system(said: str | list[str] | dict[str, str | list[str]]) -> dict[str, tuple[str, ...]]:
    if not isinstance(said, dict):
        said = dict.fromkeys(("linux", "macos", "windows"), said)
    return {system: (one,) if isinstance(one, str) else tuple(one) for system, one in said.items()}


def filled(value: Value, holes: Mapping[str, Value], tools: tuple[str, ...]) -> Value:
    """`value` with what is written in braces put in.

    `{command}` and `{args}` come from `holes` (a list inside a list is spliced into it, and a key
    whose hole is None is left out); a string or a key with `{tool}` stands for one for each tool.
    """
    if isinstance(value, str):
        return holes.get(value, value)
    if isinstance(value, list):
        fresh: list[Value] = []
        for one in value:
            if isinstance(one, str) and "{tool}" in one:
                fresh += [one.replace("{tool}", tool) for tool in tools]
                continue
            put = filled(one, holes, tools)
            fresh += put if isinstance(put, list) else [put]
        return fresh
    if isinstance(value, dict):
        named_by_tool = {
            key.replace("{tool}", tool): one
            for key, one in value.items()
            for tool in (tools if "{tool}" in key else ("",))
        }
        filled_in = {key: filled(one, holes, tools) for key, one in named_by_tool.items()}
        return cast("Value", {key: one for key, one in filled_in.items() if one is not None})
    return value
