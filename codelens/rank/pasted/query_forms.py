"""What people and agents type and paste besides words: each way to read a query, in turn.

The text is taken apart elsewhere (`traces`, `messages`, `locations`, `declarations`), here what
comes out is held against the view. A way that does not fit gives None, and the next is tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from codelens.extract.tokenizer import STOPWORDS, WORD
from codelens.rank import ranking_weights
from codelens.rank.modes import path_search, text_search
from codelens.rank.pasted import (
    error_messages,
    location_context,
    message_origins,
    pasted_declarations,
    pasted_locations,
    stack_traces,
    trace_frames,
)
from codelens.rank.pasted.error_messages import Message
from codelens.rank.pasted.location_context import Spot
from codelens.rank.query import query_analysis, query_names
from codelens.rank.query.query_analysis import Query, Term
from codelens.rank.query.query_names import Defined
from codelens.rank.scoring import candidates, weighted_score
from codelens.rank.scoring.weighted_score import Judged
from codelens.rank.search_request import Ranked
from codelens.rank.search_state import SearchState, before
from codelens.rank.view_statistics import corpus_of
from codelens.store.views.views import FileRow

Rank = Callable[[SearchState], list[Ranked]]
Answer = tuple[list[Ranked], str]

_SOURCES = 5
"""Places of a message at most; after them comes what was ranked."""
_RANKED_FIRST = 3
_LITERAL_FILES = 300
"""Files that are read for a query without a word to look up."""
_NAMED_FILES = 3
_TOP = 10.0
_REGEX = re.compile(
    r"\.[*+](?=.*\w)(?!\w*[/\\])|\\[bBdDwWsS](?![\w\\])|\\[bBdDwWsS][+*\\(\[]|\[\^?[\w-]*[A-Za-z0-9]-[A-Za-z0-9][\w-]*\]"
    r"|\(\?[:=!<P]|(?<=\w)\|(?=\w)|\\[.()\[\]{}|*+?$^]|\[\^.+\]|\{\d+,?\d*\}|^\^\w|\w\$$"
)
# `get.*name` is a regular expression; a star after a dot is one of a glob behind a slash or a star.
_WILD = re.compile(r"(?!/.*/$)(?:[*]|[^\s*]*[^\s*.][*]|[^\s*]*/[*])(?!\))[^\s()|\\^$+]*")
_SLASHED = re.compile(r"/(?=.*[\\.*+?\[\](){}|^$]).+/[gimsuy]*")


def trace(asked: SearchState, rank: Rank) -> Answer | None:
    """A stack trace: its frames that are here, then what its error says."""
    found = stack_traces.parse(asked.request.query)
    if found is None:
        return None
    placed = trace_frames.place(asked.view, found, asked.request, asked.filters, asked.read)
    asked.note(trace_frames.said(found, placed))
    rest: list[Ranked] = []
    if found.message or found.error:
        text = f"{found.error}: {found.message}" if found.error else found.message
        said = error_messages.parse(text)
        # Frames are the answer; the rest of a trace is not read as a question.
        aside = asked._replace(query=query_analysis.analyse(text), notes=[])
        rest = _message(aside, said, rank) if said else rank(aside)
    elif not placed.results:
        calls = " ".join(dict.fromkeys(one.name for one in found.frames if one.name))
        if calls:
            rest = rank(asked._replace(query=query_analysis.analyse(calls), notes=[]))
    return before(placed.results, rest, asked.request.limit), "auto"


def place(asked: SearchState) -> Answer | None:
    """A path, perhaps with a line or a name in it, and nothing else."""
    found = pasted_locations.whole(asked.query.text)
    if found is None:
        return None
    results = path_search.named(asked.view, found, asked.request, asked.filters, asked.notes)
    if results:
        return results, "path"
    if found.told and (found.line or found.names or "." in found.path.rsplit("/", 1)[-1]):
        asked.note(f"no file `{found.path}` here; its words were ranked")
    return None


def wildcard(asked: SearchState) -> Answer | None:
    """A path with wildcards, and nothing else: `test_*.py`, `src/**/query.*`."""
    text = asked.query.text
    if not _WILD.fullmatch(text) or not ("/" in text or "." in text):
        return None
    results = path_search.search(asked.view, asked.query, asked.request, asked.filters, asked.notes)
    return (results, "path") if results else None


def as_name(asked: SearchState) -> SearchState:
    """The same, as a name alone where the query is one that is declared, called or quoted so."""
    found = pasted_declarations.declared(asked.query.text)
    if found is None:
        return asked
    here = query_names.defined(asked.view, [found.name])
    fitting = [
        one
        for one in here
        if (not found.kinds or one.symbol.kind in found.kinds)
        and (one.grade > query_names.LAST or len(found.name.parts) == 1)
    ]
    signs = not WORD.search(found.name.text)
    if signs and not any(one.grade == query_names.EXACT for one in fitting):
        return asked
    if not found.sure and not fitting:
        return asked
    return asked._replace(query=query_analysis.of_name(asked.query, found.name))


def nothing_to_look_up(asked: SearchState) -> Answer | None:
    """A query of common words and signs: definitions called so, or the text in a few files."""
    if asked.query.terms:
        return None
    found = [
        one
        for one in query_names.defined(asked.view, asked.query.names)
        if not asked.filters.active or asked.filters.keep([one.file])
    ]
    strong = [one for one in found if one.symbol.kind not in query_names.WEAK] or found
    if strong:
        return definitions(asked, strong, "defines it"), "symbol"
    total = sum(1 for file in asked.view.files if file.content is not None)
    what = "a word too long to be one" if asked.query.words else "signs"
    if any(word.lower() in STOPWORDS for word in asked.query.words):
        what = "common words and signs"
    asked.note(f"nothing but {what}: looked for as literal text")
    notes: list[str] = []
    results = text_search.search(
        asked.view, asked.query.text, asked.request, asked.filters, asked.read, notes,
        most=_LITERAL_FILES,
    )  # fmt: skip
    for one in notes:
        asked.note(one)
    if total > _LITERAL_FILES:
        asked.note(
            f"only {_LITERAL_FILES} of {total:,} files were read, those in the uppermost folders; "
            "mode=text reads all"
        )
    return results, "text"


def definitions(asked: SearchState, found: Sequence[Defined], why: str) -> list[Ranked]:
    """Definitions as results: as typed first, production code before the rest, then by path."""
    facts = asked.view.path_facts(one.file.path_id for one in found)
    down = ranking_weights.PUSHED_DOWN["token"]

    def order(one: Defined) -> tuple[int, float, bool, bytes, int]:
        role = facts[one.file.path_id].role
        pushed = 0.0 if role in asked.query.roles else down.get(role, 0.0)
        weak = one.symbol.kind in query_names.WEAK
        return (-one.grade, pushed, weak, one.file.path, one.symbol.ordinal)

    results: list[Ranked] = []
    for number, one in enumerate(sorted(found, key=order)[: asked.request.limit]):
        spot = Spot(one.symbol.start_line, one.symbol.end_line, one.symbol.ordinal, "")
        shares = {"defined": _TOP - 0.01 * number}
        ranked = location_context.shown(asked.view, one.file, spot, why, "", shares)
        results.append(ranked if asked.request.explain else ranked._replace(explain={}))
    return results


def message(asked: SearchState, rank: Rank) -> Answer | None:
    """An error message or a log line: where it is written, then its constant words."""
    if asked.query.single:
        return None
    found = error_messages.parse(asked.query.text)
    if found is None or (asked.query.phrases and not found.told):
        return None  # a person quotes what must stand there
    # `src/a.c:12:5: error: ...`: a tool says where, and then what.
    return places_inside(asked, _message(asked, found, rank)), "auto"


def _message(asked: SearchState, found: Message, rank: Rank) -> list[Ranked]:
    constant = query_analysis.analyse(f"{found.error} {found.constant}")
    corpus = corpus_of(asked.view)
    plain = query_analysis.analyse(" ".join(found.runs)).typed
    terms, _ = candidates.weigh(
        asked.view, corpus, [Term(term, 1.0) for term in dict.fromkeys(plain)]
    )
    said = message_origins.places(
        asked.view, corpus, found, terms, asked.keep, asked.read, asked.query.roles
    )
    results = message_origins.results(asked.view, said[:_SOURCES], asked.request, asked.read)
    if found.filled:
        if found.left_out:
            asked.note(
                f"read as a message; left out as values: {error_messages.shown_values(found)}"
            )
        if not results:
            asked.note("the message was not found as it is written; its words were ranked")
        asked = asked._replace(query=constant._replace(text=asked.query.text))
    ranked = rank(asked)
    if said and said[0].pushed:
        # No code writes it: a test or a page that quotes it is no better than what was ranked.
        return before(ranked[:_RANKED_FIRST], [*results, *ranked], asked.request.limit)
    return before(results, ranked, asked.request.limit)


def quoted_first(
    asked: SearchState, held: Sequence[tuple[FileRow, int]], ranked: Sequence[Ranked]
) -> list[Ranked]:
    """`ranked` behind the places that hold what is quoted to the letter."""
    first: list[Ranked] = []
    for number, (file, line) in enumerate(held[: asked.request.limit]):
        text = asked.read(file)
        spot = location_context.at_line(asked.view, file, line, text=text)
        if spot is not None:
            shares = {"quoted": _TOP - 0.01 * number}
            shown = location_context.line_of(text, line)
            one = location_context.shown(
                asked.view, file, spot, f"the quoted words, line {line}", shown, shares
            )
            first.append(one if asked.request.explain else one._replace(explain={}))
    if not first and len(asked.query.phrases) == 1:
        first = text_search.search(
            asked.view, asked.query.phrases[0], asked.request, asked.filters, asked.read, [],
            most=_LITERAL_FILES,
        )  # fmt: skip
    if not first:
        asked.note("none of the best files holds the quoted words to the letter")
    return before(first, ranked, asked.request.limit)


def places_inside(asked: SearchState, ranked: Sequence[Ranked]) -> list[Ranked]:
    """`ranked` behind the files that words of the query name with a folder or a line."""
    first: list[Ranked] = []
    for one in asked.query.places:
        if not one.told:
            continue
        found = path_search.named(asked.view, one, asked.request, asked.filters, [])
        if 0 < len(found) <= _NAMED_FILES and all(hit.why not in _VAGUE for hit in found):
            first += [hit for hit in found if hit not in first]
    return before(first, ranked, asked.request.limit)


_VAGUE = frozenset({"in this folder"})


def production_first(judged: Sequence[Judged], asked: Query) -> list[Judged]:
    """The same; of files that define a name, those of production code before the others."""
    pushed = ranking_weights.PUSHED_DOWN["token"].keys() - asked.roles
    return sorted(
        judged,
        key=lambda one: (
            bool(one.evidence.defined) and weighted_score.role_of(one.evidence) in pushed
        ),
    )


def tell_regex(asked: SearchState) -> None:
    """A note where a query is most likely a regular expression; it is not run as one unasked."""
    text = asked.query.text
    if asked.query.phrases or "\n" in text:
        return
    if (_SLASHED.fullmatch(text) or _REGEX.search(text)) and _compiles(text):
        asked.note("this looks like a regular expression; mode=regex matches it as one")


def _compiles(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
