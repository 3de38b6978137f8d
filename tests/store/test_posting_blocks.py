"""Blocks of terms return each posting, and nothing for a missing term."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from older_index import older_index

from codelens.store.database import database_file
from codelens.store.database.database_opening import open_index
from codelens.store.facts import postings, vocabulary
from codelens.store.facts.postings import BLOCK_BYTES, PostingBlock, blocks, needle, packed

USUAL = packed([0], [b"\0\0\1\0\0\1\0\0"])

pieces = st.sampled_from(["", "a", "ab", "b", "\0", "\n", "ä", "\U0010ffff", " ", "x" * 300, "%"])
any_term = st.lists(pieces, max_size=4).map("".join) | st.text(
    st.characters(exclude_categories=("Cs",)), max_size=8
)
any_posting = st.binary(min_size=1, max_size=12) | st.sampled_from(
    [b"s" * 254, b"s" * 255, b"l" * 256, b"l" * 2000, b"l" * 70_000]
)
segments = st.lists(st.dictionaries(any_term, any_posting, max_size=60), min_size=1, max_size=3)


def written(path: Path, segments: list[dict[str, bytes]]):
    """An index with these arbitrary postings."""
    db = open_index(path)
    with db.write(None):
        for number, terms in enumerate(segments, 1):
            db.execute("INSERT INTO segments (doc_count, docs) VALUES (0, x'')")
            db.execute_many(
                postings._INSERT_BLOCK, [(number, *row) for row in blocks(sorted(terms.items()))]
            )
    return db


@settings(max_examples=60, deadline=None)
@given(segments, st.lists(any_term, max_size=6))
@example([{"b": b"p", "d": b"l" * 256, "f": b"q"}], ["", "a", "c", "e", "g"])
@example([{"a" * 3000: b"p", "b": b"q"}], ["a", "a" * 2999, "a" * 3000, "a" * 3001, "b"])
@example([{"b": b"p", "b\0": b"q", "b\0c": b"r", "c": b"s"}], ["b\0", "b\0b", "\0c", "\0b"])
@example([{f"t{at:03}": b"p" * 100 for at in range(200)}], ["t", "t0", "t0190", "t2"])
def test_each_posting_is_found_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, segments: list[dict[str, bytes]], absent: list[str]
) -> None:
    db = written(tmp_path_factory.mktemp("db") / "index.db", segments)
    terms_to_read = [*absent, *(term for terms in segments for term in terms)]
    found = postings.postings(db, terms_to_read)
    expected = [
        (number, term, terms[term])
        for number, terms in enumerate(segments, 1)
        for term in sorted(set(terms_to_read))
        if term in terms
    ]
    assert found == expected
    for number, terms in enumerate(segments, 1):
        assert list(postings._rows_of(db, number)) == sorted(terms.items())
    for start in {*terms_to_read, *(term[:1] for term in terms_to_read)}:
        for longest in (1, 9, 9000):
            assert sorted(vocabulary.terms_from(db, start, longest)) == sorted({
                term
                for terms in segments
                for term in terms
                if start <= term < start + "\U0010ffff" and len(term) <= longest
            })  # fmt: skip
    db.close()


def test_a_large_posting_is_read_with_no_other_term() -> None:
    terms = [f"t{at:04}" for at in range(400)]
    rows = [(term, b"l" * 5000 if at % 50 == 7 else USUAL) for at, term in enumerate(terms)]
    stored = list(blocks(rows))
    assert sum(len(row.marks or b"1") for row in stored) == len(rows)
    assert [row.data for row in stored if len(row.data) >= 256 * 4] == [b"l" * 5000] * 8
    assert all(row.marks is None or len(row.data) <= BLOCK_BYTES for row in stored)


def test_rare_terms_share_rows() -> None:
    rows = [(f"word{at:05}", packed([at], [b"\0\0\1\0\0\1\0\0"])) for at in range(5_000)]
    size = sum(len(row.first_term) + len(row.data) + 20 for row in blocks(rows))
    assert size < sum(len(term) + len(data) + 13 for term, data in rows) / 3


def test_pages_of_postings_are_filled(tmp_path: Path) -> None:
    many = [{f"w{at * 7919 % 100_003:06}": bytes([at % 251]) * 40 for at in range(30_000)}] * 2
    db = written(tmp_path / "index.db", many)
    sql = "SELECT SUM(unused) * 1.0 / SUM(pgsize) FROM dbstat WHERE name = 'postings'"
    assert db.rows(sql)[0][0] < 0.1


def test_more_terms_are_asked_for_than_a_statement_takes(tmp_path: Path) -> None:
    terms = [f"w{at:05}" for at in range(40_000)]
    some = dict.fromkeys(terms[::1000], b"p")
    db = written(tmp_path / "index.db", [some, some])
    assert postings.postings(db, terms) == [
        (segment, term, b"p") for segment in (1, 2) for term in sorted(some)
    ]


def test_invalid_blocks_are_reported() -> None:
    (row,) = blocks([("a", b"1"), ("b", b"2"), ("c", b"3")])
    assert row.marks is not None
    damaged = [
        row.data[:1], row.data[:-1], row.data[:4] + b"\xff\xff" + row.data[6:], b"", b"\xff" * 40,
    ]  # fmt: skip
    for data in damaged:
        with pytest.raises(ValueError, match="block"):
            list(PostingBlock(row.marks, data).rows())
    with pytest.raises(ValueError, match="block of 2 terms"):
        PostingBlock(b"12", row.data)
    assert PostingBlock(row.marks, row.data).posting(needle("b")) == b"2"


def test_an_index_of_rows_of_single_terms_is_emptied_to_be_made_again(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    raw = older_index(path, 10)
    raw.execute("""
        INSERT INTO segments (doc_count, docs) VALUES (0, x'');
        INSERT INTO postings (segment, term, data) VALUES (1, 'alpha', x'80');
        INSERT INTO contents (id, hash, language, version, tier, size_bytes, lines, outcome,
            generated, chunk_count, body_terms, name_terms, doc_terms, chunks, refs, imports)
            VALUES (1, x'00', 'text', 1, 1, 0, 0, '', 0, 0, 0, 0, 0, x'', x'', x'');
        INSERT INTO symbols (content, ordinal, name, around, kind, exported, start_line, further,
            name_below, start_byte, size_bytes, parent) VALUES (1, 0, 'A', '', 'class', 1, 1, 0, 0,
            0, 1, -1)
    """)
    raw.close()
    db = open_index(path)
    assert db.row("PRAGMA user_version") == (database_file.migrations("index")[-1][0],)
    for table in ("segments", "postings", "contents", "symbols", "symbol_keys"):
        assert db.row(f"SELECT COUNT(*) FROM {table}") == (0,), table
    assert postings.postings(db, ["alpha"]) == []
    assert not list(tmp_path.glob("*.before-*"))
    assert db.is_sound()
