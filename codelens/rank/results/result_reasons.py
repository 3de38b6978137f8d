"""The last step: a place as a result, with why it is there and the line that tells most."""

from __future__ import annotations

from collections.abc import Sequence

from codelens.rank import ranking_weights
from codelens.rank.query import query_names
from codelens.rank.query.query_analysis import Query
from codelens.rank.results.answer_lines import Place
from codelens.rank.results.shown_texts import Texts
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.search_request import NAMED, SCORED, Ranked
from codelens.store.facts import ranking_reads as reads
from codelens.store.views.snapshot import Snapshot


def results(
    view: Snapshot,
    query: Query,
    terms: Sequence[Weighed],
    places: Sequence[Place],
    texts: Texts,
    *,
    explain: bool,
) -> list[Ranked]:
    """Results in the order of `places`."""
    return [
        _bare(place)._replace(
            why=why(place, query, terms),
            line=_line(view, place, texts),
            explain={name: share for name, share in place.shares.items() if share}
            if explain
            else {},
            alike=tuple(map(_bare, place.alike)),
            also=tuple(map(_bare, place.also)),
            standing=NAMED if query.single and _is_asked_for(place) else SCORED,
        )
        for place in places
    ]


def _bare(place: Place) -> Ranked:
    """A place as a result that says nothing of itself."""
    file = place.judged.evidence.file
    return Ranked(
        file,
        place.start_line,
        place.end_line,
        kind_of(place),
        place.symbol,
        place.score,
        "",
        "",
        {},
    )


def kind_of(place: Place) -> str:
    """`symbol`, `chunk`, or `file` for a file that is known by its path alone."""
    if place.symbol >= 0:
        return "symbol"
    return "chunk" if len(place.judged.evidence.chunks) else "file"


def why(place: Place, query: Query, terms: Sequence[Weighed]) -> str:
    """What put a place where it is: the strongest reason, and which share of the words it has.

    `defines it`, `defines X`, `part of X`, `defines X at line N`: what a name of the query stands
    for. `name`, `file name`, `folder`: these are like the query. `2/3 words`: so many of its words
    are in the file; nothing is said where all are and there is another reason.
    """
    candidate = place.judged.evidence
    reason = _defines(place)
    if not reason and place.symbol >= 0:
        reason = (
            "name"
            if candidate.symbols.cosines[place.symbol] >= ranking_weights.SHOWN_COSINE
            else ""
        )
    if not reason and (candidate.features["stemcov"] or candidate.features["stempfx"]):
        reason = "file name"
    if not reason and candidate.features["dircov"]:
        reason = "folder"
    typed = list(dict.fromkeys(query.typed))
    numbers = {term.text: number for number, term in enumerate(terms)}
    present = [
        word
        for word in typed
        if word in numbers and candidate.scored.term_bits >> numbers[word] & 1
    ]
    share = ""
    if len(present) < len(typed) and not (query.single and reason):
        share = f"{len(present)}/{len(typed)} words"
    elif present and not reason:
        share = "all words" if len(typed) > 1 else "text"
    return "; ".join(part for part in (reason, share) if part)


def _is_asked_for(place: Place) -> bool:
    """Whether a place is a definition of the name that is the query."""
    return any(
        known.symbol.ordinal == place.symbol and known.grade > query_names.LAST
        for known in place.judged.evidence.defined
    )


def _defines(place: Place) -> str:
    """What the place, or its file elsewhere, defines of what the query names."""
    defined = place.judged.evidence.defined
    here = next((known for known in defined if known.symbol.ordinal == place.symbol), None)
    if here is not None:
        # `it` is all that was asked for, not one of its words.
        whole = place.judged.evidence.single or place.judged.evidence.features["spelled"]
        return _DEFINES[here.grade] if whole else f"defines {here.symbol.name}"
    strong = [known for known in defined if known.grade > query_names.LAST]
    if not strong:
        return ""
    known = max(strong, key=query_names.telling).symbol
    if place.start_line <= known.start_line <= place.end_line:
        return f"defines {known.name}"
    if known.start_line <= place.start_line and place.end_line <= known.end_line:
        return f"part of {known.name}"
    return f"defines {known.name} at line {known.start_line}"


DEFINES_IT = "defines it"
_DEFINES = {
    query_names.EXACT: DEFINES_IT,
    query_names.CONVENTION: "defines it in another convention",
    query_names.LAST: "defines the last part of the name",
}


def _line(view: Snapshot, place: Place, texts: Texts) -> str:
    file = place.judged.evidence.file
    if file.content is None or not len(place.judged.evidence.chunks):
        return ""
    shown = max(place.symbol, place.head)
    if shown >= 0:
        return reads.signature(view.db, file.content, shown)
    return texts.best_line(file, place.start_line, place.end_line)
