"""What raw bytes contents have, to compare them with git's objects without reading either."""

from __future__ import annotations

from collections.abc import Iterable

from codelens.store.database.database import Database
from codelens.store.facts.contents import batched
from codelens.types import ContentHash

SELECT_HASHES = "SELECT id, hash FROM contents WHERE id IN ({marks})"


def hashes(db: Database, contents: Iterable[int]) -> dict[int, ContentHash]:
    """Content -> hash of its bytes."""
    by_content: dict[int, ContentHash] = {}
    for batch in batched(contents):
        by_content.update(db.rows(SELECT_HASHES.format(marks=",".join("?" * len(batch))), batch))  # type: ignore[arg-type]
    return by_content


_IN_VIEWS = """
SELECT DISTINCT c.hash FROM contents c WHERE EXISTS (
    SELECT 1 FROM view_files f WHERE f.content = c.id
)
"""


def hashes_in_views(db: Database) -> set[bytes]:
    """Hashes of the contents that some view has, of whichever branch or worktree."""
    return {bytes(row[0]) for row in db.rows(_IN_VIEWS)}


SELECT_WITH_HASH = "SELECT id FROM contents WHERE hash = ?"


def with_hash(db: Database, content: bytes) -> list[int]:
    """Contents of just these bytes, in whichever language."""
    return [row for (row,) in db.rows(SELECT_WITH_HASH, (content,))]
