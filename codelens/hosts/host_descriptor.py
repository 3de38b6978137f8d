"""Describes the hosts (`install/hosts/NAME.toml`), the machine, and entries that start codelens.

A path in a descriptor may start with `~` and contain `${NAME:-default}`. As for `XDG_CONFIG_HOME`,
the default is used if the variable is unset or not an absolute path, since a relative path would
depend on where the host was started.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any, cast

from codelens.errors import SettingError
from codelens.hosts.formats.config_values import Keys, Value
from codelens.hosts.host_files import NoLauncher
from codelens.paths import shipped

_VARIABLE = re.compile(r"\$\{([A-Z_]+):-([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with hosts.

    Attributes:
        system: `linux`, `macos` or `windows`.
        home: the user's home folder.
        environ: the environment variables.
    """

    system: str
    home: PurePath
    environ: Mapping[str, str]

    def expand(self, template: str) -> PurePath:
        """The path of a descriptor's template on this machine."""
        kind = PureWindowsPath if self.system == "windows" else PurePosixPath

        def value(match: re.Match[str]) -> str:
            variable = self.environ.get(match.group(1), "")
            return variable if variable and kind(variable).is_absolute() else match.group(2)

        text = _VARIABLE.sub(value, template)
        if text == "~" or text.startswith("~/"):
            return self.home / text[2:]
        return kind(text)

    def has_program(self, name: str) -> bool:
        """Whether a program of this name is on the PATH."""
        return shutil.which(name, path=self.environ.get("PATH")) is not None

    def shown(self, path: PurePath) -> str:
        """A path for messages, with `~` for the home folder."""
        try:
            return str("~" / path.relative_to(self.home))
        except ValueError:
            return str(path)


def this_machine() -> Machine:
    """The current machine."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    return Machine(system, Path.home(), dict(os.environ))


# Finds the command that hosts start: the absolute path of the installed console script.

_FLEETING = ("uv/archive-v", "uv/builds-v", "pipx/.cache", "pipx/venvs-cache")
"""Folders of temporary environments: `uvx`, `pipx run`."""


def launcher(command: str | None = None) -> str:
    """The absolute path of the `codelens` that hosts start.

    It prefers the shim on the PATH (of pipx or uv) to the script inside the environment, and does
    not follow links, because the shim survives an upgrade of Python.

    Args:
        command: a program that the user names instead.

    Raises:
        NoLauncher: the program does not exist, or is in a temporary environment.
    """
    if command is not None:
        located = shutil.which(command)
        if located is None:
            raise NoLauncher(f"--command {command!r} is not an executable program")
        return os.path.abspath(located)
    own = Path(sysconfig.get_path("scripts")) / ("codelens.exe" if os.name == "nt" else "codelens")
    on_path = shutil.which("codelens")
    chosen = Path(os.path.abspath(on_path)) if on_path and _same(Path(on_path), own) else own
    if not chosen.is_file():
        raise NoLauncher(
            f"codelens is not installed as a command in {sys.prefix}; install it (`pipx install .` "
            "or `uv tool install .`), or name one with --command"
        )
    if any(mark in own.as_posix() or mark in chosen.as_posix() for mark in _FLEETING):
        raise NoLauncher(
            f"{chosen} is in a temporary environment; "
            "run `uv tool install codelens` or `pipx install codelens` first"
        )
    return str(chosen)


def _same(left: Path, right: Path) -> bool:
    try:
        return left.resolve() == right.resolve() or left.read_bytes() == right.read_bytes()
    except OSError:
        return False


# Descriptors of hosts, read from `install/hosts/NAME.toml`; docs/hosts.md explains the fields.

SCOPES = ("user", "project")


@dataclass(frozen=True, slots=True)
class Locations:
    """Templates of a path by scope and system; the first one that exists is used."""

    by_scope: Mapping[str, Mapping[str, tuple[str, ...]]]

    def candidates(self, machine: Machine, scope: str, root: PurePath | None) -> list[PurePath]:
        """The possible paths; empty if the host has no such file."""
        templates = self.by_scope.get(scope, {}).get(machine.system, ())
        if scope == "user":
            return [machine.expand(template) for template in templates]
        assert root is not None, "the project scope has a root"
        return [root / template for template in templates]

    def pick(self, machine: Machine, scope: str, root: PurePath | None) -> PurePath | None:
        """The first candidate that exists, or else the last one."""
        locations = self.candidates(machine, scope, root)
        existing = (location for location in locations[:-1] if Path(location).exists())
        return next(existing, locations[-1] if locations else None)


@dataclass(frozen=True, slots=True)
class Server:
    """The MCP entry: its file, its place in the file, and its content.

    `http` is the whole entry for a server over HTTP; empty if the host does not support HTTP.
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
    """Permissions outside the entry: a list of strings, or keys with values."""

    where: Locations
    format: str
    keys: Keys
    items: Value
    values: Value


@dataclass(frozen=True, slots=True)
class HookFile:
    """The file with a host's hooks, and the element for each event.

    Attributes:
        where: the file.
        format: a format of `format_of`.
        keys: the keys of the events.
        base: other keys that the file must have.
        events: the element by event; `{hook EVENT}` stands for the command.
        todo: what the user still has to do, such as trusting the hooks.
    """

    where: Locations
    format: str
    keys: Keys
    base: Mapping[str, Value]
    events: Mapping[str, Value]
    todo: str


