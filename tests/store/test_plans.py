"""The queries of every question use an index; a scan of a large table would go unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelens.store.database.database_opening import open_index
from codelens.store.facts import contents, postings, ranking_reads, stored_edges
from codelens.store.views import views

HOT = {
    "a term's postings": (
        postings.SELECT_BLOCKS.format(marks="(?,?),(?,?)"), 4, "(segment=? AND first_term<?)",
    ),
    "symbols by key": (contents.BY_KEY, 1, "PRIMARY KEY (key=?)"),
    "keys by prefix": (contents.KEYS_FROM, 3, "PRIMARY KEY (key>? AND key<?)"),
    "paths by term": (views.BY_TERMS.format(marks="?, ?"), 2, "PRIMARY KEY (term=?)"),
    "uses of contents": (ranking_reads.SELECT_USES.format(marks="?,?"), 2, "PRIMARY KEY (rowid=?)"),
    "imports of contents": (
        ranking_reads.SELECT_IMPORTS.format(marks="?,?"), 2, "PRIMARY KEY (rowid=?)"
    ),
    "surfaces": (contents.SELECT_SURFACES.format(marks="?,?"), 2, "PRIMARY KEY (rowid=?)"),
    "kept edges of a file": (
        stored_edges.SELECT_EDGES, 3, "file_edges_by_content (content=? AND path=?)"
    ),
    "parts of the edges of a file": (
        stored_edges.SELECT_PARTS, 3, "edge_parts_by_content (content=? AND path=?)"
    ),
    "hashes of contents": (
        contents.SELECT_HASHES.format(marks="?,?"), 2, "PRIMARY KEY (rowid=?)"
    ),
    "paths by prefix": (views.BY_PREFIX, 2, "PRIMARY KEY (term>? AND term<?)"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOT)
def test_a_hot_query_uses_its_index(name: str, tmp_path: Path) -> None:
    sql, count, expected = HOT[name]
    db = open_index(tmp_path / "index.db")
    plan = [row[3] for row in db.rows(f"EXPLAIN QUERY PLAN {sql}", ("a",) * count)]
    assert any(expected in step for step in plan), plan
    # Segments are few, and so are the terms of the query.
    few = ("SCAN s", "SCAN a", "SCAN 2 CONSTANT ROWS")
    assert not any(step.startswith("SCAN") and not step.endswith(few) for step in plan), plan
