"""Who uses what: methods of `Engine`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelens.engine.engine_core import EngineCore
from codelens.engine.sessions import trail_lines
from codelens.engine.sessions.trail_lines import trailed
from codelens.engine.usage.usage_counter import counted
from codelens.engine.view_request import ViewRequest
from codelens.index.progress import Progress, silent

# What answers are made of is imported with the capability that makes them.
if TYPE_CHECKING:
    from codelens.answers.graph_answers import (
        ImpactAnswer,
        MapAnswer,
        ReferencesAnswer,
        RelatedAnswer,
    )
    from codelens.answers.reading_answers import EdgeLine


@counted
@trailed(trail_lines.of_related)
def related(
    engine: EngineCore,
    target: str,
    *,
    to: str | None = None,
    path: str | Path = ".",
    ref: str | None = None,
    kinds: Sequence[str] = (),
    direction: str = "both",
    depth: int = 1,
    paths: int = 3,
    limit: int = 40,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> RelatedAnswer:
    """What is related to a definition or file; with `to`, the paths from it to another.

    Args:
        target: a handle, a file, a folder, or a bare name that one definition alone has.
        to: where paths shall lead.
        kinds: only these relations, of `codelens.engine.graph.relation_choice.RELATIONS`.
        direction: `in` (who uses it), `out` (what it uses) or `both`.
        depth: steps at most, 1 to 3.
        paths: distinct paths at most, with `to`.

    Raises:
        HandleError: `target` or `to` cannot be followed, or has several owners.
    """
    handles = (target,) if to is None else (target, to)
    return engine.graph.related(
        ViewRequest(path, ref, budget_ms, progress, targets=handles), target,
        to=to, kinds=kinds, direction=direction, depth=depth, paths=paths, limit=limit,
    )  # fmt: skip


@counted
@trailed(trail_lines.of_references)
def references(
    engine: EngineCore,
    target: str,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    limit: int = 100,
    cursor: str = "",
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> ReferencesAnswer:
    """Every line that uses a definition or file: all that a rename has to change.

    Args:
        target: a handle, a file, a folder, or a name.
        limit: lines at most; `left` of the answer says how many follow.
        cursor: the `cursor` of the answer before, for the lines that follow it. It holds when
            other files change in between.

    Raises:
        HandleError: `target` cannot be followed.
        InvalidArgument: `cursor` is none that an answer gave.
    """
    view = ViewRequest(path, ref, budget_ms, progress, targets=(target,))
    return engine.graph.references(view, target, limit=limit, cursor=cursor)


@counted
@trailed(trail_lines.of_impact)
def impact(
    engine: EngineCore,
    targets: Sequence[str] = (),
    *,
    diff: str | None = None,
    path: str | Path = ".",
    ref: str | None = None,
    depth: int = 3,
    limit: int = 60,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> ImpactAnswer:
    """Who can be affected by a change of the targets, or of what differs from a commit.

    Args:
        targets: handles, files, folders or bare names.
        diff: instead of targets, all that differs between this commit and the files now.
        depth: steps at most, 1 to 5.

    Raises:
        HandleError: a target cannot be followed, or has several owners.
        NoSuchRef: `diff` names no commit.
    """
    view = ViewRequest(path, ref, budget_ms, progress, targets=tuple(targets))
    return engine.graph.impact(view, targets, diff=diff, depth=depth, limit=limit)


@counted
def map(
    engine: EngineCore,
    focus: Sequence[str] = (),
    *,
    query: str = "",
    path: str | Path = ".",
    ref: str | None = None,
    max_tokens: int = 2000,
    budget_ms: float | None = None,
    progress: Progress = silent,
) -> MapAnswer:
    """The repository at a glance: files by how much others use them, folded, in a budget.

    Args:
        focus: handles, files or folders near which the map is to be drawn.
        query: words that tilt it as a focus does.
        max_tokens: what the map's text may cost.
        budget_ms: what the freshness check leaves of it is for the ranking, which has 2 s in
            any case; None: 30 s.

    Raises:
        HandleError: a focus names nothing, or several things.
    """
    return engine.graph.map(ViewRequest(path, ref, budget_ms, progress, query), focus, max_tokens)


def export_edges(
    engine: EngineCore,
    *,
    path: str | Path = ".",
    ref: str | None = None,
    possible: bool = False,
    progress: Progress = silent,
) -> Iterator[EdgeLine]:
    """Every certain edge of the view, by path and line.

    With `possible`, those of uses too that may mean one of several definitions, one to each, with
    a `confidence` below 1.
    """
    return engine.graph.edges(ViewRequest(path, ref, None, progress), possible=possible)
