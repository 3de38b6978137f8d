"""Indexes the paths of a view, so that imports find files without a scan.

An added or removed path changes the result of an import only if the import's last segment is the
path's stem or one of its folder names; `codelens.resolve.imports` lists the exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property


def folder_of(path: bytes) -> bytes:
    """Return the folder of `path`, empty for the root of the view."""
    return path[: max(path.rfind(b"/"), 0)]


def name_of(path: bytes) -> bytes:
    """Return the last part of `path`."""
    return path[path.rfind(b"/") + 1 :]


def stem_of(path: bytes) -> bytes:
    """Return the last part of `path` without its last extension."""
    name = name_of(path)
    dot = name.rfind(b".")
    return name[:dot] if dot > 0 else name


def below(folder: bytes, relative: bytes) -> bytes:
    """Append `relative`, which has no `.` or `..`, to `folder`."""
    return b"%b/%b" % (folder, relative) if folder and relative else folder or relative


def joined(folder: bytes, relative: bytes) -> bytes | None:
    """Resolve `relative`, including `.` and `..`, against `folder`; None outside of the view."""
    parts = folder.split(b"/") if folder else []
    for part in relative.split(b"/"):
        if part == b"..":
            if not parts:
                return None
            parts.pop()
        elif part not in {b"", b"."}:
            parts.append(part)
    return b"/".join(parts)


def ancestors(folder: bytes) -> Iterator[bytes]:
    """Yield `folder`, its parent, and so on up to the root of the view."""
    while folder:
        yield folder
        folder = folder_of(folder)
    yield b""


def encoded(text: str) -> bytes:
    """Encode a name from a source text as the bytes of a path."""
    return text.encode("utf-8", "surrogateescape")


class Tree:
    """All files of a view by path, name and folder."""

    def __init__(self, languages: Mapping[bytes, str]) -> None:
        self.languages = languages
        named: dict[bytes, list[bytes]] = {}
        folders: dict[bytes, list[bytes]] = {}
        for path in languages:
            cut = path.rfind(b"/")
            named.setdefault(path[cut + 1 :], []).append(path)
            folders.setdefault(path[: max(cut, 0)], []).append(path)
        self._named = named
        self._folders = folders

    def __contains__(self, path: bytes) -> bool:
        return path in self.languages

    def called(self, name: bytes) -> list[bytes]:
        """Return the files with that last part, including the extension."""
        return self._named.get(name, [])

    def ending(self, suffix: bytes) -> list[bytes]:
        """Return the files whose path is `suffix` or ends with `/` and `suffix`."""
        paths = self._named.get(name_of(suffix), [])
        if b"/" not in suffix:
            return paths
        tail = b"/" + suffix
        return [path for path in paths if path.endswith(tail) or path == suffix]

    def files(self, folder: bytes) -> list[bytes]:
        """Return the files directly in `folder`."""
        return self._folders.get(folder, [])

    def is_folder(self, folder: bytes) -> bool:
        """Whether any file is below `folder`."""
        return folder in self._all_folders

    def folders_ending(self, suffix: bytes) -> list[bytes]:
        """Return the folders whose path is `suffix` or ends with `/` and `suffix`."""
        tail = b"/" + suffix
        folders = self._folders_named.get(name_of(suffix), [])
        return [folder for folder in folders if folder == suffix or folder.endswith(tail)]

    def first(self, candidates: Iterable[bytes]) -> tuple[bytes, ...]:
        """Return the first candidate that is a file of the view."""
        languages = self.languages
        return next(((path,) for path in candidates if path in languages), ())

    @cached_property
    def _all_folders(self) -> set[bytes]:
        folders: set[bytes] = set()
        for start in self._folders:
            folder = start
            while folder not in folders:
                folders.add(folder)
                folder = folder_of(folder)
        return folders

    @cached_property
    def _folders_named(self) -> dict[bytes, list[bytes]]:
        by_name: dict[bytes, list[bytes]] = {}
        for folder in self._all_folders:
            by_name.setdefault(name_of(folder), []).append(folder)
        return by_name


def nearest(path: bytes, candidates: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the candidate that shares most folders with `path`; empty on a tie."""
    paths = list(candidates)
    if len(paths) <= 1:
        return tuple(paths)
    ranked = sorted((shared_folders(path, path_), path_) for path_ in paths)
    return (ranked[-1][1],) if ranked[-1][0] > ranked[-2][0] else ()


def shared_folders(path: bytes, other: bytes) -> int:
    """Return how many folders two files share, from the root on."""
    count = 0
    for left, right in zip(folder_of(path).split(b"/"), folder_of(other).split(b"/"), strict=False):
        if left != right:
            break
        count += 1
    return count
