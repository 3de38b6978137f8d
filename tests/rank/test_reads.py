"""The statements of every query use an index."""

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
        (reads.SELECT_NAMES, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (reads.SELECT_DEFINITIONS, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (reads.SELECT_DEFINITION, "INTEGER PRIMARY KEY (rowid=?)"),
        (reads.SELECT_SOME, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (reads.SELECT_STARTS, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (reads.SELECT_TOP, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (reads.SELECT_NUMBERED, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (contents.SELECT_SYMBOLS, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (reads.SELECT_BY_KEY, "PRIMARY KEY (key=?)"),
        (reads.SELECT_NAME, "INTEGER PRIMARY KEY (rowid=?)"),
        (reads.SELECT_TEXTS, "INTEGER PRIMARY KEY (rowid=?)"),
        (contents.SELECT_TEXTS, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        (reads.SELECT_CHUNKS.format(marks="?"), "INTEGER PRIMARY KEY (rowid=?)"),
        (postings.SELECT_BLOCKS.format(marks="(?, ?)"), "(segment=? AND first_term<?)"),
        (contents.KEYS_FROM, "PRIMARY KEY (key>? AND key<?)"),
        (views.BY_TERMS.format(marks="?, ?"), "PRIMARY KEY (term=?)"),
        (views.BY_PREFIX, "PRIMARY KEY (term>? AND term<?)"),
    ],
)
def test_a_hot_statement_searches_by_its_index(tmp_path: Path, sql: str, index: str) -> None:
    db = Store(tmp_path / "index.db").db
    count = max(map(int, re.findall(r"\?(\d)", sql)), default=sql.count("?"))
    plan = " ".join(row[3] for row in db.rows("EXPLAIN QUERY PLAN " + sql, ("1",) * count))
    assert index in plan
    # Scans of a subquery's rows are fine: they came by an index. So are scans of the query's terms.
    unindexed = re.sub(r"SCAN (\(subquery|CONSTANT ROW|a\b|json_each)", "", plan)
    assert unindexed.count("SCAN") == ("segments" in sql)
