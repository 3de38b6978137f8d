"""A component is a definition with its file's name, in every question that takes or gives names."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo

from codelens.engine.engine import Engine

CARD = (
    "<template><b>{{ title }}</b></template>\n<script setup>\ndefineProps(['title'])\n</script>\n"
)
PAGE = (
    '<script setup>\nimport Card from "./Card.vue"\nimport { fmt } from "./fmt"\n</script>\n'
    '<template><Card :title="fmt(1)"/></template>\n'
)


FILES = {"Card.vue": CARD, "Page.vue": PAGE, "fmt.ts": "export function fmt(x) { return x }\n"}


@pytest.mark.parametrize(
    ("handle", "user"),
    [
        ("fmt.ts#fmt", "Page.vue#Page"),
        ("Card.vue#Card", "Page.vue#Page"),
        ("Card", "Page.vue#Page"),
        ("Card.vue#Card.title", "Page.vue#Page"),
    ],
)
def test_impact_names_the_component(
    engine: Engine, repository: GitRepo, handle: str, user: str
) -> None:
    hits = engine.impact([handle], path=repository.root).results
    assert user in [hit.node.handle for hit in hits]


def test_reading_takes_and_gives_the_name(engine: Engine, repository: GitRepo) -> None:
    root = repository.root
    (read,) = engine.expand(["Card"], path=root).items
    assert (read.handle, read.start_line, read.end_line) == ("Card.vue#Card", 1, 4)
    (outlined,) = engine.outline("Card.vue", path=root).files
    shown = [(one.name, one.signature) for one in outlined.items]
    assert ("Card", "component Card { title }") in shown
    assert "Card.vue#Card" in [hit.handle for hit in engine.search("Card", path=root).results]
    assert engine.history("Card.vue#Card", path=root).handle == "Card.vue#Card"
    assert "Card" in [one.qualified_name for one in engine.export_symbols(path=root)]
