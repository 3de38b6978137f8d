"""What words and names an index knows, by how they begin; of any view: who asks filters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from weakref import WeakKeyDictionary

from codelens.store.database.database import Database

# CROSS JOIN keeps SQLite at one seek a segment, in the order of the primary key.
TERMS_FROM = """
SELECT DISTINCT p.term FROM segments s CROSS JOIN postings p
WHERE p.segment = s.id AND p.term >= ? AND p.term < ? AND length(p.term) <= ?
"""
KEYS_FROM = """
SELECT DISTINCT key FROM symbol_keys WHERE key >= ? AND key < ? AND length(key) BETWEEN ? AND ?
"""
# Of a long range few are to be looked at: those that hold a piece of what is looked for.
_HOLDS = "instr(key, ?)"
KEYS_LIKE = "SELECT DISTINCT key FROM symbol_keys WHERE key GLOB ?"
KEYS_HOLDING = "SELECT DISTINCT key FROM symbol_keys WHERE instr(key, ?)"
# One text, and not a row for each of a million; a key may be of more than one line.
_JOINED = """
SELECT group_concat(key, char(10)) FILTER (WHERE instr(key, char(10)) = 0),
    json_group_array(key) FILTER (WHERE instr(key, char(10)) > 0), {last}
FROM (SELECT DISTINCT key FROM {rows})
"""
_LAST_CONTENT = "SELECT COALESCE(MAX(content), 0) FROM symbols"
_ALL_KEYS = _JOINED.format(last=f"({_LAST_CONTENT})", rows="symbol_keys")
_NEW_KEYS = _JOINED.format(last=f"({_LAST_CONTENT})", rows="symbols WHERE content > ?")
_MOST_KEPT = 64_000_000
"""Letters of all keys that are kept in memory at most."""
_END = "\U0010ffff"


def terms_from(db: Database, start: str, longest: int) -> list[str]:
    """Terms of the postings that begin so, of at most so many letters; in no order."""
    return [row[0] for row in db.rows(TERMS_FROM, (start, start + _END, longest))]


def keys_from(
    db: Database, start: str, shortest: int, longest: int, pieces: Sequence[str]
) -> list[str]:
    """Keys of symbols that begin so, of so many letters, with one of some pieces; in no order."""
    sql = f"{KEYS_FROM} AND ({' OR '.join([_HOLDS] * len(pieces))})"
    return [row[0] for row in db.rows(sql, (start, start + _END, shortest, longest, *pieces))]


def keys_holding(db: Database, part: str) -> list[str]:
    """Keys of symbols that hold these letters side by side; in no order; some may be gone.

    It passes over all keys: 230 ms of CPU at a million definitions. So from the second time on
    they are kept in memory, as one text; what is written to the index is read along.
    """
    if db not in _kept:
        _kept[db] = None
        return [row[0] for row in db.rows(KEYS_HOLDING, (part,))]
    known = _kept[db]
    if known is None or known.is_outgrown():
        known = _Keys(*_joined(db, _ALL_KEYS))
        _kept[db] = known if known.size <= _MOST_KEPT else None
    elif db.row(_LAST_CONTENT) != (known.last,):
        known.add(*_joined(db, _NEW_KEYS, known.last))
    return known.holding(part)


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


class _Keys:
    """All keys of an index as lines of one text; those of several lines apart.

    Keys of contents that were removed stay: whoever asks looks each up.
    """

    def __init__(self, lines: str, odd: list[str], last: int) -> None:
        self._text = b""
        self._odd: list[str] = []
        self.add(lines, odd, last)
        self._first_size = self.size

    def add(self, lines: str, odd: Iterable[str], last: int) -> None:
        """The keys of contents that were stored since; these are numbered in their order."""
        self._text += lines.encode("utf-8", "replace") + b"\n"
        self._odd += odd
        self.last = last

    @property
    def size(self) -> int:
        """Bytes of them all."""
        return len(self._text)

    def is_outgrown(self) -> bool:
        """Whether so much was added that much may be there twice, or gone."""
        return self.size > 2 * self._first_size

    def holding(self, part: str) -> list[str]:
        """Keys with some letters, each once."""
        keys = {key: None for key in self._odd if part in key}
        text, searched = self._text, part.encode("utf-8", "replace")
        at = text.find(searched)
        while at >= 0:
            end = text.index(b"\n", at)
            keys[text[text.rfind(b"\n", 0, at) + 1 : end].decode()] = None
            at = text.find(searched, end)
        return list(keys)


_kept: WeakKeyDictionary[Database, _Keys | None] = WeakKeyDictionary()
"""None: asked once, and not kept yet."""
