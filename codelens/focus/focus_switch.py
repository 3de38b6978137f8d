"""Whether focus is on: everywhere, and otherwise for single repositories.

`CODELENS_FOCUS=off` turns it off for one process and what that starts.
"""

from __future__ import annotations

import json
import os
from typing import Literal, cast

from codelens.small_files import read_small, replace_file

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
