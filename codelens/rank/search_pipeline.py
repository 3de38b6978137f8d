"""The entry point of ranking: runs a request over a view and returns ranked places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codelens.meaning.question_likeness import QuestionLikeness
from codelens.rank import answer_lines, ranking_weights, result_places
from codelens.rank.pasted import query_forms
from codelens.rank.query import partial_names, query_analysis, task_text
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

    The same view and request give byte-identical outcomes, regardless of other data in the store.
    Only `text` and `regex` may stop at a deadline; a note then says so.

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
    state = _state(view, request, read)
    results, mode = _by_mode(state)
    left = len(answering.difference(_shown(results)))
    results = result_places.still_there(view, results, read)
    if not results:
        for warning in state.filters.explain_nothing():
            state.deny(warning)
        if not state.notes:
            state.deny(_NOTHING if view.files else _NO_FILES)
    return Outcome(results, mode, state.notes, left)


def _state(view: Snapshot, request: Request, read: Read) -> SearchState:
    if request.mode in {"auto", "symbol"}:
        request = request._replace(query=task_text.without_template(request.query))
    query = analyse(request.query)
    return SearchState(view, request, query, Filters(view, request), read, list(query.notes))


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
    state = _state(view, request, read)
    judged: list[Files] = []

    def keep(state: SearchState) -> list[Ranked]:
        judged.append(judged_files(state))
        return []

    ranked, mode = _auto(state, keep)
    if not judged and mode != "symbol":
        keep(state._replace(notes=[]))
    return Judgement(judged[-1] if judged else None, ranked, state.notes)


def measure(view: Snapshot, request: Request, read: Read) -> None:
    """Add a view's statistics for a question to the request's common scale.

    Raises:
        QueryError: a filter is invalid.
    """
    state = _state(view, request, read)

    def judge(state: SearchState) -> list[Ranked]:
        judged_files(state)
        return []

    if request.mode == "symbol":
        judge(query_forms.as_name(state))
    else:
        _auto(state, judge)


def _by_mode(state: SearchState) -> tuple[list[Ranked], str]:
    mode = state.request.mode
    if mode == "text":
        return _text(state, state.request.query), mode
    if mode == "regex":
        # Late import, as in the other modes: few questions need them.
        from codelens.rank.modes import regex_search

        return regex_search.search(state), mode
    if mode in {"path", "meaning"}:
        from codelens.rank.modes import path_search

        by_path = mode == "path"
        return (path_search.search_paths if by_path else path_search.search_by_meaning)(state), mode
    if mode == "symbol":
        state = query_forms.as_name(state)
        answer = query_forms.nothing_to_look_up(state)
        return (answer[0] if answer else _ranked(state)), mode
    return _auto(state, _ranked)


def _auto(state: SearchState, rank: query_forms.Rank) -> tuple[list[Ranked], str]:
    if state.request.kinds:
        return rank(query_forms.as_name(state)), "symbol"
    ways = (
        lambda: query_forms.trace(state, rank),
        lambda: _quoted(state),
        lambda: query_forms.place(state),
        lambda: query_forms.wildcard(state),
    )
    answer = next((result for way in ways if (result := way()) is not None), None)
    if answer is not None:
        return answer
    query_forms.suggest_regex(state)
    state = query_forms.as_name(state)
    return (
        query_forms.nothing_to_look_up(state)
        or query_forms.message(state, rank)
        or (rank(state), "symbol" if state.query.single else "auto")
    )


def _quoted(state: SearchState) -> tuple[list[Ranked], str] | None:
    """Find the files that contain a query that is one quoted phrase verbatim."""
    query = state.query
    if not query.phrases or query.text[1:-1].strip() != query.phrases[0]:
        return None
    ranked_hits = _text(state, query.phrases[0])
    if ranked_hits:
        return ranked_hits, "text"
    state.deny(f"no file contains {query.phrases[0]!r} verbatim; its words were ranked")
    return None


def _text(state: SearchState, text: str) -> list[Ranked]:
    from codelens.rank.modes import line_scan

    return line_scan.search_text(state, text)


class Files(NamedTuple):
    """The files judged for a query, and the data they were judged by."""

    state: SearchState
    terms: list[Weighed]
    defined: list[Defined]
    """Definitions in the whole view that the names of the query refer to."""
    judged: list[Judged]
    """Best first."""
    quoted: list[tuple[FileRow, int]]
    """Files and lines that contain the quoted phrases."""
    texts: Texts


def _ranked(state: SearchState) -> list[Ranked]:
    """Rank words, names and definitions by score."""
    return places(judged_files(state))


def judged_files(state: SearchState) -> Files:
    """Return the best files for a query, by score."""
    state, terms = _weighed(state)
    view, query = state.view, state.query
    corpus = corpus_of(view)
    definitions = query_analysis.defined_names(view, query.names)
    if query.spelled is not None:
        spelled = query_analysis.defined_names(view, [query.spelled])
        definitions += [definition for definition in spelled if definition not in definitions]
    also = {definition.file.path_id: definition.file for definition in definitions}
    likeness = None if query.single else state.request.likeness
    if likeness is not None:
        also.update({file.path_id: file for file in _most_alike(view, likeness)})
    chosen = candidates.choose(corpus, terms, list(also.values()), state.keep, query.single)
    examined = definition_features.examine(
        view, corpus, query, terms, candidates=chosen,
        defined=query_analysis.names_by_file(definitions),
        by_meaning=state.request.meaning and not query.single,
        likeness=likeness, common=state.request.common,
    )  # fmt: skip
    if examined.meaning.damaged or (examined.meaning.missing and state.request.explain):
        state.note(f"ranked without meaning: {examined.meaning.missing}")
    judged = definition_features.judge(examined.evidence, query)
    files_with_chunks: list[tuple[FileRow, int]] = []
    if query.phrases:
        judged, files_with_chunks = partial_names.files_with_phrases(
            judged, query.phrases, state.read
        )
    if query.single:
        judged = query_forms.production_first(judged, query)
    texts = Texts(
        state.read, {term.text: term.weight for term in terms if term.text in query.typed}
    )
    return Files(state, terms, definitions, judged, files_with_chunks, texts)


def _most_alike(view: Snapshot, likeness: QuestionLikeness) -> list[FileRow]:
    """Return the files that are candidates by meaning, regardless of their words."""
    nearest = likeness.nearest(sorted(view.by_content))[: ranking_weights.MOST_ALIKE]
    return [file for content in nearest for file in view.by_content[content]]


def places(files: Files) -> list[Ranked]:
    """Return the places to show of judged files."""
    state, terms, definitions, judged, files_with_chunks, texts = files
    view, request, query = state.view, state.request, state.query
    shown = result_places.arranged(view, judged, request, query, terms=terms, texts=texts)
    results = answer_lines.with_reasons(view, query, terms, shown, texts, explain=request.explain)
    if query.phrases:
        results = query_forms.quoted_first(state, files_with_chunks, results)
    results = query_forms.places_inside(state, results)
    if query.single or query.names:
        # Late import, as below: most questions have only words that the view knows.
        from codelens.rank.query import near_matches

        results = near_matches.with_near_names(state, definitions, judged, results)
    return partial_names.unique_first(state, definitions, results)


def _weighed(state: SearchState) -> tuple[SearchState, list[Weighed]]:
    """Weigh the terms that the view knows; replace misspelled words and add a note."""
    corpus = corpus_of(state.view)
    query = state.query
    common = state.request.common
    terms, dropped = candidates.weigh(
        state.view, corpus, [*query.terms, *query_analysis.related_to(query)], common
    )
    if dropped:
        state.note(f"a long query: its {len(terms)} rarest terms count, {dropped} do not")
        return state, terms
    unknown = [] if query.single else query.unknown({term.text for term in terms})
    unknown = [word for word in unknown if not any(word in place.path for place in query.places)]
    if not unknown:
        return state, terms
    from codelens.rank.query import near_matches

    corrected_query, near = near_matches.near_words(state, unknown)
    for word, other in near.items():
        state.deny(f"no file here has `{word}`; ranked with `{other}`")
    left = [f"`{word}`" for word in unknown if word not in near]
    if left:
        count = len(left) - _UNKNOWN_SHOWN
        more = f" and {count_of(count, 'more word')}" if count > 0 else ""
        state.deny(f"no file here has {', '.join(left[:_UNKNOWN_SHOWN])}{more}")
    if not near:
        return state, terms
    corrected = [*corrected_query.terms, *query_analysis.related_to(corrected_query)]
    terms, _ = candidates.weigh(state.view, corpus, corrected, common)
    return state._replace(query=corrected_query), terms
