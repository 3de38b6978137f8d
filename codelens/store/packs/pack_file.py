r"""The file of a pack: a head in JSON, frames of compressed records, and a digest of it all.

    "codelens pack\n", uint32 length, head
    frames: uint32 compressed length, uint32 length, SHA-256 of the compressed bytes, bytes (xz)
    uint32 0, uint32 number of records, SHA-256 of all bytes before it

Little-endian. The same facts give the same bytes: no time, no name of a machine or a folder is in
it. xz is in Python's standard library, zstd only from Python 3.14 on; at its lowest but one level
it packs Django smaller than zstd's tenth (11.7 and 12.5 MB), and unpacks it in half a second.

Whoever reads one is in no danger from its sizes: each is checked before anything is made of it,
and no more is decompressed than a frame may hold.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, cast

from codelens.store.packs.pack_errors import UnusablePack

FORMAT = 2
_MAGIC = b"codelens pack\n"
_LENGTH = struct.Struct("<I")
_FRAME = struct.Struct("<II")
_FRAME_BYTES = 4 * 1024 * 1024
"""Records are gathered up to so many bytes."""
_MOST_FRAME_BYTES = 96 * 1024 * 1024
_MOST_RECORD_BYTES = _MOST_FRAME_BYTES - _FRAME_BYTES - _LENGTH.size
_MOST_HEAD_BYTES = 64 * 1024
_MOST_BYTES = 8 * 1024**3
"""Of all records together: more than a hundred times Django's."""
_MEMORY_BYTES = 64 * 1024 * 1024
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 1}]
_DIGEST = 32


class PackWriter:
    """Writes a pack, record by record.

    Args:
        file: open for writing, empty.
        head: what is said of the whole pack.
    """

    def __init__(self, file: BinaryIO, head: Mapping[str, object]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self.count = 0
        text = json.dumps({"format": FORMAT, **head}, sort_keys=True).encode("ascii")
        self._put(_MAGIC + _LENGTH.pack(len(text)) + text)

    def add(self, record: bytes) -> bool:
        """One more record; False if it is larger than any may be, and was left out."""
        if len(record) > _MOST_RECORD_BYTES:
            return False
        self._pending += (_LENGTH.pack(len(record)), record)
        self._pending_bytes += len(record)
        self.count += 1
        if self._pending_bytes >= _FRAME_BYTES:
            self._put_frame()
        return True

    def close(self) -> None:
        """The end of the pack; the file stays open."""
        self._put_frame()
        self._put(_FRAME.pack(0, self.count))
        self._file.write(self._digest.digest())

    def _put_frame(self) -> None:
        if not self._pending:
            return
        raw = b"".join(self._pending)
        data = lzma.compress(raw, lzma.FORMAT_XZ, lzma.CHECK_NONE, filters=_FILTERS)
        self._put(_FRAME.pack(len(data), len(raw)) + hashlib.sha256(data).digest() + data)
        self._pending, self._pending_bytes = [], 0

    def _put(self, data: bytes) -> None:
        self._digest.update(data)
        self._file.write(data)


class PackReader:
    """Reads a pack that anybody may have made.

    Args:
        file: open for reading, at its start.
        name: of the file, for messages.

    Raises:
        UnusablePack: it is no pack, or of a newer format.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._digest = hashlib.sha256()
        if self._take(len(_MAGIC)) != _MAGIC:
            raise UnusablePack(name, "it is no pack of codelens", "name a file of `codelens pack`")
        (length,) = _LENGTH.unpack(self._take(_LENGTH.size))
        if length > _MOST_HEAD_BYTES:
            raise self._unusable("its head is too large")
        try:
            head = json.loads(self._take(length))
        except (ValueError, RecursionError) as error:
            raise self._unusable("its head is no JSON") from error
        if not isinstance(head, dict):
            raise self._unusable("its head is no object")
        self.head = cast("dict[str, Any]", head)
        if self.head.get("format") != FORMAT:
            raise UnusablePack(
                name,
                f"it is of format {str(self.head.get('format'))[:20]}, this codelens reads "
                f"{FORMAT}",
                "make it with the codelens that reads it",
            )

    def records(self) -> Iterator[bytes]:
        """Each record; the digest of the whole is compared at the end.

        Raises:
            UnusablePack: it is damaged, cut short, or says sizes that no pack has.
        """
        count = total = 0
        while True:
            size, raw_size = _FRAME.unpack(self._take(_FRAME.size))
            if not size:
                self._end(count, raw_size)
                return
            total += raw_size
            if not 0 < raw_size <= _MOST_FRAME_BYTES or size > _MOST_FRAME_BYTES:
                raise self._unusable("a frame is larger than any may be")
            if total > _MOST_BYTES:
                raise self._unusable("it holds more than any pack may")
            for record in self._split(self._raw(size, raw_size)):
                count += 1
                yield record

    def _raw(self, size: int, raw_size: int) -> bytes:
        digest = self._take(_DIGEST)
        data = self._take(size)
        if hashlib.sha256(data).digest() != digest:
            raise self._unusable("a frame is damaged")
        try:
            unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, _MEMORY_BYTES)
            # One byte more than there may be shows that there is more.
            raw = unpacker.decompress(data, raw_size + 1)
        except lzma.LZMAError as error:
            raise self._unusable(f"a frame cannot be decompressed ({error})") from error
        if len(raw) != raw_size or not unpacker.eof or unpacker.unused_data:
            raise self._unusable("a frame does not hold what it says")
        return raw

    def _split(self, raw: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(raw):
            if at + _LENGTH.size > len(raw):
                raise self._unusable("a record is cut short")
            (length,) = _LENGTH.unpack_from(raw, at)
            at += _LENGTH.size
            if not length or at + length > len(raw):
                raise self._unusable("a record is cut short")
            yield raw[at : at + length]
            at += length

    def _end(self, count: int, stated: int) -> None:
        digest = self._digest.digest()
        if self._file.read(_DIGEST + 1) != digest or count != stated:
            raise self._unusable("its end does not fit what is before it")

    def _take(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) != size:
            raise self._unusable("it ends too soon")
        self._digest.update(data)
        return data

    def _unusable(self, why: str) -> UnusablePack:
        return UnusablePack(self._name, why)
