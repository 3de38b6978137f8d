"""What a language's settings say of its bindings, and the children that their paths lead to."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tree_sitter import Node

from codelens.extract.flow.expressions import child
from codelens.extract.flow.patterns import ROLES as PATTERN_ROLES
from codelens.extract.language_settings import language_info

_ROLES = frozenset({"pattern", "unbound", "list", *PATTERN_ROLES})
"""What a recipe of the setting `bindings` may say instead of paths; it may say several."""
OF_SCOPE = {
    "alias": "alias",
    "return": "return",
    "yielded": "yield",
    "result": "->",
    "base": "base",
    "implements": "implements",
    "package": "package",
}
"""Captures on the node that is the text itself."""
BARE = {"yield": ("", "yield"), "this": ("this", "?")}
"""Captures that say all by standing where they do: name and how."""
TYPED = frozenset({"result", "implements", "alias", "package"})
STEPS = {"each": "[*]", "loop": "[*]", "with": "[with]", "held": ".#try", "caught": "()"}
"""From a value to what is bound of it."""
FORMS = {
    "unknown": "?",
    "global": "global",
    "type": "type",
    "own": "own",
    "forward": "forward",
}
"""What is bound without a value."""


class Rules(NamedTuple):
    """The setting `bindings` of a language."""

    fields: dict[str, tuple[tuple[str, ...], ...]]
    """Node type -> for name, value and type the paths to try."""
    patterns: frozenset[str]
    lists: frozenset[str]
    unbound: frozenset[str]
    """Definitions of these types bind no name outside of a type."""
    inferred: frozenset[str]
    """Words in the place of a type that leave it to the value: `var`."""
    documented: bool
    """Comments tell types (`codelens.extract.flow.doc_types`)."""
    roles: dict[str, str]
    """Node type -> what it is in a pattern (`patterns`)."""


@cache
def rules(language: str) -> Rules:
    """What a language says of its bindings."""
    settings = dict(language_info(language).bindings)
    inferred = frozenset(settings.pop("inferred", "").split())
    documented = bool(settings.pop("documented", ""))
    fields = {
        kind: tuple(
            () if part == "-" else tuple(part.split("|"))
            for part in (recipe.split() + ["-"] * 3)[:3]
        )
        for kind, recipe in settings.items()
        if not _ROLES.issuperset(recipe.split())
    }

    def of(role: str) -> frozenset[str]:
        return frozenset(kind for kind, recipe in settings.items() if role in recipe.split())

    roles = {
        kind: recipe for kind, recipe in settings.items() if recipe in PATTERN_ROLES | {"list"}
    }
    return Rules(fields, of("pattern"), of("list"), of("unbound"), inferred, documented, roles)


def all_children(node: Node, paths: tuple[str, ...]) -> list[Node]:
    """All children of the first path that leads anywhere; several only of one ending in `*`."""
    if len(paths) == 1 and paths[0].isidentifier():
        only = node.child_by_field_name(paths[0])
        return [] if only is None else [only]
    for path in paths:
        if path.endswith("*"):
            nodes = node.children_by_field_name(path[:-1])
            if nodes:
                return nodes
    child_node = first_child(node, tuple(path for path in paths if not path.endswith("*")))
    return [child_node] if child_node is not None else []


def first_child(node: Node, paths: tuple[str, ...]) -> Node | None:
    """What the first of some paths leads to that leads anywhere."""
    for path in paths:
        child_node = child(node, path)
        if child_node is not None:
            return child_node
    return None
