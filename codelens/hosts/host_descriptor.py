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
            return [machine.expand(template) for template in templates]
        assert root is not None, "the project scope has a root"
        return [root / template for template in templates]

    def pick(self, machine: Machine, scope: str, root: PurePath | None) -> PurePath | None:
        """The candidate that exists, else the last one."""
        locations = self.candidates(machine, scope, root)
        existing = (location for location in locations[:-1] if Path(location).exists())
        return next(existing, locations[-1] if locations else None)


@dataclass(frozen=True, slots=True)
class Server:
    """The MCP entry: its file, its place in it, and what it holds.

    `http` is the whole entry for a server that is asked over HTTP; empty where the host has none.
    """

    where: Locations
    format: str
    keys: Keys
    launch: Value
    http: dict[str, Value]
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
        if any(machine.has_program(program) for program in self.programs):
            return True
        return any(
            Path(candidate).exists() for candidate in self.traces.candidates(machine, "user", None)
        )


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
    for word in (name.strip() for name in names.split(",") if name.strip()):
        if word == "all":
            chosen |= known
        elif word == "detected":
            chosen |= {name: host for name, host in known.items() if host.is_here(machine)}
        elif word in known:
            chosen[word] = known[word]
        else:
            near = difflib.get_close_matches(word, [*known, "all", "detected"], 2, 0.6)
            suggestion = f"did you mean {' or '.join(near)}? " if near else ""
            raise SettingError(
                f"unknown host {word!r}; {suggestion}the hosts are {', '.join(known)}, all and "
                "detected"
            )
    return [known[name] for name in sorted(chosen)]


def _host(name: str, data: dict[str, Any]) -> Host:
    server, approval = data["server"], data.get("approval")
    commands, listing = data.get("commands"), data.get("list")
    return Host(
        name=name,
        title=data["title"],
        programs=tuple(data.get("programs", ())),
        traces=_locations({"user": data.get("traces", [])}),
        server=Server(
            where=_locations(server),
            format=server["format"],
            keys=(*server["keys"], "codelens"),
            launch=server["launch"],
            http=server.get("http", {}),
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
        instructions=_locations(data.get("instructions", {})),
        skills=_locations(data.get("skills", {})),
        commands=commands
        and Commands(_locations(commands), commands["form"], commands["arguments"]),
        listing=listing and _listing(listing),
        hooks=_hooks(data["hooks"]) if "hooks" in data else None,
        todo=data.get("todo", {}),
    )


def _listing(data: dict[str, Any]) -> Listing:
    return Listing(tuple(data["run"]), data["healthy"], data.get("waiting", ""), data["connects"])


def _hooks(data: dict[str, Any]) -> HookFile:
    return HookFile(
        where=_locations(data),
        format=data["format"],
        keys=tuple(data["keys"]),
        base=data.get("base", {}),
        events=data["events"],
        todo=data.get("todo", ""),
    )


def _locations(data: dict[str, Any]) -> Locations:
    return Locations({scope: _by_system(data[scope]) for scope in SCOPES if scope in data})


def _by_system(
    location: str | list[str] | dict[str, str | list[str]],
) -> dict[str, tuple[str, ...]]:
    if not isinstance(location, dict):
        location = dict.fromkeys(("linux", "macos", "windows"), location)
    return {
        system: (value,) if isinstance(value, str) else tuple(value)
        for system, value in location.items()
    }


def filled(value: Value, holes: Mapping[str, Value], tools: tuple[str, ...]) -> Value:
    """`value` with what is written in braces put in.

    `{command}` and `{args}` come from `holes` (a list inside a list is spliced into it, and a key
    whose hole is None is left out); a string or a key with `{tool}` stands for one for each tool.
    """
    if isinstance(value, str):
        return holes.get(value, value)
    if isinstance(value, list):
        fresh: list[Value] = []
        for part in value:
            if isinstance(part, str) and "{tool}" in part:
                fresh += [part.replace("{tool}", tool) for tool in tools]
                continue
            filled_part = filled(part, holes, tools)
            fresh += filled_part if isinstance(filled_part, list) else [filled_part]
        return fresh
    if isinstance(value, dict):
        named_by_tool = {
            key.replace("{tool}", tool): part
            for key, part in value.items()
            for tool in (tools if "{tool}" in key else ("",))
        }
        filled_in = {key: filled(part, holes, tools) for key, part in named_by_tool.items()}
        return cast("Value", {key: part for key, part in filled_in.items() if part is not None})
    return value
