"""Resolves the graph of a view on demand, within a limit of CPU time.

The limit counts CPU time of the calling thread, so other work on the machine does not make an
answer partial. Wall-clock time only stops a walk after a multiple of the limit.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterable, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from typing import cast

from codelens.cancellation import check_cancelled
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.graph import candidate_files
from codelens.engine.graph.candidate_files import CandidateFiles, edge_cache_of
from codelens.engine.graph.declared_places import ConstructorCalls, DeclaredPlaces
from codelens.engine.graph.template_edges import TemplateEdges
from codelens.engine.index_pool import IndexPool, seconds_left
from codelens.extract.language_settings import TEXT, language_info
from codelens.resolve.edges import CERTAIN, Edge
from codelens.resolve.file_model import CALLABLE, TYPES
from codelens.resolve.graph import Graph
from codelens.resolve.languages.registry import spec_of
from codelens.resolve.walk.edge_table import DERIVING, MODULE, Node, Table
from codelens.resolve.walk.named_tests import NamedTests, is_shipped
from codelens.resolve.walk.relation_walk import CONSTRUCTORS
from codelens.store.facts.ranking_reads import Use
from codelens.types import Receipt, Symbol
from codelens.wording import count_of

_WAITING = 4
"""Multiple of the limit that may pass in wall-clock time."""
_PATIENCE = 5


class WorkLimit:
    """A limit of CPU time, which starts at construction.

    Args:
        seconds: how long the thread may work.
        patience: multiple of it that the first file of a graph may take, so that each call makes
            progress.
    """

    def __init__(self, seconds: float, patience: float = _PATIENCE) -> None:
        self._seconds = seconds
        self._patience = patience
        self._began = time.thread_time()
        self._deadline = time.monotonic() + _WAITING * seconds
        self._next_look = time.monotonic() + seconds
        self._reached = False

    def reserve(self, share: float) -> float:
        """Keep a share of the time for a later part of a call: returns the seconds to extend."""
        seconds = self._seconds * share
        self.extend(-seconds)
        return seconds

    def extend(self, seconds: float) -> None:
        """Allow more time, for a later part of a call."""
        self._seconds += seconds
        self._deadline += _WAITING * seconds
        self._next_look, self._reached = time.monotonic(), False

    def is_past(self, times: float) -> bool:
        """Whether the thread worked this multiple of the limit."""
        return time.thread_time() - self._began > times * self._seconds

    def is_exhausted(self) -> bool:
        """Whether not even the first file may take longer."""
        return self.is_past(self._patience)

    def is_reached(self) -> bool:
        """Whether the limit is used up, in CPU time or far exceeded in wall-clock time."""
        now = time.monotonic()
        if self._reached or now < self._next_look:
            return self._reached
        # Reading CPU time is slow on some systems; it never exceeds wall-clock time.
        left = self._seconds - (time.thread_time() - self._began)
        self._reached = left <= 0 or now > self._deadline
        self._next_look = min(now + left, self._deadline)
        return self._reached


# The graph of a view, resolved as far as a call needs it.
#
# Backward walks read only files that contain the name, or an alias of it. When time runs out, the
# remaining files are counted, and the next call continues from the view's `EdgeCache`.

_SOURCE = attrgetter("source")
_USE = attrgetter("source", "symbol", "line", "name", "kind")
_KEPT_TIMES = 2
"""Multiple of its limit that a call may spend on cached edges."""
_FIELDS = frozenset({"field", "property"})
_MOST_PARTS = 4
"""How often parts of a file are resolved before the whole file is."""


class LazyGraph:
    """An `EdgeReader` of a view, for one call.

    Args:
        view: the view; its database must be in a read transaction.
        limit: seconds for resolving files, or a limit that several graphs share.
    """

    def __init__(self, view: CurrentView, limit: float | WorkLimit) -> None:
        self._view = view
        self._edge_cache = edge_cache_of(view)
        self._candidates = CandidateFiles(view.snapshot, self._edge_cache)
        self._constructor_calls = ConstructorCalls(view.snapshot, self._edge_cache.graph)
        self._declared_places = DeclaredPlaces(view.snapshot, self._edge_cache.graph)
        self._templates = TemplateEdges(
            view.snapshot, view.read_path, self.resolved.symbols, self.values
        )
        self._combined: frozenset[Node] = frozenset()
        self._limit = limit if isinstance(limit, WorkLimit) else WorkLimit(limit)
        self.unseen: set[bytes] = set()
        """Files that may have a requested edge and could not be resolved in time."""
        self._stopped = self._has_resolved = False

    def trust(self, other: LazyGraph) -> None:
        """Reuse the edges that another view's graph resolved, where they also hold here."""
        self._edge_cache.graph.trust(other.resolved)

    @property
    def values(self) -> dict[object, object]:
        """A cache that lasts as long as the state of the view."""
        return self._edge_cache.values

    @property
    def lasting(self) -> dict[object, object]:
        """A cache that outlives a state of the view; its users must keep the entries valid."""
        return self._edge_cache.lasting

    @property
    def resolved(self) -> Graph:
        """All edges of the view resolved so far."""
        return self._edge_cache.graph

    def edges_from(self, path: bytes) -> Sequence[Edge]:
        """See `EdgeReader`."""
        return self._edge_cache.table.edges_from(path) if self._resolve_whole(path) else ()

    def edges_of(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """See `EdgeReader`."""
        named = [edge for edge in self._templates.of(path) if edge.symbol == symbol]
        edges = self._edge_cache.table.edges_of(path, symbol) if self._resolve_whole(path) else ()
        return [*edges, *named] if named else edges

    def deriving_edges(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """See `EdgeReader`; for an unresolved file, only the base types are resolved."""
        cache = self._edge_cache
        if path not in cache.table:
            names = frozenset(cache.graph.base_names(path))
            keeps_names = spec_of(cache.graph.languages.get(path, "")).keeps_names
            is_cached = keeps_names and cache.knows(path, names)
            if not is_cached and not self._resolve_few(path, names):
                return ()
        edges = cache.table.edges_of(path, symbol)
        return [edge for edge in edges if edge.kind in DERIVING]

    def edges_to(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """See `EdgeReader`; reads files with the name. A constructor has the edges of its type."""
        node = Node(path, symbol)
        drawn = self._drawn_to(node)
        more = [
            edge for edge in self._constructor_calls.of(node, self._drawn_to) if edge.is_certain
        ]
        more += [edge._replace(confidence=CERTAIN) for edge in self._of_one_thing(node)]
        more += self.naming_template(path) if symbol == MODULE else ()
        return sorted([*drawn, *more], key=_SOURCE) if more else drawn

    def naming_template(self, path: bytes) -> Sequence[Edge]:
        """The edges from templates and code that certainly name a file as a template."""
        return self._templates.to(path, self.spent)

    def _of_one_thing(self, node: Node) -> list[Edge]:
        """Edges of uses that mean only a node or an alternative of it.

        If an `#if` has a definition in each branch, a build uses one of them, and the use means
        that one. The definitions of one question are alternatives, too.
        """
        possible_uses = self._edge_cache.weak
        edges = possible_uses.edges_to(*node)
        others = set(self._declared_places.alternatives(node) if edges else ())
        others |= self._combined - {node} if node in self._combined else set()
        if not others:
            return []
        uses_of_others = [
            {_USE(edge) for edge in possible_uses.edges_to(*place)} for place in others
        ]
        return [
            edge
            for edge in edges
            if sum(_USE(edge) in uses for uses in uses_of_others) + 1 == edge.choices
        ]

    def combine(self, nodes: Iterable[Node]) -> None:
        """Treat definitions as one: a use that means any of them is certain."""
        self._combined = frozenset(nodes)

    def derived_from(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """See `EdgeReader`; skips files that only use the type, which are the majority."""
        cache = self._edge_cache
        names = self._candidates.names_of(path, symbol)
        if not (cache.whole or names <= cache.settled):
            files = [file for file, _ in self.holding(names) if self._may_derive(file, names)]
            self._resolve_named(files, names)
        return [edge for edge in self.known_users(path, symbol) if edge.kind == "inherit"]

    def _may_derive(self, path: bytes, names: Set[str]) -> bool:
        """Whether a type in a file may name one of these types as its base."""
        graph = self._edge_cache.graph
        spec = spec_of(graph.languages.get(path, ""))
        is_named = spec.keeps_names or spec.bases_are_declared
        return not is_named or not names.isdisjoint(graph.base_names(path))

    def _drawn_to(self, node: Node) -> Sequence[Edge]:
        """The edges that end at the node itself."""
        self._seek(*node)
        return self.known_users(*node)

    def knows_users(self, path: bytes, symbol: int) -> bool:
        """Whether all edges to a definition from files with its name are resolved."""
        cache = self._edge_cache
        names = self._candidates.names_of(path, symbol)
        if cache.whole or names <= cache.settled:
            return True
        return all(cache.knows(file, names) for file, _ in self.holding(names))

    def known_users(self, path: bytes, symbol: int) -> Sequence[Edge]:
        """The edges to a definition that are resolved so far; files sorted by path."""
        # They were resolved in the order of earlier calls.
        return sorted(self._edge_cache.table.edges_to(path, symbol), key=_SOURCE)

    def possible_to(self, path: bytes, symbol: int) -> list[Edge]:
        """Edges of uses that may mean a symbol or another one; from files with its name."""
        self._seek(path, symbol)
        built = self._constructor_calls.of(Node(path, symbol), self._drawn_to)
        edges = [edge for edge in built if not edge.is_certain]
        of_one_thing = set(self._of_one_thing(Node(path, symbol)))
        drawn = self._edge_cache.weak.edges_to(path, symbol)
        edges += [edge for edge in drawn if edge not in of_one_thing]
        return sorted(edges, key=_SOURCE)

    def spent(self) -> bool:
        """See `EdgeReader`; the receipt reports it."""
        self._stopped = self._stopped or self._late()
        return self._stopped

    def _has_edges(self, path: bytes) -> bool:
        """Whether the edges of a file are resolved, now if there is time."""
        graph = self._edge_cache.graph
        is_late = self._late()
        # Edges resolved earlier are always returned; otherwise no answer would ever be complete.
        if (not is_late or not self._limit.is_past(_KEPT_TIMES)) and graph.is_known(path):
            return True
        if is_late and (self._has_resolved or self._limit.is_exhausted()):
            return False
        if graph.row_within(path, self._late_within) is None:
            return False
        self._has_resolved = True
        return True

    def _late_within(self) -> bool:
        """Like `_late`, within a file: each call resolves at least one file, to make progress."""
        return self._late() and (self._has_resolved or self._limit.is_exhausted())

    @property
    def is_stopped(self) -> bool:
        """Whether time ran out during a walk."""
        return self._stopped

    def _late(self) -> bool:
        check_cancelled()
        return self._limit.is_reached()

    def symbols(self, path: bytes) -> Sequence[Symbol]:
        """See `EdgeReader`."""
        return self._edge_cache.graph.symbols(path)

    def places(self, node: Node) -> Sequence[Node]:
        """See `EdgeReader`."""
        return (node, *self._declared_places.others(node))

    def alias_of(self, edge: Edge) -> Node | None:
        """See `EdgeReader`."""
        if edge.kind != "ref":
            return None
        symbol = self.resolved.alias_at(edge.source, edge.line, edge.name)
        return Node(edge.source, symbol) if symbol >= 0 else None

    def body_of(self, node: Node) -> Node:
        """The overload that runs, at which edges to any of the overloads end."""
        return self._declared_places.body_of(node)

    def same(self, node: Node) -> list[Node]:
        """All places of a definition: overloads, stubs and declarations; its body comes first."""
        return self._declared_places.same(node)

    def is_test(self, path: bytes) -> bool:
        """See `EdgeReader`; decides by the path."""
        test_by_path = self._edge_cache.tests
        if path not in test_by_path:
            snapshot = self._view.snapshot
            new = [file.path_id for file in snapshot.files if file.path not in test_by_path]
            # Keys are the view's own path objects: copies of 78,000 paths would take 6 MiB.
            test_by_path.update(
                (
                    snapshot.by_path[facts.path].path,
                    facts.role == "test" and not is_shipped(facts.path),
                )
                for facts in snapshot.path_facts(new).values()
            )
            test_by_path.setdefault(path, False)
        return test_by_path[path]

    def test_files(self) -> list[bytes]:
        """All test files."""
        paths = self.values.get("tests")
        if paths is None:
            files = self._view.snapshot.files
            paths = self.values["tests"] = [file.path for file in files if self.is_test(file.path)]
        return cast("list[bytes]", paths)

    def tests_named_for(self, path: bytes) -> list[bytes]:
        """Test files whose path suggests that they test a file; the most similar first."""
        named_tests = self.values.get("named tests")
        if named_tests is None:
            every = (file.path for file in self._view.snapshot.files)
            named_tests = self.values["named tests"] = NamedTests(self.test_files(), every)
        return cast("NamedTests", named_tests).of(path)

    def table(self) -> Table:
        """All edges resolved so far."""
        return self._edge_cache.table

    def resolve(self, paths: Iterable[bytes]) -> bool:
        """Resolve files as time allows; False if some are left."""
        whole = True
        for path in paths:
            whole &= self._resolve_whole(path)
        return whole

    def _resolve_named(self, paths: Iterable[bytes], names: Set[str]) -> bool:
        """Like `resolve`, but only the uses of some names, until a file has many such parts."""
        whole = True
        for path in paths:
            if not self._edge_cache.knows(path, names):
                many = self._has_enough_parts(path, names)
                whole &= self._resolve_whole(path) if many else self._resolve_few(path, names)
        return whole

    def _has_enough_parts(self, path: bytes, names: Set[str]) -> bool:
        """Whether so many parts are resolved that the whole file costs little more."""
        graph = self._edge_cache.graph
        return graph.parts_of(path) >= _MOST_PARTS and not graph.has_parts(path, names)

    def _resolve_few(self, path: bytes, names: Set[str]) -> bool:
        """Resolve the uses of some names in a file; the whole file if that is worthwhile."""
        graph = self._edge_cache.graph
        keeps_names = spec_of(graph.languages.get(path, "")).keeps_names
        if not keeps_names or graph.is_known(path):
            return self._resolve_whole(path)
        return self._cache_named(path, names)

    def _cache_named(self, path: bytes, names: Set[str]) -> bool:
        cache = self._edge_cache
        new = cache.not_taken(path, names)
        edges = self._edges_named(path, new)
        if edges is None:
            self.unseen.add(path)
            return False
        cache.take_named(path, new, edges)
        self.unseen.discard(path)
        return True

    def _edges_named(self, path: bytes, names: frozenset[str]) -> list[Edge] | None:
        """Like `_has_edges`, for the uses of some names; None if time ran out."""
        graph = self._edge_cache.graph
        is_kept = graph.has_parts(path, names) and not self._limit.is_past(_KEPT_TIMES)
        if not is_kept and self._late_within():
            return None
        edges = graph.edges_named(path, names, self._late_within)
        self._has_resolved = self._has_resolved or (edges is not None and not is_kept)
        return edges

    def leads(self, path: bytes, line: int, name: str) -> bool:
        """Whether a use of a name in a line of a resolved file has a certain or possible edge."""
        table, possible_uses = self._edge_cache.table, self._edge_cache.weak
        return line in table.lines(path, name) or line in possible_uses.lines(path, name)

    def unresolved(
        self, path: bytes, symbol: int, *, listed: bool = True, values: bool = False,
        members: bool = False,
    ) -> list[tuple[bytes, int]]:  # fmt: skip
        """Files and lines of the uses of a definition's name that have no edge.

        Call `prepare` first. In files for which time ran out, all uses count. Possible edges count
        if they are `listed` separately, uses of a method as a value only with `values`. Lines where
        the name is that of a local variable do not count; with `members`, the caller leaves out
        all names without a receiver.
        """
        definition = self.symbols(path)[symbol]
        name, sites = definition.name, list[tuple[bytes, int]]()
        table, possible_uses = self._edge_cache.table, self._edge_cache.weak
        kinds = {"call"} if definition.kind in CALLABLE else {"call", "type"}
        if values or is_field(self.symbols(path), symbol):
            # Of other definitions, a use that is not a call is mostly a variable of the same name.
            kinds.add("name")
        for file, places in () if name.startswith("__") else self.holding({name}):
            # A change does not break examples in prose.
            is_late = file in self.unseen
            is_resolved = is_late or self._edge_cache.knows(file, {name})
            language = self._edge_cache.graph.languages.get(file) or TEXT
            if not is_resolved or language_info(language).prose:
                continue
            lines = Counter(place.line for place in places if place.kind in kinds)
            resolved = table.lines(file, name) if lines else frozenset[int]()
            if lines and listed:
                resolved = resolved | possible_uses.lines(file, name)
            left = [line for line in lines if line not in resolved]
            if left and "name" in kinds:
                # `self.size = 1` is itself the definition of a field of that name.
                lines.subtract(self._assigning_lines(file, name))
                left = [line for line in left if lines[line] > 0]
            looks = left and not members
            variables = self.resolved.variable_lines(file, name) if looks else set[int]()
            sites += [(file, line) for line in left if line not in variables]
        return sorted(sites)

    def _assigning_lines(self, path: bytes, name: str) -> list[int]:
        """The lines in methods that define a field of a name by an assignment."""
        symbols = self.symbols(path)
        return [
            symbol.name_line
            for at, symbol in enumerate(symbols)
            if symbol.name == name
            and is_field(symbols, at)
            and any(
                other.parent == symbol.parent
                and other.kind in CALLABLE
                and other.start_line <= symbol.name_line <= other.end_line
                for other in symbols
            )
        ]

    def importers(self, path: bytes) -> list[bytes]:
        """Files with an import of a file."""
        return self._candidates.importers(path)

    def imported_as(self, name: str, paths: Iterable[bytes] | None = None) -> list[Node]:
        """The definitions that files (default: all) import or export under a name."""
        files = self._candidates.renaming(name) if paths is None else paths
        referents = (
            referent for path in files for referent in self.resolved.imported_as(path, name)
        )
        return list(dict.fromkeys(Node(*referent[:2]) for referent in referents))

    def holding(self, names: Set[str]) -> list[tuple[bytes, Sequence[Use]]]:
        """Files of the view that use or import one of the names, by path, with the uses."""
        return self._candidates.of_names(names)

    def naming(self, name: str) -> list[bytes]:
        """Files of the view that use or import a name, by path."""
        return [path for path, _ in self.holding({name})]

    def interfaces_asking(self, node: Node) -> list[Node]:
        """Methods of Go interfaces with the name and number of parameters of a method."""
        return self._candidates.interfaces_asking(node)

    def prepare(self, nodes: Iterable[Node]) -> None:
        """Resolve all files that may have edges to many nodes, each file once."""
        cache = self._edge_cache
        if cache.whole:
            return
        every = [node for node in nodes if node.symbol >= 0]
        for node in every:
            self._seek_precise(*node)
        names = set[str]()
        for node in every:
            if self._late():
                break  # The walk itself resolves what it reaches.
            names |= self._candidates.names_of(*node) - cache.settled
        if names and self._resolve_named([file for file, _ in self.holding(names)], names):
            cache.settled |= names
        for node in every:
            if self._late():
                break  # To load a file to see that it has no type would be in vain.
            self._seek_inside(node)

    def receipt(self) -> Receipt:
        """The view's receipt, `partial` if files could not be resolved in time."""
        precise = len(self._edge_cache.precise.document_by_path)
        receipt = replace(self._view.receipt(), precise=precise)
        if not self.unseen and not self._stopped:
            return receipt
        note = (
            "time ran out before all edges were followed; ask again, with a smaller depth "
            "or more time"
        )
        if self.unseen:
            note = (
                f"{count_of(len(self.unseen), 'more file')} with these names not resolved "
                "yet; ask again to continue, or with more time"
            )
        return replace(
            receipt, status="partial", note="; ".join(filter(None, (receipt.note, note)))
        )

    def _resolve_whole(self, path: bytes) -> bool:
        table = self._edge_cache.table
        if path in table:
            return True
        if path in self._edge_cache.graph.languages and not self._has_edges(path):
            self.unseen.add(path)
            return False
        self._edge_cache.take(path)
        self.unseen.discard(path)
        return True

    def _seek(self, path: bytes, symbol: int) -> None:
        """Resolve the files that may have an edge to a node; for each name only once."""
        cache = self._edge_cache
        if cache.whole:
            return
        self._seek_precise(path, symbol)
        if symbol != MODULE:
            names = self._candidates.names_of(path, symbol) - cache.settled
            if names and self._resolve_named([file for file, _ in self.holding(names)], names):
                cache.settled |= names
            self._seek_inside(Node(path, symbol))
            if (path, symbol) not in cache.redefined:
                names = self._candidates.names_of(path, symbol)
                if self._resolve_named(self._candidates.redefining(path, symbol), names):
                    cache.redefined.add((path, symbol))
            methods = self._candidates.required_by(path, symbol) - cache.implemented
            if methods and self.resolve(self._candidates.defining(methods)):
                cache.implemented |= methods
        elif path not in cache.known_modules and self.resolve(self._candidates.of_module(path)):
            cache.known_modules.add(path)

    def _seek_precise(self, path: bytes, symbol: int) -> None:
        """Resolve the files that use a node under any name, according to a compiler."""
        self.resolve(self._edge_cache.precise.users(path, symbol))

    def _seek_inside(self, node: Node) -> None:
        """Resolve the file of a type or constructor, which may use it without its name.

        `cls(1)` and `this(1)` name no type, and nothing else in the file needs to name it.
        """
        if self._is_used_unnamed(node):
            names = self._candidates.names_of(*node)
            self._resolve_named([node.path], names)

    def _is_used_unnamed(self, node: Node) -> bool:
        symbols = self.symbols(node.path)
        if not 0 <= node.symbol < len(symbols):
            return False
        definition = symbols[node.symbol]
        return definition.kind in TYPES or definition.name in CONSTRUCTORS


def is_field(symbols: Sequence[Symbol], symbol: int) -> bool:
    """Whether a definition is a field of a type; all other uses of its name need no receiver."""
    definition = symbols[symbol]
    is_member = definition.kind in _FIELDS and definition.parent >= 0
    return is_member and symbols[definition.parent].kind in TYPES


# Opening a view to walk its graph.


@contextmanager
def walked_view(pool: IndexPool, view_request: ViewRequest) -> Generator[tuple[CurrentView, float]]:
    """A view in a read transaction, and the seconds left to walk; caches what is resolved."""
    started = time.monotonic()
    with pool.view(view_request) as view:
        with view.reading():
            yield view, seconds_left(view_request.budget_ms, started)
        candidate_files.keep(view)
