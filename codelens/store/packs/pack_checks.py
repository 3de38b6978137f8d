"""Whether facts that somebody else extracted are such as an extraction gives.

Not whether they are true: that only the text can tell. But nothing that reads them may fail, go in
a circle, or reach beyond what is there.
"""

from __future__ import annotations

from array import array
from itertools import starmap
from typing import get_args

from codelens.store.facts.packed_facts import REFERENCE_KINDS, PackedFacts, plain_columns
from codelens.store.packs.pack_errors import MalformedRecord
from codelens.types import ScopeKind

_MOST_TEXT = 1_000_000
_SCOPE_KINDS = len(get_args(ScopeKind))
_CHUNK_WORDS = 8
_MOST_CHUNKS = 65_534
_IMPORT_PARTS = 4
_SCOPE_WORDS, _BINDING_WORDS, _REFERENCE_WORDS, _PAIR_WORDS = 3, 5, 2, 2
_MOST_POSTING_WORDS = 65_535


def whole_of(value: object, most: int) -> int:
    """A whole number from 0 to `most`.

    Raises:
        MalformedRecord: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise MalformedRecord("a number is out of range")
    return value


def text_of(value: object) -> str:
    """A text that a definition, a term or a name can have.

    Raises:
        MalformedRecord: it is none.
    """
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise MalformedRecord("a text is none, or too long")
    return value


def check_blobs(facts: PackedFacts) -> None:
    """Refuse blobs that cannot be read as they are laid out.

    References and `flow` are not compressed yet.

    Raises:
        MalformedRecord: one cannot.
        ValueError: likewise; also LookupError, OverflowError, from what reads them.
    """
    _check_chunks(facts)
    _check_terms(facts)
    places = _check_references(facts)
    parts = facts.imports.decode("utf-8", "surrogatepass").split("\0") if facts.imports else []
    if len(parts) % _IMPORT_PARTS or not all(map(str.isdecimal, parts[3::_IMPORT_PARTS])):
        raise MalformedRecord("the imports are malformed")
    if facts.flow:
        _check_flow(facts, places)
    elif places:
        # Names without scopes are of a text in which nothing is to be resolved.
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
    """How many references there are."""
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
    # A text without scopes may have names all the same; they are of its first.
    sound &= max((word >> 8 for word in used[1::2]), default=-1) < max(scopes, 1)
    sound &= max(pairs[::2], default=-1) < places
    if not sound:
        raise MalformedRecord("a scope, a binding or a reference leads nowhere")
