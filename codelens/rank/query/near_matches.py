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
from codelens.rank.search_request import NEAR, Ranked
from codelens.rank.search_state import SearchState, before
from codelens.rank.view_statistics import Corpus, corpus_of
from codelens.store.views.views import FileRow

_NEAR_WORDS, _NEAR_TERMS, _NEAR_FILES, _NEAR_BYTES = 3, 4, 6, 200_000
_NEAR_NAMES = 2
_NEAR_PLACES, _NEAR_AMONG_WORDS = 5, 2
_TELLING_NAME = 6
"""Among words a shorter name is nearly spelt like too many."""


def near_words(search_state: SearchState, unknown: Sequence[str]) -> tuple[Query, dict[str, str]]:
    """The query with words of the view for those that are almost them; which for which."""
    corrected_query = search_state.query
    near_by_word: dict[str, str] = {}
    for word in unknown[:_NEAR_WORDS]:
        if not query_analysis.looks_like_name(word):
            other = _meant(search_state, word)
            if other:
                near_by_word[word] = other
                corrected_query = query_analysis.corrected(corrected_query, word, other)
    return corrected_query, near_by_word


def _meant(search_state: SearchState, word: str) -> str:
    """The word that the view has and that another is a slip of, as a text has it; or empty."""
    corpus = corpus_of(search_state.view)
    lower = word.lower()
    for near in spelling.terms(search_state.view, corpus, word)[:_NEAR_TERMS]:
        seen: set[str] = set()
        for file in _with_term(corpus, search_state, near.term)[:_NEAR_FILES]:
            text = (search_state.read(file) or b"")[:_NEAR_BYTES].decode("utf-8", "replace").lower()
            seen |= {known for known in WORD.findall(text) if near.term in terms_of_word(known)}
            seen |= {part for known in WORD.findall(file.path.decode("utf-8", "replace").lower())
                     for part in known.split("_") if near.term in terms_of_word(part)}  # fmt: skip
        slips = sorted(known for known in seen if spelling.is_slip(lower, known))
        if slips:
            return min(slips, key=lambda word: (spelling.distance(lower, word, 2), word))
    return ""


def _with_term(corpus: Corpus, search_state: SearchState, term: str) -> list[FileRow]:
    known = term_hits.read(search_state.view.db, corpus, [term]).get(term)
    if known is None:
        return []
    contents = [
        corpus.segments[number].contents[doc]
        for number, row in known.rows.items()
        for doc in row.docs
    ]
    files = [file for content in contents for file in corpus.files_of.get(content, ())]
    return sorted(files, key=lambda word: (len(word.path), word.path))


def near_names(search_state: SearchState, name: Name) -> tuple[list[str], list[Ranked]]:
    """Names almost like one that nothing is called, and their definitions as such."""
    shown: list[str] = []
    ranked: list[Ranked] = []
    for key in spelling.names(search_state.view, name.parts[-1]):
        parts = (*name.parts[:-1], key)
        here = [
            definition
            for definition in query_names.defined(search_state.view, [Name(".".join(parts), parts)])
            if not search_state.filters.active or search_state.filters.keep([definition.file])
        ]
        if here:
            shown += sorted({definition.symbol.name for definition in here})
            ranked += definitions(search_state, here, f"near match: {here[0].symbol.name}")
    if search_state.request.kinds:
        ranked = []
    return shown[: spelling.SHOWN], ranked[:_NEAR_PLACES]


def with_near_names(
    search_state: SearchState,
    defined: Sequence[Defined],
    judged: Sequence[Judged],
    results: Sequence[Ranked],
) -> list[Ranked]:
    """`results` with the definitions that may be meant by names that nothing is called here.

    Behind what has the name to the letter as a word of its text, before everything else.
    """
    first = list(results)
    called = {key for definition in defined for key in query_names.keys_of(definition.symbol.name)}
    if (
        search_state.query.single
        and defined
        and all(definition.grade == query_names.LAST for definition in defined)
    ):
        return _with_near_owner(search_state, defined, first)
    for name in search_state.query.names[:_NEAR_NAMES]:
        if not called.isdisjoint(query_names.keys_of(name.parts[-1])):
            continue
        if not search_state.query.single and len(name.parts[-1]) < _TELLING_NAME:
            continue
        near = _near_with_note(search_state, name)
        if not near:
            continue
        if _is_alone(search_state):
            first = _behind_holding(search_state, judged, name, near, first)
        elif not _holding(search_state, judged, name):
            first = before(near[:_NEAR_AMONG_WORDS], first, search_state.request.limit, NEAR)
    return first


