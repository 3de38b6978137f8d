"""Near matches held against the view: what a misspelt word or name may mean, and said so.

A near match is never claimed to be what was asked for: a note names it, its `why` says so, and
it stands below every text that has the name to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codelens.extract.tokenizer import WORD, terms_of_word
from codelens.rank.pasted.query_forms import definitions
from codelens.rank.query import partial_names, query_analysis, query_names, spelling
from codelens.rank.query.query_analysis import Name, Query
from codelens.rank.query.query_names import Defined
from codelens.rank.scoring import term_hits
from codelens.rank.scoring.weighted_score import Judged
from codelens.rank.search_request import Ranked
from codelens.rank.search_state import SearchState, before
from codelens.rank.view_statistics import Corpus, corpus_of
from codelens.store.views.views import FileRow

_NEAR_WORDS, _NEAR_TERMS, _NEAR_FILES, _NEAR_BYTES = 3, 4, 6, 200_000
_NEAR_NAMES = 2
_NEAR_PLACES, _NEAR_AMONG_WORDS = 5, 2
_TELLING_NAME = 6
"""Among words a shorter name is nearly spelt like too many."""


def near_words(asked: SearchState, unknown: Sequence[str]) -> tuple[Query, dict[str, str]]:
    """The query with words of the view for those that are almost them; which for which."""
    meant = asked.query
    found: dict[str, str] = {}
    for word in unknown[:_NEAR_WORDS]:
        if not query_analysis.looks_like_name(word):
            other = _meant(asked, word)
            if other:
                found[word] = other
                meant = query_analysis.corrected(meant, word, other)
    return meant, found


def _meant(asked: SearchState, word: str) -> str:
    """The word that the view has and that another is a slip of, as a text has it; or empty."""
    corpus = corpus_of(asked.view)
    lower = word.lower()
    for near in spelling.terms(asked.view, corpus, word)[:_NEAR_TERMS]:
        seen: set[str] = set()
        for file in _with_term(corpus, asked, near.term)[:_NEAR_FILES]:
            text = (asked.read(file) or b"")[:_NEAR_BYTES].decode("utf-8", "replace").lower()
            seen |= {one for one in WORD.findall(text) if near.term in terms_of_word(one)}
            seen |= {part for one in WORD.findall(file.path.decode("utf-8", "replace").lower())
                     for part in one.split("_") if near.term in terms_of_word(part)}  # fmt: skip
        slips = sorted(one for one in seen if spelling.is_slip(lower, one))
        if slips:
            return min(slips, key=lambda one: (spelling.distance(lower, one, 2), one))
    return ""


def _with_term(corpus: Corpus, asked: SearchState, term: str) -> list[FileRow]:
    known = term_hits.read(asked.view.db, corpus, [term]).get(term)
    if known is None:
        return []
    contents = [
        corpus.segments[number].contents[doc]
        for number, row in known.rows.items()
        for doc in row.docs
    ]
    files = [file for one in contents for file in corpus.files_of.get(one, ())]
    return sorted(files, key=lambda one: (len(one.path), one.path))


def near_names(asked: SearchState, name: Name) -> tuple[list[str], list[Ranked]]:
    """Names almost like one that nothing is called, and their definitions as such."""
    shown: list[str] = []
    found: list[Ranked] = []
    for key in spelling.names(asked.view, name.parts[-1]):
        parts = (*name.parts[:-1], key)
        here = [
            one
            for one in query_names.defined(asked.view, [Name(".".join(parts), parts)])
            if not asked.filters.active or asked.filters.keep([one.file])
        ]
        if here:
            shown += sorted({one.symbol.name for one in here})
            found += definitions(asked, here, f"near match: {here[0].symbol.name}")
    if asked.request.kinds:
        found = []
    return shown[: spelling.SHOWN], found[:_NEAR_PLACES]


def with_near_names(
    asked: SearchState,
    found: Sequence[Defined],
    judged: Sequence[Judged],
    results: Sequence[Ranked],
) -> list[Ranked]:
    """`results` with the definitions that may be meant by names that nothing is called here.

    Behind what has the name to the letter as a word of its text, before everything else.
    """
    first = list(results)
    called = {key for one in found for key in query_names.keys_of(one.symbol.name)}
    if asked.query.single and found and all(one.grade == query_names.LAST for one in found):
        return _with_near_owner(asked, found, first)
    for name in asked.query.names[:_NEAR_NAMES]:
        if not called.isdisjoint(query_names.keys_of(name.parts[-1])):
            continue
        if not asked.query.single and len(name.parts[-1]) < _TELLING_NAME:
            continue
        near = _told(asked, name)
        if not near:
            continue
        if _is_alone(asked):
            first = _behind_holding(asked, judged, name, near, first)
        elif not _holding(asked, judged, name):
            first = before(near[:_NEAR_AMONG_WORDS], first, asked.request.limit)
    return first


def _is_alone(asked: SearchState) -> bool:
    """Whether a name was asked for, and not words with names among them."""
    return asked.query.single or asked.request.mode == "symbol"


def _told(asked: SearchState, name: Name) -> list[Ranked]:
    """What may be meant by a name that nothing is called, and a note that names it."""
    alone = _is_alone(asked) and not asked.request.kinds
    if alone:
        shown, near = partial_names.partial_names(asked, name)
        if near:
            _note(asked, name, "in part", shown)
            return near
    shown, near = near_names(asked, name)
    if alone and not near:
        partly = partial_names.partial_names(asked, name, (partial_names.LETTERS,))
        if partly.places:
            _note(asked, name, "in part", partly.names)
            return partly.places
    written = len(name.parts) > 1 or query_analysis.looks_like_name(name.text)
    if shown or asked.request.mode == "symbol" or (asked.query.single and written):
        _note(asked, name, "nearest", shown)
    return near


def _note(asked: SearchState, name: Name, how: str, shown: Sequence[str]) -> None:
    named = ", ".join(f"`{one}`" for one in shown[: spelling.SHOWN])
    asked.deny(f"no symbol `{name.text}`" + (f"; {how}: {named}" if named else ""))


def _behind_holding(
    asked: SearchState,
    judged: Sequence[Judged],
    name: Name,
    near: Sequence[Ranked],
    results: Sequence[Ranked],
) -> list[Ranked]:
    """`results` with those that may be meant behind the files that hold the name itself."""
    holding = _holding(asked, judged, name)
    exact = [one for one in results if one.file.path_id in holding]
    rest = [one for one in results if one.file.path_id not in holding]
    return [*exact, *before(near, rest, asked.request.limit)][: asked.request.limit]


def _with_near_owner(
    asked: SearchState, found: Sequence[Defined], results: Sequence[Ranked]
) -> list[Ranked]:
    """`results` behind the definitions whose owner is almost the one that was named."""
    name = asked.query.names[0]
    *above, owner, last = name.parts
    near: list[Defined] = []
    for key in spelling.names(asked.view, owner):
        parts = (*above, key, last)
        known = query_names.defined(asked.view, [Name(".".join(parts), parts)])
        near += [one for one in known if one.grade > query_names.LAST and one not in near]
    near = [one for one in near if not asked.filters.active or asked.filters.keep([one.file])]
    if not near:
        other = found[0].symbol.name
        asked.deny(f"no symbol `{name.text}`; there is `{other}` elsewhere")
        return list(results)
    qualified = [
        symbol.qualified
        for one in near
        for symbol in asked.view.symbols([one.file.content or 0])[one.file.content or 0]
        if symbol.start_line == one.symbol.start_line and symbol.name == one.symbol.name
    ]
    shown = list(dict.fromkeys(qualified))[: spelling.SHOWN]
    asked.deny(f"no symbol `{name.text}`; nearest: {', '.join(f'`{one}`' for one in shown)}")
    first = definitions(asked, near, f"near match: {shown[0]}")[:_NEAR_PLACES]
    return before(first, results, asked.request.limit)


def _holding(asked: SearchState, judged: Sequence[Judged], name: Name) -> set[int]:
    """Files that are called so, or whose text has the name as a word: it is no definition."""
    word = name.parts[-1].encode("utf-8", "replace")
    form = re.compile(rb"(?<![\w])" + re.escape(word) + rb"(?![\w])", re.IGNORECASE)
    return {
        one.evidence.file.path_id
        for one in judged[: asked.request.limit]
        if one.evidence.features["stemeq"] or form.search(asked.read(one.evidence.file) or b"")
    }
