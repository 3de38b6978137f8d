"""A graph over a stored view."""

from __future__ import annotations

from collections.abc import Callable

from codelens.resolve.graph import File, Graph
from codelens.resolve.rows import Row
from codelens.store import contents
from codelens.store.snapshot import Snapshot


def graph_of(
    snapshot: Snapshot,
    read: Callable[[bytes], bytes | None],
    rows: dict[bytes, Row] | None = None,
) -> Graph:
    """The edges of a view.

    Args:
        snapshot: the view.
        read: bytes of a file of it, None if it cannot be read; asked for few settings files.
        rows: what an earlier graph knew; brought up to date as files are asked for.
    """
    db = snapshot.db
    known = contents.surfaces(db, snapshot.by_content)
    files = {
        file.path: File(file.content, *known[file.content])
        for file in snapshot.files
        if file.content is not None and file.content in known
    }

    def load(content: int) -> contents.Flowing | None:
        return contents.flowing(db, [content]).get(content)

    return Graph(files, load, read, rows)
