"""codelens: a git-native, branch-aware local index of code.

    from codelens import Engine

The names below are the public API. Each is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codelens.answers.graph_answers import ImpactAnswer as ImpactAnswer
    from codelens.answers.graph_answers import MapAnswer as MapAnswer
    from codelens.answers.graph_answers import RelatedAnswer as RelatedAnswer
    from codelens.answers.reading_answers import Excerpt as Excerpt
    from codelens.answers.reading_answers import ExpandAnswer as ExpandAnswer
    from codelens.answers.reading_answers import ExploreAnswer as ExploreAnswer
    from codelens.answers.reading_answers import OutlineAnswer as OutlineAnswer
    from codelens.answers.reading_answers import SearchAnswer as SearchAnswer
    from codelens.answers.reading_answers import StatusAnswer as StatusAnswer
    from codelens.config import Settings as Settings
    from codelens.engine.engine import Engine as Engine
    from codelens.errors import AmbiguousHandle as AmbiguousHandle
    from codelens.errors import CodelensError as CodelensError
    from codelens.errors import HandleError as HandleError
    from codelens.errors import HandleNotFound as HandleNotFound
    from codelens.errors import NoSuchRef as NoSuchRef
    from codelens.errors import QueryError as QueryError
    from codelens.errors import ScopeError as ScopeError
    from codelens.errors import SettingError as SettingError
    from codelens.errors import StoreError as StoreError
    from codelens.types import Receipt as Receipt

__version__ = "0.1.0"

_PUBLIC = {
    "codelens.answers.graph_answers": ("ImpactAnswer", "MapAnswer", "RelatedAnswer"),
    "codelens.answers.reading_answers": (
        "Excerpt", "ExpandAnswer", "ExploreAnswer", "OutlineAnswer", "SearchAnswer", "StatusAnswer",
    ),
    "codelens.config": ("Settings",),
    "codelens.engine.engine": ("Engine",),
    "codelens.errors": (
        "AmbiguousHandle", "CodelensError", "HandleError", "HandleNotFound", "NoSuchRef",
        "QueryError", "ScopeError", "SettingError", "StoreError",
    ),
    "codelens.types": ("Receipt",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'codelens' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
