"""Loads settings: first `config.toml` in the home folder, then the environment, then the caller.

Only the outermost layer (the command line, the server, `Engine`) loads settings; lower packages get
values. An invalid value in the environment is an error. An invalid settings file does not prevent
answers: defaults apply, one warning names the file, the line and the remedy, and nothing is pruned
or counted until the file is fixed.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

from codelens.errors import SettingError
from codelens.paths import barred, default_home

DEFAULT_BUDGET_MS = 500
_MOST_KEY_PARTS = 100
_MOST_NUMBER = 10**12
"""A terabyte, or more days than anything is stored. Rejects the infinite numbers of TOML."""
_MOST_PROCESSES = 1_000
_SWITCHES: Mapping[str, bool] = {
    "1": True, "on": True, "true": True, "yes": True,
    "0": False, "off": False, "false": False, "no": False,
}  # fmt: skip
DEFAULT_MAX_FILE_BYTES = 1_000_000
MOST_FILE_BYTES = 1024 * 1024
"""Maximum size of a settings file in bytes."""
_PRUNE_DAYS = ("prune_branch_days", "prune_detached_days", "prune_gone_days", "prune_ref_days")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that a user can change."""

    home: Path
    """The folder with all data of codelens; never empty, which would mean the current folder."""
    damage: str = ""
    """Why the settings file is ignored; empty if it is valid or missing."""
    budget_ms: float | None = None
    """Milliseconds that checking files may take before an answer is `partial`; None: the default of
    the command line or server."""
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    """Larger files are indexed by path alone."""
    workers: int = 0
    """Processes for large jobs; 0: one per processor, at most 8."""
    languages: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path glob -> language; overrides all other rules."""

    ignore: tuple[str, ...] = ()
    """Patterns of files to leave out, as in `.codelensignore`, which takes precedence."""

    tools: str = ""
    """The MCP tools that a server lists, see `codelens.serve.first_turn`; empty: the core tools."""

    usage: bool = True
    """Whether calls are counted, on this machine only (`codelens.engine.upkeep.usage_counter`)."""

    trail: bool = True
    """Whether the session trail records calls and edits (`codelens.trail.trail_log`)."""

    sent: bool = True
    """Whether a server leaves out code that it already sent in the session
    (`codelens.trail.sent_log`)."""

    mask_secrets: bool = True
    """Whether answers mask keys, tokens and the values of secret files, unless the caller named the
    file (`codelens.secret_files`)."""

    meaning: bool = True
    """Whether words are also ranked by meaning (docs/meaning.md)."""

    most_texts: int = 0
    """Maximum number of texts that one sync sends to a provider (docs/providers.md); 0: no
    limit."""

    rerank: bool = True
    """Whether results are reranked without an explicit request (docs/providers.md)."""

    cross_encoder: str = ""
    """Folder of a local reranker (docs/providers.md); empty: none."""

    telemetry: bool = False
    """Whether each search writes its measurements to stderr
    (`codelens.engine.reading.search_hits`)."""

    index_at_start: bool = True
    """Whether a server indexes its worktree before the first question."""

    editor: str = ""
    """The editor in which the page opens code (`codelens.ui.page_questions`); empty: VS Code."""

    prune_branch_days: float = 14
    """Days until the view of a branch that no worktree has checked out is pruned; leftover indexes
    too."""
    prune_detached_days: float = 3
    """The same for a detached HEAD."""
    prune_gone_days: float = 2
    """Days until the views of a removed worktree are pruned."""
    prune_ref_days: float = 3
    """Days until the unused view of a ref is pruned."""

    def __post_init__(self) -> None:
        """Refuse an empty home.

        Raises:
            SettingError: the home is `Path("")` or `Path(".")`; `Path` treats both the same.
        """
        if not self.home.parts:
            raise SettingError(
                "home must not be empty or '.': indexes would be written into the current folder; "
                "pass an absolute path, or leave the settings out for the default"
            )

    def worker_count(self) -> int:
        """Return the number of processes that a large job may use."""
        return self.workers or min(os.cpu_count() or 1, 8)

    def membership_key(self) -> str:
        """Return a key that changes with each setting that affects how files are indexed."""
        return f"{self.max_file_bytes};{sorted(self.languages.items())}"


class Configured(Protocol):
    """An object with settings, such as an engine or a pool."""

    @property
    def settings(self) -> Settings:
        """The settings it uses."""
        ...


def home_of(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder with all data of codelens, without reading its settings.

    Raises:
        SettingError: the user's home folder is unknown.
    """
    return default_home(dict(os.environ if environ is None else environ)).absolute()


