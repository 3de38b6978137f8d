"""From ranked definitions and their neighbours to what may be shown, each with a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codelens.capsule import long_comments
from codelens.capsule.packing import Candidate, Part
from codelens.capsule.shown_lines import WHOLE_LINES
from codelens.capsule.task_intent import Direction
from codelens.engine.current_view import CurrentView
from codelens.engine.explore.neighbours import Neighbour, neighbours
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.handles.handle_grammar import lines_handle
from codelens.handles.handle_naming import handle_among
from codelens.rank.definitions import body_terms
from codelens.rank.definitions.definition_ranking import RankedDefinition
from codelens.rank.definitions.definition_search import Definitions
from codelens.rank.query.query_names import CONTAINERS
from codelens.resolve.walk.edge_table import Node
from codelens.types import Symbol

PIVOTS = 60
"""Ranked definitions that may be shown or named."""
FOLLOWED = 12
"""Of these the first, whose neighbours are looked at."""
CERTAIN = 10.0
"""Added to the value of what the task itself names."""
CALLEE, CALLER = 0.5, 0.35
"""Value of a neighbour, as a share of its pivot's."""
_NEIGHBOUR_LINES = 40
_HEAD_LINES = 3
_WHOLE_CONTAINER = 60
_SKELETON_LINES = 40
_TOP_LINES = 40


class Material:
    """The texts and symbols of a look that a capsule is made of; each file is read once."""

    def __init__(self, view: CurrentView, definitions: Definitions) -> None:
        self.view = view
        self.ref = view.scope.ref if view.scope.kind == "ref" else ""
        self._texts = definitions.texts
        self._lines: dict[bytes, list[str]] = {}
        self._symbols: dict[bytes, Sequence[Symbol]] = {}
        self._weights: dict[bytes, Mapping[int, float]] = {}
        self.beyond: set[tuple[bytes, int]] = {
            (row.judged.evidence.file.path, row.symbol)
            for row in definitions.rows[PIVOTS:]
            if row.symbol >= 0
        }
        """What answers, and is no candidate: it ranks too low, or is one of too many callers."""

    def lines(self, path: bytes) -> list[str]:
        """The lines of a file."""
        known = self._lines.get(path)
        if known is None:
            file = self.view.snapshot.by_path[path]
            known = [line.rstrip("\r") for line in self._texts.decoded(file)]
            self._lines[path] = known
        return known

    def line(self, path: bytes, number: int) -> str:
        """A line of a file; empty beyond its end."""
        lines = self.lines(path)
        return lines[number - 1] if number <= len(lines) else ""

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """The definitions of a file."""
        known = self._symbols.get(path)
        if known is None:
            content = self.view.snapshot.by_path[path].content
            read = self.view.snapshot.symbols([content] if content is not None else [])
            known = self._symbols[path] = read.get(content or 0, ())
        return known

    def weights(self, path: bytes) -> Mapping[int, float]:
        """Line -> what it has of the question."""
        known = self._weights.get(path)
        if known is None:
            terms_by_line = self._texts.terms_in_lines(self.lines(path))
            known = self._weights[path] = {
                number: weight
                for number, terms in enumerate(terms_by_line, 1)
                if terms and (weight := self._texts.weight(terms))
            }
        return known

    def named(self, candidate: Candidate) -> tuple[str, str, str]:
        """Handle, kind and qualified name."""
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
    """All that may be shown."""
    rows = definitions.rows[:PIVOTS]
    top = rows[0].score if rows and rows[0].score > 0 else 1.0
    values: dict[Node, float] = {}
    parts: dict[Node, Part] = {}
    about: dict[Node, str] = {}
    sites: dict[Node, set[int]] = {}
    loose: list[Candidate] = []
    for row in rows:
        value = row.score / top
        path = row.judged.evidence.file.path
        if row.symbol < 0:
            loose += _top_level(material, row, value)
            continue
        node = Node(path, row.symbol)
        values[node], parts[node] = value, "pivot"
    for ranked in definitions.certain:
        if ranked.symbol >= 0:
            node = Node(ranked.file.path, ranked.symbol)
            values[node] = values.get(node, 0.5) + CERTAIN
            parts[node], about[node] = "pivot", ranked.why
        elif ranked.kind != "file":
            loose.append(
                Candidate(
                    ranked.file.path, -1, ranked.start_line, ranked.start_line, ranked.end_line,
                    CERTAIN, "lines", about=ranked.why,
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
    material: Material, node: Node, value: float, part: Part, *, about: str, sites: set[int]
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
        chosen = _around(symbol, sites)
    elif part == "callee":
        most = _NEIGHBOUR_LINES
    return Candidate(
        node.path, node.symbol, start, symbol.start_line, symbol.end_line, value, part,
        tuple(chosen), about, most, long_comments.beyond_first(lines, start, symbol.end_line),
    )  # fmt: skip


def _around(symbol: Symbol, sites: set[int]) -> tuple[int, ...]:
    """Of a caller its head and the lines around its calls."""
    shown = set(range(symbol.start_line, min(symbol.name_line + 1, symbol.end_line) + 1))
    for site in sorted(sites)[:3]:
        shown |= set(range(max(site - 2, symbol.start_line), min(site + 2, symbol.end_line) + 1))
    return tuple(sorted(shown))


def skeleton(symbols: Sequence[Symbol], at: int, start: int) -> tuple[int, ...]:
    """Of a long container its head, and the first line of each definition right in it."""
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
    """The first lines of what the candidates stand in: where an agent would add a member."""
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
        last = min(own.name_line, own.end_line, own.start_line + _HEAD_LINES)
        lines = tuple(range(max(own.start_line, own.name_line - 1), last + 1))
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
