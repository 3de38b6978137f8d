"""Turns judged files into the places to show: order, near-copies, places per file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from codelens.rank import answer_lines, file_definitions, ranking_weights
from codelens.rank.answer_lines import Place
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import Defined, Query
from codelens.rank.scoring import definition_features
from codelens.rank.scoring.candidates import Weighed, family
from codelens.rank.scoring.definition_features import Evidence, Judged
from codelens.rank.search_request import Found, Ranked, Request
from codelens.rank.search_state import Read, Texts
from codelens.store.database.database import Database
from codelens.store.facts import ranking_reads
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.ranking_reads import Definition
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

_LAST_WORD = re.compile(r"\w+\Z", re.ASCII)


def still_there(view: Snapshot, results: Sequence[Ranked], read: Read) -> list[Ranked]:
    """Drop definitions whose name their file no longer contains.

    Reads only files that are newer than the index. Keeps, and marks as stale, definitions whose
    name need not be in the text (an operator, or a name from the path) and those that may only have
    moved.

    Args:
        view: the view; knows which files are stale.
        results: the results in order.
        read: returns a file's current bytes, None if unavailable.
    """
    return [
        ranked
        for ranked in results
        if ranked.symbol < 0
        or ranked.file.path not in view.stale
        or _may_be_there(view, ranked, read)
    ]


def _may_be_there(view: Snapshot, ranked: Ranked, read: Read) -> bool:
    content = ranked.file.content
    assert content is not None  # a file with symbols has content
    match = _LAST_WORD.search(ranking_reads.qualified(view.db, content, ranked.symbol))
    text = read(ranked.file) if match else None
    if match is None or text is None:
        return True
    word = match[0].lower().encode()
    return word in text.lower() or word in ranked.file.path.lower()


# Folds near-copies: of places with nearly the same text only one is shown, and others move up.
#
# Two places are alike when
#
# - they are the same lines of the same content at two paths; or
# - their files are translations of one another (`codelens.rank.scoring.candidates`), and both are
#   definitions of the same name and kind, headings, or lines outside of definitions; or
# - they are definitions of the same name and kind in two files, and the multisets of their words
#   and signs have a Jaccard similarity of `NEARLY`; short ones, where one different word changes
#   the meaning, must be equal and have the same qualified name; or
# - they are not definitions, their files have the same stem, and their texts have a similarity of
#   `NEARLY`; or
# - they are overloads, definitions of the same qualified name in one file, with a similarity of
#   `OVERLOAD`; or
# - one is the prototype of the other, in C and related languages: the definition is shown,
#   regardless of the rank of the prototype.
#
# The bounds were measured on 3,954 pairs of definitions with the same name and about the same
# length in 11 repositories: copies, variants and overloads are above them, definitions that do
# something else are below. Lines outside of definitions must be in files with the same stem, since
# neighbouring files mostly share a licence and imports.
#
# Each place is compared with the earlier places that stay, so the result depends only on their
# order. Folding ends when there are enough places and `LOOKED` times as many were compared. Only
# texts of similar length are read, at most `_TEXTS` of them.

LOOKED = 3
NEARLY = 0.9
OVERLOAD = 0.7
_SHORTEST_TOKENS = 12
"""Shorter texts are bound to be similar, so they do not count as copies."""
_LONG_TOKENS = 60
_LINES_ALIKE = 0.8
_TEXTS = 24
_CALLABLE = frozenset({"function", "method", "constructor"})


class Origin(NamedTuple):
    """Properties of a file that show whether it may be a copy of another."""

    content: int | None
    family: str
    stem: str

    def may_be(self, other: Origin) -> bool:
        """Whether places of the two files may be alike, regardless of their names."""
        return (
            (self.content is not None and self.content == other.content)
            or self.stem == other.stem
            or (self.family != "" and self.family == other.family)
        )


def _origin(judge: Judged) -> Origin:
    """Return the origin of a judged file."""
    candidate = judge.evidence
    path = candidate.file.path
    stem = path.rpartition(b"/")[2].partition(b".")[0].decode("utf-8", "surrogateescape")
    return Origin(candidate.file.content, family(path, prose=candidate.facts.role == "prose"), stem)


class _Compared(NamedTuple):
    place: Place
    origin: Origin
    name: tuple[str, str]
    """Name and kind of the definition; empty for lines and headings."""


def folded(
    db: Database, pairs: Iterable[tuple[Judged, Place | None]], limit: int, texts: Texts
) -> list[Place]:
    """Return the first `limit` distinct places, each with the places like it.

    Args:
        db: the store.
        pairs: files in order, each with a place, or None for its best place. Finding that reads
            the text: once there are enough places, it happens only if the file may be a copy of
            one of them.
        limit: maximum number of places.
        texts: the texts of the query.
    """
    compare = _Comparison(db, texts)
    distinct_results: list[_Compared] = []
    groups: list[list[Place]] = []
    for number, (judge, chosen) in enumerate(pairs):
        full = len(distinct_results) >= limit
        if full and number >= LOOKED * limit:
            break
        origin = _origin(judge)
        if (
            chosen is None
            and full
            and not any(origin.may_be(other.origin) for other in distinct_results)
        ):
            continue
        place = answer_lines.best(judge, texts) if chosen is None else chosen
        result = _Compared(place, origin, _name(place))
        at = next(
            (at for at, other in enumerate(distinct_results) if compare.alike(other, result)), -1
        )
        if (
            at >= 0
            and compare.is_prototype(distinct_results[at])
            and not compare.is_prototype(result)
        ):
            groups[at].append(distinct_results[at].place)
            distinct_results[at] = result._replace(
                place=_in_stead(place, distinct_results[at].place)
            )
        elif at >= 0:
            groups[at].append(place)
        elif not full:
            distinct_results.append(result)
            groups.append([])
    return [
        result.place._replace(alike=tuple(group)) if group else result.place
        for result, group in zip(distinct_results, groups, strict=True)
    ]


def _in_stead(definition: Place, prototype: Place) -> Place:
    """Return a definition with the score of its prototype, which ranked above it."""
    return definition._replace(score=prototype.score, shares=prototype.shares)


def _name(place: Place) -> tuple[str, str]:
    definitions = place.judged.evidence.definitions
    if not 0 <= place.symbol < len(definitions) or definitions[place.symbol].kind == "heading":
        return ("", "")
    return (definitions[place.symbol].name, definitions[place.symbol].kind)


class _Comparison:
    """Compares places within a limit of texts to read."""

    def __init__(self, db: Database, texts: Texts) -> None:
        self._db = db
        self._texts = texts
        self._read: dict[tuple[bytes, int, int], Counter[bytes]] = {}

    def alike(self, left: _Compared, right: _Compared) -> bool:
        """Whether two places are alike; False if the limit of texts is reached."""
        a, b = left.place, right.place
        if _file(a).path == _file(b).path:
            named = bool(left.name[0]) and left.name == right.name
            return named and self._texts_alike(a, b, OVERLOAD) and self._one_name(a, b)
        if left.origin.content is not None and left.origin.content == right.origin.content:
            return (a.start_line, a.end_line) == (b.start_line, b.end_line)
        if left.name != right.name:
            return False
        if left.origin.family and left.origin.family == right.origin.family:
            return True
        if self.is_prototype(left) != self.is_prototype(right) and self._one_name(a, b):
            return True
        if not left.name[0]:
            return left.origin.stem == right.origin.stem and self._texts_alike(a, b, NEARLY)
        if not self._texts_alike(a, b, NEARLY):
            return False
        counts, other = self._tokens(a), self._tokens(b)
        return min(counts.total(), other.total()) >= _LONG_TOKENS or (
            counts == other and self._one_name(a, b)
        )

    def is_prototype(self, result: _Compared) -> bool:
        """Whether a place declares a function without its body."""
        place = result.place
        about = place.judged.evidence.about
        if result.name[1] not in _CALLABLE or about is None:
            return False
        # Late import: few answers have two similar places of which one may be a prototype.
        from codelens.resolve.languages.registry import spec_of

        if not spec_of(about.language).prototypes:
            return False
        text = b"\n".join(self._texts.lines(_file(place), place.start_line, place.end_line))
        return b"{" not in text and text.rstrip().endswith(b";")

    def _texts_alike(self, a: Place, b: Place, least: float) -> bool:
        lines, others = a.end_line - a.start_line + 1, b.end_line - b.start_line + 1
        if min(lines, others) < min(least, _LINES_ALIKE) * max(lines, others):
            return False
        counts, other = self._tokens(a), self._tokens(b)
        if min(counts.total(), other.total()) < _SHORTEST_TOKENS:
            return False
        return (counts & other).total() >= least * (counts | other).total()

    def _one_name(self, a: Place, b: Place) -> bool:
        names = {
            reads.qualified(self._db, _file(place).content or 0, place.symbol) for place in (a, b)
        }
        return len(names) == 1

    def _tokens(self, place: Place) -> Counter[bytes]:
        counts = self._read.get(place.where)
        if counts is None:
            if len(self._read) >= _TEXTS:
                return Counter()
            counts = self._texts.tokens(_file(place), place.start_line, place.end_line)
            self._read[place.where] = counts
        return counts


def _file(place: Place) -> FileRow:
    return place.judged.evidence.file


# Arranges judged files into the places that are shown: their order, folding, and how many per file.

__all__ = ["Place", "arranged"]

_REFILLED_FILES = 3
_SAME_FILE = 3
_ALSO = 2
"""Number of further places named with the first place of a file."""
_AS_GOOD = 0.75
"""Minimum score of their text, as a share of the file's best."""
_BEHIND = 1.0
"""Minimum penalty of a role whose definitions come after all others."""
_FIRST = 3
"""Only the first results have further places; few users read them at lower results."""


