"""The kinds of relations between definitions and files."""

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
"""`overrides`: the methods that a method overrides; `overridden`: those that override it."""
RELATIONS: tuple[Relation, ...] = get_args(Relation)
STRUCTURE: tuple[Relation, ...] = ("belongs_to", "defines", "exports")
"""Relations from places and names instead of uses; reported only on request."""
INWARD = ("callers", "users", "importers", "subtypes", "overridden", "tests")
OUTWARD = ("callees", "uses", "imports", "bases", "overrides", *STRUCTURE)