def _is_alone(search_state: SearchState) -> bool:
    """Whether a name was asked for, and not words with names among them."""
    return search_state.query.single or search_state.request.mode == "symbol"


def _near_with_note(search_state: SearchState, name: Name) -> list[Ranked]:
    """What may be meant by a name that nothing is called, and a note that names it."""
    alone = _is_alone(search_state) and not search_state.request.kinds
    if alone:
        shown, near = partial_names.partial_names(search_state, name)
        if near:
            _note(search_state, name, "in part", shown)
            return near
    shown, near = near_names(search_state, name)
    if alone and not near:
        partly = partial_names.partial_names(search_state, name, (partial_names.LETTERS,))
        if partly.places:
            _note(search_state, name, "in part", partly.names)
            return partly.places
    written = len(name.parts) > 1 or query_analysis.looks_like_name(name.text)
    if shown or search_state.request.mode == "symbol" or (search_state.query.single and written):
        _note(search_state, name, "nearest", shown)
    return near


def _note(search_state: SearchState, name: Name, how: str, shown: Sequence[str]) -> None:
    named = ", ".join(f"`{word}`" for word in shown[: spelling.SHOWN])
    search_state.deny(f"no symbol `{name.text}`" + (f"; {how}: {named}" if named else ""))


def _behind_holding(
    search_state: SearchState,
    judged: Sequence[Judged],
    name: Name,
    near: Sequence[Ranked],
    results: Sequence[Ranked],
) -> list[Ranked]:
    """`results` with those that may be meant behind the files that hold the name itself."""
    holding = _holding(search_state, judged, name)
    exact = [result for result in results if result.file.path_id in holding]
    rest = [result for result in results if result.file.path_id not in holding]
    limit = search_state.request.limit
    return [*exact, *before(near, rest, limit, NEAR)][:limit]


def _with_near_owner(
    search_state: SearchState, defined: Sequence[Defined], results: Sequence[Ranked]
) -> list[Ranked]:
    """`results` behind the definitions whose owner is almost the one that was named."""
    name = search_state.query.names[0]
    *above, owner, last = name.parts
    near: list[Defined] = []
    for key in spelling.names(search_state.view, owner):
        parts = (*above, key, last)
        known = query_names.defined(search_state.view, [Name(".".join(parts), parts)])
        near += [
            definition
            for definition in known
            if definition.grade > query_names.LAST and definition not in near
        ]
    near = [
        definition
        for definition in near
        if not search_state.filters.active or search_state.filters.keep([definition.file])
    ]
    if not near:
        other = defined[0].symbol.name
        search_state.deny(f"no symbol `{name.text}`; there is `{other}` elsewhere")
        return list(results)
    qualified = [
        symbol.qualified
        for definition in near
        for symbol in search_state.view.symbols([definition.file.content or 0])[
            definition.file.content or 0
        ]
        if symbol.start_line == definition.symbol.start_line
        and symbol.name == definition.symbol.name
    ]
    shown = list(dict.fromkeys(qualified))[: spelling.SHOWN]
    search_state.deny(
        f"no symbol `{name.text}`; nearest: {', '.join(f'`{name}`' for name in shown)}"
    )
    first = definitions(search_state, near, f"near match: {shown[0]}")[:_NEAR_PLACES]
    return before(first, results, search_state.request.limit, NEAR)


def _holding(search_state: SearchState, judged: Sequence[Judged], name: Name) -> set[int]:
    """Files that are called so, or whose text has the name as a word: it is no definition."""
    word = name.parts[-1].encode("utf-8", "replace")
    form = re.compile(rb"(?<![\w])" + re.escape(word) + rb"(?![\w])", re.IGNORECASE)
    return {
        scored.evidence.file.path_id
        for scored in judged[: search_state.request.limit]
        if scored.evidence.features["stemeq"]
        or form.search(search_state.read(scored.evidence.file) or b"")
    }