def load(environ: Mapping[str, str] | None = None, home: Path | None = None) -> Settings:
    """Load the settings of this user.

    An empty `home` counts as None. Each call logs one warning if the file is invalid.

    Raises:
        SettingError: an environment variable has an invalid value.
        HomeNotReadable: the file may not be read.
    """
    env = dict(os.environ if environ is None else environ)
    place = home.absolute() if home and home.parts else home_of(env)
    values, damage = _in_file(place)
    if not damage:
        return Settings(place, "", **(values | _converted(_from_environment(env))))
    logging.getLogger(__name__).warning(
        "warning: %s; default settings are used, and nothing is pruned or counted until "
        "this is fixed (`codelens doctor --fix` sets the file aside)",
        damage,
    )
    return Settings(place, damage, **_converted({"usage": False} | _from_environment(env)))


def damage_in(home: Path) -> str:
    """Describe what is wrong with the settings file of a home folder; empty if nothing.

    Raises:
        HomeNotReadable: the file may not be read.
    """
    return _in_file(home.absolute())[1]


def _in_file(home: Path) -> tuple[dict[str, Any], str]:
    """Return the fields of `Settings` in the file, or what is wrong with it."""
    file = home / "config.toml"
    try:
        return _converted(_from_file(file)), ""
    except _Damaged as error:
        return {}, str(error)
    except SettingError as error:
        return {}, f"{str(file)!r}: {error}"


class _Damaged(Exception):
    """The settings file is invalid; the message says where and what to do."""


def _from_environment(env: Mapping[str, str]) -> dict[str, object]:
    """Return the settings in environment variables.

    Raises:
        SettingError: a variable has an invalid value.
    """
    values: dict[str, object] = {}
    for key in ("budget_ms", "max_file_bytes", "workers", "most_texts", *_PRUNE_DAYS):
        text = env.get(f"CODELENS_{key.upper()}")
        if text:
            values[key] = _number(f"CODELENS_{key.upper()}", text)
    for key in ("tools", "editor", "cross_encoder"):
        if text := env.get(f"CODELENS_{key.upper()}"):
            values[key] = text
    if env.get("CODELENS_USAGE"):
        switch = env["CODELENS_USAGE"]
        values["usage"] = _SWITCHES.get(switch.lower(), switch)
    for key in (
        "trail",
        "sent",
        "mask_secrets",
        "meaning",
        "rerank",
        "telemetry",
        "index_at_start",
    ):
        switch = env.get(f"CODELENS_{key.upper()}")
        if switch:
            values[key] = _SWITCHES.get(switch.lower(), switch)
    return values


def _converted(values: Mapping[str, object]) -> dict[str, Any]:
    """Convert values by name to fields of `Settings`.

    Raises:
        SettingError: a value has the wrong type or range.
    """
    return {
        key: _CONVERSIONS[key](key, value) for key, value in values.items() if key in _CONVERSIONS
    }


def _from_file(path: Path) -> dict[str, object]:
    text = _text_of(path)
    # Importing tomllib takes 10 ms, and most users have no file.
    if not text:
        return {}
    import tomllib

    try:
        _refuse_deep_keys(text)
        values: dict[str, object] = tomllib.loads(text)
    except ValueError as error:
        raise _Damaged(
            f"the settings in {str(path)!r} are not valid TOML: {error}; correct that line"
        ) from error
    except RecursionError as error:
        raise _Damaged(f"the settings in {str(path)!r} are nested too deeply") from error
    valid_names = {*_CONVERSIONS, "focus"}
    unknown = sorted(values.keys() - valid_names)
    if unknown:
        raise _Damaged(
            f"unknown setting {unknown[0]!r} in {str(path)!r}; remove it (the settings are "
            f"{', '.join(sorted(valid_names))})"
        )
    return values


