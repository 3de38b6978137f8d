"""What git's index says of a path met on the disk, with core.ignoreCase or without."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from codelens.scope.git_index.git_index import TrackedSet

FolderKind = Literal["tracked", "gitlink", "unknown"]


class Tracked:
    """Look-ups in a `TrackedSet`; with `fold` names are equal that differ in ASCII case alone."""

    def __init__(self, tracked: TrackedSet, *, fold: bool) -> None:
        self.paths = tracked.paths
        self.folders = tracked.folders
        self._gitlinks = tracked.gitlinks
        self._replaced_gitlinks = tracked.replaced_gitlinks
        self._fold = fold
        self._folded_paths: dict[bytes, list[bytes]] = {}
        self._folded_folders: set[bytes] = set()
        if fold:
            for path in sorted(tracked.paths):
                self._folded_paths.setdefault(path.lower(), []).append(path)
            self._folded_folders = {path.lower() for path in tracked.folders}

    def kind_of_folder(self, path: bytes) -> FolderKind:
        """What a folder on the disk is to the index (`directory_exists_in_index` of dir.c).

        With `fold` git looks the name up in a hash, which gives the last entry of that name: of
        several spellings, and of the stages of a conflict.
        """
        if not self._fold:
            if path in self._gitlinks:
                return "gitlink"
            return "tracked" if path in self.folders else "unknown"
        lower = path.lower()
        if lower in self._folded_folders:
            return "tracked"
        last = self._folded_paths.get(lower, [b""])[-1]
        is_gitlink = last in self._gitlinks and last not in self._replaced_gitlinks
        return "gitlink" if is_gitlink else "unknown"

    def spellings(self, path: bytes) -> list[bytes]:
        """Tracked paths that differ from `path` in case alone; none without `fold`."""
        return self._folded_paths.get(path.lower(), []) if self._fold else []

    def directly_in(self, folders: Collection[bytes]) -> dict[bytes, list[bytes]]:
        """Tracked paths by the one of `folders` that they lie directly in."""
        paths_by_folder: dict[bytes, list[bytes]] = {folder: [] for folder in folders}
        for path in self.paths:
            here = paths_by_folder.get(path[: max(path.rfind(b"/"), 0)])
            if here is not None:
                here.append(path)
        return paths_by_folder
