"""Selects what a capsule may show: definitions, their graph neighbours, and matching tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from codelens import capsule
from codelens.answers.reading_answers import NamedDefinition, NamedFile
from codelens.capsule import WHOLE_LINES, Candidate, Direction, Part, Shown
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.extract.tokenizer import terms_of_word
from codelens.handles.handle_grammar import ShortNames, handle_among, lines_handle
from codelens.paths import printed
from codelens.rank.definition_search import Definitions
from codelens.rank.query.query_analysis import CONTAINERS
from codelens.rank.scoring import body_terms
from codelens.rank.scoring.definition_ranking import RankedDefinition
from codelens.render import explore_text
from codelens.resolve.walk.edge_table import Node
from codelens.resolve.walk.named_tests import to_run
from codelens.resolve.walk.relation_walk import own_symbols
from codelens.store.facts import postings
from codelens.store.views.snapshot import Snapshot
from codelens.types import Symbol

_FILES, _TESTS_A_FILE = 12, 3
"""Number of best files for which tests are matched by path."""
_DEFINITIONS, _SHORTEST_NAME = 8, 4
"""Number of best definitions; minimum letters of a name that identifies its definition."""
_FALL = 3.0
"""Rank decay: the first counts 1, the one at position N counts 1 / (1 + N / 3)."""
_SUPPORT = 0.5
"""Weight of a test file without runnable tests, such as a fixture."""


def tests_of(view: CurrentView, graph: LazyGraph, definitions: Definitions) -> list[NamedFile]:
    """Test files for the answer of a task, best first.

    Includes tests whose text matches, tests whose paths match the best files, and tests that name
    one of the best definitions; the more tests name it, the less each of them counts. The weights
    were compared on the commits of docs/explore.md.
    """
    values: dict[bytes, float] = {}
    every = graph.test_files()
    tests = frozenset(every)
    run = to_run(every)
    answering = [
        judged.evidence.file.path
        for judged in definitions.judged
        if judged.evidence.file.path in tests
    ]
    for place, path in enumerate(answering):
        _add(values, [path], _falling(place) * (1.0 if path in run else _SUPPORT))
    best = dict.fromkeys(row.judged.evidence.file.path for row in definitions.rows)
    for place, path in zip(range(_FILES), best, strict=False):
        _add(values, graph.tests_named_for(path)[:_TESTS_A_FILE], _falling(place))
    for place, naming in enumerate(_naming(view.snapshot, definitions, tests)):
        if naming:
            _add(values, naming, _falling(place) / len(naming) ** 0.5)
    ordered = sorted(values, key=lambda path: (-values[path], path))
    return [NamedFile(printed(path)) for path in ordered]


def _falling(place: int) -> float:
    return _FALL / (_FALL + place)


def _add(values: dict[bytes, float], paths: Iterable[bytes], value: float) -> None:
    for path in paths:
        values[path] = values.get(path, 0.0) + value


def _naming(
    snapshot: Snapshot, definitions: Definitions, tests: frozenset[bytes]
) -> Iterator[list[bytes]]:
    """Yield, for each of the best definitions with a distinctive name, the tests that name it."""
    names = dict.fromkeys(
        row.definition.name
        for row in definitions.rows
        if row.symbol >= 0 and len(row.definition.name) >= _SHORTEST_NAME
    )
    words = [terms_of_word(name) for name in names if name.isidentifier()]
    # The last term of a word is the whole word.
    terms = list(dict.fromkeys(parts[-1] for parts in words if parts))[:_DEFINITIONS]
    holding = postings.contents_with(snapshot.db, terms)
    for term in terms:
        files = (file for content in holding[term] for file in snapshot.by_content.get(content, ()))
        yield [file.path for file in files if file.path in tests]


# Chooses the definitions that a capsule names without showing them, by file, within a size.


class _Place(NamedTuple):
    path: bytes
    symbol: int
    line: int
    lines: int
    """Length of the definition, as far as it makes it likelier to be needed."""


def not_shown(
    material: Material,
    candidates: Sequence[Candidate],
    ranked: Sequence[RankedDefinition],
    shown: Sequence[Shown],
    room_bytes: int,
) -> list[NamedFile]:
    """The best definitions that are not shown, by file; as many names as fit.

    A name is listed under its file, so further names of a listed file cost less. After `path#` it
    is a handle, so it has its owner only if the file defines the name more than once.

    Args:
        material: has the definitions of files.
        candidates: what could be shown.
        ranked: all ranked definitions, best first; non-candidates are listed last.
        shown: what the capsule shows already.
        room_bytes: for all lines and their heading.
    """
    left = room_bytes - explore_text.cost(explore_text.NAMED)
    seen = {(piece.candidate.path, piece.candidate.symbol) for piece in shown}
    shown_lines: dict[bytes, set[int]] = {}
    for piece in shown:
        shown_lines.setdefault(piece.candidate.path, set()).update(piece.lines)
    files: dict[bytes, NamedFile] = {}
    short: dict[bytes, ShortNames] = {}
    for place in _places(candidates, ranked):
        if left < _LEAST:
            break
        if (place.path, place.symbol) in seen:
            continue
        seen.add((place.path, place.symbol))
        symbols = material.symbols(place.path)
        symbol = symbols[place.symbol]
        before = files.get(place.path)
        file = before or NamedFile(printed(place.path))
        lines = shown_lines.get(place.path, ())
        # The shown lines contain its name already, or its name is listed often enough.
        if symbol.name_line in lines or _is_repeated(symbol, file):
            continue
        if place.path not in short:
            short[place.path] = ShortNames(place.path, symbols)
        shortest = short[place.path].of(place.symbol)
        named = NamedDefinition(symbol.qualified, place.line, shortest)
        file = replace(file, definitions=(*file.definitions, named))
        if before is not None:
            # With the comma and the space before it.
            cost = explore_text.cost(explore_text.named_definition(named)) + 1
        else:
            line = explore_text.named_here(file) if lines else explore_text.named_file(file)
            cost = explore_text.cost(line)
        if cost <= left:
            left -= cost
            files[place.path] = file
    return list(files.values())


_MOST_ALIKE = 2
"""Maximum definitions of one name in a file that are listed: twenty `__call__` would be useless."""


def _is_repeated(symbol: Symbol, file: NamedFile) -> bool:
    names = [named.name for named in file.definitions]
    alike = sum(name.rpartition(".")[2] == symbol.name for name in names)
    return alike >= _MOST_ALIKE or symbol.qualified in names


_LEAST = 8
"""Bytes of a short name with its line; with less room, no further name is tried."""
_NEIGHBOUR_NAME = 0.7
"""Value of the name of a neighbour, as a share of that of its code."""
_LONGEST = 60
"""Lines from which a definition is not needed more often the longer it is."""


def _places(candidates: Sequence[Candidate], ranked: Sequence[RankedDefinition]) -> list[_Place]:
    """Definitions, the likeliest first: by the place by value, and the fourth root of the length.

    A neighbour is needed at any length.
    """
    top = ranked[0].score if ranked and ranked[0].score > 0 else 1.0
    near: list[tuple[float, _Place]] = []
    for candidate in candidates:
        if candidate.symbol < 0 or candidate.part == "container":
            continue
        value, lines = candidate.value, candidate.end_line - candidate.name_line + 1
        if candidate.part in _NEIGHBOURS:
            value, lines = value * _NEIGHBOUR_NAME, _LONGEST
        place = _Place(candidate.path, candidate.symbol, candidate.name_line, lines)
        near.append((-value, place))
    for row in ranked[PIVOTS:]:
        if row.symbol >= 0:
            path, lines = row.judged.evidence.file.path, row.end_line - row.name_line + 1
            near.append((-row.score / top, _Place(path, row.symbol, row.name_line, lines)))
    by_value = enumerate((place for _, place in sorted(near)), 1)

    def worth(numbered: tuple[int, _Place]) -> float:
        number, place = numbered
        return min(place.lines, _LONGEST) ** 0.25 / number

    return [place for _, place in sorted(by_value, key=worth, reverse=True)]


_NEIGHBOURS = frozenset({"callee", "caller"})


def fitting_names(files: Sequence[NamedFile], room_bytes: int) -> list[NamedFile]:
    """The first test files whose lines fit, with their heading."""
    left = room_bytes - explore_text.cost(explore_text.TESTS)
    within: list[NamedFile] = []
    for file in files:
        if _cost(file) <= left:
            left -= _cost(file)
            within.append(file)
    return within


def names_size(files: Sequence[NamedFile], count: int) -> int:
    """Bytes of the lines of tests and their heading; `count` is the number of all tests."""
    heading = explore_text.tests_heading(files, count)
    return explore_text.cost(heading) + sum(map(_cost, files)) if heading else 0


def _cost(file: NamedFile) -> int:
    return explore_text.cost(explore_text.named_file(file))


# Finds the graph neighbours that a task needs in addition to its definitions.

_USED = frozenset({"call", "ref", "inherit", "satisfy", "override"})
_MOST_CALLERS = 8


class Neighbour(NamedTuple):
    """A definition next to another in the graph."""

    node: Node
    of: int
    """Position of the pivot in the given sequence."""
    inward: bool
    """Whether it uses the pivot; otherwise the pivot uses it."""
    line: int
    """The line of the use."""
    is_beyond: bool = False
    """Whether it exceeds the limit of callers."""


def neighbours(
    graph: LazyGraph, pivots: Sequence[Node], direction: Direction
) -> Iterator[Neighbour]:
    """What the pivots use, and what uses them, as `direction` and time allow."""
    ways = [_used_by] if direction != "in" else []
    if direction != "out":
        graph.prepare(pivots)
        ways.append(_users_of)
    for way in ways:
        for at, pivot in enumerate(pivots):
            if graph.spent():
                return
            yield from way(graph, at, pivot)


def _used_by(graph: LazyGraph, at: int, pivot: Node) -> Iterator[Neighbour]:
    for symbol in sorted(own_symbols(graph, pivot)):
        for edge in graph.edges_of(pivot.path, symbol):
            if edge.kind in _USED and edge.target_symbol >= 0:
                node = Node(edge.target, edge.target_symbol)
                yield Neighbour(node, at, inward=False, line=edge.line)


def _users_of(graph: LazyGraph, at: int, pivot: Node) -> Iterator[Neighbour]:
    # Sorted by the code: the graph returns them in the order in which files were resolved, which
    # depends on earlier calls.
    users = [edge for edge in graph.edges_to(*pivot) if edge.kind in _USED and edge.symbol >= 0]
    users.sort(key=lambda edge: (graph.is_test(edge.source), edge.source, edge.line, edge.symbol))
    for number, edge in enumerate(users):
        node, is_beyond = Node(edge.source, edge.symbol), number >= _MOST_CALLERS
        yield Neighbour(node, at, inward=True, line=edge.line, is_beyond=is_beyond)


# From ranked definitions and their neighbours to candidates, each with a value.

PIVOTS = 60
"""Number of ranked definitions that may be shown or named."""
FOLLOWED = 8
"""Number of the best of these whose neighbours are included."""
CERTAIN = 10.0
"""Bonus for the first definition that the task itself names, as the innermost frame of a trace; the
second gets half of it, the third a third."""
CALLEE, CALLER = 0.5, 0.35
"""Value of a neighbour, as a share of its pivot's value."""
_NEIGHBOUR_LINES = 40
_WHOLE_CONTAINER = 100
_SKELETON_LINES = 40
_TOP_LINES = 40


