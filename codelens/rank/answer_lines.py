"""Chooses which lines of a judged file to show: the definition asked for, or the best text.

`codelens.rank.scoring.definition_features` orders the files; this module chooses the place inside
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from codelens.rank import ranking_weights
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import Query
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.definition_features import Evidence, Judged
from codelens.rank.search_request import NAMED, SCORED, Ranked
from codelens.rank.search_state import Texts
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.contents import ScoredChunk
from codelens.store.facts.ranking_reads import Definition
from codelens.store.views.snapshot import Snapshot

SYMBOL_LINES = 80
"""If a definition is longer, only the part that answers is shown."""
SHORT_LINES = 12
"""A shorter chunk is shown with the next one."""
_LENGTHENED = 40
_COMPARED_CHUNKS = 4
_NEAR_BEST = 0.7
"""Chunks that score below this share of the file's best are never shown before it."""
_NAME_SHARE = 0.5
"""Weight of a definition's name similarity, relative to a chunk's share of the best score."""
_COVERED = 0.9
"""A definition replaces its chunk if it has this share of the chunk's query terms."""
_MOST = 0.8
"""A definition with this share of its chunk's lines replaces it, regardless of the other lines."""
_TESTS = frozenset({"test", "tests"})
_MINOR = frozenset("variable constant field property member key module".split())


class Place(NamedTuple):
    """Lines of one judged file."""

    judged: Judged
    start_line: int
    end_line: int
    symbol: int
    """Position of the definition that these lines contain, -1 if none."""
    score: float
    shares: dict[str, float]
    head: int = -1
    """Position of the longer definition that starts here, if it was asked for."""
    alike: tuple[Place, ...] = ()
    """Near-copies, left out in favour of this place."""
    also: tuple[Place, ...] = ()
    """More places of the file that answer better than other files."""

    @property
    def where(self) -> tuple[bytes, int, int]:
        """Path, first line and last line."""
        return (self.judged.evidence.file.path, self.start_line, self.end_line)


def best(judge: Judged, texts: Texts) -> Place:
    """Return the place in a file that best answers the query."""
    candidate = judge.evidence
    strong = [
        definition
        for definition in candidate.defined
        if definition.symbol.kind not in query_analysis.WEAK
    ]
    if candidate.defined and (candidate.single or candidate.features["spelled"]):
        return of_symbol(
            judge, max(strong or candidate.defined, key=query_analysis.prominence).symbol
        )
    # In a sentence the last part of a name is not enough: `fmt::print` is not any `print`.
    strong = [
        definition
        for definition in strong
        if definition.grade > query_analysis.LAST and not _is_minor(definition.symbol)
    ]
    if strong:
        named = max(strong, key=query_analysis.prominence).symbol
        return of_symbol(judge, named) if _lines(named) <= SYMBOL_LINES else _part_of(judge, named)
    if not candidate.scored.chunks:
        last = candidate.about.lines if candidate.about else 1
        return Place(judge, 1, max(last, 1), -1, judge.score, judge.shares)
    return _of_chunk(judge, next(_in_order(judge)), texts)


def others(judge: Judged, texts: Texts, above: float = 0.0) -> Iterator[Place]:
    """Yield the places of a file whose text scores above a bound, best first."""
    for at in _in_order(judge):
        if judge.evidence.scored.chunks[at][0] > above:
            yield _of_chunk(judge, at, texts)


def of_symbol(judge: Judged, symbol: Definition, shares: dict[str, float] | None = None) -> Place:
    """Return the place of a definition."""
    shares = judge.shares if shares is None else shares
    return Place(
        judge,
        symbol.start_line,
        symbol.end_line,
        symbol.ordinal,
        sum(shares.values()),
        shares,
    )


def overlap(left: Place, right: Place) -> bool:
    """Whether two places of one file share a line."""
    return left.start_line <= right.end_line and right.start_line <= left.end_line


def _part_of(judge: Judged, symbol: Definition) -> Place:
    """Return a part of a long definition: the start of a container, else the best part."""
    candidate = judge.evidence
    for number in [*(at for _, at in candidate.scored.chunks), *range(len(candidate.chunks))]:
        chunk = candidate.chunks[number]
        start, end = max(chunk.start_line, symbol.start_line), min(chunk.end_line, symbol.end_line)
        if start > end or (symbol.kind in query_analysis.CONTAINERS and start != symbol.start_line):
            continue
        end = min(max(end, _end_of(candidate, number)), symbol.end_line, start + SYMBOL_LINES - 1)
        head = symbol.ordinal if start == symbol.start_line else -1
        return Place(judge, start, end, -1, judge.score, judge.shares, head)
    return of_symbol(judge, symbol)


