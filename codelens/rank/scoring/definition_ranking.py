"""Ranks the definitions of the best files of code as answers to a question.

Terms get other weights here than for files. A file answers if it contains many of the words; which
of its definitions answers depends on the words that the query repeats, and on those of its first
line, since the rest of a message only explains it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from operator import mul
from typing import NamedTuple

from codelens.extract.tokenizer import terms_of_text, terms_of_word
from codelens.rank import ranking_weights
from codelens.rank.answer_lines import Place
from codelens.rank.query import query_analysis
from codelens.rank.query.query_analysis import Query
from codelens.rank.ranking_weights import K1
from codelens.rank.scoring import body_terms, definition_features, file_features
from codelens.rank.scoring.body_terms import BodyTerms, LineWeights, TermNumbers
from codelens.rank.scoring.candidates import Weighed
from codelens.rank.scoring.definition_features import Judged
from codelens.rank.scoring.definition_wording import Wording
from codelens.rank.scoring.file_features import PathQuery as Question
from codelens.rank.scoring.sibling_versions import Versions
from codelens.rank.search_state import Texts
from codelens.store.facts import ranking_reads as reads
from codelens.store.facts.ranking_reads import Definition


def emphasised(query: Query, terms: Sequence[Weighed]) -> list[Weighed]:
    """Weigh the terms, in order, for the bodies of definitions.

    The logarithm is the usual damping of a term's frequency (Salton and Buckley, "Term-weighting
    approaches in automatic text retrieval", 1988).
    """
    times = Counter(term for word in query.words for term in terms_of_word(word))
    first_line, _, rest = query.text.partition("\n")
    leading = frozenset(terms_of_text(first_line if rest else ""))

    def emphasis(term: str) -> float:
        damped = 1.0 + math.log(max(times[term], 1))
        return damped * (ranking_weights.LEADING_LINE if term in leading else 1.0)

    return [term._replace(weight=term.weight * emphasis(term.text)) for term in terms]


# Decides what to show for a definition that is part of another: a field, alias, constructor.

_PARTS = frozenset({"field", "property", "member", "constant", "variable", "type"})
_SHORT = 3
_CONSTRUCTORS = frozenset("__init__ __new__ __construct constructor initialize init new".split())
_TESTS = frozenset({"test", "tests"})
_ASKED = 0.75
"""Minimum similarity of a name that the words of a query ask for."""


def is_part_shown_alone(at: int, every: Sequence[Definition], like: float, grade: int) -> bool:
    """Whether a definition inside another is an answer by itself.

    A part of a type (field, alias, enum member, constructor) is an answer only if the query asks
    for it by name, or by all words of its name.
    """
    symbol = every[at]
    if every[symbol.parent].kind not in query_analysis.CONTAINERS:
        return True
    if every[symbol.parent].kind == "module":
        return True
    if grade > query_analysis.LAST or like >= _ASKED:
        return not is_constructor(at, every) or grade > query_analysis.LAST
    if is_constructor(at, every):
        return symbol.end_line - every[symbol.parent].start_line >= _LONG_OWNER
    return symbol.kind not in _PARTS or symbol.end_line - symbol.start_line >= _SHORT


def is_part(at: int, every: Sequence[Definition]) -> bool:
    """Whether a definition is a short part of a type: a field, an alias, an enum member."""
    symbol = every[at]
    return (
        symbol.parent >= 0
        and symbol.kind in _PARTS
        and symbol.end_line - symbol.start_line < _SHORT
    )


_LONG_OWNER = 80
"""A constructor that ends this far below the start of its type is shown instead of the type, which
would not fit an answer."""


def tests_in_source(every: Sequence[Definition]) -> set[int]:
    """Return the definitions inside a container of tests, in the source that they test."""
    inner_tests: set[int] = set()
    for at, symbol in enumerate(every):
        is_container = symbol.kind in query_analysis.CONTAINERS and symbol.name.lower() in _TESTS
        if is_container or symbol.parent in inner_tests:
            inner_tests.add(at)
    return inner_tests


def is_empty(at: int, every: Sequence[Definition]) -> bool:
    """Whether no other definition is inside this one."""
    return not (at + 1 < len(every) and every[at + 1].parent == at)


def is_constructor(at: int, every: Sequence[Definition]) -> bool:
    """Whether a definition is a constructor or destructor of the type around it."""
    symbol = every[at]
    if symbol.parent < 0:
        return False
    owner = every[symbol.parent]
    return symbol.kind != "property" and (
        symbol.name.lstrip("~") == owner.name or symbol.name in _CONSTRUCTORS
    )


def owner_of(at: int, every: Sequence[Definition]) -> int:
    """Return the innermost enclosing definition that is an answer by itself."""
    return every[at].parent


# Ranks all definitions of the best files of code as answers to a question.
#
# File ranking mostly finds the right file, but chunks cannot locate the place in it. So every
# definition of the best files gets a score from the score of its file, BM25 of its body with the
# comment above it, its line with most of the query, the similarity of its name and its owner's,
# whether it contains the file's best place, and whether the query names it or its owner. For a
# task, types and values lose a little. Prose and data count only if the query asks for them, and
# tests that it asks for rank below the code that they test.

FILES = 30
"""Number of files whose definitions are ranked."""
_PROMISING = 8
"""Number of definitions of each file whose wording is compared."""
_LONGEST = 20_000
"""Maximum number of lines of a file that are read."""
_PART_NAME = 0.5
"""Weight of the name of a field or an alias: a sentence mostly means its type."""
_SHORTEST = 8
"""Minimum length of a definition in BM25: a one-line definition with a term need not be about
it."""
_NO_BODY = frozenset({"heading", "key"})
_VALUES = frozenset("field property member constant variable type key".split())
TOP_LEVEL = -1
"""Replaces a definition for lines outside of any definition."""


class RankedDefinition(NamedTuple):
    """A definition of a judged file with its own score."""

    judged: Judged
    symbol: int
    """Position among the file's definitions, or `TOP_LEVEL`."""
    start_line: int
    """First line, including the comment above."""
    name_line: int
    """First line of the definition itself."""
    end_line: int
    score: float
    wording: float
    """How much its doc and its lines say the question in the same words, from 0 to 1."""

    @property
    def definition(self) -> Definition:
        """The definition; only for rows with one."""
        return self.judged.evidence.definitions[self.symbol]

    @property
    def is_named(self) -> bool:
        """Whether the query names the definition itself."""
        return any(
            row.symbol.ordinal == self.symbol and row.grade > query_analysis.LAST
            for row in self.judged.evidence.defined
        )


