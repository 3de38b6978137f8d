"""The keys of all names of an index in memory, as sorted lines of one text that is searched in C.

A million keys are 16 MB so; as single texts in Python they would be 70.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from weakref import WeakKeyDictionary

from codelens.store.database.database import Database
from codelens.store.facts.postings import PostingBlock

_KEY_END = b"\xff"
"""Behind all that UTF-8 can write."""


class KeptKeys:
    """All keys of an index; those of several lines apart.

    Keys of contents that were removed stay: whoever asks looks each up.

    Args:
        lines: the keys of one line each, in the order of their bytes.
        odd: the keys of several lines.
        last: the newest content whose keys these are.
    """

    def __init__(self, lines: str, odd: Iterable[str], last: int) -> None:
        self._first = _framed(lines.encode("utf-8", "replace"))
        self._since = b""
        """Of contents that were stored since."""
        self._odd = list(odd)
        self.last = last

    def add(self, lines: str, odd: Iterable[str], last: int) -> None:
        """The keys of contents that were stored since, in any order; these go up to `last`."""
        if lines:
            known = self._since.split(b"\n") + lines.encode("utf-8", "replace").split(b"\n")
            self._since = _framed(b"\n".join(sorted(set(filter(None, known)))))
        self._odd += odd
        self.last = last

    @property
    def size(self) -> int:
        """Bytes of them all."""
        return len(self._first) + len(self._since)

    def is_outgrown(self) -> bool:
        """Whether so much was added that much may be there twice, or gone."""
        return len(self._since) > len(self._first)

    def holding(self, part: str) -> list[str]:
        """Keys with some letters, each once."""
        keys = {key: None for key in self._odd if part in key}
        searched = part.encode("utf-8", "replace")
        for text in (self._first, self._since):
            keys.update(dict.fromkeys(map(bytes.decode, _with(text, searched, 0, len(text)))))
        return list(keys)

    def nearly(self, start: str, word: str, most: int) -> list[str]:
        """Keys that begin with `start`, among them all from which `word` is up to `most` edits.

        An edit is one letter more, less or another, or two neighbours swapped. `start` is how
        `word` begins, or its first two letters swapped; `word` has more than 2 * `most` letters.

        `most` + 1 pieces of the word, with a letter between any two, cannot all be spoilt by
        `most` edits. The first piece stands at the beginning and the last at the end: where an
        edit stands before or behind it, one less is left for the others, of which one is whole.
        """
        pieces = [piece.encode("utf-8", "replace") for piece in _pieces(word, most)]
        letters = word.encode("utf-8", "replace")
        begins = start.encode("utf-8", "replace")
        near = {key: None for key in self._odd if key.startswith(start)}
        for text in (self._first, self._since):
            low, high = _beginning(text, begins)
            for line in _holding_one(text, pieces, low, high, begins):
                # A letter that the word has not takes an edit.
                if not line.isascii() or (
                    abs(len(line) - len(word)) <= most
                    and len(line.translate(None, letters)) <= most
                ):
                    near[line.decode()] = None
        return list(near)


def _framed(lines: bytes) -> bytes:
    """The same with a line end before the first line and behind the last."""
    return b"\n" + lines + b"\n" if lines else b""


def _pieces(word: str, most: int) -> list[str]:
    """`most` + 1 pieces of about one length, with a letter between any two."""
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
    """Lines between two places that begin with the first, hold another, or end with the last."""
    first, *inner, last = pieces
    if first.startswith(begins) or begins.startswith(first):
        start, stop = _beginning(text, first, low, high)
        yield from text[start:stop].split(b"\n")[:-1]
    for piece in inner:
        yield from _with(text, piece, low, high)
    yield from _with(text, last + b"\n", low, high)


def _with(text: bytes, searched: bytes, low: int, high: int) -> Iterator[bytes]:
    """Lines between two places that hold some letters, each once."""
    find, before = text.find, text.rfind
    at = find(searched, low, high)
    while at >= 0:
        end = find(b"\n", at)
        yield text[before(b"\n", 0, at) + 1 : end]
        at = find(searched, end, high)


def _beginning(text: bytes, start: bytes, low: int = 1, high: int = -1) -> tuple[int, int]:
    """Where the lines that begin so begin, and have ended."""
    high = len(text) if high < 0 else high
    low = _first_from(text, start, low, high)
    return low, _first_from(text, start + _KEY_END, low, high)


def _first_from(text: bytes, key: bytes, low: int, high: int) -> int:
    """Where the first line begins that is not before a key; by bisection."""
    while low < high:
        middle = (low + high) // 2
        start = text.rfind(b"\n", 0, middle) + 1
        # A line end is before all that a key may hold.
        if text[start : start + len(key)] < key:
            low = text.index(b"\n", middle) + 1
        else:
            high = start
    return low


# What words and names an index knows, by how they begin; of any view: who asks filters.

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
