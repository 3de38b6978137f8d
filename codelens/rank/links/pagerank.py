"""Personalised PageRank (Page, Brin et al., 1999) over a small weighted graph, by iteration.

Sums run in the order of the nodes, so equal graphs give equal numbers to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

DAMPING = 0.85
_ITERATIONS, _LEAST_ITERATIONS = 30, 3
_SETTLED = 1e-6


def _never() -> bool:
    return False


def pagerank(
    links: Sequence[Mapping[int, float]],
    start: Sequence[float],
    spent: Callable[[], bool] = _never,
) -> list[float]:
    """Rank of each node; the sum is 1.

    Args:
        links: for each node what it points to, with weights above 0.
        start: where the walk begins anew, for each node at least 0; all 0 counts as all 1.
        spent: whether the next iteration is to be left out, with the rank as it is by then.
    """
    size = len(links)
    if not size:
        return []
    total = sum(start)
    home = [weight / total for weight in start] if total > 0 else [1.0 / size] * size
    shares = [_shared(out) for out in links]
    rank = list(home)
    for number in range(_ITERATIONS):
        if number >= _LEAST_ITERATIONS and spent():
            break
        lost = sum(rank[node] for node in range(size) if not shares[node])
        back = (1.0 - DAMPING) + DAMPING * lost
        after = [back * weight for weight in home]
        for node in range(size):
            passed_on = DAMPING * rank[node]
            if passed_on:
                for target, share in shares[node]:
                    after[target] += passed_on * share
        moved = sum(abs(weight - other) for weight, other in zip(rank, after, strict=True))
        rank = after
        if moved < _SETTLED:
            break
    return rank


def _shared(out: Mapping[int, float]) -> list[tuple[int, float]]:
    total = sum(weight for _, weight in sorted(out.items()))
    return [(target, weight / total) for target, weight in sorted(out.items())] if total else []
