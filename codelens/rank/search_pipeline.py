"""The entry of ranking: from a request over a view to ranked places."""

from __future__ import annotations

from typing import NamedTuple

from codelens.rank.modes import path_search, regex_search, text_search
from codelens.rank.pasted import query_forms
from codelens.rank.query import (
    near_matches,
    query_names,
    quoted_phrases,
    related_words,
    sole_definitions,
)
from codelens.rank.query.query_analysis import analyse
from codelens.rank.query.query_names import Defined
from codelens.rank.query.search_filters import Filters
from codelens.rank.results import result_places, result_reasons
from codelens.rank.results.shown_texts import Read, Texts
from codelens.rank.scoring import candidates, definition_features, weighted_score
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.weighted_score import Judged
from codelens.rank.search_request import Outcome, Ranked, Request, check
from codelens.rank.search_state import SearchState
from codelens.rank.view_statistics import corpus_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

__all__ = ["Outcome", "Ranked", "Request", "search"]

_UNKNOWN_SHOWN = 5
_NOTHING = "nothing here answers this"


def search(view: Snapshot, request: Request, read: Read) -> Outcome:
    """Rank the places of `view` that answer `request`.

    The same view and request give the same outcome, to the byte, whatever else the store holds;
    only `text` and `regex` may stop at a deadline, and then say so in a note.

    Args:
        view: one state of one view.
        request: the question.
        read: gives a file's bytes, None where they cannot be had.

    Raises:
        QueryError: the query or a filter cannot be understood.
    """
    check(request)
    query = analyse(request.query)
    asked = SearchState(view, request, query, Filters(view, request), read, list(query.notes))
    results, mode = _by_mode(asked)
    if not results:
        for one in asked.filters.explain_nothing():
            asked.deny(one)
        if not asked.notes:
            asked.deny(_NOTHING)
    return Outcome(results, mode, asked.notes)


class Judgement(NamedTuple):
    """The files judged for a request in mode `auto`, and what the request names by itself."""

    files: Files | None
    """None where the request was answered without any score."""
    certain: list[Ranked]
    """Places that were found by what the request names, quotes or pastes."""
    notes: list[str]


def files(view: Snapshot, request: Request, read: Read) -> Judgement:
    """The files that answer a request, for those who rank what is in them.

    Raises:
        QueryError: the query or a filter cannot be understood.
    """
    check(request)
    query = analyse(request.query)
    asked = SearchState(view, request, query, Filters(view, request), read, list(query.notes))
    judged: list[Files] = []

    def keep(one: SearchState) -> list[Ranked]:
        judged.append(judged_files(one))
        return []

    found, mode = _auto(asked, keep)
    if not judged and mode != "symbol":
        keep(asked._replace(notes=[]))
    return Judgement(judged[-1] if judged else None, found, asked.notes)


def _by_mode(asked: SearchState) -> tuple[list[Ranked], str]:
    mode = asked.request.mode
    if mode == "text":
        return _text(asked, asked.request.query), mode
    if mode == "regex":
        return regex_search.search(
            asked.view, asked.request, asked.filters, asked.read, asked.notes
        ), mode
    if mode == "path":
        return path_search.search(
            asked.view, asked.query, asked.request, asked.filters, asked.notes
        ), mode
    if mode == "symbol":
        asked = query_forms.as_name(asked)
        return (query_forms.nothing_to_look_up(asked) or (_ranked(asked), mode))[0], mode
    return _auto(asked, _ranked)


def _auto(asked: SearchState, rank: query_forms.Rank) -> tuple[list[Ranked], str]:
    if asked.request.kinds:
        return rank(query_forms.as_name(asked)), "symbol"
    ways = (
        lambda: query_forms.trace(asked, rank),
        lambda: _quoted(asked),
        lambda: query_forms.place(asked),
        lambda: query_forms.wildcard(asked),
    )
    found = next((answer for way in ways if (answer := way()) is not None), None)
    if found is not None:
        return found
    query_forms.tell_regex(asked)
    asked = query_forms.as_name(asked)
    return (
        query_forms.nothing_to_look_up(asked)
        or query_forms.message(asked, rank)
        or (rank(asked), "symbol" if asked.query.single else "auto")
    )