class _Comparison(NamedTuple):
    """A query in the form for comparing definitions."""

    question: Question
    bodies: Sequence[Weighed]
    """Terms weighed for bodies."""
    weights: Sequence[float]
    """Weights of its terms as for files."""
    numbers: TermNumbers
    tests: bool
    """Whether the query asks for tests."""


_FEATURES = (*ranking_weights.DEFINITIONS, *ranking_weights.TASK_DEFINITIONS)
"""Features of a definition, in the order in which the parts of its score are added."""
(
    _FILE, _BODY, _LINE, _NAME, _OWNER, _NAMED, _WITHIN, _PLACE, _TOP, _TEST, _SUMMARY, _NEIGHBOURS,
    _SUPERSEDED, _CONTAINER, _VALUE, _ASIDE, _DECLARED,
) = map(
    _FEATURES.index,
    "file body line name owner named within place top test summary neighbours "
    "superseded container value aside declared".split(),
)  # fmt: skip
_OF_ITSELF = (_WITHIN, _CONTAINER, _VALUE, _SUPERSEDED)
"""Features that a definition does not inherit from its parts."""


class _Text(NamedTuple):
    """A judged file and the positions of the query's terms in it."""

    scored: Judged
    counts: BodyTerms
    heaviest: LineWeights
    place: tuple[int, int] | None
    """Lines of the place chosen by chunks."""
    usual: list[float]
    """Values of the features for any line of the file."""

    def values_of(self, start: int, end: int, inside: Mapping[int, int]) -> list[float]:
        """Compute the features of lines that contain at most these terms."""
        values = self.usual.copy()
        if self.place is not None:
            values[_PLACE] = _overlap(self.place, start, end)
        if inside:
            values[_LINE] = self.heaviest.best(start, end)
        return values