def _end_of(candidate: Evidence, number: int) -> int:
    """Return the last line of a chunk, or of the next one if this is as short as a heading."""
    chunk = candidate.chunks[number]
    if _length(chunk) >= SHORT_LINES or number + 1 >= len(candidate.chunks):
        return chunk.end_line
    following = candidate.chunks[number + 1]
    near = following.start_line - chunk.end_line <= SHORT_LINES
    return min(following.end_line, chunk.start_line + _LENGTHENED) if near else chunk.end_line


def _in_order(judge: Judged) -> Iterator[int]:
    """Yield the positions of the scored chunks: by text, near the best also by names.

    Names order the chunks near the best, in groups of `_COMPARED_CHUNKS`.
    """
    candidate = judge.evidence
    ordered_chunks = candidate.scored.chunks
    top = ordered_chunks[0][0] if ordered_chunks else 0.0
    if top <= 0 or candidate.symbols.best <= 0:
        yield from range(len(ordered_chunks))
        return
    like = _likeness(judge)

    def value(at: int) -> float:
        score, number = ordered_chunks[at]
        return -score / top - _NAME_SHARE * max(map(like, _inside(judge, number)), default=0.0)

    near = sum(score >= _NEAR_BEST * top for score, _ in ordered_chunks)
    for start in range(0, near, _COMPARED_CHUNKS):
        yield from sorted(range(start, min(start + _COMPARED_CHUNKS, near)), key=value)
    yield from range(near, len(ordered_chunks))


def _of_chunk(judge: Judged, at: int, texts: Texts) -> Place:
    """Return a chunk, or its definition that is asked for or has all query terms of the chunk."""
    candidate = judge.evidence
    _, number = candidate.scored.chunks[at]
    chunk = candidate.chunks[number]
    like = _likeness(judge)
    inside = [symbol for symbol in _inside(judge, number) if _lines(symbol) <= SYMBOL_LINES]
    if inside:
        named = max(inside, key=lambda symbol: (like(symbol), _lines(symbol), -symbol.ordinal))
        if like(named) >= ranking_weights.SHOWN_COSINE:
            return of_symbol(judge, named)
    if 0 <= chunk.symbol < len(candidate.definitions):
        own = candidate.definitions[chunk.symbol]
        most = own.start_line < chunk.start_line or _lines(own) >= _MOST * _length(chunk)
        # A namespace around a whole file is less specific than its content.
        if most and own.kind != "module" and _lines(own) <= SYMBOL_LINES:
            return of_symbol(judge, own)
        inside = [symbol for symbol in [own, *inside] if _lines(symbol) <= SYMBOL_LINES]
    covering = _covering_definition(judge, chunk, inside, texts)
    if covering is not None:
        return of_symbol(judge, covering)
    end = _end_of(candidate, number)
    return Place(judge, chunk.start_line, end, -1, judge.score, judge.shares)


def _covering_definition(
    judge: Judged, chunk: ScoredChunk, inside: Sequence[Definition], texts: Texts
) -> Definition | None:
    """Return the shortest definition with nearly all of the chunk's query terms."""
    file = judge.evidence.file
    inside = [symbol for symbol in dict.fromkeys(inside) if not _is_minor(symbol)]
    if not inside:
        return None
    terms_by_line = texts.terms_in(file, chunk.start_line, chunk.end_line)
    whole = texts.weight(set[str]().union(*terms_by_line))
    holding: list[Definition] = []
    for symbol in inside:
        lines = terms_by_line[max(symbol.start_line - chunk.start_line, 0) :][: _lines(symbol)]
        if texts.weight(set[str]().union(*lines)) >= _COVERED * whole:
            holding.append(symbol)
    return min(
        holding, key=lambda definition: (_lines(definition), definition.ordinal), default=None
    )


def _inside(judge: Judged, number: int) -> list[Definition]:
    """Return the definitions that start in a chunk."""
    chunk = judge.evidence.chunks[number]
    return reads.beginning_in(judge.evidence.definitions, chunk.start_line, chunk.end_line)


def _likeness(judge: Judged) -> Callable[[Definition], float]:
    """Return a function that measures the similarity of a definition's name to the query.

    One-line values count half, and so do constructors (the class is meant) and tests inside the
    source they test.
    """
    cosines = judge.evidence.symbols.cosines
    every = judge.evidence.definitions

    def like(symbol: Definition) -> float:
        cosine = cosines[symbol.ordinal] if symbol.ordinal < len(cosines) else 0.0
        if cosine and (_is_minor(symbol) or _is_secondary(symbol, every)):
            cosine *= 0.5
        return cosine

    return like


