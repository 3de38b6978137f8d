"""Tries the special forms of a query in turn: traces, paths, wildcards, names, messages, quotes.

Other modules parse the text; this one resolves the parts in the view. A form that does not match
returns None, and the next one is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from codelens.extract.tokenizer import STOPWORDS, WORD
from codelens.rank import ranking_weights
from codelens.rank.pasted import location_context, pasted_locations
from codelens.rank.pasted.location_context import Spot
from codelens.rank.pasted.pasted_locations import may_be_trace
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import Defined, Query, Term
from codelens.rank.scoring import candidates, definition_features
from codelens.rank.scoring.definition_features import Judged
from codelens.rank.search_request import NAMED, SCORED, Ranked
from codelens.rank.search_state import SearchState, before
from codelens.rank.view_statistics import corpus_of
from codelens.store.views.views import FileRow

if TYPE_CHECKING:
    from codelens.rank.pasted.message_origins import Message

Rank = Callable[[SearchState], list[Ranked]]
Answer = tuple[list[Ranked], str]

_SOURCES = 5
"""Maximum number of places of a message; ranked results follow."""
_RANKED_FIRST = 3
_LITERAL_FILES = 300
"""Maximum number of files read for a query without a word to look up."""
_NAMED_FILES = 3
_TOP = 10.0
_REPORT_WORDS = 5
"""Minimum of different words around a trace that make it a report."""
_LONG_REPORT = 2000
"""Number of characters around a trace that may have more terms than a query."""
_REGEX = re.compile(
    r"\.[*+](?=.*\w)(?!\w*[/\\])|\\[bBdDwWsS](?![\w\\])|\\[bBdDwWsS][+*\\(\[]|\[\^?[\w-]*[A-Za-z0-9]-[A-Za-z0-9][\w-]*\]"
    r"|\(\?[:=!<P]|(?<=\w)\|(?=\w)|\\[.()\[\]{}|*+?$^]|\[\^.+\]|\{\d+,?\d*\}|^\^\w|\w\$$"
)
# `get.*name` is a regular expression; `.*` is a glob only after a slash or a star.
_WILD = re.compile(r"(?!/.*/$)(?:[*]|[^\s*]*[^\s*.][*]|[^\s*]*/[*])(?!\))[^\s()|\\^$+]*")
_SLASHED = re.compile(r"/(?=.*[\\.*+?\[\](){}|^$]).+/[gimsuy]*")


def trace(state: SearchState, rank: Rank) -> Answer | None:
    """Answer a stack trace: its frames in the view, then its error."""
    if not may_be_trace(state.request.query):
        return None
    # Late import: the 48 regular expressions take 5 ms, and most searches do not need them.
    from codelens.rank.pasted import message_origins, stack_traces

    trace = stack_traces.parse(state.request.query)
    if trace is None:
        return None
    placed = location_context.place_frame(state, trace)
    state.note(location_context.trace_summary(trace, placed))
    state.request.note_found((frame.file.path_id, frame.symbol) for frame in placed.results)
    rest: list[Ranked] = []
    text = f"{trace.error}: {trace.message}" if trace.error else trace.message
    around = stack_traces.around(state.request.query)
    if len({word.lower() for word in WORD.findall(around)} - STOPWORDS) >= _REPORT_WORDS:
        # A report: its text and the error are one query. The first line has the topic. Of a long
        # text, often a log, the end is not read, so the error comes before it.
        topic, _, more = around.partition("\n")
        is_long = len(around) > _LONG_REPORT
        parts = (topic, text, more) if is_long else (around, text)
        query = query_analysis.analyse("\n".join(parts))
        rest = rank(state._replace(query=query, notes=[]))
    elif text:
        message = message_origins.parse_message(text)
        # The frames are the answer; the rest of the trace is not a query.
        aside = state._replace(query=query_analysis.analyse(text), notes=[])
        rest = _message(aside, message, rank) if message else rank(aside)
    elif not placed.results:
        calls = " ".join(dict.fromkeys(frame.name for frame in trace.frames if frame.name))
        if calls:
            rest = rank(state._replace(query=query_analysis.analyse(calls), notes=[]))
    if not placed.results and not rest:
        # No frame is in the view, so the text around the trace is the query.
        rest = rank(state._replace(notes=[]))
    return before(placed.results, rest, state.request.limit), "auto"


def place(state: SearchState) -> Answer | None:
    """Answer a query that is only a path, perhaps with a line or a name."""
    location = pasted_locations.whole(state.query.text)
    if location is None:
        return None
    from codelens.rank.modes import path_search

    results = path_search.named(state, location)
    if results:
        return results, "path"
    if location.is_certain and (
        location.line or location.names or "." in location.path.rsplit("/", 1)[-1]
    ):
        state.note(f"no file `{location.path}` here; its words were ranked")
    return None


def wildcard(state: SearchState) -> Answer | None:
    """Answer a query that is only a path with wildcards: `test_*.py`, `src/**/query.*`."""
    text = state.query.text
    if not _WILD.fullmatch(text) or not ("/" in text or "." in text):
        return None
    from codelens.rank.modes import path_search

    results = path_search.search_paths(state)
    return (results, "path") if results else None


def as_name(state: SearchState) -> SearchState:
    """Treat a query that declares, calls or quotes a single name as that name."""
    if state.query.text.isidentifier():
        return state  # already a name; saves 3 ms of regular expressions
    from codelens.rank.pasted import pasted_declarations

    declaration = pasted_declarations.declared(state.query.text)
    if declaration is None:
        return state
    here = query_analysis.defined_names(state.view, [declaration.name])
    fitting = [
        definition
        for definition in here
        if (not declaration.kinds or definition.symbol.kind in declaration.kinds)
        and (definition.grade > query_analysis.LAST or len(declaration.name.parts) == 1)
    ]
    signs = not WORD.search(declaration.name.text)
    if signs and not any(definition.grade == query_analysis.EXACT for definition in fitting):
        return state
    if not declaration.sure and not fitting:
        return state
    return state._replace(query=query_analysis.of_name(state.query, declaration.name))


def nothing_to_look_up(state: SearchState) -> Answer | None:
    """Answer a query of common words and signs by definitions with that name, or as text."""
    if state.query.terms:
        return None
    matches = [
        definition
        for definition in query_analysis.defined_names(state.view, state.query.names)
        if not state.filters.active or state.filters.keep([definition.file])
    ]
    strong = [
        definition for definition in matches if definition.symbol.kind not in query_analysis.WEAK
    ] or matches
    if strong:
        state.request.note_found(
            (definition.file.path_id, definition.symbol.ordinal) for definition in strong
        )
        return definitions(state, strong, "defines it"), "symbol"
    total = sum(1 for file in state.view.files if file.content is not None)
    description = "a word too long to be one" if state.query.words else "signs"
    if any(word.lower() in STOPWORDS for word in state.query.words):
        description = "common words and signs"
    state.note(f"nothing but {description}: looked for as literal text")
    from codelens.rank.modes import line_scan

    results = line_scan.search_text(state, state.query.text, _LITERAL_FILES)
    if total > _LITERAL_FILES:
        state.note(
            f"only {_LITERAL_FILES} of {total:,} files were read, those in the uppermost folders; "
            "mode=text reads all"
        )
    return results, "text"


def definitions(state: SearchState, defined: Sequence[Defined], why: str) -> list[Ranked]:
    """Return definitions as results: exact names, production code, then by path."""
    facts = state.view.path_facts(definition.file.path_id for definition in defined)
    down = ranking_weights.PUSHED_DOWN["token"]

    def order(definition: Defined) -> tuple[int, float, bool, bytes, int]:
        role = facts[definition.file.path_id].role
        pushed = 0.0 if role in state.query.roles else down.get(role, 0.0)
        is_weak = definition.symbol.kind in query_analysis.WEAK
        return (-definition.grade, pushed, is_weak, definition.file.path, definition.symbol.ordinal)

    results: list[Ranked] = []
    for number, definition in enumerate(sorted(defined, key=order)[: state.request.limit]):
        spot = Spot(
            definition.symbol.start_line, definition.symbol.end_line, definition.symbol.ordinal, ""
        )
        shares = {"defined": _TOP - 0.01 * number}
        ranked = location_context.shown(
            state.view, definition.file, spot, why, shares=shares, explain=state.request.explain
        )
        results.append(ranked._replace(standing=NAMED))
    return results


def message(state: SearchState, rank: Rank) -> Answer | None:
    """Answer an error message or a log line: where it is written, then its constant words."""
    if state.query.single:
        return None
    # Late import: names do not need it.
    from codelens.rank.pasted import message_origins

    message = message_origins.parse_message(state.query.text)
    if message is None or (state.query.phrases and not message.has_head):
        return None  # the text that a person quotes must occur verbatim
    # `src/a.c:12:5: error: ...`: a tool's location and message.
    return places_inside(state, _message(state, message, rank)), "auto"


def _message(state: SearchState, message: Message, rank: Rank) -> list[Ranked]:
    from codelens.rank.pasted import message_origins

    constant = query_analysis.analyse(f"{message.error} {message.constant}")
    corpus = corpus_of(state.view)
    plain = query_analysis.analyse(" ".join(message.runs)).typed
    terms, _ = candidates.weigh(
        state.view, corpus, [Term(term, 1.0) for term in dict.fromkeys(plain)],
        state.request.common,
    )  # fmt: skip
    origins = message_origins.places(state, message, terms)
    state.request.note_found((origin.file.path_id, -1) for origin in origins)
    results = message_origins.results(state, origins[:_SOURCES])
    if message.filled:
        if message.left_out:
            values = message_origins.shown_values(message)
            state.note(f"read as a program's message; values not ranked: {values}")
        if not results:
            state.note("the message was not found verbatim; its words were ranked")
        state = state._replace(query=constant._replace(text=state.query.text))
    ranked = rank(state)
    if origins and origins[0].pushed:
        # No code writes the message; tests or pages that quote it are no better than ranked
        # results.
        quoting = [*results, *ranked]
        return before(ranked[:_RANKED_FIRST], quoting, state.request.limit, SCORED)
    return before(results, ranked, state.request.limit)


def quoted_first(
    state: SearchState,
    files_with_chunks: Sequence[tuple[FileRow, int]],
    ranked: Sequence[Ranked],
) -> list[Ranked]:
    """Put places with the exact quotation before `ranked`."""
    first: list[Ranked] = []
    for number, (file, line) in enumerate(files_with_chunks[: state.request.limit]):
        text = state.read(file)
        spot = location_context.at_line(state.view, file, line, text=text)
        if spot is not None:
            shares = {"quoted": _TOP - 0.01 * number}
            shown = location_context.line_of(text, line)
            result = location_context.shown(
                state.view, file, spot, f"the quoted words, line {line}", shown,
                shares=shares, explain=state.request.explain,
            )  # fmt: skip
            first.append(result)
    if not first and len(state.query.phrases) == 1:
        from codelens.rank.modes import line_scan

        aside = state._replace(notes=[])
        first = line_scan.search_text(aside, state.query.phrases[0], _LITERAL_FILES)
    if not first:
        state.note("none of the best files contains the quoted words verbatim")
    return before(first, ranked, state.request.limit)


def places_inside(state: SearchState, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Put files that the query names with a folder or a line before `ranked`."""
    first: list[Ranked] = []
    # A vague location adds neither results nor notes.
    aside = state._replace(request=state.request._replace(answering=None), notes=[])
    for place in state.query.places:
        if not place.is_certain:
            continue
        from codelens.rank.modes import path_search

        ranked_hits = path_search.named(aside, place)
        if 0 < len(ranked_hits) <= _NAMED_FILES and all(
            hit.why not in _VAGUE for hit in ranked_hits
        ):
            first += [hit for hit in ranked_hits if hit not in first]
    return before(first, ranked, state.request.limit)


_VAGUE = frozenset({"in this folder"})


def production_first(judged: Sequence[Judged], query: Query) -> list[Judged]:
    """Put production code first among the files that define a name."""
    pushed = ranking_weights.PUSHED_DOWN["token"].keys() - query.roles
    return sorted(
        judged,
        key=lambda scored: (
            bool(scored.evidence.defined) and definition_features.role_of(scored.evidence) in pushed
        ),
    )


def suggest_regex(state: SearchState) -> None:
    """Add a note if the query is probably a regular expression, which only mode=regex runs."""
    text = state.query.text
    if state.query.phrases or "\n" in text:
        return
    if (_SLASHED.fullmatch(text) or _REGEX.search(text)) and _compiles(text):
        state.note("this looks like a regular expression; mode=regex matches it as one")


def _compiles(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
