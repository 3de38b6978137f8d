"""Facts of compilers in an index of an older schema."""

from __future__ import annotations

from pathlib import Path

from older_index import older_index

from codelens.store.database.database_opening import open_index
from codelens.store.facts import precise_facts


def test_symbols_that_an_older_index_defines_are_known(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    raw = older_index(path, 15)
    raw.execute("INSERT INTO precise_imports (tool, day) VALUES ('toy 1', '2026-11-28')")
    raw.execute(
        "INSERT INTO precise_documents (import, hash, path, data) VALUES (1, x'00', x'01', x'02')"
    )
    raw.execute("INSERT INTO precise_symbols (symbol) VALUES ('defined'), ('used')")
    raw.execute("INSERT INTO precise_places VALUES (1, 1, 1), (2, 1, 0)")
    raw.close()
    db = open_index(path)
    assert [precise_facts.is_defined(db, symbol) for symbol in (1, 2, 3)] == [True, False, False]
    db.close()
