"""A graph over a stored view."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from codelens.errors import StoreError
from codelens.resolve.graph import File, Graph, Known
from codelens.resolve.model import FileModel
from codelens.resolve.rows import Row, dumped, loaded
from codelens.resolve.version import RESOLVER_VERSION
from codelens.store import contents, edges, leases
from codelens.store.database import Database
from codelens.store.snapshot import Snapshot

logger = logging.getLogger(__name__)


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


def keep(db: Database, rows: Iterable[tuple[bytes, Row]]) -> bool:
    """Store rows by path, for other processes; False if another one writes, or nothing can.

    Outside of any transaction. It waits for nobody, and holds others up only while it writes what
    was packed before.
    """
    packed = [(path, row.content, dumped(row)) for path, row in rows]
    try:
        lease = leases.acquire(db, 0.0)
        try:
            with db.write(lease):
                edges.save(db, RESOLVER_VERSION, packed)
        finally:
            lease.release(db)
    except StoreError as error:
        logger.debug("edges were not kept: %s", error)
        return False
    return True