class _File(NamedTuple):
    """The definitions of a judged file, prepared for the comparison."""

    text: _Text
    every: Sequence[Definition]
    first: Sequence[int]
    """First line of each definition, including the comment above."""
    like: Sequence[float]
    within: Sequence[bool]
    bodies: Sequence[Weighed]
    plain: dict[str, list[float]]
    """Kind -> the shared features of all definitions unrelated to the query; grows."""

    def values_of(self, at: int, symbol: Definition, grade: int) -> list[float]:
        """Compute the features of a definition; none if its lines have none."""
        text, every, first, like, within, bodies, _ = self
        _, _, kind, start, end, parent = symbol
        inside = text.counts.inside(first[at], end)
        is_container = kind in query_analysis.CONTAINERS
        if not inside and grade <= query_analysis.LAST and self._is_plain(at, symbol):
            return self._plain_values(kind)
        values = text.values_of(start, end, inside)
        if inside:
            size = end - first[at] + 1
            if is_container:
                inside, size = _own(at, every, first, text.counts, inside=inside, size=size)
            values[_BODY] = _bm25(inside, size, bodies)
        if like[at]:
            values[_NAME] = like[at] * (_PART_NAME if is_part(at, every) else 1.0)
        if parent >= 0:
            values[_OWNER] = like[parent]
            values[_WITHIN] = float(within[at])
        if grade > query_analysis.LAST:
            values[_NAMED] = 1.0
        if is_container:
            values[_CONTAINER] = 1.0
        if kind in _VALUES:
            values[_VALUE] = 1.0
        return values

    def _is_plain(self, at: int, symbol: Definition) -> bool:
        """Whether names and place of a definition without terms are unrelated to the query."""
        parent, place = symbol.parent, self.text.place
        if self.like[at] or (parent >= 0 and (self.like[parent] or self.within[at])):
            return False
        return place is None or symbol.end_line < place[0] or place[1] < symbol.start_line

    def _plain_values(self, kind: str) -> list[float]:
        values = self.plain.get(kind)
        if values is None:
            values = self.plain[kind] = self.text.usual.copy()
            values[_CONTAINER] = float(kind in query_analysis.CONTAINERS)
            values[_VALUE] = float(kind in _VALUES)
        return values


def _usual(scored: Judged, prior: float) -> list[float]:
    values = [0.0] * len(_FEATURES)
    values[_FILE] = prior
    role = definition_features.role_of(scored.evidence)
    values[_TEST] = float(role == "test")
    values[_ASIDE] = float(role in _ASIDE_ROLES)
    values[_DECLARED] = float(scored.evidence.file.path.endswith(_DECLARATIONS))
    return values


_ASIDE_ROLES = frozenset({"generated", "example"})
_DECLARATIONS = (b".d.ts", b".d.mts", b".d.cts", b".pyi", b".rbi")
"""Files of declarations without bodies."""


class _Features(NamedTuple):
    judged: Judged
    symbol: int
    start_line: int
    name_line: int
    end_line: int
    values: list[float]
    by_line: Mapping[int, Set[int]]
    """Line of the file -> its terms, for lines with terms."""
    lines: Sequence[str] = ()
    """All lines of the file; only for rows with a definition."""


def ranked(
    judged: Sequence[Judged],
    query: Query,
    terms: Sequence[Weighed],
    texts: Texts,
    chosen: Mapping[int, Place],
    *,
    task: bool = False,
) -> Iterator[RankedDefinition]:
    """Rank the definitions of files, best first; ties are broken by path and line.

    Args:
        judged: files with their definitions, judged by the same query and terms; best first.
        query: the query.
        terms: its weighed terms.
        texts: provides the lines of files.
        chosen: path id -> the place chosen by chunks.
        task: whether the query says what to do, not what to find.
    """
    comparison = _Comparison(
        file_features.path_query(terms, query.typed, query.whole),
        emphasised(query, terms),
        [term.weight for term in terms],
        TermNumbers([term.text for term in terms]),
        "test" in query.roles,
    )
    top = max((scored.score for scored in judged), default=0.0)
    features: list[_Features] = []
    versions = Versions((scored.evidence for scored in judged), query)
    for scored in judged:
        prior = max(scored.score, 0.0) / top if top > 0 else 0.0
        best_place = chosen.get(scored.evidence.file.path_id)
        place = (best_place.start_line, best_place.end_line) if best_place else None
        rows = _of_file(scored, prior, comparison, texts=texts, place=place)
        superseded = versions.superseded_definitions(scored.evidence)
        features += _marked(rows, superseded) if superseded else rows
    with_terms = [row.values for row in features if row.values[_LINE] or row.values[_BODY]]
    for feature in (_BODY, _LINE):
        best = max((values[feature] for values in with_terms), default=0.0) or 1.0
        for values in with_terms:
            values[feature] /= best
    counted = {
        **ranking_weights.DEFINITIONS,
        **(ranking_weights.TASK_DEFINITIONS if task else {}),
    }
    weights = [counted.get(name, 0.0) for name in _FEATURES]
    if not task:
        wording = Wording(query, terms, comparison.numbers)
        _compare_wording(_in_order(features, weights), features, wording)
    order = _in_order(features, weights)
    return (
        RankedDefinition(*features[at][:5], score, _wording(features[at].values))
        for at, score in order
    )