@dataclass(frozen=True, slots=True)
class Commands:
    """The folder and the form of slash commands."""

    where: Locations
    form: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The host's own command that lists servers.

    Attributes:
        run: the command.
        healthy: a pattern for the line of a server that the host accepts.
        waiting: a pattern for a server that the user still has to trust or approve.
        connects: whether the command starts the server, or only reads the configuration.
    """

    run: tuple[str, ...]
    healthy: str
    waiting: str
    connects: bool


@dataclass(frozen=True, slots=True)
class Host:
    """A coding agent."""

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
        """Whether the host is installed on this machine: its command or its files exist."""
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
    """The hosts that `--host` selects: `all`, `detected`, or comma-separated names.

    Raises:
        SettingError: a name is unknown.
    """
    by_name = hosts()
    chosen: dict[str, Host] = {}
    for word in (name.strip() for name in names.split(",") if name.strip()):
        if word == "all":
            chosen |= by_name
        elif word == "detected":
            chosen |= {name: host for name, host in by_name.items() if host.is_here(machine)}
        elif word in by_name:
            chosen[word] = by_name[word]
        else:
            near = difflib.get_close_matches(word, [*by_name, "all", "detected"], 2, 0.6)
            suggestion = f"did you mean {' or '.join(near)}? " if near else ""
            raise SettingError(
                f"unknown host {word!r}; {suggestion}the hosts are {', '.join(by_name)}, all and "
                "detected"
            )
    return [by_name[name] for name in sorted(chosen)]


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
    """`value` with its placeholders in braces replaced.

    `holes` has the values of `{command}` and `{args}`: a list inside a list is spliced into it, and
    a key whose value is None is omitted. A string or a key with `{tool}` is repeated for each tool.
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


# Determines what an entry starts, in the format of any host.

NAME = "codelens"
_SERVE = "serve"
_URL = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}/mcp")
"""The URL of `codelens serve --http` on this machine."""
_URL_KEYS = ("url", "httpUrl", "serverUrl")
_RUNNERS = re.compile(r"uv|uvx|pipx|py|pythonw?[0-9.]*")
"""Programs that run a Python command from an environment; the installed command replaces them."""


def command_of(entry: Value) -> list[str]:
    """The program of an entry and its arguments; empty if it starts no program."""
    holder = _holder(entry)
    program, arguments = holder.get("command", holder.get("cmd")), holder.get("args")
    words = [*(program if isinstance(program, list) else [program])]
    words += arguments if isinstance(arguments, list) else []
    return [value for value in words if isinstance(value, str)]


def variables_of(entry: Value) -> dict[str, str]:
    """The environment variables that an entry sets."""
    return _texts_at(entry, ("env", "envs", "environment"))


def _texts_at(entry: Value, keys: Iterable[str]) -> dict[str, str]:
    """The first table of an entry at one of these keys."""
    holder = _holder(entry)
    for key in keys:
        value = holder.get(key)
        if isinstance(value, dict):
            return {name: str(setting) for name, setting in value.items()}
    return {}


def _holder(entry: Value) -> dict[str, Value]:
    if not isinstance(entry, dict):
        return {}
    inner = entry.get("transport")
    return inner if isinstance(inner, dict) else entry


def starts_codelens(entry: Value) -> bool:
    """Whether an entry starts a codelens server, directly or through another program."""
    words = command_of(entry)
    return _SERVE in words and is_codelens(words)


def url_of(entry: Value) -> str:
    """The URL of the codelens server on this machine in an entry; empty if it has none."""
    holder = _holder(entry)
    urls = (holder.get(key) for key in _URL_KEYS)
    return next((url for url in urls if isinstance(url, str) and _URL.fullmatch(url)), "")


def headers_of(entry: Value) -> dict[str, str]:
    """The headers that an entry sends."""
    return _texts_at(entry, ("headers", "http_headers"))


def leads_to_codelens(entry: Value) -> bool:
    """Whether an entry starts a codelens server, or connects to one on this machine."""
    return starts_codelens(entry) or bool(url_of(entry))


def is_codelens(command_words: Sequence[str]) -> bool:
    """Whether one of these words of a command is the program codelens."""
    # `PureWindowsPath` splits at both slashes, so it also parses POSIX paths.
    return any(PureWindowsPath(word).stem.lower() == NAME for word in command_words)


def arguments_of(words: Sequence[str]) -> list[str]:
    """The arguments of codelens itself in a command that `starts_codelens`: `serve` and options."""
    if is_codelens(words[:1]):
        return list(words[1:])
    # `uvx --from git+https://host/codelens codelens serve`: the first codelens is not the program.
    places = [at for at, word in enumerate(words[: words.index(_SERVE)]) if is_codelens([word])]
    return list(words[places[-1] + 1 :]) if places else [_SERVE]


def is_wrapped(words: Sequence[str]) -> bool:
    """Whether another program that the user chose starts codelens: docker, ssh, a script."""
    stem = PureWindowsPath(words[0]).name.lower().removesuffix(".exe")
    return not is_codelens(words[:1]) and _RUNNERS.fullmatch(stem) is None
