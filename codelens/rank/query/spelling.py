"""Near matches: names and words of a view that are spelt almost like one that it has not.

Offered as such and never as the thing itself. Both look-ups go by an index from the first
letters; a slip in the first letter is found only where it is a swap with the second.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokenizer import terms_of_word
from codelens.rank.scoring import term_hits
from codelens.rank.view_statistics import Corpus
from codelens.store.facts import vocabulary
from codelens.store.facts.symbol_keys import key_of
from codelens.store.views.snapshot import Snapshot

SHOWN = 3
_SHORTEST = 4
_LONG = 8
"""From this length two slips are looked for in a name, below it one."""
_TELLING, _VERY_LONG = 8, 12
"""Words: from the first length on one other letter may be a slip, from the second on two slips."""
_SUFFIXES = (
    "", "e", "s", "es", "d", "ed", "ing", "er", "ers", "or", "ors", "ion", "ions", "ation",
    "ations", "ication", "ications", "able", "ible", "ive", "al", "ally", "ly", "ity", "ities",
    "ment", "ments", "ness", "ance", "ence", "ant", "ent", "y", "ies", "ize", "izer", "ization",
    "ator", "ate", "ated", "ates", "ating", "ful", "ous", "ism", "ist", "ic", "ics", "ical",
)  # fmt: skip
"""What a stemmer takes off a word of English."""
_LONGEST_SUFFIX = max(map(len, _SUFFIXES))


class Near(NamedTuple):
    """A term of the view that a word which it has not may be a slip of."""

    typed: str
    term: str
    files: int


def names(view: Snapshot, name: str) -> list[str]:
    """Keys of names of the view that are spelt almost like `name`, nearest first."""
    key = key_of(name)
    if len(key) < _SHORTEST:
        return []
    most = 1 if len(key) < _LONG else 2
    near: list[tuple[int, str]] = []
    pieces = [piece for piece, _, _ in _pieces(key, most)]
    starts = (key[0], key[1] + key[0])
    for known in vocabulary.keys_nearly(view.db, starts, key, most, pieces):
        if _may_be_near(key, known, most):
            steps = distance(key, known, most)
            if 0 < steps <= most:
                near.append((steps, known))
    here: list[str] = []
    for _, known in sorted(near):
        if view.symbols_with_key(known):
            here.append(known)
        if len(here) == SHOWN:
            break
    return here


def terms(view: Snapshot, corpus: Corpus, typed: str) -> list[Near]:
    """Terms of the view with a word that `typed` may be a slip of, the most used first.

    Which words the view has of a term is for its texts to say: see `is_slip`.
    """
    lower = typed.lower()
    if len(lower) <= _SHORTEST or not lower.isascii() or not lower.isalpha():
        return []
    most = 1 if len(lower) < _VERY_LONG else 2
    near = [
        term
        for start in {lower[:2], lower[0] + lower[2], lower[1] + lower[0]}
        for term in vocabulary.terms_from(view.db, start, len(lower) + most)
        if len(lower) - len(term) <= _LONGEST_SUFFIX + most
        and _has_letters(term, lower, most)
        and distance(lower, term, most, goes_on=True) <= most
        and _has_form(lower, term, most)
    ]
    hits_by_term = term_hits.read(view.db, corpus, near)
    return sorted(
        (Near(typed, term, known.files) for term, known in hits_by_term.items()),
        key=lambda near: (-near.files, near.term),
    )


def is_slip(typed: str, correction: str) -> bool:
    """Whether one word may be a slip of the pen of another that exists.

    Short words with one other letter are mostly other words: `caller`, `called`.
    """
    if typed == correction:
        return False
    most = 1 if len(typed) < _VERY_LONG else 2
    if distance(typed, correction, most) > most:
        return False
    swapped = sorted(typed) == sorted(correction)
    return len(typed) != len(correction) or swapped or len(typed) >= _TELLING


def _has_form(lower: str, term: str, most: int) -> bool:
    """Whether a word with this term may be spelt almost like another."""
    short = len(lower) - len(term)
    for ending in _SUFFIXES:
        form = term + ending
        if (
            abs(short - len(ending)) <= most
            and _may_be_near(lower, form, most)
            and distance(lower, form, most) <= most
            and terms_of_word(form) == (term,)
        ):
            return True
    return False


def _may_be_near(left: str, right: str, most: int) -> bool:
    """A quick test: an edit spoils two neighbouring pieces at most, so one of these is whole."""
    for piece, start, end in _pieces(left, most):  # noqa: SIM110 - a generator costs as much again
        if piece in right[start:end]:
            return True
    return False


@lru_cache(maxsize=16)
def _pieces(word: str, most: int) -> tuple[tuple[str, int, int], ...]:
    """Parts of a word side by side, and where in another each may stand."""
    size = max(len(word) // (2 * most + 1), 1)
    return tuple(
        (word[at : at + size], max(at - most, 0), at + size + most)
        for at in range(0, len(word) - size + 1, size)
    )


def _has_letters(term: str, lower: str, most: int) -> bool:
    """Whether all letters of a term but `most` stand in a word about where they do in the term."""
    missing = 0
    for at, letter in enumerate(term):
        if letter not in lower[max(at - most, 0) : at + most + 1]:
            missing += 1
            if missing > most:
                return False
    return True


def distance(left: str, right: str, most: int, *, goes_on: bool = False) -> int:
    """Edits from one text to the other, a swap of neighbours being one; above `most`: any such.

    Tried out from the first difference on: with two edits at most that is quicker than a table.

    Args:
        left: a text.
        right: another one.
        most: how many edits are of interest.
        goes_on: to how `left` begins; what follows in it costs nothing.
    """
    if not goes_on and abs(len(left) - len(right)) > most:
        return most + 1
    at = 0
    for letter, other in zip(left, right, strict=False):
        if letter != other:
            break
        at += 1
    left, right = left[at:], right[at:]
    if not left or not right:
        return len(right) if goes_on else len(left) + len(right)
    if most == 0:
        return 1
    steps = min(
        distance(left[1:], right[1:], most - 1, goes_on=goes_on),
        distance(left[1:], right, most - 1, goes_on=goes_on),
        distance(left, right[1:], most - 1, goes_on=goes_on),
    )
    if left[:2] == right[1::-1]:
        steps = min(steps, distance(left[2:], right[2:], most - 1, goes_on=goes_on))
    return 1 + steps
