"""Answers about the graph as plain values for JSON; the shapes are documented in docs/graph.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from codelens.answers.graph_answers import (
    Changed,
    GraphNode,
    ImpactAnswer,
    MapAnswer,
    MapSymbol,
    PossibleUse,
    Reference,
    ReferencesAnswer,
    RelatedAnswer,
)
from codelens.render.json_paths import with_usable_paths
from codelens.render.reading_json import Json, receipt


def _node(graph_node: GraphNode) -> dict[str, object]:
    fields = asdict(graph_node)
    if not graph_node.test:
        del fields["test"]
    return fields


def related(answer: RelatedAnswer) -> Json:
    """Relatives in one list, by relation and distance; or paths."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "target": _node(answer.target),
        "results": [
            {
                "relation": result.relation,
                **_node(result.node),
                "distance": result.distance,
                "sites": list(result.sites),
                "count": result.count,
                "via": result.via,
                **({"why": result.why} if result.why else {}),
            }
            for result in answer.results
        ],
        "totals": dict(answer.totals),
    }
    _put_may(fields, answer.may, answer.may_count)
    if answer.goal is not None:
        fields["to"] = _node(answer.goal)
        fields["reversed"] = answer.reversed
        fields["results"] = [
            [{**_node(step.node), "how": step.how, "site": step.site} for step in steps]
            for steps in answer.paths
        ]
    fields["notes"] = list(answer.notes)
    return with_usable_paths(fields)


def references(answer: ReferencesAnswer) -> Json:
    """The lines of one page, and how many there are in all."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "target": _node(answer.target),
        "places": [_node(place) for place in answer.places],
        "results": [_reference(reference) for reference in answer.references],
        "certain": answer.certain,
        "in_tests": answer.in_tests,
        "possible": answer.possible,
        "files": answer.files,
        "left": answer.left,
        "cursor": answer.cursor,
        "notes": list(answer.notes),
    }
    return with_usable_paths(fields)


def _reference(reference: Reference) -> dict[str, object]:
    within = reference.within
    fields: dict[str, object] = {
        "path": reference.path,
        "line": reference.line,
        "text": reference.text,
        "certain": reference.basis is None,
        "kinds": list(reference.kinds),
        "within": within.handle,
        "within_kind": within.kind,
        "test": within.test,
    }
    if reference.basis is not None:
        fields |= {"basis": reference.basis, "choices": reference.choices, "why": reference.why}
    elif reference.why:
        fields["why"] = reference.why
    return fields


def _put_may(fields: dict[str, object], may: Sequence[PossibleUse], count: int) -> None:
    """`may` and `may_count`, only where there is something to say."""
    if may:
        fields["may"] = [
            {
                **_node(possible_use.node),
                "sites": list(possible_use.sites),
                "count": possible_use.count,
                "choices": possible_use.choices,
                "basis": possible_use.basis,
                **({"why": possible_use.why} if possible_use.why else {}),
            }
            for possible_use in may
        ]
        fields["may_count"] = count


def _changed(change: Changed) -> dict[str, object]:
    lines = {"lines": change.lines} if change.lines else {}
    before = {"before": change.before} if change.before else {}
    return {**_node(change.node), "how": change.how, **lines, **before}


def impact(answer: ImpactAnswer) -> Json:
    """What changes, what is hit by distance, and the tests to run."""
    fields: dict[str, object] = {
        "receipt": receipt(answer.receipt),
        "base": answer.base,
        "changed": [_changed(change) for change in answer.changed],
        "results": [
            {
                **_node(result.node),
                "distance": result.distance,
                "how": result.how,
                "via": result.via,
                "site": result.sites[0],
                "sites": list(result.sites),
                **({"fit": result.fit} if result.fit else {}),
            }
            for result in answer.results
        ],
        **({"fits": dict(answer.fits)} if answer.fits else {}),
        "totals": {str(distance): count for distance, count in answer.totals},
        "files": answer.files,
        "tests": [asdict(test) for test in answer.tests],
        "test_count": answer.test_count,
        "top_levels": answer.top_levels,
        "only_import": answer.only_import,
        "at_least": answer.at_least,
        "notes": list(answer.notes),
    }
    _put_may(fields, answer.may, answer.may_count)
    if answer.contexts:
        fields["contexts"] = [asdict(context) for context in answer.contexts]
    return with_usable_paths(fields)


def map_(answer: MapAnswer) -> Json:
    """The files of the map with their definitions, and what is said of the whole."""
    fields = asdict(answer)
    for key in ("files", "focus", "ranked"):
        del fields[key]
    fields["receipt"] = receipt(answer.receipt)
    fields["results"] = [
        {**asdict(file), "symbols": [_map_symbol(symbol) for symbol in file.symbols]}
        for file in answer.files
    ]
    fields["hot"] = [_map_symbol(symbol) for symbol in answer.hot]
    fields["files"] = answer.ranked
    fields["focus"] = list(answer.focus)
    return with_usable_paths(fields)


def _map_symbol(symbol: MapSymbol) -> Json:
    fields = asdict(symbol)
    # The key since the first release: programs read it.
    return {"thing": fields.pop("node"), **fields}
