"""A damaged or hostile index is refused, or a document of it is left out and counted."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_indexer import indexed

from codelens.errors import SettingError
from codelens.scip import index_stream, scip_pb2
from codelens.scip.index_stream import Left, ProtobufMissing, UnusableIndex, opened_index

TEXTS = {"a.py": "def a():\n    b()\n", "b.py": "def b():\n    pass\n"}
WHOLE = indexed(TEXTS).SerializeToString()


def varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def read(tmp_path: Path, data: bytes) -> list:
    file = tmp_path / "index.scip"
    file.write_bytes(data)
    with opened_index(file) as stream:
        return list(stream.documents())


def test_documents_are_read_one_by_one(tmp_path: Path) -> None:
    paths = [document.relative_path for document in read(tmp_path, WHOLE)]
    assert paths == ["a.py", "b.py"]


def nested(depth: int) -> bytes:
    """Unknown groups within groups."""
    return b"\x7b" * depth + b"\x7c" * depth


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no documents"),
        (b"root:x:0:0", "cut short: 111 bytes"),
        (b"# Title", "not in the format"),
        (WHOLE[:-3], "cut short"),
        (WHOLE[: len(WHOLE) // 2], "cut short"),
        (b"\x12" + varint(2 << 30) + b"abc", "cut short: 2,147,483,648 bytes"),
        (b"\x12" + b"\xff" * 11, "not in the format"),
        (b"\x12", "cut short"),
        (field(2, nested(100_000)), "document 1 cannot be decoded"),
        (field(2, b"\x12\x05ab"), "document 1 cannot be decoded"),
        (field(2, b"\x0a\x02\xff\xfe"), "document 1 cannot be decoded"),
        (field(1, b"\x12\x05ab") + WHOLE, "metadata cannot be decoded"),
    ],
)
def test_a_damaged_index_is_refused(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(UnusableIndex, match=why):
        read(tmp_path, data)


@given(st.integers(0, len(WHOLE)), st.binary(max_size=6))
def test_any_damage_is_an_error_or_other_documents(tmp_path_factory, at: int, new: bytes) -> None:
    data = WHOLE[:at] + new + WHOLE[at + len(new) :]
    try:
        documents = read(tmp_path_factory.mktemp("damage"), data)
    except UnusableIndex:
        return
    assert all(isinstance(one, Left | scip_pb2.Document) for one in documents)


def test_a_document_that_is_too_large_is_left_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(index_stream, "MOST_DOCUMENT_BYTES", 200)
    documents = read(tmp_path, WHOLE + field(2, bytes(201)))
    assert [one.why for one in documents if isinstance(one, Left)] == ["of 201 bytes"]
    assert len(documents) == 3


@pytest.mark.parametrize(
    ("around", "part"),
    [
        ((), 2),
        ((2,), 4),
        ((2,), 6),
        ((3,), 3),
        ((3,), 4),
        ((3, 7), 2),
        ((3, 7, 3), 4),
        ((2,), 99),
    ],
)
def test_a_crowd_of_empty_parts_takes_little_memory(
    tmp_path: Path, monkeypatch, around: tuple[int, ...], part: int
) -> None:
    monkeypatch.setattr(index_stream, "MOST_PARTS", 1_000)
    monkeypatch.setattr(index_stream, "_MOST_FIELDS", 8_000)
    monkeypatch.setattr(index_stream, "_COUNTED_FROM", 10_000)
    many = field(part, b"") * 300_000
    for number in reversed(around):
        many = field(number, many)
    many = field(2, many)
    tracemalloc.start()
    documents = read(tmp_path, WHOLE + many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(documents[2], Left)
    assert peak < 4 * len(many)


def test_the_schema_has_no_other_part_that_may_occur_many_times() -> None:
    for name, parts in index_stream._PARTS.items():
        assert parts == {
            each.number: each.message_type.name if each.message_type else ""
            for each in scip_pb2.DESCRIPTOR.message_types_by_name[name].fields
            if each.message_type or (each.is_repeated and each.type == each.TYPE_STRING)
        }


def test_metadata_is_bounded_and_does_not_add_up(tmp_path: Path) -> None:
    arguments = field(1, field(2, field(3, b"--argument") * 20_000))
    file = tmp_path / "index.scip"
    file.write_bytes(arguments * 5 + WHOLE)
    with opened_index(file) as stream:
        assert len(list(stream.documents())) == 2
        assert stream.metadata == indexed(TEXTS).metadata
    with pytest.raises(UnusableIndex, match="its metadata has"):
        read(tmp_path, field(1, field(2, field(3, bytes(1 << 20)))) + WHOLE)


def test_fields_of_later_schemas_are_skipped(tmp_path: Path) -> None:
    number, long, short = varint(9 << 3), varint(10 << 3 | 1), varint(11 << 3 | 5)
    later = number + varint(7) + long + bytes(8) + short + bytes(4) + field(12, b"new")
    assert len(read(tmp_path, later + WHOLE)) == 2


@pytest.mark.parametrize("name", ["missing.scip", "."])
def test_what_is_no_file_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingError), opened_index(tmp_path / name):
        pass


def test_without_protobuf_the_error_names_the_extra(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "codelens.scip.scip_pb2", None)
    monkeypatch.delattr("codelens.scip.scip_pb2")
    with pytest.raises(ProtobufMissing, match=r"pip install 'codelens\[scip\]'"):
        read(tmp_path, WHOLE)
