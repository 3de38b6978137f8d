"""Compares our edges with those of compilers, in the files that both cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from codelens.answers.upkeep_answers import CheckedEdges, Difference
from codelens.cancellation import check_cancelled
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.graph.candidate_files import edge_cache_of
from codelens.engine.index_pool import IndexPool
from codelens.paths import printed
from codelens.resolve.edges import Edge
from codelens.resolve.graph import Graph
from codelens.resolve.precise_edges import PreciseEdges
from codelens.types import PROTOCOL

AGREED, OTHER, ONLY_COMPILER, ONLY_OURS, UNEXPLAINED = (
    "agreed", "other target", "only compiler", "only codelens", "unexplained",
)  # fmt: skip
_Targets = dict[tuple[int, str], set[tuple[bytes, int]]]


def check(pool: IndexPool, request: ViewRequest, limit: int) -> CheckedEdges:
    """Compare the edges of a view; see `Engine.scip_check`."""
    with pool.view(request) as view, view.reading():
        return _checked(view, limit)


def _checked(view: CurrentView, limit: int) -> CheckedEdges:
    cache = edge_cache_of(view)
    graph, precise = cache.graph, cache.precise
    counts: Counter[tuple[str, str]] = Counter()
    shown: list[Difference] = []
    every = 0
    for path in sorted(precise.document_by_path):
        check_cancelled()
        language = graph.languages[path]
        for verdict, (line, name), theirs, own in _compared(graph, precise, path):
            counts[language, verdict] += 1
            if verdict == AGREED:
                continue
            every += 1
            if len(shown) < limit:
                site = f"{printed(path)}:{line}"
                shown.append(
                    Difference(
                        verdict, site, name, _handles(graph, theirs), _handles(graph, own),
                        language,
                    )
                )  # fmt: skip
    return CheckedEdges(
        receipt=replace(view.receipt(), precise=len(precise.document_by_path)),
        agreed=sum(count for (_, verdict), count in counts.items() if verdict == AGREED),
        counts=tuple((*key, count) for key, count in sorted(counts.items())),
        differences=tuple(shown),
        left=every - len(shown),
    )


def _compared(
    graph: Graph, precise: PreciseEdges, path: bytes
) -> Iterator[tuple[str, tuple[int, str], set[tuple[bytes, int]], set[tuple[bytes, int]]]]:
    """Yield verdict, line, name, the definitions of compiler and codelens, in source order."""
    spoken = precise.spoken(path)
    unwritten = {
        (reference.line, reference.name)
        for reference in graph.references(path)
        if reference.arguments == PROTOCOL
    }
    theirs = _by_place(edge for edge in spoken.edges if edge.target_symbol >= 0)
    own = _by_place(
        edge
        for edge in graph.edges(path)
        if edge.target_symbol >= 0
        and edge.kind not in {"override", "satisfy"}
        and (edge.line, edge.name) not in unwritten
    )
    for place in sorted((theirs.keys() | own.keys()) - spoken.left):
        first, second = theirs.get(place, set()), own.get(place, set())
        if _by_name(graph, first) & _by_name(graph, second):
            verdict = AGREED
        elif first and second:
            verdict = OTHER
        elif first:
            verdict = ONLY_COMPILER
        else:
            verdict = ONLY_OURS if place in spoken.answered else UNEXPLAINED
        yield verdict, place, first, second


def _by_place(edges: Iterator[Edge]) -> _Targets:
    targets: _Targets = {}
    for edge in edges:
        targets.setdefault((edge.line, edge.name), set()).add((edge.target, edge.target_symbol))
    return targets


def _by_name(graph: Graph, targets: set[tuple[bytes, int]]) -> set[tuple[bytes, str]]:
    """Definitions by name, since any of several assignments of a variable will do."""
    return {(path, graph.symbols(path)[symbol].qualified) for path, symbol in targets}


def _handles(graph: Graph, targets: set[tuple[bytes, int]]) -> tuple[str, ...]:
    return tuple(
        f"{printed(path)}#{graph.symbols(path)[symbol].qualified}"
        for path, symbol in sorted(targets)
    )
