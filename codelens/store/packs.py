"""Portable packs of indexed facts: their file format, their validation and their merging."""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import starmap
from typing import Any, BinaryIO, NamedTuple, cast, get_args

from codelens.errors import StoreError
from codelens.store.database.database import Database
from codelens.store.facts import contents, postings
from codelens.store.facts.contents import TIER_FULL, ContentKey, batched
from codelens.store.facts.resolution_facts import (
    COLUMNS,
    COUNTS,
    REFERENCE_KINDS,
    PackedFacts,
    SymbolRow,
    key_of,
    plain_columns,
    symbol_rows,
)
from codelens.types import ContentHash, Outcome, ScopeKind


class UnusablePack(StoreError):
    """A pack is damaged, malformed, or of another version; reading it stops.

    Args:
        file: the pack's name as the caller gave it.
        why: what is wrong.
        remedy: what to do.
    """

    def __init__(self, file: str, why: str, remedy: str = "") -> None:
        self.file = file
        self.why = why
        super().__init__(
            f"the pack {file!r} cannot be used: {why}; "
            f"{remedy or 'make or fetch it again, or continue without it: files are indexed here'}"
        )


class MalformedRecord(Exception):
    """Facts in a pack that no extraction produces; its text says what is wrong with them."""


# Validates facts that another machine extracted.
#
# It cannot check if they are true, which only the text shows. It ensures that code which reads them
# does not fail, loop forever, or read out of bounds.

_MOST_TEXT = 1_000_000
_SCOPE_KINDS = len(get_args(ScopeKind))
_CHUNK_WORDS = 8
_MOST_CHUNKS = 65_534
_IMPORT_PARTS = 4
_SCOPE_WORDS, _BINDING_WORDS, _REFERENCE_WORDS, _PAIR_WORDS = 3, 5, 2, 2
_MOST_POSTING_WORDS = 65_535


