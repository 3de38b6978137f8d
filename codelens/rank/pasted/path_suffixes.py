"""Which files of a view a path means that was written elsewhere: the longest common end decides.

A trace or a link names files as they lay on another machine, a diff with `a/` before them, a
build below another folder. What is sure is the end of the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codelens.store.views.views import FileRow


class Ending(NamedTuple):
    """The files whose paths have most of their end in common with one path."""

    files: Sequence[FileRow]
    """Shortest path first; empty if none is called so."""
    common: int
    """Folders and name that agree, counted from the end."""
    whole: bool
    """All of the path, or all of the file's, agrees: not only a part of both."""
    all_of_it: bool
    """All of the path as it was written agrees."""


NONE = Ending((), 0, whole=False, all_of_it=False)


def parts_of(path: str) -> tuple[bytes, ...]:
    """Folders and name of a path, without what only says where the root is."""
    text = path.replace("\\", "/")
    if text[1:3] == ":/":
        text = text[3:]
    parts: list[bytes] = []
    for part in text.encode("utf-8", "replace").split(b"/"):
        if part == b"..":
            parts.clear()
        elif part not in {b"", b".", b"~"}:
            parts.append(part)
    return tuple(parts)


class Ends:
    """Answers for a few paths after one walk over the files."""

    def __init__(self, files: Iterable[FileRow], paths: Iterable[str]) -> None:
        last_parts = {parts[-1].lower() for path in paths if (parts := parts_of(path))}
        self._called: dict[bytes, list[FileRow]] = {}
        for file in files if last_parts else ():
            name = file.path[file.path.rfind(b"/") + 1 :].lower()
            if name in last_parts:
                self._called.setdefault(name, []).append(file)

    def find(self, path: str) -> Ending:
        """The files that `path` means best; by exact case, else by any."""
        parts = parts_of(path)
        if not parts:
            return NONE
        known = self._called.get(parts[-1].lower(), ())
        ending = _longest(known, parts)
        if ending.common:
            return ending
        folded = tuple(part.lower() for part in parts)
        return _longest(known, folded, fold=True)


def _longest(files: Iterable[FileRow], parts: Sequence[bytes], *, fold: bool = False) -> Ending:
    best: list[FileRow] = []
    rank = (0, False, False)
    for file in files:
        own = (file.path.lower() if fold else file.path).split(b"/")
        common = 0
        while common < min(len(own), len(parts)) and own[-1 - common] == parts[-1 - common]:
            common += 1
        here = (common, common in {len(own), len(parts)}, common == len(own) == len(parts))
        if common and here >= rank:
            best = [*(best if here == rank else []), file]
            rank = here
    best.sort(key=lambda file: (len(file.path), file.path))
    return Ending(tuple(best), rank[0], rank[1], rank[0] == len(parts))
