"""What a question asks for, so that files that are not indexed yet can be looked through for it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from codelens.errors import HandleError
from codelens.extract.text_scan import NOTHING_ASKED, Wanted, wanted
from codelens.handles.handle_grammar import parse_handle
from codelens.paths import can_be_named


def by_handles(targets: Sequence[str], root: str = "/") -> Wanted:
    """The files that handles, paths or names mean, and those that use what they name.

    Args:
        targets: as the caller wrote them; what cannot be read is told later.
        root: top of the worktree, for absolute paths.
    """
    paths: list[bytes] = []
    words: list[str] = []
    for target in targets:
        if can_be_named(target):
            # A file may be called like a handle.
            paths.append(os.fsencode(target))
        try:
            handle = parse_handle(target, root)
        except HandleError:
            continue
        if handle.path is not None:
            if not handle.path:
                # The whole tree: any file may count.
                return NOTHING_ASKED
            paths.append(handle.path)
        named = handle.symbol if not handle.bare or handle.path is None else ""
        # A file is used by its name without the extension; a bare name may be one.
        stem = os.fsdecode(os.path.basename(handle.path or b"")).partition(".")
        words.append(named or (f"{stem[0]} {stem[2]}" if "/" not in target else stem[0]))
    return wanted(" ".join(words), paths)