def whole_of(value: object, most: int) -> int:
    """Return `value` if it is a whole number from 0 to `most`.

    Raises:
        MalformedRecord: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise MalformedRecord("a number is out of range")
    return value


def text_of(value: object) -> str:
    """Return `value` if it is a text that a definition, a term or a name can have.

    Raises:
        MalformedRecord: it is not.
    """
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise MalformedRecord("a text is missing or too long")
    # Raises for an unpaired surrogate, which JSON can express and SQLite cannot store.
    value.encode()
    return value


def check_blobs(facts: PackedFacts) -> None:
    """Raise if a blob does not follow its layout.

    References and `flow` are not compressed here.

    Raises:
        MalformedRecord: a blob does not.
        ValueError: likewise; the decoding may also raise LookupError or OverflowError.
    """
    _check_chunks(facts)
    _check_terms(facts)
    places = _check_references(facts)
    parts = facts.imports.decode("utf-8", "surrogatepass").split("\0") if facts.imports else []
    if len(parts) % _IMPORT_PARTS:
        raise MalformedRecord("the imports are malformed")
    for line in parts[3::_IMPORT_PARTS]:
        whole_of(int(line), facts.lines + 1)
    if facts.flow:
        _check_flow(facts, places)
    elif places:
        # Without scopes there are no names to resolve, so there can be no references.
        raise MalformedRecord("references have no scopes")


def _check_chunks(facts: PackedFacts) -> None:
    words = array("I", facts.chunks)
    count, symbols = facts.chunk_count, len(facts.symbol_rows)
    sound = len(words) == _CHUNK_WORDS * len(words[::_CHUNK_WORDS])
    sound &= count <= len(words[::_CHUNK_WORDS]) and count <= _MOST_CHUNKS
    sound &= max(words[4::_CHUNK_WORDS], default=0) <= symbols
    sound &= max((*words[::_CHUNK_WORDS], *words[1::_CHUNK_WORDS]), default=0) <= facts.lines + 1
    totals = tuple(sum(words[at::_CHUNK_WORDS]) for at in (5, 6, 7))
    sound &= totals == (facts.body_terms, facts.name_terms, facts.doc_terms)
    if not sound:
        raise MalformedRecord("the chunks are malformed")


def _check_terms(facts: PackedFacts) -> None:
    for term, data in facts.terms.items():
        words = array("I", data)
        entries = words[1:]
        if not term or not entries or len(words) > _MOST_POSTING_WORDS:
            raise MalformedRecord("a term occurs nowhere")
        chunks = [entry >> 16 for entry in entries]
        if chunks != sorted(set(chunks)) or chunks[-1] >= facts.chunk_count:
            raise MalformedRecord("a term occurs where there is no text")


def _check_references(facts: PackedFacts) -> int:
    """Check the references and return how many there are."""
    if not facts.references:
        return 0
    (size,) = array("I", facts.references[:4])
    if len(facts.references) < 4 + size or (len(facts.references) - size - 4) % 16:
        raise MalformedRecord("the references are cut short")
    packed = plain_columns(facts.references)
    names = packed.table.decode("utf-8", "surrogatepass").count("\0") + 1
    heads = packed.heads
    sound = all(head >> 2 < names and head & 3 < len(REFERENCE_KINDS) for head in heads)
    if not sound or max(packed.symbols, default=0) > len(facts.symbol_rows):
        raise MalformedRecord("a reference names nothing")
    if max(packed.lines, default=0) > facts.lines + 1:
        raise MalformedRecord("a reference is beyond the text")
    return len(heads)


def _check_flow(facts: PackedFacts, places: int) -> None:
    (size,) = array("I", facts.flow[:4])
    texts = facts.flow[4 : 4 + size].decode("utf-8", "surrogatepass").count("\0") + 1
    words = array("I", facts.flow[4 + size :])
    scopes, bindings = words[:2]
    first = 2 + _SCOPE_WORDS * scopes
    second = first + _BINDING_WORDS * bindings
    third = second + _REFERENCE_WORDS * places
    if len(facts.flow) < 4 + size or third > len(words) or (len(words) - third) % _PAIR_WORDS:
        raise MalformedRecord("the scopes are cut short")
    parents, owners, kinds = (words[2 + at : first : _SCOPE_WORDS] for at in range(3))
    sound = all(starmap(int.__le__, zip(parents, range(scopes), strict=True)))
    sound &= max(owners, default=0) <= len(facts.symbol_rows)
    sound &= max(kinds, default=0) < _SCOPE_KINDS
    inner = words[first:second]
    sound &= max(inner[::_BINDING_WORDS], default=-1) < scopes
    used = words[second:third]
    pairs = words[third:]
    numbers = (inner[1::5], inner[2::5], inner[3::5], used[::2], pairs[1::2])
    sound &= all(max(column, default=-1) < texts for column in numbers)
    # A text without scopes may still have names, which then count for the first scope.
    sound &= max((word >> 8 for word in used[1::2]), default=-1) < max(scopes, 1)
    sound &= max(pairs[::2], default=-1) < places
    sound &= max(inner[4::_BINDING_WORDS], default=0) <= facts.lines + 1
    if not sound:
        raise MalformedRecord("a scope, a binding or a reference leads nowhere")


# Encodes one content as a record of a pack; decoding returns only well-formed facts.
#
# A record is the length of a head, the head in JSON (numbers, short texts and lists), then the
# blobs one after another: chunks, references, imports, flow, and the occurrences of each term.
# References and `flow` are stored uncompressed. Vectors are left out: the reader computes them from
# the terms with its own word table.

_LENGTH = struct.Struct("<I")
_HASH_BYTES = 16
_MOST = 2**32 - 1
_MOST_SURFACE = 2**63 - 1
_SYMBOL_FIELDS = 12
_OUTCOMES: tuple[str, ...] = get_args(Outcome)
_OF_THE_MACHINE = ("timeout", "broken")
"""Outcomes that depend on the machine or the moment."""


class PackedContent(NamedTuple):
    """All facts of one distinct text in one language."""

    key: ContentKey
    version: int
    """Version of the extractor."""
    size_bytes: int
    facts: PackedFacts


def belongs(outcome: str) -> bool:
    """Whether a pack may contain a content with this outcome."""
    return outcome not in _OF_THE_MACHINE


def encoded(content: PackedContent) -> bytes:
    """Encode a content as a record."""
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
        "counts": [getattr(facts, count) for count in COUNTS],
        "symbols": [[row[1], *row[3:]] for row in facts.symbol_rows],
        "blobs": [len(blob) for blob in blobs],
        "terms": [[term, len(words)] for term, words in terms],
    }
    text = json.dumps(head, separators=(",", ":"), sort_keys=True).encode("ascii")
    occurrences = b"".join(words for _, words in terms)
    return b"".join((_LENGTH.pack(len(text)), text, *blobs, occurrences))


def decoded(record: bytes) -> PackedContent:
    """Decode a record.

    Raises:
        MalformedRecord: no extraction produces such facts.
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
        raise MalformedRecord("a record has the wrong length")
    content_hash = ContentHash(bytes.fromhex(text_of(head["hash"])))
    if len(content_hash) != _HASH_BYTES or head["outcome"] not in _OUTCOMES:
        raise MalformedRecord("a content has no hash or no outcome")
    lines = whole_of(head["lines"], _MOST)
    symbols = [_symbol(at, row, lines) for at, row in enumerate(head["symbols"])]
    counts = [whole_of(count, _MOST) for count in head["counts"]]
    facts = PackedFacts(
        outcome=cast("Outcome", head["outcome"]),
        lines=lines,
        generated=head["generated"] is True,
        symbol_rows=symbols,
        chunks=chunks,
        references=references,
        imports=imports,
        flow=flow,
        surface=whole_of(head["surface"], _MOST_SURFACE),
        terms=terms,
        vectors=None,
        **dict(zip(COUNTS, counts, strict=True)),
    )
    check_blobs(facts)
    # Compressed as in the index, now that it is validated.
    facts = facts._replace(
        references=zlib.compress(references, 1) if references else b"",
        flow=zlib.compress(flow, 1) if flow else b"",
    )
    key = content_hash, text_of(head["language"])
    version = whole_of(head["version"], _MOST)
    return PackedContent(key, version, whole_of(head["size"], _MOST), facts)