def _marked(rows: Iterable[_Features], superseded: Set[int]) -> Iterator[_Features]:
    """Yield the rows with the feature of those that have a newer version."""
    for row in rows:
        if row.symbol in superseded:
            values = row.values.copy()  # Definitions without terms share their features.
            values[_SUPERSEDED] = 1.0
            yield row._replace(values=values)
        else:
            yield row


def _wording(values: Sequence[float]) -> float:
    """Return nearly 0 unless the summary has most words of the question, some as neighbours."""
    return values[_SUMMARY] ** 2 * values[_NEIGHBOURS]


def _compare_wording(
    order: Iterable[tuple[int, float]], features: Sequence[_Features], wording: Wording
) -> None:
    """Add the features of wording to the most promising definitions of each file."""
    compared = Counter[int]()
    for at, _ in order:
        row = features[at]
        file, values = row.judged.evidence.file, row.values
        # Definitions without terms share their features.
        if row.symbol < 0 or not (values[_BODY] or values[_NAME]):
            continue
        compared[file.path_id] += 1
        if compared[file.path_id] > _PROMISING:
            continue
        definition = row.judged.evidence.definitions[row.symbol]
        doc = reads.doc_of(row.judged.evidence.definitions, row.symbol)
        # The name of a short value does not answer, only what its doc says.
        is_value = definition.kind in _VALUES and row.end_line - row.name_line < _SHORT
        values[_SUMMARY] = wording.summary(doc, "" if is_value else definition.name)
        values[_NEIGHBOURS] = wording.neighbours(
            row.lines,
            row.by_line,
            row.start_line,
            row.name_line - 1 if is_value else row.end_line,
        )


def _in_order(
    features: Sequence[_Features], weights: Sequence[float]
) -> Iterator[tuple[int, float]]:
    """Yield the positions of the definitions and their scores, best first."""
    # Definitions unrelated to the query share their features within a file.
    values_by_id = {id(row.values): row.values for row in features}
    scores = {at: -sum(map(mul, weights, values)) for at, values in values_by_id.items()}
    # Tuples instead of a key, which costs a call for each.
    order = sorted(
        (scores[id(row.values)], row.judged.evidence.file.path, row.name_line, at)
        for at, row in enumerate(features)
    )
    return ((at, -negative) for negative, _, _, at in order)


def code_files(judged: Sequence[Judged], query: Query, most: int = FILES) -> list[Judged]:
    """Return the best files of code, without roles whose penalty excludes answers."""
    down = ranking_weights.pushed_down(False, query.roles, about_tests=query.about_tests)
    return [
        scored
        for scored in judged
        if down.get(definition_features.role_of(scored.evidence), 0.0) < ranking_weights.NO_BODIES
        and scored.evidence.about is not None
        and scored.evidence.about.language not in ranking_weights.PROSE_AND_DATA
    ][:most]


