"""The statements of every query go by an index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ranking_index import Store

from codelens.store.facts import contents, postings
from codelens.store.facts import ranking_reads as reads
from codelens.store.views import views


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        (reads.SELECT_NAMES.format(marks="?"), "PRIMARY KEY (content=?)"),
        (reads.SELECT_DEFINITIONS, "PRIMARY KEY (content=?)"),
        (reads.SELECT_DEFINITION, "PRIMARY KEY (content=? AND ordinal=?)"),
        (reads.SELECT_SOME, "PRIMARY KEY (content=? AND ordinal>? AND ordinal<?)"),
        (reads.SELECT_STARTS, "PRIMARY KEY (content=?)"),
        (reads.SELECT_BY_KEY, "PRIMARY KEY (key=?)"),
        (reads.SELECT_NAME, "PRIMARY KEY (content=? AND ordinal=?)"),
        (reads.SELECT_TEXTS, "PRIMARY KEY (content=? AND block=?)"),
        (reads.SELECT_CHUNKS.format(marks="?"), "INTEGER PRIMARY KEY (rowid=?)"),
        (postings.SELECT_BLOCKS.format(marks="(?, ?)"), "(segment=? AND first_term<?)"),
        (contents.KEYS_FROM, "PRIMARY KEY (key>? AND key<?)"),
        (views.BY_TERMS.format(marks="?, ?"), "PRIMARY KEY (term=?)"),
        (views.BY_PREFIX, "PRIMARY KEY (term>? AND term<?)"),
    ],
)
def test_a_hot_statement_searches_by_its_index(tmp_path: Path, sql: str, index: str) -> None:
    db = Store(tmp_path / "index.db").db
    plan = " ".join(row[3] for row in db.rows("EXPLAIN QUERY PLAN " + sql, ("",) * sql.count("?")))
    assert index in plan
    # A subquery's rows are scanned, but they came by an index; the terms asked for are scanned.
    unindexed = re.sub(r"SCAN (\(subquery|CONSTANT ROW|a\b)", "", plan)
    assert unindexed.count("SCAN") == ("segments" in sql)
