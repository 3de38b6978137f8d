"""Reads an index one document at a time, since an index may be gigabytes long and is not trusted.

The schema recommends this ("emit and consume an Index payload one field value at a time"). Only the
outermost message is read here, field by field; protobuf parses each field's value, within limits.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from codelens.errors import CodelensError, SettingError

if TYPE_CHECKING:
    from codelens.scip import scip_pb2

MOST_DOCUMENT_BYTES = 32 << 20
"""A larger document is left out; that of a 1 MB text, the largest that is parsed, has 15 MB."""
MOST_PARTS = 1_000_000
"""A document with more occurrences, symbols and parts of them is left out: protobuf takes 100 bytes
for each."""
_PARTS: Mapping[str, Mapping[int, str]] = {
    "Document": {2: "Occurrence", 3: "SymbolInformation"},
    "Occurrence": {4: "", 6: "Diagnostic"},
    "SymbolInformation": {3: "", 4: "Relationship", 7: "Document"},
    "Relationship": {},
    "Diagnostic": {},
}
"""Message -> its fields that may occur many times, with their messages; empty for texts."""
_MOST_FIELDS = 8 * MOST_PARTS
_COUNTED_FROM = 2 << 20
MOST_METADATA_BYTES = 1 << 20
_METADATA, _DOCUMENT = 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10


class ScipError(CodelensError):
    """A SCIP index cannot be read or written."""


class UnusableIndex(ScipError):
    """A file is not a SCIP index, or is damaged; nothing was imported from it.

    Args:
        file: the file as the caller named it.
        why: what is wrong.
    """

    def __init__(self, file: str, why: str) -> None:
        super().__init__(
            f"{file!r} cannot be read as a SCIP index: {why}; run the indexer again, and name the "
            "file that it wrote"
        )


class ProtobufMissing(ScipError):
    """The library of protobuf is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "SCIP needs the library protobuf, which is not installed; run "
            "`pip install 'codelens[scip]'`"
        )


def schema() -> type[scip_pb2.Index]:
    """The generated class of an index.

    Raises:
        ProtobufMissing: the library is not installed.
    """
    try:
        from codelens.scip import scip_pb2
    except ImportError as error:
        raise ProtobufMissing from error
    return scip_pb2.Index


class Left(NamedTuple):
    """A document that was left out unread, and why."""

    path: str
    why: str


class IndexStream:
    """The fields of an index file in order; may be read several times.

    Args:
        file: the open file, at any position.
        name: the file as the caller named it.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._index = schema()
        self.size_bytes = os.fstat(file.fileno()).st_size
        self.metadata = self._index().metadata
        """Tool, root and encoding; complete once `documents` has ended."""

    def documents(self) -> Iterator[scip_pb2.Document | Left]:
        """Yield each document, or why it is left out.

        Raises:
            UnusableIndex: the file is damaged or of another format.
        """
        from google.protobuf.message import DecodeError

        count = 0
        for number, length in self._fields():
            if number == _METADATA:
                self._read_metadata(length)
                continue
            if number != _DOCUMENT:
                self._skip(length)
                continue
            count += 1
            if length > MOST_DOCUMENT_BYTES:
                self._skip(length)
                yield Left("", f"of {length:,} bytes")
                continue
            data = self._taken(length)
            if len(data) > _COUNTED_FROM and _has_too_many_parts(data):
                yield Left("", f"with more than {MOST_PARTS:,} occurrences and other parts")
                continue
            try:
                document = self._index().documents.add()
                document.MergeFromString(data)
            except (DecodeError, RecursionError) as error:
                why = f"its document {count:,} cannot be decoded"
                raise UnusableIndex(self._name, why) from error
            yield document
        if not count:
            raise UnusableIndex(self._name, "it has no documents")

    def _read_metadata(self, length: int) -> None:
        """Read the metadata; an index has one, so a later one replaces it."""
        from google.protobuf.message import DecodeError

        if length > MOST_METADATA_BYTES:
            raise UnusableIndex(self._name, f"its metadata has {length:,} bytes")
        try:
            self.metadata.ParseFromString(self._taken(length))
        except (DecodeError, RecursionError) as error:
            raise UnusableIndex(self._name, "its metadata cannot be decoded") from error

    def _fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and length of each field; the consumer takes or skips its value."""
        self._file.seek(0)
        while True:
            key = self._varint(may_end=True)
            if key is None:
                return
            number, kind = key >> 3, key & 7
            if number == 0 or kind not in {_VARINT, _FIXED64, _BYTES, _FIXED32}:
                raise UnusableIndex(self._name, "it is not in the format of protobuf")
            if kind == _VARINT:
                self._varint()
            elif kind == _BYTES:
                length = self._varint() or 0
                left = self.size_bytes - self._file.tell()
                if length > left:
                    raise UnusableIndex(
                        self._name, f"it is cut short: {length:,} bytes should follow, {left:,} do"
                    )
                yield number, length
            else:
                self._skip(8 if kind == _FIXED64 else 4)

    def _varint(self, *, may_end: bool = False) -> int | None:
        value = 0
        for at in range(_LONGEST_VARINT):
            byte = self._file.read(1)
            if not byte:
                if may_end and at == 0:
                    return None
                raise UnusableIndex(self._name, "it is cut short")
            value |= (byte[0] & 0x7F) << 7 * at
            if byte[0] < 0x80:
                return value
        raise UnusableIndex(self._name, "it is not in the format of protobuf")

    def _taken(self, length: int) -> bytes:
        data = self._file.read(length)
        if len(data) < length:
            raise UnusableIndex(self._name, "it is cut short")
        return data

    def _skip(self, length: int) -> None:
        self._file.seek(length, os.SEEK_CUR)


def _has_too_many_parts(data: bytes) -> bool:
    """Whether a message has too many parts, at any depth, to be parsed; a malformed one has not."""
    parts = fields = 0
    left = [(0, len(data), "Document")]
    while left:
        at, end, message = left.pop()
        parts_by_number = _PARTS[message]
        while at < end:
            fields += 1
            key, at = _varint_at(data, at)
            if key & 7 == _BYTES:
                length, at = _varint_at(data, at)
                if key >> 3 in parts_by_number:
                    parts += 1
                    inner = parts_by_number[key >> 3]
                    left += [(at, min(at + length, end), inner)] if inner else []
                at += length
            elif key & 7 == _VARINT:
                _, at = _varint_at(data, at)
            else:
                at += 8 if key & 7 == _FIXED64 else 4
            if parts > MOST_PARTS or fields > _MOST_FIELDS:
                return True
    return False


def _varint_at(data: bytes, at: int) -> tuple[int, int]:
    if at < len(data) and data[at] < 0x80:
        return data[at], at + 1
    value = shift = 0
    for byte in data[at : at + _LONGEST_VARINT]:
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value, at


@contextmanager
def opened_index(path: Path) -> Generator[IndexStream]:
    """Open an index file.

    Raises:
        SettingError: it cannot be read, or is not a regular file.
        ProtobufMissing: the library is not installed.
    """
    try:
        if not path.is_file():
            path.stat()
            raise SettingError(f"{str(path)!r} is not a file; name a SCIP index")
        file = path.open("rb")
    except OSError as error:
        raise SettingError(
            f"cannot read the SCIP index {str(path)!r}: {error.strerror or error}; name a file "
            "that an indexer such as scip-python wrote"
        ) from error
    with file:
        yield IndexStream(file, str(path))
