"""Whether git's index may say something of a file, by a search of its bytes.

A question about the few files that were edited need not take thousands of entries apart: a search
costs a hundredth of a reading. It never denies what a reading would find; what it finds may be a
chance likeness, so a reading must confirm it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from codelens.scope.git_index.git_index_format import (
    EXTENDED,
    FIXED,
    FLAGS_BYTES,
    SEARCHABLE_HEADS,
    UNSEARCHABLE_PARTS,
    IndexEntry,
    index_bytes,
    unpacked,
)

_OID_BYTES: Final = 20


class IndexGlance:
    """The bytes of one index file, as they are now."""

    def __init__(self, file: str) -> None:
        try:
            self._data = index_bytes(file)
        except OSError:
            self._data = b""
        # Version 4 cuts names short, and a split or sparse index has entries elsewhere.
        self._is_searchable = self._data.startswith(SEARCHABLE_HEADS) and not any(
            part in self._data for part in UNSEARCHABLE_PARTS
        )

    def may_name(self, name: bytes) -> bool:
        """Whether it may have a path that ends with a name; True where it cannot be searched."""
        return not self._is_searchable or name + b"\0" in self._data

    def may_hold(self, path: bytes, oid: bytes, fits: Callable[[IndexEntry], bool]) -> bool:
        """Whether it may have an entry of a path with an object and what `fits` asks for.

        True where the index cannot be searched.
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