def _quoted(asked: SearchState) -> tuple[list[Ranked], str] | None:
    """A query that is one quoted phrase: the files that hold it to the letter."""
    query = asked.query
    if not query.phrases or query.text[1:-1].strip() != query.phrases[0]:
        return None
    found = _text(asked, query.phrases[0])
    if found:
        return found, "text"
    asked.deny(f"no file holds {query.phrases[0]!r} to the letter; its words were ranked")
    return None


def _text(asked: SearchState, text: str) -> list[Ranked]:
    return text_search.search(
        asked.view, text, asked.request, asked.filters, asked.read, asked.notes
    )


class Files(NamedTuple):
    """The files that were judged for a query, and what they were judged by."""

    asked: SearchState
    terms: list[Weighed]
    defined: list[Defined]
    """What the names of the query stand for, in the whole view."""
    judged: list[Judged]
    """Best first."""
    held: list[tuple[FileRow, int]]
    """Files and lines that hold what is quoted."""
    texts: Texts


def _ranked(asked: SearchState) -> list[Ranked]:
    """Words, names and definitions: everything that goes by scores."""
    return places(judged_files(asked))


def judged_files(asked: SearchState) -> Files:
    """The best files for a query, by score."""
    asked, terms = _weighed(asked)
    view, query = asked.view, asked.query
    corpus = corpus_of(view)
    found = query_names.defined(view, query.names)
    if query.spelled is not None:
        spelled = query_names.defined(view, [query.spelled])
        found += [one for one in spelled if one not in found]
    also = {one.file.path_id: one.file for one in found}
    chosen = candidates.choose(corpus, terms, list(also.values()), asked.keep, query.single)
    evidence = definition_features.examine(
        view, corpus, query, terms, chosen, query_names.by_file(found)
    )
    judged = weighted_score.judge(evidence, query)
    held: list[tuple[FileRow, int]] = []
    if query.phrases:
        judged, held = quoted_phrases.holding(judged, query.phrases, asked.read)
    if query.single:
        judged = query_forms.production_first(judged, query)
    texts = Texts(asked.read, {one.text: one.weight for one in terms if one.text in query.typed})
    return Files(asked, terms, found, judged, held, texts)


def places(files: Files) -> list[Ranked]:
    """The places to show of judged files."""
    asked, terms, found, judged, held, texts = files
    view, request, query = asked.view, asked.request, asked.query
    shown = result_places.arranged(view, judged, request, query, terms, texts)
    results = result_reasons.results(view, query, terms, shown, texts, explain=request.explain)
    if query.phrases:
        results = query_forms.quoted_first(asked, held, results)
    results = query_forms.places_inside(asked, results)
    results = near_matches.with_near_names(asked, found, judged, results)
    return sole_definitions.unique_first(asked, found, results)


def _weighed(asked: SearchState) -> tuple[SearchState, list[Weighed]]:
    """The terms that the view knows; misspelt words are ranked as what they may be, and said."""
    corpus = corpus_of(asked.view)
    query = asked.query
    terms, dropped = candidates.weigh(
        asked.view, corpus, [*query.terms, *related_words.kindred(query)]
    )
    if dropped:
        asked.note(f"a long query: its {len(terms)} rarest terms count, {dropped} do not")
        return asked, terms
    unknown = [] if query.single else query.unknown({one.text for one in terms})
    unknown = [word for word in unknown if not any(word in one.path for one in query.places)]
    if not unknown:
        return asked, terms
    meant, near = near_matches.near_words(asked, unknown)
    for word, other in near.items():
        asked.deny(f"no file here has `{word}`; ranked with `{other}`")
    left = [f"`{word}`" for word in unknown if word not in near]
    if left:
        asked.deny(f"no file here has {', '.join(left[:_UNKNOWN_SHOWN])}")
    if not near:
        return asked, terms
    terms, _ = candidates.weigh(asked.view, corpus, [*meant.terms, *related_words.kindred(meant)])
    return asked._replace(query=meant), terms
