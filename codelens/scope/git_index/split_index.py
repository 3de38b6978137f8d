"""Split indexes: most entries lie in a shared file, changes to them in the index itself."""

from __future__ import annotations

import struct
from typing import Final

from codelens.scope.git_index.git_index_format import Damaged, IndexEntry, IndexFile

_ID_BYTES: Final = 20
_WORD_BITS: Final = 64


def shared_id(index: IndexFile) -> bytes | None:
    """The id in the name of the shared file; None for an index that needs none."""
    if index.link is None:
        return None
    if len(index.link) < _ID_BYTES:
        raise Damaged("its link to a shared part is cut off")
    base = index.link[:_ID_BYTES]
    return base if any(base) else None


def merged(index: IndexFile, own: list[IndexEntry], shared: list[IndexEntry]) -> list[IndexEntry]:
    """The entries of a split index, in git's order.

    The first entries of `own` replace those of `shared` that one bitmap marks, keeping their
    names; then those that the other marks go; the rest of `own` is added.
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
    """Positions of the set bits of a compressed bitmap (git's ewah/), and where it ends.

    A marker word has the value of a run (1 bit), its length in words (32 bits), and the number
    of literal words that follow (31 bits).
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
    # No index has that many entries; without it a damaged word could ask for gigabytes.
    if bits > 1 << 28:
        raise Damaged("a bitmap is too long")