def _is_secondary(symbol: Definition, every: Sequence[Definition]) -> bool:
    """Whether it is a constructor, a destructor, or inside a container of tests."""
    if symbol.parent < 0:
        return False
    if symbol.name.lstrip("~") == every[symbol.parent].name:
        return True
    at = symbol.parent
    while at >= 0:
        if every[at].name.lower() in _TESTS:
            return True
        at = every[at].parent
    return False


def _is_minor(symbol: Definition) -> bool:
    """Whether it is a one-line value."""
    return symbol.kind in _MINOR and symbol.start_line == symbol.end_line


def _length(chunk: ScoredChunk) -> int:
    return chunk.end_line - chunk.start_line + 1


def _lines(symbol: Definition) -> int:
    return symbol.end_line - symbol.start_line + 1


# Turns places into results, with the reason and the most relevant line of each.


def with_reasons(
    view: Snapshot,
    query: Query,
    terms: Sequence[Weighed],
    places: Sequence[Place],
    texts: Texts,
    *,
    explain: bool,
) -> list[Ranked]:
    """Return results in the order of `places`."""
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
    """Return a place as a result without a reason, a line or explanations."""
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
    """Return `symbol`, `chunk`, or `file` for a file indexed by path alone."""
    if place.symbol >= 0:
        return "symbol"
    return "chunk" if len(place.judged.evidence.chunks) else "file"


def why(place: Place, query: Query, terms: Sequence[Weighed]) -> str:
    """Explain the rank of a place: its strongest reason, and its share of the query's words.

    `defines it`, `defines X`, `part of X`, `defines X at line N`: a name in the query refers to X.
    `name matches`, `file name matches`, `folder name matches`: these resemble the query. `2 of 3
    words`: the file contains this share of the words; left out if it contains all and has another
    reason.
    """
    candidate = place.judged.evidence
    reason = _defines(place)
    if not reason and place.symbol >= 0:
        reason = (
            "name matches"
            if candidate.symbols.cosines[place.symbol] >= ranking_weights.SHOWN_COSINE
            else ""
        )
    if not reason and (candidate.features["stemcov"] or candidate.features["stempfx"]):
        reason = "file name matches"
    if not reason and candidate.features["dircov"]:
        reason = "folder name matches"
    typed = list(dict.fromkeys(query.typed))
    numbers = {term.text: number for number, term in enumerate(terms)}
    present = [
        word
        for word in typed
        if word in numbers and candidate.scored.term_bits >> numbers[word] & 1
    ]
    share = ""
    if len(present) < len(typed) and not (query.single and reason):
        share = f"{len(present)} of {len(typed)} words in it"
    elif present and not reason:
        share = "all words in it" if len(typed) > 1 else "word in it"
    return "; ".join(part for part in (reason, share) if part)


def _is_asked_for(place: Place) -> bool:
    """Whether a place defines the name that is the whole query."""
    return any(
        definition.symbol.ordinal == place.symbol and definition.grade > query_analysis.LAST
        for definition in place.judged.evidence.defined
    )


def _defines(place: Place) -> str:
    """Describe which name of the query the place, or its file elsewhere, defines."""
    defined = place.judged.evidence.defined
    here = next(
        (definition for definition in defined if definition.symbol.ordinal == place.symbol), None
    )
    if here is not None:
        # `it` is the whole query, not one of its words.
        whole = place.judged.evidence.single or place.judged.evidence.features["spelled"]
        return _DEFINES[here.grade] if whole else f"defines {here.symbol.name}"
    strong = [definition for definition in defined if definition.grade > query_analysis.LAST]
    if not strong:
        return ""
    definition = max(strong, key=query_analysis.prominence).symbol
    if place.start_line <= definition.start_line <= place.end_line:
        return f"defines {definition.name}"
    if definition.start_line <= place.start_line and place.end_line <= definition.end_line:
        return f"part of {definition.name}"
    return f"defines {definition.name} at line {definition.start_line}"


DEFINES_IT = "defines it"
_DEFINES = {
    query_analysis.EXACT: DEFINES_IT,
    query_analysis.CONVENTION: "defines it, spelled otherwise",
    query_analysis.LAST: "defines only the last part of the name",
}


def _line(view: Snapshot, place: Place, texts: Texts) -> str:
    file = place.judged.evidence.file
    if file.content is None or not len(place.judged.evidence.chunks):
        return ""
    shown = max(place.symbol, place.head)
    if shown >= 0:
        return reads.signature(view.db, file.content, shown)
    return texts.best_line(file, place.start_line, place.end_line)