def _refuse_deep_keys(text: str) -> None:
    """Refuse a key of hundreds of parts: the memory use of tomllib is quadratic in their number.

    Raises:
        ValueError: a line has such a key.
    """
    for number, line in enumerate(text.split("\n"), 1):
        keys = line.split("=")[:-1] or [line]
        if max(key.count(".") for key in keys) > _MOST_KEY_PARTS:
            raise ValueError(f"a key of over {_MOST_KEY_PARTS} parts (at line {number})")


def _text_of(path: Path) -> str:
    data = b""
    try:
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            # Opening a pipe would block until someone writes to it.
            raise _Damaged(f"the settings {str(path)!r} are not a regular file; make it one")
        with path.open("rb") as file:
            data = file.read(MOST_FILE_BYTES + 1)
        if len(data) > MOST_FILE_BYTES:
            raise _Damaged(
                f"the settings file {str(path)!r} is larger than {MOST_FILE_BYTES:,} bytes; "
                "shorten it"
            )
        return data.decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        reason = error.strerror or str(error)
        raise barred(path) or SettingError(
            f"cannot read the settings in {str(path)!r}: {reason}; make it a file that you can "
            "read, or move it away"
        ) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _Damaged(
            f"the settings in {str(path)!r} are not UTF-8 (line {line}); save the file as UTF-8"
        ) from error


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise SettingError(f"{name} must be a number, not {text[:50]!r}") from error


def _between(name: str, value: object, least: int, most: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        text = repr(value)[:50]
        raise SettingError(f"{name} must be a number from {least} to {most:,}, not {text}")
    return value


def _boolean(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise SettingError(f"{name} must be true or false, not {value!r}")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise SettingError(f"{name} must be a string, not {value!r}")
    return value


def _not_negative(name: str, value: object) -> float:
    return _between(name, value, 0, _MOST_NUMBER)


def _whole(name: str, value: object) -> int:
    return int(_between(name, value, 0, _MOST_NUMBER))


def _processes(name: str, value: object) -> int:
    return int(_between(name, value, 0, _MOST_PROCESSES))


def _bytes(name: str, value: object) -> int:
    return int(_between(name, value, 1, _MOST_NUMBER))


def _globs(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise SettingError(f'{name} must be a table of "glob" = "language"')
    table = cast("dict[str, object]", value)
    for glob, language in table.items():
        if not isinstance(language, str):
            raise SettingError(f'{name}: {glob!r} must be a "language", not {language!r}'[:200])
    return cast("dict[str, str]", table)


def _patterns(name: str, value: object) -> tuple[str, ...]:
    lines = cast("list[object]", value) if isinstance(value, list) else [value]
    patterns = tuple(line for line in lines if isinstance(line, str))
    if not isinstance(value, list) or len(patterns) < len(lines):
        raise SettingError(f'{name} must be a list of patterns, such as ["*.min.js", "/fixtures/"]')
    return patterns


_CONVERSIONS: dict[str, Callable[[str, object], object]] = {
    "budget_ms": _not_negative, "max_file_bytes": _bytes, "workers": _processes,
    "languages": _globs, "ignore": _patterns, "most_texts": _whole,
    "tools": _text, "editor": _text, "cross_encoder": _text,
    "usage": _boolean, "trail": _boolean, "sent": _boolean, "mask_secrets": _boolean,
    "meaning": _boolean, "rerank": _boolean,
    "telemetry": _boolean, "index_at_start": _boolean,
    **dict.fromkeys(_PRUNE_DAYS, _not_negative),
}  # fmt: skip
"""Setting -> the function that checks its value. `codelens.focus` reads the table `focus`."""
