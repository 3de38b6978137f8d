"""The keys of all names of an index in memory, as sorted lines of one text that is searched in C.

A million keys are 16 MB so; as single texts in Python they would be 70.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_END = b"\xff"
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
    return low, _first_from(text, start + _END, low, high)


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
