"""Definitions and their texts under one id of content and place; also those of an older index."""

from __future__ import annotations

from pathlib import Path

from older_index import older_index

from codelens.store.database import database_file
from codelens.store.database.database_opening import open_index
from codelens.store.facts import contents, ranking_reads, resolution_facts
from codelens.types import ContentHash, Facts, Structure, Symbol, SymbolKind

# The last is from a pack of another version.
KINDS = (*SymbolKind.__args__, "gadget")  # type: ignore[attr-defined]
SYMBOLS = [
    Symbol(
        f"name_{at}", f"Outer.name_{at}", kind, f"def name_{at}()", f"Doc {at}.", at % 3 == 0,
        2 * at + 1, 2 * at + 2, 2 * at + 1, 20 * at, 20 * at + 9, at - 2 if at % 2 else -1,
    )
    for at, kind in enumerate(KINDS * 14)
]  # fmt: skip


def test_definitions_of_any_kind_stay_with_their_content(tmp_path: Path) -> None:
    assert len(SYMBOLS) > 2 * contents.BLOCK
    db = open_index(tmp_path / "index.db")
    stored = {}
    for number, symbols in enumerate([SYMBOLS, [], SYMBOLS[:3]]):
        facts = resolution_facts.pack_facts(
            Facts("parsed", Structure(tuple(symbols), (), (), ()), 99, False, {}, ())
        )
        with db.write(None):
            key = ContentHash(bytes([number]) * 16), "python"
            doc = contents.insert(db, key, 1, contents.TIER_FULL, size_bytes=99, facts=facts)
        stored[doc.content] = symbols
    first, empty, last = stored
    content_ids = [last, first, empty, first]
    assert contents.symbols_of(db, content_ids) == {first: SYMBOLS, last: SYMBOLS[:3]}
    assert [s.kind for s in ranking_reads.definitions(db, content_ids)[first]] == list(KINDS * 14)
    assert ranking_reads.definitions(db, [empty]) == {}
    assert ranking_reads.definitions(db, [first])[first].beginning_in(5, 8) == list(
        ranking_reads.definitions(db, [first])[first]
    )[2:4]  # fmt: skip
    tops = ranking_reads.tops(db, content_ids, {"gadget", "method"})
    assert list(tops) == [first, last]
    assert tops[first].bodies == 28
    assert tops[last] == (frozenset({"name_0", "name_2"}), True, 1)
    # Only those of the deleted content.
    db.execute("DELETE FROM contents WHERE id = ?", (first,))
    assert contents.symbols_of(db, content_ids) == {last: SYMBOLS[:3]}
    for table in ("symbols", "symbol_keys", "symbol_texts"):
        assert db.rows(f"SELECT DISTINCT content FROM {table}") == [(last,)], table
    assert db.is_sound()


def test_definitions_of_an_older_index_are_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    raw = older_index(path, 11)
    for content in (3, 70_000):
        raw.execute(
            """
            INSERT INTO contents (id, hash, language, version, tier, size_bytes, lines, outcome,
                generated, chunk_count, body_terms, name_terms, doc_terms, chunks, refs, imports)
            VALUES (?, ?, 'text', 1, 1, 0, 0, '', 0, 0, 0, 0, 0, x'', x'', x'')
            """,
            (content, bytes([content & 255])),
        )
        raw.executemany(
            """
            INSERT INTO symbols (content, ordinal, name, around, kind, exported, start_line,
                further, name_below, start_byte, size_bytes, parent)
            VALUES (?, ?, ?, 'Outer.', ?, ?, ?, 1, 0, ?, 9, ?)
            """,
            [
                (
                    content, at, one.name, one.kind, one.exported, one.start_line, one.start_byte,
                    one.parent,
                )
                for at, one in enumerate(SYMBOLS)
            ],
        )  # fmt: skip
        raw.executemany(
            "INSERT INTO symbol_texts (content, block, data) VALUES (?, ?, ?)",
            [
                (content, *block)
                for block in contents.packed_texts([(s.name, s.signature, s.doc) for s in SYMBOLS])
            ],
        )
    raw.close()
    db = open_index(path)
    assert db.row("PRAGMA user_version") == (database_file.migrations("index")[-1][0],)
    assert contents.symbols_of(db, [3, 70_000]) == {3: SYMBOLS, 70_000: SYMBOLS}
    assert contents.symbols_named(db, "name5") == [(3, 5, SYMBOLS[5]), (70_000, 5, SYMBOLS[5])]
    assert db.row("SELECT MIN(typeof(kind_code)), COUNT(*) FROM symbols WHERE kind = 'class'") == (
        "integer",
        28,
    )
    db.execute("DELETE FROM contents WHERE id = 3")
    assert contents.symbols_of(db, [3, 70_000]) == {70_000: SYMBOLS}
    assert contents.symbols_named(db, "name5") == [(70_000, 5, SYMBOLS[5])]
    assert db.is_sound()