class Material:
    """The texts and symbols of which a capsule is built; reads each file once."""

    def __init__(self, view: CurrentView, definitions: Definitions) -> None:
        self.view = view
        self.ref = view.scope.ref
        self._texts = definitions.texts
        self._lines: dict[bytes, list[str]] = {}
        self._symbols: dict[bytes, Sequence[Symbol]] = {}
        self._weights: dict[bytes, Mapping[int, float]] = {}
        self.beyond: set[tuple[bytes, int]] = {
            (row.judged.evidence.file.path, row.symbol)
            for row in definitions.rows[PIVOTS:]
            if row.symbol >= 0
        }
        """Matches that are not candidates: ranked too low, or one of too many callers."""

    def lines(self, path: bytes) -> list[str]:
        """The lines of a file."""
        lines = self._lines.get(path)
        if lines is None:
            file = self.view.snapshot.by_path[path]
            lines = [line.rstrip("\r") for line in self._texts.decoded(file)]
            self._lines[path] = lines
        return lines

    def line(self, path: bytes, number: int) -> str:
        """A line of a file; empty after the end of the file."""
        lines = self.lines(path)
        return lines[number - 1] if number <= len(lines) else ""

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """The definitions of a file."""
        symbols = self._symbols.get(path)
        if symbols is None:
            content = self.view.snapshot.by_path[path].content
            read = self.view.snapshot.symbols([content] if content is not None else [])
            symbols = self._symbols[path] = read.get(content or 0, ())
        return symbols

    def weights(self, path: bytes) -> Mapping[int, float]:
        """Line -> how well it matches the question."""
        weights = self._weights.get(path)
        if weights is None:
            terms_by_line = self._texts.terms_in_lines(self.lines(path))
            weights = self._weights[path] = {
                number: weight
                for number, terms in enumerate(terms_by_line, 1)
                if terms and (weight := self._texts.weight(terms))
            }
        return weights

    def named(self, candidate: Candidate) -> tuple[str, str, str]:
        """The handle, kind and qualified name of a candidate."""
        symbols = self.symbols(candidate.path)
        if not 0 <= candidate.symbol < len(symbols):
            return (
                lines_handle(candidate.path, candidate.name_line, candidate.end_line, self.ref),
                "lines",
                "",
            )
        symbol = symbols[candidate.symbol]
        return (
            handle_among(candidate.path, symbols, candidate.symbol, self.ref),
            symbol.kind,
            symbol.qualified,
        )


