"""Whether the bytes of a checked-out file can be other than its blob's, though both have one size.

git may change bytes between object database and worktree. Line-end rules (`text`, `eol`,
`core.autocrlf`) always change the size too, so equal sizes rule them out. A `filter`, `ident` or
`working-tree-encoding` attribute need not; where any attributes file names one, no object id is
taken for a file's bytes, and the files are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_CHANGING = re.compile(rb"(?:^|[\s])(?:filter|ident|working-tree-encoding)(?:=|\s|$)", re.MULTILINE)
_LIMIT = 1_000_000


def may_change_bytes(files: Iterable[bytes]) -> bool:
    """Whether any of these attributes files (missing ones are none) names a changing attribute."""
    return any(_CHANGING.search(_read(file)) for file in files)


def _read(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LIMIT)
    except OSError:
        return b""


def attributes_files(
    root: bytes, common_dir: str, named: str | None, paths: Iterable[bytes]
) -> list[bytes]:
    """All places that attributes of a worktree come from; `paths` are its files."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    personal = named or os.path.join(config, "git", "attributes")
    found = [
        os.fsencode(os.path.join(common_dir, "info", "attributes")),
        os.fsencode(personal),
        b"/etc/gitattributes",
    ]
    found += [
        os.path.join(root, path)
        for path in paths
        if path == b".gitattributes" or path.endswith(b"/.gitattributes")
    ]
    return found