def arranged(
    view: Snapshot,
    judged: Sequence[Judged],
    request: Request,
    query: Query,
    *,
    terms: Sequence[Weighed],
    texts: Texts,
) -> list[Place]:
    """Return the places to show, with near-copies folded, up to the request's limit."""
    alone = request.mode == "symbol" or bool(request.kinds)
    # Half as many again, since some will be folded; later files are shown by their text.
    ready = definition_features.judged_with_definitions(
        view, judged, len(judged) if alone else request.limit * 3 // 2
    )
    if alone:
        pairs = [(place.judged, place) for place in by_definition(ready, frozenset(request.kinds))]
        request.note_found((judge.evidence.file.path_id, place.symbol) for judge, place in pairs)
    elif query.single:
        pairs = list(by_name(ready, query))
        request.note_found(_answering(ready))
    else:
        request.note_found((scored.evidence.file.path_id, -1) for scored in ready)
        inside = file_definitions.places_of_files(ready, query, terms, texts)
        # A quoted phrase decides the order of files before their scores.
        ready = ready if query.phrases else file_definitions.raised(ready, inside)
        shown = folded(view.db, file_definitions.with_places(ready, inside), request.limit, texts)
        if len(shown) < request.limit:
            shown += _refill(ready, shown, request.limit - len(shown), texts)
        return file_definitions.with_also(shown, inside)
    shown = folded(view.db, pairs, request.limit, texts)
    if alone:
        return shown
    if len(shown) < request.limit:
        shown += _refill(ready, shown, request.limit - len(shown), texts)
    return with_also(ready, shown, texts)


