"""Notes after an answer that a view was used, and where its folders lie; what `prune` goes by."""

from __future__ import annotations

import logging
import os

from codelens.engine.current_view import CurrentView
from codelens.errors import StoreError
from codelens.scope.worktree_presence import whereabouts
from codelens.store.views import index_metadata
from codelens.store.views.index_metadata import Site

logger = logging.getLogger(__name__)


def folder_text(folder: str) -> str:
    """A folder as text that can be stored, as `Scope.worktree`."""
    return os.fsencode(folder).decode("utf-8", "backslashreplace")


def note_use(view: CurrentView) -> None:
    """Best effort, seldom, and without waiting for anyone."""
    row, scope = view.snapshot.row, view.scope
    if not row.id:
        return
    folders = {folder_text(scope.common_dir): scope.common_dir}
    if scope.kind != "ref":
        folders[scope.worktree] = scope.root

    def seen() -> dict[str, Site]:
        return {text: Site(*whereabouts(folder)) for text, folder in folders.items()}

    try:
        index_metadata.touch(view.snapshot.db, row.id, row.used_s, os.fsencode(scope.common_dir),
                     folders=folders, seen=seen)  # fmt: skip
    except (StoreError, OSError) as error:
        logger.debug("the use of a view was not recorded: %s", error)
