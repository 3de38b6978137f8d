"""The code that a topic is about: handles from the session trail, as far as they still hold.

No index is opened here. A handle was true when its file had a certain size and time; while it has
these, the handle is. In a file that changed since, its definition is looked for by its words
(`definition_text`); where that leaves a doubt the file alone is named, and a name that is gone is
not shown.
"""

from __future__ import annotations

import os
import re
import stat

from codelens.focus.forest import Node
from codelens.focus.topic_code.definition_text import standing

MOST = 2
"""Handles that a topic is shown with."""
_KEPT = 6
_LONGEST_HANDLE = 200
_LARGEST_FILE = 500_000
_SECOND_NS = 1_000_000_000


def note(topic: Node, root: str, handle: str, at: float | None = None) -> None:
    """Put a handle first among those of a topic, with the present size and time of its file.

    A definition that its file does not have is left out: a call may have asked for what never was.
    Where words leave a doubt, the call is believed if the file did not change after it.

    Args:
        topic: the root of its tree.
        root: of the worktree.
        handle: as the trail has it.
        at: when the call was, in seconds since the epoch; None: just now.
    """
    path = _path(root, handle)
    if len(handle) > _LONGEST_HANDLE or path is None:
        return
    size, stamp = _stamp(path)
    if size < 0:
        return
    file, _, symbol = handle.partition("#")
    if symbol:
        outcome = _standing(path, size, symbol)
        # The trail of before it had milliseconds has whole seconds.
        is_as_then = at is None or stamp < (at + 1) * _SECOND_NS
        if outcome == "gone":
            return
        if outcome == "elsewhere" or (outcome == "unsure" and not is_as_then):
            handle = file
    remaining = [pair for pair in topic.handles if pair[0] != handle]
    topic.handles = [(handle, size, stamp), *remaining][:_KEPT]


def true_handles(topic: Node, root: str) -> list[str]:
    """Those of a topic's handles that hold in the worktree at `root` now, two at most."""
    result: list[str] = []
    for handle, size, stamp in topic.handles:
        now = _as_it_is(root, handle, size, stamp)
        if now and now not in result:
            result.append(now)
        if len(result) == MOST:
            break
    return result


def _as_it_is(root: str, handle: str, size: int, stamp: int) -> str:
    path = _path(root, handle)
    if path is None:
        return ""
    now = _stamp(path)
    file, _, symbol = handle.partition("#")
    if now == (size, stamp) or (now[0] >= 0 and not symbol):
        return handle
    if not 0 <= now[0] <= _LARGEST_FILE:
        return ""
    outcome = _standing(path, now[0], symbol)
    return {"there": handle, "gone": ""}.get(outcome, file)


def _standing(path: str, size: int, symbol: str) -> str:
    """As `definition_text.standing` has it; `unsure` of a file that is too large to read."""
    if size > _LARGEST_FILE:
        return "unsure"
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            text = source.read(_LARGEST_FILE)
    except OSError:
        return "gone"
    qualified, tilde, ordinal = symbol.rpartition("~")
    return standing(text, path, qualified if tilde and ordinal.isdigit() else symbol)


def _path(root: str, handle: str) -> str | None:
    """The file of a handle; None for one of another branch, or outside of the worktree."""
    file = handle.partition("#")[0]
    if not file or ":" in file or "\0" in file or "%00" in file or file.startswith(("/", "..")):
        return None
    # A handle percent-escapes what it is cut at.
    name = _unescaped(file) if "%" in file else file
    path = os.path.normpath(os.path.join(root, name))
    return path if path.startswith(root.rstrip(os.sep) + os.sep) else None


def _unescaped(file: str) -> str:
    raw = re.sub(rb"%([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), os.fsencode(file))
    return os.fsdecode(raw)


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return -1, 0
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else (-1, 0)
