"""The kinds of relation between definitions and files, for all who name them."""

from __future__ import annotations

from typing import Literal, get_args

Relation = Literal[
    "callers",
    "callees",
    "users",
    "uses",
    "importers",
    "imports",
    "bases",
    "subtypes",
    "overrides",
    "overridden",
    "tests",
    "belongs_to",
    "defines",
    "exports",
]
"""`overrides`: what a method overrides; `overridden`: by what it is."""
RELATIONS: tuple[Relation, ...] = get_args(Relation)
STRUCTURE: tuple[Relation, ...] = ("belongs_to", "defines", "exports")
"""Those that places and names tell, and no use; they are told where they are asked for by name."""
INWARD = ("callers", "users", "importers", "subtypes", "overridden", "tests")
OUTWARD = ("callees", "uses", "imports", "bases", "overrides", *STRUCTURE)
