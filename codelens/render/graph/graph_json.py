"""Answers about the graph as plain values for JSON; the shapes are documented in docs/graph.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from codelens.answers.graph_answers import (
    Changed,
    GraphNode,
    ImpactAnswer,
    MapAnswer,
    PossibleUse,
    RelatedAnswer,
)
from codelens.render.json_paths import with_usable_paths
from codelens.render.reading_json import Json, receipt


def _node(one: GraphNode) -> dict[str, object]:
    found = asdict(one)
    if not one.test:
        del found["test"]
    return found


def related(answer: RelatedAnswer) -> Json:
    """Relatives in one list, by relation and distance; or paths."""
    found: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "target": _node(answer.target),
        "results": [
            {
                "relation": one.relation,
                **_node(one.node),
                "distance": one.distance,
                "sites": list(one.sites),
                "count": one.count,
                "via": one.via,
                **({"why": one.why} if one.why else {}),
            }
            for one in answer.results
        ],
        "totals": dict(answer.totals),
    }
    _put_may(found, answer.may, answer.may_count)
    if answer.goal is not None:
        found["to"] = _node(answer.goal)
        found["reversed"] = answer.reversed
        found["results"] = [
            [{**_node(step.node), "how": step.how, "site": step.site} for step in steps]
            for steps in answer.paths
        ]
    found["notes"] = list(answer.notes)
    return with_usable_paths(found)


def _put_may(found: dict[str, object], may: Sequence[PossibleUse], count: int) -> None:
    """`may` and `may_count`, only where there is something to say."""
    if may:
        found["may"] = [
            {
                **_node(one.node),
                "sites": list(one.sites),
                "count": one.count,
                "choices": one.choices,
            }
            for one in may
        ]
        found["may_count"] = count


def _changed(one: Changed) -> dict[str, object]:
    lines = {"lines": one.lines} if one.lines else {}
    before = {"before": one.before} if one.before else {}
    return {**_node(one.node), "how": one.how, **lines, **before}


def impact(answer: ImpactAnswer) -> Json:
    """What changes, what is hit by distance, and the tests to run."""
    found: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "base": answer.base,
        "changed": [_changed(one) for one in answer.changed],
        "results": [
            {
                **_node(one.node),
                "distance": one.distance,
                "how": one.how,
                "via": one.via,
                "site": one.site,
                **({"fit": one.fit} if one.fit else {}),
            }
            for one in answer.results
        ],
        **({"fits": dict(answer.fits)} if answer.fits else {}),
        "totals": {str(distance): count for distance, count in answer.totals},
        "files": answer.files,
        "tests": [asdict(one) for one in answer.tests],
        "test_count": answer.test_count,
        "at_least": answer.at_least,
        "notes": list(answer.notes),
    }
    _put_may(found, answer.may, answer.may_count)
    return with_usable_paths(found)


def map_(answer: MapAnswer) -> Json:
    """The files of the map with their definitions, and what is said of the whole."""
    found = asdict(answer)
    for key in ("files", "focus", "ranked"):
        del found[key]
    found["receipt"] = receipt(answer.receipt)
    found["results"] = [asdict(one) for one in answer.files]
    found["files"] = answer.ranked
    found["focus"] = list(answer.focus)
    return with_usable_paths(found)
