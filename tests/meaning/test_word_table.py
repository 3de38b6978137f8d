"""The file of the table: read whole, or refused with the reason."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from small_table import write_table

from codelens.meaning import word_table
from codelens.meaning.word_table import HEAD, WordTableDamaged

WORDS = {"cat": (10, -20, 127), "dog": (0, 5, -127), "überl": (1, 1, 1)}


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = word_table.read(write_table(tmp_path / "t", WORDS, version=7))
    assert (table.head.version, table.head.dimension, table.head.terms) == (7, 3, 3)
    assert list(table) == sorted(WORDS)
    assert table.vector(table.number["cat"]) == bytes([138, 108, 255])
    assert list(table.said_gates) == list(table.code_gates) == [512, 512, 512]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda data: b"", "0 bytes, less than its head"),
        (lambda data: data[:40], "40 bytes, less than its head"),
        (lambda data: data[:-1], r"has \d+ bytes of \d+"),
        (lambda data: data + b"x", r"has \d+ bytes of \d+"),
        (lambda data: data[:-1] + b"\0", "checksum does not match"),
        (lambda data: b"PK" + data[2:], "does not begin as a table of words"),
    ],
)
def test_a_damaged_table_is_refused_with_the_reason(tmp_path: Path, spoil, why: str) -> None:
    file = write_table(tmp_path / "t", WORDS)
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(WordTableDamaged, match=why):
        word_table.read(file)


def test_a_missing_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WordTableDamaged, match="No such file"):
        word_table.read(tmp_path / "none")


def test_the_shipped_table_is_whole_and_small() -> None:
    data = word_table.FILE.read_bytes()
    table = word_table.shipped()
    assert table.head.digest == hashlib.sha256(data[HEAD.size :]).hexdigest()
    assert table.head.version == word_table.shipped_version() >= 1
    assert len(data) <= 3_000_000
    assert list(table) == sorted(table)


def test_another_table_has_another_version() -> None:
    """Vectors of two tables are never compared: a new table needs a new `VERSION` in training."""
    head = word_table.shipped().head
    assert (head.version, head.digest[:16]) == (1, "43555722f99a7253")
