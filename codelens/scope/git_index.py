"""Reads git's index file, which lists the tracked files.

`read_index` returns all of it, `read_by_path` entries on demand, `read_tracked` only names, and
`read_content` serves several uses.

libgit2 does not open sparse and split indexes, so codelens parses the file itself: versions 2 to 4,
SHA-1, after git's Documentation/gitformat-index.txt. Like git, it does not verify the checksum at
the end. Object ids are raw bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Final, NamedTuple, TypeVar

from codelens.errors import ReadError
from codelens.scope.git_index_file import (
    COMPARED,
    SECOND_NS,
    SKIP_WORKTREE,
    UNCOMPARED,
    Damaged,
    IndexEntry,
    IndexFile,
    Record,
    load,
    merged,
    same_stat,
    shared_id,
    stage_of,
    unpacked,
)

ExpandTree = Callable[[str, bytes], Iterable[tuple[bytes, int, bytes]]]
"""From a tree's id in hex and a folder with its slash: path, mode and id of all files below. Modes
are those that git writes today: old trees have others, such as 0o100664.
"""

GITLINK: Final = 0o160000
_FOLDER: Final = 0o040000
_REGULAR: Final = 0o100000
_TYPE_BITS: Final = 0o170000
_SHARED_NAME: Final = "sharedindex."
_IGNORE_NAME: Final = b".gitignore"
# Where an entry has the byte with its type bits, and the values of that byte for submodules and
# folders.
_TYPE_AT: Final = 26
_GITLINK_BYTE: Final = GITLINK >> 8
_FOLDER_BYTE: Final = _FOLDER >> 8
_TYPE_BITS_OF_BYTE: Final = _TYPE_BITS >> 8
_OURS: Final = 2
"""The stage of our side in a conflict."""
_GIT_FOLDERS: Final = (b"\0.git/", b"\0.git\0", b"/.git/", b"/.git\0")
_Result = TypeVar("_Result")


class _SharedMissing(Damaged):
    """A split index names a file that does not exist."""


class TrackedSet(NamedTuple):
    """The tracked paths, as far as they decide which files belong to the index."""

    paths: frozenset[bytes]
    """All tracked paths, including submodules."""
    gitlinks: frozenset[bytes]
    """Submodules."""
    replaced_gitlinks: frozenset[bytes]
    """Submodules in a conflict, in which a later stage is a file."""
    folders: frozenset[bytes]
    """All folders above tracked paths, except for the root."""
    ignore_blobs: dict[bytes, bytes]
    """Ignore files with skip-worktree and their object ids: git reads these if they are not on
    disk.
    """
    digest: bytes
    """Digest of 16 bytes; equal for two indexes that select the same files."""
    in_order: tuple[bytes, ...]
    """The distinct paths in git's order. Sorting 200,000 takes longer than reading them."""


def _is_compared(entry: IndexEntry) -> bool:
    """Whether it is a file whose stat git compares, and not one of a conflict."""
    return (
        entry.mode & _TYPE_BITS == _REGULAR
        and not (entry.stage or entry.intent_to_add)
        and not (entry.assume_unchanged or entry.skip_worktree)
    )


class EntriesByPath(Mapping[bytes, IndexEntry]):
    """Entries by path; in a conflict the own side's stage, or else the first one.

    Entries are unpacked on demand. A comparison needs only the few files that changed, and
    unpacking is most of the cost of reading.
    """

    def __init__(self, packed: IndexFile | None, unpacked: Iterable[IndexEntry]) -> None:
        """Takes the packed entries of an index file, or entries that are unpacked already."""
        self._data = packed.data if packed is not None else b""
        self._records: dict[bytes, Record] = {}
        for record in packed.records if packed is not None else ():
            if record[1] not in self._records or stage_of(record[2]) == _OURS:
                self._records[record[1]] = record
        self._unpacked: dict[bytes, IndexEntry] = {}
        for entry in unpacked:
            if entry.path not in self._unpacked or entry.stage == _OURS:
                self._unpacked[entry.path] = entry

    def __getitem__(self, path: bytes) -> IndexEntry:
        entry = self._unpacked.get(path)
        if entry is None:
            entry = self._unpacked[path] = unpacked(self._data, self._records[path])
        return entry

    def __contains__(self, path: object) -> bool:
        return path in self._records or path in self._unpacked

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._records or self._unpacked)

    def __len__(self) -> int:
        return len(self._records or self._unpacked)

    def of_types(self, types: Collection[int]) -> list[IndexEntry]:
        """Returns the entries whose mode has one of these type bits, in git's order."""
        if not self._records:
            return [entry for entry in self._unpacked.values() if entry.mode & _TYPE_BITS in types]
        type_bytes = {type_bits >> 8 for type_bits in types}
        return [
            self[path]
            for path, (at, _, _) in self._records.items()
            if self._data[at + _TYPE_AT] & _TYPE_BITS_OF_BYTE in type_bytes
        ]


