"""The code that a topic is about: handles from the session trail, as far as they still hold.

No index is opened here. A handle was true when its file had a certain size and time; while it has
these, the handle is. In a file that changed since, its definition is looked for by its keyword;
where that leaves a doubt the file alone is named, and a name that is gone is not shown.
"""

from __future__ import annotations

import os
import stat

from codelens.focus.forest import Node

MOST = 2
"""Handles that a topic is shown with."""
_KEPT = 6
_LONGEST_HANDLE = 200
_LARGEST_FILE = 500_000
_KEYWORDS = frozenset(
    "def class func function fn fun struct interface type enum trait impl module mod const let var "
    "val sub proc defp defmodule macro namespace package object record protocol extension".split()
)
_LONGEST_BEFORE = 200
"""Characters before a name that are looked at for its keyword."""


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
    name = symbol.rpartition(".")[2].partition("~")[0]
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            text = source.read(_LARGEST_FILE)
    except OSError:
        return ""
    places = _places(text, name)
    if any(_follows_keyword(text[max(0, at - _LONGEST_BEFORE) : at]) for at in places):
        return handle
    return file if places else ""


def _places(text: str, name: str) -> list[int]:
    """Where a name stands in a text as a whole word."""
    places: list[int] = []
    at = text.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        if not (_goes_on(text[at - 1 : at]) or _goes_on(text[end : end + 1])):
            places.append(at)
        at = text.find(name, end)
    return places


def _goes_on(character: str) -> bool:
    return character.isalnum() or character == "_"


def _follows_keyword(before: str) -> bool:
    """Whether a text ends with a keyword that defines what comes: `def `, `func (r *Reader) `."""
    ahead = before.rstrip()
    if ahead.endswith(")"):
        before, opening, receiver = ahead.rpartition("(")
        if not opening or "\n" in receiver or ")" in receiver[:-1]:
            return False
        ahead = before.rstrip()
    # What stands right before the keyword belongs to no word: `(def`, but not `undef`.
    end = len(ahead)
    while end and _goes_on(ahead[end - 1]):
        end -= 1
    return ahead != before and ahead[end:] in _KEYWORDS


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
    import re  # here, since few paths need it

    raw = re.sub(rb"%([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), os.fsencode(file))
    return os.fsdecode(raw)


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return -1, 0
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else (-1, 0)
