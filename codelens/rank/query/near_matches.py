"""Finds near matches: names and words of a view spelled almost like an unknown one.

Results are marked as near matches. Both look-ups use an index by first letter, so a typo in the
first letter is found only if it swaps the first two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.extract.tokenizer import WORD, terms_of_word
from codelens.rank.pasted.query_forms import definitions
from codelens.rank.query import partial_names, query_analysis
from codelens.rank.query.query_analysis import Defined, Name, Query
from codelens.rank.scoring import candidates
from codelens.rank.scoring.definition_features import Judged
from codelens.rank.search_request import NEAR, Ranked
from codelens.rank.search_state import SearchState, before
from codelens.rank.view_statistics import Corpus, corpus_of
from codelens.store.facts import vocabulary
from codelens.store.facts.resolution_facts import key_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

SHOWN = 3
_SHORTEST = 4
_LONG = 8
"""Names of this length or more may have two typos, shorter ones one."""
_TELLING, _VERY_LONG = 8, 12
"""Minimum lengths of words: for a replaced letter to count as a typo, and for two typos."""
_SUFFIXES = (
    "", "e", "s", "es", "d", "ed", "ing", "er", "ers", "or", "ors", "ion", "ions", "ation",
    "ations", "ication", "ications", "able", "ible", "ive", "al", "ally", "ly", "ity", "ities",
    "ment", "ments", "ness", "ance", "ence", "ant", "ent", "y", "ies", "ize", "izer", "ization",
    "ator", "ate", "ated", "ates", "ating", "ful", "ous", "ism", "ist", "ic", "ics", "ical",
)  # fmt: skip
"""Suffixes that the stemmer removes from English words."""
_LONGEST_SUFFIX = max(map(len, _SUFFIXES))


class Near(NamedTuple):
    """A term of the view that an unknown word may be a typo of."""

    typed: str
    term: str
    files: int


def names_spelt_alike(view: Snapshot, name: str) -> list[str]:
    """Return keys of names of the view spelled almost like `name`, nearest first."""
    key = key_of(name)
    if len(key) < _SHORTEST:
        return []
    most = 1 if len(key) < _LONG else 2
    near: list[tuple[int, str]] = []
    pieces = [piece for piece, _, _ in _pieces(key, most)]
    starts = (key[0], key[1] + key[0])
    for candidate in vocabulary.keys_within_edits(view.db, starts, key, most, pieces):
        if _may_be_near(key, candidate, most):
            steps = distance(key, candidate, most)
            if 0 < steps <= most:
                near.append((steps, candidate))
    here: list[str] = []
    for _, candidate in sorted(near):
        if view.symbols_with_key(candidate):
            here.append(candidate)
        if len(here) == SHOWN:
            break
    return here


def terms_spelt_alike(view: Snapshot, corpus: Corpus, typed: str) -> list[Near]:
    """Return terms of the view with a word that `typed` may be a typo of, most used first.

    Only the texts show which words of a term the view has: see `is_slip`.
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
    hits_by_term = candidates.read_hits(view.db, corpus, near)
    return sorted(
        (Near(typed, term, hits.files) for term, hits in hits_by_term.items()),
        key=lambda near: (-near.files, near.term),
    )


def is_slip(typed: str, correction: str) -> bool:
    """Whether one word may be a typo of another existing word.

    Short words that differ in one letter are mostly different words: `caller`, `called`.
    """
    if typed == correction:
        return False
    most = 1 if len(typed) < _VERY_LONG else 2
    if distance(typed, correction, most) > most:
        return False
    swapped = sorted(typed) == sorted(correction)
    return len(typed) != len(correction) or swapped or len(typed) >= _TELLING


def _has_form(lower: str, term: str, most: int) -> bool:
    """Whether a word with this term may be spelled almost like another."""
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
    """A quick test: an edit changes at most two adjacent pieces, so one piece stays whole."""
    for piece, start, end in _pieces(left, most):  # noqa: SIM110 - a generator doubles the cost
        if piece in right[start:end]:
            return True
    return False