def _blobs(sizes: list[int], record: bytes, at: int) -> tuple[list[bytes], int]:
    """The blobs from `at` on, and the position after the last one."""
    blobs: list[bytes] = []
    for size in sizes:
        end = at + whole_of(size, _MOST)
        blobs.append(record[at:end])
        at = end
    return blobs, at


def _symbol(ordinal: int, row: list[Any], lines: int) -> SymbolRow:
    if len(row) != _SYMBOL_FIELDS:
        raise MalformedRecord("a definition has the wrong number of fields")
    name, qualified, kind, signature, doc = (text_of(text) for text in row[:5])
    start_line, end_line, name_line = (whole_of(line, lines + 1) for line in row[6:9])
    start_byte, end_byte = (whole_of(byte, _MOST) for byte in row[9:11])
    if end_line < start_line or end_byte < start_byte or not isinstance(row[5], bool | int):
        raise MalformedRecord("a definition ends before it begins")
    # A parent always precedes its child, so code that climbs parents cannot loop.
    parent = whole_of(row[11] + 1, ordinal) - 1
    return (
        ordinal, name, key_of(name), qualified, kind, signature, doc, bool(row[5]),
        start_line, end_line, name_line, start_byte, end_byte, parent,
    )  # fmt: skip


# Writes and reads pack files: a head in JSON, frames of compressed records, and a digest of
# everything.
#
#     "codelens pack\n", uint32 length, head
#     frames: uint32 compressed length, uint32 length, SHA-256 of the compressed bytes, bytes (xz)
#     uint32 0, uint32 number of records, SHA-256 of all bytes before it
#
# Little-endian. The same facts give the same bytes: the file contains no time and no name of a
# machine or folder. xz is in Python's standard library, zstd only from Python 3.14 on; at its
# second lowest level it packs Django smaller than zstd's tenth level (11.7 and 12.5 MB), and
# unpacks it in half a second.
#
# Sizes in a file cannot harm its reader: each is checked before memory is allocated for it, and
# decompression stops at the size of a frame.