Unchanged = tuple[bytes, bytes, os.stat_result]
"""The path of a file, the object id in its entry, and its lstat."""


class IndexContent(NamedTuple):
    """The entries of an index, packed as long as one file has them all."""

    packed: IndexFile | None
    entries: list[IndexEntry]
    """All entries if `packed` is None."""

    def tracked(self) -> TrackedSet:
        """Returns the tracked paths."""
        if self.packed is None:
            return _tracked_set(
                [entry.path for entry in self.entries],
                [at for at, entry in enumerate(self.entries) if entry.mode & _TYPE_BITS == GITLINK],
                {
                    entry.path: entry.oid
                    for entry in self.entries
                    if entry.skip_worktree and _is_ignore(entry.path)
                },
            )
        data, records = self.packed.data, self.packed.records
        gitlinks: list[int] = []
        if _has_type(self.packed, _GITLINK_BYTE):
            gitlinks = [
                number
                for number, (at, _, _) in enumerate(records)
                if data[at + _TYPE_AT] == _GITLINK_BYTE
            ]
        blobs = {
            path: unpacked(data, (at, path, flags)).oid
            for at, path, flags in records
            if flags & SKIP_WORKTREE and _is_ignore(path)
        }
        return _tracked_set([path for _, path, _ in records], gitlinks, blobs)

    def unchanged(self, files: Mapping[bytes, os.stat_result]) -> Iterator[Unchanged]:
        """Yields the `files` whose stat is that of their entry, in git's order.

        Leaves out files of a conflict, and those whose stat git does not compare.
        """
        if self.packed is None:
            for entry in self.entries:
                status = files.get(entry.path)
                if status is None or not _is_compared(entry):
                    continue
                if same_stat(entry.stat, entry.mode, status):
                    yield entry.path, entry.oid, status
            return
        data, unpack, get = self.packed.data, COMPARED.unpack_from, files.get
        for at, path, flags in self.packed.records:
            status = get(path)
            if status is None or flags & UNCOMPARED:
                continue
            c_s, c_ns, m_s, m_ns, ino, mode, size, oid = unpack(data, at)
            stat = m_s * SECOND_NS + m_ns, c_s * SECOND_NS + c_ns, size, ino
            if same_stat(stat, mode, status):
                yield path, oid, status


def _tracked_set(paths: list[bytes], gitlinks: list[int], blobs: dict[bytes, bytes]) -> TrackedSet:
    """Builds the set from paths in git's order and the positions of gitlinks."""
    lowered = b"\0" + b"\0".join(paths).lower() + b"\0"
    if any(part in lowered for part in _GIT_FOLDERS):
        # Only an attacker can have tracked them: git refuses to add them or to check them out.
        links_at = set(gitlinks)
        allowed = [at for at, path in enumerate(paths) if b".git" not in path.lower().split(b"/")]
        gitlinks = [position for position, at in enumerate(allowed) if at in links_at]
        paths = [paths[at] for at in allowed]
    links = [paths[position] for position in gitlinks]
    positions = set(gitlinks)
    file_follows = {
        paths[at]: at + 1 not in positions and paths[at + 1 : at + 2] == [paths[at]]
        for at in gitlinks
    }
    replaced = [path for path, follows in file_follows.items() if follows]
    digest = blake2b(digest_size=16)
    in_order = tuple(dict.fromkeys(paths))
    digest.update(b"\0".join(in_order))
    digest.update(b"\0\0" + b"\0".join(links) + b"\0\0" + b"\0".join(replaced))
    for path, oid in blobs.items():
        digest.update(path + b"\0" + oid)
    return TrackedSet(
        frozenset(in_order),
        frozenset(links),
        frozenset(replaced),
        _folders_of(paths),
        blobs,
        digest.digest(),
        in_order,
    )


def _folders_of(paths: list[bytes]) -> frozenset[bytes]:
    folders: set[bytes] = set()
    last = b""
    for path in paths:
        folder = path[: path.rfind(b"/") + 1]
        if folder == last:
            continue
        last = folder
        folder = folder[:-1]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition(b"/")[0]
    return frozenset(folders)


NOTHING_TRACKED: Final = _tracked_set([], [], {})


def read_index(
    path: str | os.PathLike[str], *, expand_tree: ExpandTree | None = None
) -> list[IndexEntry]:
    """Returns all entries in git's order (path, then stage); none if the file does not exist.

    Args:
        path: the index file, in the worktree's own git folder.
        expand_tree: opens the folders of a sparse index.

    Raises:
        ReadError: it cannot be read, or is damaged.
        UnsupportedRepository: it has an unknown extension.
    """
    file = os.fspath(path)
    return _guarded(file, lambda: _all_entries(file, load(file), expand_tree))


