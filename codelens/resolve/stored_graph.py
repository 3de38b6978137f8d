"""A graph over a stored view."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial

from codelens.errors import StoreError
from codelens.resolve.facts.edge_rows import Row, dumped, loaded
from codelens.resolve.facts.file_model import FileModel
from codelens.resolve.graph import Graph
from codelens.resolve.graph_state import File, GraphState, LatePart, Stored
from codelens.resolve.resolver_version import RESOLVER_VERSION
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.facts import contents, stored_edges, symbol_keys
from codelens.store.views.snapshot import Snapshot

logger = logging.getLogger(__name__)


def graph_of(
    snapshot: Snapshot,
    read: Callable[[bytes], bytes | None],
    known: GraphState | None = None,
) -> Graph:
    """The edges of a view.

    Args:
        snapshot: the view.
        read: bytes of a file of it, None if it cannot be read; asked for few settings files.
        known: what the graph of an earlier state knew (`Graph.known`).
    """
    db = snapshot.db
    files = _files_of(snapshot, known.files if known is not None else {})
    any_stored = stored_edges.any_kept(db)

    def load(content: int) -> FileModel | None:
        facts = contents.flowing(db, [content]).get(content)
        if facts is None:
            return None
        return FileModel(
            facts.language, facts.symbols, facts.references, facts.imports,
            scopes=facts.scopes, bindings=facts.bindings,
        )  # fmt: skip

    def stored(path: bytes, content: int, state: int) -> Iterator[tuple[Row, bool]]:
        if any_stored:
            rows = stored_edges.load(db, path, content, RESOLVER_VERSION)
            for its, data in sorted(rows, key=lambda row: row[0] != state):
                yield loaded(content, data), its == state

    def stored_parts(path: bytes, content: int) -> dict[frozenset[str], list[Row | LatePart]]:
        parts: dict[frozenset[str], list[Row | LatePart]] = {}
        if any_stored:
            for names, data in stored_edges.load_parts(db, path, content, RESOLVER_VERSION):
                parts.setdefault(names, []).append(partial(loaded, content, data))
        return parts

    def surveys(contents: Set[int]) -> dict[int, object]:
        return stored_edges.load_surveys(db, contents, RESOLVER_VERSION)

    return Graph(
        files,
        load,
        read,
        known,
        Stored(stored, stored_parts, partial(symbol_keys.contents_defining, db), surveys),
    )


def _files_of(snapshot: Snapshot, before: Mapping[bytes, File]) -> dict[bytes, File]:
    """The files of a view; those that did not change are the very objects of an earlier state."""
    files: dict[bytes, File] = {}
    new: list[tuple[bytes, int]] = []
    for row in snapshot.files:
        if row.content is not None:
            known = before.get(row.path)
            if known is not None and known.content == row.content:
                files[row.path] = known
            else:
                new.append((row.path, row.content))
    surfaces = contents.surfaces(snapshot.db, {content for _, content in new})
    for path, content in new:
        if content in surfaces:
            files[path] = File(content, *surfaces[content])
    return files


def keep(
    graph: Graph,
    db: Database,
    rows: Iterable[tuple[bytes, Row]],
    parts: Iterable[tuple[bytes, frozenset[str], Row]] = (),
) -> bool:
    """Store rows by path, and parts of rows by path and names, for other processes.

    The graph keeps the parts as they are stored.
    False if another one writes, or nothing can be written.

    Outside of any transaction. It waits for nobody, and holds others up only while it writes what
    was packed before.
    """
    packed = [stored_edges.Whole(path, row.content, graph.state, dumped(row)) for path, row in rows]
    packed_parts = [
        stored_edges.Part(path, row.content, names, dumped(row)) for path, names, row in parts
    ]
    try:
        lease = writer_lease.acquire(db, 0.0)
        try:
            with db.write(lease):
                stored_edges.save(db, RESOLVER_VERSION, packed)
                stored_edges.save_surveys(db, RESOLVER_VERSION, graph.fresh_surveys)
                if packed_parts:
                    stored_edges.save_parts(db, RESOLVER_VERSION, packed_parts)
        finally:
            lease.release(db)
    except StoreError as error:
        logger.debug("edges were not kept: %s", error)
        return False
    graph.fresh_surveys.clear()
    for part in packed_parts:
        graph.pack(part.path, part.names, partial(loaded, part.content, part.data))
    return True
