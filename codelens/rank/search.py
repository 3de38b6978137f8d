"""The entry of ranking: from a request over a view to ranked places."""

from __future__ import annotations

from codelens.rank import (
    candidates,
    features,
    filepaths,
    kin,
    names,
    nearby,
    phrases,
    places,
    present,
    regex,
    score,
    textual,
    typed,
)
from codelens.rank.asked import Asked
from codelens.rank.candidates import Weighed
from codelens.rank.corpus import corpus_of
from codelens.rank.filters import Filters
from codelens.rank.query import analyse
from codelens.rank.request import Outcome, Ranked, Request, check
from codelens.rank.texts import Read, Texts
from codelens.store.snapshot import Snapshot
from codelens.store.views import FileRow

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
    asked = Asked(view, request, query, Filters(view, request), read, list(query.notes))
    results, mode = _by_mode(asked)
    if not results:
        for one in asked.filters.explain_nothing():
            asked.note(one)
        if not asked.notes:
            asked.note(_NOTHING)
    return Outcome(results, mode, asked.notes)


def _by_mode(asked: Asked) -> tuple[list[Ranked], str]:
    mode = asked.request.mode
    if mode == "text":
        return _text(asked, asked.request.query), mode
    if mode == "regex":
        return regex.search(asked.view, asked.request, asked.filters, asked.read, asked.notes), mode
    if mode == "path":
        return filepaths.search(
            asked.view, asked.query, asked.request, asked.filters, asked.notes
        ), mode
    if mode == "symbol":
        asked = typed.as_name(asked)
        return (typed.nothing_to_look_up(asked) or (_ranked(asked), mode))[0], mode
    return _auto(asked)


def _auto(asked: Asked) -> tuple[list[Ranked], str]:
    if asked.request.kinds:
        return _ranked(typed.as_name(asked)), "symbol"
    ways = (
        lambda: typed.trace(asked, _ranked),
        lambda: _quoted(asked),
        lambda: typed.place(asked),
        lambda: typed.wildcard(asked),
    )
    found = next((answer for way in ways if (answer := way()) is not None), None)
    if found is not None:
        return found
    typed.tell_regex(asked)
    asked = typed.as_name(asked)
    return (
        typed.nothing_to_look_up(asked)
        or typed.message(asked, _ranked)
        or (_ranked(asked), "symbol" if asked.query.single else "auto")
    )


def _quoted(asked: Asked) -> tuple[list[Ranked], str] | None:
    """A query that is one quoted phrase: the files that hold it to the letter."""
    query = asked.query
    if not query.phrases or query.text[1:-1].strip() != query.phrases[0]:
        return None
    found = _text(asked, query.phrases[0])
    if found:
        return found, "text"
    asked.note(f"no file holds {query.phrases[0]!r} to the letter; its words were ranked")
    return None


def _text(asked: Asked, text: str) -> list[Ranked]:
    return textual.search(asked.view, text, asked.request, asked.filters, asked.read, asked.notes)


def _ranked(asked: Asked) -> list[Ranked]:
    """Words, names and definitions: everything that goes by scores."""
    asked, terms = _weighed(asked)
    view, request, query = asked.view, asked.request, asked.query
    corpus = corpus_of(view)
    found = names.defined(view, query.names)
    if query.spelled is not None:
        spelled = names.defined(view, [query.spelled])
        found += [one for one in spelled if one not in found]
    also = {one.file.path_id: one.file for one in found}
    chosen = candidates.choose(corpus, terms, list(also.values()), asked.keep, query.single)
    evidence = features.examine(view, corpus, query, terms, chosen, names.by_file(found))
    judged = score.judge(evidence, query)
    held: list[tuple[FileRow, int]] = []
    if query.phrases:
        judged, held = phrases.holding(judged, query.phrases, asked.read)
    if query.single:
        judged = typed.production_first(judged, query)
    texts = Texts(asked.read, {one.text: one.weight for one in terms if one.text in query.typed})
    shown = places.arranged(view, judged, request, query, texts)
    results = present.results(view, query, terms, shown, texts, explain=request.explain)
    if query.phrases:
        results = typed.quoted_first(asked, held, results)
    results = typed.places_inside(asked, results)
    return nearby.with_near_names(asked, found, judged, results)


def _weighed(asked: Asked) -> tuple[Asked, list[Weighed]]:
    """The terms that the view knows; misspelt words are ranked as what they may be, and said."""
    corpus = corpus_of(asked.view)
    query = asked.query
    terms, dropped = candidates.weigh(asked.view, corpus, [*query.terms, *kin.kindred(query)])
    if dropped:
        asked.note(f"a long query: its {len(terms)} rarest terms count, {dropped} do not")
        return asked, terms
    unknown = [] if query.single else query.unknown({one.text for one in terms})
    unknown = [word for word in unknown if not any(word in one.path for one in query.places)]
    if not unknown:
        return asked, terms
    meant, near = nearby.near_words(asked, unknown)
    for word, other in near.items():
        asked.note(f"no file here has `{word}`; ranked with `{other}`")
    left = [f"`{word}`" for word in unknown if word not in near]
    if left:
        asked.note(f"no file here has {', '.join(left[:_UNKNOWN_SHOWN])}")
    if not near:
        return asked, terms
    terms, _ = candidates.weigh(asked.view, corpus, [*meant.terms, *kin.kindred(meant)])
    return asked._replace(query=meant), terms
