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


def state_lines(
    state: State, settings: FocusSettings, place: Checkout, now: float
) -> Iterator[str]:
    """The block as the next prompt would show it."""
    from codelens.focus.context_block import block
    from codelens.focus.topic_handles import true_handles

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
    yield "  " + ", ".join(f"{one['term']} {one['prompts']}" for one in documents["top"])
    yield "guide:"
    for one in fields["guide"]:
        fate = f"strengthened tree {one['reinforced']}" if one["reinforced"] else "no topic"
        yield f"  - {one['text']}  ({'new' if one['new'] else fate})"
    yield "transitions:"
    for one in fields["transitions"]:
        yield f"  {one['from']} -> {one['to']}  {one['count']}  P {one['probability']:.4f}"


def rehearsal_lines(fields: Mapping[str, Any]) -> Iterator[str]:
    """What would become of a prompt."""
    yield f"tokens: {' '.join(fields['tokens']) or 'none'}"
    for one in fields["trees"]:
        yield (
            f"  tree {one['tree']}  cosine {one['cosine']:.4f} * boost {one['boost']:.4f}"
            f" = {one['score']:.4f}  {one['topic']}"
        )
    where = f" at node {fields['nearest']} of tree {fields['tree']}" if fields["tree"] else ""
    yield f"action: {fields['action']}{where}"


def found_lines(found: Iterable[FocusMatch], root: str) -> Iterator[str]:
    """Topics and prompts that answer a search."""
    for one in found:
        day = datetime.datetime.fromtimestamp(one.touched, tz=datetime.UTC).date().isoformat()
        where = one.branch or "detached"
        elsewhere = f" in {one.root}" if one.root != root else ""
        topic = f"  [{one.topic}]" if one.kind == "prompt" else ""
        yield f"{day}  {one.kind:6}  {one.text}{topic}  ({where}{elsewhere})"
