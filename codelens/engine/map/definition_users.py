"""How many files use a definition: by resolved edges, as `related` tells them.

Names alone would count every use of another definition so called. To resolve takes time: what was
not resolved within it is told as not counted in full.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple, Protocol, cast

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.lazy_graph import LazyGraph
from codelens.engine.graph.targets import Targets
from codelens.engine.map.ranked_files import Ranked
from codelens.errors import HandleError
from codelens.extract.language_settings import language_info
from codelens.resolve.facts.file_model import CALLABLE
from codelens.resolve.walk.edge_table import Node

_SHARE, _LEAST_SECONDS, _MOST_SECONDS = 0.1, 0.5, 3.0
"""Of the time of a question, what counting may take."""

_NO_USES = frozenset({"import", "satisfy", "override"})
"""Kinds of edges that name a definition without using it."""


class Users(NamedTuple):
    """The files that use a definition, its own not counted."""

    files: int
    complete: bool
    """All files that hold its name are resolved; else there may be more."""


class UserCounts(Protocol):
    """Tells how many files use a definition."""

    def of(self, node: Node) -> Users:
        """The users of a definition."""
        ...


class NamedUsers:
    """Counts by names alone: quick, and too many where other things are so called."""

    def __init__(self, targets: Targets, ranked: Ranked) -> None:
        self._targets = targets
        self._users = ranked.links.users
        self._numbers = {source.path: at for at, source in enumerate(ranked.sources)}

    def of(self, node: Node) -> Users:
        """The files that hold the name of a definition."""
        name = self._targets.symbols(node.path)[node.symbol].name
        return Users(self._users[self._numbers[node.path], name], complete=True)


class DefinitionUsers:
    """Counts for one state of a view; its database must be in a read transaction.

    Args:
        view: the view.
        seconds: the time that the question has.
    """

    def __init__(self, view: CurrentView, seconds: float) -> None:
        self._graph = LazyGraph(view, min(max(seconds * _SHARE, _LEAST_SECONDS), _MOST_SECONDS))
        self._targets = Targets(view, self._graph)
        counted = self._graph.values.setdefault("map users", {})
        self._counted = cast("dict[Node, Users]", counted)
        self.incomplete: set[Node] = set()
        """Definitions asked for, and not counted in full."""

    def look_up(self, nodes: Iterable[Node]) -> None:
        """Resolve what may use some definitions in one go, as far as time allows."""
        new = [node for node in nodes if node not in self._counted]
        self._graph.prepare([part for node in new for part in self._parts(node)])

    def of(self, node: Node) -> Users:
        """The users of a definition as far as there is time to resolve them."""
        known = self._counted.get(node)
        if known is not None:
            return known
        parts = self._parts(node)
        self._graph.prepare(parts)
        complete = all(self._graph.knows_users(*part) for part in parts)
        # An import alone is no use: it names a class and the function of its name alike. What
        # satisfies an interface does not name it, so it would count in resolved files alone.
        files = {
            edge.source
            for part in parts
            for edge in self._graph.known_users(*part)
            if edge.kind not in _NO_USES
        }
        users = Users(len(files - {part.path for part in parts}), complete)
        if complete:
            self._counted[node] = users
        else:
            self.incomplete.add(node)
        return users

    def _parts(self, node: Node) -> list[Node]:
        """A definition, with the other places of one that is declared apart."""
        language = self._graph.resolved.languages.get(node.path, "")
        symbol = self._graph.symbols(node.path)[node.symbol]
        if symbol.kind in CALLABLE and language and language_info(language).declared_apart:
            with suppress(HandleError):
                return self._targets.find(self._targets.handle(node)).nodes
        return [node]
