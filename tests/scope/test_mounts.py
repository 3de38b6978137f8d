"""Which mount a folder is on, by tables in the kernel's format."""

from __future__ import annotations

import os

import pytest

from codelens.scope.location import mount_of, mounts

TABLE = rb"""21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 21 8:1 /home/me/real /mnt/bound rw - ext4 /dev/sda1 rw
31 21 0:40 / /mnt/with\040space\134 rw shared:2 master:1 - tmpfs tmpfs rw
32 21 8:17 / /data/deep rw - ext4 /dev/sdb1 rw
33 21 0:41 / /data rw - tmpfs over rw
34 21 8:33 / /disk rw - ext4 /dev/sdc1 rw
35 34 8:49 / /disk rw - ext4 /dev/sdd1 rw
36 35 8:49 /sub /disk/sub rw - ext4 /dev/sdd1 rw
not a line
"""


@pytest.mark.parametrize(
    ("folder", "number"),
    [
        ("/", 21),
        ("/home/me/real/x", 21),
        ("/mnt/bound", 30),
        ("/mnt/bound/x/y", 30),
        ("/mnt/boundary", 21),
        ("/mnt/with space\\/x", 31),
        # Mounted before /data, which hides it now.
        ("/data/deep/x", 33),
        # One mounted over the other.
        ("/disk/x", 35),
        ("/disk/sub/x", 36),
    ],
)
def test_a_folder_is_on_the_mount_that_is_visible_there(folder: str, number: int) -> None:
    found = mount_of(folder, mounts(TABLE))
    assert found is not None
    assert found.number == number


def test_a_bind_mount_shows_which_folder_is_mounted() -> None:
    found = mount_of("/mnt/bound/x", mounts(TABLE))
    assert found is not None
    assert (found.within, found.point, found.filesystem) == (
        b"/home/me/real", b"/mnt/bound", b"ext4 /dev/sda1",
    )  # fmt: skip


def test_an_empty_table_gives_nothing() -> None:
    assert mount_of("/home", mounts(b"")) is None


def test_the_table_of_this_process_has_the_independently_known_mounts() -> None:
    table = mounts()
    if not table:
        pytest.skip("no table of mounts here")
    found = mount_of("/proc/self", table)
    assert found is not None
    assert os.path.ismount(found.point)
