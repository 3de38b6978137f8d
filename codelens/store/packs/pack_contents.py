"""Contents of an index as a pack has them: read with all their facts, and merged into another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from codelens.store.database.database import Database
from codelens.store.facts import contents, postings
from codelens.store.facts.contents import TIER_FULL, batched
from codelens.store.facts.packed_facts import PackedFacts, symbol_rows
from codelens.store.packs.pack_records import PackedContent, belongs

_PACKABLE = """
SELECT DISTINCT c.id, c.language, c.version, c.outcome
FROM view_files f JOIN contents c ON c.id = f.content
WHERE f.view = ? AND c.tier = ?
"""
_ROWS = """
SELECT id, hash, language, version, size_bytes, outcome, lines, generated, chunk_count, chunks,
    refs, imports, flow, surface, body_terms, name_terms, doc_terms
FROM contents WHERE id IN ({marks})
"""


def packable(db: Database, view: int, versions: Mapping[str, int]) -> set[int]:
    """The contents of a view that may be in a pack.

    Args:
        db: the index.
        view: whose contents.
        versions: language -> the version of the extractor that they must be by.
    """
    return {
        row[0]
        for row in db.rows(_PACKABLE, (view, TIER_FULL))
        if belongs(row[3]) and versions.get(row[1]) == row[2]
    }


def packed_contents(db: Database, ids: Set[int]) -> Iterator[PackedContent]:
    """Contents with all their facts, a segment of the postings at a time, in no order of theirs."""
    for segment, docs in postings.segment_docs(db).items():
        if not ids.isdisjoint(docs.contents.tolist()):
            terms = {
                doc.content: doc.terms
                for doc in postings.docs_of(db, segment, docs)
                if doc.content in ids
            }
            yield from _with_terms(db, terms)


def _with_terms(db: Database, terms: Mapping[int, dict[str, bytes]]) -> Iterator[PackedContent]:
    for batch in batched(terms):
        marks = ",".join("?" * len(batch))
        symbols = contents.symbols_of(db, [int(content) for content in batch])  # type: ignore[call-overload]
        for row in db.rows(_ROWS.format(marks=marks), batch):
            facts = PackedFacts(
                outcome=row[5],
                lines=row[6],
                generated=bool(row[7]),
                symbol_rows=symbol_rows(symbols.get(row[0], ())),
                chunk_count=row[8],
                chunks=row[9],
                references=row[10],
                imports=row[11],
                flow=row[12],
                surface=row[13],
                body_terms=row[14],
                name_terms=row[15],
                doc_terms=row[16],
                terms=terms[row[0]],
                vectors=None,
            )
            yield PackedContent((row[1], row[2]), row[3], row[4], facts)


def merge(db: Database, batch: Sequence[PackedContent]) -> int:
    """Store contents that are not known as well already; how many. In the caller's transaction."""
    known = contents.find(db, [content.key for content in batch])
    docs: list[postings.Doc] = []
    for content in batch:
        there = known.get(content.key)
        if there is None or (there.tier, there.version) < (TIER_FULL, content.version):
            docs.append(
                contents.insert(
                    db, content.key, content.version, TIER_FULL,
                    size_bytes=content.size_bytes, facts=content.facts,
                )
            )  # fmt: skip
    for start in range(0, len(docs), postings.SEGMENT_DOCS):
        postings.write_segment(db, docs[start : start + postings.SEGMENT_DOCS])
    return len(docs)
