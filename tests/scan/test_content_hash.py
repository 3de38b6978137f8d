"""Reading a file and hashing its content."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codelens.errors import ReadError
from codelens.scan.content_hash import blob_oid, bytes_of_file, glance, hash_of, read_file


def test_the_blob_id_is_the_one_git_gives(tmp_path: Path) -> None:
    for data in (b"", b"text\n", b"\0\xff" * 1_000):
        (tmp_path / "file").write_bytes(data)
        said = subprocess.check_output(["git", "hash-object", "--no-filters", "file"], cwd=tmp_path)
        assert blob_oid(data).hex() == said.decode().strip()


def test_different_bytes_have_different_hashes() -> None:
    hashes = {hash_of(data) for data in (b"", b"a", b"b", b"a\n", b"a\r\n")}
    assert len(hashes) == 5


def test_a_file_of_the_limit_is_read_and_a_larger_one_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 10)
    assert read_file(os.fsencode(file), 10).data == b"x" * 10
    with pytest.raises(ReadError, match="larger than 9 bytes"):
        read_file(os.fsencode(file), 9)


def test_a_missing_file_is_distinguished_from_an_unreadable_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for gone in ("none", "file/below"):
        with pytest.raises(FileNotFoundError):
            read_file(os.fsencode(tmp_path / gone), 10)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_links_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "folder", "pipe"):
        with pytest.raises(ReadError):
            read_file(os.fsencode(tmp_path / name), 10)


def test_a_limit_beyond_memory_allocates_only_for_the_file(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    for size in (0, 5, 1 << 20, (1 << 20) + 1, 5_000_000):
        path.write_bytes(b"lamp\n" * (size // 5) + b"x" * (size % 5))
        for limit in (10**15, size):
            assert read_file(os.fsencode(path), limit).data == path.read_bytes()
            assert glance(os.fsencode(path), limit) == path.read_bytes()
        if size:
            assert glance(os.fsencode(path), size - 1) == b""
            with pytest.raises(ReadError, match="larger than"):
                read_file(os.fsencode(path), size - 1)


MANY = 1 << 20
"""Bytes per read."""


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_the_bytes_alone_are_had_where_a_file_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"x" * 100)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "large").write_bytes(b"x" * (MANY + 1))
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("text")
    os.mkfifo(tmp_path / "pipe")
    for name in ("text", "empty", "large", "folder", "link", "pipe", "missing", "text/x"):
        path = os.fsencode(tmp_path / name)
        for limit in (1, 99, 100, 101, MANY, MANY + 1):
            try:
                read_data = read_file(path, limit).data
            except (FileNotFoundError, ReadError):
                read_data = None
            assert bytes_of_file(path, limit) == read_data, (name, limit)
