"""What a capsule had no room for, and which handles to read next."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from codelens.answers.explore_answers import LeftOut
from codelens.capsule.packing import Candidate, Shown
from codelens.engine.explore.task_candidates import Material
from codelens.handles.handle_grammar import lines_handle
from codelens.render import explore_text

_MOST = 12


def _code(piece: Shown) -> list[tuple[int, int]]:
    """The spans left out of what is meant of a piece that are more than a long comment."""
    if piece.candidate.lines:
        return []
    asides = piece.candidate.asides
    return [span for span in piece.left_out if not asides.issuperset(range(span[0], span[1] + 1))]


def rest_of(
    material: Material,
    shown: Sequence[Shown],
    candidates: Sequence[Candidate],
    beyond: Collection[tuple[bytes, int]],
    room: int,
) -> LeftOut | None:
    """What was left out; None if nothing was.

    Args:
        material: names definitions.
        shown: what the capsule shows.
        candidates: all that it may show.
        beyond: what answers, and is no candidate.
        room: bytes that may be said of it.
    """
    cut = [piece for piece in shown if piece.candidate.part == "pivot" and any(_code(piece))]
    seen = {(shown_.candidate.path, shown_.candidate.symbol) for shown_ in shown}
    left = [candidate for candidate in candidates if (candidate.path, candidate.symbol) not in seen]
    left.sort(key=lambda candidate: (-candidate.value, candidate.path, candidate.name_line))
    below = {(candidate.path, candidate.symbol) for candidate in left}.union(beyond) - seen
    if not cut and not below:
        return None
    handles = [
        lines_handle(piece.candidate.path, *span, material.ref)
        for piece in cut
        for span in _code(piece)
    ]
    handles += [material.named(candidate)[0] for candidate in left[:_MOST]]
    rest = LeftOut(len(below), bool(cut), ())
    for handle in dict.fromkeys(handles[:_MOST]):
        longer = LeftOut(rest.definitions, rest.cut, (*rest.handles, handle))
        # As it is typed or called, whichever is longer.
        lines = (explore_text.more_line(longer, typed=typed) for typed in (True, False))
        if max(map(explore_text.cost, lines)) > room:
            break
        rest = longer
    return rest