def candidates_of(
    material: Material, graph: LazyGraph, definitions: Definitions, direction: Direction
) -> list[Candidate]:
    """All candidates of a capsule."""
    rows = definitions.rows[:PIVOTS]
    top = rows[0].score if rows and rows[0].score > 0 else 1.0
    values: dict[Node, float] = {}
    parts: dict[Node, Part] = {}
    about: dict[Node, str] = {}
    sites: dict[Node, set[int]] = {}
    named: set[Node] = set()
    loose: list[Candidate] = []
    for row in rows:
        value = row.score / top
        path = row.judged.evidence.file.path
        if row.symbol < 0:
            loose += _top_level(material, row, value)
            continue
        node = Node(path, row.symbol)
        values[node], parts[node] = value, "pivot"
        if row.is_named:
            named.add(node)
    for place, ranked in enumerate(definitions.certain):
        bonus = CERTAIN / (1 + place)
        if ranked.symbol >= 0:
            node = Node(ranked.file.path, ranked.symbol)
            values[node] = values.get(node, 0.5) + bonus
            parts[node], about[node] = "pivot", ranked.why
            named.add(node)
        elif ranked.kind != "file":
            loose.append(
                Candidate(
                    ranked.file.path, -1, ranked.start_line, ranked.start_line, ranked.end_line,
                    bonus, "lines", about=ranked.why,
                )
            )  # fmt: skip
    order = sorted(values, key=lambda node: (-values[node], node))
    followed = order[:FOLLOWED]
    for neighbour in neighbours(graph, followed, direction):
        if neighbour.is_beyond:
            material.beyond.add(neighbour.node)
            continue
        _take(neighbour, followed, values, parts, about=about, sites=sites, material=material)
    candidates = [
        _candidate(
            material,
            node,
            value,
            parts[node],
            about=about.get(node, ""),
            sites=sites.get(node, set()),
            named=node in named,
        )
        for node, value in values.items()
    ]
    return [
        candidate
        for candidate in (*candidates, *loose, *_containers(material, candidates))
        if candidate is not None
    ]


