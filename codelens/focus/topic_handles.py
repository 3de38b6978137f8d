"""The code that a topic is about: handles from the session trail, as far as they still hold.

No index is opened here. A handle was true when its file had a certain size and time; while it has
these, the handle is. In a file that changed since, its definition is looked for by its keyword;
where that leaves a doubt the file alone is named, and a name that is gone is not shown.
"""

from __future__ import annotations

import os
import re
import stat

from codelens.focus.forest import Node

MOST = 2
"""Handles that a topic is shown with."""
_KEPT = 6
_LONGEST_HANDLE = 200
_LARGEST_FILE = 500_000
_KEYWORDS = (
    r"def|class|func|function|fn|fun|struct|interface|type|enum|trait|impl|module|mod|const|let|"
    r"var|val|sub|proc|defp|defmodule|macro|namespace|package|object|record|protocol|extension"
)


def note(topic: Node, root: str, handle: str) -> None:
    """Put a handle first among those of a topic, with the present size and time of its file."""
    path = _path(root, handle)
    if len(handle) > _LONGEST_HANDLE or path is None:
        return
    size, stamp = _stamp(path)
    if size < 0:
        return
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
    name = re.escape(symbol.rpartition(".")[2].partition("~")[0])
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            text = source.read(_LARGEST_FILE)
    except OSError:
        return ""
    if re.search(rf"\b(?:{_KEYWORDS})\s+(?:\([^)\n]*\)\s*)?{name}\b", text):
        return handle
    return file if re.search(rf"\b{name}\b", text) else ""


def _path(root: str, handle: str) -> str | None:
    """The file of a handle; None for one of another branch, or outside of the worktree."""
    file = handle.partition("#")[0]
    if not file or ":" in file or "\0" in file or "%00" in file or file.startswith(("/", "..")):
        return None
    # A handle percent-escapes what it is cut at.
    raw = re.sub(rb"%([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), os.fsencode(file))
    name = os.fsdecode(raw)
    path = os.path.normpath(os.path.join(root, name))
    return path if path.startswith(root.rstrip(os.sep) + os.sep) else None


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return -1, 0
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else (-1, 0)
