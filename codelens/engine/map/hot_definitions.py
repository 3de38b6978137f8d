"""The definitions that most files use: chosen by names, which is quick, then counted by edges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from codelens.answers.graph_answers import MapSymbol
from codelens.engine.graph.targets import Targets
from codelens.engine.map.definition_users import UserCounts
from codelens.engine.map.ranked_files import Ranked
from codelens.resolve.walk.edge_table import Node

CANDIDATES = 30
"""Names of which users are counted; of these the `SHOWN` most used are told."""
SHOWN = 10
_NAMESAKES = 3
"""Definitions of one name in one file that are counted: a class, and the function that makes it."""
_LEAST_USERS = 2


def candidates(
    targets: Targets,
    ranked: Ranked,
    scores: Sequence[float],
    allowed: Collection[int] | None,
    most: int,
) -> tuple[list[Node], int]:
    """Definitions whose names most files hold, by that; and how many names there are beyond them.

    Args:
        targets: names of the nodes.
        ranked: the files.
        scores: weight of each.
        allowed: numbers of the files to choose from; None: all that are no tests or the like.
        most: names at most.
    """
    best = sorted(
        (-count, -scores[at], ranked.sources[at].path, name)
        for (at, name), count in ranked.links.users.items()
        if count >= _LEAST_USERS
        and not ranked.roles.get(ranked.sources[at].path)
        and (allowed is None or at in allowed)
    )
    nodes: list[Node] = []
    for _, _, path, name in best[:most]:
        same = [
            Node(path, at)
            for at, symbol in enumerate(targets.symbols(path))
            if symbol.parent < 0 and symbol.name == name and symbol.kind != "module"
        ]
        nodes += same[:_NAMESAKES]
    return nodes, max(len(best) - most, 0)


def most_used(targets: Targets, users: UserCounts, nodes: Sequence[Node]) -> Iterator[MapSymbol]:
    """Those of the candidates that several files use, the most used first; of equals the first."""
    counted = [(users.of(node), node) for node in nodes]
    order = sorted(range(len(counted)), key=lambda at: (-counted[at][0].files, at))
    for at in order:
        count, node = counted[at]
        if count.files >= _LEAST_USERS or not count.complete:
            yield MapSymbol(targets.node(node), 0, count.files, not count.complete)
