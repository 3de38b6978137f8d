"""Files are read below a root, whatever its folders become between two steps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from codelens.errors import ReadError
from codelens.index.text_facts import DiskSource, Work
from codelens.scan.files_below import FilesBelow, folders_kept_open

LIMIT = 1_000
Block = Callable[[], AbstractContextManager[None]]
pytestmark = pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="folders of POSIX")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder, text in (("outside", "hidden"), ("outside/deep", "hidden"), ("root", "own"),
                         ("root/kept", "own"), ("root/kept/deep", "own")):  # fmt: skip
        (tmp_path / folder).mkdir()
        for name in ("a", "b"):
            (tmp_path / folder / name).write_text(text)
    return tmp_path / "root"


def swap(root: Path) -> None:
    """Puts a link to the outside in the place of a folder."""
    (root / "kept").rename(root / "moved")
    (root / "kept").symlink_to("../outside")


def test_a_folder_that_became_a_link_is_not_followed(root: Path) -> None:
    source = DiskSource(os.fsencode(root), LIMIT, 0)
    with folders_kept_open():
        assert source.fetch(Work(b"kept/a", 0)).data == b"own"
        swap(root)
        # The folder is still open; its file is the one that was looked at.
        for read in (lambda path: source.fetch(Work(path, 0)).data, source.bytes_of):
            assert read(b"kept/b") == b"own"
        assert source.glance(Work(b"kept/b", 0)) == b"own"
        assert source.bytes_of(b"a") == b"own"
    # Opened again, it is a link.
    assert source.bytes_of(b"kept/b") is None
    assert source.glance(Work(b"kept/b", 0)) == b""
    with pytest.raises(FileNotFoundError):
        source.fetch(Work(b"kept/deep/b", 0))


def test_no_name_leads_above_a_folder(root: Path) -> None:
    below = FilesBelow(os.fsencode(root))
    for path in (b"kept/../../outside/a", b"../outside/a", b"kept/./a", b"kept//a", b"/etc/passwd"):
        with pytest.raises(FileNotFoundError):
            below.read(path, LIMIT)
        with pytest.raises(FileNotFoundError):
            below.status(path)
        assert below.bytes_of(path, LIMIT) is None
        assert below.glance(path, LIMIT) == b""
    for path in (b"..", b"kept/.."):
        with pytest.raises((FileNotFoundError, ReadError)):
            below.read(path, LIMIT)


def test_links_are_read_nowhere(root: Path) -> None:
    (root / "kept" / "link").symlink_to("a")
    (root / "here").symlink_to("kept")
    below = FilesBelow(os.fsencode(root))
    with pytest.raises(ReadError):
        below.read(b"kept/link", LIMIT)
    with pytest.raises(FileNotFoundError):
        below.read(b"here/a", LIMIT)
    with pytest.raises(FileNotFoundError):
        below.read(b"kept/a/b", LIMIT)


def test_the_root_may_be_reached_by_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "name").symlink_to("root")
    assert FilesBelow(os.fsencode(tmp_path / "name")).read(b"kept/deep/a", LIMIT).data == b"own"


def test_a_folder_that_was_replaced_is_opened_again(root: Path) -> None:
    below = FilesBelow(os.fsencode(root))
    with folders_kept_open():
        replace_and_read(root, below)


def replace_and_read(root: Path, below: FilesBelow) -> None:
    assert below.read(b"kept/deep/a", LIMIT).data == b"own"
    for at, read in enumerate((
        lambda path: below.status(path).st_size and b"new", lambda path: below.read(path, 9).data,
        lambda path: below.bytes_of(path, 9), lambda path: below.glance(path, 9),
    )):  # fmt: skip
        shutil.rmtree(root / "kept")
        (root / "kept" / "deep").mkdir(parents=True)
        (root / "kept" / "deep" / f"b{at}").write_text("new")
        assert read(b"kept/deep/b%d" % at) == b"new"


@pytest.mark.parametrize("block", [folders_kept_open, nullcontext])
def test_open_folders_are_closed_with_their_block(root: Path, block: Block) -> None:
    def count() -> int:
        return len(os.listdir("/dev/fd"))

    before = count()
    below = FilesBelow(os.fsencode(root))
    with block():
        for path in (b"kept/deep/a", b"kept/a", b"a", b"none/a", b"kept/deep/b", b"kept/none/a"):
            below.bytes_of(path, LIMIT)
            assert count() <= before + (block is folders_kept_open) * (1 + path.count(b"/"))
    assert count() == before


def test_very_deep_folders_are_read(root: Path) -> None:
    deep = root.joinpath(*["d"] * 60)
    deep.mkdir(parents=True)
    below = FilesBelow(os.fsencode(root))
    folder = b"d/" * 60
    with folders_kept_open():
        for name in (b"a", b"b"):
            (deep / os.fsdecode(name)).write_bytes(name)
            assert below.read(folder + name, LIMIT).data == name
            assert below.bytes_of(b"a", LIMIT) == b"own"
