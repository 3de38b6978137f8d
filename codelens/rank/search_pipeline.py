"""The entry point of ranking: runs a request over a view and returns ranked places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codelens.meaning.question_likeness import QuestionLikeness
from codelens.rank import answer_lines, ranking_weights, result_places
from codelens.rank.pasted import query_forms
from codelens.rank.query import partial_names, query_analysis
from codelens.rank.query.query_analysis import Defined, analyse
from codelens.rank.scoring import candidates, definition_features
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.definition_features import Judged
from codelens.rank.search_request import Filters, Found, Outcome, Ranked, Request, check
from codelens.rank.search_state import Read, SearchState, Texts
from codelens.rank.view_statistics import corpus_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.wording import count_of

__all__ = ["Outcome", "Ranked", "Request", "search"]

_UNKNOWN_SHOWN = 5
_NOTHING = "nothing was found; try other words"
_NO_FILES = "no files were found here, so there is nothing to search"


def search(view: Snapshot, request: Request, read: Read) -> Outcome:
    """Rank the places of `view` that answer `request`.

    The same view and request give byte-identical outcomes, regardless of other data in the store;
    only `text` and `regex` may stop at a deadline, which a note then says.

    Args:
        view: a view in one state.
        request: the question.
        read: returns a file's bytes, None if unavailable.

    Raises:
        QueryError: the query or a filter is invalid.
    """
    check(request)
    answering: set[Found] = set()
    request = request._replace(answering=answering)
    query = analyse(request.query)
    search_state = SearchState(
        view, request, query, Filters(view, request), read, list(query.notes)
    )
    results, mode = _by_mode(search_state)
    left = len(answering.difference(_shown(results)))
    results = result_places.still_there(view, results, read)
    if not results:
        for warning in search_state.filters.explain_nothing():
            search_state.deny(warning)
        if not search_state.notes:
            search_state.deny(_NOTHING if view.files else _NO_FILES)
    return Outcome(results, mode, search_state.notes, left)


def _shown(results: Sequence[Ranked]) -> Iterator[Found]:
    """Yield the files and definitions that the results show or represent."""
    for result in results:
        for place in (result, *result.alike, *result.also):
            yield place.file.path_id, place.symbol
            yield place.file.path_id, -1


class Judgement(NamedTuple):
    """The files judged for a request in mode `auto`, and the places that it names."""

    files: Files | None
    """None if the request was answered without scores."""
    certain: list[Ranked]
    """Places that the request names, quotes or pastes."""
    notes: list[str]


def files(view: Snapshot, request: Request, read: Read) -> Judgement:
    """Judge the files that answer a request, for callers that rank their content.

    Raises:
        QueryError: the query or a filter is invalid.
    """
    check(request)
    query = analyse(request.query)
    search_state = SearchState(
        view, request, query, Filters(view, request), read, list(query.notes)
    )
    judged: list[Files] = []

    def keep(search_state: SearchState) -> list[Ranked]:
        judged.append(judged_files(search_state))
        return []

    ranked, mode = _auto(search_state, keep)
    if not judged and mode != "symbol":
        keep(search_state._replace(notes=[]))
    return Judgement(judged[-1] if judged else None, ranked, search_state.notes)


def measure(view: Snapshot, request: Request, read: Read) -> None:
    """Add a view's statistics for a question to the request's common scale.

    Raises:
        QueryError: a filter is invalid.
    """
    query = analyse(request.query)
    search_state = SearchState(view, request, query, Filters(view, request), read, [])

    def judge(search_state: SearchState) -> list[Ranked]:
        judged_files(search_state)
        return []

    if request.mode == "symbol":
        judge(query_forms.as_name(search_state))
    else:
        _auto(search_state, judge)


def _by_mode(search_state: SearchState) -> tuple[list[Ranked], str]:
    mode = search_state.request.mode
    if mode == "text":
        return _text(search_state, search_state.request.query), mode
    if mode == "regex":
        # Late import, as in the other modes: few questions need them.
        from codelens.rank.modes import regex_search

        return regex_search.search(
            search_state.view,
            search_state.request,
            search_state.filters,
            search_state.read,
            search_state.notes,
        ), mode
    if mode == "meaning":
        from codelens.rank.modes import path_search

        return path_search.search_by_meaning(search_state), mode
    if mode == "path":
        from codelens.rank.modes import path_search

        return path_search.search_paths(
            search_state.view,
            search_state.query,
            search_state.request,
            search_state.filters,
            search_state.notes,
        ), mode
    if mode == "symbol":
        search_state = query_forms.as_name(search_state)
        return (query_forms.nothing_to_look_up(search_state) or (_ranked(search_state), mode))[
            0
        ], mode
    return _auto(search_state, _ranked)


def _auto(search_state: SearchState, rank: query_forms.Rank) -> tuple[list[Ranked], str]:
    if search_state.request.kinds:
        return rank(query_forms.as_name(search_state)), "symbol"
    ways = (
        lambda: query_forms.trace(search_state, rank),
        lambda: _quoted(search_state),
        lambda: query_forms.place(search_state),
        lambda: query_forms.wildcard(search_state),
    )
    answer = next((result for way in ways if (result := way()) is not None), None)
    if answer is not None:
        return answer
    query_forms.suggest_regex(search_state)
    search_state = query_forms.as_name(search_state)
    return (
        query_forms.nothing_to_look_up(search_state)
        or query_forms.message(search_state, rank)
        or (rank(search_state), "symbol" if search_state.query.single else "auto")
    )


def _quoted(search_state: SearchState) -> tuple[list[Ranked], str] | None:
    """Find the files that contain a query that is one quoted phrase verbatim."""
    query = search_state.query
    if not query.phrases or query.text[1:-1].strip() != query.phrases[0]:
        return None
    ranked_hits = _text(search_state, query.phrases[0])
    if ranked_hits:
        return ranked_hits, "text"
    search_state.deny(f"no file contains {query.phrases[0]!r} verbatim; its words were ranked")
    return None


def _text(search_state: SearchState, text: str) -> list[Ranked]:
    from codelens.rank.modes import line_scan

    return line_scan.search_text(
        search_state.view,
        text,
        search_state.request,
        search_state.filters,
        read=search_state.read,
        notes=search_state.notes,
    )


class Files(NamedTuple):
    """The files judged for a query, and the data they were judged by."""

    search_state: SearchState
    terms: list[Weighed]
    defined: list[Defined]
    """Definitions in the whole view that the names of the query refer to."""
    judged: list[Judged]
    """Best first."""
    quoted: list[tuple[FileRow, int]]
    """Files and lines that contain the quoted phrases."""
    texts: Texts


def _ranked(search_state: SearchState) -> list[Ranked]:
    """Rank words, names and definitions by score."""
    return places(judged_files(search_state))


def judged_files(search_state: SearchState) -> Files:
    """Return the best files for a query, by score."""
    search_state, terms = _weighed(search_state)
    view, query = search_state.view, search_state.query
    corpus = corpus_of(view)
    definitions = query_analysis.defined_names(view, query.names)
    if query.spelled is not None:
        spelled = query_analysis.defined_names(view, [query.spelled])
        definitions += [definition for definition in spelled if definition not in definitions]
    also = {definition.file.path_id: definition.file for definition in definitions}
    likeness = None if query.single else search_state.request.likeness
    if likeness is not None:
        also.update({file.path_id: file for file in _most_alike(view, likeness)})
    chosen = candidates.choose(corpus, terms, list(also.values()), search_state.keep, query.single)
    examined = definition_features.examine(
        view, corpus, query, terms, candidates=chosen,
        defined=query_analysis.names_by_file(definitions),
        by_meaning=search_state.request.meaning and not query.single,
        likeness=likeness, common=search_state.request.common,
    )  # fmt: skip
    if examined.meaning.damaged or (examined.meaning.missing and search_state.request.explain):
        search_state.note(f"ranked without meaning: {examined.meaning.missing}")
    judged = definition_features.judge(examined.evidence, query)
    files_with_chunks: list[tuple[FileRow, int]] = []
    if query.phrases:
        judged, files_with_chunks = partial_names.files_with_phrases(
            judged, query.phrases, search_state.read
        )
    if query.single:
        judged = query_forms.production_first(judged, query)
    texts = Texts(
        search_state.read, {term.text: term.weight for term in terms if term.text in query.typed}
    )
    return Files(search_state, terms, definitions, judged, files_with_chunks, texts)


def _most_alike(view: Snapshot, likeness: QuestionLikeness) -> list[FileRow]:
    """Return the files that are candidates by meaning, regardless of their words."""
    nearest = likeness.nearest(sorted(view.by_content))[: ranking_weights.MOST_ALIKE]
    return [file for content in nearest for file in view.by_content[content]]


def places(files: Files) -> list[Ranked]:
    """Return the places to show of judged files."""
    search_state, terms, definitions, judged, files_with_chunks, texts = files
    view, request, query = search_state.view, search_state.request, search_state.query
    shown = result_places.arranged(view, judged, request, query, terms=terms, texts=texts)
    results = answer_lines.with_reasons(view, query, terms, shown, texts, explain=request.explain)
    if query.phrases:
        results = query_forms.quoted_first(search_state, files_with_chunks, results)
    results = query_forms.places_inside(search_state, results)
    if query.single or query.names:
        # Late import, as below: most questions have only words that the view knows.
        from codelens.rank.query import near_matches

        results = near_matches.with_near_names(search_state, definitions, judged, results)
    return partial_names.unique_first(search_state, definitions, results)


def _weighed(search_state: SearchState) -> tuple[SearchState, list[Weighed]]:
    """Weigh the terms that the view knows; replace misspelled words and add a note."""
    corpus = corpus_of(search_state.view)
    query = search_state.query
    common = search_state.request.common
    terms, dropped = candidates.weigh(
        search_state.view, corpus, [*query.terms, *query_analysis.related_to(query)], common
    )
    if dropped:
        search_state.note(f"a long query: its {len(terms)} rarest terms count, {dropped} do not")
        return search_state, terms
    unknown = [] if query.single else query.unknown({term.text for term in terms})
    unknown = [word for word in unknown if not any(word in place.path for place in query.places)]
    if not unknown:
        return search_state, terms
    from codelens.rank.query import near_matches

    corrected_query, near = near_matches.near_words(search_state, unknown)
    for word, other in near.items():
        search_state.deny(f"no file here has `{word}`; ranked with `{other}`")
    left = [f"`{word}`" for word in unknown if word not in near]
    if left:
        count = len(left) - _UNKNOWN_SHOWN
        more = f" and {count_of(count, 'more word')}" if count > 0 else ""
        search_state.deny(f"no file here has {', '.join(left[:_UNKNOWN_SHOWN])}{more}")
    if not near:
        return search_state, terms
    corrected = [*corrected_query.terms, *query_analysis.related_to(corrected_query)]
    terms, _ = candidates.weigh(search_state.view, corpus, corrected, common)
    return search_state._replace(query=corrected_query), terms
