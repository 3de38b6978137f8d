"""Which place a small file of the home was written for: it says so itself, checked at each opening.

A log or list that was copied over another one, or two that were swapped, would tell one repository
or session about another. The name of such a file names its repository (and worktree, or session);
the same name stands in the file's head. Files of versions before this have none, and are taken.
Hooks use this.
"""

from __future__ import annotations

import json
import os
import time
from typing import cast

from codelens.small_files import open_regular

KEY = "of"
"""The field of a head, or of a JSON object, that holds the name."""
HEAD_BYTES = 300
"""As much of a file as its first line takes."""
_ASIDE = ".foreign-"


def head(path: str) -> bytes:
    """The first line of a log that is written for `path`."""
    fields = {KEY: os.path.basename(path)}
    return json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n"


def other_name(path: str, stated: object) -> str:
    """The name that a file states if it is not its own; empty where it states none, or its own."""
    name = stated if isinstance(stated, str) else ""
    return "" if name == os.path.basename(path) else name


def other_head(path: str, data: bytes) -> str:
    """The same, of a log that begins with `data`."""
    line = data[:HEAD_BYTES].partition(b"\n")[0]
    if not line.startswith(b'{"of":'):
        return ""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    stated = cast("dict[str, object]", fields).get(KEY) if isinstance(fields, dict) else None
    return other_name(path, stated)


def written_for(stated: str) -> str:
    """What is wrong with a file that states another name than its own."""
    return f"was written for {stated!r} (copied or swapped?)"


def set_aside(path: str, why: str) -> str:
    """Keep a file of another place under another name, and say why; the name, or empty.

    Nothing is raised: what cannot be renamed is not read, all the same.
    """
    aside = f"{path}{_ASIDE}{time.time_ns()}"
    try:
        os.rename(path, aside)
    except OSError:
        aside = ""
    # Late: of the hooks few come here.
    import logging

    outcome = f"kept as {aside!r}" if aside else "ignored, as it cannot be renamed"
    logging.getLogger(__name__).warning("%r %s: %s", path, why, outcome)
    return aside


def begins_anew(path: str) -> bool:
    """Whether a log is to be written from its beginning: there is none, or it was another's.

    Raises:
        OSError: it cannot be read, or belongs elsewhere and cannot be renamed.
    """
    try:
        with open_regular(path) as file:
            stated = other_head(path, file.read(HEAD_BYTES))
    except FileNotFoundError:
        return True
    if not stated:
        return False
    if not set_aside(path, written_for(stated)):
        raise PermissionError(f"{path!r} {written_for(stated)} and cannot be renamed")
    return True


def is_aside(name: str) -> bool:
    """Whether a file of this name was set aside."""
    return name.rpartition(_ASIDE)[1] == _ASIDE and name.rpartition(_ASIDE)[2].isdecimal()
