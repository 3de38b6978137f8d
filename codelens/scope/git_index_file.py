"""Parses the bytes of an index file: header, entries, extensions (git's gitformat-index)."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from codelens.errors import UnsupportedRepository
from codelens.scope.location import READ

FIXED: Final = struct.Struct(">10I20s")
COMPARED: Final = struct.Struct(">4I4xII8xI20s")
"""`FIXED` without device, user and group, which are not compared."""
"""An entry up to its flags: ctime and mtime (seconds, nanoseconds), dev, inode, mode, uid, gid,
size, object id.
"""
ASSUME_UNCHANGED: Final = 0x8000
SKIP_WORKTREE: Final = 0x4000_0000
INTENT_TO_ADD: Final = 0x2000_0000
UNCOMPARED: Final = ASSUME_UNCHANGED | SKIP_WORKTREE | INTENT_TO_ADD | 0x3000
"""Flags of entries that git does not compare with a file: of these kinds, or of a conflict."""
_TYPE_BITS: Final = 0o170000
_LINK_TYPE: Final = 0o120000
_OWNER_RUNS: Final = 0o100
_STAT_BITS: Final = 0xFFFF_FFFF
"""git stores the lower half of inode and size."""

_HEADER: Final = struct.Struct(">4sII")
_EXTENSION: Final = struct.Struct(">4sI")
_CHECKSUM_BYTES: Final = 20
SECOND_NS: Final = 1_000_000_000
_FLAGS_AT: Final = 60
_NAME_AT: Final = 62
_NAME_MASK: Final = 0xFFF
EXTENDED: Final = 0x4000
FLAGS_BYTES: Final = (2, 4)
"""The size of flags without and with the extended ones."""
_UNKNOWN_FLAGS: Final = 0x9FFF_0000
_LINK: Final = b"link"
_SPARSE: Final = b"sdir"
SEARCHABLE_HEADS: Final = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")
"""The first bytes of index versions that store each name in full, followed by NUL."""
UNSEARCHABLE_PARTS: Final = (_LINK + b"\0", _SPARSE + b"\0")
"""Bytes in every index that keeps entries elsewhere: the name of the extension, and the first byte
of its size, which is 0.
"""

Record = tuple[int, bytes, int]
"""The offset of an entry, its path, and its flags with the extended ones in the upper half."""

Stat = tuple[int, int, int, int]
"""mtime and ctime in nanoseconds, and size and inode modulo 2^32."""


class IndexEntry(NamedTuple):
    """One entry. Stat fields are git's: times, and inode and size modulo 2^32."""

    path: bytes
    mode: int
    oid: bytes
    stage: int
    """0, or 1 to 3 in a conflict: base, own side, other side."""
    mtime_ns: int
    ctime_ns: int
    size: int
    ino: int
    skip_worktree: bool
    assume_unchanged: bool
    intent_to_add: bool

    @property
    def stat(self) -> Stat:
        """What git compares with a file's stat, except for the mode."""
        return self.mtime_ns, self.ctime_ns, self.size, self.ino


class Damaged(Exception):
    """The bytes do not follow the format."""


class IndexFile(NamedTuple):
    """An index file split into its parts."""

    data: bytes
    records: list[Record]
    link: bytes | None
    """The body of the extension that makes the index a split one."""

    @property
    def checksum(self) -> bytes:
        """The SHA-1 recorded in the file. It names a shared index."""
        return self.data[-_CHECKSUM_BYTES:]


def unpacked(data: bytes, record: Record) -> IndexEntry:
    """Unpacks one entry of the index bytes."""
    at, path, flags = record
    c_s, c_ns, m_s, m_ns, _, ino, mode, _, _, size, oid = FIXED.unpack_from(data, at)
    return IndexEntry(
        path,
        mode,
        oid,
        stage_of(flags),
        m_s * SECOND_NS + m_ns,
        c_s * SECOND_NS + c_ns,
        size,
        ino,
        flags & SKIP_WORKTREE != 0,
        flags & ASSUME_UNCHANGED != 0,
        flags & INTENT_TO_ADD != 0,
    )


def same_stat(stat: Stat, mode: int, status: os.stat_result) -> bool:
    """Compares the stat and mode of an entry by git's rule (read-cache.c).

    The caller has to doubt a file that is as new as the index.
    """
    return stat == (
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_size & _STAT_BITS,
        status.st_ino & _STAT_BITS,
    ) and same_mode(mode, status)


