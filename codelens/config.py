"""Settings: from `config.toml` in the home folder, then from the environment, then from the caller.

Only the outermost layer (the command line, the server, `Engine`) loads them; packages below get
values. A setting that cannot be is an error, never silently another value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codelens.errors import SettingError
from codelens.paths import barred, default_home

DEFAULT_BUDGET_MS = 500
_SAID: Mapping[str, bool] = {
    "1": True, "on": True, "true": True, "yes": True,
    "0": False, "off": False, "false": False, "no": False,
}  # fmt: skip
DEFAULT_MAX_FILE_BYTES = 1_000_000
_PRUNE_DAYS = ("prune_branch_days", "prune_detached_days", "prune_gone_days", "prune_ref_days")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user can set."""

    home: Path
    budget_ms: float | None = None
    """How long a look may take before an answer is `partial`; None: the face's own default."""
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    """Files larger than this are known by path alone."""
    workers: int = 0
    """Processes for large jobs; 0: one a processor, at most 8."""
    languages: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path glob -> language, before all other rules."""

    tools: str = ""
    """Which MCP tools a server lists, see `codelens.serve.tool_profiles`; empty: the core ones."""

    usage: bool = True
    """Whether calls are counted, on this machine alone (`codelens.engine.usage.usage_counter`)."""

    prune_branch_days: float = 14
    """How long the view of a branch is kept that no worktree stands on; as a left-over index."""
    prune_detached_days: float = 3
    """The same for a detached HEAD."""
    prune_gone_days: float = 2
    """How long the views of a worktree are kept that was removed."""
    prune_ref_days: float = 3
    """How long the view of a ref is kept that nobody asks."""

    def worker_count(self) -> int:
        """Processes that a large job may use."""
        return self.workers or min(os.cpu_count() or 1, 8)

    def membership_key(self) -> str:
        """Changes when a setting that decides how files are taken in changes."""
        return f"{self.max_file_bytes};{sorted(self.languages.items())}"


def home_of(environ: Mapping[str, str] | None = None) -> Path:
    """The folder with all that codelens keeps, whatever its settings say, and read or not.

    Raises:
        SettingError: nothing says where it is.
    """
    return default_home(dict(os.environ if environ is None else environ)).absolute()


def load(environ: Mapping[str, str] | None = None, home: Path | None = None) -> Settings:
    """The settings that hold for this user.

    Raises:
        SettingError: a value is not of the kind it must be, or the file makes no sense.
        HomeNotReadable: the file may not be read.
    """
    env = dict(os.environ if environ is None else environ)
    place = home.absolute() if home else home_of(env)
    values = _from_file(place / "config.toml")
    for key in ("budget_ms", "max_file_bytes", "workers", *_PRUNE_DAYS):
        text = env.get(f"CODELENS_{key.upper()}")
        if text:
            values[key] = _number(f"CODELENS_{key.upper()}", text)
    if env.get("CODELENS_TOOLS"):
        values["tools"] = env["CODELENS_TOOLS"]
    if env.get("CODELENS_USAGE"):
        said = env["CODELENS_USAGE"]
        values["usage"] = _SAID.get(said.lower(), said)
    budget = values.get("budget_ms")
    days = {key: _at_least(key, values[key], 0) for key in _PRUNE_DAYS if key in values}
    return Settings(
        home=place,
        budget_ms=None if budget is None else _at_least("budget_ms", budget, 0),
        max_file_bytes=int(
            _at_least("max_file_bytes", values.get("max_file_bytes", DEFAULT_MAX_FILE_BYTES), 1)
        ),
        workers=int(_at_least("workers", values.get("workers", 0), 0)),
        languages=_globs(values.get("languages", {})),
        tools=_text("tools", values.get("tools", "")),
        usage=_truth("usage", values.get("usage", True)),
        **days,
    )


def _from_file(path: Path) -> dict[str, object]:
    text = _text_of(path)
    # tomllib costs 10 ms of start, and most users have no file.
    if not text:
        return {}
    import tomllib

    try:
        found: dict[str, object] = tomllib.loads(text)
    except ValueError as error:
        raise SettingError(
            f"the settings in {str(path)!r} make no sense: {error}; correct that line"
        ) from error
    known = {"budget_ms", "max_file_bytes", "workers", "languages", "tools", "usage", *_PRUNE_DAYS}
    unknown = sorted(found.keys() - known)
    if unknown:
        raise SettingError(
            f"unknown setting {unknown[0]!r} in {str(path)!r}; there are {', '.join(sorted(known))}"
        )
    return found


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        said = error.strerror or str(error)
        raise barred(path) or SettingError(
            f"cannot read the settings in {str(path)!r}: {said}; make it a file that you can "
            "read, or move it away"
        ) from error
    except UnicodeDecodeError as error:
        raise SettingError(
            f"the settings in {str(path)!r} are no UTF-8 text: {error.reason} at byte "
            f"{error.start}; save them as UTF-8"
        ) from error


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise SettingError(f"{name} must be a number, not {text[:50]!r}") from error


def _at_least(name: str, value: object, least: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        raise SettingError(f"{name} must be a number of at least {least}, not {value!r}")
    return value


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise SettingError(f"{name} must be true or false, not {value!r}")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise SettingError(f"{name} must be a text, not {value!r}")
    return value


def _globs(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise SettingError('languages must be a table of "glob" = "language"')
    return {str(glob): str(language) for glob, language in value.items()}  # type: ignore[reportUnknownVariableType]
