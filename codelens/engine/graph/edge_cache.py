"""What is resolved of a view: the edges known so far, kept from question to question.

It stays while the view does; `keep` stores it for other processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import cached_property

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.name_index import NameIndex, name_index_of
from codelens.resolve import stored_graph
from codelens.resolve.edges import Edge
from codelens.resolve.graph import Graph
from codelens.resolve.walk.edge_table import Table
from codelens.store.views.state_cache import StateCache

_KEPT_VIEWS = 2
_NONE: frozenset[str] = frozenset()
_MOST_SHARED = 64
"""Sets of names that are shared: one question makes a few dozen, and those of earlier ones go."""
_KIND_RANKS = {"import": -1, "call": 0}


def _place_in_text(edge: Edge) -> tuple[object, ...]:
    """Imports first, then by line, a call before a mention; the same for a file and its parts."""
    rank = _KIND_RANKS.get(edge.kind, 1)
    return (rank >= 0, edge.line, rank, edge.kind, *edge[2:4], edge.name, edge.symbol)


class EdgeCache:
    """What is known of one state of a view."""

    def __init__(self, view: CurrentView, before: EdgeCache | None) -> None:
        snapshot = view.snapshot
        by_path = snapshot.by_path

        def read(path: bytes) -> bytes | None:
            file = by_path.get(path)
            return view.read(file) if file is not None else None

        known = before.graph.known if before is not None else None
        self.graph: Graph = stored_graph.graph_of(snapshot, read, known)
        self.table = before.table if before is not None else Table()
        """Edges of files, as long as what they stand on did not change."""
        self.weak = before.weak if before is not None else Table()
        """As `table`, of uses that may mean one of several things."""
        self.named: dict[bytes, frozenset[str]] = {}
        """Files of which the uses of these names alone are resolved."""
        self._shared: dict[frozenset[str], frozenset[str]] = {}
        for path in self.table.files() - self.graph.known.checked:
            self._remove(path)
        if self.table.wasteful or self.weak.wasteful:
            self.table, self.weak = Table(), Table()
        self._snapshot = snapshot
        self.tests: dict[bytes, bool] = before.tests if before is not None else {}
        """Path -> whether it is one of tests."""
        self.known_modules: set[bytes] = set()
        """Files that all edges to, as modules, are known of."""
        self.settled: set[str] = set()
        """Names of which all files that hold them are resolved."""
        self.implemented: set[str] = set()
        """Names of methods of which all files of Go that define them are resolved."""
        self.files = len(by_path)
        self.saved: set[bytes] = set()
        """Files whose edges this process stored."""
        self.saved_parts: set[tuple[bytes, frozenset[str]]] = set()
        """Files and names whose edges this process stored."""
        self.values: dict[object, object] = {}
        """Whatever else is worked out from this state alone."""
        self.lasting: dict[object, object] = before.lasting if before is not None else {}
        """What is brought up to date from state to state."""

    @cached_property
    def name_index(self) -> NameIndex:
        """Which contents use which names; reads the imports of all that are new, so made late."""
        return name_index_of(self._snapshot.db, self._snapshot.by_content.keys())

    def take(self, path: bytes) -> None:
        """Resolve a file."""
        if self.named.pop(path, None) is not None:
            self._remove(path)
        self._add(path, self.graph.all_edges(path), whole=True)

    def take_named(self, path: bytes, names: Set[str], edges: Iterable[Edge]) -> None:
        """Take in the edges to what is used under some names, beside those that are here."""
        known = self.named.get(path, _NONE)
        every = [*self.table.edges_from(path), *self.weak.edges_from(path), *edges]
        if known:
            self._remove(path)
        self.named[path] = self._share(known | names)
        self._add(path, dict.fromkeys(every), whole=False)

    def not_taken(self, path: bytes, names: Set[str]) -> frozenset[str]:
        """Those of some names of which the edges of a file are not here yet."""
        return self._share(frozenset(names - self.named.get(path, _NONE)))

    def _share(self, names: frozenset[str]) -> frozenset[str]:
        """The one set of these names.

        A question asks for the same thousand names in hundreds of files; a set for each took
        200 MiB of 500 (`impact` of Django's `Model`, by tracemalloc).
        """
        if len(self._shared) >= _MOST_SHARED:
            self._shared.clear()
        return self._shared.setdefault(names, names)

    def knows(self, path: bytes, names: Set[str]) -> bool:
        """Whether all edges of a file to what is used under some names are here."""
        return path in self.table or names <= self.named.get(path, _NONE)

    def _add(self, path: bytes, edges: Iterable[Edge], *, whole: bool) -> None:
        # Parts come in the order of the questions: answers must not.
        ordered = sorted(edges, key=_place_in_text)
        certain = [edge for edge in ordered if edge.is_certain]
        self.table.add(path, certain, whole=whole)
        if len(certain) < len(ordered):
            self.weak.add(path, (edge for edge in ordered if not edge.is_certain), whole=whole)

    def _remove(self, path: bytes) -> None:
        self.table.remove(path)
        self.weak.remove(path)

    @property
    def whole(self) -> bool:
        """Every file is resolved."""
        return len(self.table) >= self.files


_kept = StateCache[EdgeCache](_KEPT_VIEWS)


def edge_cache_of(view: CurrentView) -> EdgeCache:
    """What is known of the look's view, from before if nothing in it changed."""
    return _kept.value_of(view.snapshot, lambda before: EdgeCache(view, before))


def keep(view: CurrentView) -> None:
    """Store what was resolved for a look, for other processes; not at all if another one writes.

    Outside of any transaction. A question never waits or fails for this. What it worked with goes.
    """
    cache = edge_cache_of(view)
    rows = [(path, row) for path, row in cache.graph.fresh if path not in cache.saved]
    parts = [part for part in cache.graph.fresh_parts if part[:2] not in cache.saved_parts]
    # What is not written now is so the next time, or worked out anew.
    is_new = bool(rows or parts or cache.graph.fresh_surveys)
    if is_new and stored_graph.keep(cache.graph, view.snapshot.db, rows, parts):
        cache.saved.update(path for path, _ in rows)
        cache.saved_parts.update(part[:2] for part in parts)
    if cache.graph.rest():
        from codelens.engine.upkeep import process_memory

        process_memory.give_back()
