"""The table of word vectors that ships with codelens: its file format, read once per process.

`words.table`, with little-endian integers: the head, then the terms (UTF-8, sorted, separated by
newlines), for each term a gate for questions and one for code (uint16), and for each term its
vector, a byte per number, 128 for zero. Training writes it (`training/table_writer.py`).
"""

from __future__ import annotations

import struct
import sys
import threading
import zlib
from array import array
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from codelens.errors import CodelensError

FILE = Path(__file__).with_name("words.table")
MAGIC = b"codelens words 1"
HEAD = struct.Struct("<16sIIIII32s")
"""Magic, version, numbers per vector, terms, bytes of the terms, and CRC-32 and SHA-256 of
everything after the head."""
LANE = 4
"""Bytes per number when whole vectors are added as one integer."""


class WordTableDamaged(CodelensError):
    """The word table that ships with codelens is missing or damaged."""

    def __init__(self, path: str | Path, why: str) -> None:
        self.path = str(path)
        self.why = why
        super().__init__(
            f"the table of words {self.path!r} cannot be read: {why}; results are ranked without "
            "it: reinstall codelens"
        )


class Head(NamedTuple):
    """The head of a table."""

    version: int
    """Version of the vectors, which grows with each table; different versions never mix."""
    dimension: int
    terms: int
    digest: str


class WordTable:
    """Vectors and gates of terms. Safe to share between threads."""

    def __init__(self, head: Head, body: memoryview, term_bytes: int) -> None:
        self.head = head
        terms = bytes(body[:term_bytes]).decode().split("\n")
        self.number = {term: number for number, term in enumerate(terms)}
        """Term -> its number."""
        gates = array("H", body[term_bytes : term_bytes + 4 * head.terms].tobytes())
        if sys.byteorder == "big":
            gates.byteswap()
        self.said_gates, self.code_gates = gates[: head.terms], gates[head.terms :]
        self._vectors = body[term_bytes + 4 * head.terms :]
        self._wide: list[int] = [0] * head.terms

    def wide(self, number: int) -> int:
        """A term's vector as one integer, `LANE` bytes per number, 128 for zero."""
        wide = self._wide[number]
        if not wide:
            lanes = bytearray(LANE * self.head.dimension)
            lanes[::LANE] = self.vector(number)
            wide = self._wide[number] = int.from_bytes(lanes, "little")
        return wide

    def vector(self, number: int) -> bytes:
        """A term's vector, a byte per number, 128 for zero."""
        width = self.head.dimension
        return bytes(self._vectors[number * width : (number + 1) * width])

    def vectors(self) -> bytes:
        """All vectors, concatenated in the order of the terms."""
        return bytes(self._vectors)

    def __iter__(self) -> Iterator[str]:
        return iter(self.number)


def read(file: Path) -> WordTable:
    """Read the table in a file.

    Raises:
        WordTableDamaged: it is missing or damaged.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise WordTableDamaged(file, error.strerror or str(error)) from error
    if len(data) < HEAD.size:
        raise WordTableDamaged(file, f"it has {len(data):,} bytes, less than its head")
    magic, version, dimension, terms, term_bytes, crc, digest = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise WordTableDamaged(file, "it does not begin as a table of words")
    body = memoryview(data)[HEAD.size :]
    expected = term_bytes + terms * (4 + dimension)
    if len(body) != expected:
        raise WordTableDamaged(file, f"it has {len(body):,} bytes of {expected:,}")
    if zlib.crc32(body) != crc:
        raise WordTableDamaged(file, "its checksum does not match")
    return WordTable(Head(version, dimension, terms, digest.hex()), body, term_bytes)


_reading = threading.Lock()
_read: dict[Path, WordTable] = {}


def table_in(file: Path) -> WordTable:
    """The table in a file, read once per process.

    Raises:
        WordTableDamaged: it is missing or damaged.
    """
    with _reading:
        if file not in _read:
            _read[file] = read(file)
        return _read[file]


def shipped() -> WordTable:
    """The table that ships with codelens, read once per process.

    Raises:
        WordTableDamaged: it is missing or damaged.
    """
    return table_in(FILE)


def shipped_version() -> int:
    """The version in the head of the shipped table; 0 if it cannot be read."""
    return _version_in(FILE)


@cache
def _version_in(file: Path) -> int:
    try:
        with file.open("rb") as opened:
            data = opened.read(HEAD.size)
    except OSError:
        return 0
    if len(data) < HEAD.size or not data.startswith(MAGIC):
        return 0
    return HEAD.unpack(data)[1]