def _take(
    neighbour: Neighbour,
    followed: Sequence[Node],
    values: dict[Node, float],
    parts: dict[Node, Part],
    *,
    about: dict[Node, str],
    sites: dict[Node, set[int]],
    material: Material,
) -> None:
    pivot = followed[neighbour.of]
    value = min(values[pivot], 1.0) * (CALLER if neighbour.inward else CALLEE)
    if neighbour.inward:
        sites.setdefault(neighbour.node, set()).add(neighbour.line)
    if neighbour.node in values:
        if parts[neighbour.node] == "pivot":
            values[neighbour.node] = max(values[neighbour.node], value)
        else:
            values[neighbour.node] = max(values[neighbour.node], value) + 0.1 * value
        return
    values[neighbour.node] = value
    parts[neighbour.node] = "caller" if neighbour.inward else "callee"
    symbols = material.symbols(pivot.path)
    name = symbols[pivot.symbol].name if pivot.symbol < len(symbols) else ""
    about[neighbour.node] = f"{'uses' if neighbour.inward else 'used by'} {name}"


def _candidate(
    material: Material,
    node: Node,
    value: float,
    part: Part,
    *,
    about: str,
    sites: set[int],
    named: bool,
) -> Candidate | None:
    symbols = material.symbols(node.path)
    if not 0 <= node.symbol < len(symbols):
        return None
    symbol = symbols[node.symbol]
    if symbol.kind in {"heading", "key"}:
        return None
    lines = material.lines(node.path)
    start = body_terms.comment_start(lines, symbol.start_line)
    most, chosen = WHOLE_LINES, ()
    length = symbol.end_line - symbol.start_line + 1
    if symbol.kind in CONTAINERS and length > _WHOLE_CONTAINER:
        chosen = skeleton(symbols, node.symbol, start)
    elif part == "caller" and length > _NEIGHBOUR_LINES // 2:
        chosen = _call_sites(symbol, sites)
    elif part == "callee":
        most = _NEIGHBOUR_LINES
    elif named:
        most = max(most, symbol.end_line - start + 1)
    return Candidate(
        node.path, node.symbol, start, symbol.start_line, symbol.end_line, value, part,
        tuple(chosen), about, most, capsule.beyond_first(lines, start, symbol.end_line),
    )  # fmt: skip


