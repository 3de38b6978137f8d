"""A graph over a stored view."""

from __future__ import annotations

from collections.abc import Callable

from codelens.resolve.graph import File, Graph, Known
from codelens.resolve.model import FileModel
from codelens.resolve.rows import Row, dumped, loaded
from codelens.store import contents, edges
from codelens.store.database import Database
from codelens.store.snapshot import Snapshot

RESOLVER_VERSION = 1
"""Raised with every change of what edges come out of the same facts."""


def graph_of(
    snapshot: Snapshot,
    read: Callable[[bytes], bytes | None],
    known: Known | None = None,
) -> Graph:
    """The edges of a view.

    Args:
        snapshot: the view.
        read: bytes of a file of it, None if it cannot be read; asked for few settings files.
        known: what the graph of an earlier state knew (`Graph.known`).
    """
    db = snapshot.db
    surfaces = contents.surfaces(db, snapshot.by_content)
    files = {
        file.path: File(file.content, *surfaces[file.content])
        for file in snapshot.files
        if file.content is not None and file.content in surfaces
    }

    def load(content: int) -> FileModel | None:
        found = contents.flowing(db, [content]).get(content)
        return FileModel(*found) if found is not None else None

    def stored(path: bytes, content: int) -> Row | None:
        data = edges.load(db, path, content, RESOLVER_VERSION)
        return loaded(content, data) if data is not None else None

    return Graph(files, load, read, known, stored)


def keep(db: Database, graph: Graph) -> None:
    """Store what a graph resolved; in the caller's transaction."""
    rows = ((path, row.content, dumped(row)) for path, row in graph.fresh)
    edges.save(db, RESOLVER_VERSION, rows)
