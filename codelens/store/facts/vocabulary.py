"""Searches the names and words of an index by their beginnings, parts or spelling.

The keys of all names are held in memory as sorted lines of one text, which Python searches in C. A
million keys take 16 MB this way, and 70 MB as separate strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from weakref import WeakKeyDictionary

from codelens.store.database.database import Database
from codelens.store.facts.postings import PostingBlock

_KEY_END = b"\xff"
"""Sorts after all UTF-8 text."""


class KeyLines:
    """All keys of an index; keys of several lines are held separately.

    Keys of removed contents stay: the caller looks each key up.

    Args:
        lines: the keys of one line each, sorted by their bytes.
        odd: the keys of several lines.
        last: the newest content whose keys are included.
    """

    def __init__(self, lines: str, odd: Iterable[str], last: int) -> None:
        self._first = _framed(lines.encode("utf-8", "replace"))
        self._since = b""
        """Keys of contents that were stored later."""
        self._odd = list(odd)
        self.last = last

    def add(self, lines: str, odd: Iterable[str], last: int) -> None:
        """Add the keys of newer contents, in any order; `last` is the newest of these."""
        if lines:
            keys = self._since.split(b"\n") + lines.encode("utf-8", "replace").split(b"\n")
            self._since = _framed(b"\n".join(sorted(set(filter(None, keys)))))
        self._odd += odd
        self.last = last

    @property
    def size(self) -> int:
        """Bytes of all keys."""
        return len(self._first) + len(self._since)

    def is_outgrown(self) -> bool:
        """Whether so many keys were added that many may be duplicates or removed."""
        return len(self._since) > len(self._first)

    def holding(self, part: str) -> list[str]:
        """Keys that contain `part`, each once."""
        keys = {key: None for key in self._odd if part in key}
        searched = part.encode("utf-8", "replace")
        for text in (self._first, self._since):
            keys.update(dict.fromkeys(map(bytes.decode, _with(text, searched, 0, len(text)))))
        return list(keys)

    def nearly(self, start: str, word: str, most: int) -> list[str]:
        """Keys that begin with `start`, including all within `most` edits of `word`.

        An edit inserts, removes or replaces a letter, or swaps two neighbors. `start` is the
        beginning of `word`, or that with its first two letters swapped; `word` has more than
        2 * `most` letters.

        `most` edits cannot change all of `most` + 1 pieces of a word with a letter between any two,
        so a key contains one piece unchanged. The first piece counts only at the beginning of a key
        and the last only at its end: an edit that shifts one of them cannot change another piece,
        so one of the others is unchanged.
        """
        pieces = [piece.encode("utf-8", "replace") for piece in _pieces(word, most)]
        letters = word.encode("utf-8", "replace")
        begins = start.encode("utf-8", "replace")
        near = {key: None for key in self._odd if key.startswith(start)}
        for text in (self._first, self._since):
            low, high = _beginning(text, begins)
            for line in _holding_one(text, pieces, low, high, begins):
                # Each letter of the key that the word lacks takes an edit.
                if not line.isascii() or (
                    abs(len(line) - len(word)) <= most
                    and len(line.translate(None, letters)) <= most
                ):
                    near[line.decode()] = None
        return list(near)


def _framed(lines: bytes) -> bytes:
    """Add a line end before the first line and after the last."""
    return b"\n" + lines + b"\n" if lines else b""


def _pieces(word: str, most: int) -> list[str]:
    """`most` + 1 pieces of similar length, with a letter between any two."""
    size, more = divmod(len(word) - most, most + 1)
    pieces: list[str] = []
    at = 0
    for number in range(most + 1):
        end = at + size + (number < more)
        pieces.append(word[at:end])
        at = end + 1
    return pieces


def _holding_one(
    text: bytes, pieces: list[bytes], low: int, high: int, begins: bytes
) -> Iterator[bytes]:
    """Lines from `low` to `high` that begin or end with a piece, or contain an inner one."""
    first, *inner, last = pieces
    if first.startswith(begins) or begins.startswith(first):
        start, stop = _beginning(text, first, low, high)
        yield from text[start:stop].split(b"\n")[:-1]
    for piece in inner:
        yield from _with(text, piece, low, high)
    yield from _with(text, last + b"\n", low, high)


def _with(text: bytes, searched: bytes, low: int, high: int) -> Iterator[bytes]:
    """Lines between two positions that contain `searched`, each once."""
    find, before = text.find, text.rfind
    at = find(searched, low, high)
    while at >= 0:
        end = find(b"\n", at)
        yield text[before(b"\n", 0, at) + 1 : end]
        at = find(searched, end, high)


def _beginning(text: bytes, start: bytes, low: int = 1, high: int = -1) -> tuple[int, int]:
    """The positions where the lines that begin with `start` begin and end."""
    high = len(text) if high < 0 else high
    low = _first_from(text, start, low, high)
    return low, _first_from(text, start + _KEY_END, low, high)


def _first_from(text: bytes, key: bytes, low: int, high: int) -> int:
    """The position of the first line that does not sort before a key; by bisection."""
    while low < high:
        middle = (low + high) // 2
        start = text.rfind(b"\n", 0, middle) + 1
        # A line end sorts before everything that a key may contain.
        if text[start : start + len(key)] < key:
            low = text.index(b"\n", middle) + 1
        else:
            high = start
    return low


# Finds words and names of any view by their beginnings; the caller filters by view.

# CROSS JOIN limits SQLite to two seeks per segment: to the block that may contain the first term,
# then to those that begin with one of the terms.
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
# In a long range only a few keys matter: those that contain a piece of the searched word.
_HOLDS = "instr(key, ?)"
KEYS_LIKE = "SELECT DISTINCT key FROM symbol_keys WHERE key GLOB ?"
KEYS_HOLDING = "SELECT DISTINCT key FROM symbol_keys WHERE instr(key, ?)"
# One text instead of a row for each of a million keys; a key may have more than one line. SQLite
# keeps the order of a subquery for all aggregates but COUNT, MIN and MAX.
_JOINED = """
SELECT group_concat(key, char(10)) FILTER (WHERE instr(key, char(10)) = 0),
    json_group_array(key) FILTER (WHERE instr(key, char(10)) > 0), {last}
