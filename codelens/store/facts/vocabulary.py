"""What words and names an index knows, by how they begin; of any view: who asks filters."""

from __future__ import annotations

from codelens.store.database.database import Database

# CROSS JOIN keeps SQLite at one seek a segment, in the order of the primary key.
TERMS_FROM = """
SELECT DISTINCT p.term FROM segments s CROSS JOIN postings p
WHERE p.segment = s.id AND p.term >= ? AND p.term < ? AND length(p.term) <= ?
"""
KEYS_FROM = """
SELECT DISTINCT key FROM symbol_keys WHERE key >= ? AND key < ? AND length(key) BETWEEN ? AND ?
"""
KEYS_LIKE = "SELECT DISTINCT key FROM symbol_keys WHERE key GLOB ?"
KEYS_HOLDING = "SELECT DISTINCT key FROM symbol_keys WHERE instr(key, ?)"
_END = "\U0010ffff"


def terms_from(db: Database, start: str, longest: int) -> list[str]:
    """Terms of the postings that begin so, of at most so many letters; in no order."""
    return [row[0] for row in db.rows(TERMS_FROM, (start, start + _END, longest))]


def keys_from(db: Database, start: str, shortest: int, longest: int) -> list[str]:
    """Keys of symbols that begin so, of so many letters; in no order."""
    return [row[0] for row in db.rows(KEYS_FROM, (start, start + _END, shortest, longest))]


def keys_holding(db: Database, part: str) -> list[str]:
    """Keys of symbols that hold these letters side by side; in no order.

    It passes over all keys, at a third of what `keys_with_letters` costs.
    """
    return [row[0] for row in db.rows(KEYS_HOLDING, (part,))]


def keys_with_letters(db: Database, letters: str) -> list[str]:
    """Keys of symbols that have these letters in this order; in no order.

    It passes over all keys: for questions that nothing else answers. `letters` are lower-case
    letters and digits alone.
    """
    return [row[0] for row in db.rows(KEYS_LIKE, (f"*{'*'.join(letters)}*",))]
