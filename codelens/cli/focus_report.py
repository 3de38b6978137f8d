"""What `codelens focus` prints for people."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codelens.focus.checkout import Checkout
    from codelens.focus.focus_settings import FocusSettings
    from codelens.focus.forest_file import State
    from codelens.focus.inspection import FocusMatch

_PLACES = 3
"""Branches and worktrees that are told of one topic."""


def state_lines(
    state: State, settings: FocusSettings, place: Checkout, now: float
) -> Iterator[str]:
    """The block as the next prompt would show it."""
    from codelens.focus.context_block import block
    from codelens.focus.topic_code.topic_handles import true_handles

    text = block(
        state.forest, state.guide, settings, now=now, branch=place.label,
        handles=lambda topic: true_handles(topic, place.root),
    )  # fmt: skip
    yield from text.splitlines()


def inspection_lines(fields: Mapping[str, Any]) -> Iterator[str]:
    """Every number of a forest."""
    yield f"{fields['prompts']} prompts, {fields['nodes']}/{fields['memory_size']} nodes"
    yield f"file {fields['file']}"
    for tree in fields["trees"]:
        handles = "  ".join(tree["handles"])
        yield ""
        yield f"tree {tree['id']}  score {tree['score']:.4f}  {tree['topic']}  {handles}".rstrip()
        for node in tree["nodes"]:
            indent = "  " * (node["depth"] + 1)
            yield (
                f"{indent}{node['id']} {node['kind']}  depth {node['depth']}"
                f"  weight {node['weight']:.4f}  frequency {node['frequency']}"
                f"  {'indexed' if node['indexed'] else 'not indexed'}"
                f"  score {node['score']:.4f}  {node['text']}"
            )
    documents = fields["documents"]
    yield ""
    yield f"documents: {documents['indexed']} indexed, {documents['terms']} terms"
    yield "  " + ", ".join(
        f"{document['term']} {document['prompts']}" for document in documents["top"]
    )
    yield "guide:"
    for field in fields["guide"]:
        fate = f"strengthened tree {field['reinforced']}" if field["reinforced"] else "no topic"
        yield f"  - {field['text']}  ({'new' if field['new'] else fate})"
    yield "transitions:"
    for field in fields["transitions"]:
        yield f"  {field['from']} -> {field['to']}  {field['count']}  P {field['probability']:.4f}"


def rehearsal_lines(fields: Mapping[str, Any]) -> Iterator[str]:
    """What would become of a prompt."""
    yield f"tokens: {' '.join(fields['tokens']) or 'none'}"
    for field in fields["trees"]:
        yield (
            f"  tree {field['tree']}  cosine {field['cosine']:.4f} * boost {field['boost']:.4f}"
            f" = {field['score']:.4f}  {field['topic']}"
        )
    where = f" at node {fields['nearest']} of tree {fields['tree']}" if fields["tree"] else ""
    yield f"action: {fields['action']}{where}"


def found_lines(results: Iterable[FocusMatch], root: str) -> Iterator[str]:
    """Topics and prompts that answer a search."""
    for result in results:
        day = datetime.datetime.fromtimestamp(result.touched, tz=datetime.UTC).date().isoformat()
        places = [(result.branch, result.root)]
        places += [(other["branch"], other["root"]) for other in result.elsewhere]
        where = "; ".join(
            f"{branch or 'detached'}{f' in {worktree}' if worktree not in {'', root} else ''}"
            for branch, worktree in places[:_PLACES]
        )
        more = f"; {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        topic = f"  [{result.topic}]" if result.kind == "prompt" else ""
        yield f"{day}  {result.kind:6}  {result.text}{topic}  ({where}{more})"