FROM (SELECT DISTINCT key FROM {rows} ORDER BY key)
"""
_LAST_CONTENT = "SELECT COALESCE(MAX(id), 0) >> 24 FROM symbols"
_ALL_KEYS = _JOINED.format(last=f"({_LAST_CONTENT})", rows="symbol_keys")
_NEW_KEYS = _JOINED.format(last=f"({_LAST_CONTENT})", rows="symbols WHERE id >= (? + 1) << 24")
_MOST_LETTERS = 64_000_000
"""The most letters of all keys that are held in memory."""
_END = "\U0010ffff"


def terms_from(db: Database, start: str, longest: int) -> list[str]:
    """Terms of the postings that begin with `start`, of at most `longest` letters; in any order."""
    begin, end = start.encode(), (start + _END).encode()
    terms: set[bytes] = set()
    for first_term, marks, data in db.rows(BLOCKS_FROM, (start, start, start + _END)):
        here = [first_term.encode()] if marks is None else PostingBlock(marks, data).terms
        if not begin <= here[0] <= here[-1] < end:
            here = [term for term in here if begin <= term < end]
        terms.update(here)
    return [text for term in terms if len(text := term.decode()) <= longest]


def keys_from(
    db: Database, start: str, shortest: int, longest: int, pieces: Sequence[str]
) -> list[str]:
    """Keys of symbols by beginning and length that contain one of `pieces`; in any order."""
    sql = f"{KEYS_FROM} AND ({' OR '.join([_HOLDS] * len(pieces))})"
    return [row[0] for row in db.rows(sql, (start, start + _END, shortest, longest, *pieces))]


def keys_within_edits(
    db: Database, starts: Sequence[str], word: str, most: int, pieces: Sequence[str]
) -> list[str]:
    """Keys that begin with one of `starts`, including all within `most` edits of `word`.

    In any order; some may be removed already. Each key within `most` edits contains one of
    `pieces` of the word.
    """
    keys = _keys_in_memory(db, _PART_PASSED_OVER)
    if keys is not None:
        return [key for start in starts for key in keys.nearly(start, word, most)]
    shortest, longest = len(word) - most, len(word) + most
    return [key for start in starts for key in keys_from(db, start, shortest, longest, pieces)]


def keys_holding(db: Database, part: str) -> list[str]:
    """Keys of symbols that contain `part`; in any order; some may be removed already."""
    keys = _keys_in_memory(db, _ALL_PASSED_OVER)
    if keys is not None:
        return keys.holding(part)
    return [row[0] for row in db.rows(KEYS_HOLDING, (part,))]


def _keys_in_memory(db: Database, price: int) -> KeyLines | None:
    """All keys in memory; None at first, and if there are too many.

    A scan of all keys takes 230 ms of CPU at a million definitions, one of the keys that begin with
    a letter about a fourth. The first queries scan. Once they have cost as much as loading all
    keys, the keys are loaded, and later additions are read from the index.

    Args:
        db: the index.
        price: what the question costs without the keys.
    """
    keys = _loaded.get(db, 0)
    if not isinstance(keys, KeyLines):
        _loaded[db] = keys = keys + price
        if keys <= _WORTH_LOADING:
            return None
    if not isinstance(keys, KeyLines) or keys.is_outgrown():
        _loaded[db] = keys = KeyLines(*_joined(db, _ALL_KEYS))
        if keys.size > _MOST_LETTERS:
            _loaded[db] = _NEVER
            return None
    if db.row(_LAST_CONTENT) != (keys.last,):
        keys.add(*_joined(db, _NEW_KEYS, keys.last))
    return keys


def _joined(db: Database, sql: str, *bindings: int) -> tuple[str, list[str], int]:
    """Keys of one line, keys of several lines, and the newest content."""
    row = db.row(sql, bindings)
    assert row is not None
    return row[0] or "", json.loads(row[1]), row[2]


def keys_with_letters(db: Database, letters: str) -> list[str]:
    """Keys of symbols that contain these letters in this order; in any order.

    Scans all keys: for questions that nothing else answers. `letters` are lower-case letters and
    digits.
    """
    return [row[0] for row in db.rows(KEYS_LIKE, (f"*{'*'.join(letters)}*",))]


_PART_PASSED_OVER, _ALL_PASSED_OVER = 1, 2
_WORTH_LOADING = 3
_NEVER = -1_000_000_000
_loaded: WeakKeyDictionary[Database, KeyLines | int] = WeakKeyDictionary()
"""The keys of each index in memory; until they are loaded, what the scans have cost so far."""
