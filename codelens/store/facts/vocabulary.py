"""What words and names an index knows, by how they begin; of any view: who asks filters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from codelens.store.database.database import Database
from codelens.store.facts.kept_keys import KeptKeys
from codelens.store.facts.posting_blocks import PostingBlock

# CROSS JOIN keeps SQLite at two seeks a segment: to the block the first of the terms may stand in,
# then those that begin with one of them.
BLOCKS_FROM = """
SELECT p.first_term, p.marks, CASE WHEN p.marks IS NOT NULL THEN p.data END
FROM segments s CROSS JOIN postings p
WHERE p.id = (
    SELECT id FROM postings WHERE segment = s.id AND first_term <= ?
    ORDER BY first_term DESC LIMIT 1
)
UNION ALL
SELECT p.first_term, p.marks, CASE WHEN p.marks IS NOT NULL THEN p.data END
FROM segments s CROSS JOIN postings p
WHERE p.segment = s.id AND p.first_term > ? AND p.first_term < ?
"""
KEYS_FROM = """
SELECT DISTINCT key FROM symbol_keys WHERE key >= ? AND key < ? AND length(key) BETWEEN ? AND ?
"""
# Of a long range few are to be looked at: those that hold a piece of what is looked for.
_HOLDS = "instr(key, ?)"
KEYS_LIKE = "SELECT DISTINCT key FROM symbol_keys WHERE key GLOB ?"
KEYS_HOLDING = "SELECT DISTINCT key FROM symbol_keys WHERE instr(key, ?)"
# One text, and not a row for each of a million; a key may be of more than one line. SQLite keeps
# the order of a subquery for any aggregate but COUNT, MIN and MAX.
_JOINED = """
SELECT group_concat(key, char(10)) FILTER (WHERE instr(key, char(10)) = 0),
    json_group_array(key) FILTER (WHERE instr(key, char(10)) > 0), {last}
FROM (SELECT DISTINCT key FROM {rows} ORDER BY key)
"""
_LAST_CONTENT = "SELECT COALESCE(MAX(id), 0) >> 24 FROM symbols"
_ALL_KEYS = _JOINED.format(last=f"({_LAST_CONTENT})", rows="symbol_keys")
_NEW_KEYS = _JOINED.format(last=f"({_LAST_CONTENT})", rows="symbols WHERE id >= (? + 1) << 24")
_MOST_KEPT = 64_000_000
"""Letters of all keys that are kept in memory at most."""
_END = "\U0010ffff"


def terms_from(db: Database, start: str, longest: int) -> list[str]:
    """Terms of the postings that begin so, of at most so many letters; in no order."""
    begin, end = start.encode(), (start + _END).encode()
    terms: set[bytes] = set()
    for first_term, marks, data in db.rows(BLOCKS_FROM, (start, start, start + _END)):
        here = [first_term.encode()] if marks is None else PostingBlock(marks, data).terms
        if not begin <= here[0] <= here[-1] < end:
            here = [term for term in here if begin <= term < end]
        terms.update(here)
    return [known for term in terms if len(known := term.decode()) <= longest]


def keys_from(
    db: Database, start: str, shortest: int, longest: int, pieces: Sequence[str]
) -> list[str]:
    """Keys of symbols that begin so, of so many letters, with one of some pieces; in no order."""
    sql = f"{KEYS_FROM} AND ({' OR '.join([_HOLDS] * len(pieces))})"
    return [row[0] for row in db.rows(sql, (start, start + _END, shortest, longest, *pieces))]


def keys_nearly(
    db: Database, starts: Sequence[str], word: str, most: int, pieces: Sequence[str]
) -> list[str]:
    """Keys of symbols that begin in one of some ways, all of `most` edits from a word among them.

    In no order; some may be gone. One of `pieces` of the word is in each of those that are meant.
    """
    known = _kept_keys(db, _PART_PASSED_OVER)
    if known is not None:
        return [key for start in starts for key in known.nearly(start, word, most)]
    shortest, longest = len(word) - most, len(word) + most
    return [key for start in starts for key in keys_from(db, start, shortest, longest, pieces)]


def keys_holding(db: Database, part: str) -> list[str]:
    """Keys of symbols that hold these letters side by side; in no order; some may be gone."""
    known = _kept_keys(db, _ALL_PASSED_OVER)
    if known is not None:
        return known.holding(part)
    return [row[0] for row in db.rows(KEYS_HOLDING, (part,))]


def _kept_keys(db: Database, price: int) -> KeptKeys | None:
    """All keys in memory; None at first, and where they are too many.

    To pass over all keys takes 230 ms of CPU at a million definitions, over those of one letter
    about a fourth. Who asks once pays that; when as much was paid as it costs to keep them, they
    are kept. What is written to the index is read along.

    Args:
        db: the index.
        price: what the question costs without them.
    """
    known = _kept.get(db, 0)
    if not isinstance(known, KeptKeys):
        _kept[db] = known = known + price
        if known <= _WORTH_KEEPING:
            return None
    if not isinstance(known, KeptKeys) or known.is_outgrown():
        _kept[db] = known = KeptKeys(*_joined(db, _ALL_KEYS))
        if known.size > _MOST_KEPT:
            _kept[db] = _NEVER
            return None
    if db.row(_LAST_CONTENT) != (known.last,):
        known.add(*_joined(db, _NEW_KEYS, known.last))
    return known


def _joined(db: Database, sql: str, *bindings: int) -> tuple[str, list[str], int]:
    """Keys as lines, keys of several lines, and the newest content."""
    row = db.row(sql, bindings)
    assert row is not None
    return row[0] or "", json.loads(row[1]), row[2]


def keys_with_letters(db: Database, letters: str) -> list[str]:
    """Keys of symbols that have these letters in this order; in no order.

    It passes over all keys: for questions that nothing else answers. `letters` are lower-case
    letters and digits alone.
    """
    return [row[0] for row in db.rows(KEYS_LIKE, (f"*{'*'.join(letters)}*",))]


_PART_PASSED_OVER, _ALL_PASSED_OVER = 1, 2
_WORTH_KEEPING = 3
_NEVER = -1_000_000_000
_kept: WeakKeyDictionary[Database, KeptKeys | int] = WeakKeyDictionary()
"""The keys of each index; before there are any what was paid so far."""