@lru_cache(maxsize=16)
def _pieces(word: str, most: int) -> tuple[tuple[str, int, int], ...]:
    """Split a word into pieces, each with the range where another word may contain it."""
    size = max(len(word) // (2 * most + 1), 1)
    return tuple(
        (word[at : at + size], max(at - most, 0), at + size + most)
        for at in range(0, len(word) - size + 1, size)
    )


def _has_letters(term: str, lower: str, most: int) -> bool:
    """Whether all but `most` letters of a term are at about the same place in a word."""
    missing = 0
    for at, letter in enumerate(term):
        if letter not in lower[max(at - most, 0) : at + most + 1]:
            missing += 1
            if missing > most:
                return False
    return True


def distance(left: str, right: str, most: int, *, goes_on: bool = False) -> int:
    """Return the edit distance (a swap of neighbours is one edit), or a value above `most`.

    Recursive from the first difference: with at most two edits that is faster than a table.

    Args:
        left: a text.
        right: another one.
        most: how many edits are of interest.
        goes_on: compare with a prefix of `left`; the rest of it costs nothing.
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


# Looks up near matches in the view: what a misspelled word or name may mean.
#
# A near match is never presented as an exact one: a note names it, its `why` says so, and it ranks
# below every text that contains the exact name.

_NEAR_WORDS, _NEAR_TERMS, _NEAR_FILES, _NEAR_BYTES = 3, 4, 6, 200_000
_NEAR_NAMES = 2
_NEAR_PLACES, _NEAR_AMONG_WORDS = 5, 2
_TELLING_NAME = 6
"""Minimum length of a name among words: shorter names resemble too many."""


def near_words(state: SearchState, unknown: Sequence[str]) -> tuple[Query, dict[str, str]]:
    """Replace unknown words of the query by near words; return the query and the replacements."""
    corrected_query = state.query
    near_by_word: dict[str, str] = {}
    for word in unknown[:_NEAR_WORDS]:
        if not query_analysis.looks_like_name(word):
            other = _corrected_word(state, word)
            if other:
                near_by_word[word] = other
                corrected_query = query_analysis.corrected(corrected_query, word, other)
    return corrected_query, near_by_word


def _corrected_word(state: SearchState, word: str) -> str:
    """Return the word of the view that `word` is a typo of, as a text spells it; or empty."""
    corpus = corpus_of(state.view)
    lower = word.lower()
    for near in terms_spelt_alike(state.view, corpus, word)[:_NEAR_TERMS]:
        seen: set[str] = set()
        for file in _with_term(corpus, state, near.term)[:_NEAR_FILES]:
            text = (state.read(file) or b"")[:_NEAR_BYTES].decode("utf-8", "replace").lower()
            seen |= {other for other in WORD.findall(text) if near.term in terms_of_word(other)}
            seen |= {part for other in WORD.findall(file.path.decode("utf-8", "replace").lower())
                     for part in other.split("_") if near.term in terms_of_word(part)}  # fmt: skip
        slips = sorted(other for other in seen if is_slip(lower, other))
        if slips:
            return min(slips, key=lambda word: (distance(lower, word, 2), word))
    return ""


def _with_term(corpus: Corpus, state: SearchState, term: str) -> list[FileRow]:
    hits = candidates.read_hits(state.view.db, corpus, [term]).get(term)
    if hits is None:
        return []
    contents = [
        corpus.segments[number].contents[doc]
        for number, row in hits.rows.items()
        for doc in row.docs
    ]
    files = [file for content in contents for file in corpus.files_of.get(content, ())]
    return sorted(files, key=lambda word: (len(word.path), word.path))


def near_names(state: SearchState, name: Name) -> tuple[list[str], list[Ranked]]:
    """Return names almost like an undefined one, and their definitions as near matches."""
    shown: list[str] = []
    ranked: list[Ranked] = []
    for key in names_spelt_alike(state.view, name.parts[-1]):
        parts = (*name.parts[:-1], key)
        here = [
            definition
            for definition in query_analysis.defined_names(
                state.view, [Name(".".join(parts), parts)]
            )
            if not state.filters.active or state.filters.keep([definition.file])
        ]
        if here:
            shown += sorted({definition.symbol.name for definition in here})
            ranked += definitions(state, here, f"near match: {here[0].symbol.name}")
    if state.request.kinds:
        ranked = []
    return shown[:SHOWN], ranked[:_NEAR_PLACES]


def with_near_names(
    state: SearchState,
    defined: Sequence[Defined],
    judged: Sequence[Judged],
    results: Sequence[Ranked],
) -> list[Ranked]:
    """Add definitions with names almost like the undefined names of the query.

    They come after files that contain the exact name as a word, and before everything else.
    """
    first = list(results)
    called = {
        key for definition in defined for key in query_analysis.keys_of(definition.symbol.name)
    }
    if (
        state.query.single
        and defined
        and all(definition.grade == query_analysis.LAST for definition in defined)
    ):
        return _with_near_owner(state, defined, first)
    for name in state.query.names[:_NEAR_NAMES]:
        if not called.isdisjoint(query_analysis.keys_of(name.parts[-1])):
            continue
        if not state.query.single and len(name.parts[-1]) < _TELLING_NAME:
            continue
        near = _near_with_note(state, name)
        if not near:
            continue
        if _is_alone(state):
            first = _behind_holding(state, judged, name, near, first)
        elif not _holding(state, judged, name):
            first = before(near[:_NEAR_AMONG_WORDS], first, state.request.limit, NEAR)
    return first


def _is_alone(state: SearchState) -> bool:
    """Whether the query is a name, not words with names among them."""
    return state.query.single or state.request.mode == "symbol"


def _near_with_note(state: SearchState, name: Name) -> list[Ranked]:
    """Return near matches of an undefined name, and add a note that names them."""
    alone = _is_alone(state) and not state.request.kinds
    if alone:
        shown, near = partial_names.partial_names(state, name)
        if near:
            _note(state, name, "in part", shown)
            return near
    shown, near = near_names(state, name)
    if alone and not near:
        partly = partial_names.partial_names(state, name, (partial_names.LETTERS,))
        if partly.places:
            _note(state, name, "in part", partly.names)
            return partly.places
    written = len(name.parts) > 1 or query_analysis.looks_like_name(name.text)
    if shown or state.request.mode == "symbol" or (state.query.single and written):
        _note(state, name, "nearest", shown)
    return near


def _note(state: SearchState, name: Name, how: str, shown: Sequence[str]) -> None:
    named = ", ".join(f"`{word}`" for word in shown[:SHOWN])
    state.deny(f"no symbol `{name.text}`" + (f"; {how}: {named}" if named else ""))


def _behind_holding(
    state: SearchState,
    judged: Sequence[Judged],
    name: Name,
    near: Sequence[Ranked],
    results: Sequence[Ranked],
) -> list[Ranked]:
    """Insert near matches after the files that contain the name itself."""
    holding = _holding(state, judged, name)
    exact = [result for result in results if result.file.path_id in holding]
    rest = [result for result in results if result.file.path_id not in holding]
    limit = state.request.limit
    return [*exact, *before(near, rest, limit, NEAR)][:limit]


def _with_near_owner(
    state: SearchState, defined: Sequence[Defined], results: Sequence[Ranked]
) -> list[Ranked]:
    """Put definitions first whose owner is almost the one in the query."""
    name = state.query.names[0]
    *above, owner, last = name.parts
    near: list[Defined] = []
    for key in names_spelt_alike(state.view, owner):
        parts = (*above, key, last)
        candidates = query_analysis.defined_names(state.view, [Name(".".join(parts), parts)])
        near += [
            definition
            for definition in candidates
            if definition.grade > query_analysis.LAST and definition not in near
        ]
    near = [
        definition
        for definition in near
        if not state.filters.active or state.filters.keep([definition.file])
    ]
    if not near:
        other = defined[0].symbol.name
        state.deny(f"no symbol `{name.text}`; there is `{other}` elsewhere")
        return list(results)
    qualified = [
        symbol.qualified
        for definition in near
        for symbol in state.view.symbols([definition.file.content or 0])[
            definition.file.content or 0
        ]
        if symbol.start_line == definition.symbol.start_line
        and symbol.name == definition.symbol.name
    ]
    shown = list(dict.fromkeys(qualified))[:SHOWN]
    state.deny(f"no symbol `{name.text}`; nearest: {', '.join(f'`{name}`' for name in shown)}")
    first = definitions(state, near, f"near match: {shown[0]}")[:_NEAR_PLACES]
    return before(first, results, state.request.limit, NEAR)


def _holding(state: SearchState, judged: Sequence[Judged], name: Name) -> set[int]:
    """Return files with this name, or whose text contains it as a word outside of definitions."""
    word = name.parts[-1].encode("utf-8", "replace")
    form = re.compile(rb"(?<![\w])" + re.escape(word) + rb"(?![\w])", re.IGNORECASE)
    lower = word.lower()

    def holds(text: bytes) -> bool:
        # The expression ignores case, and so takes ten times as long as this search.
        return lower in text.lower() and form.search(text) is not None

    return {
        scored.evidence.file.path_id
        for scored in judged[: state.request.limit]
        if scored.evidence.features["stemeq"] or holds(state.read(scored.evidence.file) or b"")
    }