def _call_sites(symbol: Symbol, sites: set[int]) -> tuple[int, ...]:
    """The head of a caller and the lines around its calls."""
    shown = set(range(symbol.start_line, min(symbol.name_line + 1, symbol.end_line) + 1))
    for site in sorted(sites)[:3]:
        shown |= set(range(max(site - 2, symbol.start_line), min(site + 2, symbol.end_line) + 1))
    return tuple(sorted(shown))


def skeleton(symbols: Sequence[Symbol], at: int, start: int) -> tuple[int, ...]:
    """The head of a long container, and the first line of each direct member."""
    own = symbols[at]
    shown: list[int] = []
    first = next(
        (symbol.start_line for symbol in symbols[at + 1 :] if symbol.parent == at), own.end_line
    )
    shown += range(max(start, own.start_line - 6), min(first, own.start_line + 12))
    for symbol in symbols[at + 1 :]:
        if symbol.start_line > own.end_line:
            break
        if symbol.parent == at and symbol.name_line not in shown:
            shown.append(symbol.name_line)
    return tuple(sorted(set(shown))[:_SKELETON_LINES])


def _containers(material: Material, containers: Sequence[Candidate | None]) -> list[Candidate]:
    """The lines that name the candidates' containers, since an agent may add a member there."""
    best: dict[Node, float] = {}
    for candidate in containers:
        if candidate is None or candidate.symbol < 0:
            continue
        symbols = material.symbols(candidate.path)
        parent = symbols[candidate.symbol].parent
        if parent >= 0 and symbols[parent].kind in CONTAINERS:
            node = Node(candidate.path, parent)
            best[node] = max(best.get(node, 0.0), candidate.value)
    owners: list[Candidate] = []
    for node, value in best.items():
        own = material.symbols(node.path)[node.symbol]
        # Not from the start: decorators and attributes above the name may be many lines.
        lines = tuple(range(max(own.start_line, own.name_line - 1), own.name_line + 1))
        owners.append(
            Candidate(
                node.path, node.symbol, own.start_line, own.start_line, own.end_line,
                value * 0.95, "container", lines,
            )
        )  # fmt: skip
    return owners


def _top_level(material: Material, ranked: RankedDefinition, value: float) -> list[Candidate]:
    path = ranked.judged.evidence.file.path
    if ranked.end_line - ranked.start_line + 1 <= _TOP_LINES:
        return [
            Candidate(
                path,
                -1,
                ranked.start_line,
                ranked.start_line,
                ranked.end_line,
                value,
                "lines",
            )
        ]
    return [
        Candidate(
            path, -1, ranked.start_line, ranked.start_line, ranked.end_line, value, "lines",
            most_lines=_TOP_LINES,
        )
    ]  # fmt: skip
