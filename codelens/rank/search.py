"""The entry of ranking: from a request over a view to ranked places."""

from __future__ import annotations

from typing import NamedTuple

from codelens.rank import (
    candidates,
    features,
    filepaths,
    names,
    phrases,
    places,
    present,
    regex,
    score,
    textual,
)
from codelens.rank.corpus import corpus_of
from codelens.rank.filters import Filters
from codelens.rank.names import Defined
from codelens.rank.places import Place
from codelens.rank.present import Read
from codelens.rank.query import Query, analyse
from codelens.rank.request import Outcome, Ranked, Request, check
from codelens.rank.score import Judged
from codelens.store.snapshot import Snapshot

__all__ = ["Outcome", "Ranked", "Request", "search"]

_UNKNOWN_SHOWN = 5


class _Asked(NamedTuple):
    """One call of `search`; `notes` grows on the way."""

    view: Snapshot
    request: Request
    query: Query
    filters: Filters
    read: Read
    notes: list[str]


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
    asked = _Asked(view, request, query, Filters(view, request), read, list(query.notes))
    results, mode = _by_mode(asked)
    if not results:
        asked.notes.extend(asked.filters.explain_nothing())
    return Outcome(results, mode, asked.notes)


def _by_mode(asked: _Asked) -> tuple[list[Ranked], str]:
    mode = asked.request.mode
    if mode == "text":
        return _text(asked, asked.request.query), mode
    if mode == "regex":
        return regex.search(asked.view, asked.request, asked.filters, asked.read, asked.notes), mode
    if mode == "path":
        return filepaths.search(asked.view, asked.query, asked.request, asked.filters), mode
    if mode == "symbol":
        return _ranked(asked), mode
    return _auto(asked)


def _auto(asked: _Asked) -> tuple[list[Ranked], str]:
    query = asked.query
    if asked.request.kinds:
        return _ranked(asked), "symbol"
    if query.phrases and query.text[1:-1].strip() == query.phrases[0]:
        found = _text(asked, query.phrases[0])
        if found:
            return found, "text"
        asked.notes.append(
            f"no file holds {query.phrases[0]!r} to the letter; its words were ranked"
        )
    if not query.terms:
        asked.notes.append("nothing but common words and signs: searched for as literal text")
        return _text(asked, query.text), "text"
    if query.token and query.paths:
        found = filepaths.named(asked.view, query.paths[0], asked.request, asked.filters)
        if found:
            return found, "path"
    return _ranked(asked), "symbol" if query.single else "auto"


def _text(asked: _Asked, text: str) -> list[Ranked]:
    return textual.search(asked.view, text, asked.request, asked.filters, asked.read, asked.notes)


def _ranked(asked: _Asked) -> list[Ranked]:
    """Words, names and definitions: everything that goes by scores."""
    view, query, request = asked.view, asked.query, asked.request
    corpus = corpus_of(view)
    terms, dropped = candidates.weigh(view, corpus, query.terms)
    if dropped:
        asked.notes.append(f"a long query: its {len(terms)} rarest terms count, {dropped} do not")
    found = names.defined(view, query.names)
    if query.spelled is not None:
        spelled = names.defined(view, [query.spelled])
        found += [one for one in spelled if one not in found]
    also = {one.file.path_id: one.file for one in found}
    keep = asked.filters.keep if asked.filters.active else None
    chosen = candidates.choose(corpus, terms, list(also.values()), keep, query.single)
    evidence = features.examine(view, corpus, query, terms, chosen, names.by_file(found))
    judged = score.judge(evidence, query)
    if query.phrases:
        judged, held = phrases.holding(judged, query.phrases, asked.read)
        if judged and not held:
            asked.notes.append("none of the best files holds the quoted words to the letter")
    _tell_unknown(asked, frozenset(one.text for one in terms), found)
    shown = _arranged(asked, judged)
    return present.results(view, query, terms, shown, asked.read, explain=request.explain)


def _arranged(asked: _Asked, judged: list[Judged]) -> list[Place]:
    request = asked.request
    alone = request.mode == "symbol" or bool(request.kinds)
    ready = score.with_definitions(asked.view, judged, len(judged) if alone else request.limit)
    if alone:
        return places.by_definition(ready, request.limit, frozenset(request.kinds))
    if asked.query.single:
        return places.by_name(ready, request.limit)
    return places.by_file(ready, request.limit)


def _tell_unknown(asked: _Asked, known: frozenset[str], found: list[Defined]) -> None:
    """Notes on what the view has not: names, with their nearest, and words."""
    query = asked.query
    if not query.single:
        missing = query.unknown(known)
        if missing:
            shown = ", ".join(f"`{word}`" for word in missing[:_UNKNOWN_SHOWN])
            asked.notes.append(f"no file here has {shown}")
        return
    if not query.names:
        return
    name = query.names[0].text
    if not found:
        near = ", ".join(f"`{one}`" for one in names.near(asked.view, query))
        if near or asked.request.mode == "symbol":
            asked.notes.append(f"no symbol `{name}`" + (f"; nearest: {near}" if near else ""))
    elif all(one.grade == names.LAST for one in found):
        asked.notes.append(f"no symbol `{name}`; there is `{found[0].symbol.name}` elsewhere")
