"""Gives a new view the files that it has in common with another view, without reading any.

Git's index shows which blob each unchanged file of a worktree has. Where another view has the bytes
of the same blob at the same path, its row holds here too: the same path and text have the same
language. So a second worktree costs only what differs. The rows appear in one transaction, and only
those that were compared; the view stays incomplete until the rest is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import compress

from codelens.config import Settings
from codelens.errors import StoreError
from codelens.extract.extractor_version import EXTRACTOR_VERSION
from codelens.index.worktree_comparison import Delta
from codelens.meaning.word_table import shipped_version
from codelens.scope.repository import Scope
from codelens.store.database import writer_lease
from codelens.store.database.database import Database
from codelens.store.database.writer_lease import Lease
from codelens.store.facts import contents
from codelens.store.views import views
from codelens.store.views.view_blocks import SharedRow
from codelens.store.views.views import CURRENT, ViewState


def share_files(db: Database, scope: Scope, settings: Settings, delta: Delta) -> Delta:
    """Share files with the last used view of the same settings, if the scope's view has none yet.

    Does nothing if another process writes: it may be doing the same.

    Returns:
        The delta without the files that the view now has.
    """
    if not any(work.oid for work in delta.works):
        return delta
    # What prevents writing is reported where the rest of the view is written.
    with suppress(StoreError):
        lease = writer_lease.acquire(db, 0.0)
        try:
            return _shared(db, lease, scope, settings, delta)
        finally:
            lease.release(db)
    return delta


def _shared(db: Database, lease: Lease, scope: Scope, settings: Settings, delta: Delta) -> Delta:
    view = views.create_view(
        db, lease, scope.key, scope.kind, worktree=scope.worktree, branch=scope.branch,
        head=scope.head, index_id=scope.index_id,
    )  # fmt: skip
    state = ViewState(
        scope.head, scope.index_id, delta.membership, delta.sources, delta.notes,
        EXTRACTOR_VERSION, complete=False, vectors=shipped_version(),
    )  # fmt: skip
    works = {work.path: work for work in delta.works}
    shared: list[bytes] = []
    with db.write(lease):
        now = views.find_view(db, scope.key)
        base = views.sibling_of(db, view.id, EXTRACTOR_VERSION, settings.membership_key())
        # Another process may have filled the view since the comparison.
        if now is None or now.generation or not base:
            return delta
        blobs = contents.of_blobs(db, {work.oid for work in delta.works if work.oid})

        def signatures_of(rows: Sequence[SharedRow]) -> list[bytes]:
            signatures = [
                work.signature
                if row_state == CURRENT
                and (work := works.get(path)) is not None
                and blobs.get(content) == (work.oid, work.size_bytes)
                else b""
                for path, _, content, row_state in rows
            ]
            shared.extend(row[0] for row in compress(rows, signatures))
            return signatures

        views.share(db, view.id, base, signatures_of, state)
    for path in shared:
        del works[path]
    return delta._replace(works=list(works.values()))
