"""Names of branches and tags, for who wrote one wrong: read without opening what may be no ref."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

BRANCHES = "refs/heads/"
_KINDS = (BRANCHES, "refs/tags/")
_PACKED_BYTES = 64 * 1024 * 1024
"""So much of packed-refs is read for names to suggest; some 700,000 refs."""


def ref_names(common_dir: str, kinds: Sequence[str] = _KINDS) -> list[str]:
    """Short names of the local branches and tags, sorted; those that git would refuse are left out.

    A file in `refs` counts whatever it holds. Costs a listing of each folder there, and
    packed-refs.

    Args:
        common_dir: where the repository keeps its refs.
        kinds: what their whole names begin with.
    """
    every_name = {*_loose(common_dir, kinds), *_packed(common_dir, kinds)}
    return sorted(name for name in every_name if name.isprintable())


def _loose(common_dir: str, kinds: Sequence[str]) -> Iterator[str]:
    for kind in kinds:
        pending = [os.path.join(common_dir, kind)]
        start = len(pending[0])
        while pending:
            try:
                with os.scandir(pending.pop()) as listing:
                    entries = list(listing)
            except OSError:
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    yield entry.path[start:].replace(os.sep, "/")


def _packed(common_dir: str, kinds: Sequence[str]) -> Iterator[str]:
    try:
        with open(os.path.join(common_dir, "packed-refs"), "rb") as file:
            lines = file.read(_PACKED_BYTES).decode("utf-8", "backslashreplace").splitlines()
    except OSError:
        return
    for line in lines:
        _, _, name = line.partition(" ")
        for kind in kinds:
            if name.startswith(kind):
                yield name.removeprefix(kind)
