"""The settings of focus (the table `[focus]` of `config.toml`), and whether it is on.

It does not use `codelens.config`, whose import is too slow for a prompt hook.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from typing import Literal, NamedTuple, cast

from codelens import home_files
from codelens.home_files import read_small, replace_file

SCOPES = ("worktree", "repository", "session")
_LARGEST_FILE = 1_000_000
_WHOLE = ("memory_size", "context_limit", "bubble_up_terms", "max_sources", "guide_size")
_MOST = {"memory_size": 1_000, "guide_size": 100, "context_limit": 8_000}


class FocusSettings(NamedTuple):
    """The settings; 0 is a valid value."""

    memory_size: int = 100
    """Maximum number of nodes of a forest; a prompt needs two (itself and its root), so 1 keeps no
    prompt."""
    decay_rate: float = 0.05
    """How fast a topic fades, per hour."""
    extend: float = 0.55
    """A prompt with at least this score joins the most similar leaf or root."""
    branch: float = 0.25
    """A prompt with at least this score starts a sub-topic; below it, a new tree. It has no effect
    above `extend`, where a prompt joins."""
    context_limit: int = 600
    """Maximum number of characters of the block."""
    bubble_up_terms: int = 6
    """Number of terms of a topic."""
    max_sources: int = 20
    """Number of latest children that a topic's terms come from."""
    guide_size: int = 15
    """Number of stored answers."""
    transition_boost: float = 0.2
    """How much a likely change of topic raises a score."""
    scope: str = "worktree"
    """The scope of a forest: a `worktree`, a `repository` or a host's `session`."""


def load_settings(home: str) -> FocusSettings:
    """The settings in `home`.

    Raises:
        SettingError: a value has the wrong type, or the file cannot be read.
    """
    return checked(_setting(home, "focus", {}))


def usable_settings(home: str) -> tuple[FocusSettings, str]:
    """The settings, and what is wrong with them; empty if nothing is.

    If something is wrong, the defaults apply, but with the largest memory: an invalid setting must
    not delete prompts that the user may want to keep.
    """
    try:
        return load_settings(home), ""
    except Exception as error:
        from codelens.errors import SettingError

        if not isinstance(error, SettingError):
            raise
        usual = FocusSettings(memory_size=_MOST["memory_size"], guide_size=_MOST["guide_size"])
        return usual, f"{error}; the default settings of focus are used until it is corrected"


def trail_is_on(home: str) -> bool:
    """Whether the session trail is recorded: the setting `trail`, or `CODELENS_TRAIL`.

    Raises:
        SettingError: the value is neither true nor false, or the file cannot be read.
    """
    variable = os.environ.get("CODELENS_TRAIL", "").lower()
    if variable:
        return variable not in {"off", "0", "false", "no"}
    value = _setting(home, "trail", default=True)
    if not isinstance(value, bool):
        raise _refused(f"trail must be true or false, not {value!r}")
    return value


def _setting(home: str, name: str, default: object) -> object:
    path = os.path.join(home, "config.toml")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            # Opening a pipe would wait for a writer.
            raise _refused(f"the settings {path!r} are not a regular file")
        with open(path, "rb") as file:
            data = file.read(_LARGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return default
    except OSError as error:
        raise _refused(f"cannot read {path!r}: {error.strerror or error}") from error
    if name.encode() not in data:
        return default
    # This import costs 10 ms, but only for users with a settings file.
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8")).get(name, default)
    except (ValueError, RecursionError) as error:
        raise _refused(f"the settings in {path!r} are invalid: {error}") from error


def checked(table: object) -> FocusSettings:
    """The settings in a table.

    Raises:
        SettingError: the table is invalid.
    """
    if not isinstance(table, dict):
        raise _refused("focus must be a table: [focus]")
    values: dict[str, object] = {str(key): value for key, value in table.items()}  # type: ignore[reportUnknownVariableType]
    setting_names = FocusSettings._fields
    unknown = sorted(values.keys() - set(setting_names))
    if unknown:
        raise _refused(
            f"unknown setting focus.{unknown[0]}; the settings are {', '.join(setting_names)}"
        )
    for name, value in values.items():
        _check(name, value)
    return FocusSettings(**values)  # type: ignore[reportArgumentType]


def _check(name: str, value: object) -> None:
    if name == "scope":
        if value not in SCOPES:
            raise _refused(f"focus.scope must be one of {', '.join(SCOPES)}, not {value!r}")
        return
    kinds = int if name in _WHOLE else int | float
    kind = "a whole number" if name in _WHOLE else "a number"
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise _refused(f"focus.{name} must be {kind}, not {value!r}")
    most = _MOST.get(name)
    if not 0 <= value < float("inf") or (most is not None and value > most):
        limit = "at least 0" if most is None else f"between 0 and {most}"
        raise _refused(f"focus.{name} must be {limit}, not {value!r}")


def _refused(why: str) -> Exception:
    from codelens.errors import SettingError

    return SettingError(why)


# Whether focus is on: everywhere, with exceptions for single repositories.
#
# `CODELENS_FOCUS=off` turns it off for a process and its children.

OffBy = Literal["variable", "damage", "repository", "everywhere"]

EVERYWHERE = "everywhere"
_LARGEST = 1_000_000
_WAIT_S = 2.0


def switch_path(home: str) -> str:
    """The path of the file with the switches."""
    return os.path.join(home, "focus", "switches.json")


def is_on(home: str, repository: str) -> bool:
    """Whether prompts are recorded; the switch of a repository takes precedence."""
    return why_off(home, repository) is None


def why_off(home: str, repository: str) -> OffBy | None:
    """Why prompts of a repository are not recorded; None if they are."""
    if os.environ.get("CODELENS_FOCUS", "").lower() in {"off", "0", "false", "no"}:
        return "variable"
    switches = _read(home)
    if switches is None:
        # The file may have turned focus off, and focus must not turn itself on again.
        return "damage"
    if repository in switches:
        return None if switches[repository] else "repository"
    return None if switches.get(EVERYWHERE, True) else "everywhere"


def switch(home: str, repository: str, *, on: bool) -> None:
    """Turn focus on or off for a repository, or for all (`EVERYWHERE`).

    A damaged file is set aside. It may have turned any repository off, so all others stay off.

    Raises:
        OSError: the file cannot be written, or another process keeps it locked.
    """
    path = switch_path(home)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    lock = home_files.open_locked(f"{path}.lock")
    try:
        if not home_files.take_lock(lock, wait_s=_WAIT_S):
            raise TimeoutError(errno.ETIMEDOUT, "another process keeps the switches locked", path)
        switches = _read(home)
        if switches is None:
            home_files.set_aside(path, "cannot be read")
            switches = {EVERYWHERE: False}
        replace_file(path, json.dumps({**switches, repository: on}).encode())
    finally:
        os.close(lock)


def _read(home: str) -> dict[str, bool] | None:
    """The switches by repository; None if their file cannot be read."""
    try:
        parsed: object = json.loads(read_small(switch_path(home), _LARGEST))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict):
        return None
    fields = cast("dict[str, object]", parsed)
    return {key: value for key, value in fields.items() if isinstance(value, bool)}