FORMAT = 2
_MAGIC = b"codelens pack\n"
_FRAME = struct.Struct("<II")
_FRAME_BYTES = 4 * 1024 * 1024
"""A frame is written once its records reach this size."""
_MOST_FRAME_BYTES = 96 * 1024 * 1024
_MOST_RECORD_BYTES = _MOST_FRAME_BYTES - _FRAME_BYTES - _LENGTH.size
_MOST_HEAD_BYTES = 64 * 1024
_MOST_BYTES = 8 * 1024**3
"""For all records together: more than a hundred times Django's."""
_MEMORY_BYTES = 64 * 1024 * 1024
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 1}]
_DIGEST = 32


class PackWriter:
    """Writes a pack, record by record.

    Args:
        file: open for writing, empty.
        head: metadata of the whole pack.
    """

    def __init__(self, file: BinaryIO, head: Mapping[str, object]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self.count = 0
        text = json.dumps({"format": FORMAT, **head}, sort_keys=True).encode("ascii")
        self._put(_MAGIC + _LENGTH.pack(len(text)) + text)

    def add(self, record: bytes) -> bool:
        """Add a record; return False, without adding it, if it is too large."""
        if len(record) > _MOST_RECORD_BYTES:
            return False
        self._pending += (_LENGTH.pack(len(record)), record)
        self._pending_bytes += len(record)
        self.count += 1
        if self._pending_bytes >= _FRAME_BYTES:
            self._put_frame()
        return True

    def close(self) -> None:
        """Write the end of the pack; the file stays open."""
        self._put_frame()
        self._put(_FRAME.pack(0, self.count))
        self._file.write(self._digest.digest())

    def _put_frame(self) -> None:
        if not self._pending:
            return
        raw = b"".join(self._pending)
        data = lzma.compress(raw, lzma.FORMAT_XZ, lzma.CHECK_NONE, filters=_FILTERS)
        self._put(_FRAME.pack(len(data), len(raw)) + hashlib.sha256(data).digest() + data)
        self._pending, self._pending_bytes = [], 0

    def _put(self, data: bytes) -> None:
        self._digest.update(data)
        self._file.write(data)


class PackReader:
    """Reads a pack from an untrusted source.

    Args:
        file: open for reading, at its start.
        name: the file's name, for messages.

    Raises:
        UnusablePack: it is not a pack, or has another format.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._digest = hashlib.sha256()
        if self._take(len(_MAGIC)) != _MAGIC:
            raise UnusablePack(
                name, "it is not a codelens pack", "name a file made by `codelens pack`"
            )
        (length,) = _LENGTH.unpack(self._take(_LENGTH.size))
        if length > _MOST_HEAD_BYTES:
            raise self._unusable("its head is too large")
        try:
            head = json.loads(self._take(length))
        except (ValueError, RecursionError) as error:
            raise self._unusable("its head is not JSON") from error
        if not isinstance(head, dict):
            raise self._unusable("its head is not an object")
        self.head = cast("dict[str, Any]", head)
        if self.head.get("format") != FORMAT:
            raise UnusablePack(
                name,
                f"it has format {str(self.head.get('format'))[:20]}, but this codelens reads "
                f"{FORMAT}",
                "make it again with this version",
            )

    def records(self) -> Iterator[bytes]:
        """Yield each record; check the digest of the whole file at the end.

        Raises:
            UnusablePack: it is damaged, cut short, or states sizes that no pack has.
        """
        count = total = 0
        while True:
            size, raw_size = _FRAME.unpack(self._take(_FRAME.size))
            if not size:
                self._end(count, raw_size)
                return
            total += raw_size
            if not 0 < raw_size <= _MOST_FRAME_BYTES or size > _MOST_FRAME_BYTES:
                raise self._unusable("a frame is too large")
            if total > _MOST_BYTES:
                raise self._unusable("it is too large")
            for record in self._split(self._raw(size, raw_size)):
                count += 1
                yield record

    def _raw(self, size: int, raw_size: int) -> bytes:
        digest = self._take(_DIGEST)
        data = self._take(size)
        if hashlib.sha256(data).digest() != digest:
            raise self._unusable("a frame is damaged")
        try:
            unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, _MEMORY_BYTES)
            # One byte over the stated size shows that the data is longer than stated.
            raw = unpacker.decompress(data, raw_size + 1)
        except lzma.LZMAError as error:
            raise self._unusable(f"a frame cannot be decompressed ({error})") from error
        if len(raw) != raw_size or not unpacker.eof or unpacker.unused_data:
            raise self._unusable("a frame has the wrong length")
        return raw

    def _split(self, raw: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(raw):
            if at + _LENGTH.size > len(raw):
                raise self._unusable("a record is cut short")
            (length,) = _LENGTH.unpack_from(raw, at)
            at += _LENGTH.size
            if not length or at + length > len(raw):
                raise self._unusable("a record is cut short")
            yield raw[at : at + length]
            at += length

    def _end(self, count: int, stated: int) -> None:
        digest = self._digest.digest()
        if self._file.read(_DIGEST + 1) != digest or count != stated:
            raise self._unusable("its digest or number of records is wrong")

    def _take(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) != size:
            raise self._unusable("it is cut short")
        self._digest.update(data)
        return data

    def _unusable(self, why: str) -> UnusablePack:
        return UnusablePack(self._name, why)


# Reads contents of an index with all their facts for a pack, and merges packed contents into an
# index.

_PACKABLE = """
SELECT DISTINCT c.id, c.language, c.version, c.outcome
FROM view_files f JOIN contents c ON c.id = f.content
WHERE f.view = ? AND c.tier = ?
"""
_ROWS = f"""
SELECT id, hash, language, version, size_bytes, {", ".join(COLUMNS.values())}
FROM contents WHERE id IN ({{marks}})
"""  # noqa: S608 - constants


def packable(db: Database, view: int, versions: Mapping[str, int]) -> set[int]:
    """The contents of a view that may be in a pack.

    Args:
        db: the index.
        view: the view whose contents are chosen.
        versions: language -> the extractor version that a content must have.
    """
    return {
        row[0]
        for row in db.rows(_PACKABLE, (view, TIER_FULL))
        if belongs(row[3]) and versions.get(row[1]) == row[2]
    }


def packed_contents(db: Database, ids: Set[int]) -> Iterator[PackedContent]:
    """Contents with all their facts, one segment of the postings at a time, in no stated order."""
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
        for content, digest, language, version, size, *columns in db.rows(
            _ROWS.format(marks=marks), batch
        ):
            fields = dict(zip(COLUMNS, columns, strict=True))
            fields["generated"] = bool(fields["generated"])
            rows = symbol_rows(symbols.get(content, ()))
            facts = PackedFacts(symbol_rows=rows, terms=terms[content], vectors=None, **fields)
            yield PackedContent((digest, language), version, size, facts)


def merge(db: Database, batch: Sequence[PackedContent]) -> int:
    """Store contents that are new, or better than the stored ones; return how many.

    In the caller's transaction.
    """
    stored = contents.find(db, [content.key for content in batch])
    docs: list[postings.Doc] = []
    for content in batch:
        present = stored.get(content.key)
        if present is None or (present.tier, present.version) < (TIER_FULL, content.version):
            docs.append(
                contents.insert(
                    db, content.key, content.version, TIER_FULL,
                    size_bytes=content.size_bytes, facts=content.facts,
                )
            )  # fmt: skip
    for start in range(0, len(docs), postings.SEGMENT_DOCS):
        postings.write_segment(db, docs[start : start + postings.SEGMENT_DOCS])
    return len(docs)
