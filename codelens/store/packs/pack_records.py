"""One content in a pack: its facts as bytes, and back; what comes back is well-formed.

A record is the length of a head, the head in JSON (whatever is a number, a short text or a list),
then the blobs one behind the other: chunks, references, imports, flow, and the occurrences of each
term. References and `flow` are there as before their own compression. Vectors are not in it: they
follow from the terms, by the table of words of whoever reads it.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any, NamedTuple, cast, get_args

from codelens.store.facts.contents import ContentKey
from codelens.store.facts.packed_facts import PackedFacts, SymbolRow
from codelens.store.facts.symbol_keys import key_of
from codelens.store.packs.pack_checks import check_blobs, text_of, whole_of
from codelens.store.packs.pack_errors import MalformedRecord
from codelens.types import ContentHash, Outcome

_LENGTH = struct.Struct("<I")
_HASH_BYTES = 16
_MOST = 2**32 - 1
_MOST_SURFACE = 2**63 - 1
_SYMBOL_FIELDS = 12
_OUTCOMES: tuple[str, ...] = get_args(Outcome)
_OF_THE_MACHINE = ("timeout", "broken")
"""Outcomes that another machine, or another moment, may not have."""


class PackedContent(NamedTuple):
    """All that is known of one distinct text in one language."""

    key: ContentKey
    version: int
    """Of the extractor."""
    size_bytes: int
    facts: PackedFacts


def belongs(outcome: str) -> bool:
    """Whether a content with this outcome may be in a pack."""
    return outcome not in _OF_THE_MACHINE


def encoded(content: PackedContent) -> bytes:
    """The record of a content."""
    facts = content.facts
    references, flow = (
        zlib.decompress(blob) if blob else b"" for blob in (facts.references, facts.flow)
    )
    blobs = (facts.chunks, references, facts.imports, flow)
    terms = sorted(facts.terms.items())
    head = {
        "hash": content.key[0].hex(),
        "language": content.key[1],
        "version": content.version,
        "size": content.size_bytes,
        "outcome": facts.outcome,
        "generated": facts.generated,
        "lines": facts.lines,
        "surface": facts.surface,
        "counts": [facts.chunk_count, facts.body_terms, facts.name_terms, facts.doc_terms],
        "symbols": [[row[1], *row[3:]] for row in facts.symbol_rows],
        "blobs": [len(blob) for blob in blobs],
        "terms": [[term, len(words)] for term, words in terms],
    }
    text = json.dumps(head, separators=(",", ":"), sort_keys=True).encode("ascii")
    occurrences = b"".join(words for _, words in terms)
    return b"".join((_LENGTH.pack(len(text)), text, *blobs, occurrences))


def decoded(record: bytes) -> PackedContent:
    """The content of a record.

    Raises:
        MalformedRecord: no extraction gives such facts.
    """
    try:
        (length,) = _LENGTH.unpack_from(record)
        head = json.loads(record[_LENGTH.size : _LENGTH.size + length])
        return _content(cast("dict[str, Any]", head), record, _LENGTH.size + length)
    except (
        ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError,
        struct.error,
    ) as error:  # fmt: skip
        raise MalformedRecord(f"{type(error).__name__} in a record") from error


def _content(head: dict[str, Any], record: bytes, at: int) -> PackedContent:
    (chunks, references, imports, flow), at = _blobs(head["blobs"], record, at)
    terms: dict[str, bytes] = {}
    for term, size in head["terms"]:
        end = at + whole_of(size, _MOST)
        terms[text_of(term)] = record[at:end]
        at = end
    if at != len(record) or len(terms) != len(head["terms"]):
        raise MalformedRecord("a record is not as long as it says")
    content_hash = ContentHash(bytes.fromhex(text_of(head["hash"])))
    if len(content_hash) != _HASH_BYTES or head["outcome"] not in _OUTCOMES:
        raise MalformedRecord("a content has no hash or no outcome")
    lines = whole_of(head["lines"], _MOST)
    symbols = [_symbol(at, row, lines) for at, row in enumerate(head["symbols"])]
    chunk_count, body_terms, name_terms, doc_terms = (
        whole_of(count, _MOST) for count in head["counts"]
    )
    facts = PackedFacts(
        outcome=cast("Outcome", head["outcome"]),
        lines=lines,
        generated=head["generated"] is True,
        symbol_rows=symbols,
        chunk_count=chunk_count,
        chunks=chunks,
        references=references,
        imports=imports,
        flow=flow,
        surface=whole_of(head["surface"], _MOST_SURFACE),
        body_terms=body_terms,
        name_terms=name_terms,
        doc_terms=doc_terms,
        terms=terms,
        vectors=None,
    )
    check_blobs(facts)
    # As the index has it: compressed, once it is known to be sound.
    facts = facts._replace(
        references=zlib.compress(references, 1) if references else b"",
        flow=zlib.compress(flow, 1) if flow else b"",
    )
    key = content_hash, text_of(head["language"])
    version = whole_of(head["version"], _MOST)
    return PackedContent(key, version, whole_of(head["size"], _MOST), facts)


def _blobs(sizes: list[int], record: bytes, at: int) -> tuple[list[bytes], int]:
    """The blobs from `at` on, and where they end."""
    blobs: list[bytes] = []
    for size in sizes:
        end = at + whole_of(size, _MOST)
        blobs.append(record[at:end])
        at = end
    return blobs, at


def _symbol(ordinal: int, row: list[Any], lines: int) -> SymbolRow:
    if len(row) != _SYMBOL_FIELDS:
        raise MalformedRecord("a definition has another number of fields")
    name, qualified, kind, signature, doc = (text_of(text) for text in row[:5])
    start_line, end_line, name_line = (whole_of(line, lines + 1) for line in row[6:9])
    start_byte, end_byte = (whole_of(byte, _MOST) for byte in row[9:11])
    if end_line < start_line or end_byte < start_byte or not isinstance(row[5], bool | int):
        raise MalformedRecord("a definition ends before it begins")
    # Positions only lead back: nothing that climbs them goes in a circle.
    parent = whole_of(row[11] + 1, ordinal) - 1
    return (
        ordinal, name, key_of(name), qualified, kind, signature, doc, bool(row[5]),
        start_line, end_line, name_line, start_byte, end_byte, parent,
    )  # fmt: skip