def read_by_path(
    path: str | os.PathLike[str], *, expand_tree: ExpandTree | None = None
) -> EntriesByPath:
    """Returns the entries for lookups by path. Arguments and errors are those of `read_index`."""
    content = read_content(path, expand_tree=expand_tree)
    return EntriesByPath(content.packed, content.entries)


def read_tracked(
    path: str | os.PathLike[str], *, expand_tree: ExpandTree | None = None
) -> TrackedSet:
    """Returns only paths, at a lower cost than `read_index`; arguments and errors are the same."""
    return read_content(path, expand_tree=expand_tree).tracked()


def read_content(
    path: str | os.PathLike[str], *, expand_tree: ExpandTree | None = None
) -> IndexContent:
    """Reads the index once, for several uses. Arguments and errors are those of `read_index`."""
    file = os.fspath(path)

    def read() -> IndexContent:
        loaded = load(file)
        if loaded is None or not _needs_more(loaded):
            return IndexContent(loaded, [])
        return IndexContent(None, _all_entries(file, loaded, expand_tree))

    return _guarded(file, read)


def index_files(path: str | os.PathLike[str]) -> list[str]:
    """Returns the files of an index: the file itself, and the shared part of a split index.

    Lists git's folder, and reads the index only if the folder has a shared part. Errors are those
    of `read_index`.
    """
    file = os.fspath(path)

    def name_them() -> list[str]:
        try:
            names = os.listdir(os.path.dirname(file) or os.curdir)
        except (FileNotFoundError, NotADirectoryError):
            return [file]
        if not any(name.startswith(_SHARED_NAME) for name in names):
            return [file]
        loaded = load(file)
        base = loaded and shared_id(loaded)
        return [file, _shared_file(file, base)] if base else [file]

    return _guarded(file, name_them)


def _guarded(file: str, read: Callable[[], _Result]) -> _Result:
    remedy = "run `git status` there; if git cannot read it either, remove it and run `git reset`"
    try:
        try:
            return read()
        except _SharedMissing:
            return read()  # git may have replaced both files between the two reads
    except (Damaged, IndexError, ValueError) as error:
        raise ReadError(f"git's index {file!r} is damaged ({error}); {remedy}") from error
    except OSError as error:
        raise ReadError(f"cannot read git's index {file!r}: {error.strerror}; {remedy}") from error


def _needs_more(loaded: IndexFile) -> bool:
    """Whether other files have entries too: a shared part, or trees of a sparse index."""
    return loaded.link is not None or _has_type(loaded, _FOLDER_BYTE)


def _has_type(loaded: IndexFile, type_byte: int) -> bool:
    data = loaded.data
    return type_byte in {data[at + _TYPE_AT] for at, _, _ in loaded.records}


def _is_ignore(path: bytes) -> bool:
    return path.endswith(_IGNORE_NAME) and path.rpartition(b"/")[2] == _IGNORE_NAME


def _all_entries(
    file: str, loaded: IndexFile | None, expand_tree: ExpandTree | None
) -> list[IndexEntry]:
    if loaded is None:
        return []
    entries = _entries(loaded)
    if loaded.link is not None:
        entries = _with_shared(file, loaded, entries)
    if any(entry.mode == _FOLDER for entry in entries):
        return _expanded(file, entries, expand_tree)
    return entries


def _entries(loaded: IndexFile) -> list[IndexEntry]:
    """Returns the entries of one file. Entries that replace a shared one have empty names."""
    data = loaded.data
    return [unpacked(data, record) for record in loaded.records]


def _shared_file(file: str, base: bytes) -> str:
    return os.path.join(os.path.dirname(file), _SHARED_NAME + base.hex())


def _with_shared(file: str, loaded: IndexFile, own: list[IndexEntry]) -> list[IndexEntry]:
    base = shared_id(loaded)
    if base is None:
        return own
    name = _shared_file(file, base)
    shared = load(name)
    if shared is None:
        raise _SharedMissing(f"its shared part {name!r} is missing")
    if shared.checksum != base:
        raise Damaged(f"its shared part {name!r} has a different checksum")
    return merged(loaded, own, _entries(shared))


def _expanded(
    file: str, entries: list[IndexEntry], expand_tree: ExpandTree | None
) -> list[IndexEntry]:
    """Replaces the folders of a sparse index by their files."""
    if expand_tree is None:
        raise ReadError(
            f"git's index {file!r} is sparse; run `git sparse-checkout reapply --no-sparse-index`"
        )
    index_entries = [entry for entry in entries if entry.mode != _FOLDER]
    for entry in entries:
        if entry.mode == _FOLDER:
            for path, mode, oid in expand_tree(entry.oid.hex(), entry.path):
                index_entries.append(IndexEntry(path, mode, oid, 0, 0, 0, 0, 0, True, False, False))
    return sorted(index_entries, key=lambda entry: (entry.path, entry.stage))
