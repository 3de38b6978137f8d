"""Postings read back as written, for any segments."""

from __future__ import annotations

from array import array
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codelens.extract.tokenizer import pack_terms
from codelens.store.database.database_opening import open_index
from codelens.store.facts import contents, postings
from codelens.store.facts.postings import Posting, packed
from codelens.store.facts.resolution_facts import pack_facts
from codelens.types import Chunk, ContentHash, Facts, Structure

words = st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta".split()), max_size=30)


def facts(texts: list[list[str]]) -> Facts:
    """Facts of a text with a chunk for each list of words."""
    text, chunks = b"", []
    for line, one in enumerate(texts, 1):
        start = len(text)
        text += " ".join(one).encode() + b"\n"
        chunks.append(Chunk(line, line, start, len(text), -1))
    terms, lengths = pack_terms(text, chunks, ())
    structure = Structure((), (), (), tuple(chunks))
    return Facts("text", structure, len(texts), False, terms, lengths)


def counts(db, terms: list[str]) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """(term, content) -> (chunk, times in its body)."""
    docs = postings.segment_docs(db)
    found = {}
    for segment, term, data in postings.postings(db, terms):
        posting = Posting(data)
        assert posting.doc_count == len(posting.docs)
        for number, whole in zip(posting.docs, posting.totals, strict=True):
            body = [(entry >> 16, entry >> 8 & 255) for entry in posting.entries(number)]
            assert whole >> 16 == sum(times for _, times in body)
            found[term, docs[segment].contents[number]] = body
    return found


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=8), st.integers(1, 3))
def test_every_occurrence_is_found_again(tmp_path_factory, files: list, per_segment: int) -> None:
    db = open_index(tmp_path_factory.mktemp("db") / "index.db")
    expected, docs = {}, []
    with db.write(None):
        for number, texts in enumerate(files):
            key = (ContentHash(number.to_bytes(16, "big")), "text")
            docs.append(
                contents.insert(db, key, 1, 1, size_bytes=10, facts=pack_facts(facts(texts)))
            )
            for chunk, one in enumerate(texts):
                for word in set(one):
                    place = expected.setdefault((word, docs[-1].content), [])
                    place.append((chunk, one.count(word)))
        for start in range(0, len(docs), per_segment):
            postings.write_segment(db, docs[start : start + per_segment])
    named = {"alpha": "alpha", "beta": "beta", "gamma": "gamma", "delta": "delta"}
    named |= {"epsilon": "epsilon", "zeta": "zeta"}
    assert counts(db, sorted(named)) == expected


@st.composite
def occurrences(draw: st.DrawFn) -> list[tuple[int, bytes]]:
    """Documents with their words: few and many, usual and not."""
    numbers = draw(st.lists(st.integers(0, 65_535), min_size=1, max_size=80, unique=True))
    body = st.sampled_from([1, 1, 1, 2, 255])
    field = st.sampled_from([0, 0, 0, 1, 0x10, 0xFF])
    rows = []
    for number in sorted(numbers):
        chunks = draw(st.lists(st.integers(0, 70_000 // 2), min_size=1, max_size=6, unique=True))
        entries = [one << 16 | draw(body) << 8 | draw(field) for one in sorted(chunks)]
        total = sum(entry >> 8 & 255 for entry in entries) << 16
        total |= sum(entry >> 4 & 15 for entry in entries) << 8
        total |= sum(entry & 15 for entry in entries)
        rows.append((number, array("I", [total, *entries]).tobytes()))
    return rows


@settings(max_examples=120, deadline=None)
@given(occurrences())
def test_a_row_gives_back_every_word_in_any_order_of_asking(rows: list) -> None:
    for ask_entries_first in (False, True):
        posting = Posting(packed(*zip(*rows, strict=True)))
        if ask_entries_first:
            assert posting.entries(rows[-1][0]) == array("I", rows[-1][1]).tolist()[1:]
        assert list(posting.docs) == [number for number, _ in rows]
        assert [posting.words(number) for number, _ in rows] == [words for _, words in rows]
        absent = next(at for at in range(65_536) if at not in dict(rows))
        assert (posting.total(absent), posting.entries(absent)) == (0, [])


def test_a_common_term_takes_a_fraction_of_its_words() -> None:
    rows = [(at, array("I", [3 << 16, 1 << 8, 1 << 16 | 2 << 8]).tobytes()) for at in range(2_000)]
    assert len(packed(*zip(*rows, strict=True))) < sum(len(words) for _, words in rows) / 5


def add_segment(db, number: int) -> None:
    """Adds a content with two chunks, in a segment of its own."""
    key = (ContentHash(number.to_bytes(16, "big")), "text")
    packed_facts = pack_facts(facts([["alpha"] * (number % 7 + 1), ["beta"]]))
    doc = contents.insert(db, key, 1, 1, size_bytes=10, facts=packed_facts)
    postings.write_segment(db, [doc])


def test_merging_small_segments_changes_no_count_and_drops_the_removed(tmp_path: Path) -> None:
    db = open_index(tmp_path / "index.db")
    for number in range(60):
        with db.write(None):
            add_segment(db, number)
    before = counts(db, ["alpha", "beta"])
    with db.write(None):
        db.execute("DELETE FROM contents WHERE id % 3 = 0")
        postings.merge_small(db)
    after = counts(db, ["alpha", "beta"])
    assert after == {key: value for key, value in before.items() if key[1] % 3}
    assert db.row("SELECT COUNT(*) FROM segments") == (1,)


def test_many_edits_leave_few_segments(tmp_path: Path) -> None:
    db = open_index(tmp_path / "index.db")
    most = 0
    with db.write(None):
        for number in range(2_500):
            add_segment(db, number)
            postings.merge_small(db)
            (segments,) = db.row("SELECT COUNT(*) FROM segments") or (0,)
            most = max(most, segments)
    # Fewer than 48 of at most 64 contents, and fewer than 16 of at most 1,024.
    assert most <= 48 + 16
    assert len(counts(db, ["alpha"])) == 2_500


def test_references_and_imports_come_back_as_they_were(tmp_path: Path) -> None:
    from codelens.types import Import, Reference

    db = open_index(tmp_path / "index.db")
    references = (Reference("näme", "call", 3, 4, -1), Reference("T", "type", 70000, 900, 12))
    imports = (Import("./a b", "*", "", 1), Import("os", "", "o", 2))
    one = facts([["alpha"]])
    structure = one.structure._replace(references=references, imports=imports)
    with db.write(None):
        key = (ContentHash(b"0" * 16), "text")
        doc = contents.insert(
            db, key, 1, 1, size_bytes=10, facts=pack_facts(one._replace(structure=structure))
        )
    assert contents.references_of(db, doc.content) == (list(references), list(imports))
