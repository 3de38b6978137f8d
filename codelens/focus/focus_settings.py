"""The settings of focus: the table `[focus]` of `config.toml` in the home folder.

Read without `codelens.config`, whose import a prompt cannot pay for; that knows the table's name.
"""

from __future__ import annotations

import json
import os
import stat
from typing import Literal, NamedTuple, cast

from codelens.home_files import read_small, replace_file

SCOPES = ("worktree", "repository", "session")
_LARGEST_FILE = 1_000_000
_WHOLE = ("memory_size", "context_limit", "bubble_up_terms", "max_sources", "guide_size")
_MOST = {"memory_size": 1_000, "guide_size": 100, "context_limit": 8_000}


class FocusSettings(NamedTuple):
    """What a user can set; an explicit 0 counts."""

    memory_size: int = 100
    """Nodes of a forest; a prompt takes two with its root, so that 1 keeps none."""
    decay_rate: float = 0.05
    """How fast a topic fades, per hour."""
    extend: float = 0.55
    """From this score on a prompt joins the leaf, or root, that it is most like."""
    branch: float = 0.25
    """From this score on it begins a sub-topic; below, a tree of its own. Above `extend` it is
    never used: whatever reaches `extend` joins."""
    context_limit: int = 600
    """Characters of the block."""
    bubble_up_terms: int = 6
    """Terms of a topic."""
    max_sources: int = 20
    """How many of its latest children a topic's terms come from."""
    guide_size: int = 15
    """Answers that are kept."""
    transition_boost: float = 0.2
    """How much a likely change of topic raises a score."""
    scope: str = "worktree"
    """What has a forest of its own: `worktree`, `repository` or host `session`."""


def load_settings(home: str) -> FocusSettings:
    """The settings in `home`.

    Raises:
        SettingError: a value is not of the kind it must be, or the file cannot be read.
    """
    return checked(_setting(home, "focus", {}))


def usable_settings(home: str) -> tuple[FocusSettings, str]:
    """The settings, and what is wrong with them; empty if nothing.

    Where something is, the usual ones hold, but nothing is forgotten that a user may have set to
    be kept: a prompt is never lost for a setting.
    """
    try:
        return load_settings(home), ""
    except Exception as error:
        from codelens.errors import SettingError

        if not isinstance(error, SettingError):
            raise
        usual = FocusSettings(memory_size=_MOST["memory_size"], guide_size=_MOST["guide_size"])
        return usual, f"{error}; the usual settings of focus are used until it is corrected"


def trail_is_on(home: str) -> bool:
    """Whether the session trail is kept: the setting `trail`, or `CODELENS_TRAIL`.

    Raises:
        SettingError: it is neither true nor false, or the file cannot be read.
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
            # To open a pipe would wait for whoever writes into it.
            raise _refused(f"the settings {path!r} are not a regular file")
        with open(path, "rb") as file:
            data = file.read(_LARGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return default
    except OSError as error:
        raise _refused(f"cannot read {path!r}: {error.strerror or error}") from error
    if name.encode() not in data:
        return default
    # Costs 10 ms, which only those pay who set something.
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8")).get(name, default)
    except (ValueError, RecursionError) as error:
        raise _refused(f"the settings in {path!r} are invalid: {error}") from error


def checked(table: object) -> FocusSettings:
    """The settings that a table gives.

    Raises:
        SettingError: it gives none.
    """
    if not isinstance(table, dict):
        raise _refused("focus must be a table: [focus]")
    values: dict[str, object] = {str(key): value for key, value in table.items()}  # type: ignore[reportUnknownVariableType]
    known = FocusSettings._fields
    unknown = sorted(values.keys() - set(known))
    if unknown:
        raise _refused(f"unknown setting focus.{unknown[0]}; the settings are {', '.join(known)}")
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


# Whether focus is on: everywhere, and otherwise for single repositories.
#
# `CODELENS_FOCUS=off` turns it off for one process and what that starts.

OffBy = Literal["variable", "damage", "repository", "everywhere"]

EVERYWHERE = "everywhere"
_LARGEST = 1_000_000


def switch_path(home: str) -> str:
    """The file that holds the switches."""
    return os.path.join(home, "focus", "switches.json")


def is_on(home: str, repository: str) -> bool:
    """Whether prompts are taken in; what was said of a repository counts before all else."""
    return why_off(home, repository) is None


def why_off(home: str, repository: str) -> OffBy | None:
    """What keeps prompts of a repository from being taken in; None where nothing does."""
    if os.environ.get("CODELENS_FOCUS", "").lower() in {"off", "0", "false", "no"}:
        return "variable"
    switches = _read(home)
    if switches is None:
        # It may have said off, and what a person turned off stays so.
        return "damage"
    if repository in switches:
        return None if switches[repository] else "repository"
    return None if switches.get(EVERYWHERE, True) else "everywhere"


def is_damaged(home: str) -> bool:
    """Whether the file with the switches is there and says nothing; focus is off then."""
    return _read(home) is None


def switch(home: str, repository: str, *, on: bool) -> None:
    """Turn focus on or off for a repository, or for all (`EVERYWHERE`).

    Raises:
        OSError: it cannot be written.
    """
    switches = {**(_read(home) or {}), repository: on}
    path = switch_path(home)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    replace_file(path, json.dumps(switches).encode(), beside=f"{path}.{os.getpid()}")


def _read(home: str) -> dict[str, bool] | None:
    """The switches by repository; None where their file cannot be read."""
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
