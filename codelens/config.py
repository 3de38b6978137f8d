"""Settings: from `config.toml` in the home folder, then from the environment, then from the caller.

Only the outermost layer (the command line, the server, `Engine`) loads them; packages below get
values. A setting that is given in the environment and has no valid value is an error. A settings
file that cannot be understood stops no question: defaults hold, one warning names the file, the
line and the remedy, and nothing is pruned or counted until it is mended.
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
"""A terabyte, or more days than anything is kept. TOML has infinite numbers, too."""
_MOST_PROCESSES = 1_000
_SAID: Mapping[str, bool] = {
    "1": True, "on": True, "true": True, "yes": True,
    "0": False, "off": False, "false": False, "no": False,
}  # fmt: skip
DEFAULT_MAX_FILE_BYTES = 1_000_000
MOST_FILE_BYTES = 1024 * 1024
"""The most bytes of a settings file."""
_PRUNE_DAYS = ("prune_branch_days", "prune_detached_days", "prune_gone_days", "prune_ref_days")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can set."""

    home: Path
    """The folder with all that codelens keeps; never empty, which would be the current folder."""
    damage: str = ""
    """What is wrong with the settings file, whose settings do not hold then; empty if nothing."""
    budget_ms: float | None = None
    """How long a look may take before an answer is `partial`; None: the face's own default."""
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    """Files larger than this are known by path alone."""
    workers: int = 0
    """Processes for large jobs; 0: one a processor, at most 8."""
    languages: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path glob -> language, before all other rules."""

    ignore: tuple[str, ...] = ()
    """Patterns of files to leave out, as in `.codelensignore`, which takes precedence."""

    tools: str = ""
    """Which MCP tools a server lists, see `codelens.serve.first_turn`; empty: the core ones."""

    usage: bool = True
    """Whether calls are counted, on this machine alone (`codelens.engine.upkeep.usage_counter`)."""

    trail: bool = True
    """Whether calls and edits are noted in the session trail (`codelens.trail.trail_log`)."""

    sent: bool = True
    """Whether a server leaves out code that it sent before in the session
    (`codelens.trail.sent_log`)."""

    meaning: bool = True
    """Whether words are also ranked by what they mean (docs/meaning.md)."""

    most_texts: int = 0
    """How many texts one sync sends to a provider at most (docs/providers.md); 0: all."""

    rerank: bool = True
    """Whether results may be reranked where nobody asks for it (docs/providers.md)."""

    cross_encoder: str = ""
    """Folder of a reranker on this machine (docs/providers.md); empty: none."""

    telemetry: bool = False
    """Whether each search writes its figures to stderr
    (`codelens.engine.reading.search_hits`)."""

    index_at_start: bool = True
    """Whether a server indexes the worktree it was started for before the first question."""

    editor: str = ""
    """Which editor the page opens code in (`codelens.ui.page_questions`); empty: VS Code."""

    prune_branch_days: float = 14
    """How long the view of a branch is kept that no worktree stands on; as a left-over index."""
    prune_detached_days: float = 3
    """The same for a detached HEAD."""
    prune_gone_days: float = 2
    """How long the views of a worktree are kept that was removed."""
    prune_ref_days: float = 3
    """How long the view of a ref is kept that nobody asks."""

    def __post_init__(self) -> None:
        """Refuse an empty home.

        Raises:
            SettingError: the home is `Path("")` or `Path(".")`, which cannot be told apart.
        """
        if not self.home.parts:
            raise SettingError(
                "home must not be empty or '.': indexes would be written into the current folder; "
                "pass an absolute path, or leave the settings out for the default"
            )

    def worker_count(self) -> int:
        """Processes that a large job may use."""
        return self.workers or min(os.cpu_count() or 1, 8)

    def membership_key(self) -> str:
        """Changes when a setting that decides how files are taken in changes."""
        return f"{self.max_file_bytes};{sorted(self.languages.items())}"


class Configured(Protocol):
    """Whatever works by settings: an engine, a pool."""

    @property
    def settings(self) -> Settings:
        """What it works by."""
        ...


def home_of(environ: Mapping[str, str] | None = None) -> Path:
    """The folder with all that codelens keeps, whatever its settings say, and read or not.

    Raises:
        SettingError: nothing says where it is.
    """
    return default_home(dict(os.environ if environ is None else environ)).absolute()


def load(environ: Mapping[str, str] | None = None, home: Path | None = None) -> Settings:
    """The settings that hold for this user.

    An empty `home` counts as none. A file that cannot be understood is told as a warning on this
    module's logger, once a call.

    Raises:
        SettingError: a variable of the environment has a value that it cannot have.
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
    """What is wrong with the settings file of a home folder; empty if nothing.

    Raises:
        HomeNotReadable: the file may not be read.
    """
    return _in_file(home.absolute())[1]


def _in_file(home: Path) -> tuple[dict[str, Any], str]:
    """Fields of `Settings` that the file gives, or what is wrong with it."""
    file = home / "config.toml"
    try:
        return _converted(_from_file(file)), ""
    except _Damaged as error:
        return {}, str(error)
    except SettingError as error:
        return {}, f"{str(file)!r}: {error}"


class _Damaged(Exception):
    """The settings file cannot be understood; its text says where and what to do."""


def _from_environment(env: Mapping[str, str]) -> dict[str, object]:
    """Settings that variables of the environment give.

    Raises:
        SettingError: one has a value that it cannot have.
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
        values["usage"] = _SAID.get(switch.lower(), switch)
    for key in ("trail", "sent", "meaning", "rerank", "telemetry", "index_at_start"):
        switch = env.get(f"CODELENS_{key.upper()}")
        if switch:
            values[key] = _SAID.get(switch.lower(), switch)
    return values


def _converted(values: Mapping[str, object]) -> dict[str, Any]:
    """Fields of `Settings` from values by name.

    Raises:
        SettingError: a value is not of the kind it must be.
    """
    return {
        key: _CONVERSIONS[key](key, value) for key, value in values.items() if key in _CONVERSIONS
    }


def _from_file(path: Path) -> dict[str, object]:
    text = _text_of(path)
    # tomllib costs 10 ms of start, and most users have no file.
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
    known = {*_CONVERSIONS, "focus"}
    unknown = sorted(values.keys() - known)
    if unknown:
        raise _Damaged(
            f"unknown setting {unknown[0]!r} in {str(path)!r}; remove it (the settings are "
            f"{', '.join(sorted(known))})"
        )
    return values


def _refuse_deep_keys(text: str) -> None:
    """Refuse a key of hundreds of parts: tomllib takes memory by the square of its length.

    Raises:
        ValueError: there is one.
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
            # To open a pipe would wait for whoever writes into it.
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


def _truth(name: str, value: object) -> bool:
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
    "usage": _truth, "trail": _truth, "sent": _truth, "meaning": _truth, "rerank": _truth,
    "telemetry": _truth, "index_at_start": _truth,
    **dict.fromkeys(_PRUNE_DAYS, _not_negative),
}  # fmt: skip
"""Setting -> what checks its value. The table `focus` is read by `codelens.focus`."""