def _refill(
    judged: Sequence[Judged], shown: Sequence[Place], missing: int, texts: Texts
) -> list[Place]:
    """Return more places of the first files if there are too few files."""
    seen = [place.where for result in shown for place in (result, *result.alike)]
    copies = {path for place in shown for path, _, _ in (other.where for other in place.alike)}
    chosen: list[Place] = []
    for scored in judged[:_REFILLED_FILES]:
        if scored.evidence.file.path in copies:
            continue
        for place in answer_lines.others(scored, texts):
            if len(chosen) >= missing:
                return chosen
            if place.where not in seen:
                seen.append(place.where)
                chosen.append(place)
    return chosen


def with_also(judged: Sequence[Judged], shown: Sequence[Place], texts: Texts) -> list[Place]:
    """Add further texts of the best file that score above all other files."""
    tops = sorted(
        ((scored.evidence.scored.chunks[0][0], scored.evidence.file.path_id)
         for scored in judged if scored.evidence.scored.chunks),
        reverse=True,
    )  # fmt: skip
    if len(tops) < 2:
        return list(shown)
    # Only the file with the best text can have a second text above all other files.
    (top, best), (second, _) = tops[:2]
    floor = max(second, _AS_GOOD * top)
    for at, place in enumerate(shown[:_FIRST]):
        if place.judged.evidence.file.path_id == best:
            also = tuple(islice(_further(place, shown, floor, texts), _ALSO))
            return [*shown[:at], place._replace(also=also), *shown[at + 1 :]]
    return list(shown)


def _further(place: Place, shown: Sequence[Place], floor: float, texts: Texts) -> Iterator[Place]:
    path = place.judged.evidence.file.path
    seen = [further for further in shown if further.judged.evidence.file.path == path]
    for further in answer_lines.others(place.judged, texts, floor):
        if not any(answer_lines.overlap(further, other) for other in seen):
            seen.append(further)
            yield further