def same_mode(mode: int, status: os.stat_result) -> bool:
    """Whether a file has the kind of an entry: a link, an executable file or another file."""
    differing = mode ^ status.st_mode
    return not differing & _TYPE_BITS and (
        not differing & _OWNER_RUNS or mode & _TYPE_BITS == _LINK_TYPE
    )


def stage_of(flags: int) -> int:
    """Returns 0, or 1 to 3 in a conflict."""
    return flags >> 12 & 3


def index_bytes(file: str) -> bytes:
    """Returns all bytes of an index file.

    Raises:
        OSError: it cannot be read.
    """
    # A pipe would block; with these flags it reads as empty.
    with open(os.open(file, READ), "rb") as stream:
        return stream.read()


def load(file: str) -> IndexFile | None:
    """Reads an index file; None if it does not exist.

    Raises:
        Damaged: the bytes do not follow the format; IndexError and ValueError mean the same.
        OSError: it cannot be read.
        UnsupportedRepository: it has an unknown extension that changes the meaning.
    """
    try:
        data = index_bytes(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(data) < _HEADER.size + _CHECKSUM_BYTES:
        raise Damaged("it is too short")
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC":
        raise Damaged("its first bytes are not DIRC")
    if version not in (2, 3, 4):
        raise UnsupportedRepository(
            file, f"its index has version {version}", "run `git update-index --index-version 4`"
        )
    records, end = (_compressed if version == 4 else _plain)(data, count)
    if end > len(data) - _CHECKSUM_BYTES:
        raise Damaged("it is cut off")
    return IndexFile(data, records, _extensions(file, data, end).get(_LINK))


def _plain(data: bytes, count: int) -> tuple[list[Record], int]:
    """Returns the entries of versions 2 and 3, and where they end."""
    records: list[Record] = []
    at = _HEADER.size
    for _ in range(count):
        flags = data[at + _FLAGS_AT] << 8 | data[at + _FLAGS_AT + 1]
        start = at + _NAME_AT
        if flags & EXTENDED:
            flags, start = _extended(data, start, flags), start + 2
        length = flags & _NAME_MASK
        end = data.index(0, start) if length == _NAME_MASK else start + length
        records.append((at, data[start:end], flags))
        at += (end - at + 8) & ~7
    return records, at


def _compressed(data: bytes, count: int) -> tuple[list[Record], int]:
    """Returns the entries of version 4, in which a name continues a prefix of the previous name."""
    records: list[Record] = []
    at = _HEADER.size
    name = b""
    for _ in range(count):
        flags = data[at + _FLAGS_AT] << 8 | data[at + _FLAGS_AT + 1]
        start = at + _NAME_AT
        if flags & EXTENDED:
            flags, start = _extended(data, start, flags), start + 2
        # git's variable-width integer: each byte but the last adds one before the shift.
        byte = data[start]
        strip = byte & 0x7F
        while byte & 0x80:
            start += 1
            byte = data[start]
            strip = (strip + 1) << 7 | byte & 0x7F
        if strip > len(name):
            raise Damaged(f"a bad name follows {name[:80]!r}")
        start += 1
        end = data.index(0, start)
        name = name[: len(name) - strip] + data[start:end]
        records.append((at, name, flags))
        at = end + 1
    return records, at


def _extended(data: bytes, at: int, flags: int) -> int:
    flags |= data[at] << 24 | data[at + 1] << 16
    if flags & _UNKNOWN_FLAGS:
        raise Damaged(f"an entry has flags {flags:#x}")
    return flags


def _extensions(file: str, data: bytes, at: int) -> dict[bytes, bytes]:
    """Returns the extensions that change the meaning of entries."""
    by_signature: dict[bytes, bytes] = {}
    limit = len(data) - _CHECKSUM_BYTES
    while at + _EXTENSION.size <= limit:
        name, size = _EXTENSION.unpack_from(data, at)
        at += _EXTENSION.size
        if at + size > limit:
            raise Damaged("an extension is cut off")
        if name in (_LINK, _SPARSE):
            by_signature[name] = data[at : at + size]
        elif not b"A" <= name[:1] <= b"Z":
            raise UnsupportedRepository(
                file,
                f"its index has the extension {name!r}",
                "a newer codelens may support it; `git read-tree HEAD` writes an index without it",
            )
        at += size
    return by_signature


# In a split index, a shared file has most entries; the index file has the changes to them.

_ID_BYTES: Final = 20
_WORD_BITS: Final = 64


def shared_id(index: IndexFile) -> bytes | None:
    """Returns the id in the shared file's name; None if the index needs no shared file."""
    if index.link is None:
        return None
    if len(index.link) < _ID_BYTES:
        raise Damaged("its link to a shared part is cut off")
    base = index.link[:_ID_BYTES]
    return base if any(base) else None


def merged(index: IndexFile, own: list[IndexEntry], shared: list[IndexEntry]) -> list[IndexEntry]:
    """Returns the entries of a split index in git's order.

    The first entries of `own` replace the entries of `shared` that one bitmap marks, and keep their
    names. Then the entries that the other bitmap marks are deleted, and the rest of `own` is added.
    """
    deleted, replaced = _bitmaps(index.link or b"")
    if len(replaced) > len(own) or any(at >= len(shared) for at in (*deleted, *replaced)):
        raise Damaged("its link to a shared part does not match")
    result = list(shared)
    for at, entry in zip(replaced, own, strict=False):
        result[at] = entry._replace(path=shared[at].path)
    gone = set(deleted)
    by_path = {
        (entry.path, entry.stage): entry for at, entry in enumerate(result) if at not in gone
    }
    for entry in own[len(replaced) :]:
        if entry.stage == 0:
            for stage in (1, 2, 3):
                by_path.pop((entry.path, stage), None)
        by_path[entry.path, entry.stage] = entry
    return [by_path[key] for key in sorted(by_path)]


def _bitmaps(link: bytes) -> tuple[list[int], list[int]]:
    if len(link) == _ID_BYTES:
        return [], []
    deleted, at = _ewah(link, _ID_BYTES)
    replaced, at = _ewah(link, at)
    if at != len(link):
        raise Damaged("its link to a shared part has a wrong length")
    return deleted, replaced


def _ewah(data: bytes, at: int) -> tuple[list[int], int]:
    """Returns the set bits of a compressed bitmap (git's ewah/), and where the bitmap ends.

    A marker word has the value of a run (1 bit), its length in words (32 bits), and the number of
    literal words that follow (31 bits).
    """
    try:
        (count,) = struct.unpack_from(">I", data, at + 4)
        words = struct.unpack_from(f">{count}Q", data, at + 8)
    except struct.error as error:
        raise Damaged("a bitmap is cut off") from error
    bits: list[int] = []
    position = 0
    word = 0
    while word < count:
        marker = words[word]
        run = (marker >> 1 & 0xFFFF_FFFF) * _WORD_BITS
        if marker & 1:
            _check_run(run)
            bits.extend(range(position, position + run))
        position += run
        literals = words[word + 1 : word + 1 + (marker >> 33)]
        for literal in literals:
            bits.extend(position + bit for bit in range(_WORD_BITS) if literal >> bit & 1)
            position += _WORD_BITS
        word += 1 + len(literals)
    return bits, at + 8 + count * 8 + 4


def _check_run(bits: int) -> None:
    # No index has so many entries. Without this check, a damaged length would make the loop
    # allocate gigabytes.
    if bits > 1 << 28:
        raise Damaged("a bitmap is too long")


# Searches the bytes of an index for an entry.
#
# For the few files that were edited a search suffices, at a hundredth of the cost of a parse. It
# has false positives, which a parse must confirm, but no false negatives.

_OID_BYTES: Final = 20


class IndexGlance:
    """The current bytes of one index file."""

    def __init__(self, file: str) -> None:
        try:
            self._data = index_bytes(file)
        except OSError:
            self._data = b""
        # Version 4 shortens names, and a split or sparse index has entries elsewhere.
        self._is_searchable = self._data.startswith(SEARCHABLE_HEADS) and not any(
            part in self._data for part in UNSEARCHABLE_PARTS
        )

    def may_name(self, name: bytes) -> bool:
        """Whether it may have a path that ends with a name; True if it cannot be searched."""
        return not self._is_searchable or name + b"\0" in self._data

    def may_hold(self, path: bytes, oid: bytes, fits: Callable[[IndexEntry], bool]) -> bool:
        """Whether it may have an entry for a path and object that `fits` accepts.

        True if the index cannot be searched.
        """
        if not self._is_searchable:
            return True
        data = self._data
        at = data.find(path + b"\0")
        while at >= 0:
            for flags_bytes in FLAGS_BYTES:
                start = at - flags_bytes - FIXED.size
                if start >= 0 and data[at - flags_bytes - _OID_BYTES : at - flags_bytes] == oid:
                    flags = int.from_bytes(data[at - flags_bytes : at - flags_bytes + 2], "big")
                    if flags & EXTENDED:
                        flags |= int.from_bytes(data[at - 2 : at], "big") << 16
                    if fits(unpacked(data, (start, path, flags))):
                        return True
            at = data.find(path + b"\0", at + 1)
        return False
