"""The repository in so many tokens: what matters in it, by who uses what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import cast

from codelens.answers.graph_answers import MapAnswer
from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.engine.map.definition_users import DefinitionUsers
from codelens.engine.map.file_ranks import ranked as ranks_of
from codelens.engine.map.map_selection import Drawing, Interest
from codelens.engine.map.ranked_files import Ranked
from codelens.errors import InvalidArgument
from codelens.handles.typed_handle import typed_handle
from codelens.plurals import count_of
from codelens.rank.links.pagerank import pagerank
from codelens.resolve.walk.edge_table import Node

LEAST_TOKENS, MOST_TOKENS = 200, 100_000
_FOCUS_WEIGHT = 200.0
_ROLE_WEIGHTS = {
    "test": 0.1,
    "example": 0.2,
    "vendored": 0.02,
    "generated": 0.1,
    "compat": 0.5,
    "prose": 0.02,
}
"""How much a file's own uses, and its being there, count beside those of plain code."""
_USING = 0.4
"""Share of the rank that a file has for using others that rank."""


def map_(
    view: CurrentView,
    focus: Sequence[str],
    find_places: Callable[[str], Sequence[Node]],
    query: str,
    max_tokens: int,
    seconds: float,
) -> MapAnswer:
    """The map.

    Args:
        view: the view.
        focus: handles, files or folders near which the map is to be drawn.
        find_places: definitions and files that answer a query, best first.
        query: words that tilt the map as `focus` does; empty for none.
        max_tokens: what its text may cost.
        seconds: how long files may be resolved for.

    Raises:
        SettingError: `max_tokens` is out of range.
        HandleError: a focus names nothing, or several things.
    """
    if not LEAST_TOKENS <= max_tokens <= MOST_TOKENS:
        raise InvalidArgument(
            "max_tokens", f"must be between {LEAST_TOKENS} and {MOST_TOKENS:,}, not {max_tokens:,}"
        )
    graph = LazyGraph(view, seconds)
    targets = Targets(view, graph)
    cached_ranks = graph.values.get("map")
    if cached_ranks is None:
        cached_ranks = ranks_of(view, graph)
        if not cached_ranks.unread and not cached_ranks.unlinked:
            graph.values["map"] = cached_ranks
    ranked = cast("Ranked", cached_ranks)
    near, notes = _weights_near(view, targets, focus), list[str]()
    query_nodes = tuple(dict.fromkeys(find_places(query))) if query else ()
    if query:
        for number, path in enumerate(dict.fromkeys(node.path for node in query_nodes)):
            weight = _ROLE_WEIGHTS.get(ranked.roles.get(path, ""), 1.0)
            near[path] = near.get(path, 0.0) + weight / (1 + number)
        if not query_nodes:
            notes.append(f"nothing found for {query!r}: the map shows the whole repository")
    rough = False

    def spent() -> bool:
        nonlocal rough
        rough = graph.spent()
        return rough

    scores = _scores(ranked, near, spent)
    if ranked.left_out:
        notes.append(f"{count_of(ranked.left_out, 'file')} of tests or third-party code not ranked")
    users = DefinitionUsers(view, seconds)
    names = tuple(name for name in (*focus, query) if name)
    drawing = Drawing(view, targets, ranked, scores, Interest(near, names, query_nodes), users)
    answer = drawing.draw(max_tokens, notes)
    return _honest(answer, ranked, rough=rough, uncounted=len(users.incomplete))


def _honest(answer: MapAnswer, ranked: Ranked, *, rough: bool, uncounted: int) -> MapAnswer:
    """`partial`, where not every file was read in time, or ranked to the end."""
    uncounted_files = {
        "are not read": ranked.unread,
        "are ranked without their uses": ranked.unlinked,
    }
    reasons = [
        f"{count_of(count, 'file')} {reason}" for reason, count in uncounted_files.items() if count
    ]
    if rough:
        reasons.append("the order is not final")
    if uncounted:
        reasons.append(f"users of {count_of(uncounted, 'definition')} are not all counted")
    if not reasons:
        return answer
    note = f"time ran out: {', '.join(reasons)}; ask again to continue, or with more time"
    receipt = answer.receipt
    note = "; ".join(filter(None, (receipt.note, note)))
    return replace(answer, receipt=replace(receipt, status="partial", note=note))


def _weights_near(view: CurrentView, targets: Targets, focus: Sequence[str]) -> dict[bytes, float]:
    """Files that the focus names; all those below a folder."""
    weights: dict[bytes, float] = {}
    for target in focus:
        handle = typed_handle(target, view.scope.root, view.snapshot.by_path)
        below = targets.below(handle) or targets.find(target).paths
        for path in below:
            weights[path] = weights.get(path, 0.0) + 1.0 / len(below)
    return weights


def _scores(ranked: Ranked, near: Mapping[bytes, float], spent: Callable[[], bool]) -> list[float]:
    weights = [
        _ROLE_WEIGHTS.get(ranked.roles.get(source.path, ""), 1.0) for source in ranked.sources
    ]
    links = [
        {target: weight * weights[at] for target, weight in out.items()}
        for at, out in enumerate(ranked.links.weights)
    ]
    if not near:
        return _blended(ranked, links, weights, spent)
    # Who uses the focus matters as much as what it uses.
    around = [dict(out) for out in links]
    for at, out in enumerate(links):
        for target, weight in out.items():
            around[target][at] = around[target].get(at, 0.0) + weight / 2
    start = [
        0.02 * weights[at] / max(len(weights), 1) + _FOCUS_WEIGHT * near.get(source.path, 0.0)
        for at, source in enumerate(ranked.sources)
    ]
    return pagerank(around, start, spent)


def _blended(
    ranked: Ranked,
    links: Sequence[Mapping[int, float]],
    weights: Sequence[float],
    spent: Callable[[], bool],
) -> list[float]:
    """Rank by being used, with a share by using what ranks.

    Being used alone puts constants and small tools before the files that do the work with them.
    """
    backward: list[dict[int, float]] = [{} for _ in links]
    for at, out in enumerate(links):
        for target, weight in out.items():
            backward[target][at] = weight
    used = pagerank(links, weights, spent)
    using = pagerank(backward, weights, spent)
    blended = [
        ((1 - _USING) * score + _USING * other)
        * weights[at]
        * _substance(ranked, at)
        # What one important file alone uses is a detail of that file.
        * sqrt(1 + ranked.links.importers[at])
        for at, (score, other) in enumerate(zip(used, using, strict=True))
    ]
    total = sum(blended) or 1.0
    return [score / total for score in blended]


def _substance(ranked: Ranked, at: int) -> float:
    """Less for a file that defines next to nothing with a body."""
    return min(1.0, 0.3 + 0.1 * ranked.bodies.get(ranked.sources[at].content, 0))