def by_name(judged: Sequence[Judged], query: Query) -> Iterator[tuple[Judged, Place | None]]:
    """Yield the definitions that the query names: as typed, then in other conventions.

    Top-level definitions come before members; then the order of files decides.

    Files without such definitions follow. Definitions in tests, examples and the like come between
    the two, unless the query asks for such files; if the code has a field or a property of that
    name, they come last.
    """
    down = ranking_weights.pushed_down(True, query.roles)
    named: list[tuple[tuple[int, bool, bool, int, int], Place]] = []
    behind: list[tuple[tuple[int, bool, bool, int, int], Place]] = []
    rest: list[tuple[Judged, Place | None]] = []
    typed = {name.parts[-1] for name in query.names}
    has_member = False
    for at, judge in enumerate(judged):
        pushed = down.get(definition_features.role_of(judge.evidence), 0.0) >= _BEHIND
        strong = _named_definitions(judge)
        for order, (definition, place) in enumerate(strong):
            inner = (
                definition.symbol.parent >= 0
                and definition.symbol.kind not in query_analysis.CONTAINERS
            )
            key = (-definition.grade, definition.symbol.name not in typed, inner, at, order)
            (behind if pushed else named).append((key, place))
        if not strong:
            has_member = has_member or (not pushed and _is_member(judge))
            rest.append((judge, None))
    for every in (named, behind):
        every.sort(key=lambda row: row[0])
    yield from ((place.judged, place) for _, place in named)
    last = [(place.judged, place) for _, place in behind]
    yield from (*rest, *last) if has_member else (*last, *rest)


def _answering(judged: Sequence[Judged]) -> Iterator[Found]:
    """Yield the definitions that the query names, and the files without any."""
    for judge in judged:
        number = judge.evidence.file.path_id
        named = [(number, definition.symbol.ordinal) for definition in _strong(judge)]
        yield from named or [(number, -1)]


def _is_member(judge: Judged) -> bool:
    """Whether a file has a field or similar with exactly the name in the query."""
    return any(
        definition.grade == query_analysis.EXACT
        and definition.symbol.kind in query_analysis.MEMBERS
        for definition in judge.evidence.defined
    )


def by_definition(judged: Sequence[Judged], kinds: frozenset[str]) -> list[Place]:
    """Return definitions only, of `kinds` if given, by name, file and text."""
    numbered_places: list[tuple[int, Place]] = []
    for judge in judged:
        grades = {
            definition.symbol.ordinal: definition.grade for definition in judge.evidence.defined
        }
        for place, like in _definitions(judge, kinds):
            grade = grades.get(place.symbol, 0)
            if grade or like >= ranking_weights.SYMBOL_COSINE or kinds:
                numbered_places.append((grade, place))
    numbered_places.sort(
        key=lambda row: (
            -row[0], -row[1].score, row[1].judged.evidence.file.path, row[1].start_line
        )
    )  # fmt: skip
    return [place for _, place in numbered_places]


def _definitions(judge: Judged, kinds: frozenset[str]) -> Iterator[tuple[Place, float]]:
    candidate = judge.evidence
    for number, symbol in enumerate(candidate.definitions):
        if kinds and symbol.kind not in kinds:
            continue
        like = candidate.symbols.cosines[number]
        text = _text_share(candidate, symbol)
        if like or text:
            shares = {
                **judge.shares,
                "symbol": ranking_weights.DEFINITION_NAME * like,
                "symbol_text": ranking_weights.DEFINITION_TEXT * text,
            }
            yield answer_lines.of_symbol(judge, symbol, shares), like


def _text_share(candidate: Evidence, symbol: Definition) -> float:
    """Return the score of the definition's best chunk, as a share of the file's best."""
    for chunk_score, number in candidate.scored.chunks:
        chunk = candidate.chunks[number]
        if chunk.start_line <= symbol.end_line and symbol.start_line <= chunk.end_line:
            return (
                chunk_score / candidate.scored.chunks[0][0]
                if candidate.scored.chunks[0][0]
                else 0.0
            )
    return 0.0


def _named_definitions(judge: Judged) -> list[tuple[Defined, Place]]:
    """Return the strongest definitions of a file that the query names."""
    strong = sorted(_strong(judge), key=query_analysis.prominence, reverse=True)
    return [
        (definition, answer_lines.of_symbol(judge, definition.symbol))
        for definition in strong[:_SAME_FILE]
    ]


def _strong(judge: Judged) -> list[Defined]:
    return [
        definition
        for definition in judge.evidence.defined
        if definition.symbol.kind not in query_analysis.WEAK
    ]