def _of_file(
    scored: Judged,
    prior: float,
    comparison: _Comparison,
    *,
    texts: Texts,
    place: tuple[int, int] | None,
) -> Iterator[_Features]:
    lines = texts.decoded(scored.evidence.file)[:_LONGEST]
    # Definitions beyond the lines that are read do not count.
    definitions = scored.evidence.definitions
    every = [symbol for symbol in definitions if symbol.start_line <= len(lines)]
    seen: dict[int, int] = {}
    first = [body_terms.comment_start(lines, symbol.start_line, seen) for symbol in every]
    gaps = list(body_terms.gaps(every, first, len(lines)))
    borders = body_terms.borders_of(every, first, gaps)
    chunks = scored.evidence.chunks
    hit = sorted(
        (chunks[at].start_line, chunks[at].end_line) for _, at in scored.evidence.scored.chunks
    )
    counts = BodyTerms(lines, borders, hit, comparison.numbers)
    heaviest = LineWeights(counts.by_line, comparison.weights)
    text = _Text(scored, counts, heaviest, place, _usual(scored, prior))
    like = _likeness(scored, every, comparison.question)
    named = {row.symbol.ordinal: row.grade for row in scored.evidence.defined}
    file = _File(text, every, first, like, _in_named(every, named), comparison.bodies, {})
    inner_tests = set[int]() if comparison.tests else tests_in_source(every)
    rows: dict[int, _Features] = {}
    for at, symbol in enumerate(every):
        grade = named.get(at, 0)
        if symbol.kind in _NO_BODY or at in inner_tests:
            continue
        if symbol.kind == "module" and grade <= query_analysis.LAST and is_empty(at, every):
            continue
        values = file.values_of(at, symbol, grade)
        shown = at
        if symbol.parent >= 0 and not is_part_shown_alone(at, every, like[at], grade):
            shown = owner_of(at, every)
        row = rows.get(shown)
        if row is None:
            owner = every[shown]
            rows[shown] = _Features(
                scored,
                shown,
                first[shown],
                owner.start_line,
                owner.end_line,
                values,
                counts.by_line,
                lines,
            )
        elif values is not file.plain.get(symbol.kind):
            rows[shown] = row._replace(values=_with_part(row.values, values))
    yield from rows.values()
    yield from _top_level(text, gaps, comparison.bodies)


def _in_named(every: Sequence[Definition], named: Mapping[int, int]) -> list[bool]:
    """Return for each definition whether it is inside one that the query names."""
    within: list[bool] = []
    for symbol in every:
        around = symbol.parent
        within.append(
            around >= 0 and (within[around] or named.get(around, 0) > query_analysis.LAST)
        )
    return within


def _with_part(values: Sequence[float], of_part: Sequence[float]) -> list[float]:
    """Merge the features of a definition and of its part that is not shown by itself."""
    more = list(map(max, values, of_part))
    for feature in _OF_ITSELF:
        more[feature] = values[feature]
    return more


def _top_level(
    text: _Text, gaps: Sequence[tuple[int, int]], terms: Sequence[Weighed]
) -> Iterator[_Features]:
    """Yield rows for the lines with terms between definitions."""
    for start, end in gaps:
        inside = text.counts.inside(start, end)
        body = _bm25(inside, end - start + 1, terms)
        if body > 0:
            values = text.values_of(start, end, inside)
            values[_BODY], values[_TOP] = body, 1.0
            yield _Features(text.scored, TOP_LEVEL, start, start, end, values, text.counts.by_line)


def _likeness(scored: Judged, every: Sequence[Definition], question: Question) -> Sequence[float]:
    """Return the similarity of each name to the query, reusing that of the judged file if known."""
    match = scored.evidence.symbols
    return (
        match.cosines
        if match.best > 0
        else definition_features.match_symbols(every, question).cosines
    )


def _own(
    at: int,
    every: Sequence[Definition],
    first: Sequence[int],
    counts: BodyTerms,
    *,
    inside: dict[int, int],
    size: int,
) -> tuple[dict[int, int], int]:
    """Return a container's counts and lines without its inner definitions with bodies."""
    own = dict(inside)
    stop = every[at].end_line
    seen = 0
    for inner in range(at + 1, len(every)):
        definition = every[inner]
        if definition.start_line > stop:
            break
        if (
            definition.start_line <= seen
            or definition.end_line == definition.start_line
            or definition.end_line > stop
        ):
            continue
        seen = definition.end_line
        size -= definition.end_line - first[inner] + 1
        for number, count in counts.inside(first[inner], definition.end_line).items():
            own[number] = own.get(number, 0) - count
    return {number: count for number, count in own.items() if count > 0}, max(size, 1)


def _bm25(counts: Mapping[int, int], lines: int, terms: Sequence[Weighed]) -> float:
    flat = ranking_weights.DEFINITION_B
    size = max(lines, _SHORTEST) / ranking_weights.TYPICAL_DEFINITION_LINES
    norm = K1 * (1.0 - flat + flat * size)
    total = 0.0
    for number in sorted(counts):
        count = counts[number]
        total += terms[number].weight * (K1 + 1.0) * count / (count + norm)
    return total


def _overlap(place: tuple[int, int], start: int, end: int) -> float:
    """Return the overlap of a chosen place and some lines, as a share of both."""
    low, high = max(place[0], start), min(place[1], end)
    if high < low:
        return 0.0
    return (high - low + 1) / (max(place[1], end) - min(place[0], start) + 1)
