"""A handle as somebody types it: a file whose name looks like a handle is meant by that name."""

from __future__ import annotations

import os
from collections.abc import Container

from codelens.errors import HandleError
from codelens.handles.handle_grammar import Handle, parse_handle
from codelens.paths import can_be_named
from codelens.types import RelPath


def typed_handle(text: str, root: str, files: Container[bytes]) -> Handle:
    """The handle that a text is, or the file of just this name (`a#b.py`, `50%.txt`, `x:1`).

    Args:
        text: as it was typed.
        root: top of the worktree, for absolute paths.
        files: the paths of the view.

    Raises:
        BadHandle: the text is neither.
        OutsideWorktree: it leads out of the worktree.
    """
    named = RelPath(os.fsencode(text) if can_be_named(text) else b"")
    try:
        handle = parse_handle(text, root)
    except HandleError:
        if named in files:
            return Handle(named)
        raise
    # What the handle names comes first: handles of the product's own are read as they are meant.
    leads_on = handle.path is None or handle.path in files
    return handle if leads_on or named not in files else Handle(named)
